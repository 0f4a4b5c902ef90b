// What people ask of meta-agents, and what meta-agents ask of people.
#include "base/bytes.h"
#include "base/identity.h"
#include "base/json_codec.h"
#include "base/json_integers.h"
#include "base/quote.h"
#include "node/api/control_routes.h"
#include "node/daemon/agent_feed.h"
#include "node/daemon/content_seals.h"
#include "replica/make_request.h"
#include "replication/writer.h"

namespace witan::node::control {

namespace {

constexpr std::uint64_t kDefaultWaitMs = 10'000;
constexpr std::uint64_t kMostWaitMs = 120'000;

// Unless the caller names it: of the content and the moment, so that two equal proposals are two.
std::string operationIdOf(const ControlCall& call) {
  if (const std::string given = call.text("operationId"); !given.empty()) return given;
  return "api:" +
         toHex(sha256(call.request.path + "|" + canonicalJson(call.body) + "|" + call.daemon.replica().data().writer() +
                      "|" + std::to_string(call.daemon.now().wall.micros)))
             .substr(0, 32);
}

json::object answerJson(const Answer& answer) {
  const kernel::Outcome outcome = answer.outcome == kernel::Outcome::duplicate ? answer.recorded : answer.outcome;
  json::object out{{"operationId", answer.operationId},
                   {"outcome", answer.kind == AnswerKind::frozen ? "frozen" : std::string(enumName(outcome))},
                   {"duplicate", answer.outcome == kernel::Outcome::duplicate},
                   {"ledgerSeq", answer.seq > 0 ? json::value(answer.seq) : json::value(nullptr)},
                   {"invariant", answer.invariant.empty() ? json::value(nullptr) : json::value(answer.invariant)},
                   {"message", answer.message.empty() ? json::value(nullptr) : json::value(answer.message)}};
  if (answer.safe != Safety::none) out["safe"] = answer.safe == Safety::safe;
  return out;
}

TracedCall callOf(const ControlCall& call, const Request& request) {
  Replica& replica = call.daemon.replica();
  TracedCall traced{call.request.path, request.operationId, request.domain, request.role, "", "", ""};
  traced.partition = replica.partitionFor(request.domain, request.entity);
  if (const OwnershipRecord* claim = replica.owners().find(traced.partition); claim != nullptr)
    traced.owner = replication::deviceOf(claim->owner);
  if (const auto header = call.request.headers.find("traceparent"); header != call.request.headers.end())
    traced.traceparent = header->second;
  return traced;
}

// The caller learns in which trace its request is.
void answerTraced(const ControlCall& call, const std::shared_ptr<const Tracer::Asked>& span, const json::value& value,
                  int status) {
  net::HttpResponse response = jsonResponse(value, status);
  if (span) response.headers["traceparent"] = formatTraceparent({span->route.traceId, span->server, true});
  call.reply->answer(std::move(response));
}

void ask(const ControlCall& call, Result<Request> request) {
  if (!request.ok()) return call.refuse(request.error());
  auto wait = call.number("waitMs", kDefaultWaitMs);
  if (!wait.ok()) return call.refuse(wait.error());
  const std::string operation = request->operationId;
  Tracer* const tracer = call.daemon.tracer();
  const auto span = tracer == nullptr ? nullptr : tracer->asked(callOf(call, *request), call.daemon.now().wall);
  const Status taken = call.daemon.ask(std::move(*request), static_cast<std::int64_t>(std::min(*wait, kMostWaitMs)),
                                       [call, operation, tracer, span](const Result<Answer>& answer) {
                                         if (tracer != nullptr) tracer->answered(span, answer, call.daemon.now().wall);
                                         if (answer.ok()) return answerTraced(call, span, answerJson(*answer), 200);
                                         const Error& why = answer.error();
                                         if (why.code != ErrorCode::unavailable)  // it may wait nowhere
                                           return call.refuse({ErrorCode::unavailable, why.message, why.hint});
                                         answerTraced(call, span,
                                                      json::object{{"operationId", operation},
                                                                   {"outcome", "waiting"},
                                                                   {"message", answer.error().message},
                                                                   {"hint", answer.error().hint}},
                                                      202);
                                       });
  if (taken.ok()) return;
  if (tracer != nullptr) tracer->answered(span, taken.error(), call.daemon.now().wall);
  call.refuse(taken.error());
}

json::object pendingJson(const kernel::DomainModule& module, const kernel::PendingView& p, const std::string& partition,
                         const std::string& state) {
  json::array findings;
  for (const kernel::Finding& finding : p.findings)
    findings.push_back({{"invariant", std::string(module.invariantId(finding.invariant))},
                        {"result", std::string(enumName(finding.result))},
                        {"message", finding.message}});
  json::array counselors;
  for (const std::string& counselor : module.signature().counselors) counselors.emplace_back(counselor);
  json::object row{{"domain", module.signature().domain},
                   {"partition", partition},
                   {"entity", p.entity},
                   {"seq", p.seq},
                   {"digest", toHex(p.digest)},
                   {"at", formatTime(p.at)},
                   {"role", p.role},
                   {"device", p.device},
                   {"agent", p.agent},
                   {"action", parseJson(p.action).value()},
                   {"invariant", p.invariant},
                   {"message", p.message},
                   {"findings", std::move(findings)},
                   {"counselors", std::move(counselors)},
                   {"state", parseJson(state, {.bytes = kernel::kRecordTextMax, .depth = 64}).value()}};
  if (p.expires) row["expires"] = formatTime(*p.expires);
  return row;
}

// What waits for a counselor in one partition.
json::array queueOf(const PartitionHost& host) {
  json::array list;
  for (const kernel::PendingView& pending : host.partition().queue()) {
    std::string state;
    host.module().writeState(state, *host.partition().state(pending.entity));
    list.push_back(pendingJson(host.module(), pending, host.id(), state));
  }
  return list;
}

}  // namespace

void propose(const ControlCall& call) {
  ask(call, [&]() -> Result<Request> {
    WITAN_TRY(module, call.module());
    const json::value* action = call.body.if_contains("action");
    if (action == nullptr) return invalid("action: there is none");
    return proposalRequest(*module, call.text("entity"), call.text("role"), operationIdOf(call), *action);
  }());
}

void begin(const ControlCall& call) {
  ask(call, [&]() -> Result<Request> {
    WITAN_TRY(module, call.module());
    const json::value* fields = call.body.if_contains("init");
    if (fields != nullptr && !fields->is_object()) return invalid("init: expected an object of field to value");
    return initRequest(*module, call.text("entity"), operationIdOf(call),
                       fields == nullptr ? json::value(json::object{}) : *fields);
  }());
}

void queue(const ControlCall& call) {
  const std::string domain = call.text("domain");
  if (const Status kept = call.needsLedgers(); !kept.ok()) return call.refuse(kept.error());
  std::set<std::string> partitions;
  for (const auto& [id, host] : call.daemon.replica().hosts())
    if (domain.empty() || host->module().signature().domain == domain) partitions.insert(id);
  const auto rows = std::make_shared<std::map<std::string, json::array>>();
  call.daemon.readers().read(
      std::move(partitions), [rows](const PartitionHost& host) { (*rows)[host.id()] = queueOf(host); },
      [call, rows](const Status& read) {
        if (!read.ok()) return call.refuse(read.error());
        json::array list;
        for (auto& [id, some] : *rows)
          list.insert(list.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
        call.answer({{"queue", std::move(list)}});
      });
}

void decide(const ControlCall& call) {
  ask(call, [&]() -> Result<Request> {
    WITAN_TRY(module, call.module());
    Request request;
    const std::string decision = call.text("decision");
    if (decision != "commit" && decision != "reject") return invalid("decision: expected commit or reject");
    request.kind = decision == "commit" ? RequestKind::commit : RequestKind::reject;
    request.domain = module->signature().domain;
    request.entity = call.text("entity");
    request.counselor = call.text("counselor");
    request.reason = call.text("reason");
    const std::string digest = call.text("digest");
    auto shown = hashFromHex(digest);
    if (!shown.ok()) return invalid("digest: " + shown.error().message, "copy it from: witan queue show");
    request.pendingDigest = *shown;
    const std::string given = call.text("operationId");
    request.operationId = given.empty() ? "queue:" + digest.substr(0, 32) : given;
    if (request.kind == RequestKind::reject) return request;
    const std::string base = call.text("base");
    auto parsed = parseEnum<kernel::CommitBase>(base.empty() ? "candidate" : base);
    if (!parsed) return invalid("base: expected candidate or current");
    request.base = *parsed;
    const json::value* edit = call.body.if_contains("edit");
    if (edit != nullptr && !edit->is_object()) return invalid("edit: expected an object of field to value");
    request.text = edit == nullptr ? "{}" : canonicalJson(*edit);
    return request;
  }());
}

void outbox(const ControlCall& call) {
  json::array list;
  for (const auto& [id, waiting] : call.daemon.replica().outbox().all())
    list.push_back({{"operationId", id},
                    {"kind", std::string(enumName(waiting.request.kind))},
                    {"domain", waiting.request.domain},
                    {"entity", waiting.request.entity},
                    {"agent", waiting.request.agent},
                    {"tries", waiting.tries}});
  call.answer({{"outbox", std::move(list)}});
}

void feed(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    WITAN_DO(checkIntegersKept(call.request.body));
    json::object line = call.body;
    if (!line.contains("at")) line["at"] = formatTime(call.daemon.now().wall);
    WITAN_TRY(seals, contentSealsOf(call.daemon.path()));
    WITAN_DO(feedLine(call.daemon.replica(), seals, call.daemon.config().scope, line, call.daemon.now()));
    WITAN_DO(call.daemon.round());
    return json::value(json::object{{"entered", true}});
  }());
}

}  // namespace witan::node::control
