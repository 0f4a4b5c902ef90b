// Checks of a domain module on single states: footprint honesty, time stability, and that the incremental walk says
// what the full one says. Each returns "" or what it found; planted mistakes in state_checks_test.cpp show that they
// fire.
#pragma once

#include <functional>

#include "tests/kernel/history.h"

namespace witan::kernel::test {

// The fields of `donor` not in `keep`, as an edit that makes them equal to the donor's: columns lose the keys that the
// donor lacks.
inline json::object transplant(const DomainModule& module, const EntityState& into, const EntityState& donor,
                               FieldMask keep) {
  json::object ours = objectOf(stateJson(module, &into));
  json::object theirs = objectOf(stateJson(module, &donor));
  json::object edit;
  const auto& fields = module.signature().fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (keep >> i & 1) continue;
    json::value* given = theirs.if_contains(fields[i].name);
    if (!fields[i].isColumn) {
      if (given != nullptr) edit[fields[i].name] = *given;
      continue;
    }
    json::object column = given == nullptr ? json::object() : given->as_object();
    if (const json::value* mine = ours.if_contains(fields[i].name))
      for (const auto& [key, value] : mine->get_object())
        if (!column.contains(key)) column[key] = nullptr;
    if (!column.empty()) edit[fields[i].name] = std::move(column);
  }
  return edit;
}

// A copy of `state` in which every field outside of `keep` is the donor's.
inline EntityPtr withHiddenFieldsOf(const DomainModule& module, const EntityState& state, const EntityState& donor,
                                    FieldMask keep) {
  EntityPtr copy = module.clone(state);
  const Status status = module.applyWrites(*copy, transplant(module, state, donor, keep));
  WITAN_CHECK(status.ok(), status.ok() ? "" : status.error().message);
  return copy;
}

// Footprint honesty (A.9: "the fields i references"): with every field outside its footprint replaced, an invariant's
// verdict is the same. `beforeWalk` sees the state about to be walked (for an invariant that peeps).
inline std::string footprintsAreHonest(
    const DomainModule& module, const EntityState& state, const EntityState& donor,
    const std::function<void(const EntityState&)>& beforeWalk = [](const EntityState&) {}) {
  beforeWalk(state);
  const std::vector<Verdict> before = module.walk(state);
  const auto& invariants = module.signature().invariants;
  for (std::size_t i = 0; i < invariants.size(); ++i) {
    const EntityPtr copy = withHiddenFieldsOf(module, state, donor, invariants[i].footprint);
    beforeWalk(*copy);
    if (!(module.walk(*copy)[i] == before[i])) return invariants[i].id + " depends on a field outside its footprint";
  }
  return {};
}

// F5: "a passing state still passes when only `clock` advances".
inline std::string invariantsAreTimeStable(const DomainModule& module, const EntityState& state,
                                           std::int64_t days = 400) {
  const std::vector<Verdict> before = module.walk(state);
  for (std::int64_t micros : {std::int64_t{1}, std::int64_t{86'400'000'000}, days * 86'400'000'000}) {
    EntityPtr later = module.clone(state);
    later->shared.clock.micros += micros;
    const std::vector<Verdict> after = module.walk(*later);
    for (std::size_t i = 0; i < before.size(); ++i)
      if (before[i].passed() && !after[i].passed())
        return module.signature().invariants[i].id + " fails by the mere passing of time: " + after[i].message();
  }
  return {};
}

// F8: the incremental walk of one candidate against the full one. The full walk's byte is pass where the incremental
// says notEvaluated; every other byte, the outcome, the witness and the writes are the same.
inline std::string incrementalEqualsFull(const DomainModule& module, const EntityState& state, std::string_view role,
                                         const Action& action, Time at) {
  const EntityPtr quick = module.clone(state);
  const EntityPtr slow = module.clone(state);
  Evaluation a, b;
  module.evaluate(*quick, role, action, at, a);
  module.evaluateFully(*slow, role, action, at, b);
  const std::string of = " of " + jsonOf(module, action) + " on " + stateJson(module, &state);
  if (a.tag != b.tag) return "another outcome" + of + ": " + b.message;
  if (a.witness != b.witness || a.message != b.message)
    return "another witness" + of + ": " + a.message + " / " + b.message;
  if (a.findings != b.findings) return "other findings" + of;
  if (a.writes != b.writes) return "other writes" + of;
  for (std::size_t i = 0; i < a.verdicts.size(); ++i) {
    const auto not_ = static_cast<std::uint8_t>(InvResult::notEvaluated);
    const auto pass = static_cast<std::uint8_t>(InvResult::pass);
    const bool skipped = a.verdicts[i] == not_ && (b.verdicts[i] == pass || b.verdicts[i] == not_);
    if (a.verdicts[i] != b.verdicts[i] && !skipped)
      return "another verdict of " + std::string(module.invariantId(static_cast<std::uint16_t>(i))) + of;
  }
  if (stateJson(module, quick.get()) != stateJson(module, slow.get())) return "another state" + of;
  if (quick->notPassing != slow->notPassing) return "another set of failing invariants" + of;
  if (a.tag != Evaluation::Tag::approved && stateJson(module, quick.get()) != stateJson(module, &state))
    return "not undone" + of;
  return {};
}

// Random histories with counselor commits that may write anything, each followed by the comparison.
inline std::string incrementalEqualsFullOnHistories(const DomainModule& module, std::uint64_t seed, int steps,
                                                    int* unsafe = nullptr) {
  SeededRandom random(seed);
  Time now = parseTime("2026-03-23T08:00:00Z").value();
  History donors(module, seed ^ 0x5eed);  // for its edits only
  EntityPtr entity = module.create(objectOf(module.sampleInit(random, now)), now).value();
  Evaluation ignored;
  const auto& counselors = module.signature().counselors;
  for (int i = 0; i < steps; ++i) {
    now.micros += static_cast<std::int64_t>(random.below(20)) * 3'600'000'000;
    const ActionPtr action = module.sample(*entity, random, now);
    if (action == nullptr) return "the domain offers no sample";
    const std::string role = module.signature().processes[action->process].role;
    if (std::string found = incrementalEqualsFull(module, *entity, role, *action, now); !found.empty()) return found;
    if (random.below(8) == 0) {
      (void)module.counselorCommit(*entity, random.below(2) == 0 ? CommitBase::candidate : CommitBase::current,
                                   action.get(), donors.anyEdit(*entity), counselors.empty() ? "" : counselors.front(),
                                   now, ignored);
      if (unsafe != nullptr) *unsafe += entity->notPassing != 0;
    } else {
      module.evaluate(*entity, role, *action, now, ignored);
    }
  }
  return {};
}

// A state after some random decisions, lawful or (with `wild`) after any writes.
inline EntityPtr anyState(const DomainModule& module, std::uint64_t seed, int steps, bool wild) {
  SeededRandom random(seed);
  Time now = parseTime("2026-03-23T08:00:00Z").value();
  EntityPtr entity = module.create(objectOf(module.sampleInit(random, now)), now).value();
  Evaluation ignored;
  for (int i = 0; i < steps; ++i) {
    now.micros += static_cast<std::int64_t>(random.below(30)) * 3'600'000'000;
    const ActionPtr action = module.sample(*entity, random, now);
    if (action == nullptr) break;
    if (wild)
      (void)module.counselorCommit(*entity, CommitBase::candidate, action.get(), {}, "", now, ignored);
    else
      module.evaluate(*entity, module.signature().processes[action->process].role, *action, now, ignored);
  }
  return entity;
}

}  // namespace witan::kernel::test
