// What people ask of meta-agents, and what meta-agents ask of people.
#include "base/bytes.h"
#include "base/identity.h"
#include "base/json.h"
#include "base/quote.h"
#include "kernel/domain_module.h"
#include "kernel/preview.h"
#include "kernel/record/entry.h"
#include "kernel/record/statement.h"
#include "node/api/control_routes.h"
#include "node/api/counselor_queue.h"
#include "node/daemon/agent_feed.h"
#include "node/daemon/agents_policy_file.h"
#include "node/slices/bound_roles.h"
#include "replica/core/messages.h"
#include "replica/core/operation_names.h"
#include "replica/graph_runtime.h"
#include "replication/writer.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(
    ProposeRequest, (std::string, domain, "Name of the domain", 1), (std::string, entity, "Id of the entity", 1),
    (std::string, role, "Role in which the action is proposed", 1),
    (json::object, action, "The action: its type and arguments, as describeDomain lists them"),
    (Omittable<std::string>, key,
     "The action may name and write rows that belong to this key only, as this device's copy has them, and the "
     "answer does not say why; default: any rows",
     1),
    (Omittable<std::string>, operationId, "A repeated id is answered from the ledger; default: a new id", 1),
    (Omittable<std::uint64_t>, waitMs, "Milliseconds to wait for the decision, at most 120000; default: 10000"))

WITAN_STRUCT(PreviewRequest, (std::string, domain, "Name of the domain", 1),
             (std::string, entity, "Id of the entity", 1),
             (std::string, role, "Role in which the action would be proposed", 1),
             (json::object, action, "The action: its type and arguments, as describeDomain lists them"))

WITAN_STRUCT(AnswerRequest, (std::string, graph, "Id of the graph", 1), (std::string, run, "Id of the run", 1),
             (std::string, node, "Where it is asked", 1), (std::string, span, "Which question", 1),
             (std::string, digest, "Of the body that is asked about", 1),
             (std::string, by, "Name of the person who answers", 1), (bool, approve, "The answer"),
             (Omittable<std::string>, signature,
              "The person's key and signature of this answer, in hex (docs/ledger-format.md, section 10)", 1),
             (Omittable<std::string>, operationId, "A repeated id is answered from the ledger; default: a new id", 1),
             (Omittable<std::uint64_t>, waitMs,
              "Milliseconds to wait for the decision, at most 120000; default: 10000"))

WITAN_STRUCT(BeginRequest, (std::string, domain, "Name of the domain", 1),
             (std::string, entity, "Id of the new entity", 1),
             (Omittable<json::object>, init, "First values of fields; the other fields take the domain's defaults"),
             (Omittable<std::string>, operationId, "A repeated id is answered from the ledger; default: a new id", 1),
             (Omittable<std::uint64_t>, waitMs,
              "Milliseconds to wait for the decision, at most 120000; default: 10000"))

WITAN_ENUM(WaitingOutcome, waiting)

WITAN_STRUCT(DecisionWaiting, (std::string, operationId, "Id of the operation; ask again with it"),
             (WaitingOutcome, outcome, "The request is durable in the outbox"),
             (std::string, message, "Why there is no decision yet"), (std::string, hint, "What to do"))

WITAN_STRUCT(ProposalsRequest, (std::vector<ProposeRequest>, proposals, "At most 256, each as for proposeAction"),
             (Omittable<std::uint64_t>, waitMs,
              "Milliseconds to wait for all decisions, at most 120000; default: 10000"))

WITAN_STRUCT(ProposalOutcome, (Omittable<DecisionMade>, decision, "The decision, which is durable"),
             (Omittable<DecisionWaiting>, waiting, "There is no decision yet"),
             (Omittable<std::string>, refused, "Why it was not taken"))

WITAN_STRUCT(ProposalOutcomes,
             (std::vector<ProposalOutcome>, outcomes, "Of each proposal, in the order of the request"))

WITAN_STRUCT(OutboxRow, (std::string, operationId, "Id of the operation"),
             (std::string, kind, "propose, init, commit or reject"), (std::string, domain, "Name of the domain"),
             (std::string, entity, "Id of the entity"), (std::string, agent, "Id of the asking agent; empty: a person"),
             (std::uint64_t, tries, "How often the request was sent"))

WITAN_STRUCT(OutboxRows, (std::vector<OutboxRow>, outbox, "Requests of this device without an answer"))

WITAN_STRUCT(FeedRequest, (Omittable<std::string>, at, "When it happened; default: now", 0, "date-time"),
             (Omittable<std::string>, id, "Id of a journal entry"),
             (Omittable<std::string>, type, "Type of a journal entry"),
             (Omittable<json::value>, payload, "Payload of a journal entry"),
             (Omittable<std::string>, agent, "Id of the agent that is spoken to"),
             (Omittable<std::string>, session, "Id of the conversation"),
             (Omittable<std::string>, turn, "Id of the turn in the conversation"),
             (Omittable<std::string>, text, "Text of the turn"))

WITAN_STRUCT(Fed, (bool, entered, "False: the entry stood there just so"))

constexpr std::uint64_t kDefaultWaitMs = 10'000;
constexpr std::uint64_t kMostWaitMs = 120'000;
constexpr std::size_t kMostProposals = 256;

// Unless the caller names it: drawn, so that two equal requests are two operations and nobody comes first with it.
template <class Asked>
Result<std::string> operationIdOf(const Asked& request) {
  SystemRandom random;
  if (!request.operationId) return drawnName("api:", random);
  WITAN_DO(checkChosenName(*request.operationId));
  return *request.operationId;
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

// Of a request, once: a decision, or why there is none yet.
using Decided = std::variant<DecisionMade, DecisionWaiting>;
using Told = std::function<void(const Result<Decided>& decided, const net::HttpHeaders& headers)>;

// `words`: of the answer, which may name any row.
void ask(const ApiContext& context, Result<Request> request, const Omittable<std::uint64_t>& waitMs, Told told,
         bool words = true) {
  if (!request.ok()) return told(request.error(), {});
  Daemon& daemon = context.daemon;
  const std::string operation = request->operationId, entity = request->entity;
  const std::string partition = daemon.replica().partitionFor(request->domain, entity);
  Tracer* const tracer = daemon.tracer();
  const auto span = tracer == nullptr ? nullptr : tracer->asked(callOf(context, *request), daemon.now().wall);
  const auto answered = [&daemon, told, operation, entity, partition, tracer, span,
                         words](const Result<Answer>& answer) {
    if (tracer != nullptr) tracer->answered(span, answer, daemon.now().wall);
    if (answer.ok() && answer->kind == AnswerKind::unavailable)  // nothing is decided
      return told(Error{ErrorCode::unavailable, answer->message, "ask again under the same operation id: " + operation},
                  traceHeaders(span));
    if (answer.ok()) {
      DecisionMade made = decisionOf(*answer);
      const PartitionHost* host = words ? daemon.replica().host(partition) : nullptr;
      if (!words) made.message.reset();
      if (host != nullptr && made.duplicate && made.outcome == kernel::Outcome::escalated && made.ledgerSeq)
        if (auto resolved = resolutionOf(*host, entity, *made.ledgerSeq); resolved.ok()) made.resolved = *resolved;
      return told(Decided(std::move(made)), traceHeaders(span));
    }
    const Error& why = answer.error();
    if (why.code != ErrorCode::unavailable)  // it may wait nowhere
      return told(Error{ErrorCode::unavailable, why.message, why.hint}, {});
    if (daemon.replica().owners().find(partition) == nullptr)
      return told(Decided(DecisionWaiting{
                      operation, WaitingOutcome::waiting, "no device is known that decides for " + partition,
                      "a device with the role \"takeover\" must know the domain: witan domain install, there"}),
                  traceHeaders(span));
    told(Decided(DecisionWaiting{operation, WaitingOutcome::waiting, why.message, why.hint}), traceHeaders(span));
  };
  const auto wait = static_cast<std::int64_t>(std::min(waitMs.value_or(kDefaultWaitMs), kMostWaitMs));
  const Status taken = daemon.ask(std::move(*request), wait, answered);
  if (taken.ok()) return;
  if (tracer != nullptr) tracer->answered(span, taken.error(), daemon.now().wall);
  told(taken.error(), {});
}

Result<Request> requestOf(const ApiContext& context, const ProposeRequest& asked) {
  if (kernel::isPersonal(asked.domain, asked.role))
    return Error{ErrorCode::unauthorised, "only people answer what a graph asks",
                 "POST /v1/graphs/answer, with a counselor's token: witan graph answer"};
  WITAN_TRY(module, moduleNamed(context.daemon, asked.domain));
  WITAN_TRY(operation, operationIdOf(asked));
  return proposalRequest(*module, asked.entity, asked.role, std::move(operation), asked.action);
}

Status checkNotRevoked(const ApiContext& context, const std::string& person) {
  const RosterPerson* known = context.daemon.roster().current().person(person);
  if (known == nullptr || known->active()) return okStatus();
  return Error{ErrorCode::unauthorised, inQuotes(person) + " was revoked, and answers no more",
               "who may: witan person list"};
}

Result<Request> requestOf(const ApiContext& context, const AnswerRequest& asked) {
  WITAN_DO(checkNotRevoked(context, asked.by));
  WITAN_TRY(module, moduleNamed(context.daemon, std::string(kGraphDomain)));
  WITAN_TRY(operation, operationIdOf(asked));
  return proposalRequest(*module, asked.graph, "Person", std::move(operation),
                         json::object{{"type", "Answer"},
                                      {"run", asked.run},
                                      {"node", asked.node},
                                      {"span", asked.span},
                                      {"digest", asked.digest},
                                      {"by", asked.by},
                                      {"approve", asked.approve},
                                      {"signature", asked.signature.value_or("")}});
}

Result<Request> requestOf(const ApiContext& context, const BeginRequest& asked) {
  WITAN_TRY(module, moduleNamed(context.daemon, asked.domain));
  WITAN_TRY(operation, operationIdOf(asked));
  return initRequest(*module, asked.entity, std::move(operation), asked.init.value_or(json::object()));
}

Result<Request> requestOf(const ApiContext& context, const DecideRequest& asked) {
  WITAN_DO(checkNotRevoked(context, asked.counselor));
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
  if (asked.signature) {
    WITAN_TRY(bytes, fromHex(*asked.signature));
    request.signature.assign(bytes.begin(), bytes.end());
  }
  const auto& waiting = context.daemon.replica().outbox().all();
  if (const auto at = waiting.find(request.operationId); at != waiting.end()) {
    const Request& before = at->second.request;
    if (before.kind != request.kind || before.counselor != request.counselor)
      return conflict(
          concat("the answer of ", before.counselor, " (", enumName(before.kind), ") waits for the owner, and stands"),
          "if the owner refuses it, a notice of that comes to the inbox");
  }
  if (request.kind == RequestKind::reject) return request;
  request.base = asked.base.value_or(kernel::CommitBase::candidate);
  request.text = asked.edit ? canonicalJson(*asked.edit) : "{}";
  return request;
}

Told toldTo(DecisionLater later) {
  return [later = std::move(later)](const Result<Decided>& made, const net::HttpHeaders& headers) {
    if (!made.ok()) return later.refuse(made.error());
    if (const auto* decision = std::get_if<DecisionMade>(&*made)) return later.answer(*decision, headers);
    later.accept(std::get<DecisionWaiting>(*made), headers);
  };
}

template <class Asked>
void decideOn(const ApiContext& context, const Asked& asked, DecisionLater later) {
  ask(context, requestOf(context, asked), asked.waitMs, toldTo(std::move(later)));
}

// All of them are asked for at once, in their order; those that one round decides become durable together.
void decideAll(const ApiContext& context, const ProposalsRequest& asked, Later<ProposalOutcomes> later) {
  const std::size_t count = asked.proposals.size();
  if (count > kMostProposals) return later.refuse(invalid(concat("more than ", kMostProposals, " proposals")));
  const auto outcomes = std::make_shared<ProposalOutcomes>();
  outcomes->outcomes.resize(count);
  if (count == 0) return later.answer(*outcomes);
  const auto open = std::make_shared<std::size_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
    ask(context, requestOf(context, asked.proposals[i]), asked.waitMs,
        [later, outcomes, open, i](const auto& made, const net::HttpHeaders&) {
          ProposalOutcome& its = outcomes->outcomes[i];
          if (!made.ok())
            its.refused = made.error().message;
          else if (const auto* decision = std::get_if<DecisionMade>(&*made))
            its.decision = *decision;
          else
            its.waiting = std::get<DecisionWaiting>(*made);
          if (--*open == 0) later.answer(*outcomes);
        });
  }
}

Status checkWithin(Daemon& daemon, const Request& request, const std::string& key) {
  WITAN_DO(needsLedgers(daemon));
  WITAN_TRY(module, moduleNamed(daemon, request.domain));
  WITAN_DO(slicesOf(*module));
  Replica& replica = daemon.replica();
  const std::string partition = replica.partitionFor(request.domain, request.entity);
  WITAN_DO(needsCopy(daemon, partition));
  if (staysWithin(*replica.host(partition), request, {&key, 1}, daemon.now().wall)) return okStatus();
  return Error{ErrorCode::unauthorised,
               "the action names or writes rows that do not belong to " + inQuotes(key) + ", or cannot be made", ""};
}

void propose(const ApiContext& context, const ProposeRequest& asked, DecisionLater later) {
  Result<Request> request = requestOf(context, asked);
  if (asked.key && request.ok())
    if (const Status within = checkWithin(context.daemon, *request, *asked.key); !within.ok())
      return later.refuse(within.error());
  ask(context, std::move(request), asked.waitMs, toldTo(std::move(later)), !asked.key);
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
      [rows](const PartitionHost& host) { (*rows)[host.id()] = queueOf(host.partition(), host.id()); },
      [later, rows](const Status& read) {
        if (!read.ok()) return later.refuse(read.error());
        Queue all;
        for (auto& [id, some] : *rows)
          all.queue.insert(all.queue.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
        later.answer(all);
      });
}

void preview(const ApiContext& context, const DecideRequest& asked, Later<CommitPreview> later) {
  Daemon& daemon = context.daemon;
  if (const Status kept = needsLedgers(daemon); !kept.ok()) return later.refuse(kept.error());
  if (const auto module = moduleNamed(daemon, asked.domain); !module.ok()) return later.refuse(module.error());
  daemon.readers().read(
      {daemon.replica().partitionFor(asked.domain, asked.entity)},
      [later, asked, at = daemon.now().wall](const PartitionHost& host) {
        later.answer(previewCommit(host.partition(), asked, at));
      },
      [later](const Status& read) {
        if (!read.ok()) later.refuse(read.error());
      });
}

// On this device's copy of the entity.
void previewAction(const ApiContext& context, const PreviewRequest& asked, Later<kernel::Preview> later) {
  Daemon& daemon = context.daemon;
  if (const Status kept = needsLedgers(daemon); !kept.ok()) return later.refuse(kept.error());
  const auto module = moduleNamed(daemon, asked.domain);
  if (!module.ok()) return later.refuse(module.error());
  auto action = (*module)->parseAction(asked.action);
  if (!action.ok()) return later.refuse(action.error());
  const std::shared_ptr<const kernel::Action> proposed = *std::move(action);
  daemon.readers().read(
      {daemon.replica().partitionFor(asked.domain, asked.entity)},
      [later, asked, proposed, at = daemon.now().wall](const PartitionHost& host) {
        const kernel::Partition& partition = host.partition();
        const kernel::EntityState* state = partition.state(asked.entity);
        if (state == nullptr) return later.refuse(notFound("there is no entity " + inQuotes(asked.entity)));
        const bool held = partition.holds(asked.entity, *proposed, at);
        later.answer(kernel::previewOf(host.module(), *state, held, asked.role, *proposed, at));
      },
      [later](const Status& read) {
        if (!read.ok()) later.refuse(read.error());
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
  WITAN_TRY(seals, contentSealsOf(daemon.path(), daemon.config().scope));
  WITAN_TRY(entered, feedLine(daemon.replica(), seals, daemon.config().scope, line, daemon.now()));
  WITAN_DO(daemon.tick());
  return Fed{entered};
}

}  // namespace

std::vector<ControlRoute> requestRoutes() {
  using enum ControlRole;
  return {
      post("/v1/propose", "proposeAction", "requests", operator_,
           "Proposes an action; answers when the decision is durable", propose, {404, 409, 429, 500}),
      post("/v1/proposals", "proposeActions", "requests", operator_,
           "Proposes several actions at once; answers when there is a decision on each, or the time is over", decideAll,
           {500}),
      post("/v1/preview", "previewAction", "requests", observer,
           "What would become of an action now, by every invariant, and when those that fail would pass; changes "
           "nothing",
           previewAction, {404, 500}),
      post("/v1/graphs/answer", "answerGraph", "graphs", counselor,
           "A person's answer to what a run asks; answers when it is durable", decideOn<AnswerRequest>,
           {404, 409, 500}),
      post("/v1/entities", "beginEntity", "requests", operator_,
           "Begins an entity; answers when the decision is durable", decideOn<BeginRequest>, {404, 409, 500}),
      post("/v1/queue/decide", "decideQueued", "queue", counselor,
           "Decides as a counselor on exactly what the queue showed", decideOn<DecideRequest>, {404, 409, 500}),
      get("/v1/queue", "listQueue", "queue", observer, "Proposals that wait for a counselor", queue, {500}),
      post("/v1/queue/preview", "previewCommit", "queue", observer,
           "What a counselor's commit would write and violate; changes nothing", preview, {404, 409, 500}),
      get("/v1/outbox", "listOutbox", "requests", observer, "Requests of this device that wait for an answer", outbox),
      post("/v1/feed", "feedEntry", "requests", operator_,
           "Enters a journal entry, or a turn in a conversation with an agent", feed, {404, 409, 500})};
}

}  // namespace witan::node::api
