#include "sim/check/answers.h"

#include <algorithm>
#include <limits>
#include <map>

#include <string_view>
#include "base/bytes.h"
#include "sim/check/adjudication_model.h"

namespace witan::sim {

using kernel::Entry;
using kernel::Outcome;
using kernel::Tag;

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class AnswerCheck {
 public:
  AnswerCheck(std::span<const Operation> operations, std::span<const LedgerLine> ledger,
              std::span<const LostRange> lost)
      : operations_(operations), ledger_(ledger), lost_(lost), known_(ledger.size()) {}

  std::string run() {
    for (const auto check : {&AnswerCheck::entries, &AnswerCheck::answers, &AnswerCheck::invocations,
                             &AnswerCheck::repeats, &AnswerCheck::realTime, &AnswerCheck::freezes})
      if (std::string problem = (this->*check)(); !problem.empty()) return problem;
    return {};
  }

 private:
  // Of an entry: when it was asked for first, and when somebody was told of it first.
  struct Known {
    bool asked = false;
    std::int64_t invoked = kNever;
    std::int64_t returned = kNever;
    const Operation* asker = nullptr;
    const Operation* told = nullptr;
  };

  std::string entries() {
    for (std::size_t i = 0; i < ledger_.size(); ++i) {
      const Entry& entry = ledger_[i].entry;
      if (entry.seq != i + 1) return concat(nameOf(entry), " stands where entry ", i + 1, " is due");
      auto& ofId = byId_[entry.operationId];
      if (!ofId.empty() && !isTurnedAway(ofId.back()->entry))
        return nameOf(entry) + " decides again what " + nameOf(ofId.back()->entry) + " decided";
      ofId.push_back(&ledger_[i]);
    }
    return {};
  }

  // The entry of the operation's id; null if there is none. Of two the one with this number, else that of its plan.
  const Entry* entryOf(const Operation& operation, std::uint64_t seq = 0) const {
    const auto found = byId_.find(operation.operationId);
    if (found == byId_.end()) return nullptr;
    for (const LedgerLine* line : found->second)
      if (line->entry.seq == seq) return &line->entry;
    return &lineFor(operation, found->second).entry;
  }

  std::string answers() {
    for (const Operation& operation : operations_) {
      const Entry* entry = entryOf(operation);
      if (entry != nullptr && isActOf(*entry, operation) && isOfPlan(*entry, operation)) noteAsked(operation, *entry);
      if (!operation.returned) continue;
      if (std::string problem = answer(operation, entryOf(operation, operation.answer.decision.seq)); !problem.empty())
        return problem;
    }
    return {};
  }

  std::string answer(const Operation& operation, const Entry* entry) {
    const kernel::Decision& told = operation.answer.decision;
    const std::string who = nameOf(operation) + " was told " + toString(told);
    const bool repeat = told.outcome == Outcome::duplicate;
    const Outcome outcome = repeat ? told.recorded : told.outcome;
    const bool isOfEntry = outcome >= Outcome::approved && outcome <= Outcome::cRejected;
    if (!isOfEntry) {
      if (told.seq != 0) return who + ": such an answer has no entry";
      return repeat && outcome == Outcome::duplicate ? who + ": not what was answered the first time" : std::string();
    }
    if (told.seq == 0) return who + " without the number of an entry";
    if (isLost(lost_, operation.answer.epoch, told.seq)) return {};
    if (entry == nullptr) return who + " in " + nameOf(operation.answer.epoch) + ", but no entry has its id";
    if (entry->seq != told.seq || outcomeOf(entry->tag) != outcome) return who + ", but it is " + nameOf(*entry);
    if (!isActOf(*entry, operation)) return who + ", but " + nameOf(*entry) + " is of another act";
    if (entry->invariant != told.invariant) return who + ", but its witness is " + entry->invariant;
    if (!entry->invariant.empty() && entry->message != told.message)
      return who + " with the message \"" + told.message + "\", but it is \"" + entry->message + "\"";
    if (entry->tag == Tag::cCommitted && told.safe != entry->findings.empty())
      return who + (entry->findings.empty() ? " as unsafe" : " as safe") + ", and it is not";
    noteTold(operation, *entry);
    return {};
  }

  void noteAsked(const Operation& operation, const Entry& entry) {
    Known& known = known_[entry.seq - 1];
    known.asked = true;
    if (operation.invoked > known.invoked) return;
    known.invoked = operation.invoked;
    known.asker = &operation;
  }
  void noteTold(const Operation& operation, const Entry& entry) {
    Known& known = known_[entry.seq - 1];
    if (*operation.returned >= known.returned) return;
    known.returned = *operation.returned;
    known.told = &operation;
  }

  std::string invocations() {
    std::map<std::string_view, const Operation*> inits;
    for (const Operation& operation : operations_)
      if (operation.kind == OperationKind::init) inits.emplace(operation.entity, &operation);
    for (std::size_t i = 0; i < ledger_.size(); ++i) {
      const Entry& entry = ledger_[i].entry;
      // The kernel asks itself for expiries.
      const bool own = entry.counselor == "system" && entry.operationId == concat("expire:", entry.escalation);
      if (!known_[i].asked && !own) return nameOf(entry) + " was asked for by nobody";
      if (!inits.contains(entry.entity)) return nameOf(entry) + ": nobody began its entity " + entry.entity;
    }
    return {};
  }

  // What was decided, and told, before an operation with the same id was asked for.
  std::string repeats() {
    for (const Operation& operation : operations_) {
      if (!operation.returned || operation.kind == OperationKind::init || hasLosses(lost_, operation.answer.epoch))
        continue;
      const Entry* entry = entryOf(operation);
      if (entry == nullptr || known_[entry->seq - 1].returned >= operation.invoked) continue;
      // Turned away under another plan, the id is open to this one.
      if (isTurnedAway(*entry) && asView(entry->runKey) == operation.run && asView(entry->planDigest) != operation.plan)
        continue;
      const Outcome outcome = operation.answer.decision.outcome;
      const bool same = isActOf(*entry, operation);
      if (same ? outcome != Outcome::duplicate : outcome != Outcome::refused)
        return nameOf(operation) + " was told " + toString(operation.answer.decision) + " although " +
               nameOf(*known_[entry->seq - 1].told) + " had been told of " + nameOf(*entry) + " before";
    }
    return {};
  }

  std::string realTime() {
    const Known* last = nullptr;  // of the entries so far the one that was asked for last
    std::size_t lastSeq = 0;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const Known& known = known_[i];
      if (last != nullptr && known.told != nullptr && known.returned < last->invoked)
        return nameOf(*known.told) + " had its answer, " + nameOf(ledger_[i].entry) + ", before " +
               nameOf(*last->asker) + " was asked for, but that is " + nameOf(ledger_[lastSeq].entry);
      if (known.asked && (last == nullptr || known.invoked > last->invoked)) last = &known, lastSeq = i;
    }
    return {};
  }

  // For each entity when a proposal may have been pending: from when its escalation was asked for until somebody was
  // told of its resolution, or of a later entry.
  struct Span {
    std::int64_t from = 0, to = kNever;
  };
  std::map<std::string_view, std::vector<Span>> frozenSpans() const {
    std::map<std::string_view, std::int64_t> toldSince;
    std::map<std::uint64_t, std::int64_t> resolved;  // by escalation
    std::map<std::string_view, std::vector<Span>> spans;
    for (std::size_t i = ledger_.size(); i-- > 0;) {
      const Entry& entry = ledger_[i].entry;
      std::int64_t& told = toldSince.emplace(entry.entity, kNever).first->second;
      told = std::min(told, known_[i].returned);
      if (entry.escalation != 0) resolved[entry.escalation] = told;
      if (entry.tag != Tag::escalated) continue;
      const auto end = resolved.find(entry.seq);
      spans[entry.entity].push_back({known_[i].invoked, end == resolved.end() ? kNever : end->second});
    }
    return spans;
  }

  std::string freezes() {
    const auto spans = frozenSpans();
    for (const Operation& operation : operations_) {
      if (!operation.returned || operation.answer.decision.outcome != Outcome::frozen) continue;
      if (hasLosses(lost_, operation.answer.epoch)) continue;
      const auto list = spans.find(operation.entity);
      const auto may = [&](const Span& span) {
        return span.from <= *operation.returned && span.to >= operation.invoked;
      };
      if (list == spans.end() || std::ranges::none_of(list->second, may))
        return nameOf(operation) + " was told frozen while nothing was pending for " + operation.entity;
    }
    return {};
  }

  std::span<const Operation> operations_;
  std::span<const LedgerLine> ledger_;
  std::span<const LostRange> lost_;
  std::map<std::string_view, std::vector<const LedgerLine*>> byId_;
  std::vector<Known> known_;
};

}  // namespace

std::string checkAnswers(std::span<const Operation> operations, std::span<const LedgerLine> ledger,
                         std::span<const LostRange> lost) {
  return AnswerCheck(operations, ledger, lost).run();
}

namespace {

bool isOf(const kernel::Entry& entry, const Operation& operation) {
  const bool repeated = operation.answer.decision.outcome == kernel::Outcome::duplicate;
  return isActOf(entry, operation) && (repeated || isOfPlan(entry, operation));
}

}  // namespace

std::vector<const Operation*> toldAndGone(std::span<const Operation* const> operations,
                                          std::span<const LedgerLine> entries) {
  std::multimap<std::string_view, const kernel::Entry*> byId;
  for (const LedgerLine& line : entries) byId.emplace(line.entry.operationId, &line.entry);
  std::vector<const Operation*> gone;
  for (const Operation* operation : operations) {
    if (!operation->returned || operation->answer.decision.seq == 0) continue;
    const auto [from, to] = byId.equal_range(operation->operationId);
    if (std::none_of(from, to, [&](const auto& entry) { return isOf(*entry.second, *operation); }))
      gone.push_back(operation);
  }
  return gone;
}

}  // namespace witan::sim
