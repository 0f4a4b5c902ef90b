// Graphs in memory: the time of a check, from its JSON text, and deliveries a second of one core. A delivery is all of
// it: monitor, identities, guards, schemas, entries; without digests of bodies and without a disk.
#include "bench/bench_tools.h"
#include "kernel/graph/checks.h"
#include "kernel/graph/runtime.h"

namespace {

using namespace witan;
using namespace witan::bench;
using namespace witan::graph;

Environment environmentOf() {
  Environment environment;
  environment.boundaries = {{"intake", {"admit"}}, {"journal", {"put"}}};
  environment.agents["worker"] = {"1", {}, "none", true};
  return environment;
}

json::object crossing(const char* boundary, const char* operation) {
  return {{"boundary", boundary}, {"operation", operation}};
}

// A chain of `nodes`, and guarded edges back, shorter ones first.
json::object denseGraph(int nodes, int edges) {
  json::object graph = parseJson(R"({"graph":{"id":"dense","version":1,"format":1},"node":[],"edge":[],
    "monitor":{"boundaries":["intake","journal"]},"type":[{"name":"T","schema":{"type":"object","required":["k","n"],
    "properties":{"k":{"type":"string","maxLength":100},"n":{"type":"integer","minimum":0,"maximum":1000}}}}]})")
                           .value()
                           .as_object();
  json::array& list = graph["node"].as_array();
  const auto name = [](int i) { return "node-" + std::to_string(i); };
  list.push_back({{"id", "in"}, {"kind", "ingress"}, {"out", {"T"}}, {"monitor", crossing("intake", "admit")}});
  for (int i = 0; i < nodes - 2; ++i)
    list.push_back({{"id", name(i)}, {"kind", "function"}, {"function", "identity"}, {"in", {"T"}}, {"out", {"T"}}});
  list.push_back({{"id", "out"}, {"kind", "egress"}, {"in", {"T"}}, {"monitor", crossing("journal", "put")}});
  json::array& links = graph["edge"].as_array();
  const auto add = [&](const std::string& from, const std::string& to, bool back) {
    json::object edge{{"from", from}, {"to", to}, {"type", "T"}, {"key", "k"}};
    if (back) edge["guard"] = json::object{{"bound", 1}};
    links.push_back(std::move(edge));
  };
  add("in", name(0), false);
  add(name(nodes - 3), "out", false);
  for (int i = 0; i + 3 < nodes; ++i) add(name(i), name(i + 1), false);
  for (int step = 1; int(links.size()) < edges; ++step)
    for (int i = nodes - 3; i >= step && int(links.size()) < edges; --i) add(name(i), name(i - step), true);
  return graph;
}

double lintMs(const std::string& text, const Environment& environment) {
  const ThreadStopwatch watch;
  const Checked checked = checkGraph(parseJson(text).value(), environment);
  if (!checked.errors.empty()) fail(checked.errors[0].id + ": " + checked.errors[0].message);
  return watch.seconds() * 1000;
}

// in -> writer -> critic -> writer (n falls) ..., critic -> out when n is 0.
std::shared_ptr<const Document> loopGraph(const Environment& environment) {
  const json::value from = parseJson(R"({"graph":{"id":"loop","version":1,"format":1,"horizonMs":3600000},
    "monitor":{"boundaries":["intake","journal"]},
    "type":[{"name":"T","schema":{"type":"object","required":["k","n"],"properties":{"k":{"type":"string","maxLength":100},
      "n":{"type":"integer","minimum":0,"maximum":1000}}}},
     {"name":"U","schema":{"type":"object","required":["k","n"],"properties":{"k":{"type":"string","maxLength":100},
      "n":{"type":"integer","minimum":0,"maximum":1000}}}}],
    "node":[{"id":"in","kind":"ingress","out":["T"],"key":"k","monitor":{"boundary":"intake","operation":"admit"}},
      {"id":"writer","kind":"agent","agent":"worker","version":"1","in":["T"],"out":["T"],"concurrency":64},
      {"id":"critic","kind":"agent","agent":"worker","version":"1","in":["T"],"out":["T","U"],"concurrency":64},
      {"id":"out","kind":"egress","in":["U"],"monitor":{"boundary":"journal","operation":"put"}}],
    "edge":[{"from":"in","to":"writer","type":"T"},{"from":"writer","to":"critic","type":"T","capacity":128},
      {"from":"critic","to":"writer","type":"T","guard":{"measure":"n"}},
      {"from":"critic","to":"out","type":"U","capacity":128}]})")
                               .value();
  const Checked checked = checkGraph(from, environment);
  if (!checked.errors.empty()) fail(checked.errors[0].id + ": " + checked.errors[0].message);
  return checked.document;
}

double deliveriesPerSecond(const std::shared_ptr<const Document>& document, std::uint64_t runs, std::int64_t rounds) {
  Runtime runtime([](const Crossing&, const json::value&) { return Decision{"allow", "", {}}; });
  if (!runtime.deploy(document, 0).ok()) fail("the graph is not deployed");
  std::uint64_t deliveries = 0, ended = 0, begun = 0;
  std::int64_t now = 0;
  const ThreadStopwatch watch;
  while (ended < runs) {
    ++now;
    for (; begun < runs && begun < ended + 64; ++begun) {
      const std::string id = std::to_string(begun);
      runtime.admit("in", id, json::object{{"k", id}, {"n", rounds}}, now);
    }
    runtime.dispatch(now);
    Taken taken = runtime.take();
    for (const Entry& entry : taken.entries)
      for (const Line& line : entry) {
        deliveries += std::holds_alternative<Delivered>(line.fact) ? 1 : 0;
        ended += std::holds_alternative<Ended>(line.fact) ? 1 : 0;
      }
    for (const Work& work : taken.work) {
      json::object body = work.body->as_object();
      std::int64_t& left = body["n"].as_int64();
      const bool done = work.node == "critic" && left == 0;
      if (work.node == "critic" && !done) --left;
      runtime.finish(work.span, work.attempt, {{done ? "U" : "T", std::move(body)}}, now);
    }
  }
  if (deliveries != runs * std::uint64_t(2 + 2 * (rounds + 1))) fail("other deliveries than expected");
  return double(deliveries) / watch.seconds();
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {"--nodes", "--edges", "--runs", "--loops", "--rounds"});
  const Environment environment = environmentOf();
  const int nodes = int(arguments.number("--nodes", 512)), edges = int(arguments.number("--edges", 2048));
  const std::string text = canonicalJson(denseGraph(nodes, edges));
  const auto document = loopGraph(environment);
  std::vector<double> checks, rates;
  const std::uint64_t rounds = arguments.number("--rounds", 9);
  for (std::uint64_t i = 0; i < rounds; ++i) checks.push_back(lintMs(text, environment));
  for (std::uint64_t i = 0; i < rounds; ++i)
    rates.push_back(
        deliveriesPerSecond(document, arguments.number("--runs", 2000), std::int64_t(arguments.number("--loops", 20))));
  std::printf("lint of %d nodes and %d edges (%zu KiB): %.2f ms of processor time (median of %zu rounds)\n", nodes,
              edges, text.size() >> 10, median(checks), checks.size());
  std::printf("64 runs in flight, a loop of two agents: %.0f deliveries/s of processor time (median of %zu rounds)\n",
              median(rates), rates.size());
}
