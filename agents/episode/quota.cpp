#include "agents/episode/quota.h"

#include <algorithm>
#include <string>

#include "base/mutant.h"

namespace witan::agents::episode {

namespace {

bool negative(const Budget& b) { return b.steps < 0 || b.tokens < 0 || b.seconds < 0; }

std::int64_t within(std::int64_t amount, std::int64_t most) { return std::clamp<std::int64_t>(amount, 0, most); }

}  // namespace

Quota::Quota(const Budget& limit)
    : limit_{std::max<std::int64_t>(limit.steps, 0), std::max<std::int64_t>(limit.tokens, 0),
             std::max<std::int64_t>(limit.seconds, 0)} {}

bool Quota::affords(const Budget& amount) const {
  const Budget left = remaining();
  return !negative(amount) && amount.steps <= left.steps && amount.tokens <= left.tokens &&
         amount.seconds <= left.seconds;
}

Status Quota::spend(const Budget& amount) {
  if (negative(amount)) return invalid("a negative amount cannot be spent (spent only grows)");
  if (!affords(amount)) {
    const Budget left = remaining();
    const auto words = [](const Budget& b) {
      return std::to_string(b.steps) + " steps, " + std::to_string(b.tokens) + " tokens, " + std::to_string(b.seconds) +
             " seconds";
    };
    return Error{ErrorCode::unauthorised, "it costs " + words(amount) + ", and what is left is " + words(left), ""};
  }
  spendUpTo(amount);
  return okStatus();
}

void Quota::spendUpTo(const Budget& amount) {
  if (mutated("forgetSpent")) return;
  const Budget left = remaining();
  spent_.steps += within(amount.steps, left.steps);
  spent_.tokens += within(amount.tokens, left.tokens);
  spent_.seconds += within(amount.seconds, left.seconds);
}

}  // namespace witan::agents::episode
