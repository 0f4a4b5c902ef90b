#include "kernel/history_check.h"

#include <algorithm>

#include "base/capnp_codec.h"
#include "kernel/partition.h"

namespace witan::kernel {

namespace {

constexpr std::int64_t kLater = 400 * kMicrosPerDay;

enum Property : std::size_t { invariantsHold, incrementalIsFull, timeStability, replay, forms, kProperties };

std::string stateText(const DomainModule& module, const EntityState& state) {
  std::string text;
  module.writeState(text, state);
  return text;
}

std::string actionText(const DomainModule& module, const Action& action) {
  std::string text;
  module.writeAction(text, action);
  return text;
}

class HistoryCheck {
 public:
  HistoryCheck(const DomainModule& module, const HistoryOptions& options)
      : module_(module), options_(options), random_(options.seed) {
    results_.resize(kProperties);
    results_[invariantsHold].name = "invariants hold in every committed state";
    results_[incrementalIsFull].name = "incremental checking decides as full checking";
    results_[timeStability].name = "time stability: passes now, passes 400 days later";
    results_[replay].name = "replay gives the same states, digests and tree";
    results_[forms].name = "JSON and Cap'n Proto forms read back";
  }

  std::vector<PropertyResult> run() {
    for (history_ = 0; history_ < options_.histories; ++history_) {
      Partition partition(module_);
      // Every third history is a careless counselor's: commits that keep nothing in view.
      careless_ = history_ % 3 == 2;
      for (step_ = 0; step_ < options_.steps; ++step_) one(partition);
      partition.checkInvariants();
      compareReplay(partition);
    }
    return std::move(results_);
  }

 private:
  void fail(Property property, const std::string& what) {
    if (!results_[property].failure.empty()) return;
    results_[property].failure = concat("seed ", options_.seed, ", history ", history_, ", step ", step_, ": ", what);
  }

  void one(Partition& partition) {
    if (step_ == 0) {
      now_ = kSampleStart;
      entity_ = "entity";
      begin(partition);
    }
    const EntityState* state = partition.state(entity_);
    if (state == nullptr) return;
    now_.micros += static_cast<std::int64_t>(random_.below(3)) * static_cast<std::int64_t>(random_.below(43'200)) *
                   kMicrosPerSecond;
    if (random_.below(25) == 0) now_.micros += static_cast<std::int64_t>(random_.below(45)) * kMicrosPerDay;
    ActionPtr action = module_.sample(*state, random_, now_);
    if (!action) return;
    compareForms(*action, *state);
    const std::string role = random_.below(40) == 0 && !module_.signature().roles.empty()
                                 ? module_.signature().roles[random_.below(module_.signature().roles.size())].name
                                 : module_.signature().processes[action->process].role;
    compareIncremental(*state, role, *action);
    Proposal proposal;
    const std::string operationId = concat("step-", step_);
    proposal.entity = entity_;
    proposal.role = role;
    proposal.operationId = operationId;
    proposal.action = action.get();
    proposal.at = now_;
    const Decision decision = partition.propose(proposal);
    if (decision.outcome == Outcome::escalated) answer(partition, *action);
    checkState(partition);
    if (random_.below(8) == 0) closeBatch(partition);
  }

  void begin(Partition& partition) {
    batches_.clear();
    for (int attempt = 0; attempt < 20 && partition.state(entity_) == nullptr; ++attempt) {
      auto init = parseJson(module_.sampleInit(random_, now_), kOwnJson);
      if (init && init->is_object()) partition.init(entity_, init->get_object(), now_);
    }
  }

  void answer(Partition& partition, const Action& pending) {
    const auto& counselors = module_.signature().counselors;
    if (counselors.empty()) return;
    now_.micros += 3'600 * kMicrosPerSecond;
    auto edit =
        parseJson(module_.sampleEdit(*partition.state(entity_), pending, counselors.front(), random_, now_), kOwnJson);
    const std::string operationId = concat("answer-", step_);
    CounselorDecision d{.entity = entity_,
                        .counselor = counselors.front(),
                        .operationId = operationId,
                        .commit = random_.below(10) < 8,
                        .base = careless_ && random_.below(3) == 0 ? CommitBase::current : CommitBase::candidate,
                        .at = now_};
    if (!edit || !edit->is_object()) return;
    if (careless_ && random_.below(2) == 0) edit = json::value(json::object());
    if (careless_ && random_.below(2) == 0) loseCell(*partition.state(entity_), edit->get_object());
    d.edit = &edit->get_object();
    if (d.commit && !careless_ && !isSafe(*partition.state(entity_), pending, d)) d.commit = false;
    Decision made = partition.decide(d);
    if (made.outcome != Outcome::refused) return;
    d.commit = false;
    const std::string again = operationId + "-again";
    d.operationId = again;
    partition.decide(d);
  }

  // Erases one cell of a column, whatever may rest on it.
  void loseCell(const EntityState& state, json::object& edit) {
    const json::object all = parseJson(stateText(module_, state), kOwnJson).value().as_object();
    std::vector<std::pair<std::string, std::string>> cells;
    for (const FieldInfo& field : module_.signature().fields)
      if (const json::value* column = all.if_contains(field.name); field.isColumn && column != nullptr)
        for (const auto& cell : column->get_object()) cells.emplace_back(field.name, cell.key());
    if (cells.empty()) return;
    const auto& [field, key] = cells[random_.below(cells.size())];
    edit[field] = json::object{{key, nullptr}};
  }

  bool isSafe(const EntityState& state, const Action& pending, const CounselorDecision& d) {
    EntityPtr candidate = module_.clone(state);
    static const json::object kNone;
    const Status made = module_.counselorCommit(*candidate, d.base, &pending, d.edit != nullptr ? *d.edit : kNone,
                                                d.counselor, d.at, full_);
    return made.ok() && full_.findings.empty();
  }

  void checkState(const Partition& partition) {
    const EntityState& state = *partition.state(entity_);
    const std::vector<Verdict> now = module_.walk(state);
    if (partition.unsafeCommits() == 0) {
      ++results_[invariantsHold].checked;
      for (std::size_t i = 0; i < now.size(); ++i)
        if (!now[i].passed()) fail(invariantsHold, module_.signature().invariants[i].id + ": " + now[i].message());
    }
    ++results_[timeStability].checked;
    EntityPtr later = module_.clone(state);
    later->shared.clock.micros += kLater;
    const std::vector<Verdict> then = module_.walk(*later);
    for (std::size_t i = 0; i < now.size(); ++i)
      if (now[i].passed() && !then[i].passed())
        fail(timeStability, module_.signature().invariants[i].id + ": " + then[i].message());
  }

  void compareIncremental(const EntityState& state, const std::string& role, const Action& action) {
    ++results_[incrementalIsFull].checked;
    EntityPtr a = module_.clone(state);
    EntityPtr b = module_.clone(state);
    module_.evaluate(*a, role, action, now_, quick_);
    module_.evaluateFully(*b, role, action, now_, full_);
    bool same = quick_.tag == full_.tag && quick_.message == full_.message && quick_.writes == full_.writes &&
                (quick_.tag == Evaluation::Tag::approved || quick_.witness == full_.witness) &&
                quick_.findings == full_.findings && a->notPassing == b->notPassing &&
                stateText(module_, *a) == stateText(module_, *b);
    for (std::size_t i = 0; i < quick_.verdicts.size(); ++i)
      if (quick_.verdicts[i] != static_cast<std::uint8_t>(InvResult::notEvaluated))
        same = same && quick_.verdicts[i] == full_.verdicts[i];
    if (!same) fail(incrementalIsFull, actionText(module_, action) + " from " + stateText(module_, state));
  }

  void compareForms(const Action& action, const EntityState& state) {
    ++results_[forms].checked;
    const std::string text = actionText(module_, action);
    auto parsed = parseJson(text, kOwnJson);
    auto back = parsed ? module_.parseAction(*parsed) : Result<ActionPtr>(parsed.error());
    if (!back || actionText(module_, **back) != text) return fail(forms, "JSON of " + text);
    ActionPtr decoded;
    const Status read = withMessage(module_.encodeAction(action), [&](capnp::AnyStruct::Reader root) -> Status {
      WITAN_SET(decoded, module_.decodeAction(module_.signature().processes[action.process].name, root));
      return okStatus();
    });
    if (!read.ok() || actionText(module_, *decoded) != text) return fail(forms, "Cap'n Proto of " + text);
    const std::string before = stateText(module_, state);
    auto object = parseJson(before, kOwnJson);
    auto entity = object ? module_.readState(object->get_object()) : Result<EntityPtr>(object.error());
    if (!entity || stateText(module_, **entity) != before) fail(forms, "state " + before);
  }

  void closeBatch(Partition& partition) {
    if (partition.hasOpenBatch()) batches_.push_back(partition.takeBatch().value);
  }

  void compareReplay(Partition& partition) {
    if (partition.state(entity_) == nullptr) return;
    ++results_[replay].checked;
    closeBatch(partition);
    Partition again(module_);
    for (const std::string& batch : batches_)
      if (auto folded = again.fold(batch); !folded) return fail(replay, folded.error().message);
    if (again.tree().root() != partition.tree().root()) return fail(replay, "the tree differs");
    if (*again.stateDigest(entity_) != *partition.stateDigest(entity_)) return fail(replay, "the state digest differs");
    const std::string expected = stateText(module_, *partition.state(entity_));
    const std::string got = stateText(module_, *again.state(entity_));
    if (got != expected) fail(replay, "the state differs: " + got + " instead of " + expected);
    if (again.frozen(entity_) != partition.frozen(entity_)) fail(replay, "the queue differs");
  }

  const DomainModule& module_;
  const HistoryOptions options_;
  SeededRandom random_;
  std::vector<PropertyResult> results_;
  std::size_t history_ = 0;
  std::size_t step_ = 0;
  bool careless_ = false;
  Time now_;
  std::string entity_;
  std::vector<std::string> batches_;
  Evaluation quick_, full_;
};

}  // namespace

std::vector<PropertyResult> checkHistories(const DomainModule& module, const HistoryOptions& options) {
  return HistoryCheck(module, options).run();
}

}  // namespace witan::kernel
