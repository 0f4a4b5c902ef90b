// All routes: those of each area, and the operations (node/operations/), which work on the running node's replica and
// whose changes are durable before the answer leaves.
#include "node/api/control_routes.h"

#include <iterator>

#include "node/operations/agent.h"
#include "node/operations/agent_records.h"
#include "node/operations/agent_retention.h"
#include "node/operations/journal.h"
#include "node/operations/memory.h"
#include "node/operations/policy_simulate.h"
#include "node/operations/sync.h"
#include "node/operations/why.h"

namespace witan::node {

namespace api {

namespace {

template <const auto& operation, class Request, class Response>
Result<Response> onNode(const ApiContext& api, const Request& request) {
  // What it keeps of journals is sealed, and an empty answer would say that there is nothing.
  const RosterDevice* me = api.daemon.me();
  if (me != nullptr && me->copiesOnly() && std::string_view(operation.path).starts_with("/v1/journal/"))
    return Error{ErrorCode::conflict, "this device keeps encrypted copies and cannot read journals",
                 "ask another device (witan device roster)"};
  operations::OperationContext context = operationContext(api.daemon);
  Result<Response> made = operation.run(context, request);
  if (made.ok()) WITAN_DO(context.flush());
  api.daemon.scheduleTick();
  return made;
}

template <const auto& operation, class Request, class Response>
ControlRoute routeOf(const operations::Operation<Request, Response>&, RouteInfo info) {
  return node::route(std::move(info), &onNode<operation, Request, Response>);
}

template <const auto& operation>
ControlRoute route(const char* operationId, const char* tag, ControlRole role, const char* summary,
                   std::vector<int> errors = {}) {
  return routeOf<operation>(operation,
                            {operation.method, operation.path, operationId, tag, role, summary, std::move(errors)});
}

}  // namespace

operations::OperationContext operationContext(Daemon& daemon) {
  operations::OperationContext context{daemon.path(),     daemon.replica().data(),
                                       daemon.now().wall, [&daemon] { return daemon.tick(); },
                                       &daemon.replica(), daemon.replica().agents()};
  for (const RosterDevice& device : daemon.roster().current().devices)
    context.names.emplace(device.device, device.name);
  return context;
}

std::vector<ControlRoute> operationRoutes() {
  using namespace operations;
  using enum ControlRole;
  return {
      route<kJournalPut>("putJournal", "journal", operator_,
                         "Writes a journal entity, new or on top of the version shown here", {409}),
      route<kJournalGet>("getJournal", "journal", observer,
                         "A journal entity with all versions that were written concurrently", {404, 409}),
      route<kJournalList>("listJournal", "journal", observer, "All journal entities", {409}),
      route<kJournalResolve>("resolveJournal", "journal", operator_,
                             "Settles concurrent edits; without choose and payload, answers the entity", {404, 409}),
      route<kApprovalList>("listApprovals", "approvals", observer, "Effects of agents that wait for a person"),
      route<kApprovalApprove>("approveEffect", "approvals", counselor, "Lets an effect happen", {404, 409}),
      route<kApprovalDeny>("denyEffect", "approvals", counselor, "Refuses an effect", {404, 409}),
      route<kEpisodeList>("listEpisodes", "agents", observer, "All transcripts that this device holds"),
      route<kEpisodeShow>("showEpisode", "agents", observer, "A transcript, entry by entry", {404, 409, 500}),
      route<kEpisodeReplay>("replayEpisode", "agents", observer,
                            "Runs the agent again on its recorded input and compares", {404, 409, 500}),
      route<kReceiptList>("listReceipts", "receipts", observer, "All confirmations in force"),
      route<kReceiptShow>("showReceipt", "receipts", observer, "One confirmation", {404, 409}),
      route<kReceiptConfirm>("confirmReceipt", "receipts", counselor,
                             "Confirms one use under the policy of the data directory", {404, 409, 500}),
      route<kReceiptWithdraw>("withdrawReceipt", "receipts", counselor, "Withdraws a confirmation on every device",
                              {404, 409}),
      route<kSagaList>("listSagas", "agents", observer, "Operations under way or waiting for a person", {500}),
      route<kSagaShow>("showSaga", "agents", observer, "One operation", {404, 409, 500}),
      route<kSagaRetry>("retrySaga", "agents", operator_, "Tries a dead-lettered operation again", {404, 409, 500}),
      route<kSagaCompensate>("compensateSaga", "agents", operator_,
                             "Compensates an operation, or gives up a dead-lettered one", {404, 409, 500}),
      route<kFoldList>("listFolds", "agents", observer,
                       "Folds of agents' memories that failed, or of which devices wrote different texts", {500}),
      route<kFoldRetry>("retryFold", "agents", operator_, "Tries a failed fold again, or settles a divergent one",
                        {404, 409, 500}),
      route<kWakeList>("listWakes", "agents", observer, "Wakes that wait or run on this device"),
      route<kAgentList>("listAgents", "agents", observer, "All agents with a state"),
      route<kAgentShow>("showAgent", "agents", observer, "An agent as every replica sees it", {404}),
      route<kAgentCreate>("createAgent", "agents", operator_, "Makes an agent", {409}),
      route<kAgentSet>("setAgent", "agents", operator_, "Changes an agent's state, on top of what this device sees",
                       {404, 409}),
      route<kAgentLifecycle>("setAgentLifecycle", "agents", operator_,
                             "Pauses, resumes or destroys an agent on every device", {404, 409}),
      route<kAgentUsage>("readAgentUsage", "agents", observer,
                         "What agents leave on this device, and how much it takes"),
      route<kAgentPrune>("pruneAgents", "agents", admin,
                         "Takes away what runs left that ended long ago, on every device", {500}),
      route<kAgentReset>("resetAgent", "agents", admin, "Takes away state and memory of an agent on every device",
                         {404, 409, 500}),
      route<kAgentCheck>("checkAgents", "agents", observer,
                         "Whether each operation had one effect, each run an end, and the ledgers verify", {500}),
      route<kPolicySimulate>("simulatePolicy", "agents", observer,
                             "Judges the recorded calls of agents under another policy; changes nothing", {500}),
      route<kWhy>("explainWhy", "agents", observer,
                  "The chain of causes of a ledger entry, an operation, a run, a journal entry or an entity",
                  {404, 500}),
      route<kSyncStatus>("readSyncStatus", "sync", observer,
                         "What this device holds, what the others have, and what went wrong", {500}),
      route<kSyncDevices>("listSyncDevices", "sync", observer, "Whose records this device knows of and waits for",
                          {500}),
      route<kSyncAdmit>("admitSyncDevice", "sync", admin,
                        "Makes a device a member of the replicated data, without a network", {409, 500}),
      route<kSyncRetire>("retireSyncDevice", "sync", admin, "States that a device is gone for good", {404, 409, 500}),
      route<kSyncRecover>("recoverSync", "sync", admin,
                          "Goes on as a new writer after a restore, or lifts a device's quarantine", {404, 500})};
}

}  // namespace api

const std::vector<ControlRoute>& controlRoutes() {
  static const std::vector<ControlRoute> routes = [] {
    std::vector<ControlRoute> all;
    for (auto area : {api::statusRoutes, api::clusterRoutes, api::partitionRoutes, api::domainRoutes, api::ruleRoutes,
                      api::requestRoutes, api::inboxRoutes, api::ledgerRoutes, api::graphRoutes, api::marketRoutes,
                      api::servedRoutes, api::backupRoutes, api::proofRoutes, api::personRoutes, api::fileRoutes,
                      api::consoleRoutes, api::programRoutes, api::operationRoutes}) {
      std::vector<ControlRoute> some = area();
      all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    }
    return all;
  }();
  return routes;
}

}  // namespace witan::node
