// Runs that begin of themselves: by edits of the journal, by facts of ledgers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/entry_agent.h"
#include "replication/records/journal_entity.h"
#include "tests/replica/graph_stage.h"

namespace witan::node::test::graph_triggers_test {
namespace {

using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// in -> out, with one run of each message.
json::object triggered(const std::string& trigger, const std::string& more = "", std::int64_t version = 1) {
  return parseJson(
             R"({"graph":{"id":"watch","version":)" + std::to_string(version) +
             R"(,"format":1,"locales":["device"],"timeoutMs":86400000},"monitor":{"boundaries":["intake","journal"]},
    "type":[{"name":"T","schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string","maxLength":50},
      "k":{"type":"string","maxLength":50}}}},
     {"name":"Fact","schema":{"type":"object","required":["entity","key"],"properties":{
      "entity":{"type":"string","maxLength":50},"key":{"type":"string","maxLength":50},
      "value":{"type":"string","maxLength":50}}}}],
    "node":[{"id":"in","kind":"ingress","out":["T"],"trigger":)" +
             trigger + R"(,"monitor":{"boundary":"intake","operation":"admit"})" + more +
             R"(},{"id":"out","kind":"egress","in":["T"],"monitor":{"boundary":"journal","operation":"put"},
      "timeoutMs":80000000,"retry":{"maxAttempts":1}}],
    "edge":[{"from":"in","to":"out","type":"T"}]})")
      .value()
      .as_object();
}

Stage watchStage(json::object document, std::size_t devices = 1, bool asks = false,
                 std::vector<const kernel::DomainModule*> domains = {}) {
  const std::vector<std::string> members{"id", "k", "entity", "key", "value"};
  const agents::Policy policy = graphPolicy({"watch"}, members, members, asks);
  return {std::move(document), std::vector<std::shared_ptr<const AgentSetup>>(devices, setupOf({}, policy)),
          std::move(domains)};
}

void edit(Device& device, const std::string& id, const std::string& payload, std::int64_t aheadMs = 0,
          const std::string& type = "report") {
  replication::Space& journal = **device.replica().data().database(replication::DatabaseName::journal).space("main");
  const auto view = journalViewIn(journal, id).value();
  const std::int64_t nowMs = at(device.ms).wall.micros / 1000;
  auto body = replication::journalEdit(view, {type, payload, "ann", nowMs + aheadMs, std::nullopt}).value();
  const replication::JournalChange change{id, std::move(body), "", ChangeOrigin::local};
  const auto writes = replication::journalWrites(journal, {&change, 1}).value();
  ASSERT_TRUE(device.replica().commit(replication::DatabaseName::journal, "main", writes).ok());
}

// Of runs that have completed.
std::vector<std::string> outputs(Stage& stage) {
  std::vector<std::string> all;
  for (const json::value& body : stage.outputsOf(stage.cluster.a(), "completed")) all.push_back(canonicalJson(body));
  return all;
}
std::size_t runs(Stage& stage) { return domains::graph::runsIn(stage.state(stage.cluster.a())).size(); }
void pass(Stage& stage, int rounds = 40) {
  for (int round = 0; round < rounds; ++round) stage.step();
}

constexpr const char* kReports = R"({"source":"journal","match":"report"})";

TEST(GraphTriggers, EachEditOfATypeBeginsOneRun) {
  Stage stage = watchStage(triggered(kReports));
  Device& desk = stage.cluster.a();
  edit(desk, "old", R"({"k":"before the graph"})");
  stage.deploy();
  edit(desk, "r1", R"({"k":"tea","secret":7})");
  edit(desk, "note", R"({"k":"no report"})", 0, "note");
  edit(desk, "watch/own", R"({"k":"a person's, whatever its name"})");
  edit(desk, "bad", R"({"k":7})");
  ASSERT_TRUE(stage.rounds([&] { return runs(stage) == 2; })) << stage.words(desk);
  edit(desk, "r1", R"({"k":"coffee"})");
  ASSERT_TRUE(stage.rounds([&] { return runs(stage) == 3; })) << stage.words(desk);
  pass(stage);
  EXPECT_THAT(outputs(stage), UnorderedElementsAre(R"({"id":"r1","k":"tea"})", R"({"id":"r1","k":"coffee"})",
                                                   R"({"id":"watch/own","k":"a person's, whatever its name"})"));
  EXPECT_EQ(desk.replica().graphs()->meter().counts().at({"watch", "in", "refused", "schema"}), 1u);
}

// Nothing enters twice: after a crash and at a new owner everything is looked at again.
TEST(GraphTriggers, ANewOwnerEntersNothingTwice) {
  Stage stage = watchStage(triggered(kReports), 2);
  Device &desk = stage.cluster.a(), &other = stage.cluster.b();
  stage.deploy();
  for (int n = 0; n < 3; ++n) edit(desk, "r" + std::to_string(n), "{}");
  ASSERT_TRUE(stage.rounds([&] { return runs(stage) == 3; })) << stage.words(desk);
  desk.losePower();
  stage.connectAll(false), stage.connectAll(true);
  pass(stage);
  EXPECT_EQ(runs(stage), 3u);
  ASSERT_TRUE(desk.replica().transferOwnership("graph/0", "b", "test", at(desk.ms)).ok());
  ASSERT_TRUE(stage.rounds([&] { return other.replica().graphs()->runtime("watch") != nullptr; }));
  edit(desk, "r3", "{}");
  ASSERT_TRUE(stage.rounds([&] { return runs(stage) == 4; })) << stage.words(other);
  pass(stage);
  EXPECT_EQ(runs(stage), 4u);
}

// What has no room stays in the journal, and enters when there is some.
TEST(GraphTriggers, AFullIngressLeavesItInTheJournal) {
  Stage stage = watchStage(triggered(kReports, R"(,"key":"k","capacity":1)"), 1, true);
  Device& desk = stage.cluster.a();
  stage.document["edge"].as_array()[0].as_object()["capacity"] = 1;
  stage.document["type"].as_array()[0].as_object()["schema"].as_object()["required"] = json::array{"id", "k"};
  stage.deploy();
  for (int n = 0; n < 9; ++n) edit(desk, "r" + std::to_string(n), R"({"k":"tea"})");
  pass(stage);
  const std::size_t first = runs(stage);
  EXPECT_LT(first, 9u);
  for (std::size_t done = 0; done < 9; ++done) {
    ASSERT_TRUE(stage.rounds([&] { return outputs(stage).size() == done && stage.asks(desk); })) << stage.words(desk);
    stage.answer(desk, "ada", "out");
  }
  ASSERT_TRUE(stage.rounds([&] { return outputs(stage).size() == 9; })) << stage.words(desk);
}

// An author whose clock is ahead: it waits for its time, so it is never older than its own entry and enters once.
TEST(GraphTriggers, WhatIsDatedAheadWaitsForItsTime) {
  Stage stage = watchStage(triggered(kReports));
  Device& desk = stage.cluster.a();
  stage.deploy();
  edit(desk, "r1", "{}", 60'000);
  const std::int64_t before = desk.ms;
  ASSERT_TRUE(stage.rounds([&] { return runs(stage) == 1; }, 200)) << stage.words(desk);
  EXPECT_GE(desk.ms - before, 59'000);
}

// A trigger that a version brings begins with it; one that it keeps goes on.
TEST(GraphTriggers, AVersionKeepsItsTriggers) {
  Stage stage = watchStage(triggered(R"({"source":"manual"})"));
  Device& desk = stage.cluster.a();
  stage.deploy();
  edit(desk, "early", "{}");
  pass(stage);
  stage.deploy(triggered(kReports, "", 2));
  pass(stage);
  EXPECT_EQ(runs(stage), 0u);
  edit(desk, "r1", "{}");
  ASSERT_TRUE(stage.rounds([&] { return runs(stage) == 1; })) << stage.words(desk);
  stage.deploy(triggered(kReports, R"(,"capacity":7)", 3));
  edit(desk, "r2", "{}");
  ASSERT_TRUE(stage.rounds([&] { return runs(stage) == 2; })) << stage.words(desk);
  pass(stage);
  EXPECT_EQ(runs(stage), 2u);
}

TEST(GraphTriggers, AFactOfALedgerBeginsOneRun) {
  json::object document = triggered(R"({"source":"ledger","match":"udt order.kind=PRESUMPTIVE"})");
  for (const char* list : {"node", "edge"})
    for (json::value& one : document[list].as_array())
      for (const char* member : {"in", "out", "type"})
        if (json::value* value = one.as_object().if_contains(member); value != nullptr)
          *value = value->is_array() ? json::value(json::array{"Fact"}) : json::value("Fact");
  Stage stage = watchStage(std::move(document), 1, false, {&moduleOf("udt")});
  Device& desk = stage.cluster.a();
  stage.deploy();
  const kernel::DomainModule& udt = moduleOf("udt");
  stage.submit(desk, initRequest(udt, "Ruth", "ruth", json::object{{"baselinePositiveOn", "2025-12-01"}}));
  stage.step();
  stage.propose(desk, udt, "Ruth", "LabOrder",
                {{"type", "DocumentRationale"}, {"order", "R1"}, {"text", "treatment plan: random monitoring"}});
  stage.propose(desk, udt, "Ruth", "LabOrder",
                {{"type", "OrderTest"},
                 {"order", "R1"},
                 {"kind", "PRESUMPTIVE"},
                 {"code", "80307"},
                 {"method", "IMMUNOASSAY"},
                 {"dos", "2026-03-23"},
                 {"coverage", "NONE"}});
  ASSERT_TRUE(stage.rounds([&] { return runs(stage) == 1; }, 100)) << stage.words(desk);
  desk.losePower();
  pass(stage);
  EXPECT_THAT(outputs(stage), UnorderedElementsAre(R"({"entity":"Ruth","key":"R1","value":"PRESUMPTIVE"})"));
}

// --- causes

// Begins by edits of type `from`, and puts entries of type `to`: the message's, or its own.
json::object relay(const char* id, const char* from, const char* to) {
  return parseJson(
             concat(R"({"graph":{"id":")", id,
                    R"(","version":1,"format":1,"locales":["device"]},"monitor":{"boundaries":["intake","journal"]},
    "type":[{"name":")",
                    to, R"(","schema":{"type":"object","required":["id"],"properties":{
      "id":{"type":"string","maxLength":99},"type":{"type":"string","maxLength":9},
      "payload":{"type":"object","properties":{"k":{"type":"string","maxLength":9}}}}}}],
    "node":[{"id":"in","kind":"ingress","out":[")",
                    to, R"("],"trigger":{"source":"journal","match":")", from,
                    R"("},"monitor":{"boundary":"intake","operation":"admit"}},
     {"id":"out","kind":"egress","in":[")",
                    to, R"("],"monitor":{"boundary":"journal","operation":"put"},"sink":{"tool":"journal.put"},
      "capabilities":[{"resource":"journal.put"}]}],
    "edge":[{"from":"in","to":"out","type":")",
                    to, R"("}]})"))
      .value()
      .as_object();
}
const std::vector<std::string> kRelayed{"id", "type", "payload.k"};

std::size_t runsOf(Device& device, const char* graph) {
  return domains::graph::runsIn(device.replica().host("graph/0")->partition().state(graph)).size();
}
bool told(Device& device, std::string_view kind) {
  return std::ranges::count(device.replica().data().incidents().value(), kind, &replication::Incident::kind) == 1;
}

// A cause is what an operation says, through a crash and at another owner: eight runs, then no more.
TEST(GraphTriggers, RunsThatCauseEachOtherEnd) {
  const agents::Policy policy = graphPolicy({"ping", "pong"}, kRelayed, kRelayed);
  Stage stage(relay("ping", "Ping", "Pong"), std::vector<std::shared_ptr<const AgentSetup>>(2, setupOf({}, policy)),
              {});
  Device &desk = stage.cluster.a(), &other = stage.cluster.b();
  stage.deploy();
  stage.deploy(relay("pong", "Pong", "Ping"));
  edit(desk, "first", "{}", 0, "Ping");
  const auto both = [&](Device& device) { return runsOf(device, "ping") + runsOf(device, "pong"); };
  ASSERT_TRUE(stage.rounds([&] { return both(desk) == 3; })) << stage.words(desk);
  desk.losePower();
  stage.connectAll(false), stage.connectAll(true);
  ASSERT_TRUE(stage.rounds([&] { return both(desk) == 5; })) << stage.words(desk);
  ASSERT_TRUE(desk.replica().transferOwnership("graph/0", "b", "test", at(desk.ms)).ok());
  ASSERT_TRUE(stage.rounds([&] { return both(other) == graph::kMostHops; })) << stage.words(other);
  ASSERT_TRUE(stage.rounds([&] { return told(other, "graphLoop"); })) << stage.words(other);
  pass(stage, 200);
  EXPECT_EQ(both(other), graph::kMostHops);
  EXPECT_EQ(other.replica().graphs()->meter().counts().at({"ping", "in", "refused", "loop"}), 1u);
  edit(desk, "second", "{}", 0, "Pong");  // of a person: another chain
  ASSERT_TRUE(stage.rounds([&] { return both(other) == 2 * graph::kMostHops; })) << stage.words(other);
  pass(stage);
  EXPECT_EQ(both(other), 2 * graph::kMostHops);
}

// Whatever entry it is put into.
TEST(GraphTriggers, AnEffectOfTheGraphItselfBeginsNothing) {
  Stage stage(relay("self", "note", "Echo"), {setupOf({}, graphPolicy({"self"}, kRelayed, kRelayed))}, {});
  Device& desk = stage.cluster.a();
  stage.deploy();
  stage.send(desk, "in", "x", {{"id", "elsewhere/1"}, {"type", "note"}, {"payload", {{"k", "tea"}}}});
  ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(desk, "x") == "completed"; })) << stage.words(desk);
  EXPECT_THAT(stage.journal(desk, "elsewhere/"), SizeIs(1));
  pass(stage);
  EXPECT_EQ(runs(stage), 1u);
}

// Writes an entry that begins the next run.
class Heir final : public agents::Agent {
 public:
  Heir() {
    spec_.id = "heir", spec_.version = "1", spec_.what = "writes", spec_.category = "test";
    spec_.locale = {"device"}, spec_.inGraphs = true, spec_.capabilities = {{"journal.put"}};
  }
  const agents::AgentSpec& spec() const override { return spec_; }
  agents::Turn step(const json::value& sigma, const agents::Input& input) const override {
    if (input.kind == agents::InputKind::wake) {
      const json::value body = input.content.at("graph").at("body");
      const std::string id = std::string(body.at("id").as_string()) + "+";
      const json::object entry{{"id", id}, {"type", "report"}, {"payload", json::object{{"k", "next"}}}};
      return {body, {}, agents::Actions{agents::action("journal.put", entry, {id})}};
    }
    agents::Finish finish;
    finish.emits = {{"T", sigma}};
    return {nullptr, {}, std::move(finish)};
  }

 private:
  agents::AgentSpec spec_;
};

// What an agent of a run does counts in its chain.
TEST(GraphTriggers, AChainByWayOfAnAgentEnds) {
  json::object document = triggered(kReports);
  document.at("node").as_array().push_back(
      parseJson(
          R"({"id":"work","kind":"agent","agent":"heir","version":"1","in":["T"],"out":["T"],
          "capabilities":[{"resource":"journal.put"}]})")
          .value());
  document.at("edge") =
      parseJson(R"([{"from":"in","to":"work","type":"T"},{"from":"work","to":"out","type":"T"}])").value();
  agents::Policy policy = graphPolicy({"watch"}, {"id", "k"}, {"id", "k", "type", "payload.k"});
  policy.grant.push_back({"heir", "test", {"device"}, {"journal.put"}, {"journal"}});
  const Heir heir;
  Stage stage(std::move(document), {setupOf({&heir}, policy)}, {});
  Device& desk = stage.cluster.a();
  stage.deploy();
  edit(desk, "r", R"({"k":"first"})");
  ASSERT_TRUE(stage.rounds([&] { return runs(stage) == 3; })) << stage.words(desk);
  desk.losePower();
  ASSERT_TRUE(stage.rounds([&] { return told(desk, "graphLoop"); }, 2'000)) << stage.words(desk) << runs(stage);
  pass(stage);
  EXPECT_EQ(runs(stage), graph::kMostHops);
}

// in -> record (udt) -> out; echo -> tell, which a fact of udt begins.
json::object recording() {
  return parseJson(
             R"({"graph":{"id":"record","version":1,"format":1,"locales":["device"]},"monitor":{"boundaries":["intake"]},
    "type":[{"name":"T","schema":{"type":"object","required":["entity","action"],"properties":{
      "entity":{"type":"string","maxLength":50},"action":{"type":"object","properties":{
       "type":{"type":"string"},"order":{"type":"string"},"kind":{"type":"string"},"code":{"type":"string"},
       "method":{"type":"string"},"dos":{"type":"string"},"coverage":{"type":"string"}}}}}},
     {"name":"Fact","schema":{"type":"object","required":["entity"],"properties":{
      "entity":{"type":"string","maxLength":50}}}}],
    "node":[{"id":"in","kind":"ingress","out":["T"],"monitor":{"boundary":"intake","operation":"admit"}},
     {"id":"record","kind":"domain","domain":"udt","role":"LabOrder","in":["T"],"out":["Fact"],
      "capabilities":[{"resource":"propose"}]},
     {"id":"out","kind":"egress","in":["Fact"],"monitor":{"boundary":"intake","operation":"admit"}},
     {"id":"echo","kind":"ingress","out":["Fact"],"trigger":{"source":"ledger","match":"udt order.kind=PRESUMPTIVE"},
      "monitor":{"boundary":"intake","operation":"admit"}}],
    "edge":[{"from":"in","to":"record","type":"T"},{"from":"record","to":"out","type":"Fact"},
     {"from":"echo","to":"out","type":"Fact"}]})")
      .value()
      .as_object();
}

TEST(GraphTriggers, ADecisionOfTheGraphItselfBeginsRunsOfOthersOnly) {
  std::vector<std::string> admitted{"entity"};
  for (const char* member : {"type", "order", "kind", "code", "method", "dos", "coverage"})
    admitted.push_back(concat("action.", member));
  json::object watch = recording();
  watch.at("graph").as_object()["id"] = "watch";
  const agents::Policy policy = graphPolicy({"record", "watch"}, admitted);
  Stage stage(recording(), {setupOf({}, policy)}, {&moduleOf("udt")});
  Device& desk = stage.cluster.a();
  stage.deploy();
  stage.deploy(watch);
  const kernel::DomainModule& udt = moduleOf("udt");
  stage.submit(desk, initRequest(udt, "Ruth", "ruth", json::object{{"baselinePositiveOn", "2025-12-01"}}));
  stage.step();
  stage.propose(desk, udt, "Ruth", "LabOrder",
                {{"type", "DocumentRationale"}, {"order", "R1"}, {"text", "treatment plan: random monitoring"}});
  stage.send(desk, "in", "x",
             {{"entity", "Ruth"},
              {"action",
               {{"type", "OrderTest"},
                {"order", "R1"},
                {"kind", "PRESUMPTIVE"},
                {"code", "80307"},
                {"method", "IMMUNOASSAY"},
                {"dos", "2026-03-23"},
                {"coverage", "NONE"}}}});
  ASSERT_TRUE(stage.rounds([&] { return runsOf(desk, "watch") == 1; }, 200)) << stage.words(desk);
  desk.losePower();
  pass(stage);
  EXPECT_EQ(runsOf(desk, "watch"), 1u);
  EXPECT_EQ(runs(stage), 1u);
}

// --- what can never come

TEST(GraphTriggers, WhatCanNeverFireIsNotDeployed) {
  const auto wrong = [](const char* match) {
    const json::object document = triggered(concat(R"({"source":"ledger","match":")", match, R"("})"));
    const std::vector<const kernel::DomainModule*> known{&moduleOf("udt"), &graphs()};
    return wrongTriggers(*graph::readDocument(document).document, known);
  };
  EXPECT_EQ(wrong("udt order.kind=PRESUMPTIVE"), "");
  EXPECT_EQ(wrong("udt"), "");
  EXPECT_EQ(wrong("nosuchdomain"), "node in: trigger: there is no domain \"nosuchdomain\"");
  EXPECT_EQ(wrong("udt nosuchfield=1"), "node in: trigger: udt has no column \"nosuchfield\" (witan domain show udt)");

  const json::object never = triggered(R"({"source":"ledger","match":"nosuchdomain"})");
  Stage stage = watchStage(never);
  Device& desk = stage.cluster.a();
  stage.submit(desk, initRequest(graphs(), "watch", "begin", json::object{}));
  stage.step();
  stage.submit(desk, deployRequest(graphs(), *graph::readDocument(never).document, never, "deploy").value());
  pass(stage);
  EXPECT_FALSE(domains::graph::deployedIn(stage.state(desk)));
  EXPECT_THAT(stage.words(desk), ::testing::HasSubstr("there is no domain \"nosuchdomain\""));
}

}  // namespace
}  // namespace witan::node::test::graph_triggers_test
