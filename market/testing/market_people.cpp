#include "market/testing/market_people.h"

namespace witan::market {

void MarketPeople::mayLookAt(const std::string& call) {
  if (random_.below(2) == 0) return;
  const std::uint64_t kind = random_.below(4);
  persons_[call] = {kind == 0 ? BuyerStep::accept : BuyerStep::dispute, kind == 3,
                    std::int64_t(random_.below(window_)) * 1'000};
}

std::vector<MarketPeople::Word> MarketPeople::say(const BuyerDesk& desk, const std::string& contract, std::int64_t ms) {
  std::vector<Word> words;
  for (auto& [name, person] : persons_) {
    const BuyerCall* call = desk.find(contract, name);
    if (call == nullptr || person.isHeard) continue;
    const bool sees = call->step == (person.isImpatient ? BuyerStep::await : BuyerStep::review);
    if (sees && person.seenAt < 0) person.seenAt = ms;
    if (person.seenAt >= 0 && (person.isImpatient || ms >= person.seenAt + person.waits))
      words.push_back({name, person.says});
  }
  return words;
}

void MarketPeople::heard(const std::string& call) {
  Person& person = persons_.at(call);
  person.isHeard = true;
  person.counts = !person.isAccepted;
}

// A desk that has lost its memory of that with the power asks again.
void MarketPeople::see(const Letter& letter) {
  const json::value* action = letter.body.if_contains("action");
  if (action == nullptr || textOf(action->as_object(), "type") != "Accept") return;
  const auto at = persons_.find(textOf(action->as_object(), "call"));
  if (at != persons_.end()) at->second.isAccepted = true;
}

std::string MarketPeople::wordOf(const std::string& call) const {
  const auto at = persons_.find(call);
  return at == persons_.end() || !at->second.counts ? "" : std::string(enumName(at->second.says));
}

}  // namespace witan::market
