// GraphRuntime: the work of one span: an agent, a domain, an effect, a nested run; and what came of it.
#include <algorithm>
#include <array>

#include "agents/episode/transcript.h"
#include "agents/host/builtin_tools.h"
#include "agents/wake/wake_job.h"
#include "base/mutant.h"
#include "replica/core/partition_host.h"
#include "replica/graph_replay.h"
#include "replica/graph_runtime.h"
#include "replica/replica.h"
#include "replication/records/record_views.h"
#include "replication/records/record_write.h"
#include "replication/writer.h"

namespace witan::node {

using graph::NodeKind;
using replication::DatabaseName;
using replication::Kind;
using replication::OperationOutcome;

namespace {

constexpr std::array kAmounts{"steps", "tokens", "seconds"};

std::int64_t amountIn(const std::map<std::string, std::int64_t>& amounts, const char* member, std::int64_t otherwise) {
  const auto at = amounts.find(member);
  return at == amounts.end() ? otherwise : at->second;
}

// Those of `tags` in which a run may work. `limits`: null if nothing narrows it.
std::vector<std::string> within(const std::vector<std::string>& tags, const domains::graph::Limits* limits) {
  std::vector<std::string> left = tags;
  if (limits != nullptr)
    std::erase_if(left, [&](const std::string& tag) { return std::ranges::count(limits->locales, tag) == 0; });
  return left;
}

// What the node grants to its agent, of what the agent declares itself.
json::object grantOf(const graph::Document& document, const graph::Node& node, const json::value& budget,
                     const domains::graph::Limits* limits) {
  const std::vector<std::string> locale = within(node.locales.value_or(document.locales), limits);
  json::array capabilities;
  for (const graph::NodeCapability& one : node.capabilities) {
    const std::vector<std::string> own = one.locales ? within(*one.locales, limits) : locale;
    if (own.empty() && one.locales && !one.locales->empty()) continue;
    capabilities.push_back({{"resource", one.resource},
                            {"uses", one.uses},
                            {"targets", json::array(one.targets.begin(), one.targets.end())},
                            {"locales", json::array(own.begin(), own.end())}});
  }
  return {{"capabilities", std::move(capabilities)},
          {"locale", json::array(locale.begin(), locale.end())},
          {"budget", budget}};
}

std::map<std::string, std::int64_t> amountsOf(const domains::graph::Limits& limits) {
  return {{"steps", limits.steps}, {"tokens", limits.tokens}, {"seconds", limits.seconds}};
}

std::string textAt(const json::value& body, std::string_view member) {
  const json::value* value = graph::valueAt(body, member);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

// Members of the message that the type of the decision has, and the decision itself.
json::object decisionBody(const graph::Work& work, const graph::Node& node, const Answer& answer) {
  const kernel::Outcome outcome = answer.outcome == kernel::Outcome::duplicate ? answer.recorded : answer.outcome;
  json::object all = work.body->get_object();
  all["outcome"] = std::string(enumName(outcome));
  all["invariant"] = answer.invariant;
  all["message"] = answer.message;
  all["seq"] = answer.seq;
  json::object body;
  for (const auto& [name, schema] : work.document->type(node.out[0])->schema.properties)
    if (const json::value* value = all.if_contains(name)) body[name] = *value;
  return body;
}

// An entry of the journal, unless the message is one itself.
json::value argumentsOf(const std::string& graph, const graph::Work& work, const std::string& tool) {
  const json::object& body = work.body->get_object();
  if (tool != "journal.put" || (body.contains("id") && body.contains("type") && body.contains("payload"))) return body;
  return json::object{
      {"id", concat(graph, "/", work.node, "/", work.span.substr(0, 16))}, {"type", work.type}, {"payload", body}};
}

saga::Intent intentOf(const std::string& graph, const std::string& operation, const std::string& run,
                      const std::string& tool, const json::value& arguments, std::uint64_t hops = 0) {
  saga::Intent intent;
  intent.operation = hashFromHex(operation).value();
  intent.run = hashFromHex(run).value();
  intent.agentId = graph;
  intent.tool = tool;
  intent.arguments = canonicalJson(arguments);
  intent.hops = hops;
  return intent;
}

}  // namespace

Status GraphRuntime::start(Hosted& hosted, graph::Work work, std::int64_t atMs, Now now) {
  if (!hosted.runtime->isRunning(work.span, work.attempt)) return okStatus();
  const graph::Node& node = *work.document->node(work.node);
  const std::string span = work.span;
  const std::int64_t attempt = work.attempt;
  if (const std::string beyond = beyondLimit(hosted, work); !beyond.empty()) {
    again_ = true;
    hosted.runtime->fail(span, attempt, beyond, true, atMs);
    return okStatus();
  }
  Amounts share;
  if (node.kind == NodeKind::agent) {
    bool waits = false;
    share = shareOf(hosted, work, waits);
    if (waits) return hosted.held.push_back(std::move(work)), okStatus();
    const auto none = std::ranges::find(share, 0, &Amounts::value_type::second);
    if (none != share.end()) {
      again_ = true;
      hosted.runtime->fail(span, attempt, "the run has spent its budget of " + none->first, true, atMs);
      return okStatus();
    }
  }
  Activity& activity = hosted.activities[span];
  activity = {std::move(work), atMs, std::nullopt, "", "", false, std::move(share)};
  Status begun = okStatus();
  switch (node.kind) {
    case NodeKind::agent:
    case NodeKind::market:
      begun = startAgent(hosted, activity);
      if (begun.ok() || begun.error().code == ErrorCode::ioFailed) return begun;
      break;
    case NodeKind::domain: begun = startDomain(activity.work, now); break;
    case NodeKind::egress: begun = startEffect(hosted, activity.work, now); break;
    case NodeKind::subgraph: begun = startNested(activity, now); break;
    default: begun = invalid("this build does not run " + std::string(graph::toString(node.kind)) + " nodes"); break;
  }
  again_ = true;
  if (begun.ok()) {
    if (node.kind != NodeKind::egress) spanAt_[span] = hosted.id;
    return okStatus();
  }
  hosted.activities.erase(span);
  hosted.runtime->fail(span, attempt, begun.error().message, begun.error().code == ErrorCode::invalidInput, atMs);
  return okStatus();
}

// A fork of the run's budget for one span (Law 4): what its node asks for, else all that is left. `waits`: others that
// run now hold what it needs. The run is never granted more than its budget, whatever runs at once.
GraphRuntime::Amounts GraphRuntime::shareOf(const Hosted& hosted, const graph::Work& work, bool& waits) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  const graph::Node& node = *work.document->node(work.node);
  const auto spent = hosted.spent.find(work.run);
  const auto narrowed = hosted.limits.find(work.run);
  const Amounts most = narrowed == hosted.limits.end() ? Amounts() : amountsOf(narrowed->second.limits);
  Amounts share;
  for (const char* member : kAmounts) {
    const std::int64_t whole = std::min(work.document->budget ? amountIn(*work.document->budget, member, kAny) : kAny,
                                        amountIn(most, member, kAny));
    const std::int64_t asked = amountIn(node.budget, member, kAny);
    std::int64_t left = whole, held = 0;
    if (whole != kAny) {
      left -= std::min(whole, spent == hosted.spent.end() ? 0 : amountIn(spent->second, member, 0));
      for (const auto& [span, other] : hosted.activities)
        if (other.work.run == work.run && span != work.span)
          held += std::min(left - held, amountIn(other.granted, member, 0));
    }
    share[member] = std::min(asked, left - held);
    waits = waits || (held > 0 && share[member] < std::min(asked == kAny ? 1 : asked, left));
  }
  return share;
}

void enterWith(Request& ingress, const domains::graph::Entering& entering) {
  const std::string bytes(WordWriter().message(entering));
  ingress.action.assign(bytes.begin(), bytes.end());
}

void GraphRuntime::limit(Hosted& hosted, const domains::graph::Step& step, std::int64_t atMs) {
  std::string run;
  if (const auto* begin = std::get_if<domains::graph::Begin>(&step); begin != nullptr && begin->limits) {
    run = begin->run;
    hosted.limits[run] = {*begin->limits, atMs + std::min(begin->limits->seconds, graph::kNever / 1'000) * 1'000};
  } else if (const auto* redrive = std::get_if<domains::graph::Redrive>(&step)) {
    run = redrive->run;
  }
  if (const auto at = hosted.limits.find(run); at != hosted.limits.end())
    hosted.runtime->endBy(run, at->second.untilMs);
}

void GraphRuntime::forgetRun(Hosted& hosted, const std::string& run) {
  hosted.runtime->forgetRun(run);
  hosted.spent.erase(run);
  hosted.limits.erase(run);
}

// An agent asks within what is left of its locales. What else reaches out was checked against those of its node, and a
// run of another graph would be held to nothing.
std::string GraphRuntime::beyondLimit(const Hosted& hosted, const graph::Work& work) {
  const auto narrowed = hosted.limits.find(work.run);
  if (narrowed == hosted.limits.end()) return {};
  const graph::Node& node = *work.document->node(work.node);
  const std::vector<std::string>& own = node.locales ? *node.locales : work.document->locales;
  const std::vector<std::string> left = within(own, &narrowed->second.limits);
  if (node.kind == NodeKind::subgraph) return "a run under a grant begins no other one";
  const bool reaches = (node.kind == NodeKind::egress && node.sink) || node.kind == NodeKind::market;
  if (!(reaches && left.size() < own.size()) && !(node.kind == NodeKind::agent && left.empty() && !own.empty()))
    return {};
  return "the run may not work in " +
         *std::ranges::find_if(own, [&](const std::string& tag) { return std::ranges::count(left, tag) == 0; });
}

// Those that waited, in their order, if they run still.
Status GraphRuntime::startHeld(Hosted& hosted, std::int64_t atMs, Now now) {
  for (graph::Work& work : std::exchange(hosted.held, {})) {
    hosted.runtime->extend(work.span, atMs);
    WITAN_DO(start(hosted, std::move(work), atMs, now));
  }
  return okStatus();
}

void GraphRuntime::countSpent(Hosted& hosted, const domains::graph::Step& step) {
  const auto add = [&](const auto& ended) {
    if (ended.steps + ended.tokens + ended.seconds == 0) return;
    Amounts& spent = hosted.spent[ended.run];
    spent["steps"] += ended.steps, spent["tokens"] += ended.tokens, spent["seconds"] += ended.seconds;
  };
  if (const auto* finish = std::get_if<domains::graph::Finish>(&step)) add(*finish);
  if (const auto* fail = std::get_if<domains::graph::Fail>(&step); fail != nullptr && !mutated("failFree")) add(*fail);
}

// A market node waits like one of an agent, whose part the node's desk plays (node/market/market_nodes.h).
Status GraphRuntime::startAgent(const Hosted& hosted, Activity& activity) {
  const graph::Work& work = activity.work;
  const graph::Node& node = *work.document->node(work.node);
  const bool market = node.kind == NodeKind::market;
  const std::string agent = concat(market ? kMarketNodes : "", node.name);
  WITAN_TRY(key, graphRunKey(agent, work.span, work.attempt));
  activity.agentRun = key;
  recordsSeen_.reset();
  const auto narrowed = hosted.limits.find(work.run);
  json::object input{{"graph",
                      {{"graph", work.document->id},
                       {"version", work.document->version},
                       {"run", work.run},
                       {"node", work.node},
                       {"span", work.span},
                       {"type", work.type},
                       {"body", *work.body},
                       {"grant", grantOf(*work.document, node, json::value_from(activity.granted),
                                         narrowed == hosted.limits.end() ? nullptr : &narrowed->second.limits)}}}};
  if (market) input["market"] = json::object{{"terms", node.args}, {"out", node.out[0]}};
  const replication::ActivationBody body{
      agent, work.document->id, work.span, static_cast<std::uint64_t>(work.attempt), canonicalJson(input), work.hops};
  WITAN_TRY(write, replication::recordWrite(key.hex(), body));
  WITAN_DO(replica_.commit(DatabaseName::agents, bodies_.scope(), {&write, 1}));
  return okStatus();
}

// {"entity", "action"}: the proposal, whose operation is the span.
Status GraphRuntime::startDomain(const graph::Work& work, Now now) {
  const graph::Node& node = *work.document->node(work.node);
  const kernel::DomainModule* module = replica_.moduleOf(node.name);
  if (module == nullptr) return unavailable("this device has no domain " + node.name);
  const json::value* action = graph::valueAt(*work.body, "action");
  const std::string entity = textAt(*work.body, "entity");
  if (action == nullptr || entity.empty()) return invalid("the message has no entity and action");
  WITAN_TRY(request, proposalRequest(*module, entity, node.role, work.span, *action));
  request.agent = work.document->id;
  request.runKey = hashFromHex(work.run).value();
  request.planDigest = graphPlan(request.runKey, work.hops);
  return replica_.enqueue(std::move(request), now);
}

Status GraphRuntime::startEffect(const Hosted& hosted, const graph::Work& work, Now now) {
  agents::AgentHost* host = replica_.agents();
  if (host == nullptr) return unavailable("no agents and no tools work on this device");
  const std::string tool = work.document->node(work.node)->tool();
  const std::string operation =
      mutated("graphFreshEffect") ? graph::identityOf(concat(work.span, "|", now.ms)) : work.span;
  return host->graphEffect(
      intentOf(hosted.id, operation, work.run, tool, argumentsOf(hosted.id, work, tool), work.hops), now);
}

void GraphRuntime::undo(const Hosted& hosted, const graph::Undo& undo, Now now) {
  agents::AgentHost* host = replica_.agents();
  if (host == nullptr) return;
  const auto span = OperationId::parse(undo.span);
  if (agents::effectKindOf(undo.tool) == saga::EffectKind::journal)
    (void)host->undoGraphEffect(*span, now);
  else
    (void)host->graphEffect(
        intentOf(hosted.id, undo.operation, undo.span, undo.tool, json::object{{"operation", undo.span}}), now);
}

// A run of another graph, whose external id is the span.
Status GraphRuntime::startNested(Activity& activity, Now now) {
  const graph::Work& work = activity.work;
  const graph::Node& node = *work.document->node(work.node);
  const auto inner = bodies_.document(node.digest);
  if (inner == nullptr) return unavailable("the document of " + node.name + " is not here");
  const auto host = replica_.hosts().find(replica_.partitionFor(kGraphDomain, node.name));
  const auto deployed = host == replica_.hosts().end()
                            ? std::nullopt
                            : domains::graph::deployedIn(host->second->partition().state(node.name));
  if (deployed && deployed->digest != node.digest)
    return invalid(concat(node.name, " is deployed in version ", deployed->number, ", and ", work.document->id,
                          " names version ", node.graphVersion));
  const auto ingress = std::ranges::find_if(inner->nodes, [&](const graph::Node& one) {
    return one.kind == NodeKind::ingress && !one.out.empty() && one.out[0] == work.type;
  });
  if (ingress == inner->nodes.end()) return invalid(node.name + " has no ingress of " + work.type);
  activity.inner = node.name;
  activity.innerRun = graph::runIdOf(node.name, ingress->id, work.span);
  Request request = ingressRequest(node.name, ingress->id, work.span, work.span, canonicalJson(*work.body));
  enterWith(request, {.hops = work.hops});
  return replica_.enqueue(std::move(request), now);
}

// --- what came of it

void GraphRuntime::takeResults(Hosted& hosted, std::int64_t atMs) {
  for (const auto& [span, answer] : domainAnswers_)
    if (const auto at = hosted.activities.find(span); at != hosted.activities.end())
      onAnswer(hosted, at->second, answer, atMs);
  for (const agents::AgentHost::EffectOutcome& one : outcomes_) {
    const auto at = hosted.activities.find(one.operation.hex());
    if (at == hosted.activities.end()) continue;
    const graph::Work work = std::move(at->second.work);
    hosted.activities.erase(at);
    if (one.outcome.outcome == OperationOutcome::applied)
      hosted.runtime->finishEffect(work.span, work.attempt, one.found, atMs);
    else
      hosted.runtime->fail(work.span, work.attempt, "effect " + std::string(enumName(one.outcome.outcome)), true, atMs);
  }
}

void GraphRuntime::onAnswer(Hosted& hosted, const Activity& activity, const Answer& answer, std::int64_t atMs) {
  const graph::Work work = activity.work;
  const graph::Node& node = *work.document->node(work.node);
  if (node.kind == NodeKind::subgraph) {
    if (answer.kind == AnswerKind::decided && answer.outcome != kernel::Outcome::refused) return;  // it has begun
    drop(hosted, work.span);
    const bool retry = answer.kind != AnswerKind::decided || answer.message == "backpressure" ||
                       answer.message.starts_with("unavailable");
    return hosted.runtime->fail(work.span, work.attempt, retry ? "backpressure" : answer.message, !retry, atMs);
  }
  drop(hosted, work.span);
  if (answer.kind != AnswerKind::decided || answer.outcome == kernel::Outcome::refused)
    return hosted.runtime->fail(work.span, work.attempt, "refused: " + answer.message,
                                answer.kind == AnswerKind::decided, atMs);
  hosted.runtime->finish(work.span, work.attempt, {{node.out[0], decisionBody(work, node, answer)}}, atMs);
}

Status GraphRuntime::pollAgents(Hosted& hosted, std::int64_t atMs) {
  replication::Space* space = bodies_.records();
  const bool news = space != nullptr && recordsSeen_ != space->changes();
  std::vector<std::string> spans;
  for (const auto& [span, activity] : hosted.activities) {
    if (!activity.agentRun) continue;
    const graph::Node& node = *activity.work.document->node(activity.work.node);
    if (news || atMs >= activity.sinceMs + node.timeoutMs()) spans.push_back(span);
  }
  for (const std::string& span : spans) WITAN_DO(pollAgent(hosted, hosted.activities.at(span), atMs));
  return okStatus();
}

Status GraphRuntime::pollAgent(Hosted& hosted, const Activity& activity, std::int64_t atMs) {
  const graph::Work work = activity.work;
  WITAN_TRY(view, agents::runView(*bodies_.records(), *activity.agentRun));
  if (!view.run || !replication::isTerminal(view.run->body.status)) {
    const graph::Node& node = *work.document->node(work.node);
    if (atMs < activity.sinceMs + node.timeoutMs()) return okStatus();
    WITAN_TRY(acted, mayHaveActed(activity));
    if (acted) hosted.runtime->fail(work.span, work.attempt, "timeout", true, atMs);
    return okStatus();  // else the scheduler sees to the timeout
  }
  const std::string device(replication::deviceOf(view.run->dot.host));
  WITAN_TRY(rows, agents::episode::readTranscript(*bodies_.records(), *activity.agentRun, device));
  const auto end = rows.empty() ? Result<agents::episode::Entry>(notFound("no transcript"))
                                : agents::episode::parseEntry(rows.back().message.content);
  const bool completed = view.run->body.status == replication::WakeStatus::completed;
  // The transcript comes with other records: its end may follow.
  if (completed && (!end.ok() || end->kind != agents::episode::EntryKind::end)) return okStatus();
  WITAN_TRY(acted, mayHaveActed(activity));
  const bool market = work.document->node(work.node)->kind == NodeKind::market;
  drop(hosted, work.span);
  again_ = again_ || !hosted.held.empty();
  if (!market && end.ok()) hosted.usages[work.span] = usageOf(*work.document->node(work.node), end->body);
  if (!completed) {
    const std::string& cause = view.run->body.cause;
    hosted.runtime->fail(work.span, work.attempt,
                         market || cause.empty() ? (market ? cause : "failed") : concat("failed: ", cause),
                         market || acted, atMs);
    return okStatus();
  }
  std::vector<graph::Output> outputs;
  if (const json::value* emits = end->body.if_contains("emits"); emits != nullptr && emits->is_array())
    for (const json::value& one : emits->get_array())
      outputs.push_back({std::string(one.at("type").as_string()), one.at("body")});
  hosted.runtime->finish(work.span, work.attempt, std::move(outputs), atMs);
  return okStatus();
}

GraphRuntime::Usage GraphRuntime::usageOf(const graph::Node& node, const json::object& end) {
  Usage usage{graphModelOf(node, end), {}};
  if (const json::value* spent = end.if_contains("spent"); spent != nullptr && spent->is_object())
    for (const char* member : kAmounts)
      if (const json::value* amount = spent->get_object().if_contains(member); amount != nullptr && amount->is_int64())
        usage.spent[member] = amount->get_int64();
  return usage;
}

// Whether a further attempt could make its effects twice: those of the first have other operation ids.
Result<bool> GraphRuntime::mayHaveActed(const Activity& activity) {
  WITAN_TRY(plans, replication::planViewIn(*bodies_.records(), *activity.agentRun));
  return plans.winner && !plans.winner->operations.empty();
}

void GraphRuntime::pollNested(Hosted& hosted, std::int64_t atMs) {
  std::vector<std::string> done;
  for (const auto& [span, activity] : hosted.activities) {
    if (activity.inner.empty()) continue;
    const auto host = replica_.hosts().find(replica_.partitionFor(kGraphDomain, activity.inner));
    if (host == replica_.hosts().end() || !host->second->showsLog()) continue;
    const auto run =
        domains::graph::runIn(host->second->partition().state(activity.inner), graph::Digest(activity.innerRun));
    if (run && run->status != "running") done.push_back(span);
  }
  for (const std::string& span : done) {
    const Activity activity = hosted.activities.at(span);
    const graph::Work& work = activity.work;  // of the copy
    const auto host = replica_.hosts().find(replica_.partitionFor(kGraphDomain, activity.inner));
    const auto* state = host->second->partition().state(activity.inner);
    const auto run = domains::graph::runIn(state, graph::Digest(activity.innerRun));
    const auto inner = bodies_.document(work.document->node(work.node)->digest);
    std::vector<graph::Output> outputs;
    for (const domains::graph::Output& one : domains::graph::outputsIn(state, graph::Digest(activity.innerRun))) {
      const graph::Body body = bodies_.find(one.digest);
      if (body == nullptr || inner == nullptr) return;  // it comes
      outputs.push_back({inner->node(one.node)->in.at(0), *body});
    }
    drop(hosted, span);
    if (run->status == "completed")
      hosted.runtime->finish(work.span, work.attempt, std::move(outputs), atMs);
    else
      hosted.runtime->fail(work.span, work.attempt, "nested run " + run->status, true, atMs);
  }
}

// What no span waits for any more: agents need not begin it, and need not end it.
void GraphRuntime::drop(Hosted& hosted, const std::string& span) {
  const auto at = hosted.activities.find(span);
  if (at == hosted.activities.end()) return;
  if (at->second.agentRun) hosted.takenBack.push_back(at->second.agentRun->hex());
  spanAt_.erase(span);
  hosted.activities.erase(at);
}

Status GraphRuntime::takeBack(Hosted& hosted) {
  std::vector<std::string> over;
  for (const auto& [span, activity] : hosted.activities)
    if (!hosted.runtime->isRunning(span, activity.work.attempt)) over.push_back(span);
  for (const std::string& span : over) drop(hosted, span);
  for (const std::string& key : std::exchange(hosted.takenBack, {})) {
    const replication::Write gone{Kind::activation, key, "", true};
    if (mutated("keepActivations")) continue;
    WITAN_DO(replica_.commit(DatabaseName::agents, bodies_.scope(), {&gone, 1}));
  }
  return okStatus();
}

// Those that a crash, or the last owner, left behind. O(activations).
Status GraphRuntime::sweepActivations(const Hosted& hosted) {
  replication::Space* space = bodies_.records();
  if (space == nullptr) return okStatus();
  for (const std::string& key : space->keys(Kind::activation)) {
    WITAN_TRY(versions, space->versions(Kind::activation, key));
    for (const replication::Version& version : versions) {
      if (version.tombstone) continue;
      const auto body = replication::decodeRecord<replication::ActivationBody>(version.body);
      if (!body.ok() || body->graph != hosted.id) continue;
      if (hosted.runtime->isRunning(body->span, static_cast<std::int64_t>(body->attempt))) continue;
      const replication::Write gone{Kind::activation, key, "", true};
      WITAN_DO(replica_.commit(DatabaseName::agents, bodies_.scope(), {&gone, 1}));
      break;
    }
  }
  return okStatus();
}

}  // namespace witan::node
