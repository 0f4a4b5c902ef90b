// What one run may hold: outputs, effects, letters and large messages never stop a device; budgets, targets and the
// versions of nested graphs are those that the document says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/entry_agent.h"
#include "tests/replica/graph_stage.h"

namespace witan::node::test::graph_limits_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kFan = 24;  // of each split: 576 messages arrive

json::object parsed(const std::string& text) { return parseJson(text).value().as_object(); }
std::string graphOf(const std::string& id, const std::string& rest, const std::string& more = "", int version = 1) {
  return R"({"graph":{"id":")" + id + R"(","version":)" + std::to_string(version) +
         R"(,"format":1,"locales":["device"],"timeoutMs":3000000,"horizonMs":3600000)" + more +
         R"(},"monitor":{"boundaries":["intake","journal"]},)" + rest + "}";
}
std::string ingress(const std::string& type, const std::string& more = "") {
  return R"({"id":"in","kind":"ingress","out":[")" + type +
         R"("],"monitor":{"boundary":"intake","operation":"admit"})" + more + "}";
}
agents::Policy policyOf(const std::vector<std::string>& graphs) {
  agents::Policy policy = graphPolicy(graphs, {"k", "lists[].list[].k"}, {"k"});
  policy.boundary[1].operation.push_back({"deny", {"nothing"}});
  return policy;
}

// in -> split -> split -> out.
json::object fan(const std::string& egress) {
  const std::string k = R"({"type":"object","required":["k"],"properties":{"k":{"type":"integer"}}})";
  const std::string list = R"({"type":"object","required":["list"],"properties":{"list":{"type":"array","maxItems":)" +
                           std::to_string(kFan) + R"(,"items":)" + k + "}}}";
  const auto split = [](const char* id, const char* field, const char* in, const char* out) {
    return concat(R"({"id":")", id, R"(","kind":"function","function":"split","args":{"field":")", field,
                  R"("},"maxOut":)", kFan, R"(,"in":[")", in, R"("],"out":[")", out, R"("]})");
  };
  const auto edge = [](const char* from, const char* to, const char* type, const char* more = "") {
    return concat(R"({"from":")", from, R"(","to":")", to, R"(","type":")", type, "\"", more, "}");
  };
  return parsed(graphOf(
      "fan", concat(R"("type":[{"name":"Lists","schema":{"type":"object","required":["lists"],"properties":{"lists":{
      "type":"array","maxItems":)",
                    kFan, R"(,"items":)", list, R"(}}}},{"name":"List","schema":)", list, R"(},{"name":"T","schema":)",
                    k, R"(}],"node":[)", ingress("Lists"), ",", split("a", "lists", "Lists", "List"), ",",
                    split("b", "list", "List", "T"), R"(,{"id":"out","kind":"egress","in":["T"],)", egress,
                    R"(}],"edge":[)", edge("in", "a", "Lists"), ",", edge("a", "b", "List"), ",",
                    edge("b", "out", "T", R"(,"key":"k","capacity":1000)"), "]")));
}
json::object fanMessage() {
  json::array lists;
  for (std::int64_t i = 0; i < kFan; ++i) {
    json::array list;
    for (std::int64_t n = 0; n < kFan; ++n) list.push_back(json::object{{"k", i * kFan + n}});
    lists.push_back(json::object{{"list", std::move(list)}});
  }
  return {{"lists", std::move(lists)}};
}

// Each step writes what it adds, and not again what was there.
class GraphFans : public ::testing::TestWithParam<const char*> {};

TEST_P(GraphFans, StepsStaySmallHoweverManyThereWere) {
  Stage stage(fan(GetParam()), {setupOf({}, policyOf({"fan"}))}, {});
  Device& desk = stage.cluster.a();
  stage.deploy();
  stage.send(desk, "in", "x", fanMessage());
  const auto ended = [&] { return !stage.statusOf(desk, "x").empty() && stage.statusOf(desk, "x") != "running"; };
  ASSERT_TRUE(stage.rounds(ended, 3'000)) << stage.words(desk);
  const domains::graph::Run run = domains::graph::runsIn(stage.state(desk)).at(0);
  EXPECT_EQ(run.deliveries, 1 + 1 + kFan + kFan * kFan);
  const auto outputs = domains::graph::outputsIn(stage.state(desk), run.id);
  const auto letters = domains::graph::lettersIn(stage.state(desk), run.id);
  EXPECT_EQ(std::int64_t(outputs.size() + letters.size() + stage.journal(desk, "fan/").size()), kFan * kFan);
  const auto numberOf = [&](const std::string& digest) {
    return GraphBodies(desk.replica().data(), "main").find(digest)->at("k").as_int64();
  };
  for (std::size_t i = 0; i < outputs.size(); ++i)
    ASSERT_EQ(numberOf(outputs[i].digest), std::int64_t(i)) << "in their order";
  PartitionHost& host = *desk.replica().host("graph/0");
  for (std::uint64_t seq = 1; seq <= host.partition().size(); ++seq)
    ASSERT_LT(host.ledger().entryBytes(seq)->size(), 64u << 10) << "entry " << seq;
  // All of it is forgotten, by the next owner of the log, too.
  desk.losePower();
  desk.passTime(3'700'000);
  ASSERT_TRUE(stage.rounds([&] { return domains::graph::runsIn(stage.state(desk)).empty(); })) << stage.words(desk);
  EXPECT_THAT(domains::graph::outputsIn(stage.state(desk), run.id), IsEmpty());
  EXPECT_THAT(domains::graph::lettersIn(stage.state(desk), run.id), IsEmpty());
  EXPECT_EQ(desk.replica().graphs()->waitsFor("fan"), "");
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, GraphFans,
    ::testing::Values(R"("monitor":{"boundary":"journal","operation":"put"})",
                      R"("monitor":{"boundary":"journal","operation":"deny"})",
                      R"("monitor":{"boundary":"journal","operation":"put"},"sink":{"tool":"journal.put"},
                         "capabilities":[{"resource":"journal.put"}],"concurrency":64)"));

// What the ledger says of failures.
std::string failuresIn(Device& device) {
  std::string all;
  PartitionHost& host = *device.replica().host("graph/0");
  for (std::uint64_t seq = 1; seq <= host.partition().size(); ++seq) {
    const auto entry = kernel::readEntry(*host.ledger().entryBytes(seq));
    const json::value action = parseJson(entry->action, {.bytes = kernel::kRecordMax, .depth = 64}).value();
    if (action.at("type") == "Fail")
      all += concat(action.at("why").as_string().c_str(), ": ", action.at("cause").as_string().c_str(), "\n");
  }
  return all;
}

// Two bodies of 400 KB are one of 800 when they are gathered, and an agent is woken with at most 256.
TEST(GraphLimits, LargeMessagesAmidARunStopTheSpanAndNothingElse) {
  const std::string text = R"({"type":"object","required":["k"],"properties":{"k":{"type":"string"}}})";
  const Emitter echo("echo", {"journal.read"}, [](const json::object& body) { return agents::Emission{"T", body}; });
  Stage stage(
      parsed(graphOf("large", R"("type":[{"name":"T","schema":)" + text +
                                  R"(},{"name":"All","schema":{"type":"object","required":["all"],"properties":{"all":{
         "type":"array","maxItems":2,"items":)" +
                                  text + R"(}}}}],"node":[)" + ingress("T") +
                                  R"(,{"id":"echo","kind":"agent","agent":"echo","version":"1","in":["T"],"out":["T"],
          "capabilities":[{"resource":"journal.read"}]},
        {"id":"again","kind":"function","function":"identity","in":["T"],"out":["T"]},
        {"id":"both","kind":"function","function":"collect","args":{"count":2,"field":"all"},"in":["T"],"out":["All"]},
        {"id":"plain","kind":"egress","in":["T"],"monitor":{"boundary":"journal","operation":"put"}},
        {"id":"out","kind":"egress","in":["All"],"monitor":{"boundary":"journal","operation":"put"}}],
       "edge":[{"from":"in","to":"echo","type":"T"},{"from":"echo","to":"plain","type":"T"},
        {"from":"in","to":"both","type":"T"},{"from":"in","to":"again","type":"T"},{"from":"again","to":"both","type":"T"},
        {"from":"both","to":"out","type":"All"}])")),
      {setupOf({&echo}, policyOf({"large"}))}, {});
  Device& desk = stage.cluster.a();
  stage.deploy();
  for (const std::size_t size : {600u << 10, 400u << 10}) {
    const std::string id = "m" + std::to_string(size);
    stage.send(desk, "in", id, {{"k", std::string(size, 'x')}});
    ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(desk, id) == "degraded"; })) << stage.words(desk);
    desk.losePower();
    ASSERT_TRUE(stage.rounds([&] { return desk.replica().graphs()->runtime("large") != nullptr; }));
  }
  std::vector<std::string> reasons;
  for (const domains::graph::Run& run : domains::graph::runsIn(stage.state(desk)))
    for (const domains::graph::Letter& letter : domains::graph::lettersIn(stage.state(desk), run.id))
      reasons.push_back(letter.message.node + " " + letter.reason);
  EXPECT_THAT(reasons, UnorderedElementsAre("both too_large", "both too_large", "echo attempts_exhausted",
                                            "echo attempts_exhausted"))
      << failuresIn(desk);
}

// --- what a node may

json::object withAgent(const std::string& agent, const std::string& capability, const std::string& more = "") {
  return parsed(graphOf(
      "work",
      R"("type":[{"name":"T","schema":{"type":"object","required":["k"],"properties":{"k":{"type":"string","maxLength":50}}}}],
     "node":[)" +
          ingress("T") + R"(,{"id":"work","kind":"agent","agent":")" + agent +
          R"(","version":"1","in":["T"],"out":["T"],"retry":{"maxAttempts":1},"capabilities":[)" + capability + R"(]},
      {"id":"out","kind":"egress","in":["T"],"monitor":{"boundary":"journal","operation":"put"}}],
     "edge":[{"from":"in","to":"work","type":"T"},{"from":"work","to":"out","type":"T"}])",
      more));
}

// Writes an entry under the id that it is sent; says whether that was done.
class Scribe final : public agents::Agent {
 public:
  explicit Scribe(agents::Capability held) {
    spec_.id = "scribe", spec_.version = "1", spec_.what = "writes", spec_.category = "test";
    spec_.locale = {"device"}, spec_.inGraphs = true, spec_.capabilities = {std::move(held)};
  }
  const agents::AgentSpec& spec() const override { return spec_; }
  agents::Turn step(const json::value& sigma, const agents::Input& input) const override {
    agents::Finish finish;
    if (input.kind == agents::InputKind::wake) {
      const json::value body = input.content.at("graph").at("body");
      const std::string id(body.at("k").as_string());
      const json::object arguments{{"id", id}, {"type", "note"}, {"payload", json::object{{"k", 1}}}};
      return {body, {}, agents::Actions{agents::action("journal.put", arguments, {id})}};
    }
    for (const json::value& one : input.content.as_array()) finish.failed |= one.at("outcome") != "applied";
    if (!finish.failed) finish.emits = {{"T", sigma}};
    return {nullptr, {}, std::move(finish)};
  }

 private:
  agents::AgentSpec spec_;
};

agents::Policy policyWith(const std::string& agent) {
  agents::Policy policy = policyOf({"work"});
  policy.boundary[1].operation[0].allow = {"k", "id", "type", "payload.k"};
  policy.boundary[1].operation.push_back({"read", {"id"}});
  policy.grant.push_back({agent, "test", {"device"}, {"journal.put", "journal.read"}, {"journal"}});
  return policy;
}

// Which of three entries came to be: the agent holds `held`, its node grants `granted`.
std::vector<std::string> written(agents::Capability held, const std::string& granted) {
  const Scribe scribe(std::move(held));
  Stage stage(withAgent("scribe", granted), {setupOf({&scribe}, policyWith("scribe"))}, {});
  Device& desk = stage.cluster.a();
  stage.deploy();
  for (const char* id : {"draft/a/1", "draft/2", "else/3"}) {
    stage.send(desk, "in", id, {{"k", id}});
    EXPECT_TRUE(stage.rounds([&] {
      return !stage.statusOf(desk, id).empty() && stage.statusOf(desk, id) != "running";
    })) << stage.words(desk);
  }
  return stage.journal(desk, "");
}

TEST(GraphLimits, AnAgentTouchesWhatBothItselfAndItsNodeMay) {
  const std::string any = R"({"resource":"journal.put"})";
  const std::string drafts = R"({"resource":"journal.put","targets":["draft/"]})";
  const std::string here = R"({"resource":"journal.*","targets":["draft/a/","other/"],"locales":["device"]})";
  EXPECT_THAT(written({"journal.put"}, any), ElementsAre("draft/2", "draft/a/1", "else/3"));
  EXPECT_THAT(written({"journal.put"}, drafts), ElementsAre("draft/2", "draft/a/1"));
  EXPECT_THAT(written({"journal.*", 10, {"draft/"}}, any), ElementsAre("draft/2", "draft/a/1"));
  EXPECT_THAT(written({"journal.*", 10, {"draft/", "else/"}}, here), ElementsAre("draft/a/1"));
  EXPECT_THAT(written({"journal.put", 10, {}, {"elsewhere"}}, here), IsEmpty());
}

// Looks once, which is a step.
class Looker final : public agents::Agent {
 public:
  const agents::AgentSpec& spec() const override {
    static const agents::AgentSpec kSpec{.id = "looker",
                                         .version = "1",
                                         .what = "looks",
                                         .category = "test",
                                         .capabilities = {{"journal.read"}},
                                         .locale = {"device"},
                                         .inGraphs = true};
    return kSpec;
  }
  agents::Turn step(const json::value&, const agents::Input& input) const override {
    agents::Finish finish;
    if (input.kind == agents::InputKind::wake)
      return {input.content.at("graph").at("body"), {}, agents::Looks{{"journal.read", {{"id", "x"}}, 0}}};
    finish.failed = !input.content.is_array() || input.content.at(0).as_object().contains("denied");
    if (!finish.failed) finish.emits = {{"T", json::object{{"k", "seen"}}}};
    return {nullptr, {}, std::move(finish)};
  }
};

// Its agent works at two nodes at once.
json::object atTwoNodes(json::object document) {
  json::object other = document.at("node").at(1).as_object();
  other["id"] = "other";
  document.at("node").as_array().push_back(other);
  for (const char* edge : {R"({"from":"in","to":"other","type":"T"})", R"({"from":"other","to":"out","type":"T"})"})
    document.at("edge").as_array().push_back(parseJson(edge).value());
  return document;
}

// With one budget for both: each run has it once, and no run has more.
TEST(GraphLimits, ABudgetIsOfTheRunAndNotOfEachSpan) {
  const Looker looker;
  const json::object document = atTwoNodes(
      withAgent("looker", R"({"resource":"journal.read"})", R"(,"budget":{"steps":1,"tokens":100,"seconds":600})"));
  Stage stage(document, {setupOf({&looker}, policyWith("looker"))}, {});
  Device& desk = stage.cluster.a();
  stage.deploy();
  for (const char* id : {"x", "y"}) {
    stage.send(desk, "in", id, {{"k", id}});
    ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(desk, id) == "degraded"; }))
        << stage.statusOf(desk, id) << failuresIn(desk);
    desk.losePower();
    ASSERT_TRUE(stage.rounds([&] { return desk.replica().graphs()->runtime("work") != nullptr; }));
  }
  std::map<std::string, std::int64_t> steps;
  PartitionHost& host = *desk.replica().host("graph/0");
  for (std::uint64_t seq = 1; seq <= host.partition().size(); ++seq) {
    const auto entry = kernel::readEntry(*host.ledger().entryBytes(seq));
    const json::value action = parseJson(entry->action, {.bytes = kernel::kRecordMax, .depth = 64}).value();
    if (const json::value* spent = action.as_object().if_contains("steps"))
      steps[std::string(action.at("run").as_string())] += spent->as_int64();
  }
  ASSERT_THAT(steps, SizeIs(2));
  for (const auto& [run, spent] : steps) EXPECT_EQ(spent, 1) << run;
  EXPECT_EQ(failuresIn(desk),
            "terminal_failure: the run has spent its budget of steps\nterminal_failure: the run has spent its budget "
            "of steps\n");
}

void sendLimited(Stage& stage, const std::string& id, const domains::graph::Limits& limits) {
  Request request = ingressRequest(stage.graph, "in", id, "limited-" + id, canonicalJson(json::object{{"k", id}}));
  enterWith(request, {limits});
  stage.submit(stage.cluster.a(), request);
}
std::string endOf(Stage& stage, const std::string& id) {
  Device& desk = stage.cluster.a();
  EXPECT_TRUE(stage.rounds([&] { return !stage.statusOf(desk, id).empty() && stage.statusOf(desk, id) != "running"; }))
      << id << stage.words(desk);
  return stage.statusOf(desk, id);
}

// A run that was sold takes what its order allows, whatever its document says.
TEST(GraphLimits, ARunTakesNoMoreThanItsBeginningAllows) {
  const Looker looker;
  Stage stage(atTwoNodes(withAgent("looker", R"({"resource":"journal.read"})")),
              {setupOf({&looker}, policyWith("looker"))}, {});
  stage.deploy();
  sendLimited(stage, "enough", {2, 100, 600, {"device"}});
  EXPECT_EQ(endOf(stage, "enough"), "completed") << failuresIn(stage.cluster.a());
  sendLimited(stage, "few", {1, 100, 600, {"device"}});
  EXPECT_EQ(endOf(stage, "few"), "degraded");
  EXPECT_EQ(failuresIn(stage.cluster.a()), "terminal_failure: the run has spent its budget of steps\n");
  sendLimited(stage, "elsewhere", {2, 100, 600, {"mars"}});
  EXPECT_NE(endOf(stage, "elsewhere"), "completed");
  EXPECT_EQ(failuresIn(stage.cluster.a()),
            "terminal_failure: the run has spent its budget of steps\nterminal_failure: the run may not work in "
            "device\nterminal_failure: the run may not work in device\n");
  stage.send(stage.cluster.a(), "in", "free", {{"k", "free"}});
  EXPECT_EQ(endOf(stage, "free"), "completed") << "the limits are those of the run alone";
}

// Nobody works at its node: it ends when its seconds are over, also on a device that has read it from its disk.
TEST(GraphLimits, ARunEndsWithTheSecondsThatItsBeginningAllows) {
  Stage stage(withAgent("nobody", R"({"resource":"journal.read"})"), {setupOf({}, policyWith("nobody"))}, {});
  Device& desk = stage.cluster.a();
  stage.deploy();
  const std::int64_t began = desk.ms;
  sendLimited(stage, "short", {2, 100, 5, {"device"}});
  ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(desk, "short") == "running"; }));
  desk.losePower();
  EXPECT_EQ(endOf(stage, "short"), "timed_out");
  EXPECT_GE(desk.ms - began, 4'000);
  EXPECT_LE(desk.ms - began, 30'000);
}

// --- runs within runs

// The outer graph names version 1 of the inner one by its digest; version 2 has a way out that nobody looked at.
TEST(GraphLimits, ANestedRunIsOfTheVersionThatTheGraphNames) {
  const auto inner = [](int version) {
    return parsed(
        graphOf("inner",
                R"("type":[{"name":"T","schema":{"type":"object","required":["k"],"properties":{"k":{"type":"string",
         "maxLength":50}}}}],"node":[)" +
                    ingress("T") +
                    R"(,{"id":"out","kind":"egress","in":["T"],"monitor":{"boundary":"intake","operation":"admit"}})" +
                    (version == 1 ? "" : R"(,{"id":"side","kind":"egress","in":["T"],
          "monitor":{"boundary":"journal","operation":"put"},"sink":{"tool":"journal.put"},
          "capabilities":[{"resource":"journal.put"}]})") +
                    R"(],"edge":[{"from":"in","to":"out","type":"T"})" +
                    (version == 1 ? "" : R"(,{"from":"in","to":"side","type":"T"})") + "]",
                "", version));
  };
  const json::object outer = parsed(graphOf(
      "outer", R"("type":[{"name":"T","schema":{"type":"object","required":["k"],"properties":{"k":{"type":"string",
       "maxLength":50}}}}],"node":[)" +
                   ingress("T") + R"(,{"id":"sub","kind":"subgraph","graph":"inner","graphVersion":1,"digest":")" +
                   graph::digestOf(inner(1)) + R"(","in":["T"],"out":["T"]},
      {"id":"out","kind":"egress","in":["T"],"monitor":{"boundary":"intake","operation":"admit"}}],
     "edge":[{"from":"in","to":"sub","type":"T"},{"from":"sub","to":"out","type":"T"}])"));
  Stage stage(outer, {setupOf({}, policyOf({"outer", "inner"}))}, {});
  Device& desk = stage.cluster.a();
  stage.deploy(inner(1));
  stage.deploy();
  stage.send(desk, "in", "first", {{"k", "tea"}});
  ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(desk, "first") == "completed"; })) << stage.words(desk);
  stage.deploy(inner(2));
  stage.send(desk, "in", "second", {{"k", "tea"}});
  ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(desk, "second") == "degraded"; })) << stage.words(desk);
  EXPECT_THAT(stage.journal(desk, "inner/"), IsEmpty());
  EXPECT_THAT(domains::graph::runsIn(desk.replica().host("graph/0")->partition().state("inner")), SizeIs(1));
  // Why it died stands in its entry.
  EXPECT_EQ(failuresIn(desk), "terminal_failure: inner is deployed in version 2, and outer names version 1\n");
}

}  // namespace
}  // namespace witan::node::test::graph_limits_test
