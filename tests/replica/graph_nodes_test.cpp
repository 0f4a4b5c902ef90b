// Nodes of graphs at work: proposals to domains, runs within runs, dead messages that are sent again, full ingresses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/graph_stage.h"

namespace witan::node::test::graph_nodes_test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

json::object parsed(std::string text) { return parseJson(text).value().as_object(); }

std::string head(const std::string& id, const std::string& more = "") {
  return R"({"graph":{"id":")" + id + R"(","version":1,"format":1,"locales":["device"],"timeoutMs":86400000},
    "monitor":{"boundaries":["intake","journal","meta-agent"]},)" +
         more;
}
constexpr const char* kIn =
    R"({"id":"in","kind":"ingress","out":["T"],"monitor":{"boundary":"intake","operation":"admit"})";
constexpr const char* kText = R"({"type":"string","maxLength":50})";

agents::Policy policyFor(const std::vector<std::string>& graphs, bool asks = false) {
  return graphPolicy(graphs, {"k", "entity", "action.type", "action.n"}, {"k", "outcome", "invariant"}, asks);
}

// in -> spend, at the budget -> out.
json::object spending() {
  return parsed(head("spending", R"("type":[{"name":"T","schema":{"type":"object","required":["entity","action"],
     "properties":{"entity":)" + std::string(kText) +
                                     R"(,"action":{"type":"object","required":["type","n"],"properties":{
     "type":{"type":"string","enum":["SpendA"]},"n":{"type":"integer"}}}}}},
   {"name":"Spent","schema":{"type":"object","required":["outcome"],"properties":{"outcome":)" +
                                     kText + R"(,"invariant":)" + kText + R"(}}}],
   "node":[)" + kIn + R"(},{"id":"spend","kind":"domain","domain":"budget","role":"A","in":["T"],"out":["Spent"],
   "capabilities":[{"resource":"propose"}],
     "retry":{"maxAttempts":2,"firstBackoffMs":1000}},
    {"id":"out","kind":"egress","in":["Spent"],"monitor":{"boundary":"journal","operation":"put"}}],
   "edge":[{"from":"in","to":"spend","type":"T"},{"from":"spend","to":"out","type":"Spent"}]})"));
}
json::object spend(const char* entity, std::int64_t n) {
  return {{"entity", entity}, {"action", json::object{{"type", "SpendA"}, {"n", n}}}};
}

Stage spendingStage(std::size_t devices = 1) {
  std::vector<std::shared_ptr<const AgentSetup>> setups(devices, setupOf({}, policyFor({"spending"})));
  return {spending(), std::move(setups), {}};
}

// The outputs of a run, once it has ended.
std::vector<json::value> outputsOf(Stage& stage, const std::string& external, const std::string& status = "completed") {
  Device& desk = stage.cluster.a();
  EXPECT_TRUE(stage.rounds([&] {
    return !stage.statusOf(desk, external).empty() && stage.statusOf(desk, external) != "running";
  })) << stage.words(desk);
  EXPECT_EQ(stage.statusOf(desk, external), status) << stage.words(desk);
  return stage.outputsOf(desk, status, external);
}
std::vector<std::string> reasonsOf(Stage& stage, const std::string& external) {
  std::vector<std::string> reasons;
  const auto* state = stage.state(stage.cluster.a());
  for (const domains::graph::Run& run : domains::graph::runsIn(state))
    if (run.external == external)
      for (const domains::graph::Letter& letter : domains::graph::lettersIn(state, run.id))
        reasons.push_back(letter.message.node + " " + letter.reason);
  return reasons;
}

TEST(GraphNodes, ADomainDecidesAndItsDecisionGoesOn) {
  Stage stage = spendingStage();
  stage.deploy();
  Device& desk = stage.cluster.a();
  stage.send(desk, "in", "some", spend("e", 60'000));
  EXPECT_EQ(outputsOf(stage, "some"),
            (std::vector<json::value>{json::object{{"invariant", ""}, {"outcome", "approved"}}}));
  stage.send(desk, "in", "too-much", spend("e", 60'000));
  EXPECT_EQ(outputsOf(stage, "too-much"),
            (std::vector<json::value>{json::object{{"invariant", "BUDGET_CAP"}, {"outcome", "rejected"}}}));
  stage.send(desk, "in", "nowhere", spend("nosuch", 1));
  EXPECT_THAT(outputsOf(stage, "nowhere", "degraded"), SizeIs(0));
  EXPECT_EQ(reasonsOf(stage, "nowhere"), std::vector<std::string>{"spend terminal_failure"});
}

// Another device owns the domain's partition, and is away for a while.
TEST(GraphNodes, ADomainElsewhereDecidesOnce) {
  Stage stage = spendingStage(2);
  stage.deploy();
  Device &desk = stage.cluster.a(), &other = stage.cluster.b();
  ASSERT_TRUE(desk.replica().transferOwnership(kPartition, "b", "test", at(desk.ms)).ok());
  ASSERT_TRUE(stage.rounds([&] { return other.owns(); }));
  stage.cluster.cut(desk, other);
  stage.send(desk, "in", "some", spend("e", 10));
  for (int round = 0; round < 20; ++round) stage.step();
  EXPECT_EQ(stage.statusOf(desk, "some"), "running");
  stage.cluster.connect(desk, other);
  EXPECT_THAT(outputsOf(stage, "some"), SizeIs(1));
  EXPECT_THAT(other.decided(), SizeIs(1));
}

// The entity waits for its counselor, and so does the span, longer than all attempts would last.
TEST(GraphNodes, AFrozenEntityMakesItsSpanWait) {
  json::object document =
      parsed(head("results", R"("type":[{"name":"T","schema":{"type":"object","required":["entity","action"],
     "properties":{"entity":)" + std::string(kText) +
                                 R"(,"action":{"type":"object","required":["type","order","outcome","on"],
     "properties":{"type":)" + kText +
                                 R"(,"order":)" + kText + R"(,"outcome":)" + kText + R"(,"on":)" + kText + R"(}}}}},
   {"name":"Spent","schema":{"type":"object","required":["outcome"],"properties":{"outcome":)" +
                                 kText + R"(}}}],
   "node":[)" + kIn + R"(},{"id":"record","kind":"domain","domain":"udt","role":"Clinical","in":["T"],"out":["Spent"],
   "capabilities":[{"resource":"propose"}]},
    {"id":"out","kind":"egress","in":["Spent"],"monitor":{"boundary":"journal","operation":"put"}}],
   "edge":[{"from":"in","to":"record","type":"T"},{"from":"record","to":"out","type":"Spent"}]})"));
  agents::Policy policy = policyFor({"results"});
  for (const char* one : {"action.order", "action.outcome", "action.on"})
    policy.boundary[0].operation[0].allow.push_back(one);
  Stage stage(std::move(document), {setupOf({}, policy)}, {&moduleOf("udt")});
  Device& desk = stage.cluster.a();
  const kernel::DomainModule& udt = moduleOf("udt");
  stage.submit(desk, initRequest(udt, "Ruth", "ruth", json::object{{"baselinePositiveOn", "2025-12-01"}}));
  stage.step();
  const auto order = [&](const char* id) {
    stage.propose(desk, udt, "Ruth", "LabOrder",
                  {{"type", "DocumentRationale"}, {"order", id}, {"text", "treatment plan: random monitoring"}});
    stage.propose(desk, udt, "Ruth", "LabOrder",
                  {{"type", "OrderTest"},
                   {"order", id},
                   {"kind", "PRESUMPTIVE"},
                   {"code", "80307"},
                   {"method", "IMMUNOASSAY"},
                   {"dos", "2026-03-23"},
                   {"coverage", "NONE"}});
    stage.step();
  };
  order("R1"), order("R2");
  stage.deploy();
  const auto result = [&](const char* id, const char* outcome) {
    stage.send(desk, "in", id,
               {{"entity", "Ruth"},
                {"action",
                 json::object{{"type", "RecordResult"}, {"order", id}, {"outcome", outcome}, {"on", "2026-03-23"}}}});
  };
  result("R1", "POSITIVE");
  EXPECT_EQ(outputsOf(stage, "R1"), (std::vector<json::value>{json::object{{"outcome", "escalated"}}}));
  ASSERT_TRUE(desk.replica().host("udt/0")->partition().frozen("Ruth"));
  result("R2", "NEGATIVE");
  for (int round = 0; round < 400; ++round) stage.step();
  EXPECT_GT(desk.ms, 3 * 60'000);
  EXPECT_EQ(stage.statusOf(desk, "R2"), "running");
  Request decision;
  decision.kind = RequestKind::reject, decision.domain = "udt", decision.entity = "Ruth", decision.operationId = "no";
  decision.counselor = "dr.supervising", decision.reason = "wrong specimen", decision.device = "a",
  decision.text = "{}";
  const auto pending = desk.replica().host("udt/0")->partition().pending("Ruth");
  ASSERT_TRUE(pending);
  decision.escalation = pending->seq;
  decision.pendingDigest = pending->digest;
  stage.submit(desk, decision);
  EXPECT_EQ(outputsOf(stage, "R2"), (std::vector<json::value>{json::object{{"outcome", "approved"}}}));
}

// --- runs within runs

// in -> out and in -> again -> out: two outputs.
json::object inner() {
  return parsed(head("inner", R"("type":[{"name":"T","schema":{"type":"object","required":["k"],"properties":{"k":)" +
                                  std::string(kText) + R"(}}}],
   "node":[)" + kIn + R"(},{"id":"again","kind":"function","function":"identity","in":["T"],"out":["T"]},
    {"id":"out","kind":"egress","in":["T"],"monitor":{"boundary":"journal","operation":"put"}}],
   "edge":[{"from":"in","to":"out","type":"T"},{"from":"in","to":"again","type":"T"},{"from":"again","to":"out","type":"T"}]})"));
}
json::object outer() {
  return parsed(head("outer", R"("type":[{"name":"T","schema":{"type":"object","required":["k"],"properties":{"k":)" +
                                  std::string(kText) + R"(}}}],
   "node":[)" + kIn + R"(},{"id":"sub","kind":"subgraph","graph":"inner","graphVersion":1,"digest":")" +
                                  graph::digestOf(inner()) + R"(","in":["T"],"out":["T"],"maxOut":2},
    {"id":"out","kind":"egress","in":["T"],"monitor":{"boundary":"journal","operation":"put"}}],
   "edge":[{"from":"in","to":"sub","type":"T"},{"from":"sub","to":"out","type":"T"}]})"));
}

TEST(GraphNodes, ANestedRunsOutputsAreTheSpans) {
  Stage stage(outer(), {setupOf({}, policyFor({"outer", "inner"}))}, {});
  stage.deploy(inner());
  stage.deploy();
  stage.send(stage.cluster.a(), "in", "x", {{"k", "tea"}});
  EXPECT_EQ(outputsOf(stage, "x"), (std::vector<json::value>(2, json::object{{"k", "tea"}})));
}

TEST(GraphNodes, ANestedRunThatFailsEndsItsSpan) {
  agents::Policy policy = policyFor({"outer", "inner"});
  policy.grant[1].boundaries = {"intake"};
  Stage stage(outer(), {setupOf({}, policy)}, {});
  stage.deploy(inner());
  stage.deploy();
  stage.send(stage.cluster.a(), "in", "x", {{"k", "tea"}});
  EXPECT_THAT(outputsOf(stage, "x", "degraded"), SizeIs(0));
  EXPECT_EQ(reasonsOf(stage, "x"), std::vector<std::string>{"sub terminal_failure"});
}

// The power goes at each write of each store in turn: `make` begins a stage, `done` says that it is over.
template <class Make, class Act, class Done, class Check>
void throughDeaths(Make make, Act act, Done done, Check check) {
  int died = 0;
  for (std::size_t disk = 0; disk < 3; ++disk)
    for (std::uint64_t write = 0;; ++write) {
      Stage stage = make();
      Device& device = stage.cluster.a();
      device.stores[disk].crashAt(write, write % 2 == 0 ? store::Moment::before : store::Moment::after);
      int crashes = 0;
      for (int round = 0; round < 400 && !done(stage); ++round) {
        act(stage);
        if (!device.drain().ok()) device.losePower(), ++crashes;
        device.passTime(std::clamp<std::int64_t>(device.replica().nextTickMs() - device.ms, 1, 1'000));
      }
      if (crashes == 0) break;
      died += crashes;
      SCOPED_TRACE("disk " + std::to_string(disk) + ", write " + std::to_string(write));
      ASSERT_TRUE(done(stage)) << stage.words(device);
      check(stage);
    }
  EXPECT_GT(died, 5);
}

void sendUntilItHasBegun(Stage& stage, const json::object& body) {
  Device& device = stage.cluster.a();
  if (stage.statusOf(device, "x").empty()) stage.send(device, "in", "x", body);
}

TEST(GraphNodes, ADeathAtAnyWriteProposesOnce) {
  throughDeaths(
      [] {
        Stage stage = spendingStage();
        stage.deploy();
        return stage;
      },
      [](Stage& stage) { sendUntilItHasBegun(stage, spend("e", 10)); },
      [](Stage& stage) { return stage.statusOf(stage.cluster.a(), "x") == "completed"; },
      [](Stage& stage) {
        EXPECT_THAT(stage.cluster.a().decided(), SizeIs(1));
        EXPECT_THAT(outputsOf(stage, "x"), SizeIs(1));
      });
}

TEST(GraphNodes, ADeathAtAnyWriteMakesOneNestedRun) {
  throughDeaths(
      [] {
        Stage stage(outer(), {setupOf({}, policyFor({"outer", "inner"}))}, {});
        stage.deploy(inner());
        stage.deploy();
        return stage;
      },
      [](Stage& stage) {
        sendUntilItHasBegun(stage, {{"k", "tea"}});
      },
      [](Stage& stage) { return stage.statusOf(stage.cluster.a(), "x") == "completed"; },
      [](Stage& stage) {
        EXPECT_THAT(outputsOf(stage, "x"), SizeIs(2));
        EXPECT_THAT(domains::graph::runsIn(stage.cluster.a().replica().host("graph/0")->partition().state("inner")),
                    SizeIs(1));
      });
}

// --- dead messages, full queues

json::object asking() {
  return parsed(head("asking", R"("type":[{"name":"T","schema":{"type":"object","required":["k"],"properties":{"k":)" +
                                   std::string(kText) + R"(}}}],
   "node":[)" + kIn + R"(,"key":"k","capacity":2},
    {"id":"out","kind":"egress","in":["T"],"monitor":{"boundary":"journal","operation":"put"},"timeoutMs":80000000,
     "retry":{"maxAttempts":1}}],
   "edge":[{"from":"in","to":"out","type":"T","capacity":1}]})"));
}

Stage askingStage() {
  Stage stage(asking(), {setupOf({}, policyFor({"asking"}, true))}, {});
  stage.deploy();
  return stage;
}

TEST(GraphNodes, ADeadMessageIsSentAgainOnceAndAsksAgain) {
  Stage stage = askingStage();
  Device& desk = stage.cluster.a();
  stage.send(desk, "in", "x", {{"k", "tea"}});
  ASSERT_TRUE(stage.rounds([&] { return stage.asks(desk); })) << stage.words(desk);
  stage.answer(desk, "ada", "out", false);
  EXPECT_THAT(outputsOf(stage, "x", "degraded"), SizeIs(0));
  ASSERT_EQ(reasonsOf(stage, "x"), std::vector<std::string>{"out human_denied"});
  desk.losePower();
  const domains::graph::Run run = domains::graph::runsIn(stage.state(desk)).at(0);
  const std::string message = domains::graph::lettersIn(stage.state(desk), run.id).at(0).message.id.hex();
  const auto redrive = [&] {
    stage.propose(desk, graphs(), "asking", "Operator",
                  {{"type", "Redrive"}, {"run", run.id.hex()}, {"message", message}});
  };
  redrive();
  ASSERT_TRUE(stage.rounds([&] { return stage.asks(desk); })) << stage.words(desk);
  desk.losePower();
  ASSERT_TRUE(stage.rounds([&] { return desk.replica().graphs()->runtime("asking") != nullptr; })) << stage.words(desk);
  EXPECT_TRUE(stage.asks(desk));
  redrive();  // the same letter again: there is none
  stage.answer(desk, "ada", "out", true);
  EXPECT_EQ(outputsOf(stage, "x", "degraded"), (std::vector<json::value>{json::object{{"k", "tea"}}}));
  EXPECT_THAT(reasonsOf(stage, "x"), SizeIs(0));
  EXPECT_EQ(desk.replica().graphs()->waitsFor("asking"), "");
}

TEST(GraphNodes, AFullIngressRefusesAndEntersNothing) {
  Stage stage = askingStage();
  Device& desk = stage.cluster.a();
  const auto send = [&](int n) { stage.send(desk, "in", "m" + std::to_string(n), {{"k", "tea"}}); };
  // One is asked about, one waits behind it, two in the ingress.
  for (int n = 0; n < 4; ++n) send(n), stage.step(), stage.step();
  EXPECT_THAT(domains::graph::runsIn(stage.state(desk)), SizeIs(4)) << stage.words(desk);
  const std::uint64_t entries = desk.replica().host("graph/0")->partition().size();
  for (int n = 4; n < 104; ++n) send(n);
  for (int round = 0; round < 5; ++round) stage.step();
  EXPECT_EQ(desk.replica().host("graph/0")->partition().size(), entries);
  EXPECT_THAT(domains::graph::runsIn(stage.state(desk)), SizeIs(4));
  int refused = 0;
  for (const Answer& answer : desk.answers) refused += answer.message == "backpressure" ? 1 : 0;
  EXPECT_EQ(refused, 100);
  stage.answer(desk, "ada", "out", true);
  ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(desk, "m0") == "completed"; }));
  send(4);
  ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(desk, "m4") == "running"; })) << stage.words(desk);
}

}  // namespace
}  // namespace witan::node::test::graph_nodes_test
