#include "node/ledgers/holder_questions.h"

#include <utility>

namespace witan::node {

Status HolderQuestions::ask(EntryAsk question, std::vector<std::string> holders, Now now, Done done) {
  if (open_.size() >= kOpen)
    return Error{ErrorCode::unavailable, "as many questions as may be wait for holders of ledgers", "ask again"};
  question.id = next_++;
  const Error silent{ErrorCode::unavailable, "no device that keeps partition " + question.partition + " is connected",
                     "see: witan partition list"};
  const std::uint64_t id = question.id;
  open_.emplace(id, Open{std::move(question), std::move(holders), now.ms, std::move(done), 0, -1, 0, silent});
  return okStatus();
}

bool HolderQuestions::goesOn(Open& open, Now now, const Send& send) {
  if (open.sentMs >= 0 && now.ms - open.sentMs < kAnswerMs) return true;
  if (open.sentMs >= 0) {
    open.why = {ErrorCode::unavailable, concat("device ", open.holders[open.at], " did not answer"), "ask again"};
    ++open.at, open.sentMs = -1;
  }
  for (; open.at < open.holders.size(); ++open.at)
    if (send(open.holders[open.at], open.question)) return open.sentMs = now.ms, true;
  if (open.answers >= open.holders.size() || now.ms - open.sinceMs >= kGiveUpMs) return false;
  open.at = 0, open.answers = 0;  // a link may come yet
  return true;
}

void HolderQuestions::work(Now now, const Send& send) {
  std::vector<Open> over;
  for (auto at = open_.begin(); at != open_.end();) {
    if (goesOn(at->second, now, send)) {
      ++at;
      continue;
    }
    over.push_back(std::move(at->second));
    at = open_.erase(at);
  }
  for (const Open& open : over) open.done(open.why);
}

void HolderQuestions::told(const std::string& device, const EntryTold& told, const Check& check) {
  const auto at = open_.find(told.id);
  if (at == open_.end()) return;
  Open& open = at->second;
  if (open.sentMs < 0 || open.holders[open.at] != device) return;
  const std::string& partition = open.question.partition;
  const auto known = heads_.find(partition);
  Result<HeldEntry> held = check(open.question, told, known == heads_.end() ? nullptr : &known->second);
  if (!held.ok()) {
    open.why = {held.error().code, concat("device ", device, ": ", held.error().message), held.error().hint};
    ++open.at, open.sentMs = -1;
    open.answers += told.verdict == EntryVerdict::busy ? 0 : 1;
    return;
  }
  heads_[partition] = held->head;
  held->proof.holder = device;
  const Done done = std::move(open.done);
  open_.erase(at);
  done(held);
}

void HolderQuestions::stop() {
  for (const auto& [id, open] : std::exchange(open_, {}))
    open.done(Error{ErrorCode::unavailable, "the node is stopping", "ask again when it runs"});
}

}  // namespace witan::node
