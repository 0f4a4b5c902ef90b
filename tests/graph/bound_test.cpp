// Theorem 1 over generated graphs: a run of an accepted graph ends within its bound.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "kernel/graph/checks.h"
#include "kernel/graph/script.h"
#include "tests/graph/vectors.h"

namespace witan::graph {
namespace {

json::value drawGraph(std::mt19937& random) {
  const auto draw = [&](int least, int most) { return least + int(random() % unsigned(most - least + 1)); };
  const int count = draw(2, 6);
  json::object graph =
      parseJson(R"({"graph":{"id":"g","version":1,"format":1},"monitor":{"boundaries":["intake","journal"]},
    "type":[{"name":"T","schema":{"type":"object"}}],"edge":[],"node":[
    {"id":"in","kind":"ingress","out":["T"],"monitor":{"boundary":"intake","operation":"admit"}},
    {"id":"out","kind":"egress","in":["T"],"monitor":{"boundary":"journal","operation":"put"}}]})")
          .value()
          .as_object();
  for (int i = 0; i < count; ++i)
    graph["node"].as_array().push_back({{"id", "n" + std::to_string(i)},
                                        {"kind", "function"},
                                        {"function", "identity"},
                                        {"in", json::array{"T"}},
                                        {"out", json::array{"T"}}});
  std::set<std::pair<int, int>> pairs;
  const auto name = [&](int i) { return i < 0 ? "in" : i == count ? "out" : "n" + std::to_string(i); };
  const auto add = [&](int from, int to, bool guarded) {
    if (!pairs.emplace(from, to).second) return;
    json::object edge{{"from", name(from)}, {"to", name(to)}, {"type", "T"}};
    if (guarded) edge["guard"] = json::object{{"bound", draw(1, 3)}};
    graph["edge"].as_array().push_back(std::move(edge));
  };
  for (int i = -1; i < count; ++i) add(i, i + 1, false);
  for (int i = draw(0, 3); i > 0; --i) {
    const int a = draw(0, count - 1), b = draw(0, count - 1);
    add(a, b, b <= a && draw(0, 9) > 0);
  }
  return graph;
}

TEST(GraphBound, RunsOfAcceptedGraphsEndWithinIt) {
  const Environment environment = parseEnvironment(tests::vectorText("env.json")).value();
  std::mt19937 random(26);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 300; ++i) {
    const json::value graph = drawGraph(random);
    const Checked checked = checkGraph(graph, environment);
    if (!checked.errors.empty() || !checked.bound || *checked.bound > 2'000) {
      ++refused;
      continue;
    }
    ++accepted;
    json::object scripted = parseJson(R"({"monitor":[
      {"boundary":"intake","operation":"admit","verdict":"allow"},
      {"boundary":"journal","operation":"put","verdict":"allow"}],
      "events":[{"atMs":0,"ingress":"in","id":"m","body":{}}]})")
                                .value()
                                .as_object();
    scripted["graph"] = graph;
    const auto read = readCase(scripted);
    ASSERT_TRUE(read.ok()) << read.error().message;
    const auto run = runScript(*read);
    ASSERT_TRUE(run.ok()) << run.error().message;
    const json::object& end = run->at("runs").as_array().at(0).as_object();
    EXPECT_NE(end.at("status").as_string(), "running") << canonicalJson(graph);
    EXPECT_LE(end.at("deliveries").as_int64(), *checked.bound) << canonicalJson(graph);
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace witan::graph
