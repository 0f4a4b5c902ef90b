// Graphs of episodes: deployed, given messages, shown (docs/graphs.md). What people answer, cancel and send again are
// proposals to the domain graph (control_requests.cpp).
#include "agents/episode/transcript.h"
#include "agents/wake/host_choice.h"
#include "agents/wake/wake_job.h"
#include "base/bytes.h"
#include "base/quote.h"
#include "domains/graph/steps.h"
#include "kernel/graph/checks.h"
#include "kernel/record/log_batch.h"
#include "node/api/control_routes.h"
#include "node/cluster/device_key.h"
#include "node/daemon/artefacts.h"
#include "node/daemon/graph_environment.h"
#include "replica/core/operation_names.h"
#include "replica/core/partition_host.h"
#include "replica/graph_replay.h"
#include "replica/graph_runtime.h"
#include "replication/writer.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(DeployRequest, (json::object, document, "The graph, as docs/graphs.md has it"))
WITAN_STRUCT(GraphDeployed, (std::string, graph, "Id of the graph"), (std::int64_t, version, "Its version"),
             (std::string, digest, "SHA-256 of the canonical document"),
             (std::optional<std::int64_t>, bound, "The most deliveries of a run; null: not known before it begins"),
             (std::vector<std::string>, warnings, "What the checks warn of"))

WITAN_STRUCT(SendRequest, (std::string, graph, "Id of the graph", 1), (std::string, ingress, "Id of the ingress", 1),
             (std::string, id, "External id: the same id enters once within the horizon", 1),
             (json::object, body, "The message"))
WITAN_ENUM(Admitted, begun, duplicate, refused)
WITAN_STRUCT(GraphSent, (Admitted, outcome, "Whether a run began"),
             (std::string, message,
              "Why not: backpressure, schema, unknown_ingress, external_id, too_large, key, duplicate; or empty"))

WITAN_STRUCT(GraphRow, (std::string, graph, "Id of the graph"), (std::string, partition, "DOMAIN/NUMBER"),
             (std::int64_t, version, "The deployed version"), (std::string, digest, "Of its document"),
             (bool, runsHere, "Whether this device runs it"),
             (std::string, why, "Why it does not, or a message of it does not go on; else empty"),
             (std::uint64_t, open, "Runs that go on"), (std::uint64_t, ended, "Runs that ended within the horizon"))
WITAN_STRUCT(GraphRows, (std::vector<GraphRow>, graphs, "Graphs of this device's copies"))

WITAN_STRUCT(QuestionRow, (std::string, node, "Where"), (std::string, span, "What the answer names"),
             (std::string, digest, "Of the body that is asked about"), (std::optional<json::value>, body, "That body"),
             (std::vector<std::string>, who, "Who may answer; empty: whoever has the role"))
WITAN_STRUCT(LetterRow, (std::string, message, "Id of the message"), (std::string, node, "For this node"),
             (std::string, key, "Its key"), (std::string, reason, "Why it died"), (std::string, digest, "Of its body"),
             (bool, again, "Whether it was kept and can be sent again; what a guard held back was not"))
WITAN_STRUCT(OutputRow, (std::string, node, "The egress"), (std::optional<json::value>, body, "What came out"))
WITAN_STRUCT(RunRow, (std::string, graph, "Id of the graph"), (std::string, run, "Id of the run"),
             (std::string, external, "External id of the message that began it"),
             (std::string, status, "running, completed, degraded, cancelled or timed_out"),
             (std::int64_t, version, "Of the document that it keeps"), (std::int64_t, deliveries, "So far"),
             (std::int64_t, dead, "Messages that will not be delivered"),
             (std::int64_t, open, "Messages that are open"),
             (std::vector<QuestionRow>, questions, "What people are asked"))
WITAN_STRUCT(RunsRequest, (Omittable<std::string>, graph, "Runs of this graph only"))
WITAN_STRUCT(RunRows, (std::vector<RunRow>, runs, "Runs of this device's copies"))
WITAN_STRUCT(RunRequest, (std::string, run, "Id of the run, or its external id", 1))
WITAN_STRUCT(BodyRequest, (std::string, digest, "Of a document, or of a message's body", 64))
WITAN_STRUCT(BodyShown, (std::string, digest, "Of the body"), (json::value, body, "The document, or the message"))
WITAN_STRUCT(LackingRow, (std::string, node, "Where it waits"), (std::string, message, "Id of the message"),
             (std::string, digest, "Of its body, which the device that runs the graph does not have"))
WITAN_STRUCT(StepRow, (std::uint64_t, seq, "Number of the entry in its partition"), (Time, time, "When"),
             (std::string, role, "Who entered it"), (json::value, action, "The step"))
WITAN_STRUCT(RunShown, (RunRow, run, "The run"), (std::string, digest, "Of its document"),
             (std::optional<std::int64_t>, bound, "The most deliveries of a run"),
             (std::vector<OutputRow>, outputs, "What came out"), (std::vector<LetterRow>, letters, "Dead letters"),
             (std::vector<LackingRow>, lacking, "Messages that wait for a body that is lost; seen by the owner"),
             (std::vector<StepRow>, steps, "Its entries in the ledger, in order"))

WITAN_STRUCT(RunReplayed, (std::string, run, "Id of the run"),
             (bool, ok, "Whether each entry says what follows from the ones before, and from what came from outside"),
             (std::uint64_t, entries, "That were made anew"), (std::uint64_t, episodes, "Transcripts replayed"),
             (std::optional<std::uint64_t>, entry, "Number of the first entry that says something else"),
             (std::string, why, "What is different there"),
             (std::vector<std::string>, missing, "What is not on this device, and was not looked at"))

WITAN_STRUCT(RegisterRequest, (graph::ArtefactKind, kind, "What was validated"),
             (Omittable<json::object>, document, "Of a graph: it is checked, and the result stands in the artefact"),
             (Omittable<std::string>, id, "Of another: its id"),
             (Omittable<std::string>, version, "Of a model or adapter; an agent is the one of this node"),
             (Omittable<std::string>, digest, "SHA-256 of the model or adapter, in hex"),
             (Omittable<std::string>, suite, "What it was validated with"),
             (Omittable<graph::ValidationResult>, result, "Default: pass"),
             (Omittable<std::string>, report, "SHA-256 of the report, in hex"))
WITAN_STRUCT(ArtefactRow, (graph::ArtefactKind, kind, "What was validated"), (std::string, id, "Its id"),
             (std::string, version, "Its version"), (std::string, digest, "SHA-256 of what would run"),
             (std::string, suite, "What it was validated with"), (graph::ValidationResult, result, "Whether it passed"),
             (std::string, report, "SHA-256 of the report"), (Time, at, "When"))
WITAN_STRUCT(ArtefactRows, (bool, needed, "Whether an agent in a graph needs one, on this device"),
             (std::vector<ArtefactRow>, artefacts, "Those that the cluster's admin signed"))

GraphBodies bodiesOf(Daemon& daemon) { return {daemon.replica().data(), "main"}; }

// Calls visit(host, graph, state) for each graph of the copies.
template <class Visit>
void forEachGraph(Daemon& daemon, Visit visit) {
  for (const auto& [id, host] : daemon.replica().hosts())
    if (host->module().signature().domain == kGraphDomain)
      for (const std::string& entity : host->partition().entities())
        visit(*host, entity, host->partition().state(entity));
}

// Their spans would run into their timeouts.
void warnOfAgents(Daemon& daemon, const graph::Document& document, std::vector<std::string>& warnings) {
  replication::Space* space = bodiesOf(daemon).records();
  const auto members = daemon.replica().data().membership();
  if (space == nullptr || !members.ok()) return;
  std::vector<std::string> devices = members->presentDevices();
  devices.push_back(daemon.replica().device());
  for (const graph::Node& node : document.nodes)
    if (node.kind == graph::NodeKind::agent && agents::hostsAmong(*space, node.name, devices).empty())
      warnings.push_back(concat("node ", node.id, ": no device hosts the agent ", node.name,
                                " yet: start a device with it (witan up --agent)"));
}

void deploy(const ApiContext& context, const DeployRequest& asked, Later<GraphDeployed> later) {
  Daemon& daemon = context.daemon;
  if (const Status kept = needsLedgers(daemon); !kept.ok()) return later.refuse(kept.error());
  const json::value source = asked.document;
  const graph::Checked checked = graph::checkGraph(source, graphEnvironmentOf(daemon));
  const std::string wrong = checked.document ? wrongTriggers(*checked.document, daemon.replica().domains()) : "";
  if (!checked.errors.empty() || !wrong.empty()) {
    std::string all = wrong;
    for (const graph::Finding& one : checked.errors)
      all += (all.empty() ? "" : "; ") + one.id + " " + one.place + ": " + one.message;
    return later.refuse(invalid("the graph may not be deployed on this node: " + all,
                                "the checks: docs/graphs.md; boundaries and operations: policy.toml of the data "
                                "directory; witan graph lint knows this node's registry only with --env"));
  }
  GraphDeployed made{checked.document->id, checked.document->version, checked.document->digest, checked.bound, {}};
  const auto now = [&daemon, graph = made.graph] {
    const PartitionHost* host = daemon.replica().host(daemon.replica().partitionFor(kGraphDomain, graph));
    return host == nullptr ? std::nullopt : domains::graph::deployedIn(host->partition().state(graph));
  };
  for (const graph::Finding& one : checked.warnings)
    made.warnings.push_back(one.id + " " + one.place + ": " + one.message);
  warnOfAgents(daemon, *checked.document, made.warnings);
  // What was lost of it is here again.
  if (const Status kept = bodiesOf(daemon).keep({std::make_shared<const json::value>(source)}); !kept.ok())
    return later.refuse(kept.error());
  const auto module = moduleNamed(daemon, std::string(kGraphDomain));
  if (!module.ok()) return later.refuse(module.error());
  // After another version the same document is another operation: what was decided of it before says nothing.
  const std::string operation = concat("graph-deploy:", made.digest.substr(0, 32), ":", now() ? now()->number : 0);
  auto request = deployRequest(**module, *checked.document, source, operation);
  if (!request.ok()) return later.refuse(request.error());
  constexpr std::int64_t kWaitMs = 10'000;
  const auto answered = [later, made, now](const Result<Answer>& answer) {
    if (!answer.ok()) return later.refuse(answer.error());
    const bool before = answer->outcome == kernel::Outcome::duplicate;
    const auto higher = [&](const std::string& why) {
      later.refuse(conflict(why, "give the changed document a higher version"));
    };
    if (before && now() && now()->number > made.version)
      return higher(concat("version ", now()->number, " is deployed"));
    if ((before ? answer->recorded : answer->outcome) == kernel::Outcome::approved) return later.answer(made);
    if (answer->outcome == kernel::Outcome::refused)
      return later.refuse(invalid(answer->message, "the policy, tools and domains of the graph's owner count, too"));
    higher(answer->invariant + " " + answer->message);
  };
  const auto enter = [&daemon, later, answered, request = *std::move(request)] {
    if (const Status taken = daemon.ask(request, kWaitMs, answered); !taken.ok()) later.refuse(taken.error());
  };
  const PartitionHost* host = daemon.replica().host(daemon.replica().partitionFor(kGraphDomain, made.graph));
  if (host != nullptr && host->partition().state(made.graph) != nullptr) return enter();
  const Status begun = daemon.ask(initRequest(**module, made.graph, "graph-begin:" + operation, json::object{}),
                                  kWaitMs, [later, enter](const Result<Answer>& answer) {
                                    if (!answer.ok()) return later.refuse(answer.error());
                                    enter();  // or another has begun it meanwhile
                                  });
  if (!begun.ok()) later.refuse(begun.error());
}

void sendMessage(const ApiContext& context, const SendRequest& asked, Later<GraphSent> later) {
  Daemon& daemon = context.daemon;
  const json::value body = asked.body;
  SystemRandom random;
  const Status taken = daemon.ask(
      ingressRequest(asked.graph, asked.ingress, asked.id, drawnName("graph:", random), canonicalJson(body)), 10'000,
      [later](const Result<Answer>& answer) {
        if (!answer.ok()) return later.refuse(answer.error());
        const bool begun = answer->outcome == kernel::Outcome::approved;
        const bool again = answer->outcome == kernel::Outcome::duplicate;
        later.answer({begun ? Admitted::begun : again ? Admitted::duplicate : Admitted::refused, answer->message});
      });
  if (!taken.ok()) later.refuse(taken.error());
}

RunRow rowOf(const std::string& graph, const domains::graph::Run& run,
             const std::vector<domains::graph::Question>& questions, GraphBodies& bodies) {
  RunRow row{graph, run.id.hex(), run.external, run.status, run.version, run.deliveries, run.dead, run.open, {}};
  for (const domains::graph::Question& one : questions) {
    if (one.run != row.run) continue;
    const graph::Body body = bodies.find(one.digest);
    row.questions.push_back({one.node, one.span, one.digest, body ? std::optional(*body) : std::nullopt, one.who});
  }
  return row;
}

Result<GraphRows> listGraphs(const ApiContext& context, const Nothing&) {
  WITAN_DO(needsLedgers(context.daemon));
  const GraphRuntime* runtime = context.daemon.replica().graphs();
  GraphRows rows;
  forEachGraph(context.daemon, [&](PartitionHost& host, const std::string& id, const kernel::EntityState* state) {
    GraphRow row{id, host.id(), 0, "", runtime != nullptr && runtime->runtime(id) != nullptr, "", 0, 0};
    if (const auto version = domains::graph::deployedIn(state))
      row.version = version->number, row.digest = version->digest;
    if (runtime != nullptr) row.why = runtime->waitsFor(id);
    for (const domains::graph::Run& run : domains::graph::runsIn(state))
      ++(run.status == "running" ? row.open : row.ended);
    rows.graphs.push_back(std::move(row));
  });
  return rows;
}

Result<RunRows> listRuns(const ApiContext& context, const RunsRequest& asked) {
  WITAN_DO(needsLedgers(context.daemon));
  GraphBodies bodies = bodiesOf(context.daemon);
  RunRows rows;
  forEachGraph(context.daemon, [&](PartitionHost&, const std::string& id, const kernel::EntityState* state) {
    if (asked.graph && *asked.graph != id) return;
    const auto questions = domains::graph::questionsIn(state);
    for (const domains::graph::Run& run : domains::graph::runsIn(state))
      rows.runs.push_back(rowOf(id, run, questions, bodies));
  });
  return rows;
}

// The approved steps of a graph, from the log. O(entries of the partition).
Status forEachStep(const PartitionHost& host, const std::string& graph,
                   const std::function<Status(const kernel::EntryView&)>& visit) {
  for (std::uint64_t batch = 0; batch < host.durableBatches(); ++batch) {
    WITAN_TRY(value, host.ledger().batch(batch));
    WITAN_TRY(info, kernel::readLogBatch(value, [&](const kernel::LogRecord& record) -> Status {
                if (record.kind != kernel::RecordKind::entry) return okStatus();
                WITAN_TRY(entry, kernel::readEntryView(record.payload));
                return entry.entity == graph && entry.tag == kernel::Tag::approved ? visit(entry) : okStatus();
              }));
    (void)info;
  }
  return okStatus();
}

Result<json::value> actionOf(const kernel::EntryView& entry) {
  return parseJson(entry.action, {.bytes = kernel::kRecordMax, .depth = 64});
}

Result<std::vector<StepRow>> stepsOf(const PartitionHost& host, const std::string& graph, const std::string& run) {
  std::vector<StepRow> steps;
  WITAN_DO(forEachStep(host, graph, [&](const kernel::EntryView& entry) -> Status {
    if (entry.action.find(run) == std::string_view::npos) return okStatus();
    WITAN_TRY(action, actionOf(entry));
    steps.push_back({entry.seq, entry.time, std::string(entry.role), std::move(action)});
    return okStatus();
  }));
  return steps;
}

// The document that the run keeps; empty: it was deployed before what this log has.
Result<std::string> documentOf(const PartitionHost& host, const std::string& graph, std::int64_t version) {
  std::string digest;
  WITAN_DO(forEachStep(host, graph, [&](const kernel::EntryView& entry) -> Status {
    if (entry.role != "Operator" || !digest.empty()) return okStatus();
    WITAN_TRY(action, actionOf(entry));
    WITAN_TRY(step, domains::graph::readStep(std::move(action.as_object())));
    if (const auto* deploy = std::get_if<domains::graph::Deploy>(&step);
        deploy != nullptr && deploy->version == version)
      digest = deploy->digest;
    return okStatus();
  }));
  return digest;
}

struct FoundRun {
  PartitionHost* host = nullptr;
  std::string graph;
  domains::graph::Run run;
};

// By its id, else by its external id if that is of one run: strangers choose external ids.
Result<FoundRun> findRun(Daemon& daemon, const std::string& named) {
  std::optional<FoundRun> byId;
  std::vector<FoundRun> byExternal;
  forEachGraph(daemon, [&](PartitionHost& host, const std::string& id, const kernel::EntityState* state) {
    for (domains::graph::Run& run : domains::graph::runsIn(state)) {
      if (run.id.hex() == named)
        byId = FoundRun{&host, id, std::move(run)};
      else if (run.external == named)
        byExternal.push_back({&host, id, std::move(run)});
    }
  });
  if (byId) return *std::move(byId);
  if (byExternal.empty())
    return notFound("no run " + inQuotes(named) + " is known here", "see: witan graph list --runs");
  if (byExternal.size() == 1) return std::move(byExternal.front());
  std::string ids;
  for (const FoundRun& one : byExternal) ids += concat(ids.empty() ? "" : ", ", one.graph, " ", one.run.id.hex());
  return conflict(concat(byExternal.size(), " runs have the external id ", inQuotes(named), ": ", ids),
                  "name one by its id: witan graph list --runs");
}

template <class S>
const std::vector<domains::graph::Lost>* deadIn(const domains::graph::Step& step) {
  const S* is = std::get_if<S>(&step);
  return is == nullptr ? nullptr : &is->dead;
}

// Those of its steps that no letter is kept of, unless they were sent again.
void addLost(RunShown& shown) {
  std::set<std::string> known;
  for (const LetterRow& letter : shown.letters) known.insert(letter.message);
  std::vector<domains::graph::Lost> lost;
  for (const StepRow& row : shown.steps) {
    const auto step = domains::graph::readStep(row.action.get_object());
    if (!step.ok()) continue;
    if (const auto* again = std::get_if<domains::graph::Redrive>(&*step)) known.insert(again->message);
    for (const auto* dead : {deadIn<domains::graph::Finish>(*step), deadIn<domains::graph::Fail>(*step),
                             deadIn<domains::graph::End>(*step)})
      if (dead != nullptr) lost.insert(lost.end(), dead->begin(), dead->end());
  }
  for (const domains::graph::Lost& one : lost)
    if (known.insert(one.message).second)
      shown.letters.push_back({one.message, one.node, one.key, one.reason, "", false});
}

Result<RunShown> showRun(const ApiContext& context, const RunRequest& asked) {
  WITAN_DO(needsLedgers(context.daemon));
  GraphBodies bodies = bodiesOf(context.daemon);
  WITAN_TRY(found, findRun(context.daemon, asked.run));
  const auto& [host, id, run] = found;
  const kernel::EntityState* state = host->partition().state(id);
  RunShown shown{rowOf(id, run, domains::graph::questionsIn(state), bodies), "", std::nullopt, {}, {}, {}, {}};
  if (const GraphRuntime* runtime = context.daemon.replica().graphs())
    for (const graph::Runtime::Lacking& one : runtime->lackingIn(id))
      if (one.run == shown.run.run) shown.lacking.push_back({one.node, one.message, one.digest});
  for (const domains::graph::Output& one : domains::graph::outputsIn(state, run.id)) {
    const graph::Body body = bodies.find(one.digest);
    shown.outputs.push_back({one.node, body ? std::optional(*body) : std::nullopt});
  }
  for (const domains::graph::Letter& one : domains::graph::lettersIn(state, run.id))
    shown.letters.push_back(
        {one.message.id.hex(), one.message.node, one.message.key, one.reason, one.message.digest.hex(), true});
  WITAN_SET(shown.digest, documentOf(*host, id, run.version));
  if (const graph::Body document = bodies.find(shown.digest)) shown.bound = graph::checkGraph(*document, {}).bound;
  WITAN_SET(shown.steps, stepsOf(*host, id, shown.run.run));
  addLost(shown);
  return shown;
}

Result<std::vector<std::string>> transcriptOf(GraphBodies& bodies, const RunKey& key) {
  std::vector<std::string> contents;
  replication::Space* records = bodies.records();
  if (records == nullptr) return contents;
  WITAN_TRY(view, agents::runView(*records, key));
  if (!view.run) return contents;
  const std::string device(replication::deviceOf(view.run->dot.host));
  WITAN_TRY(rows, agents::episode::readTranscript(*records, key, device));
  for (const auto& row : rows) contents.push_back(row.message.content);
  return contents;
}

Result<RunReplayed> replayRun(const ApiContext& context, const RunRequest& asked) {
  WITAN_TRY(shown, showRun(context, asked));
  Daemon& daemon = context.daemon;
  const PartitionHost* host = daemon.replica().host(daemon.replica().partitionFor(kGraphDomain, shown.run.graph));
  std::vector<GraphEntry> entries;
  WITAN_DO(forEachStep(*host, shown.run.graph, [&](const kernel::EntryView& entry) -> Status {
    if (entry.role != "Operator" && entry.action.find(shown.run.run) == std::string_view::npos) return okStatus();
    WITAN_TRY(action, actionOf(entry));
    WITAN_TRY(step, domains::graph::readStep(std::move(action.as_object())));
    const bool isIt = entry.action.find(shown.run.run) != std::string_view::npos;
    if (isIt || std::holds_alternative<domains::graph::Deploy>(step)) entries.push_back({entry.seq, std::move(step)});
    return okStatus();
  }));
  GraphBodies bodies = bodiesOf(daemon);
  const GraphReplaySources sources{[&](const std::string& digest) { return bodies.document(digest); },
                                   [&](const std::string& digest) { return bodies.find(digest); },
                                   [&](const std::string& id, const std::string& version) -> const agents::Agent* {
                                     for (const agents::Agent* agent : daemon.agentFiles().all())
                                       if (agent->spec().id == id && agent->spec().version == version) return agent;
                                     return nullptr;
                                   },
                                   [&](const RunKey& key) { return transcriptOf(bodies, key); }};
  WITAN_TRY(replay, replayGraphRun(shown.run.graph, entries, sources));
  return RunReplayed{shown.run.run,  !replay.differs, replay.entries,           replay.episodes,
                     replay.differs, replay.why,      std::move(replay.missing)};
}

ArtefactRow rowOf(const graph::Artefact& a) {
  return {a.kind,
          a.id,
          a.version,
          a.digest,
          a.validation.suite,
          a.validation.result,
          a.validation.report,
          market::timeOf(a.validation.at)};
}

// A graph is validated by its checks: nobody else's word is needed.
Result<graph::Artefact> validatedGraph(Daemon& daemon, const RegisterRequest& asked) {
  if (!asked.document) return invalid("body.document: a graph is registered with its document");
  const graph::Checked checked = graph::checkGraph(*asked.document, graphEnvironmentOf(daemon));
  if (checked.document == nullptr)
    return invalid("it is no graph: " + checked.errors.at(0).place + ": " + checked.errors.at(0).message,
                   "see: witan graph lint");
  std::string report;
  for (const graph::Finding& one : checked.errors) report += one.id + " " + one.place + ": " + one.message + "\n";
  graph::Artefact made{graph::ArtefactKind::graph,
                       checked.document->id,
                       std::to_string(checked.document->version),
                       checked.document->digest,
                       {}};
  made.validation.suite = "witan graph lint";
  made.validation.result = report.empty() ? graph::ValidationResult::pass : graph::ValidationResult::fail;
  made.validation.report = toHex(sha256(report));
  return made;
}

Result<graph::Artefact> validatedOther(Daemon& daemon, const RegisterRequest& asked) {
  if (!asked.id || !asked.suite || !asked.report)
    return invalid("body: id, suite and report are needed of an " + std::string(enumName(asked.kind)));
  graph::Artefact made{asked.kind, *asked.id, asked.version.value_or(""), asked.digest.value_or(""), {}};
  if (asked.kind == graph::ArtefactKind::agent) {
    const agents::Agent* agent = daemon.agentFiles().find(*asked.id);
    if (agent == nullptr) return notFound("this node has no agent " + inQuotes(*asked.id), "see: witan agent list");
    made.version = agent->spec().version;
    made.digest = agentDigest(agent->spec());
  }
  if (made.version.empty() || !market::isHex(made.digest))
    return invalid("body: version, and digest as 64 hex digits, are needed of a " + std::string(enumName(asked.kind)));
  if (!market::isHex(*asked.report)) return invalid("body.report: must be 64 hex digits");
  made.validation = {*asked.suite, asked.result.value_or(graph::ValidationResult::pass), *asked.report, {}};
  return made;
}

Result<ArtefactRow> registerArtefact(const ApiContext& context, const RegisterRequest& asked) {
  Daemon& daemon = context.daemon;
  if (!hasKey(daemon.path(), KeyName::admin))
    return Error{ErrorCode::unauthorised, "this device does not hold the cluster's admin key",
                 "register it on the device where the cluster was begun"};
  WITAN_TRY(admin, readKey(daemon.path(), KeyName::admin));
  WITAN_TRY(artefact,
            asked.kind == graph::ArtefactKind::graph ? validatedGraph(daemon, asked) : validatedOther(daemon, asked));
  artefact.validation.at = market::momentOf(daemon.now().wall);
  WITAN_TRY(write, artefactWrite(artefact, admin));
  WITAN_DO(daemon.replica().data().commit(replication::DatabaseName::agents, bodiesOf(daemon).scope(), {&write, 1}));
  WITAN_DO(daemon.tick());
  return rowOf(artefact);
}

Result<ArtefactRows> listArtefacts(const ApiContext& context, const Nothing&) {
  ArtefactRows rows{context.daemon.config().registryRequired, {}};
  for (const auto& [key, artefact] : artefactsOf(context.daemon)) rows.artefacts.push_back(rowOf(artefact));
  return rows;
}

Result<BodyShown> showBody(const ApiContext& context, const BodyRequest& asked) {
  WITAN_DO(needsLedgers(context.daemon));
  if (const graph::Body body = bodiesOf(context.daemon).find(asked.digest)) return BodyShown{asked.digest, *body};
  return notFound("this device has no body " + inQuotes(asked.digest), "it may not have arrived yet");
}

}  // namespace

std::vector<ControlRoute> graphRoutes() {
  using enum ControlRole;
  return {
      post("/v1/graphs/deploy", "deployGraph", "graphs", operator_, "Checks a graph and deploys it", deploy,
           {409, 503}),
      post("/v1/graphs/send", "sendToGraph", "graphs", operator_, "A message for an ingress: a run begins by it, once",
           sendMessage, {503}),
      post("/v1/artefacts/register", "registerArtefact", "graphs", admin,
           "Signs that an agent, a model, an adapter or a graph was validated", registerArtefact, {404, 500}),
      get("/v1/artefacts", "listArtefacts", "graphs", observer, "What was validated, as the cluster's admin signed it",
          listArtefacts),
      get("/v1/graphs", "listGraphs", "graphs", observer, "The graphs of this device's copies", listGraphs, {404}),
      get("/v1/graphs/body", "showGraphBody", "graphs", observer,
          "The document of a graph, or the body of a message, by its digest", showBody, {404}),
      get("/v1/graphs/runs", "listGraphRuns", "graphs", observer, "Runs, with what people are asked", listRuns, {404}),
      get("/v1/graphs/run", "showGraphRun", "graphs", observer, "A run with its outputs, dead letters and entries",
          showRun, {404, 409, 500}),
      get("/v1/graphs/replay", "replayGraphRun", "graphs", observer,
          "Makes a run anew from its messages, transcripts and answers, and compares each entry", replayRun,
          {404, 500})};
}

}  // namespace witan::node::api
