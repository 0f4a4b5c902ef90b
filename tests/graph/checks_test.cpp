// The static checks: what they find, in which documents, and where.
#include "kernel/graph/checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/graph/vectors.h"

namespace witan::graph {
namespace {

Environment environmentOf(const std::string& name) {
  auto environment = parseEnvironment(tests::vectorText(name));
  EXPECT_TRUE(environment.ok()) << environment.error().message;
  return environment.ok() ? *environment : Environment();
}

TEST(GraphChecks, GiveTheResultsOfTheVectors) {
  const auto vectors = tests::vectorsOf("checks.jsonl");
  EXPECT_EQ(vectors.size(), 70u);
  for (const json::object& vector : vectors) {
    SCOPED_TRACE(std::string(vector.at("name").as_string()));
    const Environment environment = environmentOf(std::string(vector.at("env").as_string()));
    const Checked checked = checkGraph(vector.at("document"), environment);
    EXPECT_EQ(json::value(tests::idsOf(checked.errors)), vector.at("errors"))
        << (checked.errors.empty() ? "" : checked.errors[0].place + ": " + checked.errors[0].message);
    EXPECT_EQ(json::value(tests::idsOf(checked.warnings)), vector.at("warnings"));
    EXPECT_EQ(checked.bound ? json::value(*checked.bound) : json::value(nullptr), vector.at("bound"));
    for (const auto* list : {&checked.errors, &checked.warnings})
      for (const Finding& finding : *list) EXPECT_FALSE(finding.message.empty());
  }
}

TEST(GraphChecks, EachFiresInSomeVector) {
  std::set<std::string> fired;
  for (const json::object& vector : tests::vectorsOf("checks.jsonl"))
    for (const char* list : {"errors", "warnings"})
      for (const json::value& id : vector.at(list).as_array()) fired.emplace(id.as_string());
  EXPECT_EQ(fired.size(), 27u);  // GL01 to GL23, GW01 to GW04
}

// Begins by entries of type `from`, and puts entries of type `to`.
json::value relay(const char* id, const char* from, const char* to) {
  return parseJson(concat(R"({"graph":{"id":")", id, R"(","version":1,"format":1},"monitor":{"boundaries":["b"]},
    "type":[{"name":")",
                          to, R"(","schema":{"type":"object","properties":{}}}],
    "node":[{"id":"in","kind":"ingress","out":[")",
                          to, R"("],"trigger":{"source":"journal","match":")", from,
                          R"("},"monitor":{"boundary":"b","operation":"o"}},
     {"id":"out","kind":"egress","in":[")",
                          to, R"("],"monitor":{"boundary":"b","operation":"o"},"sink":{"tool":"journal.put"},
      "capabilities":[{"resource":"journal.put"}]}],
    "edge":[{"from":"in","to":"out","type":")",
                          to, R"("}]})"))
      .value();
}

TEST(GraphChecks, AChainOfGraphsThatLeadsBackIsSaid) {
  Environment environment;
  environment.graphs = {{"b@1", relay("b", "B", "C")}, {"c@1", relay("c", "C", "A")}, {"a@1", relay("a", "B", "A")}};
  const auto warnings = [&](const char* from, const char* to) {
    return checkGraph(relay("a", from, to), environment, Answers::nothing).warnings;
  };
  EXPECT_EQ(warnings("A", "B"),
            (std::vector<Finding>{{"GW05", "graph",
                                   "its runs can begin others of themselves by way of b, c: after 8 runs such a chain "
                                   "ends"}}));
  EXPECT_EQ(warnings("A", "A"), std::vector<Finding>());  // its own effects begin nothing
  EXPECT_EQ(warnings("C", "D"), std::vector<Finding>());
}

TEST(GraphChecks, FormErrorsNameTheirPlace) {
  json::object document;
  for (const json::object& vector : tests::vectorsOf("checks.jsonl"))
    if (vector.at("name") == "line") document = vector.at("document").as_object();
  document["edge"].as_array()[0].as_object()["colour"] = "red";
  const ReadDocument read = readDocument(document);
  ASSERT_EQ(read.findings.size(), 1u);
  EXPECT_EQ(read.findings[0], (Finding{"GL01", "edge[0].colour", "unknown member"}));
  EXPECT_EQ(parseDocument(canonicalJson(document)).error().message, "GL01: edge[0].colour: unknown member");
}

// Who knows less finds less, and nothing else; what needs no registry is found in the document alone.
TEST(GraphChecks, WhoKnowsLessFindsLess) {
  std::set<std::string> alone;
  for (const json::object& vector : tests::vectorsOf("checks.jsonl")) {
    SCOPED_TRACE(std::string(vector.at("name").as_string()));
    const json::value& document = vector.at("document");
    const Environment environment = environmentOf(std::string(vector.at("env").as_string()));
    const auto all = checkGraph(document, environment).errors;
    EXPECT_EQ(checkGraph(document, environment, Answers::own).errors, all) << "all of it is here";
    for (const Finding& one : checkGraph(document, {}, Answers::nothing).errors) {
      EXPECT_EQ(std::ranges::count(all, one), 1) << one.id << " " << one.message;
      alone.insert(one.id);
    }
  }
  EXPECT_EQ(alone.size(), 19u);
  for (const char* of : {"GL12", "GL19", "GL20", "GL23"}) EXPECT_FALSE(alone.contains(of)) << of;
}

// Wherever a document names a type or node.
TEST(GraphChecks, UnknownNamesAreFoundAtTheirPlace) {
  for (const json::object& vector : tests::vectorsOf("checks.jsonl")) {
    if (vector.at("name") != "line") continue;
    const Environment environment = environmentOf("env.json");
    const auto expectFound = [&](const char* list, std::size_t at, const char* member, const json::value& name,
                                 const Finding& expected) {
      json::value document = vector.at("document");
      document.at(list).at(at).as_object()[member] = name;
      const Checked checked = checkGraph(document, environment);
      EXPECT_EQ(std::ranges::count(checked.errors, expected), 1) << list << " " << member;
    };
    expectFound("node", 1, "out", json::array{"Verdict", "No"}, {"GL03", "triage", "unknown type No"});
    expectFound("node", 1, "in", json::array{"Report", "No"}, {"GL03", "triage", "unknown type No"});
    expectFound("edge", 0, "type", "No", {"GL03", "in>triage:No", "unknown type No"});
    expectFound("edge", 0, "as", "No", {"GL03", "in>triage:Report", "unknown type No"});
    expectFound("edge", 0, "from", "no", {"GL03", "no>triage:Report", "unknown node no"});
    expectFound("edge", 0, "to", "no", {"GL03", "in>no:Report", "unknown node no"});
  }
}

// The ledger of graphs is for graphs' own runtimes, operators and persons: a graph answers no graph's gate.
TEST(GraphChecks, NoGraphActsOnTheLedgerOfGraphs) {
  Environment environment = environmentOf("env.json");
  for (const char* role : {"Person", "Operator", "Runtime"}) environment.domains["graph"].roles.emplace_back(role);
  for (const json::object& vector : tests::vectorsOf("checks.jsonl")) {
    if (vector.at("name") != "line") continue;
    for (const std::string& role : environment.domains["graph"].roles) {
      json::value document = vector.at("document");
      json::object& node = document.at("node").at(1).as_object();
      for (const char* member : {"agent", "version", "capabilities"}) node.erase(member);
      node["kind"] = "domain", node["domain"] = "graph", node["role"] = role;
      const Checked checked = checkGraph(document, environment);
      EXPECT_EQ(std::ranges::count(checked.errors, "GL20", &Finding::id), 1) << role;
    }
  }
}

TEST(GraphChecks, HostileDocumentsAreRefused) {
  std::string deep = "{\"type\":[{\"name\":\"T\",\"schema\":";
  for (int i = 0; i < 20'000; ++i) deep += "{\"type\":\"array\",\"items\":";
  EXPECT_FALSE(parseDocument(deep).ok());
  EXPECT_FALSE(parseDocument(std::string((1 << 20) + 1, ' ')).ok());
  EXPECT_FALSE(parseDocument("[]").ok());
  EXPECT_FALSE(parseDocument(R"({"graph":null,"monitor":1,"type":{},"node":[null],"edge":[[]]})").ok());
}

}  // namespace
}  // namespace witan::graph
