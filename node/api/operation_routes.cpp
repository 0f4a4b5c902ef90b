// Operations (node/operations/) as routes: each works on the running node's replica, and its changes are durable before
// the answer leaves.
#include "node/api/control_routes.h"
#include "node/operations/approval.h"
#include "node/operations/episode.h"
#include "node/operations/journal.h"
#include "node/operations/receipt.h"
#include "node/operations/saga.h"
#include "node/operations/wake.h"

namespace witan::node::api {

namespace {

template <const auto& operation, class Request, class Response>
Result<Response> onNode(const ApiContext& api, const Request& request) {
  Daemon& daemon = api.daemon;
  operations::OperationContext context{daemon.path(),     daemon.replica().data(),
                                       daemon.now().wall, [&daemon] { return daemon.tick(); },
                                       &daemon.replica(), daemon.replica().agents()};
  for (const RosterDevice& device : daemon.roster().current().devices)
    context.names.emplace(device.device, device.name);
  Result<Response> made = operation.run(context, request);
  if (made.ok()) WITAN_DO(context.flush());
  daemon.scheduleTick();
  return made;
}

template <const auto& operation, class Request, class Response>
ControlRoute routeOf(const operations::Operation<Request, Response>& of, RouteInfo info) {
  info.method = of.method;
  info.path = of.path;
  return typedRoute(std::move(info), &onNode<operation, Request, Response>);
}

template <const auto& operation>
ControlRoute route(RouteInfo info) {
  return routeOf<operation>(operation, std::move(info));
}

using namespace operations;

constexpr auto kReads = ControlRole::observer;
constexpr auto kWrites = ControlRole::operator_;

constexpr auto kCounsels = ControlRole::counselor;

#define WITAN_APPROVAL_ \
  R"({"operation":"5f0c","digest":"91ab","agentId":"udt-lab","run":"2214","what":{"tool":"mail"},"verdict":"waiting","by":"","reason":"","atMs":0})"
#define WITAN_RECEIPT_ \
  R"({"key":"2214","agent":"journal-summariser","boundary":"local-llm","provider":"local","model":"llama","policy":"clinic","version":1,"digest":"91ab","by":"ann","atMs":0})"
#define WITAN_SAGA_ \
  R"({"agentId":"udt-lab","arguments":{},"attempts":1,"createdAtMs":0,"kind":"tool","operation":"5f0c","phase":"done","run":"2214","scope":"main","status":"completed","superseded":false,"targets":["patient-1"],"tool":"mail","updatedAtMs":0})"
#define WITAN_ENTITY_                                                                                          \
  R"({"conflict":false,"id":"plot-4","shown":{"counter":7,"host":"a@00000001"},"siblings":[{"deleted":false,)" \
  R"("dot":{"counter":7,"host":"a@00000001"},"author":"ann","editedAtMs":1774256400000,)"                      \
  R"("payload":{"text":"beans"},"type":"plot"}],"unreadable":[]})"

}  // namespace

std::vector<ControlRoute> journalRoutes() {
  return {route<kJournalPut>({.operationId = "putJournal",
                              .tag = "journal",
                              .role = kWrites,
                              .summary = "Writes a journal entity, new or on top of the version shown here",
                              .errors = {409},
                              .request = R"({"id":"plot-4","type":"plot","payload":{"text":"beans"}})",
                              .response = R"({"dot":{"counter":7,"host":"a@00000001"},"id":"plot-4"})"}),
          route<kJournalGet>({.operationId = "getJournal",
                              .tag = "journal",
                              .role = kReads,
                              .summary = "A journal entity with all versions that were written concurrently",
                              .errors = {404},
                              .request = R"({"id":"plot-4"})",
                              .response = WITAN_ENTITY_}),
          route<kJournalList>({.operationId = "listJournal",
                               .tag = "journal",
                               .role = kReads,
                               .summary = "All journal entities",
                               .response = R"({"entities":[)" WITAN_ENTITY_ R"(],"names":{"a":"laptop"}})"}),
          route<kJournalResolve>(
              {.operationId = "resolveJournal",
               .tag = "journal",
               .role = kWrites,
               .summary = "Settles concurrent edits; without choose and payload, answers the entity",
               .errors = {404, 409},
               .request = R"({"id":"plot-4","choose":"a@00000001:7","seen":["a@00000001:7","b@00000002:3"]})",
               .response = R"({"dot":{"counter":8,"host":"a@00000001"}})"})};
}

std::vector<ControlRoute> agentWorkRoutes() {
  return {
      route<kApprovalList>({.operationId = "listApprovals",
                            .tag = "approvals",
                            .role = kReads,
                            .summary = "Effects of agents that wait for a person",
                            .response = R"({"approvals":[)" WITAN_APPROVAL_ R"(]})"}),
      route<kApprovalApprove>({.operationId = "approveEffect",
                               .tag = "approvals",
                               .role = kCounsels,
                               .summary = "Lets an effect happen",
                               .errors = {404, 409},
                               .request = R"({"operation":"5f0c","digest":"91ab","by":"ann"})",
                               .response = WITAN_APPROVAL_}),
      route<kApprovalDeny>({.operationId = "denyEffect",
                            .tag = "approvals",
                            .role = kCounsels,
                            .summary = "Refuses an effect",
                            .errors = {404, 409},
                            .request = R"({"operation":"5f0c","digest":"91ab","by":"ann"})",
                            .response = WITAN_APPROVAL_}),
      route<kEpisodeList>(
          {.operationId = "listEpisodes",
           .tag = "agents",
           .role = kReads,
           .summary = "All transcripts that this device holds",
           .response =
               R"({"episodes":[{"run":"2214","device":"a","agent":"udt-lab","version":"1","status":"completed","cause":"","entries":4}]})"}),
      route<kEpisodeShow>({.operationId = "showEpisode",
                           .tag = "agents",
                           .role = kReads,
                           .summary = "A transcript, entry by entry",
                           .errors = {404, 409, 500},
                           .request = R"({"run":"2214"})",
                           .response = R"({"entries":[{"entry":"begin","agent":"udt-lab"}]})"}),
      route<kEpisodeReplay>({.operationId = "replayEpisode",
                             .tag = "agents",
                             .role = kReads,
                             .summary = "Runs the agent again on its recorded input and compares",
                             .errors = {404, 409, 500},
                             .request = R"({"run":"2214"})",
                             .response = R"({"run":"2214","device":"a","entries":4,"ended":true,"reproduced":true})"}),
      route<kReceiptList>({.operationId = "listReceipts",
                           .tag = "receipts",
                           .role = kReads,
                           .summary = "All confirmations in force",
                           .response = R"({"receipts":[)" WITAN_RECEIPT_ R"(]})"}),
      route<kReceiptShow>({.operationId = "showReceipt",
                           .tag = "receipts",
                           .role = kReads,
                           .summary = "One confirmation",
                           .errors = {404, 409},
                           .request = R"({"key":"2214"})",
                           .response = WITAN_RECEIPT_}),
      route<kReceiptConfirm>({.operationId = "confirmReceipt",
                              .tag = "receipts",
                              .role = kCounsels,
                              .summary = "Confirms one use under the policy of the data directory",
                              .errors = {404, 409, 500},
                              .request = R"({"agent":"journal-summariser","boundary":"local-llm","by":"ann"})",
                              .response = WITAN_RECEIPT_}),
      route<kReceiptWithdraw>({.operationId = "withdrawReceipt",
                               .tag = "receipts",
                               .role = kCounsels,
                               .summary = "Withdraws a confirmation on every device",
                               .errors = {404, 409},
                               .request = R"({"key":"2214"})",
                               .response = WITAN_RECEIPT_}),
      route<kSagaList>({.operationId = "listSagas",
                        .tag = "agents",
                        .role = kReads,
                        .summary = "Operations under way or waiting for a person",
                        .errors = {500},
                        .response = R"({"sagas":[)" WITAN_SAGA_ R"(]})"}),
      route<kSagaShow>({.operationId = "showSaga",
                        .tag = "agents",
                        .role = kReads,
                        .summary = "One operation",
                        .errors = {404, 409, 500},
                        .request = R"({"operation":"5f0c"})",
                        .response = WITAN_SAGA_}),
      route<kSagaRetry>({.operationId = "retrySaga",
                         .tag = "agents",
                         .role = kWrites,
                         .summary = "Tries a dead-lettered operation again",
                         .errors = {404, 409, 500},
                         .request = R"({"operation":"5f0c"})",
                         .response = R"({"begun":"retry","operation":"5f0c"})"}),
      route<kSagaCompensate>({.operationId = "compensateSaga",
                              .tag = "agents",
                              .role = kWrites,
                              .summary = "Compensates an operation, or gives up a dead-lettered one",
                              .errors = {404, 409, 500},
                              .request = R"({"operation":"5f0c"})",
                              .response = R"({"begun":"compensate","operation":"5f0c"})"}),
      route<kWakeList>(
          {.operationId = "listWakes",
           .tag = "agents",
           .role = kReads,
           .summary = "Wakes that wait or run on this device",
           .response =
               R"({"wakes":[{"run":"2214","agentId":"udt-lab","reason":"timer","subject":"t","status":"queued","cause":"","atMs":0}]})"})};
}

}  // namespace witan::node::api
