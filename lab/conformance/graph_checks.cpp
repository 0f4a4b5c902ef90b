#include "lab/conformance/graph_checks.h"

#include <algorithm>
#include <functional>
#include <set>

#include "kernel/graph/checks.h"
#include "kernel/graph/cycles.h"
#include "kernel/graph/script.h"
#include "kernel/graph/static_bound.h"
#include "lab/conformance/graph_toy.h"
#include "lab/conformance/running_host.h"

namespace witan::agents::conformance {

using namespace graph;

namespace {

constexpr std::uint64_t kLives = 100;

Finding failed(std::string detail) { return {false, std::move(detail)}; }
std::string words(std::uint64_t n, const char* what) { return std::to_string(n) + " " + what; }

using Law = std::function<Status(const Document&, const GraphLedger&)>;

// The law over many lives.
Finding holds(const Law& law) {
  std::uint64_t lines = 0;
  for (std::uint64_t seed = 0; seed < kLives; ++seed) {
    const GraphLived lived = liveGraph(seed);
    if (lived.stuck) return failed("life " + std::to_string(seed) + " stands still");
    if (const Status status = law(*lived.document, lived.ledger); !status.ok())
      return failed("life " + std::to_string(seed) + ": " + status.error().message);
    lines += lived.ledger.size();
  }
  return {true, words(kLives, "lives, ") + words(lines, "lines")};
}

// Breaks the ledger of the first life in which there is something to break, and asks the law.
Finding foundOut(const Law& law, const std::function<bool(GraphLedger&)>& breakIt) {
  for (std::uint64_t seed = 0; seed < kLives; ++seed) {
    GraphLived lived = liveGraph(seed);
    if (!breakIt(lived.ledger)) continue;
    const Status status = law(*lived.document, lived.ledger);
    return status.ok() ? failed("nothing was noticed") : Finding{true, status.error().message};
  }
  return failed("there was nothing to break");
}

Finding all(std::initializer_list<Finding> findings) {
  std::string details;
  for (const Finding& one : findings) {
    if (!one.pass) return one;
    details += (details.empty() ? "" : "; ") + one.detail;
  }
  return {true, details};
}

template <class Fact>
bool removeFirst(GraphLedger& ledger, const std::function<bool(const Fact&)>& fits = {}) {
  const auto found = std::find_if(ledger.begin(), ledger.end(), [&](const Line& line) {
    const auto* fact = std::get_if<Fact>(&line.fact);
    return fact != nullptr && (!fits || fits(*fact));
  });
  if (found == ledger.end()) return false;
  ledger.erase(found);
  return true;
}

// Three nodes in a full cycle. The edge that leads back is guarded, or makes its source wait.
json::value fullCycle(bool guarded) {
  json::value from = parseJson(R"({"graph":{"id":"full","version":1,"format":1,"timeoutMs":1000,"maxDeliveries":60},
    "monitor":{"boundaries":["intake"]},
    "type":[{"name":"T","schema":{"type":"object","required":["k"],"properties":{"k":{"type":"string","maxLength":9}}}}],
    "node":[{"id":"in","kind":"ingress","out":["T"],"monitor":{"boundary":"intake","operation":"admit"}},
      {"id":"a","kind":"agent","agent":"toy","version":"1","in":["T"],"out":["T"],"maxOut":2},
      {"id":"b","kind":"agent","agent":"toy","version":"1","in":["T"],"out":["T"],"maxOut":2}],
    "edge":[{"from":"in","to":"a","type":"T","capacity":2},{"from":"a","to":"b","type":"T","capacity":2,"key":"k"},
      {"from":"b","to":"a","type":"T","key":"k"}]})")
                         .value();
  json::object& back = from.as_object().at("edge").at(2).as_object();
  if (guarded)
    back["guard"] = json::object{{"bound", 4}};
  else
    back["capacity"] = 2;
  return from;
}

Result<json::object> playFullCycle(bool guarded) {
  json::object scripted{{"graph", fullCycle(guarded)}};
  scripted["monitor"] = parseJson(R"([{"boundary":"intake","operation":"admit","verdict":"allow"}])").value();
  scripted["script"] = parseJson(R"([{"node":"a","emit":[{"type":"T","body":{"k":"x"}},{"type":"T","body":{"k":"x"}}]},
    {"node":"b","emit":[{"type":"T","body":{"k":"x"}},{"type":"T","body":{"k":"x"}}]}])")
                           .value();
  scripted["events"] = parseJson(R"([{"atMs":0,"ingress":"in","id":"m","body":{"k":"x"}}])").value();
  WITAN_TRY(read, readCase(scripted));
  return runScript(read);
}

std::string statusOf(const json::object& result) {
  return std::string(result.at("runs").at(0).at("status").as_string());
}

// The rule of the seed: each component with a cycle has a guarded edge.
bool literalRuleAccepts(const Document& document) {
  Successors successors(document.nodes.size());
  const auto at = [&](const std::string& id) { return document.positionOf(id); };
  for (const Edge& edge : document.edges) successors[at(edge.from)].push_back(at(edge.to));
  for (const auto& component : cyclicComponents(successors)) {
    const std::set<std::size_t> within(component.begin(), component.end());
    if (std::none_of(document.edges.begin(), document.edges.end(), [&](const Edge& edge) {
          return edge.guard && within.contains(at(edge.from)) && within.contains(at(edge.to));
        }))
      return false;
  }
  return true;
}

// Two cycles in one component, one of them without a guard.
Finding literalRuleDiverges() {
  json::value from = fullCycle(true);
  from.as_object().at("edge").as_array().push_back({{"from", "a"}, {"to", "a"}, {"type", "T"}});
  const Checked checked = checkGraph(from, {});
  if (!checked.document || !literalRuleAccepts(*checked.document)) return failed("the literal rule refuses it too");
  if (std::none_of(checked.errors.begin(), checked.errors.end(),
                   [](const graph::Finding& one) { return one.id == "GL07"; }))
    return failed("GL07 does not see the cycle");
  json::object scripted{{"graph", from}};
  scripted["monitor"] = parseJson(R"([{"boundary":"intake","operation":"admit","verdict":"allow"}])").value();
  scripted["script"] = parseJson(R"([{"node":"a","emit":[{"type":"T","body":{"k":"x"}}]}])").value();
  scripted["events"] = parseJson(R"([{"atMs":0,"ingress":"in","id":"m","body":{"k":"x"}}])").value();
  const auto read = readCase(scripted);
  const auto result = read.ok() ? runScript(*read) : Result<json::object>(read.error());
  if (!result.ok()) return failed(result.error().message);
  const std::int64_t deliveries = result->at("runs").at(0).at("deliveries").as_int64();
  if (deliveries < checked.document->maxDeliveries && statusOf(*result) != "timed_out")
    return failed("it ended by itself");
  return {true, "one guard for each component accepts a run that only a limit ends, after " +
                    words(deliveries, "deliveries")};
}

}  // namespace

// ---- G-01, theorem 1

Finding cyclesAreBounded() {
  std::uint64_t most = 0;
  for (std::uint64_t seed = 0; seed < kLives; ++seed) {
    const GraphLived lived = liveGraph(seed);
    const auto bound = staticBound(*lived.document);
    for (const RunView& run : lived.runs) {
      if (!bound || run.deliveries > *bound)
        return failed("life " + std::to_string(seed) + ": more deliveries than the static bound");
      most = std::max(most, std::uint64_t(run.deliveries));
    }
  }
  Finding held = holds(guardsAreKept);
  held.detail += ", at most " + words(most, "deliveries a run");
  return held;
}

Finding unboundedCycleShows() {
  const auto beyond = [](GraphLedger& ledger) {
    for (std::size_t i = 0; i < ledger.size(); ++i)
      if (const auto* sent = std::get_if<Sent>(&ledger[i].fact); sent != nullptr && sent->counts) {
        for (int n = 0; n < 3; ++n) ledger.insert(ledger.begin() + std::ptrdiff_t(i), Line(ledger[i]));
        return true;
      }
    return false;
  };
  return all({foundOut(guardsAreKept, beyond),
              foundOut(guardsAreKept, [](GraphLedger& l) { return removeFirst<Ended>(l); }), literalRuleDiverges()});
}

// ---- G-01b, no deadlock under back-pressure

Finding fullCyclesMove() {
  const auto result = playFullCycle(true);
  if (!result.ok()) return failed(result.error().message);
  if (statusOf(*result) == "timed_out") return failed("the full cycle stands still");
  return {true, "a full cycle ends as " + statusOf(*result)};
}

Finding waitingCycleShows() {
  const auto result = playFullCycle(false);
  if (!result.ok()) return failed(result.error().message);
  if (statusOf(*result) != "timed_out") return failed("the waiting cycle was not noticed");
  return {true, "the same cycle, its edge back with back-pressure, stands still until the run's timeout"};
}

// ---- G-02, lanes

Finding lanesKeepOrder() {
  return holds([](const Document&, const GraphLedger& ledger) {
    const Status ordered = lanesAreOrdered(ledger);
    return ordered.ok() ? nothingIsDoubled(ledger) : ordered;
  });
}

Finding brokenLaneShows() {
  const Law order = [](const Document&, const GraphLedger& ledger) { return lanesAreOrdered(ledger); };
  const Law once = [](const Document&, const GraphLedger& ledger) { return nothingIsDoubled(ledger); };
  const auto ofLane = [](const Line& line, const Delivered* first) {
    const auto* one = std::get_if<Delivered>(&line.fact);
    return one != nullptr && one->attempt == 1 &&
           (first == nullptr || (one->node == first->node && one->key == first->key));
  };
  const auto swapped = [&](GraphLedger& ledger) {
    for (auto a = ledger.begin(); a != ledger.end(); ++a) {
      if (!ofLane(*a, nullptr)) continue;
      const auto b = std::find_if(a + 1, ledger.end(),
                                  [&](const Line& line) { return ofLane(line, std::get_if<Delivered>(&a->fact)); });
      if (b == ledger.end()) continue;
      std::iter_swap(a, b);
      return true;
    }
    return false;
  };
  const auto twice = [](GraphLedger& ledger) {
    const auto at = std::find_if(ledger.begin(), ledger.end(),
                                 [](const Line& line) { return std::holds_alternative<Delivered>(line.fact); });
    if (at == ledger.end()) return false;
    ledger.push_back(Line(*at));
    return true;
  };
  const auto unlocked = [](GraphLedger& ledger) {
    return removeFirst<Finished>(ledger, [](const Finished& one) { return one.node == "first"; });
  };
  const auto newestFirst = [&](GraphLedger& ledger) {
    bool moved = false;
    for (auto a = ledger.begin(); a != ledger.end(); ++a)
      for (auto b = a + 1; ofLane(*a, nullptr) && b != ledger.end(); ++b)
        if (ofLane(*b, std::get_if<Delivered>(&a->fact))) std::iter_swap(a, b), moved = true;
    return moved;
  };
  return all(
      {foundOut(order, swapped), foundOut(once, twice), foundOut(order, unlocked), foundOut(order, newestFirst)});
}

// ---- G-03, lemma 1

Finding nothingPassesUnjudged() {
  Finding held = holds(boundariesAreGuarded);
  const GraphLived denied = liveGraph(1, {.hasPolicy = false});
  const bool entered = std::any_of(denied.ledger.begin(), denied.ledger.end(),
                                   [](const Line& line) { return std::holds_alternative<Sent>(line.fact); });
  if (entered || !denied.world.empty()) return failed("without a policy something passes");
  held.detail += "; without a policy nothing passes";
  return held;
}

Finding unjudgedShows() {
  const auto leftOut = [](GraphLedger& ledger) {
    return removeFirst<Judged>(ledger, [](const Judged& one) { return one.node == "out"; });
  };
  const auto notHeeded = [](GraphLedger& ledger) {
    for (Line& line : ledger)
      if (auto* judged = std::get_if<Judged>(&line.fact); judged != nullptr && judged->node == "in") {
        judged->verdict = "deny";
        return true;
      }
    return false;
  };
  const GraphLived allowed = liveGraph(1);
  if (std::none_of(allowed.ledger.begin(), allowed.ledger.end(),
                   [](const Line& line) { return std::holds_alternative<Sent>(line.fact); }))
    return failed("what a monitor allows by default was not seen to pass");
  return all({foundOut(boundariesAreGuarded, leftOut),
              foundOut(boundariesAreGuarded, notHeeded),
              {true, "a monitor that allows by default is seen"}});
}

// ---- T2, theorem 2: before and after each write

namespace {

Status effectsAreMadeOnce(const GraphLived& lived) {
  if (lived.stuck) return invalid("it stands still");
  std::set<std::string> stand;
  for (const Line& line : lived.ledger)
    if (const auto* effect = std::get_if<Effected>(&line.fact)) stand.insert(effect->span);
  for (const auto& [operation, count] : lived.world) {
    if (count > 1) return invalid("an operation changed the world " + std::to_string(count) + " times");
    if (!stand.contains(operation)) return invalid("an effect stands in no entry");
  }
  if (stand.size() != lived.world.size()) return invalid("an entry tells of an effect that was not made");
  return nothingIsDoubled(lived.ledger);
}

}  // namespace

Finding effectsOnceThroughDeaths() {
  std::uint64_t deaths = 0, effects = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const std::uint64_t boundaries = 2 * liveGraph(seed).writes;
    for (std::uint64_t at = 0; at < boundaries; ++at, ++deaths) {
      const GraphLived lived = liveGraph(seed, {.dieAt = at});
      Status status = effectsAreMadeOnce(lived);
      if (status.ok()) status = lanesAreOrdered(lived.ledger);
      if (!status.ok())
        return failed("life " + std::to_string(seed) + ", death at " + std::to_string(at) + ": " +
                      status.error().message);
      effects += lived.world.size();
    }
  }
  if (effects == 0) return failed("the toys changed nothing");
  return {true, words(deaths, "deaths, ") + words(effects, "effects, each once")};
}

Finding doubledEffectShows() {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const std::uint64_t boundaries = 2 * liveGraph(seed).writes;
    for (std::uint64_t at = 0; at < boundaries; ++at)
      if (const Status status = effectsAreMadeOnce(liveGraph(seed, {.dieAt = at, .checksRecords = false}));
          !status.ok())
        return {true, status.error().message};
  }
  return failed("a host that ignores operation records was not noticed");
}

// ---- L4, L5: what the checks see

namespace {

// An agent with a tool that reaches the locale eu, in a graph that may.
json::object narrowGraph() {
  return parseJson(R"({"graph":{"id":"narrow","version":1,"format":1,"locales":["eu"]},
    "monitor":{"boundaries":["intake","journal","model"]},
    "type":[{"name":"T","schema":{"type":"object"}}],
    "node":[{"id":"in","kind":"ingress","out":["T"],"monitor":{"boundary":"intake","operation":"admit"}},
      {"id":"a","kind":"agent","agent":"toy","version":"1","in":["T"],"out":["T"],"capabilities":[{"resource":"ask"}]},
      {"id":"out","kind":"egress","in":["T"],"monitor":{"boundary":"journal","operation":"put"}}],
    "edge":[{"from":"in","to":"a","type":"T"},{"from":"a","to":"out","type":"T"}]})")
      .value()
      .as_object();
}

// Asks both tools, one after the other, and holds one of them.
class Asker final : public Agent {
 public:
  explicit Asker(std::string holds) {
    spec_.id = "asker", spec_.version = "1", spec_.what = "asks", spec_.category = "toy", spec_.inGraphs = true;
    spec_.capabilities = {{std::move(holds)}};
    spec_.locale = {"us", "eu"};
  }
  const AgentSpec& spec() const override { return spec_; }
  Turn step(const json::value&, const Input& input) const override {
    if (input.kind != InputKind::wake) return {nullptr, {}, Finish{}};
    return {
        nullptr, {}, Looks{{"look.us", json::object{{"about", "x"}}, 0}, {"look.eu", json::object{{"about", "x"}}, 0}}};
  }

 private:
  AgentSpec spec_;
};

// How many calls leave the device of an agent that holds `holds`, at a node that grants `tool` in `locale`.
Result<std::size_t> callsThatLeave(const std::string& holds, const std::string& tool, const std::string& locale) {
  const Asker agent(holds);
  const OpenGate gate;
  ToyDisk disk;
  RunningHost host("d1", agent, gate, 0, disk);
  WITAN_DO(host.open());
  WITAN_DO(host.activate(std::string(64, 'a'), {{{tool, 9, {}, {}}}, {locale}, {20, 1'000, 60}}));
  WITAN_DO(host.settle());
  return static_cast<std::size_t>(std::count_if(disk.history.begin(), disk.history.end(),
                                                [](const Step& s) { return s.kind == StepKind::looked; }));
}

std::set<std::string> errorsOf(const json::object& document) {
  Environment environment;
  environment.agents["toy"] = {"1", {"ask"}, "toy", true};
  environment.tools["ask"] = {"model", {"eu"}};
  environment.boundaries = {{"intake", {"admit"}}, {"journal", {"put"}}};
  std::set<std::string> ids;
  for (const graph::Finding& one : checkGraph(document, environment).errors) ids.insert(one.id);
  return ids;
}

}  // namespace

Finding graphsOnlyNarrow() {
  if (!errorsOf(narrowGraph()).empty()) return failed("a graph within its limits is refused");
  const std::pair<const char*, std::pair<const char*, const char*>> narrow[] = {
      {"look.us", {"look.eu", "eu"}},  // what the agent does not hold
      {"look.*", {"act.put", "eu"}},   // what the node does not grant
      {"look.us", {"look.us", "eu"}},  // where the node may not be
  };
  for (const auto& [holds, granted] : narrow) {
    const auto calls = callsThatLeave(holds, granted.first, granted.second);
    if (!calls.ok()) return failed(calls.error().message);
    if (*calls > 0) return failed(std::string("an agent that holds ") + holds + " calls beyond its node's grant");
  }
  return {true,
          "a tool within the locales of its node, a node within its graph, a capability for each tool; no call beyond"};
}

Finding widerGraphShows() {
  const auto with = [](const char* member, const json::value& value) {
    json::object document = narrowGraph();
    document["node"].at(1).as_object()[member] = value;
    return errorsOf(document);
  };
  json::object narrower = narrowGraph();
  narrower["graph"].as_object()["locales"] = json::array();
  if (!errorsOf(narrower).contains("GL13")) return failed("a tool reaches further than the graph, unnoticed");
  if (!with("locales", json::array{"eu", "us"}).contains("GL13"))
    return failed("a node reaches further than the graph, unnoticed");
  if (!with("capabilities", json::array()).contains("GL11"))
    return failed("a tool without a capability was not noticed");
  if (!with("capabilities", parseJson(R"([{"resource":"ask"},{"resource":"pay"}])").value()).contains("GL12"))
    return failed("a capability beyond the need was not noticed");
  // What a fork that widens would let through is seen.
  const auto calls = callsThatLeave("look.*", "look.us", "us");
  if (!calls.ok()) return failed(calls.error().message);
  if (*calls != 1) return failed("a call that the grant covers was not seen");
  return {true, "GL11, GL12 and GL13 fire; a call that a grant covers is seen"};
}

}  // namespace witan::agents::conformance
