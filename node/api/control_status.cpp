// How the node is.
#include "agents/host/agent_host.h"
#include "base/string_util.h"
#include "base/time.h"
#include "node/api/control_routes.h"
#include "node/cluster/roster_follows.h"
#include "node/data_dir/disk_space.h"
#include "node/operations/sync.h"
#include "node/witness/witness_rounds.h"
#include "replica/core/entry_evidence.h"
#include "replica/core/partition_host.h"
#include "replica/graph_runtime.h"
#include "replica/head_exchange.h"
#include "replication/writer.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(ReadyRequest, (Omittable<std::string>, verbose, "Any value: each check with its state"))

WITAN_STRUCT(NodeCheck, (std::string, name, "Name of the check"),
             (bool, ok, "False: this node does not serve because of it"), (std::string, what, "State, in words"),
             (std::optional<std::string>, todo, "What an operator should do; null: nothing"))

WITAN_STRUCT(AgentFailure, (std::string, agent, "Id of the agent"), (std::string, cause, "Why its run failed"),
             (Time, at, "When its run failed"))

WITAN_STRUCT(AgentRuns, (std::uint64_t, started, "Runs that started or resumed"),
             (std::uint64_t, completed, "Runs that completed"), (std::uint64_t, failed, "Runs that failed"),
             (std::optional<AgentFailure>, lastFailure, "The last failed run; null: none"))

WITAN_STRUCT(GraphCount, (std::string, step, "begun, delivered, finished, failed, dead, refused, verdict, effect, ..."),
             (std::string, why, "Reason of a death or refusal, verdict, or how a run ended; else empty"),
             (std::uint64_t, count, "How often"))
WITAN_STRUCT(GraphStatus, (std::string, graph, "Id of the graph"), (std::int64_t, version, "That new runs keep"),
             (std::int64_t, runs, "Runs that go on"), (std::int64_t, queued, "Messages that wait"),
             (std::int64_t, running, "Spans at work"), (std::int64_t, asking, "Questions that are open"),
             (std::int64_t, backoff, "Spans that wait for another attempt"),
             (std::vector<GraphCount>, counts,
              "Since the start of the node; by node: witan_graph_steps_total of /metrics"))

WITAN_STRUCT(PeerCount, (std::uint64_t, known, "Other active members that this device keeps links with"),
             (std::uint64_t, connected, "Members with a link to this device"))

WITAN_STRUCT(PartitionCount, (std::uint64_t, kept, "Partitions with a copy on this device"),
             (std::uint64_t, owned, "Partitions for which this device decides"))

WITAN_STRUCT(
    NodeStatus, (std::string, version, "Version of the running program"), (std::string, device, "Id of this device"),
    (std::string, name, "Name of this device"), (std::string, fingerprint, "Fingerprint of this device's key"),
    (std::string, cluster, "Id of the cluster"), (std::uint64_t, rosterVersion, "Version of the newest roster"),
    (std::string, writer, "Id under which this device writes replicated data"),
    (std::vector<std::string>, roles, "Roles of this device"),
    (bool, admin, "Whether this device holds the cluster's admin key"),
    (std::vector<std::string>, addresses, "Addresses on which this device listens for peers"),
    (std::int64_t, uptimeSeconds, "Seconds since the start"), (PeerCount, peers, "Other members"),
    (PartitionCount, partitions, "Partitions of all domains"),
    (std::uint64_t, entries, "Ledger entries on this device"), (std::uint64_t, entities, "Entities on this device"),
    (std::uint64_t, waitingForCounselor, "Proposals that wait for a counselor"),
    (std::uint64_t, outbox, "Requests of this device without an answer"),
    (bool, agents, "Whether agents work on this device"),
    (std::optional<AgentRuns>, agentRuns, "Runs of agents since the start; null: no agents work here"),
    (std::vector<GraphStatus>, graphs, "Graphs that run on this device"), (bool, quiet, "Whether no work is due"),
    (std::uint64_t, incidents, "Number of incidents"), (std::vector<NodeCheck>, checks, "Checks of readiness"))

WITAN_STRUCT(Incidents, (std::vector<operations::IncidentRow>, incidents, "Incidents on record, oldest first"))

WITAN_STRUCT(EvidenceRow, (std::string, log, "Origin of the log in checkpoints"),
             (std::string, device, "Id of the device that signed"), (std::string, what, "What is proven"),
             (std::string, file, "The evidence, as `witan incident verify` takes it"))

WITAN_STRUCT(Evidence, (std::vector<EvidenceRow>, evidence, "Proofs of misbehaviour that this device holds"))

WITAN_ENUM(LogLevelName, debug, info, warn, error)

WITAN_STRUCT(LogSetting, (LogLevelName, level, "Least severe level that is logged"))

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

// `lost`: no device decides for them, and none is to be blamed.
std::string seizeWords(const std::vector<std::string>& partitions, const std::string& reason, bool lost) {
  const bool each = partitions.size() > 1;
  return concat("on the device with the longest copy (witan partition list)", each && !lost ? ", for each of them" : "",
                ": witan partition seize ", each && lost ? "--all-lost" : partitions.front(), " --reason '", reason,
                "'");
}

std::string countOf(const std::vector<std::string>& partitions) {
  return partitions.front() + (partitions.size() == 1 ? "" : " and " + std::to_string(partitions.size() - 1) + " more");
}

// A copy that cannot be read stands still; all others serve.
Check ledgersCheck(Daemon& daemon) {
  if (daemon.ledgersChanged())
    return {"ledgers", true, "the role ledger of this device has changed since the node started", "restart this node"};
  const Replica& replica = daemon.replica();
  const auto& damaged = replica.damagedPartitions();
  if (damaged.empty()) return {"ledgers", true, replica.hosts().empty() ? "none kept here" : "kept here"};
  std::vector<std::string> ids;
  for (const auto& [id, why] : damaged) ids.push_back(id);
  const Error& first = damaged.begin()->second;
  return {"ledgers", true, "the ledger of " + countOf(ids) + " is damaged and stands still: " + first.message,
          first.hint};
}

// A full disk is a failure before the store meets it.
Check diskCheck(const Daemon& daemon) {
  const DiskSpace disk = diskSpaceOf(daemon.path());
  return {"disk", disk.level != DiskLevel::full, disk.what, disk.todo};
}

// Whether it is proven that the owner signed two logs of this epoch.
bool isForked(Daemon& daemon, const std::string& partition, const kernel::Epoch& epoch) {
  return std::ranges::any_of(daemon.replica().heads().proofs(), [&](const auto& proof) {
    const auto log = logOfOrigin(daemon.roster().current().cluster, proof.first);
    return log && log->partition == partition && log->epoch == epoch;
  });
}

// A node that is cut off is live and ready: it reads, and keeps what it is asked. That it cannot reach an owner, or
// that an owner has lost what it decided on, is a check of its own, and no failure of this node.
Check ownersCheck(Daemon& daemon) {
  if (const auto orphans = orphanedPartitions(daemon); !orphans.empty())
    return {"owners", true, "no member decides for " + joined(orphans) + ": their owner was revoked",
            seizeWords(orphans, "owner revoked", true)};
  std::vector<std::string> away, lost, refused, forked;
  for (const auto& [id, claim] : daemon.replica().owners().all()) {
    if (daemon.replica().refusesOwner(id)) {
      (isForked(daemon, id, claim.epoch()) ? forked : refused).push_back(id);
      continue;
    }
    const OwnerState state = daemon.replica().ownerState(id);
    const bool wanted = daemon.peers().wants(replication::deviceOf(claim.owner));  // else nothing waits for it
    if (state == OwnerState::away && wanted) away.push_back(id);
    if (state == OwnerState::lost) lost.push_back(id);
  }
  if (!refused.empty())
    return {
        "owners", true,
        "this device refuses the owner of " + countOf(refused) + ": it recorded decisions that the rules do not give",
        "witan incidents; revoke it or compare the versions, then " + seizeWords(refused, "unlawful entries", false)};
  if (!forked.empty())
    return {"owners", true,
            "this device refuses the owner of " + countOf(forked) +
                ": it signed two ledgers that contradict each other (a fork)",
            "witan incidents; revoke it if it lied, then " + seizeWords(forked, "fork", false)};
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
            seizeWords(lost, "ledgers lost", true)};
  }
  if (daemon.replica().owners().all().empty() && daemon.config().engine == "embedded" &&
      !daemon.replica().hosts().empty())
    return {"owners", true, "no owner of any partition is known here",
            "connect this device to others; if it was the only one that kept ledgers: restore a backup"};
  return {"owners", true,
          away.empty() ? "all reachable" : std::to_string(away.size()) + " partitions' owners are not connected"};
}

// With witnesses outside of the cluster: what they have cosigned.
Check publishedCheck(Daemon& daemon, const WitnessRounds& witnesses) {
  std::vector<std::string> none;
  for (const auto& [id, host] : daemon.replica().hosts()) {
    const WitnessRounds::Published* head = witnesses.published(id);
    if (daemon.replica().owns(*host) && host->entries() > (head == nullptr ? 0 : head->size)) none.push_back(id);
  }
  const std::string words =
      concat(witnesses.required(), " of ", witnesses.verifiers().size(), " witnesses have not cosigned all of ");
  if (!none.empty()) return {"witnesses", true, words + countOf(none), "are they reachable? [witness] url"};
  return {"witnesses", true, "witnesses have cosigned the ledgers that are decided here"};
}

// A ledger whose disk goes back unnoticed, since no other device has signed what it held.
Check witnessesCheck(Daemon& daemon) {
  const Replica& replica = daemon.replica();
  if (const WitnessRounds* witnesses = daemon.witnesses()) return publishedCheck(daemon, *witnesses);
  bool decided = false;
  std::vector<std::string> alone;
  for (const auto& [id, host] : replica.hosts()) {
    const HeadExchange::Heads* known = replica.heads().find(id);
    if (host->entries() == 0 || !replica.owns(*host)) continue;
    decided = true;
    if (known == nullptr || !known->witnessed) alone.push_back(id);
  }
  if (!decided) return {"witnesses", true, "no ledger is decided here yet"};
  if (alone.empty()) return {"witnesses", true, "other devices have signed the ledgers that are decided here"};
  return {"witnesses", true, "unwitnessed: no other device has signed " + countOf(alone) + ", decided here"};
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
          epoch.empty() ? "restart the node" : "correct it (witan policy check) and send SIGHUP again"};
}

// It counts; but a start would find an older one, with those that were revoked since.
Check rosterCheck(Daemon& daemon) {
  const Status& kept = daemon.roster().kept();
  const std::string version = "version " + std::to_string(daemon.roster().current().version);
  if (kept.ok()) return {"roster", true, version};
  return {"roster", false, version + " is not on disk: " + kept.error().message,
          "free space; it is written again by itself"};
}

Check memberCheck(Daemon& daemon) {
  if (daemon.me() == nullptr)
    return {"member", false, "this device is not in the roster",
            "let it in where the admin's key is: witan device approve " + daemon.replica().device()};
  const auto key = readKey(daemon.path(), KeyName::device);
  if (daemon.me()->active() && key.ok() && hadKey(daemon.roster().current(), key->publicKey()) == daemon.me())
    return {"member", false, "the key of this device was replaced, and its disk went back: the others do not let it in",
            daemon.enrolment().isAdmin()
                ? "witan device rotate-key; where admins act together then: witan admin propose rekey " +
                      daemon.replica().device()
                : std::string(kNewerBackup)};
  const bool knows = key.ok() && daemon.roster().current().byKey(key->publicKey()) == daemon.me();
  if (daemon.me()->active() && !knows && !hasKey(daemon.path(), KeyName::previousDevice))
    return {"member", false, "the roster has another key of this device: the others do not let it in",
            "where the cluster was begun: witan admin propose rekey " + daemon.replica().device()};
  if (daemon.me()->active()) return {"member", true, "ok"};
  return {"member", false, daemon.revocation(),
          "copy what is of use, stop the node, and join from a new directory with an invitation (witan join)"};
}

Check clocksCheck(Daemon& daemon) {
  const std::string words = daemon.peers().clocks();
  if (words.empty()) return {"clocks", true, "those of the devices that are linked agree to within an hour"};
  return {"clocks", true, words, "compare both with a clock that is right, and set the wrong one (chrony)"};
}

// A graph that stands, or a part of it, is no failure of the node: all else goes on.
Check graphsCheck(const Replica& replica) {
  std::vector<std::string> standing;
  std::string first;
  for (const auto& [id, host] : replica.hosts()) {
    if (replica.graphs() == nullptr || host->module().signature().domain != kGraphDomain) continue;
    for (const std::string& name : host->partition().entities())
      if (const std::string why = replica.graphs()->waitsFor(name); !why.empty()) {
        standing.push_back(name);
        if (first.empty()) first = name + ": " + why;
      }
  }
  if (standing.empty()) return {"graphs", true, "those of this device go on"};
  return {"graphs", true,
          first + (standing.size() == 1 ? "" : concat("; and ", standing.size() - 1, " more graphs wait")),
          "witan graph list; witan incidents"};
}

// Without etcd nothing is decided anywhere, and two engines have two owners: those are failures.
std::vector<Check> checksOf(Daemon& daemon) {
  const std::string others = otherEngines(daemon);
  return {{"store", daemon.failed().ok(), daemon.failed().ok() ? "ok" : daemon.failed().error().message},
          {"running", !daemon.stopping(), daemon.stopping() ? "stopping" : "ok"},
          memberCheck(daemon),
          rosterCheck(daemon),
          diskCheck(daemon),
          ledgersCheck(daemon),
          {"etcd", daemon.etcd() == nullptr || daemon.etcd()->state().connected, etcdWords(daemon)},
          {"engine", others.empty(), others.empty() ? daemon.config().engine : others},
          ownersCheck(daemon),
          graphsCheck(daemon.replica()),
          witnessesCheck(daemon),
          clocksCheck(daemon),
          policyCheck(daemon)};
}

std::vector<GraphStatus> graphsOf(const Replica& replica) {
  std::vector<GraphStatus> all;
  const GraphRuntime* graphs = replica.graphs();
  for (const auto& [id, host] : replica.hosts()) {
    if (graphs == nullptr || host->module().signature().domain != kGraphDomain) continue;
    for (const std::string& name : host->partition().entities()) {
      const graph::Runtime* runtime = graphs->runtime(name);
      if (runtime == nullptr) continue;
      GraphStatus row{name, runtime->deployed()->version, runtime->running(), 0, 0, 0, 0, {}};
      for (const graph::NodeLoad& load : runtime->loads())
        row.queued += load.queued, row.running += load.running, row.asking += load.asking, row.backoff += load.backoff;
      std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
      for (const auto& [key, count] : graphs->meter().counts())
        if (const auto& [of, node, step, why] = key; of == name) counts[{step, why}] += count;
      for (const auto& [what, count] : counts) row.counts.push_back({what.first, what.second, count});
      all.push_back(std::move(row));
    }
  }
  return all;
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
    answer.peers.known += peer.wanted ? 1 : 0;
    answer.peers.connected += peer.connected ? 1 : 0;
  }
  addLedgers(answer, daemon);
  answer.outbox = replica.outbox().size();
  answer.agents = !daemon.config().agents.empty();
  answer.agentRuns = agentRuns(replica);
  answer.graphs = graphsOf(replica);
  answer.quiet = replica.quiet();
  if (auto incidents = replica.data().incidents(); incidents.ok()) answer.incidents = incidents->size();
  for (const Check& check : checksOf(daemon))
    answer.checks.push_back({check.name, check.good, check.what,
                             check.todo.empty() ? std::nullopt : std::optional<std::string>(check.todo)});
  return answer;
}

Result<Incidents> incidents(const ApiContext& context, const Nothing&) {
  WITAN_TRY(rows, operations::incidentRows(context.daemon.replica().data()));
  return Incidents{std::move(rows)};
}

Result<Evidence> evidence(const ApiContext& context, const Nothing&) {
  const Replica& replica = context.daemon.replica();
  Evidence answer;
  const auto add = [&](const std::string& file, const std::string& what) {
    const auto proven =
        verifyEvidence(file, [&](const kernel::LedgerFormat& format) { return replica.moduleOf(format.domain); });
    if (!proven.ok()) return;
    const std::string device = deviceOfKeyName(context.daemon.roster().current().cluster, proven->signer.name);
    answer.evidence.push_back({proven->log, device, what.empty() ? proven->what : what, file});
  };
  for (const auto& [origin, file] : replica.heads().proofs()) add(file, "");
  for (const auto& [what, file] : replica.evidence()) add(file, what);
  return answer;
}

Result<LogSetting> setLogLevel(const ApiContext& context, const LogSetting& request) {
  context.daemon.log().setLevel(logLevelOf(enumName(request.level)));
  return request;
}

}  // namespace

std::vector<std::string> orphanedPartitions(Daemon& daemon) {
  std::vector<std::string> orphans;
  for (const auto& [id, claim] : daemon.replica().owners().all()) {
    const RosterDevice* owner = daemon.roster().current().find(std::string(replication::deviceOf(claim.owner)));
    if (owner != nullptr && !owner->active()) orphans.push_back(id);
  }
  return orphans;
}

std::vector<ControlRoute> statusRoutes() {
  using enum ControlRole;
  const auto text = [](const char* path, const char* operationId, std::optional<ControlRole> role, const char* summary,
                       const char* mediaType, auto work, int textStatus = 0) {
    return route({"GET", path, operationId, "node", role, summary, {}, mediaType, textStatus}, work);
  };
  return {
      text("/livez", "checkLive", {}, "Whether the process works; 503 after its store has failed", "text/plain", livez),
      text("/readyz", "checkReady", {}, "Whether the node serves; 503 with the same text if it does not", "text/plain",
           readyz, 503),
      text("/metrics", "readMetrics", observer, "Metrics in Prometheus' text format", "text/plain; version=0.0.4",
           metrics),
      get("/v1/openapi.json", "readOpenApi", "node", observer, "This document", openApiDocument),
      get("/v1/status", "readStatus", "node", observer, "State of the node", status),
      get("/v1/incidents", "listIncidents", "node", observer,
          "Incidents on record: divergent suffixes, forks, restores, quarantines", incidents, {500}),
      get("/v1/evidence", "listEvidence", "node", observer,
          "Proofs of misbehaviour: each can be verified without this node", evidence),
      post("/v1/log", "setLogLevel", "node", operator_, "Changes the log level", setLogLevel)};
}

}  // namespace witan::node::api
