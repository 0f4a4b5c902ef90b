#include "replication/records/plan.h"

#include <set>

#include "base/json.h"

namespace witan::replication {

namespace {

Result<Plan> read(const RunKey& runKey, const Version& version) {
  if (version.tombstone) return invalid("a plan cannot be deleted");
  WITAN_TRY(body, decodeRecord<PlanBody>(version.body));
  if (body.runKey != runKey.value) return invalid("it is of the run " + RunKey{body.runKey}.hex());
  WITAN_TRY(operations, operationsOf(body));
  const PlanDigest digest = planDigest(operations);
  return Plan{version.dot, std::move(body), std::move(operations), digest};
}

}  // namespace

Result<std::vector<OperationId>> operationsOf(const PlanBody& body) {
  std::vector<ActionStableId> actions;
  for (const PlanAction& a : body.actions) {
    WITAN_TRY(arguments, parseJson(a.arguments, {.bytes = kMaxRecordBytes}));
    WITAN_TRY(action, actionStableId(a.toolName, argsHash(arguments), a.scope, a.targets));
    actions.push_back(action);
  }
  return planOperationIds(RunKey{body.runKey}, actions);
}

PlanView planViewOf(const RunKey& runKey, std::span<const Version> versions) {
  PlanView view;
  std::vector<Plan> plans;
  for (const Version* v : versionsByDot(versions)) {
    auto plan = read(runKey, *v);
    if (plan.ok())
      plans.push_back(*std::move(plan));
    else
      view.unreadable.push_back({v->dot, plan.error().message});
  }
  for (Plan& plan : plans) {
    if (!view.winner)
      view.winner = std::move(plan);
    else if (plan.digest == view.winner->digest)
      view.repeats.push_back(plan.dot);
    else
      view.losers.push_back(std::move(plan));
  }
  return view;
}

std::vector<Compensation> compensationsOf(const PlanView& view) {
  std::set<OperationId> kept, undone;
  if (view.winner) kept.insert(view.winner->operations.begin(), view.winner->operations.end());
  for (const Plan& loser : view.losers)
    for (const OperationId& operation : loser.operations)
      if (!kept.contains(operation)) undone.insert(operation);
  std::vector<Compensation> out;
  for (const OperationId& operation : undone) out.push_back({operation, compensationOperationId(operation)});
  return out;
}

}  // namespace witan::replication
