// How the node is.
#include "agents/host/agent_host.h"
#include "base/json_codec.h"
#include "base/time.h"
#include "node/api/control_routes.h"
#include "node/api/metrics.h"
#include "replication/writer.h"

namespace witan::node::control {

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

// Since the node started; null if no agents work here.
json::value agentRuns(const Replica& replica) {
  const agents::AgentHost* host = replica.agents();
  if (host == nullptr) return nullptr;
  const agents::HostCounters& counters = host->counters();
  json::object out{{"started", counters.started + counters.resumed},
                   {"completed", counters.completed},
                   {"failed", counters.failed},
                   {"lastFailure", nullptr}};
  if (const auto& last = host->lastFailure())
    out["lastFailure"] =
        json::object{{"agent", last->agentId}, {"cause", last->cause}, {"at", formatTime(Time{last->atMs * 1000})}};
  return out;
}

}  // namespace

void livez(const ControlCall& call) {
  if (!call.daemon.failed().ok()) return call.refuse({ErrorCode::unavailable, "the store has failed", ""});
  call.answerText("ok\n", "text/plain; charset=utf-8");
}

void readyz(const ControlCall& call) {
  const auto checks = checksOf(call.daemon);
  const bool good = std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.good; });
  std::string text;
  if (call.request.query.contains("verbose"))
    for (const Check& check : checks)
      text += std::string(!check.good          ? "[-] "
                          : check.todo.empty() ? "[+] "
                                               : "[!] ") +
              check.name + ": " + check.what + (check.todo.empty() ? "" : "; do: " + check.todo) + "\n";
  net::HttpResponse response;
  response.status = good ? 200 : 503;
  response.contentType = "text/plain; charset=utf-8";
  response.body = text + (good ? "ok\n" : "not ready\n");
  call.reply->answer(std::move(response));
}

void metrics(const ControlCall& call) {
  call.answerText(metricsText(call.daemon), "text/plain; version=0.0.4; charset=utf-8");
}

void openApiDocument(const ControlCall& call) { call.answer(openApi()); }

void status(const ControlCall& call) {
  Daemon& daemon = call.daemon;
  Replica& replica = daemon.replica();
  std::size_t owned = 0, entries = 0, entities = 0, pending = 0, connected = 0, others = 0;
  for (const auto& [id, host] : replica.hosts()) {
    owned += replica.owns(*host);
    const LedgerReaders::Census census = daemon.readers().censusOf(*host);
    entries += census.entries;
    entities += census.entities;
    pending += census.pending;
  }
  for (const PeerStatus& peer : daemon.peers().status()) ++others, connected += peer.connected;
  const RosterDevice* me = daemon.roster().current().find(replica.device());
  json::array roles, addresses, checks;
  if (me != nullptr)
    for (const std::string& role : me->roles) roles.emplace_back(role);
  for (const std::string& address : daemon.addresses()) addresses.emplace_back(address);
  for (const Check& check : checksOf(daemon))
    checks.push_back({{"name", check.name},
                      {"ok", check.good},
                      {"what", check.what},
                      {"todo", check.todo.empty() ? json::value(nullptr) : json::value(check.todo)}});
  auto incidents = replica.data().incidents();
  call.answer({{"version", WITAN_VERSION},
               {"device", replica.device()},
               {"name", me == nullptr ? daemon.cluster().name : me->name},
               {"fingerprint", fingerprintOf(daemon.key().publicKey())},
               {"cluster", daemon.roster().current().cluster},
               {"rosterVersion", daemon.roster().current().version},
               {"writer", replica.data().writer()},
               {"roles", std::move(roles)},
               {"admin", daemon.enrolment().isAdmin()},
               {"addresses", std::move(addresses)},
               {"uptimeSeconds", (daemon.now().ms - daemon.startedMs()) / 1000},
               {"peers", {{"known", others}, {"connected", connected}}},
               {"partitions", {{"kept", replica.hosts().size()}, {"owned", owned}}},
               {"entries", entries},
               {"entities", entities},
               {"waitingForCounselor", pending},
               {"outbox", replica.outbox().size()},
               {"agents", !daemon.config().agents.empty()},
               {"agentRuns", agentRuns(replica)},
               {"quiet", replica.quiet()},
               {"incidents", incidents.ok() ? incidents->size() : 0},
               {"checks", std::move(checks)}});
}

void incidents(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    WITAN_TRY(incidents, call.daemon.replica().data().incidents());
    json::array list;
    for (const replication::Incident& incident : incidents) list.push_back(parseJson(toJson(incident)).value());
    return json::value(json::object{{"incidents", std::move(list)}});
  }());
}

void logLevel(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    const std::string level = call.text("level");
    if (level != "debug" && level != "info" && level != "warn" && level != "error")
      return invalid("level: expected debug, info, warn or error");
    call.daemon.log().setLevel(logLevelOf(level));
    return json::value(json::object{{"level", level}});
  }());
}

}  // namespace witan::node::control
