#include "kernel/baseline.h"

#include <algorithm>

namespace witan::kernel {

namespace {

const RoleInfo& roleNamed(const Signature& signature, std::string_view name) {
  const auto at = std::find_if(signature.roles.begin(), signature.roles.end(),
                               [&](const RoleInfo& role) { return role.name == name; });
  WITAN_CHECK(at != signature.roles.end(), "a service has a role of the domain");
  return *at;
}

}  // namespace

EntityPtr NaiveServices::sliceOf(const RoleInfo& role) const {
  std::string text;
  module_.writeState(text, *state_, role.footprint);
  return module_.readState(parseJson(text, kOwnJson).value().as_object()).value();
}

// The first local invariant that does not pass on the slice, "" if none; `escalates` if every such one escalates.
std::string NaiveServices::tryOnSlice(const Act& act, const json::object& edit, std::string& writes,
                                      bool& escalates) const {
  const RoleInfo& role = roleNamed(module_.signature(), act.role);
  const EntityPtr slice = sliceOf(role);
  Evaluation out;
  const Status made = module_.counselorCommit(*slice, CommitBase::candidate, act.action, edit, act.at, out);
  escalates = false;
  if (!made.ok()) return std::string(kKernelIntegrity);
  writes = std::move(out.writes);
  std::string first;
  escalates = true;
  for (const Finding& finding : out.findings) {
    const InvariantInfo& invariant = module_.signature().invariants[finding.invariant - 1];
    if ((invariant.footprint & ~role.footprint) != 0) continue;  // not local: no service sees enough to check it
    if (first.empty()) first = invariant.id;
    escalates = escalates && finding.result == InvResult::escalate;
  }
  return first;
}

std::vector<std::string> NaiveServices::commitTogether(const std::vector<Act>& acts, const Person& person) {
  std::vector<std::string> heldBack, writes;
  Time last = state_->shared.clock;
  for (const Act& act : acts) {
    std::string written;
    bool escalates = false;
    std::string by = tryOnSlice(act, {}, written, escalates);
    if (!by.empty() && escalates && person) {
      const json::object edit = person(*sliceOf(roleNamed(module_.signature(), act.role)), act);
      by = tryOnSlice(act, edit, written, escalates);
    }
    if (by.empty()) {
      writes.push_back(std::move(written));
      last = std::max(last, act.at);
    }
    heldBack.push_back(std::move(by));
  }
  for (const std::string& one : writes) {
    const Status folded = module_.applyWrites(*state_, parseJson(one, kOwnJson).value().as_object());
    WITAN_CHECK(folded.ok(), "a write set of our own can be folded");
  }
  state_->shared.clock = last;
  return heldBack;
}

Status NaiveServices::commitByHand(const Act& act, const json::object& edit) {
  Evaluation out;
  return module_.counselorCommit(*state_, CommitBase::candidate, act.action, edit, act.at, out);
}

std::vector<std::string> NaiveServices::violated() const {
  std::vector<std::string> ids;
  const std::vector<Verdict> verdicts = module_.walk(*state_);
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (!verdicts[i].passed()) ids.push_back(module_.signature().invariants[i].id);
  return ids;
}

}  // namespace witan::kernel
