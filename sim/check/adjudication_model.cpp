#include "sim/check/adjudication_model.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/identity.h"
#include "base/json.h"

namespace witan::sim {

using kernel::Decision;
using kernel::Outcome;

namespace {

using Effects = std::vector<Effect>;

std::optional<json::object> objectOf(const std::string& text) {
  auto parsed = parseJson(text, {.bytes = kernel::kRecordTextMax, .depth = 64});
  if (!parsed || !parsed->is_object()) return std::nullopt;
  return std::move(parsed->get_object());
}

std::shared_ptr<const kernel::Action> actionOf(const kernel::DomainModule& module, const std::string& text) {
  auto parsed = parseJson(text, {.bytes = kernel::kRecordTextMax, .depth = 64});
  if (!parsed) return nullptr;
  auto action = module.parseAction(*parsed);
  return action ? std::shared_ptr<const kernel::Action>(*std::move(action)) : nullptr;
}

bool isOperationId(const std::string& id) { return validateId("operationId", id).ok() && !id.starts_with("expire:"); }

bool isEntityName(const std::string& name) {
  return !name.empty() && name.size() <= 256 &&
         std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

// One id, one act: is it the same act?
bool sameAct(const Operation& a, const Operation& b) {
  if (a.kind != b.kind || a.entity != b.entity) return false;
  if (a.kind == OperationKind::propose) return a.role == b.role && a.action == b.action;
  if (a.commit != b.commit || a.counselor != b.counselor) return false;
  return !a.commit || (a.base == b.base && objectOf(a.fields) == objectOf(b.fields));
}

// What the run is bound to; null: nothing.
template <class Runs>
auto boundOf(const Runs* runs, std::string_view run) -> decltype(&runs->begin()->second) {
  if (runs == nullptr || run.empty()) return nullptr;
  const auto found = runs->find(run);
  return found == runs->end() ? nullptr : &found->second;
}

// The message is left open where nobody knows which entry bound the run.
Decision turnedAway(const Operation& operation, std::string_view plan, std::uint64_t seq) {
  Decision answer{.outcome = Outcome::rejected, .invariant = std::string(kernel::kKernelIntegrity)};
  answer.boundElsewhere = true;
  if (seq != 0)
    answer.message = concat("run ", toHex(asBytes(operation.run)), " is bound to the plan whose digest begins with ",
                            toHex(asBytes(plan.substr(0, 16))), " (entry ", seq, ")");
  return answer;
}

void mix(std::array<std::uint64_t, 2>& digest, std::string_view text) {
  const Hash hash = sha256(text);
  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), hash.data(), sizeof words);
  digest[0] ^= words[0];
  digest[1] ^= words[1];
}

}  // namespace

Effects AdjudicationModel::effects(const ModelState& state, const Operation& operation) const {
  switch (operation.kind) {
    case OperationKind::init: return init(state, operation);
    case OperationKind::propose: return propose(state, operation);
    case OperationKind::decide: return decide(state, operation);
    case OperationKind::expire: return expire(state, operation);
  }
  return {};
}

std::string AdjudicationModel::stateText(const kernel::EntityState& state) const {
  std::string text;
  module_.writeState(text, state);
  return text;
}

Effects AdjudicationModel::init(const ModelState& state, const Operation& operation) const {
  Effect refused{{.outcome = Outcome::refused}, nullptr};
  Effect again{{.outcome = Outcome::duplicate, .recorded = Outcome::initialised}, nullptr};
  const auto fields = objectOf(operation.fields);
  if (!fields || !isEntityName(operation.entity)) return {refused};
  const auto known = state.entities_.find(operation.entity);
  if (known != state.entities_.end()) {
    // The same act, if these fields at that time make the same beginning.
    const auto created = module_.create(*fields, known->second->began);
    return created && stateText(**created) == known->second->beginning ? Effects{again} : Effects{refused};
  }
  // It left nothing, so the domain would not take these fields.
  if (!operation.stamp) return {refused};
  auto created = module_.create(*fields, operation.stamp->at);
  if (!created) return {refused};
  EntityModel made;
  made.began = operation.stamp->at;
  made.beginning = stateText(**created);
  made.state = *std::move(created);
  auto next = std::make_shared<ModelState>(state);
  put(*next, operation.entity, std::move(made));
  // Another attempt may have begun it, at another time; at this one's the domain would not have taken these fields.
  return {{{.outcome = Outcome::initialised}, std::move(next)}, refused};
}

Effects AdjudicationModel::propose(const ModelState& state, const Operation& operation) const {
  const auto action = actionOf(module_, operation.action);
  if (!isOperationId(operation.operationId)) return {{{.outcome = Outcome::refused}, nullptr}};
  if (action == nullptr) return {{{.outcome = Outcome::refused}, nullptr}};
  if (operation.run.empty() != operation.plan.empty()) return {{{.outcome = Outcome::refused}, nullptr}};
  if (!isOpenAgain(state, operation))
    if (auto repeat = recorded(state, operation)) return {*repeat};
  const auto known = state.entities_.find(operation.entity);
  if (known == state.entities_.end()) return {refuse(state, operation, Outcome::refused, "the entity is unknown")};
  const EntityModel& entity = *known->second;
  if (entity.pending && !operation.stamp) return {refuse(state, operation, Outcome::frozen, "a proposal is pending")};
  if (!operation.stamp) return {};
  const Time at = operation.stamp->at;
  if (entity.pending &&
      module_.touch(*entity.state, *action, at).meets(module_.touch(*entity.state, *entity.pending->action, at)))
    return {refuse(state, operation, Outcome::frozen, "a proposal is pending")};
  if (const ModelState::Bound* bound = boundOf(state.runs_.get(), operation.run);
      bound != nullptr && bound->plan != operation.plan)
    return {withEntry(state, operation, entity, turnedAway(operation, bound->plan, bound->seq))};

  kernel::EntityPtr candidate = module_.clone(*entity.state);
  kernel::Evaluation found;
  module_.evaluateFully(*candidate, operation.role, *action, operation.stamp->at, found);
  EntityModel after = entity;
  Decision answer;
  answer.outcome = kernel::outcomeOf(static_cast<kernel::Tag>(found.tag));
  if (answer.outcome == Outcome::approved) {
    after.state = std::move(candidate);
  } else {
    answer.invariant = module_.invariantId(found.witness);
    answer.message = found.message;
  }
  if (answer.outcome == Outcome::escalated && entity.pending)
    return {refuse(state, operation, Outcome::frozen, "another proposal is pending")};
  if (answer.outcome == Outcome::escalated)
    after.pending = EntityModel::Pending{operation.stamp->seq, operation.stamp->leaf, operation.stamp->at, action};
  return {withEntry(state, operation, std::move(after), std::move(answer))};
}

Effects AdjudicationModel::decide(const ModelState& state, const Operation& operation) const {
  const auto edit = objectOf(operation.fields);
  if (!edit || !isOperationId(operation.operationId)) return {{{.outcome = Outcome::refused}, nullptr}};
  if (auto repeat = recorded(state, operation)) return {*repeat};
  const auto no = [&](std::string why) { return refuse(state, operation, Outcome::refused, std::move(why)); };
  const auto known = state.entities_.find(operation.entity);
  if (known == state.entities_.end()) return {no("the entity is unknown")};
  if (!module_.authorised(operation.counselor)) return {no("no authorised counselor")};
  const EntityModel& entity = *known->second;
  if (!entity.pending) return {no("nothing is pending")};
  const EntityModel::Pending& pending = *entity.pending;
  const bool otherEntry = operation.escalation && pending.seq != 0 && *operation.escalation != pending.seq;
  const bool otherText = operation.pendingDigest && pending.leaf != Hash{} && *operation.pendingDigest != pending.leaf;
  if (otherEntry || otherText) return {no("another proposal is pending than was shown")};
  if (operation.stamp && operation.stamp->at < entity.state->shared.clock)
    return {no("its time lies before the entity's clock")};

  Effects effects;
  // Not known whether what was shown is what is pending.
  const bool unsure = (operation.escalation && pending.seq == 0) || (operation.pendingDigest && pending.leaf == Hash{});
  if (unsure) effects.push_back(no("another proposal is pending than was shown"));
  // Of a decision without an entry it is not known when it came.
  if (!operation.stamp && pendingTtlMicros_ > 0) effects.push_back(no("the time for a decision was over"));
  Effect made = commit(state, operation, entity);
  if (operation.stamp || made.answer.outcome == Outcome::refused) effects.push_back(std::move(made));
  return effects;
}

Effect AdjudicationModel::commit(const ModelState& state, const Operation& operation, const EntityModel& entity) const {
  EntityModel after = entity;
  after.pending.reset();
  Decision answer{.outcome = Outcome::cRejected, .message = operation.reason};
  if (operation.commit) {
    kernel::EntityPtr candidate = module_.clone(*entity.state);
    kernel::Evaluation found;
    const Time at = operation.stamp ? operation.stamp->at : std::max(entity.state->shared.clock, entity.pending->at);
    const Status made = module_.counselorCommit(*candidate, operation.base, entity.pending->action.get(),
                                                *objectOf(operation.fields), operation.counselor, at, found);
    if (!made.ok()) return refuse(state, operation, Outcome::refused, made.error().message);
    after.state = std::move(candidate);
    answer.outcome = Outcome::cCommitted;
    answer.safe = found.findings.empty();
    for (const kernel::Finding& finding : found.findings)
      answer.violated.emplace_back(module_.invariantId(finding.invariant));
  }
  return withEntry(state, operation, std::move(after), std::move(answer));
}

Effects AdjudicationModel::expire(const ModelState& state, const Operation& operation) const {
  const auto known = state.entities_.find(operation.entity);
  if (known == state.entities_.end() || !known->second->pending || pendingTtlMicros_ <= 0) return {};
  const EntityModel::Pending& pending = *known->second->pending;
  if (pending.seq != 0 && operation.operationId != concat("expire:", pending.seq)) return {};
  Time due;
  if (__builtin_add_overflow(pending.at.micros, pendingTtlMicros_, &due.micros)) return {};
  if (operation.stamp && operation.stamp->at != due) return {};
  EntityModel after = *known->second;
  after.pending.reset();
  return {withEntry(state, operation, std::move(after), {.outcome = Outcome::cRejected})};
}

bool AdjudicationModel::isOpenAgain(const ModelState& state, const Operation& operation) const {
  if (state.records_ == nullptr) return false;
  const auto found = state.records_->find(operation.operationId);
  if (found == state.records_->end() || !found->second.decision.boundElsewhere) return false;
  const Operation& before = *found->second.act;
  const ModelState::Bound* bound = boundOf(state.runs_.get(), operation.run);
  return bound != nullptr && bound->plan == operation.plan && before.run == operation.run && sameAct(before, operation);
}

void AdjudicationModel::bind(ModelState& state, const Operation& operation) const {
  if (operation.run.empty() || boundOf(state.runs_.get(), operation.run) != nullptr) return;
  auto runs = state.runs_ == nullptr ? ModelState::Runs{} : *state.runs_;
  runs[operation.run] = {operation.plan, operation.stamp ? operation.stamp->seq : 0};
  state.runs_ = std::make_shared<const ModelState::Runs>(std::move(runs));
  mix(state.digest_, "run " + operation.run + operation.plan);
}

std::optional<Effect> AdjudicationModel::recorded(const ModelState& state, const Operation& operation) const {
  if (state.records_ == nullptr) return std::nullopt;
  const auto found = state.records_->find(operation.operationId);
  if (found == state.records_->end()) return std::nullopt;
  const Decision& first = found->second.decision;
  const bool note = first.outcome == Outcome::refused || first.outcome == Outcome::frozen;
  if (!note && !sameAct(*found->second.act, operation))
    return Effect{{.outcome = Outcome::refused, .message = "the id names another act"}, nullptr};
  Effect effect{first, nullptr};
  effect.answer.recorded = first.outcome;
  effect.answer.outcome = Outcome::duplicate;
  return effect;
}

Effect AdjudicationModel::refuse(const ModelState& state, const Operation& operation, Outcome outcome,
                                 std::string why) const {
  Effect effect{{.outcome = outcome, .message = std::move(why)}, nullptr};
  if (!operation.remember || !repeated_.contains(operation.operationId)) return effect;
  auto next = std::make_shared<ModelState>(state);
  record(*next, operation, {.outcome = outcome});
  effect.next = std::move(next);
  return effect;
}

Effect AdjudicationModel::withEntry(const ModelState& state, const Operation& operation, EntityModel after,
                                    Decision answer) const {
  auto next = std::make_shared<ModelState>(state);
  answer.seq = operation.stamp ? operation.stamp->seq : 0;
  if (answer.seq != 0) next->lastSeq_ = answer.seq;
  put(*next, operation.entity, std::move(after));
  bind(*next, operation);
  if (repeated_.contains(operation.operationId)) record(*next, operation, answer);
  return {std::move(answer), std::move(next)};
}

void AdjudicationModel::put(ModelState& state, std::string_view entity, EntityModel model) const {
  std::string text = concat("entity ", entity, "\n", model.beginning, "\n");
  module_.writeState(text, *model.state);
  if (model.pending) {
    text += concat("\npending ", model.pending->seq, " ", formatTime(model.pending->at), " ");
    module_.writeAction(text, *model.pending->action);
  }
  model.digest = sha256(text);
  auto& slot = state.entities_[entity];
  if (slot != nullptr) mix(state.digest_, asView(slot->digest));
  mix(state.digest_, asView(model.digest));
  slot = std::make_shared<const EntityModel>(std::move(model));
}

void AdjudicationModel::record(ModelState& state, const Operation& operation, const Decision& decision) const {
  auto records = state.records_ == nullptr ? ModelState::Records{} : *state.records_;
  records[operation.operationId] = {&operation, decision};
  state.records_ = std::make_shared<const ModelState::Records>(std::move(records));
  mix(state.digest_, "record " + operation.operationId + "\n" + operation.entity + "\n" + operation.role + "\n" +
                         operation.action + "\n" + operation.counselor + "\n" + operation.fields + "\n" +
                         toString(decision) + "\n" + operation.run + operation.plan);
}

std::string difference(const Decision& expected, const Decision& told) {
  const std::string should = "told " + toString(told) + ", but it comes out as " + toString(expected);
  if (expected.outcome != told.outcome) return should;
  if (expected.seq != 0 && expected.seq != told.seq) return should;
  if (expected.outcome == Outcome::duplicate && expected.recorded != told.recorded) return should;
  const bool refusal = expected.outcome == Outcome::refused || expected.outcome == Outcome::frozen;
  if (refusal || expected.recorded == Outcome::refused || expected.recorded == Outcome::frozen) return {};
  if (expected.invariant != told.invariant) return should;
  if (!expected.invariant.empty() && !expected.message.empty() && expected.message != told.message)
    return "told \"" + told.message + "\", but the message comes out as \"" + expected.message + "\"";
  // An answer that came over the network does not name them.
  if (expected.safe != told.safe || (!told.violated.empty() && expected.violated != told.violated))
    return "told wrongly which invariants the commit violates";
  return {};
}

std::string toString(const Decision& decision) {
  std::string text(enumName(decision.outcome));
  if (decision.outcome == Outcome::duplicate) text += concat(" of ", enumName(decision.recorded));
  if (!decision.invariant.empty()) text += " " + decision.invariant;
  if (decision.seq != 0) text += concat(" (entry ", decision.seq, ")");
  return text;
}

}  // namespace witan::sim
