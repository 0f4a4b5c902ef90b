// `witan graph` as people and scripts run it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/json.h"
#include "tests/node/program.h"
#include "tests/paths.h"

namespace witan::graph_command_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using witan::node::test::Finished;
using witan::node::test::runWitan;
namespace fs = std::filesystem;

const std::string kExamples = std::string(witan::tests::kSourceDir) + "/docs/examples/";
constexpr std::array kNames{"writer-critic", "clinic", "disclosure"};

std::string textOf(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

json::value valueOf(const Finished& run) {
  const auto parsed = parseJson(run.out);
  EXPECT_TRUE(parsed.ok()) << run.out << run.err;
  return parsed.ok() ? *parsed : json::value();
}

std::set<std::string> idsOf(const json::value& findings) {
  std::set<std::string> ids;
  for (const json::value& one : findings.as_array()) ids.emplace(one.at("id").as_string());
  return ids;
}

// A file with these contents, for as long as it is in scope.
class GraphCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "witan-graph-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  Finished lint(const std::string& path) const {
    return runWitan({"graph", "lint", path, "--env", kExamples + "graph-env.json", "--json"});
  }
  std::set<std::string> errorsOf(const std::string& path) const {
    const Finished run = lint(path);
    EXPECT_EQ(run.exitCode, 1) << run.out;
    return idsOf(valueOf(run).at("errors"));
  }

  fs::path folder_;
};

TEST_F(GraphCommand, TheExamplesLintClean) {
  for (const std::string name : kNames) {
    const Finished run = lint(kExamples + name + ".graph.toml");
    EXPECT_EQ(run.exitCode, 0) << run.out << run.err;
    const json::value found = valueOf(run);
    EXPECT_TRUE(found.at("errors").as_array().empty()) << run.out;
    EXPECT_TRUE(found.at("warnings").as_array().empty()) << run.out;
    EXPECT_EQ(found.at("bound").is_null(), name == "writer-critic") << "a measure has no static bound";
    EXPECT_EQ(found.as_object().size(), 3u);
  }
}

// Each case holds the document of its TOML file, and runs to an end.
TEST_F(GraphCommand, TheExamplesRun) {
  for (const std::string name : kNames) {
    const auto scripted = parseJson(textOf(kExamples + name + ".case.json"));
    ASSERT_TRUE(scripted.ok());
    const std::string copy = file(name + ".json", canonicalJson(scripted->at("graph")));
    EXPECT_EQ(runWitan({"graph", "draw", copy}).out, runWitan({"graph", "draw", kExamples + name + ".graph.toml"}).out);

    const Finished run = runWitan({"graph", "run", "--script", kExamples + name + ".case.json", "--json"});
    ASSERT_EQ(run.exitCode, 0) << run.err;
    std::istringstream lines(run.out);
    json::value last;
    std::int64_t n = 0;
    for (std::string line; std::getline(lines, line); ++n) {
      last = parseJson(line).value();
      const json::value* number = last.as_object().if_contains("n");
      EXPECT_EQ(number == nullptr ? n + 1 : number->as_int64(), n + 1);
    }
    std::map<std::string, std::string> ends;
    for (const json::value& each : last.at("runs").as_array())
      ends[std::string(each.at("external").as_string())] = each.at("status").as_string();
    std::map<std::string, std::string> wanted{{"tea", "completed"}, {"keys", "degraded"}};
    if (name == "clinic") wanted = {{"O1", "completed"}, {"O2", "completed"}};
    if (name == "disclosure") wanted = {{"F-1", "completed"}, {"F-2", "completed"}};
    EXPECT_EQ(ends, wanted) << name;
    EXPECT_TRUE(last.at("waiting").as_array().empty());
    EXPECT_EQ(last.as_object().size(), 4u);
  }
}

TEST_F(GraphCommand, DrawsInThreeForms) {
  const std::string path = kExamples + "clinic.graph.toml";
  const std::string mermaid = runWitan({"graph", "draw", path}).out;
  EXPECT_THAT(mermaid, StartsWith("flowchart TD\n"));
  EXPECT_THAT(mermaid, HasSubstr("n0[[\"orders<br/>ingress<br/>intake admit\"]]"));
  EXPECT_THAT(mermaid, HasSubstr("n5 -. \"Objection<br/>at most 3\" .-> n4"));
  const std::string dot = runWitan({"graph", "draw", path, "--format", "dot"}).out;
  EXPECT_THAT(dot, StartsWith("digraph \"examples.clinic\" {\n"));
  EXPECT_THAT(dot, HasSubstr("n5 -> n4 [label=\"Objection\\nat most 3\", style=dashed];"));
  EXPECT_THAT(dot, HasSubstr("peripheries=2"));
  const std::string svg = runWitan({"graph", "draw", path, "--format", "svg"}).out;
  EXPECT_THAT(svg, StartsWith("<svg xmlns"));
  EXPECT_THAT(svg, HasSubstr("class=\"guarded\""));
  std::size_t boxes = 0;
  for (std::size_t at = svg.find("<rect"); at != svg.npos; at = svg.find("<rect", at + 1)) ++boxes;
  EXPECT_EQ(boxes, 10u) << "eight nodes, two of them with a double border";
}

TEST_F(GraphCommand, WhatItCannotReadIsAnErrorWithItsPlace) {
  const auto message = [&](const std::string& path) {
    const Finished run = lint(path);
    EXPECT_EQ(run.exitCode, 1);
    EXPECT_EQ(run.out, "");
    return std::string(parseJson(run.err).value().at("error").at("message").as_string());
  };
  EXPECT_THAT(message("nosuch.graph.toml"), HasSubstr("nosuch.graph.toml"));
  EXPECT_THAT(message(file("a.toml", "[graph]\nid = \"a\"\nid = \"b\"\n")), HasSubstr("a.toml:3"));
  EXPECT_THAT(message(file("b.toml", "[graph]\nid = 2026-01-01\n")), HasSubstr("b.toml:2"));
  EXPECT_THAT(message(file("c.toml", std::string((1 << 20) + 1, '#'))), HasSubstr("1048576 bytes"));
  std::string deep = "{\"type\":[{\"name\":\"T\",\"schema\":";
  while (deep.size() < (1 << 20) - 100) deep += "{\"type\":\"array\",\"items\":";
  EXPECT_THAT(message(file("d.json", deep)), HasSubstr("d.json"));
  std::string nested = "[[type]]\nname = \"T\"\nschema = ";
  while (nested.size() < (1 << 20) - 100) nested += "{ type = \"array\", items = ";
  EXPECT_THAT(message(file("e.toml", nested)), HasSubstr("e.toml:"));
}

TEST_F(GraphCommand, ANewerFormatIsRefused) {
  std::string text = textOf(kExamples + "clinic.graph.toml");
  text.replace(text.find("format = 1"), 10, "format = 2");
  const Finished run = lint(file("new.toml", text));
  EXPECT_EQ(run.exitCode, 1);
  const json::value found = valueOf(run);
  ASSERT_EQ(found.at("errors").as_array().size(), 1u);
  EXPECT_EQ(found.at("errors").at(0).at("id"), "GL01");
  EXPECT_EQ(found.at("errors").at(0).at("place"), "graph.format");
  EXPECT_TRUE(found.at("bound").is_null());
}

TEST_F(GraphCommand, UnknownArtefactsAreRefused) {
  const Finished run = runWitan({"graph", "lint", kExamples + "clinic.graph.toml", "--json"});
  EXPECT_EQ(run.exitCode, 1) << "without a registry no agent is known";
  const std::set<std::string> ids = idsOf(valueOf(run).at("errors"));
  EXPECT_TRUE(ids.contains("GL23"));
  EXPECT_TRUE(ids.contains("GL09"));
  EXPECT_FALSE(ids.contains("GL20")) << "the domains of the build are known";
  std::string text = textOf(kExamples + "clinic.graph.toml");
  text.replace(text.find("version = \"1\"\nin"), 13, "version = \"9\"");
  EXPECT_EQ(errorsOf(file("old.toml", text)), std::set<std::string>{"GL23"});
}

// 2,048 edges between all nodes: one component. With a guard on each the graph passes; without one it does not.
TEST_F(GraphCommand, TheLargestGraphsAreJudged) {
  const auto dense = [](bool guarded) {
    json::object graph = parseJson(R"({"graph":{"id":"dense","version":1,"format":1},"type":[],"node":[],"edge":[],
      "monitor":{"boundaries":["intake","journal"]}})")
                             .value()
                             .as_object();
    const auto type = [](int i) { return "T" + std::to_string(i); };
    constexpr int kTypes = 256, kNodes = 510, kEdges = 2048;
    json::array types;
    for (int i = 0; i < kTypes; ++i) {
      graph["type"].as_array().push_back({{"name", type(i)}, {"schema", {{"type", "object"}}}});
      types.push_back(json::string(type(i)));
    }
    auto& nodes = graph["node"].as_array();
    auto& edges = graph["edge"].as_array();
    nodes.push_back({{"id", "in"},
                     {"kind", "ingress"},
                     {"out", {"T0"}},
                     {"monitor", {{"boundary", "intake"}, {"operation", "admit"}}}});
    for (int i = 0; i < kNodes; ++i)
      nodes.push_back({{"id", "n" + std::to_string(i)},
                       {"kind", "function"},
                       {"function", "identity"},
                       {"in", {"T0"}},
                       {"out", {"T0"}}});
    nodes.push_back({{"id", "out"},
                     {"kind", "egress"},
                     {"in", {"T0"}},
                     {"monitor", {{"boundary", "journal"}, {"operation", "put"}}}});
    const auto add = [&](const std::string& from, const std::string& to, bool back) {
      json::object edge{{"from", from}, {"to", to}, {"type", "T0"}};
      if (back) edge["guard"] = json::object{{"bound", 1}};
      edges.push_back(std::move(edge));
    };
    add("in", "n0", false);
    add("n" + std::to_string(kNodes - 1), "out", false);
    for (int i = 0; i + 1 < kNodes; ++i) add("n" + std::to_string(i), "n" + std::to_string(i + 1), false);
    for (int step = 1; int(edges.size()) < kEdges; ++step)
      for (int i = kNodes - 1; i >= step && int(edges.size()) < kEdges; --i)
        add("n" + std::to_string(i), "n" + std::to_string(i - step), guarded);
    return canonicalJson(graph);
  };
  const Finished guarded = lint(file("guarded.json", dense(true)));
  EXPECT_EQ(guarded.exitCode, 0) << guarded.out.substr(0, 500) << guarded.err;
  EXPECT_EQ(errorsOf(file("open.json", dense(false))), std::set<std::string>{"GL07"});
}

// Two enumerations of half a document each, and 2,000 edges that compare them: each pair is compared once.
TEST_F(GraphCommand, LargeSchemasAreComparedOnce) {
  json::array words;
  for (int i = 0; i < 50'000; ++i) words.push_back(json::string("w" + std::to_string(i)));
  const json::object schema{{"type", "object"}, {"properties", {{"a", {{"type", "string"}, {"enum", words}}}}}};
  json::object graph = parseJson(R"({"graph":{"id":"large","version":1,"format":1},"edge":[],
    "monitor":{"boundaries":["intake"]},"node":[
    {"id":"in","kind":"ingress","out":["A"],"monitor":{"boundary":"intake","operation":"admit"}}]})")
                           .value()
                           .as_object();
  graph["type"] =
      json::array{json::object{{"name", "A"}, {"schema", schema}}, json::object{{"name", "B"}, {"schema", schema}}};
  for (int i = 0; i < 500; ++i) {
    const std::string id = "n" + std::to_string(i);
    graph["node"].as_array().push_back(
        {{"id", id}, {"kind", "function"}, {"function", "identity"}, {"in", {"A", "B"}}, {"out", {"A", "B"}}});
    const auto add = [&](const std::string& from, const char* as) {
      graph["edge"].as_array().push_back({{"from", from}, {"to", id}, {"type", "A"}, {"as", as}});
    };
    if (i == 0) add("in", "A");
    for (int step = 1; step <= std::min(i, 4); ++step) add("n" + std::to_string(i - step), step % 2 == 0 ? "A" : "B");
  }
  const Finished run = lint(file("large.json", canonicalJson(graph)));
  EXPECT_EQ(run.exitCode, 1);
  const std::set<std::string> ids = idsOf(valueOf(run).at("errors"));
  EXPECT_EQ(ids, std::set<std::string>{"GL15"}) << "no edge brings or takes B: " << run.out.substr(0, 300);
}

TEST_F(GraphCommand, ACaseThatIsNoneIsAnErrorWithItsPlace) {
  const auto message = [&](const std::string& text) {
    const Finished run = runWitan({"graph", "run", "--script", "-", "--json"}, text);
    EXPECT_EQ(run.exitCode, 1);
    EXPECT_EQ(run.out, "");
    return std::string(parseJson(run.err).value().at("error").at("message").as_string());
  };
  EXPECT_THAT(message("{"), HasSubstr("JSON at byte 1"));
  EXPECT_THAT(message("{}"), HasSubstr("case: \"graph\" is missing"));
  std::string text = textOf(kExamples + "clinic.case.json");
  std::string broken = text;
  broken.replace(broken.find("\"to\": \"doctor\""), 14, "\"to\": \"nurses\"");
  EXPECT_THAT(message(broken), HasSubstr("case.graph: GL03 at reviewer>nurses:Plan"));
  EXPECT_EQ(runWitan({"graph", "run"}).exitCode, 2);
  EXPECT_EQ(runWitan({"graph", "draw", "x", "--format", "gif"}).exitCode, 2);
}

// The vectors of the specification, as files. SPECIFICATION_DIR names the folder of the specification if it is not
// ../shared.
TEST_F(GraphCommand, TheVectorsOfTheSpecification) {
  const char* named = std::getenv("SPECIFICATION_DIR");
  const fs::path shared = named != nullptr ? fs::path(named) : fs::path(witan::tests::kSourceDir) / "../shared";
  const fs::path vectors = shared / "vectors" / "graphs";
  if (!fs::is_directory(vectors)) GTEST_SKIP() << "skipped: there is no folder " << vectors.string();
  int seen = 0;
  for (const auto& each : fs::directory_iterator(vectors)) {
    const std::string name = each.path().filename().string();
    if (!name.ends_with(".expect.json")) continue;
    SCOPED_TRACE(name);
    const std::string stem = (vectors / name.substr(0, name.size() - 12)).string();
    const std::string document = fs::exists(stem + ".toml") ? stem + ".toml" : stem + ".json";
    const json::value expected = parseJson(textOf(each.path())).value();
    const std::string env = (vectors / std::string(expected.at("env").as_string())).string();
    const Finished run = runWitan({"graph", "lint", document, "--env", env, "--json"});
    const json::value found = valueOf(run);
    for (const char* list : {"errors", "warnings"}) {
      std::set<std::string> wanted;
      for (const json::value& one : expected.at(list).as_array()) wanted.emplace(one.as_string());
      EXPECT_EQ(idsOf(found.at(list)), wanted) << list;
    }
    EXPECT_EQ(found.at("bound"), expected.at("bound"));
    EXPECT_EQ(run.exitCode, expected.at("errors").as_array().empty() ? 0 : 1);
    ++seen;
  }
  EXPECT_GE(seen, 70);
  int runs = 0;
  for (const auto& each : fs::directory_iterator(shared / "vectors" / "runs")) {
    if (each.path().extension() != ".json") continue;
    SCOPED_TRACE(each.path().filename().string());
    const Finished run = runWitan({"graph", "run", "--script", each.path().string(), "--json"});
    EXPECT_EQ(run.exitCode, 0) << run.err;
    const json::value expected = parseJson(textOf(each.path())).value().at("expect");
    std::string wanted;
    for (const json::value& line : expected.at("ledger").as_array()) wanted += canonicalJson(line) + "\n";
    json::object last = expected.as_object();
    last.erase("ledger");
    EXPECT_EQ(run.out, wanted + canonicalJson(last) + "\n");
    ++runs;
  }
  EXPECT_GE(runs, 38);
}

}  // namespace
}  // namespace witan::graph_command_test
