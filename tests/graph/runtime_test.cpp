// Runs in virtual time: the ledgers of the vectors, and states that are rebuilt from ledgers.
#include <gtest/gtest.h>

#include <limits>

#include "kernel/graph/script.h"
#include "tests/graph/vectors.h"

namespace witan::graph {
namespace {

struct Played {
  json::array ledger;
  json::object result;
};

Played play(const json::value& from) {
  Played played;
  const auto scripted = readCase(from);
  EXPECT_TRUE(scripted.ok()) << scripted.error().message;
  if (!scripted.ok()) return played;
  auto result = runScript(*scripted, {.line = [&](const json::object& line) { played.ledger.push_back(line); }});
  EXPECT_TRUE(result.ok()) << result.error().message;
  if (result.ok()) played.result = *std::move(result);
  return played;
}

std::string nameOf(const json::object& vector) { return std::string(vector.at("name").as_string()); }

TEST(GraphRuntime, WritesTheLedgersOfTheVectors) {
  const auto vectors = tests::vectorsOf("runs.jsonl");
  EXPECT_EQ(vectors.size(), 38u);
  for (const json::object& vector : vectors) {
    SCOPED_TRACE(nameOf(vector));
    const Played run = play(vector);
    const json::object& expected = vector.at("expect").as_object();
    const json::array& lines = expected.at("ledger").as_array();
    const json::array& got = run.ledger;
    for (std::size_t i = 0; i < lines.size() && i < got.size(); ++i) {
      EXPECT_EQ(got[i], lines[i]);
      if (got[i] != lines[i]) break;
    }
    EXPECT_EQ(got.size(), lines.size());
    for (const char* member : {"counts", "runs", "world", "waiting"})
      EXPECT_EQ(run.result.at(member), expected.at(member)) << member;
  }
}

// After each entry, so that a crash between any two of them is covered.
TEST(GraphRuntime, IsRebuiltFromItsEntries) {
  for (const json::object& vector : tests::vectorsOf("runs.jsonl")) {
    SCOPED_TRACE(nameOf(vector));
    Runtime rebuilt{Monitor()};
    std::size_t entries = 0, differing = 0;
    const auto scripted = readCase(vector);
    ASSERT_TRUE(scripted.ok()) << scripted.error().message;
    const auto compare = [&](const Entry& entry, const Runtime& live) {
      ++entries;
      rebuilt.apply(entry);
      if (rebuilt.fingerprint() != live.fingerprint() && ++differing == 1)
        ADD_FAILURE() << "entry " << entries << " of kind " << nameOf(entry[0]);
    };
    ASSERT_TRUE(runScript(*scripted, {.entry = compare}).ok());
    EXPECT_GT(entries, 0u);
  }
}

// What a message measures decides where it goes: two states that differ in it alone are not the same.
TEST(GraphRuntime, AFingerprintTellsWhatMessagesMeasure) {
  std::size_t told = 0;
  for (const json::object& vector : tests::vectorsOf("runs.jsonl")) {
    SCOPED_TRACE(nameOf(vector));
    Runtime one{Monitor()}, other{Monitor()};
    bool same = true;  // until the first message that measures something
    const auto compare = [&](const Entry& entry, const Runtime&) {
      if (!same) return;
      Entry changed = entry;
      for (Line& line : changed)
        if (auto* sent = std::get_if<Sent>(&line.fact))
          for (auto& [edge, value] : sent->measures) ++value, same = false;
      one.apply(entry), other.apply(changed);
      if (same) return;
      EXPECT_NE(one.fingerprint(), other.fingerprint());
      ++told;
    };
    const auto scripted = readCase(vector);
    ASSERT_TRUE(scripted.ok() && runScript(*scripted, {.entry = compare}).ok());
  }
  EXPECT_GT(told, 0u);
}

// Refusals are no entries: strangers must not fill the ledger.
TEST(GraphRuntime, RefusalsMakeNoEntry) {
  std::size_t refused = 0;
  for (const json::object& vector : tests::vectorsOf("runs.jsonl")) {
    const auto scripted = readCase(vector);
    ASSERT_TRUE(scripted.ok());
    const auto result = runScript(*scripted, {.entry = [&](const Entry& entry, const Runtime&) {
      for (const Line& line : entry) EXPECT_FALSE(std::holds_alternative<Refused>(line.fact)) << nameOf(vector);
    }});
    if (const json::value* count = result->at("counts").as_object().if_contains("refused"))
      refused += std::size_t(count->as_int64());
  }
  EXPECT_GT(refused, 3u);
}

json::object simpleCase() {
  return parseJson(R"({"graph":{"graph":{"id":"g","version":1,"format":1,"maxDeliveries":10},
    "monitor":{"boundaries":["intake"]},"type":[{"name":"T","schema":{"type":"object","properties":{"n":{"type":"integer"}}}}],
    "node":[{"id":"in","kind":"ingress","out":["T"],"monitor":{"boundary":"intake","operation":"admit"}},
            {"id":"spin","kind":"function","function":"identity","in":["T"],"out":["T"]}],
    "edge":[{"from":"in","to":"spin","type":"T"},{"from":"spin","to":"spin","type":"T"}]},
    "monitor":[{"boundary":"intake","operation":"admit","verdict":"allow"}],
    "events":[{"atMs":0,"ingress":"in","id":"m","body":{}}]})")
      .value()
      .as_object();
}

std::string whyNot(const json::object& from, const ScriptLimits& limits = {}) {
  const auto scripted = readCase(from);
  if (!scripted.ok()) return scripted.error().message;
  const auto result = runScript(*scripted, {}, limits);
  return result.ok() ? "" : result.error().message;
}

TEST(GraphScript, RefusesDocumentsThatTheRuntimeCannotRun) {
  const auto broken = [](auto&& change) {
    json::object scripted = simpleCase();
    change(scripted.at("graph").as_object());
    return whyNot(scripted);
  };
  EXPECT_EQ(broken([](json::object&) {}), "");
  const auto edge = [](json::object& graph) -> json::object& { return graph["edge"].as_array()[1].as_object(); };
  EXPECT_TRUE(broken([&](json::object& g) { edge(g)["to"] = "gone"; }).starts_with("case.graph: GL03 at spin>gone:T"));
  EXPECT_TRUE(broken([&](json::object& g) { edge(g)["key"] = "n"; }).starts_with("case.graph: GL18 at "));
  EXPECT_TRUE(broken([&](json::object& g) {
                edge(g)["guard"] = {{"measure", "n"}};
              }).starts_with("case.graph: GL08 at "));
  EXPECT_TRUE(
      broken([&](json::object& g) { edge(g)["colour"] = 1; }).starts_with("case.graph: GL01 at edge[1].colour"));
  EXPECT_TRUE(broken([&](json::object& g) {
                g["graph"].as_object()["format"] = 2;
              }).starts_with("case.graph: GL01 at graph.format"));
}

TEST(GraphScript, IsBounded) {
  json::object scripted = simpleCase();
  scripted["graph"].as_object()["graph"].as_object()["maxDeliveries"] = 1'000'000'000'000;
  EXPECT_TRUE(whyNot(scripted, {.lines = 10'000}).starts_with("case: the runs make more than 10000 lines"));
  EXPECT_TRUE(whyNot(scripted, {.bytes = 10'000}).ends_with("or send more than 10000 bytes"));
  json::object events = simpleCase();
  events["events"].as_array()[0].as_object()["atMs"] = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(whyNot(events).starts_with("case.events[0].atMs: "));
  events["events"] = json::array(kListMax + 1, json::object());
  EXPECT_TRUE(whyNot(events).starts_with("case.events: more than "));
}

// Of 2^63 ms, which exceed a clock of 64 bits when they are added to it.
TEST(GraphScript, EndlessTimesNeverCome) {
  json::object scripted = simpleCase();
  json::object& graph = scripted.at("graph").as_object();
  graph.at("graph").as_object()["timeoutMs"] = std::numeric_limits<std::int64_t>::max();
  graph.at("graph").as_object()["horizonMs"] = std::numeric_limits<std::int64_t>::max();
  json::object& node = graph.at("node").at(1).as_object();
  node = {{"id", "spin"},
          {"kind", "agent"},
          {"agent", "a"},
          {"version", "1"},
          {"in", {"T"}},
          {"out", {"T"}},
          {"timeoutMs", std::numeric_limits<std::int64_t>::max()},
          {"retry",
           {{"firstBackoffMs", std::numeric_limits<std::int64_t>::max()},
            {"maxBackoffMs", std::numeric_limits<std::int64_t>::max()}}}};
  scripted["script"] = parseJson(R"([{"node":"spin","fail":"retry"}])").value();
  const Played played = play(scripted);
  EXPECT_EQ(played.result.at("runs").at(0).at("status"), "running");
  EXPECT_EQ(played.ledger.back().at("retryAtMs"), kNever);
}

TEST(GraphScript, NamesThePlaceOfABadMember) {
  const auto with = [](const char* member, const char* text) {
    json::object scripted = simpleCase();
    scripted[member] = parseJson(text).value();
    return whyNot(scripted);
  };
  EXPECT_TRUE(with("events", R"([{"atMs":0}])").starts_with("case.events[0]: exactly one of "));
  EXPECT_TRUE(with("events", R"([{"atMs":0,"ingress":"in"}])").starts_with("case.events[0]: "));
  EXPECT_TRUE(with("events", R"([{"atMs":0,"redeliver":7}])").starts_with("case.events[0].redeliver: "));
  EXPECT_TRUE(with("events", R"([{"atMs":0,"crash":{"downMs":-1}}])").starts_with("case.events[0].crash.downMs"));
  EXPECT_TRUE(with("monitor", R"([{"boundary":"a","operation":"b","verdict":"maybe"}])")
                  .starts_with("case.monitor[0].verdict: "));
  EXPECT_TRUE(with("script", R"([{"node":"spin","fail":"perhaps"}])").starts_with("case.script[0].fail: "));
  EXPECT_TRUE(with("colour", "1").starts_with("case: unknown argument"));
}

TEST(GraphRuntime, RefusesALowerVersionAndAnotherDigest) {
  const auto deployed = [](std::int64_t version, bool changed) {
    json::object scripted = simpleCase();
    scripted["graph"].as_object()["graph"].as_object()["version"] = 2;
    json::value second = simpleCase()["graph"];
    second.as_object()["graph"].as_object()["version"] = version;
    if (changed) second.as_object()["graph"].as_object()["what"] = "another one";
    scripted["events"].as_array().push_back({{"atMs", 5}, {"deploy", second}});
    return whyNot(scripted);
  };
  EXPECT_EQ(deployed(2, false), "");
  EXPECT_EQ(deployed(3, true), "");
  EXPECT_NE(deployed(1, false), "");
  EXPECT_NE(deployed(2, true), "");
}

}  // namespace
}  // namespace witan::graph
