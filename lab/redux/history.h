// Random histories of a partition: an oracle trace (proposals, order, time, counselor directives, noise) fed to the
// real Partition, with everything written down that a theorem speaks about.
//
// A History owns its partition; the module outlives it. Each step's batch is taken at once, so that the ledger's bytes
// can be read, altered and folded again.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_codec.h"
#include "base/seams.h"
#include "kernel/partition.h"

namespace witan::kernel::redux {

// One event and all that is to be seen of it.
struct Step {
  enum class Kind { init, propose, decide, expire };
  Kind kind = Kind::propose;
  // What was fed.
  std::string entity, role, operationId, action, counselor, reason;
  bool commit = false;
  CommitBase base = CommitBase::candidate;
  json::object fields;  // init: the fields; decide: the edit
  Time at;
  // What was answered.
  Decision decision;
  // Entity state, queue and ledger around it.
  std::string stateBefore, stateAfter;  // canonical JSON; "" while the entity does not exist
  bool frozenBefore = false, frozenAfter = false;
  std::size_t queueAfter = 0;            // of this entity
  std::vector<std::string> auditBefore;  // leaf hashes of the whole ledger, as hex would be: raw bytes
  std::vector<std::string> auditAfter;
  std::vector<Entry> appended;
  // The candidate on a copy: what applyMutation makes of stateBefore, and the verdict of every invariant on it
  // (empty for a candidate that is none: KERNEL_INTEGRITY), and the whole walk on stateAfter.
  std::vector<Verdict> onCandidate, onStateAfter;
};

inline std::string stateJson(const DomainModule& module, const EntityState* state, FieldMask mask = ~FieldMask{0}) {
  std::string out;
  if (state != nullptr) module.writeState(out, *state, mask);
  return out;
}

inline json::object objectOf(std::string_view text) { return parseJson(text).value().as_object(); }

inline ActionPtr actionOf(const DomainModule& module, std::string_view text) {
  auto action = module.parseAction(parseJson(text).value());
  WITAN_CHECK(action.ok(), action.ok() ? "" : action.error().message);
  return std::move(*action);
}

inline std::string jsonOf(const DomainModule& module, const Action& action) {
  std::string out;
  module.writeAction(out, action);
  return out;
}

// Feeds a recorded event to another partition, as `witan run` feeds a line again: with an id, and remembered.
inline Decision feed(Partition& partition, const Step& step) {
  if (step.kind == Step::Kind::init) return partition.init(step.entity, step.fields, step.at);
  if (step.kind == Step::Kind::propose) {
    auto decoded = partition.module().parseAction(parseJson(step.action).value());
    if (!decoded.ok()) return {};  // refused
    const ActionPtr action = std::move(*decoded);
    return partition.propose(
        {step.entity, step.role, step.operationId, "device-1", "agent-1", action.get(), step.at, true});
  }
  CounselorDecision d;
  d.entity = step.entity;
  d.counselor = step.counselor;
  d.operationId = step.operationId;
  d.commit = step.commit;
  d.base = step.base;
  d.edit = &step.fields;
  d.reason = step.reason;
  d.at = step.at;
  d.remember = true;
  return partition.decide(d);
}

class Entries final : public EntrySource {
 public:
  Result<std::string> entryBytes(std::uint64_t seq) override {
    if (seq == 0 || seq > bytes.size()) return Error{ErrorCode::notFound, "no entry", ""};
    return bytes[seq - 1];
  }
  std::vector<std::string> bytes;
};

struct HistoryOptions {
  std::int64_t ttl = 0;
  bool counselors = true;    // directives at all
  bool unsafeEdits = false;  // counselors may write anything well-typed
  bool forgedRoles = true;
  bool keepAudits = true;  // auditBefore and auditAfter, O(entries) each
};

class History {
 public:
  using Options = HistoryOptions;

  History(const DomainModule& module, std::uint64_t seed, Options options = {})
      : module_(module),
        random_(seed),
        options_(options),
        partition_(module, {.pendingTtlMicros = options.ttl}, &entries) {}

  Partition& partition() { return partition_; }
  const DomainModule& module() const { return module_; }
  Random& random() { return random_; }
  Time now() const { return now_; }

  void init(const std::string& entity) { init(entity, objectOf(module_.sampleInit(random_, now_))); }
  void init(const std::string& entity, const json::object& fields) {
    Step step = begin(Step::Kind::init, entity, now_);
    step.fields = fields;
    step.decision = partition_.init(entity, fields, now_);
    finish(std::move(step));
  }

  const Step& propose(const std::string& entity, std::string role, const Action& action, Time at,
                      std::string operationId) {
    Step step = begin(Step::Kind::propose, entity, at);
    step.role = std::move(role);
    step.action = jsonOf(module_, action);
    step.operationId = std::move(operationId);
    if (const EntityState* state = partition_.state(entity))
      step.onCandidate = verdictsOnCandidate(*state, step.role, action, at);
    Proposal p{entity, step.role, step.operationId, "device-1", "agent-1", &action, at, false};
    step.decision = partition_.propose(p);
    return finish(std::move(step));
  }

  const Step& decide(const std::string& entity, std::string counselor, bool commit, CommitBase base,
                     const json::object& edit, Time at, std::string operationId) {
    Step step = begin(Step::Kind::decide, entity, at);
    step.counselor = std::move(counselor);
    step.commit = commit;
    step.base = base;
    step.fields = edit;
    step.reason = "because";
    step.operationId = std::move(operationId);
    CounselorDecision d;
    d.entity = entity;
    d.counselor = step.counselor;
    d.operationId = step.operationId;
    d.commit = commit;
    d.base = base;
    d.edit = &edit;
    d.reason = step.reason;
    d.at = at;
    step.decision = partition_.decide(d);
    return finish(std::move(step));
  }

  void expire() {
    for (const auto& entity : partition_.entities()) {
      // One step per entity that is due; the partition expires all at once, so only the first call has work.
      Step step = begin(Step::Kind::expire, entity, now_);
      auto expired = partition_.expire(now_);
      for (const auto& [name, decision] : expired)
        if (name == entity) step.decision = decision;
      finish(std::move(step));
    }
  }

  // One random event: the next element of the oracle trace.
  void step() {
    const std::vector<std::string> entities = partition_.entities();
    const std::string entity = random_.below(40) == 0 ? "nobody" : entities[random_.below(entities.size())];
    now_.micros += static_cast<std::int64_t>(random_.below(8)) * 3'600'000'000;
    const Time at = random_.below(12) == 0
                        ? Time{now_.micros - static_cast<std::int64_t>(random_.below(5)) * 43'200'000'000}
                        : now_;
    const std::uint64_t draw = random_.below(20);
    if (draw == 0) return repeatOne(entity, at);
    if (draw == 1) return init(entity);
    if (draw == 2 && options_.ttl > 0 && entities.size() == 1) return expire();
    if (draw <= 3 || (partition_.frozen(entity) && draw <= 12)) return counsel(entity, at);
    proposeSomething(entity, at);
  }
  void run(int count) {
    for (int i = 0; i < count; ++i) step();
  }

  std::vector<Step> steps;
  std::vector<std::string> batches;  // the log, one value per step that wrote
  Entries entries;

  // What applyMutation and the whole list say, on a copy. Empty: the kernel finds the proposal unlawful.
  std::vector<Verdict> verdictsOnCandidate(const EntityState& state, std::string_view role, const Action& action,
                                           Time at) const {
    // A commit of the candidate as it is shows the candidate; the clone is thrown away.
    Evaluation probe;
    EntityPtr lawful = module_.clone(state);
    module_.evaluateFully(*lawful, role, action, at, probe);
    if (probe.tag == Evaluation::Tag::rejected && probe.witness == 0) return {};
    EntityPtr copy = module_.clone(state);
    Evaluation out;
    const Status made = module_.counselorCommit(*copy, CommitBase::candidate, &action, {}, "", at, out);
    if (!made.ok()) return {};
    return module_.walk(*copy);
  }

  // Some of another plausible state's fields; or erased keys, or a waiver. Well-typed; often against the invariants.
  json::object anyEdit(const EntityState& state) {
    json::object edit;
    auto other = module_.create(objectOf(module_.sampleInit(random_, now_)), now_);
    WITAN_CHECK(other.ok(), "a sampled beginning is lawful");
    Evaluation ignored;
    for (int i = 0; i < 12; ++i)
      if (ActionPtr action = module_.sample(**other, random_, now_))
        (void)module_.counselorCommit(**other, CommitBase::candidate, action.get(), {}, "", now_, ignored);
    const json::object theirs = objectOf(stateJson(module_, other->get()));
    const json::object ours = objectOf(stateJson(module_, &state));
    for (const FieldInfo& field : module_.signature().fields) {
      if (random_.below(4) != 0) continue;
      if (const json::value* value = theirs.if_contains(field.name); value != nullptr && random_.below(3) != 0)
        edit[field.name] = *value;
      else if (const json::value* mine = ours.if_contains(field.name); mine != nullptr && field.isColumn)
        edit[field.name] = erased(mine->get_object());
    }
    return edit;
  }

 private:
  json::object erased(const json::object& column) {
    json::object out;
    for (const auto& [key, value] : column)
      if (random_.below(3) == 0) out[key] = nullptr;
    return out;
  }

  Step begin(Step::Kind kind, const std::string& entity, Time at) {
    Step step;
    step.kind = kind;
    step.entity = entity;
    step.at = at;
    step.stateBefore = stateJson(module_, partition_.state(entity));
    step.frozenBefore = partition_.frozen(entity);
    if (options_.keepAudits) step.auditBefore = leaves_;
    return step;
  }

  const Step& finish(Step step) {
    if (partition_.hasOpenBatch()) {
      batches.push_back(partition_.takeBatch().value);
      auto read = readLogBatch(batches.back(), [&](const LogRecord& record) {
        if (record.kind != RecordKind::entry) return okStatus();
        entries.bytes.emplace_back(record.payload);
        leaves_.emplace_back(record.leaf.begin(), record.leaf.end());
        step.appended.push_back(readEntry(record.payload).value());
        return okStatus();
      });
      WITAN_CHECK(read.ok(), "our own batch is readable");
    }
    const EntityState* state = partition_.state(step.entity);
    step.stateAfter = stateJson(module_, state);
    if (state != nullptr) step.onStateAfter = module_.walk(*state);
    step.frozenAfter = partition_.frozen(step.entity);
    step.queueAfter = 0;
    for (const PendingView& view : partition_.queue()) step.queueAfter += view.entity == step.entity;
    if (options_.keepAudits) step.auditAfter = leaves_;
    partition_.checkInvariants();
    steps.push_back(std::move(step));
    return steps.back();
  }

  void repeatOne(const std::string& entity, Time at) {
    std::vector<const Step*> known;
    for (const Step& step : steps)
      if (step.kind == Step::Kind::propose && step.decision.seq != 0) known.push_back(&step);
    if (known.empty()) return proposeSomething(entity, at);
    const Step& one = *known[random_.below(known.size())];
    const ActionPtr action = actionOf(module_, one.action);
    const std::string role = one.role, operationId = one.operationId, of = one.entity;
    // Mostly the same act once more; sometimes another act under its name.
    propose(random_.below(4) == 0 ? entity : of, role, *action, at, operationId);
  }

  void proposeSomething(const std::string& entity, Time at) {
    const EntityState* state = partition_.state(entity);
    const EntityPtr blank = state == nullptr ? module_.create({}, now_).value() : nullptr;
    const ActionPtr action = module_.sample(state == nullptr ? *blank : *state, random_, at);
    if (action == nullptr) return;
    const auto& roles = module_.signature().roles;
    std::string role = module_.signature().processes[action->process].role;
    if (options_.forgedRoles && random_.below(25) == 0)
      role = random_.below(2) == 0 ? "nobody" : roles[random_.below(roles.size())].name;
    propose(entity, role, *action, at, nextId());
  }

  void counsel(const std::string& entity, Time at) {
    if (!options_.counselors) return proposeSomething(entity, at);
    const auto& known = module_.signature().counselors;
    const bool forged = known.empty() || random_.below(6) == 0;
    const std::string counselor = forged ? "stranger" : known[random_.below(known.size())];
    const bool commit = random_.below(3) != 0;
    const CommitBase base = random_.below(2) == 0 ? CommitBase::candidate : CommitBase::current;
    json::object edit;
    if (const EntityState* state = partition_.state(entity); state != nullptr && options_.unsafeEdits)
      edit = anyEdit(*state);
    decide(entity, counselor, commit, base, edit, at, nextId());
  }

  std::string nextId() { return "op-" + std::to_string(++operations_); }

  const DomainModule& module_;
  SeededRandom random_;
  Options options_;
  Partition partition_;
  std::vector<std::string> leaves_;
  Time now_ = parseTime("2026-03-23T08:00:00Z").value();
  std::uint64_t operations_ = 0;
};

}  // namespace witan::kernel::redux
