#include "agents/episode/context.h"

#include <algorithm>
#include <string>

#include "base/identity.h"
#include "base/mutant.h"
#include "base/quote.h"

namespace witan::agents::episode {

namespace {

bool negative(const Budget& b) { return b.steps < 0 || b.tokens < 0 || b.seconds < 0; }

std::int64_t within(std::int64_t amount, std::int64_t most) { return std::clamp<std::int64_t>(amount, 0, most); }

inline constexpr std::size_t kMaxLocale = 256;
inline constexpr std::int64_t kMaxSteps = 1000;  // bounds the length of a transcript

std::string list(const Locale& tags) {
  std::string out;
  for (const std::string& tag : tags) out += (out.empty() ? "" : ", ") + tag;
  return out.empty() ? "nowhere" : out;
}

Error beyond(std::string words) { return {ErrorCode::unauthorised, std::move(words), "a fork only narrows"}; }

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
      return concat(b.steps, " steps, ", b.tokens, " tokens, ", b.seconds, " seconds");
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

Result<Locale> localeOf(std::vector<std::string> tags) {
  if (tags.size() > kMaxLocale) return invalid(concat("locale: more than ", kMaxLocale, " tags"));
  for (const std::string& tag : tags) WITAN_DO(validateId("locale", tag));
  std::ranges::sort(tags);
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  return tags;
}

bool isSubset(const Locale& inner, const Locale& outer) { return std::ranges::includes(outer, inner); }

Status checkGrant(const Grant& grant) {
  WITAN_DO(checkCapabilities(grant.capabilities));
  WITAN_TRY(locale, localeOf(grant.locale));
  if (locale != grant.locale) return invalid("locale: tags must be sorted, each once");
  const Budget& b = grant.budget;
  if (b.steps < 0 || b.tokens < 0 || b.seconds < 0) return invalid("a budget cannot be negative");
  if (b.steps > kMaxSteps) return invalid(concat("a budget of more than ", kMaxSteps, " steps"));
  return okStatus();
}

Result<Grant> grantOf(const AgentSpec& spec) {
  WITAN_TRY(locale, localeOf(spec.locale));
  Grant grant{spec.capabilities, std::move(locale), spec.budget};
  WITAN_DO(checkGrant(grant));
  return grant;
}

Context::Context(Grant grant) : grant_(std::move(grant)), quota_(grant_.budget), used_(grant_.capabilities.size(), 0) {}

Result<std::size_t> Context::admits(const Reach& call) const {
  const Locale places(call.locale.begin(), call.locale.end());
  if (!isSubset(places, grant_.locale))
    return Error{
        ErrorCode::unauthorised,
        "its data would get to " + list(places) + ", and that of this episode may get to " + list(grant_.locale), ""};
  if (const auto found = firstCovering(grant_.capabilities, used_, call)) return *found;
  return Error{ErrorCode::unauthorised,
               "no capability with uses left covers " + inQuotes(call.tool) + " with these targets", ""};
}

Result<Grant> Context::fork(Grant wish) {
  WITAN_TRY(locale, localeOf(std::move(wish.locale)));
  wish.locale = std::move(locale);
  WITAN_DO(checkGrant(wish));
  const bool wide = mutated("widenFork");
  if (!wide && !isSubset(wish.locale, grant_.locale))
    return beyond("locale " + list(wish.locale) + " is not within " + list(grant_.locale));
  std::vector<std::int64_t> used = used_;
  for (const Capability& c : wish.capabilities) {
    bool found = wide;
    for (std::size_t i = 0; !found && i < used.size(); ++i) {
      Capability left = grant_.capabilities[i];
      left.uses -= used[i];
      if (!within(c, left)) continue;
      used[i] += c.uses;
      found = true;
    }
    if (!found) return beyond("capability " + inQuotes(c.resource) + " is not within what is held, or not so often");
  }
  if (const Status spent = quota_.spend(wish.budget); !spent.ok() && !wide) return beyond(spent.error().message);
  used_ = std::move(used);
  return wish;
}

}  // namespace witan::agents::episode
