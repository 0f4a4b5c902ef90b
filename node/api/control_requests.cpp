// What people ask of meta-agents, and what meta-agents ask of people.
#include "base/bytes.h"
#include "base/identity.h"
#include "base/json.h"
#include "base/quote.h"
#include "node/api/control_routes.h"
#include "node/api/messages/partitions.h"
#include "node/api/messages/requests.h"
#include "node/daemon/agent_feed.h"
#include "node/daemon/agents_policy_file.h"
#include "replica/core/messages.h"
#include "replication/writer.h"

namespace witan::node::api {

namespace {

constexpr std::uint64_t kDefaultWaitMs = 10'000;
constexpr std::uint64_t kMostWaitMs = 120'000;

// Unless the caller names it: derived from the content and the moment, so that two equal requests are two operations.
template <class Asked>
std::string operationIdOf(const ApiContext& context, const Asked& request) {
  if (request.operationId) return *request.operationId;
  return "api:" +
         toHex(sha256(context.request.path + "|" + toJson(request) + "|" + context.daemon.replica().data().writer() +
                      "|" + std::to_string(context.daemon.now().wall.micros)))
             .substr(0, 32);
}

DecisionMade decisionOf(const Answer& answer) {
  const bool duplicate = answer.outcome == kernel::Outcome::duplicate;
  DecisionMade made{answer.operationId, duplicate ? answer.recorded : answer.outcome, duplicate};
  if (answer.kind == AnswerKind::frozen) made.outcome = kernel::Outcome::frozen;
  if (answer.seq > 0) made.ledgerSeq = answer.seq;
  if (!answer.invariant.empty()) made.invariant = answer.invariant;
  if (!answer.message.empty()) made.message = answer.message;
  if (answer.safe != Safety::none) made.safe = answer.safe == Safety::safe;
  return made;
}

TracedCall callOf(const ApiContext& context, const Request& request) {
  Replica& replica = context.daemon.replica();
  TracedCall traced{context.request.path, request.operationId, request.domain, request.role, "", "", ""};
  traced.partition = replica.partitionFor(request.domain, request.entity);
  if (const OwnershipRecord* claim = replica.owners().find(traced.partition); claim != nullptr)
    traced.owner = replication::deviceOf(claim->owner);
  if (const auto header = context.request.headers.find("traceparent"); header != context.request.headers.end())
    traced.traceparent = header->second;
  return traced;
}

// The caller learns in which trace its request is.
net::HttpHeaders traceHeaders(const std::shared_ptr<const Tracer::Asked>& span) {
  if (!span) return {};
  return {{"traceparent", formatTraceparent({span->route.traceId, span->server, true})}};
}

using DecisionLater = Later<DecisionMade, DecisionWaiting>;

void ask(const ApiContext& context, Result<Request> request, const Omittable<std::uint64_t>& waitMs,
         DecisionLater later) {
  if (!request.ok()) return later.refuse(request.error());
  Daemon& daemon = context.daemon;
  const std::string operation = request->operationId;
  Tracer* const tracer = daemon.tracer();
  const auto span = tracer == nullptr ? nullptr : tracer->asked(callOf(context, *request), daemon.now().wall);
  const auto answered = [&daemon, later, operation, tracer, span](const Result<Answer>& answer) {
    if (tracer != nullptr) tracer->answered(span, answer, daemon.now().wall);
    if (answer.ok()) return later.answer(decisionOf(*answer), traceHeaders(span));
    const Error& why = answer.error();
    if (why.code != ErrorCode::unavailable)  // it may wait nowhere
      return later.refuse({ErrorCode::unavailable, why.message, why.hint});
    later.accept({operation, WaitingOutcome::waiting, why.message, why.hint}, traceHeaders(span));
  };
  const auto wait = static_cast<std::int64_t>(std::min(waitMs.value_or(kDefaultWaitMs), kMostWaitMs));
  const Status taken = daemon.ask(std::move(*request), wait, answered);
  if (taken.ok()) return;
  if (tracer != nullptr) tracer->answered(span, taken.error(), daemon.now().wall);
  later.refuse(taken.error());
}

Result<Request> requestOf(const ApiContext& context, const ProposeRequest& asked) {
  WITAN_TRY(module, moduleNamed(context.daemon, asked.domain));
  return proposalRequest(*module, asked.entity, asked.role, operationIdOf(context, asked), asked.action);
}

Result<Request> requestOf(const ApiContext& context, const BeginRequest& asked) {
  WITAN_TRY(module, moduleNamed(context.daemon, asked.domain));
  return initRequest(*module, asked.entity, operationIdOf(context, asked), asked.init.value_or(json::object()));
}

Result<Request> requestOf(const ApiContext& context, const DecideRequest& asked) {
  WITAN_TRY(module, moduleNamed(context.daemon, asked.domain));
  auto shown = hashFromHex(asked.digest);
  if (!shown.ok()) return invalid("digest: " + shown.error().message, "copy it from: witan queue show");
  Request request;
  request.kind = asked.decision == CounselorDecision::commit ? RequestKind::commit : RequestKind::reject;
  request.domain = module->signature().domain;
  request.entity = asked.entity;
  request.counselor = asked.counselor;
  request.reason = asked.reason.value_or("");
  request.pendingDigest = *shown;
  request.operationId = asked.operationId.value_or("queue:" + asked.digest.substr(0, 32));
  if (request.kind == RequestKind::reject) return request;
  request.base = asked.base.value_or(kernel::CommitBase::candidate);
  request.text = asked.edit ? canonicalJson(*asked.edit) : "{}";
  return request;
}

template <class Asked>
void decideOn(const ApiContext& context, const Asked& asked, DecisionLater later) {
  ask(context, requestOf(context, asked), asked.waitMs, std::move(later));
}

QueueRow queueRow(const PartitionHost& host, const kernel::PendingView& p) {
  const kernel::DomainModule& module = host.module();
  std::string state;
  module.writeState(state, *host.partition().state(p.entity));
  QueueRow row{module.signature().domain, host.id(), p.entity, p.seq, toHex(p.digest), p.at, p.role, p.device, p.agent};
  row.action = parseJson(p.action).value();
  row.invariant = p.invariant;
  row.message = p.message;
  for (const kernel::Finding& finding : p.findings)
    row.findings.push_back({std::string(module.invariantId(finding.invariant)), finding.result, finding.message});
  row.counselors = module.signature().counselors;
  row.state = parseJson(state, {.bytes = kernel::kRecordTextMax, .depth = 64}).value();
  if (p.expires) row.expires = *p.expires;
  return row;
}

void queue(const ApiContext& context, const DomainFilter& request, Later<Queue> later) {
  if (const Status kept = needsLedgers(context.daemon); !kept.ok()) return later.refuse(kept.error());
  const std::string domain = request.domain.value_or("");
  std::set<std::string> partitions;
  for (const auto& [id, host] : context.daemon.replica().hosts())
    if (domain.empty() || host->module().signature().domain == domain) partitions.insert(id);
  const auto rows = std::make_shared<std::map<std::string, std::vector<QueueRow>>>();
  context.daemon.readers().read(
      std::move(partitions),
      [rows](const PartitionHost& host) {
        std::vector<QueueRow>& some = (*rows)[host.id()];
        for (const kernel::PendingView& pending : host.partition().queue()) some.push_back(queueRow(host, pending));
      },
      [later, rows](const Status& read) {
        if (!read.ok()) return later.refuse(read.error());
        Queue all;
        for (auto& [id, some] : *rows)
          all.queue.insert(all.queue.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
        later.answer(all);
      });
}

Result<OutboxRows> outbox(const ApiContext& context, const Nothing&) {
  OutboxRows answer;
  for (const auto& [id, waiting] : context.daemon.replica().outbox().all())
    answer.outbox.push_back({id, std::string(enumName(waiting.request.kind)), waiting.request.domain,
                             waiting.request.entity, waiting.request.agent, waiting.tries});
  return answer;
}

Result<Fed> feed(const ApiContext& context, const FeedRequest& request) {
  Daemon& daemon = context.daemon;
  WITAN_DO(checkIntegersKept(context.request.body));
  json::object line{{"at", formatTime(daemon.now().wall)}};
  forEachMember<FeedRequest>([&](auto member, auto) {
    if (const auto& value = request.*member.pointer) line[member.name] = *value;
  });
  WITAN_TRY(seals, contentSealsOf(daemon.path()));
  WITAN_DO(feedLine(daemon.replica(), seals, daemon.config().scope, line, daemon.now()));
  WITAN_DO(daemon.tick());
  return Fed{};
}

constexpr const char* kDecisionExample =
    R"({"operationId":"order-4711","outcome":"approved","duplicate":false,"ledgerSeq":12,"invariant":null,"message":null})";

std::vector<ControlRoute> decidedRoutes() {
  return {
      laterRoute({.method = "POST",
                  .path = "/v1/propose",
                  .operationId = "proposeAction",
                  .tag = "requests",
                  .role = ControlRole::operator_,
                  .summary = "Proposes an action; answers when the decision is durable",
                  .errors = {404, 409, 500},
                  .request = R"({"domain":"budget","entity":"B","role":"A","action":{"type":"SpendA","n":3},
                          "operationId":"order-4711"})",
                  .response = kDecisionExample},
                 decideOn<ProposeRequest>),
      laterRoute({.method = "POST",
                  .path = "/v1/entities",
                  .operationId = "beginEntity",
                  .tag = "requests",
                  .role = ControlRole::operator_,
                  .summary = "Begins an entity; answers when the decision is durable",
                  .errors = {404, 409, 500},
                  .request = R"({"domain":"budget","entity":"B"})",
                  .response = kDecisionExample},
                 decideOn<BeginRequest>),
      laterRoute({.method = "POST",
                  .path = "/v1/queue/decide",
                  .operationId = "decideQueued",
                  .tag = "queue",
                  .role = ControlRole::counselor,
                  .summary = "Decides as a counselor on exactly what the queue showed",
                  .errors = {404, 409, 500},
                  .request = R"({"domain":"udt","entity":"patient-1","counselor":"dr.supervising","decision":"commit",
                          "digest":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                          "reason":"seen and agreed"})",
                  .response = R"({"operationId":"queue:9f86d081","outcome":"cCommitted","duplicate":false,
                          "ledgerSeq":13,"invariant":null,"message":null,"safe":true})"},
                 decideOn<DecideRequest>)};
}

}  // namespace

std::vector<ControlRoute> requestRoutes() {
  std::vector<ControlRoute> all = decidedRoutes();
  all.push_back(
      laterRoute({.method = "GET",
                  .path = "/v1/queue",
                  .operationId = "listQueue",
                  .tag = "queue",
                  .role = ControlRole::observer,
                  .summary = "Proposals that wait for a counselor",
                  .errors = {500},
                  .request = R"({"domain":"moderation"})",
                  .response = R"({"queue":[{"domain":"moderation","partition":"moderation/0","entity":"case-1","seq":4,
                                "digest":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                                "at":"2026-03-23T08:00:00Z","role":"Enforcement","device":"0d66796d1c3b9a52","agent":"",
                                "action":{"type":"TakeAction","a":"A1"},"invariant":"UCM_HUMAN_PERMANENT_BAN","message":"a ban",
                                "findings":[{"invariant":"UCM_HUMAN_PERMANENT_BAN","result":"escalate","message":"a ban"}],
                                "counselors":["human.lead"],"state":{}}]})"},
                 queue));
  all.push_back(typedRoute({.method = "GET",
                            .path = "/v1/outbox",
                            .operationId = "listOutbox",
                            .tag = "requests",
                            .role = ControlRole::observer,
                            .summary = "Requests of this device that wait for an answer",
                            .response = R"({"outbox":[{"operationId":"order-4711","kind":"propose","domain":"budget",
                                "entity":"B","agent":"","tries":2}]})"},
                           outbox));
  all.push_back(typedRoute({.method = "POST",
                            .path = "/v1/feed",
                            .operationId = "feedEntry",
                            .tag = "requests",
                            .role = ControlRole::operator_,
                            .summary = "Enters a journal entry, or a turn in a conversation with an agent",
                            .errors = {404, 409, 500},
                            .request = R"({"id":"note-1","type":"note","payload":{"n":1}})",
                            .response = R"({"entered":true})"},
                           feed));
  return all;
}

}  // namespace witan::node::api
