// What answers tell; and the end of a run: what it comes to, and the entry that says so.
#include <algorithm>

#include "agents/episode/episode.h"
#include "agents/episode/turn_check.h"

namespace witan::agents::episode {

using replication::OperationOutcome;
using replication::WakeStatus;

// As recorded, of an answer that is read back: it was judged when it came.
bool Episode::judgeAnswer(const Call& call, bool good, json::value& content, json::object& body) const {
  if (beginning_.rules < 7) return true;
  if (entries_.size() < recorded_.size()) {
    const json::object& was = recorded_[entries_.size()].body;
    for (const char* name : {"redacted", "why", "withheld"})
      if (const json::value* said = was.if_contains(name)) body[name] = *said;
    return true;  // what is fed is what was told
  }
  if (!good) return true;
  AnswerVerdict verdict = gate_->judgeAnswer(requestOf(call), content);
  if (verdict.passes && !verdict.instead) return true;
  body["why"] = shortText(verdict.why);
  if (!verdict.passes) return body["withheld"] = shortText(verdict.token), false;
  body["redacted"] = true;
  content = *std::move(verdict.instead);
  return true;
}

// In words; empty: it is not too much. What stands there already may stay.
std::string Episode::tooMuchToKeep(const Finish& finish) const {
  if (finish.slots.empty() || beginning_.rules < 8) return {};
  const auto sum = [](const std::map<std::string, std::size_t>& sizes) {
    std::size_t all = 0;
    for (const auto& [slot, bytes] : sizes) all += bytes;
    return all;
  };
  std::map<std::string, std::size_t> sizes;
  if (const json::value* slots = beginning_.input.if_contains("slots"); slots != nullptr && slots->is_object())
    for (const auto& [slot, value] : slots->get_object()) sizes[std::string(slot)] = canonicalJson(value).size();
  const std::size_t before = sum(sizes);
  for (const SlotWrite& write : finish.slots) sizes[toString(write.slot)] = canonicalJson(write.value).size();
  const std::size_t then = sum(sizes);
  if (then <= std::max(before, kMaxKeptBytes)) return {};
  return concat("its slots would have ", then, " bytes: at most ", kMaxKeptBytes);
}

void Episode::fail(std::string cause) { end(WakeStatus::failedTerminal, std::move(cause), {}); }

void Episode::end(WakeStatus status, std::string cause, const Finish& finish) {
  const bool less = leftOut_ > 0 && beginning_.rules >= 8;
  if (less && cause.empty())
    cause = concat(leftOut_, " of its facts and messages found no room in what its mind was asked");
  json::array slots;
  for (const SlotWrite& write : finish.slots) slots.push_back(json::array{toString(write.slot), write.value});
  json::object body{{"status", enumName(status)},
                    {"cause", cause},
                    {"answer", finish.answer},
                    {"slots", std::move(slots)},
                    {"spent", parseJson(toJson(context_.quota().spent())).value()}};
  if (finish.nextWakeAtMs) body["nextWakeAtMs"] = *finish.nextWakeAtMs;
  if (finish.sleepUntilMs) body["sleepUntilMs"] = *finish.sleepUntilMs;
  if (!finish.emits.empty() && beginning_.rules >= 5) {
    json::array emits;
    for (const Emission& one : finish.emits) emits.push_back({{"type", one.type}, {"body", one.body}});
    body["emits"] = std::move(emits);
  }
  if (less) body["leftOut"] = leftOut_;
  learner_.tell(body);
  append(EntryKind::end, std::move(body));
  phase_ = Phase::ended;
  ending_ = Ending{status, std::move(cause), finish};
}

// The episode, its gate or a person denies. A look that fails is an answer, and so is the verdict on a proposal.
void Episode::Tally::count(const Call& call) {
  ++calls;
  const auto note = [&](std::size_t& sum, std::string& first, const std::string& why) {
    ++sum;
    if (first.empty()) first = call.tool.name + ": " + why;
  };
  if (call.denial && *call.denial != kAfterFailure) return note(denied, firstDenial, *call.denial);
  if (call.denial) ++untried;
  if (!call.operation || !call.answer || call.answer->at("outcome").as_string() != enumName(OperationOutcome::failed))
    return;
  const json::value& result = call.answer->at("result");
  const json::object* about = result.if_object();
  if (about == nullptr || !(about->contains("outcome") || about->contains("waiting")))  // of an entity that is frozen
    note(failed, firstFailure, shortText(canonicalJson(result)));
}

// A run that could do nothing of what it wanted to do, or learn nothing of what it wanted to know and so did nothing,
// has not completed, whatever its agent makes of it.
Ending Episode::endingOf(const Finish& finish) const {
  using replication::WakeStatus;
  Tally acted;
  for (const Call& call : actions_) acted.count(call);
  Tally tally = acted.calls > 0 ? acted : seen_;
  if (beginning_.rules < 4) tally.failed = 0;
  if (tally.failed > 0) tally.failed += tally.untried;
  const std::size_t undone = tally.denied + tally.failed;
  if (beginning_.rules < 2 || undone == 0) return {WakeStatus::completed, "", finish};
  const std::string what = concat(acted.calls > 0 ? "action" : "look", tally.calls == 1 ? "" : "s");
  const std::string how = tally.denied == 0   ? " failed"
                          : tally.failed == 0 ? (tally.calls == 1 ? " was denied" : " were denied")
                                              : " were denied or failed";
  const std::string which = what + how + " (" + (tally.denied > 0 ? tally.firstDenial : tally.firstFailure) + ")";
  if (undone < tally.calls) return {WakeStatus::completed, concat(undone, " of ", tally.calls, " ", which), finish};
  return {WakeStatus::failedTerminal,
          tally.calls == 1 ? "its only " + which : concat("all its ", tally.calls, " ", which), finish};
}

}  // namespace witan::agents::episode
