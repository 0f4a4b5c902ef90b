// How the node is.
#include "agents/host/agent_host.h"
#include "base/time.h"
#include "node/api/control_routes.h"
#include "node/api/messages/status.h"
#include "node/api/metrics.h"
#include "node/api/openapi.h"
#include "replication/writer.h"

namespace witan::node::api {

namespace {

struct Check {
  const char* name;
  bool good;
  std::string what, todo = {};  // todo: of what is no failure of this node and wants an operator all the same
};

std::string etcdWords(const Daemon& daemon) {
  if (daemon.etcd() == nullptr) return "not used here";
  const EtcdGatewayState& state = daemon.etcd()->state();
  if (state.connected && state.problem.empty()) return "connected to " + state.endpoint;
  return (state.connected ? "trouble with " + state.endpoint : std::string("out of reach, nothing is decided")) +
         (state.problem.empty() ? "" : ": " + state.problem);
}

std::string countOf(const std::vector<std::string>& partitions) {
  return partitions.front() + (partitions.size() == 1 ? "" : " and " + std::to_string(partitions.size() - 1) + " more");
}

// A node that is cut off is live and ready: it reads, and keeps what it is asked. That it cannot reach an owner, or
// that an owner has lost what it decided on, is a check of its own, and no failure of this node.
Check ownersCheck(Daemon& daemon) {
  std::vector<std::string> away, lost;
  for (const auto& [id, claim] : daemon.replica().owners().all()) {
    const OwnerState state = daemon.replica().ownerState(id);
    if (state == OwnerState::away) away.push_back(id);
    if (state == OwnerState::lost) lost.push_back(id);
  }
  if (!lost.empty()) {
    const std::string owner(replication::deviceOf(daemon.replica().owners().find(lost.front())->owner));
    const RosterDevice* known = daemon.roster().current().find(owner);
    const bool here = owner == daemon.replica().device();
    return {"owners", true,
            "nobody decides for " + countOf(lost) + ": the ledgers of its owner, " +
                (here               ? "this device"
                 : known == nullptr ? owner
                                    : known->name) +
                ", are lost or went back",
            "on the device with the longest copy (witan partition list), for each of them: witan partition seize " +
                lost.front() + " --reason 'ledgers lost'"};
  }
  if (daemon.replica().owners().all().empty() && daemon.config().engine == "embedded" &&
      !daemon.replica().hosts().empty())
    return {"owners", true, "no owner of any partition is known here",
            "connect this device to others; if it was the only one that kept ledgers: restore a backup"};
  return {"owners", true,
          away.empty() ? "all reachable" : std::to_string(away.size()) + " partitions' owners are not connected"};
}

// Empty: none.
std::string otherEngines(Daemon& daemon) {
  std::string words;
  for (const auto& [device, what] : daemon.replica().otherEngines())
    if (const RosterDevice* known = daemon.roster().current().find(device); known != nullptr && known->active())
      words += (words.empty() ? "" : "; ") + what;
  return words;
}

// A file that was not taken stops nothing: the policy before it stays in force.
Check policyCheck(const Daemon& daemon) {
  const std::string epoch = daemon.policyEpoch();
  const std::string words = epoch.empty() ? "no agents work here" : "agents work under: " + epoch;
  if (daemon.policyProblem().empty()) return {"policy", true, words};
  return {"policy", true, words + "; the file was not taken: " + daemon.policyProblem(),
          "correct it (witan policy check) and send SIGHUP again"};
}

// It counts; but a start would find an older one, with those that were revoked since.
Check rosterCheck(Daemon& daemon) {
  const Status& kept = daemon.roster().kept();
  const std::string version = "version " + std::to_string(daemon.roster().current().version);
  if (kept.ok()) return {"roster", true, version};
  return {"roster", false, version + " is not on disk: " + kept.error().message,
          "free space; it is written again by itself"};
}

// Without etcd nothing is decided anywhere, and two engines have two owners: those are failures.
std::vector<Check> checksOf(Daemon& daemon) {
  const bool ledgers = !daemon.replica().hosts().empty();
  const RosterDevice* me = daemon.roster().current().find(daemon.replica().device());
  const std::string others = otherEngines(daemon);
  return {{"store", daemon.failed().ok(), daemon.failed().ok() ? "ok" : daemon.failed().error().message},
          {"running", !daemon.stopping(), daemon.stopping() ? "stopping" : "ok"},
          {"member", me != nullptr && me->active(),
           me == nullptr  ? "this device is not in the roster"
           : me->active() ? "ok"
                          : "this device was revoked: " + me->reason},
          rosterCheck(daemon),
          {"ledgers", true, ledgers ? "kept here" : "none kept here"},
          {"etcd", daemon.etcd() == nullptr || daemon.etcd()->state().connected, etcdWords(daemon)},
          {"engine", others.empty(), others.empty() ? daemon.config().engine : others},
          ownersCheck(daemon),
          policyCheck(daemon)};
}

// Since the node started; none if no agents work here.
std::optional<AgentRuns> agentRuns(const Replica& replica) {
  const agents::AgentHost* host = replica.agents();
  if (host == nullptr) return std::nullopt;
  const agents::HostCounters& counters = host->counters();
  AgentRuns runs{counters.started + counters.resumed, counters.completed, counters.failed, {}};
  if (const auto& last = host->lastFailure())
    runs.lastFailure = AgentFailure{last->agentId, last->cause, Time{last->atMs * 1000}};
  return runs;
}

void sendText(const ApiContext& context, std::string text, const char* type = "text/plain; charset=utf-8",
              int status = 200) {
  net::HttpResponse response;
  response.status = status;
  response.contentType = type;
  response.body = std::move(text);
  context.responder.send(std::move(response));
}

void livez(const ApiContext& context, const Nothing&) {
  if (!context.daemon.failed().ok())
    return context.responder.refuse({ErrorCode::unavailable, "the store has failed", ""});
  sendText(context, "ok\n");
}

void readyz(const ApiContext& context, const ReadyRequest& request) {
  const auto checks = checksOf(context.daemon);
  const bool good = std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.good; });
  std::string text;
  if (request.verbose)
    for (const Check& check : checks)
      text += std::string(!check.good          ? "[-] "
                          : check.todo.empty() ? "[+] "
                                               : "[!] ") +
              check.name + ": " + check.what + (check.todo.empty() ? "" : "; do: " + check.todo) + "\n";
  sendText(context, text + (good ? "ok\n" : "not ready\n"), "text/plain; charset=utf-8", good ? 200 : 503);
}

void metrics(const ApiContext& context, const Nothing&) {
  sendText(context, metricsText(context.daemon), "text/plain; version=0.0.4; charset=utf-8");
}

Result<json::object> openApiDocument(const ApiContext&, const Nothing&) { return openApi(); }

// Adds the sums over this device's copies.
void addLedgers(NodeStatus& status, Daemon& daemon) {
  const Replica& replica = daemon.replica();
  status.partitions.kept = replica.hosts().size();
  for (const auto& [id, host] : replica.hosts()) {
    status.partitions.owned += replica.owns(*host) ? 1 : 0;
    const LedgerReaders::Census census = daemon.readers().censusOf(*host);
    status.entries += census.entries;
    status.entities += census.entities;
    status.waitingForCounselor += census.pending;
  }
}

Result<NodeStatus> status(const ApiContext& context, const Nothing&) {
  Daemon& daemon = context.daemon;
  Replica& replica = daemon.replica();
  const Roster& roster = daemon.roster().current();
  const RosterDevice* me = roster.find(replica.device());
  NodeStatus answer{WITAN_VERSION, replica.device(), me == nullptr ? daemon.cluster().name : me->name,
                    fingerprintOf(daemon.key().publicKey()), roster.cluster};
  answer.rosterVersion = roster.version;
  answer.writer = replica.data().writer();
  if (me != nullptr) answer.roles = me->roles;
  answer.admin = daemon.enrolment().isAdmin();
  answer.addresses = daemon.addresses();
  answer.uptimeSeconds = (daemon.now().ms - daemon.startedMs()) / 1000;
  for (const PeerStatus& peer : daemon.peers().status()) {
    ++answer.peers.known;
    answer.peers.connected += peer.connected ? 1 : 0;
  }
  addLedgers(answer, daemon);
  answer.outbox = replica.outbox().size();
  answer.agents = !daemon.config().agents.empty();
  answer.agentRuns = agentRuns(replica);
  answer.quiet = replica.quiet();
  if (auto incidents = replica.data().incidents(); incidents.ok()) answer.incidents = incidents->size();
  for (const Check& check : checksOf(daemon))
    answer.checks.push_back({check.name, check.good, check.what,
                             check.todo.empty() ? std::nullopt : std::optional<std::string>(check.todo)});
  return answer;
}

Result<Incidents> incidents(const ApiContext& context, const Nothing&) {
  WITAN_TRY(incidents, context.daemon.replica().data().incidents());
  Incidents answer;
  for (const replication::Incident& one : incidents) answer.incidents.push_back({one.kind, one.peer, one.what});
  return answer;
}

Result<LogSetting> setLogLevel(const ApiContext& context, const LogSetting& request) {
  context.daemon.log().setLevel(logLevelOf(enumName(request.level)));
  return request;
}

std::vector<ControlRoute> healthRoutes() {
  return {textRoute({.method = "GET",
                     .path = "/livez",
                     .operationId = "checkLive",
                     .tag = "node",
                     .role = {},
                     .summary = "Whether the process works; 503 after its store has failed",
                     .response = "ok\n",
                     .mediaType = "text/plain"},
                    livez),
          textRoute({.method = "GET",
                     .path = "/readyz",
                     .operationId = "checkReady",
                     .tag = "node",
                     .role = {},
                     .summary = "Whether the node serves; 503 with the same text if it does not",
                     .request = R"({"verbose":"1"})",
                     .response = "[+] store: ok\nok\n",
                     .mediaType = "text/plain",
                     .textStatus = 503},
                    readyz),
          textRoute({.method = "GET",
                     .path = "/metrics",
                     .operationId = "readMetrics",
                     .tag = "node",
                     .role = ControlRole::observer,
                     .summary = "Metrics in Prometheus' text format",
                     .response = "# TYPE witan_store_up gauge\nwitan_store_up 1\n",
                     .mediaType = "text/plain; version=0.0.4"},
                    metrics),
          typedRoute({.method = "GET",
                      .path = "/v1/openapi.json",
                      .operationId = "readOpenApi",
                      .tag = "node",
                      .role = ControlRole::observer,
                      .summary = "This document",
                      .response = R"({"openapi":"3.1.0"})"},
                     openApiDocument)};
}

}  // namespace

std::vector<ControlRoute> statusRoutes() {
  std::vector<ControlRoute> all = healthRoutes();
  all.push_back(typedRoute({.method = "GET",
                            .path = "/v1/status",
                            .operationId = "readStatus",
                            .tag = "node",
                            .role = ControlRole::observer,
                            .summary = "State of the node",
                            .response = R"({"version":"0.1.0","device":"0d66796d1c3b9a52","name":"office","fingerprint":
                                "9f86 d081","cluster":"c1","rosterVersion":3,"writer":"0d66796d1c3b9a52.1",
                                "roles":["ledger","*"],"admin":true,"addresses":["192.0.2.7:7400"],"uptimeSeconds":61,
                                "peers":{"known":2,"connected":2},"partitions":{"kept":20,"owned":20},"entries":12,
                                "entities":3,"waitingForCounselor":1,"outbox":0,"agents":false,"agentRuns":null,
                                "quiet":true,"incidents":0,"checks":[{"name":"store","ok":true,"what":"ok",
                                "todo":null}]})"},
                           status));
  all.push_back(typedRoute({.method = "GET",
                            .path = "/v1/incidents",
                            .operationId = "listIncidents",
                            .tag = "node",
                            .role = ControlRole::observer,
                            .summary = "Incidents on record: divergent suffixes, forks, restores, quarantines",
                            .errors = {500},
                            .response = R"({"incidents":[{"kind":"olderCopy","peer":"7be2a90c44d1f38e",
                                "what":"the peer restored an older copy"}]})"},
                           incidents));
  all.push_back(typedRoute({.method = "POST",
                            .path = "/v1/log",
                            .operationId = "setLogLevel",
                            .tag = "node",
                            .role = ControlRole::operator_,
                            .summary = "Changes the log level",
                            .request = R"({"level":"debug"})",
                            .response = R"({"level":"debug"})"},
                           setLogLevel));
  return all;
}

}  // namespace witan::node::api
