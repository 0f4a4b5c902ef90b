// Checker "graphs": the ledger of the graph (sim/check/graph_rules.h), what its effects left in the journal (T2), and
// that no agent calls what its node does not grant (laws 4 and 5).
#include <algorithm>

#include "domains/graph/steps.h"
#include "replica/graph_runtime.h"
#include "replication/records/journal_entity.h"
#include "replication/records/record_write.h"
#include "replication/writer.h"
#include "sim/check/graph_rules.h"
#include "sim/check/run_rules.h"
#include "sim/checkers/checker.h"
#include "sim/sim_graph.h"

namespace witan::sim {

namespace {

class GraphChecker final : public Checker {
 public:
  explicit GraphChecker(Cluster& cluster) : Checker(cluster) {}

  void onToolCall(Seat& at, const agents::ToolCall& call, const std::string&) override {
    if (call.agentId == kSimWeaver)
      c_.failed("graphs",
                concat(at.name(), ": ", kSimWeaver, " calls ", call.tool, ", which no node grants (laws 4, 5)"));
  }
  // The ledger rejected a step of the runtime, or its work cannot be stored.
  void onNotice(Seat& at, const node::Notice& notice) override {
    if (notice.kind == "graph") c_.failed("graphs", at.name() + ": " + notice.what);
  }

  void atEnd() override {
    checkAnswers();
    for (const auto& [module, id] : c_.partitions())
      if (module->signature().domain == node::kGraphDomain && !c_.hasFailed()) check(id);
  }

 private:
  // A device that lies may say anything.
  void checkAnswers() {
    if (c_.plan().options.cluster.liar > 0) return;
    for (const RequestRecord& one : c_.history().requests()) {
      const node::Request& request = one.request;
      if (request.domain != node::kGraphDomain || !one.returned) continue;
      GraphAnswer answer{.isMessage = request.role == "in", .why = one.answer.message};
      if (answer.isMessage)
        answer.body = request.text, answer.taken = one.answer.outcome == kernel::Outcome::approved;
      else if (!request.operationId.starts_with("deploy-") || request.operationId.starts_with("deploy-broken-"))
        continue;
      if (answer.isMessage && !answer.taken && answer.why.starts_with("schema")) c_.probe("graph: message refused");
      if (const std::string wrong = checkGraphAnswer(answer); !wrong.empty())
        return c_.failed("graphs", concat(one.request.operationId, ": ", wrong));
    }
  }

  void check(const std::string& id) {
    Seat* holder = nullptr;
    for (Seat* at : c_.members())
      if (node::PartitionHost* host = at->replica().host(id); host != nullptr && (!holder || at->replica().owns(*host)))
        holder = at;
    if (holder == nullptr || holder->replica().host(id)->partition().state(kSimGraph) == nullptr) return;
    auto log = logAt(*holder, id);
    if (!log.ok()) return c_.failed("store", holder->name() + " " + id + ": " + log.error().message);
    node::GraphBodies bodies(holder->replica().data(), "main");
    GraphRules rules([&](std::string_view node, std::string_view verdict, const std::string& digest) {
      return crossing(bodies, node, verdict, digest);
    });
    std::optional<Time> deployedAt;
    std::set<std::pair<std::string, std::string>> told;  // entity and key, of runs that a ledger began
    for (const LedgerLine& line : log->lines) {
      if (line.entry.entity != kSimGraph) continue;
      auto step = parseJson(line.entry.action, {.bytes = kernel::kRecordMax, .depth = 64});
      if (!step.ok()) return c_.failed("store", id + ": " + step.error().message);
      if (line.entry.tag != kernel::Tag::approved) {
        if (line.entry.role == "Runtime")
          return c_.failed("graphs", nameOf(line.entry) + " is a step that a law rejects");
        continue;
      }
      if (const std::string wrong = documentOf(bodies, step->as_object(), hostsAgents(*log, line.entry.seq));
          !wrong.empty())
        return c_.failed("graphs", nameOf(line.entry) + ": " + wrong);
      if (const json::value* at = step->as_object().if_contains("external");
          at != nullptr && at->as_string().starts_with("journal:") && !stepsMayBeGone())
        return c_.failed("graphs", nameOf(line.entry) + ": a run begins by what its own graph put (G-01)");
      if (const std::string wrong = rules.add(step->as_object(), line.entry.time.micros / 1000); !wrong.empty())
        return c_.failed("graphs", nameOf(line.entry) + ": " + wrong);
      if (step->as_object().at("type") == "Deploy") noteLimits(rules, bodies, step->as_object());
      if (step->as_object().at("type") == "Deploy" && !deployedAt) deployedAt = line.entry.time;
      if (step->as_object().at("type") == "Begin" && step->as_object().at("node") == "told")
        if (const graph::Body body = bodies.find(std::string(step->as_object().at("digest").as_string())))
          told.emplace(std::string(body->at("entity").as_string()), std::string(body->at("key").as_string()));
    }
    if (deployedAt && !bodiesMayBeGone())
      if (const std::string wrong = heard(*holder, *deployedAt, told); !wrong.empty())
        return c_.failed("graphs", wrong);
    if (const std::string wrong = rules.atRest(); !wrong.empty() && !bodiesMayBeGone())
      return c_.failed("graphs", wrong + ": " + standing(*holder));
    if (const std::string wrong = effects(*holder, rules); !wrong.empty()) return c_.failed("graphs", wrong);
    if (const std::string wrong = activations(*holder, id, rules); !wrong.empty()) return c_.failed("graphs", wrong);
    count(rules);
  }

  // What people have had the ledgers of the holder say since the graph was deployed began a run each, and nothing else
  // did but what runs made them say, of which the records may be missing.
  std::string heard(Seat& holder, Time since, const std::set<std::pair<std::string, std::string>>& told) {
    const agents::LedgerSpec spec{"told", std::string(kHeardDomain), std::string(kHeardField),
                                  std::string(kHeardValue)};
    const Time now = holder.device->now(c_.agenda().now()).wall;
    std::set<std::pair<std::string, std::string>> said;
    for (const auto& [id, host] : holder.replica().hosts()) {
      if (host->module().signature().domain != spec.domain) continue;
      auto log = logAt(holder, id);
      if (!log.ok()) return id + ": " + log.error().message;
      for (const agents::LedgerFact& fact : factsOf(*log, spec)) said.emplace(fact.entity, fact.key);
      std::erase_if(log->lines, [&](const LedgerLine& line) {
        return line.entry.time.micros / 1'000 < since.micros / 1'000 || line.entry.time > now ||
               !line.entry.runKey.empty();
      });
      for (const agents::LedgerFact& fact : factsOf(*log, spec)) {
        c_.probe("graph: begun by a ledger");
        if (!told.contains({fact.entity, fact.key}))
          return concat(id, " says that ", fact.key, " of ", fact.entity, " is ", fact.value,
                        ", and no run has begun by it");
      }
    }
    for (const auto& [entity, key] : told)
      if (!stepsMayBeGone() && !said.contains({entity, key}))
        return concat("a run began by ", key, " of ", entity, ", which no ledger says");
    return {};
  }

  // Whether the owner that decided this knows agents, tools and boundaries.
  bool hostsAgents(const PartitionLog& log, std::uint64_t seq) const {
    std::string owner;
    for (const auto& epoch : log.epochs)
      if (epoch.entries < seq) owner = replication::deviceOf(epoch.owner);
    const auto hosts = static_cast<std::uint32_t>(c_.plan().options.cluster.hosts);
    for (std::uint32_t n = 0; n < hosts; ++n)
      if (owner == ClusterSetup::deviceName(n)) return true;
    return false;
  }

  // Of a deployment that the ledger took. An owner without agents answers for what the document says itself.
  static std::string documentOf(node::GraphBodies& bodies, const json::object& step, bool knows) {
    const graph::Body body =
        step.at("type") == "Deploy" ? bodies.find(std::string(step.at("digest").as_string())) : nullptr;
    if (body == nullptr) return {};  // none, or its disks are gone
    const auto errors = graph::checkGraph(*body, knows ? simGraphEnvironment() : graph::Environment(),
                                          knows ? graph::Answers::all : graph::Answers::nothing)
                            .errors;
    return errors.empty() ? "" : concat("what lint refuses is deployed: ", errors[0].id, " ", errors[0].message);
  }

  static void noteLimits(GraphRules& rules, node::GraphBodies& bodies, const json::object& deploy) {
    const graph::Body body = bodies.find(std::string(deploy.at("digest").as_string()));
    if (body == nullptr) return;  // its disks are gone
    std::map<std::string, std::int64_t> most;
    for (const auto& [amount, value] : body->at("graph").at("budget").as_object()) most[amount] = value.as_int64();
    rules.budget(deploy.at("version").as_int64(), std::move(most));
    rules.timeout(deploy.at("version").as_int64(), body->at("graph").at("timeoutMs").as_int64());
  }

  // What the policy means (sim/sim_graph.h), whatever it says.
  static std::string crossing(node::GraphBodies& bodies, std::string_view node, std::string_view verdict,
                              const std::string& digest) {
    const graph::Body body = bodies.find(digest);
    if (body == nullptr) return {};  // its disks are gone
    if (node == "in" && body->as_object().contains("private")) return "what is private entered (G-03)";
    // What was redacted once, and is driven again, has nothing more to lose.
    if (node == "out" && ((verdict != "redact" && verdict != "allow") || body->as_object().contains("mood")))
      return "more than a topic and a lot leaves (G-03)";
    return {};
  }

  // Of a message whose only copy was on a disk that is gone, no runtime can go on.
  bool bodiesMayBeGone() { return !c_.history().losses().empty(); }
  bool stepsMayBeGone() {
    const auto counted = [&](const char* probe) { return c_.probes().contains(probe); };
    return bodiesMayBeGone() || counted("seizePartition done") || counted("orphan seized");
  }

  std::string standing(Seat& at) {
    const node::GraphRuntime* graphs = at.replica().graphs();
    return graphs == nullptr ? at.name() + " runs no graphs"
                             : at.name() + " waits for \"" + graphs->waitsFor(kSimGraph) + "\"";
  }

  // Each effect that stands is in the journal, and nothing is there under the graph's name but by one of its spans,
  // once.
  std::string effects(Seat& at, const GraphRules& rules) {
    auto space = at.replica().data().database(replication::DatabaseName::journal).space("main");
    if (!space.ok()) return space.error().message;
    std::map<std::string, std::set<std::string>> written;  // by operation: entries
    const std::string folder = concat(kSimGraph, "/");
    for (const std::string& id : (*space)->keys(replication::Kind::journal, folder)) {
      auto view = replication::journalViewIn(**space, id);
      if (!view.ok()) return view.error().message;
      std::set<std::string> operations;
      for (const replication::Sibling& sibling : view->siblings)
        if (sibling.body && sibling.body->payload.find("\"mood\"") != std::string::npos)
          return id + " holds more than a topic and a lot: it left as no verdict had it (G-03)";
        else if (sibling.body)
          operations.insert(sibling.body->operationId ? OperationId{*sibling.body->operationId}.hex() : "nobody");
      if (operations.size() > 1) return id + " is the effect of several operations (T2)";
      for (const std::string& operation : operations) {
        if (!rules.wasDelivered(operation) && !stepsMayBeGone())
          return id + " is the effect of " + operation.substr(0, 16) + ", which is no span (T2)";
        if (written[operation].insert(id).second && written[operation].size() > 1)
          return "span " + operation.substr(0, 16) + " has two effects in the journal (T2)";
      }
    }
    for (const auto& [span, effect] : rules.effects())
      if (!effect.undone && !written.contains(span) && !bodiesMayBeGone())
        return "the effect of span " + span.substr(0, 16) + " is in the ledger and not in the journal (T2)";
    return {};
  }

  // The runtime asks agents for nothing that no span waits for.
  std::string activations(Seat& at, const std::string& id, const GraphRules& rules) {
    replication::Space* space = at.replica().data().database(replication::DatabaseName::agents).find("main");
    const bool runs = at.replica().graphs() != nullptr && at.replica().owns(*at.replica().host(id));
    if (space == nullptr || !runs || stepsMayBeGone()) return {};
    for (const std::string& key : space->keys(replication::Kind::activation)) {
      auto versions = space->versions(replication::Kind::activation, key);
      if (!versions.ok()) return versions.error().message;
      for (const replication::Version& version : *versions) {
        if (version.tombstone) continue;
        const auto body = replication::decodeRecord<replication::ActivationBody>(version.body);
        if (!body.ok() || body->graph != kSimGraph) continue;
        if (!rules.isOpen(body->span))
          return concat(body->agentId, " is to work for span ", body->span.substr(0, 16), ", which is over");
      }
    }
    return {};
  }

  void count(const GraphRules& rules) {
    if (rules.runs() > 0) c_.probe("graph: run");
    if (rules.versions() > 1) c_.probe("graph: new version");
    for (const auto& [span, effect] : rules.effects())
      c_.probe(effect.undone ? "graph: effect undone" : "graph: effect");
    for (const auto& [reason, times] : rules.deaths()) c_.probe("graph: " + reason);
  }
};

}  // namespace

std::unique_ptr<Checker> makeGraphChecker(Cluster& cluster) { return std::make_unique<GraphChecker>(cluster); }

}  // namespace witan::sim
