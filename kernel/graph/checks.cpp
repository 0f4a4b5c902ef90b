#include "kernel/graph/checks.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "base/sha256.h"
#include "kernel/graph/cycles.h"
#include "kernel/graph/line.h"
#include "kernel/graph/static_bound.h"

namespace witan::graph {

Result<Environment> parseEnvironment(std::string_view text) {
  WITAN_TRY(value, parseJson(text, {.bytes = 16 << 20, .depth = 64}));
  Environment environment;
  WITAN_DO(readJson(value, environment, "environment"));
  return environment;
}

bool coversTool(std::string_view pattern, std::string_view tool) {
  if (pattern == "*" || pattern == tool) return true;
  return pattern.ends_with(".*") && tool.starts_with(pattern.substr(0, pattern.size() - 1));
}

namespace {

using Names = std::vector<std::string>;

bool holds(const Names& list, std::string_view name) { return std::find(list.begin(), list.end(), name) != list.end(); }
bool within(const Names& inner, const Names& outer) {
  return std::all_of(inner.begin(), inner.end(), [&](const std::string& name) { return holds(outer, name); });
}

// One graph, and those that enclose it.
class Check {
 public:
  Check(const Environment& environment, Answers answers, Names above, int& budget)
      : environment_(environment), answers_(answers), above_(std::move(above)), budget_(budget) {}

  Checked run(const json::value& from) {
    auto [document, findings] = readDocument(from);
    Checked checked{.errors = std::move(findings), .document = document};
    if (!document) return checked;
    document_ = document.get();
    checkNames();
    if (findings_.empty()) {
      checkEdges();
      checkCycles();
      for (const Node& node : document->nodes) checkNode(node);
      checkWhole();
      checked.bound = checkBound();
    }
    for (Finding& finding : findings_)
      (finding.id.starts_with("GL") ? checked.errors : checked.warnings).push_back(std::move(finding));
    return checked;
  }

 private:
  void bad(const char* id, std::string place, std::string message) {
    findings_.push_back({id, std::move(place), std::move(message)});
  }

  void checkNames() {
    std::unordered_set<std::string_view> types, nodes, edges;
    for (const MessageType& type : document_->types)
      if (!types.insert(type.name).second) bad("GL02", "type", "two types are named " + type.name);
    for (const Node& node : document_->nodes)
      if (!nodes.insert(node.id).second) bad("GL02", "node", "two nodes have the id " + node.id);
    for (const Edge& edge : document_->edges)
      if (!edges.insert(edge.name).second) bad("GL02", "edge", "two edges are " + edge.name);
    const auto needType = [&](const std::string& place, std::string_view name) {
      if (!types.contains(name)) bad("GL03", place, "unknown type " + std::string(name));
    };
    for (const Node& node : document_->nodes) {
      for (const std::string& name : node.in) needType(node.id, name);
      for (const std::string& name : node.out) needType(node.id, name);
      if (node.kind == NodeKind::function && node.name == "switch")
        for (const auto& one : node.args.at("cases").as_object()) needType(node.id, one.value().as_string());
    }
    for (const Edge& edge : document_->edges) {
      for (const std::string& end : {edge.from, edge.to})
        if (!nodes.contains(end)) bad("GL03", edge.name, "unknown node " + end);
      needType(edge.name, edge.type);
      if (edge.as != edge.type) needType(edge.name, edge.as);
    }
  }

  void checkEdges() {
    // A schema can be as large as the document, and each edge can name it.
    std::map<std::pair<const Schema*, const Schema*>, bool> judged;
    const auto fits = [&](const Schema& from, const Schema& to) {
      const auto [at, isNew] = judged.try_emplace({&from, &to}, &from == &to);
      if (isNew && &from != &to) at->second = assignable(from, to);
      return at->second;
    };
    for (const Edge& edge : document_->edges) {
      const Node& from = *document_->node(edge.from);
      const Node& to = *document_->node(edge.to);
      const Schema& type = document_->type(edge.type)->schema;
      if (!holds(from.out, edge.type) && from.kind != NodeKind::egress)
        bad("GL04", edge.name, from.id + " does not emit " + edge.type);
      if (!holds(to.in, edge.as) && to.kind != NodeKind::ingress)
        bad("GL05", edge.name, to.id + " does not take " + edge.as);
      if (!fits(type, document_->type(edge.as)->schema))
        bad("GL06", edge.name, "some value of " + edge.type + " is no value of " + edge.as);
      for (const auto& [what, path] : {std::pair("key", edge.key), std::pair("dedup", edge.dedup)})
        if (!path.empty() && !isKeyField(type, path))
          bad("GL18", edge.name, std::string(what) + " names no required text or integer");
      if (edge.guard) checkGuard(edge, type);
      checkCapacity(edge, from);
    }
  }

  void checkGuard(const Edge& edge, const Schema& type) {
    if (edge.bound()) return;
    const auto measure = edge.measure();
    if (!measure) return bad("GL08", edge.name, "a guard has either a bound from 1 to 1000000 or a measure");
    const auto field = fieldOf(type, *measure);
    if (!field || !field->required || field->schema->kind != Schema::Kind::integer || field->schema->minimum < 0)
      bad("GL08", edge.name, "a measure is a required integer with a minimum of at least 0");
  }

  void checkCapacity(const Edge& edge, const Node& from) {
    if (from.maxOut > kMaxOut) bad("GL16", edge.name, concat("the maxOut of ", from.id, " exceeds ", kMaxOut));
    if (!edge.guard) {
      if (from.maxOut > edge.capacity())
        bad("GL16", edge.name, from.id + " can never start: its maxOut exceeds the capacity");
      return;
    }
    if (!edge.capacityGiven) return;
    const json::value* bound = edge.guard->if_contains("bound");
    const auto number = bound != nullptr ? integerOf(*bound) : std::nullopt;
    if (!number || *edge.capacityGiven < *number)
      bad("GL16", edge.name, "a guarded edge with a capacity holds its whole bound");
  }

  Successors successors(bool withGuarded) const {
    Successors all(document_->nodes.size());
    for (const Edge& edge : document_->edges)
      if (withGuarded || !edge.guard) all[document_->positionOf(edge.from)].push_back(document_->positionOf(edge.to));
    return all;
  }

  void checkCycles() {
    for (const auto& component : cyclicComponents(successors(false))) {
      std::string place;
      for (const std::size_t at : component) place += (place.empty() ? "" : ",") + document_->nodes[at].id;
      bad("GL07", place, "a cycle without a guarded edge");
    }
    std::vector<std::size_t> componentOf(document_->nodes.size());  // 0: on no cycle
    std::size_t number = 0;
    for (const auto& component : cyclicComponents(successors(true))) {
      ++number;
      for (const std::size_t at : component) componentOf[at] = number;
    }
    for (const Edge& edge : document_->edges) {
      if (!edge.guard) continue;
      const std::size_t from = componentOf[document_->positionOf(edge.from)];
      if (from == 0 || from != componentOf[document_->positionOf(edge.to)]) {
        bad("GW01", edge.name, "the edge is on no cycle");
      } else if (const auto measure = edge.measure()) {
        const auto field = fieldOf(document_->type(edge.type)->schema, *measure);
        if (field && field->required && field->schema->kind == Schema::Kind::integer && field->schema->minimum >= 0 &&
            field->schema->maximum == std::numeric_limits<std::int64_t>::max())
          bad("GW03", edge.name, "the measure has no maximum: the number of rounds is known only when a run begins");
      }
    }
  }

  void checkNode(const Node& node) {
    checkBoundary(node);
    checkTools(node);
    checkPorts(node);
    checkLimits(node);
    if (node.kind == NodeKind::agent) checkAgent(node);
    if (node.kind == NodeKind::domain) checkDomain(node);
    if (node.kind == NodeKind::counselor) checkCounselor(node);
    if (node.kind == NodeKind::subgraph)
      if (std::string why = subgraphProblem(node); !why.empty()) bad("GL19", node.id, std::move(why));
  }

  void checkCounselor(const Node& node) {
    std::string why;
    const auto wrong = [&](bool is, const char* what) {
      if (is) why += concat(why.empty() ? "" : "; ", what);
    };
    wrong(node.who.empty(), "who may answer is missing (who)");
    wrong(!node.timeoutGivenMs, "how long it asks is missing (timeoutMs)");
    wrong(node.in != node.out, "it passes on what it is asked about: out has the types of in");
    wrong(node.timeApproves, "time never approves (onTimeout)");
    if (!why.empty()) bad("GL21", node.id, std::move(why));
  }

  static bool crosses(const Node& node) {
    return node.kind == NodeKind::ingress || node.kind == NodeKind::egress || node.kind == NodeKind::market;
  }

  // Nothing of it is on this device, and it may be on another one.
  bool isElsewhere(const Node& node) const {
    const bool away = node.kind == NodeKind::agent || node.kind == NodeKind::subgraph || node.kind == NodeKind::market;
    return answers_ == Answers::nothing || (away && answers_ == Answers::own);
  }

  void checkBoundary(const Node& node) {
    const std::string kind = toString(node.kind);
    if (crosses(node)) {
      const auto known =
          node.monitor ? environment_.boundaries.find(node.monitor->boundary) : environment_.boundaries.end();
      const bool isKnown = known != environment_.boundaries.end() ? holds(known->second, node.monitor->operation)
                                                                  : node.monitor && answers_ == Answers::nothing;
      if (!isKnown)
        bad("GL09", node.id,
            node.monitor ? concat("the policy knows no operation ", node.monitor->operation, " of a boundary ",
                                  node.monitor->boundary)
                         : "it has no monitor: each " + kind + " names a boundary and an operation of the policy");
      else if (!holds(document_->boundaries, node.monitor->boundary))
        bad("GL10", node.id, "the graph does not list the boundary " + node.monitor->boundary);
    } else if (node.monitor) {
      bad("GL10", node.id, "monitor at a node of kind " + kind);
    }
    if (node.trigger && node.kind != NodeKind::ingress) bad("GL10", node.id, "trigger at a node of kind " + kind);
    if (node.sink && node.kind != NodeKind::egress) bad("GL10", node.id, "sink at a node of kind " + kind);
    if (node.kind == NodeKind::ingress && !document_->into(node.id).empty())
      bad("GL10", node.id, "an edge leads into an ingress");
    if (node.kind == NodeKind::egress && !document_->outOf(node.id).empty())
      bad("GL10", node.id, "an edge leads out of an egress");
  }

  Names neededTools(const Node& node) const {
    if (node.kind == NodeKind::agent) {
      const auto agent = environment_.agents.find(node.name);
      return agent == environment_.agents.end() ? Names() : agent->second.tools;
    }
    if (node.kind == NodeKind::domain) return {"propose"};
    if (node.kind == NodeKind::market) return {"market.invoke"};
    Names tools;
    if (node.kind == NodeKind::egress)
      for (std::string tool : {node.tool(), node.undo()})
        if (!tool.empty()) tools.push_back(std::move(tool));
    return tools;
  }

  void checkTools(const Node& node) {
    const Names& locales = node.locales ? *node.locales : document_->locales;
    if (!within(locales, document_->locales)) bad("GL13", node.id, "its locales exceed those of the graph");
    if (node.kind == NodeKind::agent && isElsewhere(node) && !environment_.agents.contains(node.name)) return;
    const Names tools = neededTools(node);
    for (const std::string& name : tools) {
      const auto tool = environment_.tools.find(name);
      const bool known = tool != environment_.tools.end();
      if (!known && !isElsewhere(node)) {
        bad("GL23", node.id, "unknown tool " + name);
        continue;
      }
      if (std::none_of(node.capabilities.begin(), node.capabilities.end(),
                       [&](const auto& one) { return one.uses > 0 && coversTool(one.resource, name); }))
        bad("GL11", node.id, "no capability covers " + name);
      if (!known) continue;
      if (!holds(document_->boundaries, tool->second.boundary))
        bad("GL10", node.id, name + " crosses " + tool->second.boundary + ", which the graph does not list");
      if (!within(tool->second.locales, locales)) bad("GL13", node.id, name + " exceeds the locales of the node");
    }
    for (const NodeCapability& one : node.capabilities)
      if (std::none_of(tools.begin(), tools.end(), [&](const auto& tool) { return coversTool(one.resource, tool); }))
        bad("GL12", node.id, "no tool needs " + one.resource);
  }

  void checkPorts(const Node& node) {
    std::set<std::string_view> emitted, taken;
    for (const std::size_t at : document_->outOf(node.id)) emitted.insert(document_->edges[at].type);
    for (const std::size_t at : document_->into(node.id)) taken.insert(document_->edges[at].as);
    for (const std::string& type : node.out)
      if (!emitted.contains(type) && node.kind != NodeKind::egress) bad("GL15", node.id, "no edge takes " + type);
    for (const std::string& type : node.in)
      if (!taken.contains(type) && node.kind != NodeKind::ingress) bad("GL15", node.id, "no edge brings " + type);
    if (!node.key.empty() && !isKeyField(document_->type(node.out[0])->schema, node.key))
      bad("GL18", node.id, "key names no required text or integer");
  }

  void checkLimits(const Node& node) {
    if (document_->budget)
      for (const auto& [member, amount] : node.budget) {
        const auto whole = document_->budget->find(member);
        if (amount > (whole == document_->budget->end() ? 0 : whole->second)) {
          bad("GL17", node.id, "its " + member + " exceed the budget of the graph");
          break;
        }
      }
    // In floating point the sum cannot overflow; a difference below 2^53 ms is exact.
    double span = double(node.retry.maxAttempts) * double(node.timeoutMs());
    for (std::int64_t n = 1; n < node.retry.maxAttempts; ++n) span += double(node.backoffMs(n));
    if (span > double(document_->horizonMs)) bad("GL22", node.id, "its last attempt can end after the retry horizon");
  }

  void checkAgent(const Node& node) {
    const auto agent = environment_.agents.find(node.name);
    if (agent == environment_.agents.end() && isElsewhere(node)) return;
    if (agent == environment_.agents.end() || agent->second.version != node.version)
      bad("GL23", node.id, "agent " + node.name + " is not registered in version " + node.version);
    else if (!agent->second.validated)
      bad("GL23", node.id, "agent " + node.name + " has no validation artefact");
  }

  void checkDomain(const Node& node) {
    const auto domain = environment_.domains.find(node.name);
    const bool known =
        domain == environment_.domains.end() ? isElsewhere(node) : holds(domain->second.roles, node.role);
    // The ledger of graphs is for graphs' own runtimes, operators and persons.
    if (!known || node.name == "graph" || node.in.size() != 1 || node.out.size() != 1)
      bad("GL20", node.id, "an unknown domain or role, or not one type in and one out");
  }

  std::string subgraphProblem(const Node& node) {
    const auto found = environment_.graphs.find(node.name + "@" + std::to_string(node.graphVersion));
    const bool known = found != environment_.graphs.end();
    if (known ? toHex(sha256(canonicalJson(found->second))) != node.digest : !isElsewhere(node))
      return "an unknown graph, or another digest";
    if (above_.size() >= kMaxSubgraphDepth || node.name == document_->id || holds(above_, node.name))
      return "a graph contains itself, or graphs are nested more than 8 deep";
    if (!known) return {};
    if (--budget_ < 0)
      return "the check would visit more than " + std::to_string(kMaxSubgraphChecks) + " nested graphs";
    Names above = above_;
    above.push_back(document_->id);
    const Checked inner = Check(environment_, answers_, std::move(above), budget_).run(found->second);
    if (!inner.errors.empty()) return "it has errors: " + inner.errors[0].id + " at " + inner.errors[0].place;
    return portProblem(node, *inner.document);
  }

  std::string portProblem(const Node& node, const Document& inner) const {
    Names in, out;
    for (const Node& each : inner.nodes) {
      if (each.kind == NodeKind::ingress) in.insert(in.end(), each.out.begin(), each.out.end());
      if (each.kind == NodeKind::egress) out.insert(out.end(), each.in.begin(), each.in.end());
    }
    const auto differ = [](Names a, Names b) {
      std::sort(a.begin(), a.end());
      std::sort(b.begin(), b.end());
      return a != b;
    };
    if (differ(in, node.in) || differ(out, node.out)) return "its ports have other types";
    in.insert(in.end(), out.begin(), out.end());
    for (const std::string& type : in)
      if (inner.type(type)->source != document_->type(type)->source) return "the schemas of " + type + " differ";
    if (!within(inner.boundaries, document_->boundaries)) return "it crosses boundaries that the graph does not list";
    if (!within(inner.locales, node.locales ? *node.locales : document_->locales))
      return "its locales exceed those of the node";
    return {};
  }

  void checkWhole() {
    std::set<std::string_view> reached;
    std::vector<std::string_view> open;
    bool comesOut = false;
    for (const Node& node : document_->nodes) {
      if (node.kind == NodeKind::ingress) open.push_back(node.id);
      comesOut =
          comesOut || node.kind == NodeKind::egress || node.kind == NodeKind::domain || node.kind == NodeKind::market;
    }
    while (!open.empty()) {
      const std::string_view id = open.back();
      open.pop_back();
      if (!reached.insert(id).second) continue;
      for (const std::size_t at : document_->outOf(id)) open.push_back(document_->edges[at].to);
    }
    for (const Node& node : document_->nodes)
      if (!reached.contains(node.id)) bad("GL14", node.id, "no ingress leads to it");
    if (document_->timeoutMs > document_->horizonMs) bad("GL22", "graph", "a run can outlive the retry horizon");
    if (!comesOut) bad("GW04", "graph", "it has neither an egress nor a domain nor a market node");
    if (above_.empty()) checkChain();
  }

  // Whether what the one does can begin a run of the other, as far as the documents tell.
  static bool mayBegin(const Document& from, const Document& to) {
    for (const Node& of : to.nodes)
      for (const Node& node : from.nodes) {
        if (!of.trigger) break;
        const bool puts = node.kind == NodeKind::egress && node.tool() == "journal.put";
        if (of.trigger->source == TriggerSource::journal && puts && holds(node.in, of.trigger->match)) return true;
        if (of.trigger->source == TriggerSource::ledger && !of.trigger->field.empty() &&
            node.kind == NodeKind::domain && node.name == of.trigger->match)
          return true;
      }
    return false;
  }

  // What a graph does begins no run of itself, but may by way of others.
  void checkChain() {
    const auto isTriggered = [](const Node& node) { return node.trigger && !node.trigger->match.empty(); };
    if (std::none_of(document_->nodes.begin(), document_->nodes.end(), isTriggered)) return;
    std::vector<std::shared_ptr<const Document>> others;
    for (const auto& [name, source] : environment_.graphs)
      if (auto other = readDocument(source).document; other && other->id != document_->id)
        others.push_back(std::move(other));
    std::vector<std::pair<const Document*, std::string>> reached{{document_, ""}};
    for (std::size_t at = 0; at < reached.size(); ++at) {
      const auto [from, way] = reached[at];
      if (at > 0 && mayBegin(*from, *document_))
        return bad("GW05", "graph",
                   concat("its runs can begin others of themselves by way of ", way, ": after ", kMostHops,
                          " runs such a chain ends"));
      for (auto& other : others)
        if (std::none_of(reached.begin(), reached.end(), [&](const auto& one) { return one.first == other.get(); }) &&
            mayBegin(*from, *other))
          reached.emplace_back(other.get(), concat(way, way.empty() ? "" : ", ", other->id));
    }
  }

  std::optional<std::int64_t> checkBound() {
    if (std::any_of(findings_.begin(), findings_.end(),
                    [](const Finding& one) { return one.id == "GL07" || one.id == "GL08"; }))
      return std::nullopt;
    const auto bound = staticBound(*document_);
    if (bound && *bound > document_->maxDeliveries)
      bad("GW02", "graph",
          "a run can need " + std::to_string(*bound) + " deliveries; maxDeliveries is " +
              std::to_string(document_->maxDeliveries));
    return bound;
  }

  const Environment& environment_;
  const Answers answers_;
  const Names above_;
  int& budget_;
  const Document* document_ = nullptr;
  std::vector<Finding> findings_;
};

}  // namespace

Checked checkGraph(const json::value& document, const Environment& environment, Answers answers) {
  int budget = kMaxSubgraphChecks;
  return Check(environment, answers, {}, budget).run(document);
}

}  // namespace witan::graph
