// What outsiders tried on graphs: each must leave the device up and the graph's other runs at work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/graph_stage.h"

namespace witan::node::test::graph_attacks_test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kAskMs = 500;

class GraphAttacks : public ::testing::Test {
 protected:
  GraphAttacks() : stage_(gateDocument(kAskMs), {gateSetup()}, {}) {}

  Device& desk() { return stage_.cluster.a(); }
  // A run of another message comes to its person.
  void goesOn(const char* external) {
    stage_.send(desk(), "in", external, {{"k", external}});
    EXPECT_TRUE(stage_.rounds([&] { return stage_.asks(desk()); })) << stage_.words(desk());
    stage_.answer(desk(), "dr", "doctor");
    EXPECT_TRUE(stage_.rounds([&] { return stage_.statusOf(desk(), external) == "completed"; }))
        << stage_.statusOf(desk(), external) << stage_.words(desk());
  }
  std::string refusal() { return desk().answers.empty() ? "" : desk().answers.back().message; }
  void proposeDeploy(std::int64_t version, const std::string& digest, json::array gates) {
    stage_.propose(desk(), graphs(), "gate", "Operator",
                   {{"type", "Deploy"},
                    {"version", version},
                    {"digest", digest},
                    {"deliveries", 100},
                    {"edges", json::array{}},
                    {"gates", std::move(gates)}});
    stage_.rounds([] { return false; }, 5);
  }

  Stage stage_;
};

// The device is idle, so the run is not forgotten when its time has come; then it is sent again.
TEST_F(GraphAttacks, ARunIsSentAgainAfterItsHorizon) {
  stage_.deploy();
  stage_.send(desk(), "in", "late", {{"k", "late"}});
  ASSERT_TRUE(stage_.rounds([&] { return stage_.statusOf(desk(), "late") == "degraded"; }));
  desk().passTime(3'700'000);
  const auto run = domains::graph::runsIn(stage_.state(desk())).at(0);
  const auto letters = domains::graph::lettersIn(stage_.state(desk()), run.id);
  ASSERT_EQ(letters.size(), 1u);
  stage_.propose(desk(), graphs(), "gate", "Operator",
                 {{"type", "Redrive"}, {"run", run.id.hex()}, {"message", letters[0].message.id.hex()}});
  ASSERT_TRUE(stage_.rounds([&] { return stage_.asks(desk()); })) << stage_.words(desk());
  stage_.answer(desk(), "dr", "doctor");
  EXPECT_TRUE(stage_.rounds([&] { return stage_.statusOf(desk(), "late") != "running"; }));
  goesOn("next");
}

TEST_F(GraphAttacks, AMessageTooLargeOrWithALongKeyIsRefusedAtTheDoor) {
  stage_.deploy();
  stage_.send(desk(), "in", "large", {{"k", std::string(700 << 10, 'x')}});
  EXPECT_TRUE(stage_.rounds([&] { return refusal() == "too_large"; }, 5)) << stage_.words(desk());
  stage_.send(desk(), "in", "long", {{"k", std::string(5'000, 'x')}});
  EXPECT_TRUE(stage_.rounds([&] { return refusal() == "key"; }, 5)) << stage_.words(desk());
  goesOn("next");
}

// The role Operator proposes to the ledger what no document says.
TEST_F(GraphAttacks, ADeploymentThatItsDocumentDoesNotBearOutIsNotRun) {
  const auto keep = [&](const json::object& document) {
    const auto body = std::make_shared<const json::value>(document);
    EXPECT_TRUE(GraphBodies(desk().replica().data(), "main").keep({body}).ok());
    return graph::readDocument(*body).document;
  };
  stage_.deploy();
  const json::array gates{json::array{"in", json::array{}}, json::array{"doctor", json::array{"mallory"}},
                          json::array{"out", json::array{}}};
  const auto other = keep(gateDocument(kAskMs, 2));
  proposeDeploy(2, other->digest, gates);  // another person at the gate
  EXPECT_THAT(stage_.words(desk()), HasSubstr("version 2 is not run: its document has another version"));
  proposeDeploy(3, std::string(64, 'a'), gates);  // no document at all
  json::object stranger = gateDocument(kAskMs, 4);
  stranger["graph"].as_object()["id"] = "stranger";
  proposeDeploy(4, keep(stranger)->digest, gates);
  EXPECT_THAT(stage_.words(desk()), HasSubstr("version 4 is not run: its document is of graph stranger"));
  // A cycle without a guard, which lint refuses.
  const auto endless = keep(gateDocument(kAskMs, 5, R"(,{"from":"doctor","to":"doctor","type":"T"})"));
  json::object action = parseJson(toJson(domains::graph::deployStep(*endless)))->get_object();
  action["type"] = "Deploy";
  stage_.propose(desk(), graphs(), "gate", "Operator", action);
  stage_.rounds([] { return false; }, 5);
  EXPECT_THAT(stage_.words(desk()), HasSubstr("version 5 is not run: GL07"));
  proposeDeploy(std::numeric_limits<std::int64_t>::max(), other->digest, gates);
  EXPECT_THAT(refusal(), HasSubstr("the next one is at most"));
  // A higher version mends it, also for who folds all that again.
  stage_.deploy(gateDocument(kAskMs, 6));
  ASSERT_TRUE(stage_.rounds([&] { return desk().replica().graphs()->runtime("gate")->deployed()->version == 6; }));
  goesOn("next");
  desk().losePower();
  ASSERT_TRUE(stage_.rounds([&] { return desk().replica().graphs()->runtime("gate") != nullptr; }))
      << desk().replica().graphs()->waitsFor("gate");
  EXPECT_EQ(desk().replica().graphs()->runtime("gate")->deployed()->version, 6);
  goesOn("last");
}

}  // namespace
}  // namespace witan::node::test::graph_attacks_test
