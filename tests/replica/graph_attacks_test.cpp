// What outsiders tried on graphs: each must leave the device up and the graph's other runs at work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/graph_stage.h"

namespace witan::node::test::graph_attacks_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  std::vector<std::string> incidents() {
    std::vector<std::string> all;
    const auto incidents = desk().replica().data().incidents().value();
    for (const replication::Incident& one : incidents)
      if (one.kind == "graph") all.push_back(one.what);
    return all;
  }
  std::string refusal() { return desk().answers.empty() ? "" : desk().answers.back().message; }
  // With the document, if one is given, and what its ledger is told.
  void proposeDeploy(std::int64_t version, const std::string& digest, json::array gates,
                     const json::value& document = nullptr) {
    Request request = proposalRequest(graphs(), "gate", "Operator", concat("raw-", ++asked_),
                                      json::object{{"type", "Deploy"},
                                                   {"version", version},
                                                   {"digest", digest},
                                                   {"deliveries", 10'000},
                                                   {"edges", json::array{}},
                                                   {"gates", std::move(gates)}})
                          .value();
    if (document.is_object()) request.text = canonicalJson(document);
    stage_.submit(desk(), request);
    stage_.rounds([] { return false; }, 5);
  }

  int asked_ = 0;
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

// Found by guided plans: the runtime began a run, the ledger refused it, and the next step made the graph stand.
TEST_F(GraphAttacks, AnOperationIdThatNamesAnotherMessageBeginsNothing) {
  stage_.deploy();
  const auto sent = [&](const char* external, const char* operation) {
    stage_.submit(desk(), ingressRequest("gate", "in", external, operation, R"({"k":"one"})"));
    stage_.rounds([] { return false; }, 5);
    const Answer* answer = desk().answered(operation);
    return answer == nullptr ? kernel::Outcome::approved : answer->outcome;
  };
  EXPECT_EQ(sent("one", "same"), kernel::Outcome::approved);
  EXPECT_EQ(sent("other", "same"), kernel::Outcome::refused);
  EXPECT_EQ(desk().answers.back().operationId, "same");
  EXPECT_EQ(sent("one", "same"), kernel::Outcome::duplicate);
  EXPECT_EQ(desk().replica().graphs()->waitsFor("gate"), "");
  EXPECT_EQ(domains::graph::runsIn(stage_.state(desk())).size(), 1u);
  ASSERT_TRUE(stage_.rounds([&] { return stage_.statusOf(desk(), "one") == "degraded"; })) << stage_.words(desk());
  // Once the message may come again, its old name still names the first one.
  desk().passTime(3'700'000);
  EXPECT_NE(sent("one", "same"), kernel::Outcome::approved);
  goesOn("next");
  EXPECT_THAT(incidents(), IsEmpty());
}

TEST_F(GraphAttacks, AMessageTooLargeOrWithALongKeyIsRefusedAtTheDoor) {
  stage_.deploy();
  stage_.send(desk(), "in", "large", {{"k", std::string(700 << 10, 'x')}});
  EXPECT_TRUE(stage_.rounds([&] { return refusal() == "too_large"; }, 5)) << stage_.words(desk());
  stage_.send(desk(), "in", "long", {{"k", std::string(5'000, 'x')}});
  EXPECT_TRUE(stage_.rounds([&] { return refusal() == "key"; }, 5)) << stage_.words(desk());
  goesOn("next");
}

// The role Operator proposes to the ledger what no document says. Nothing of it enters, and the graph stays open.
TEST_F(GraphAttacks, ADeploymentThatItsDocumentDoesNotBearOutIsRefused) {
  stage_.deploy();
  const json::array gates{json::array{"in", json::array{}}, json::array{"doctor", json::array{"mallory"}},
                          json::array{"out", json::array{}}};
  const json::object other = gateDocument(kAskMs, 2);
  const std::string digest = graph::readDocument(other).document->digest;
  proposeDeploy(2, digest, gates, other);  // another person at the gate
  EXPECT_THAT(refusal(), HasSubstr("its document has another version"));
  proposeDeploy(2, std::string(64, 'a'), gates, other);
  EXPECT_THAT(refusal(), HasSubstr("its document has another version"));
  proposeDeploy(2, digest, gates);  // no document at all
  EXPECT_THAT(refusal(), HasSubstr("deployed with its document"));
  json::object stranger = gateDocument(kAskMs, 4);
  stranger["graph"].as_object()["id"] = "stranger";
  proposeDeploy(4, graph::readDocument(stranger).document->digest, gates, stranger);
  EXPECT_THAT(refusal(), HasSubstr("its document is of graph stranger"));
  // A cycle without a guard, which lint refuses.
  const json::object endless = gateDocument(kAskMs, 5, R"(,{"from":"doctor","to":"doctor","type":"T"})");
  stage_.submit(desk(), deployRequest(graphs(), *graph::readDocument(endless).document, endless, "endless").value());
  stage_.rounds([] { return false; }, 5);
  EXPECT_THAT(refusal(), HasSubstr("GL07"));
  goesOn("now");
  const json::object last = gateDocument(kAskMs, std::numeric_limits<std::int64_t>::max());
  stage_.submit(desk(), deployRequest(graphs(), *graph::readDocument(last).document, last, "last").value());
  stage_.rounds([] { return false; }, 5);
  EXPECT_THAT(refusal(), HasSubstr("the next one is at most"));
  stage_.deploy(gateDocument(kAskMs, 6));
  ASSERT_TRUE(stage_.rounds([&] { return desk().replica().graphs()->runtime("gate")->deployed()->version == 6; }));
  goesOn("next");
  desk().losePower();
  ASSERT_TRUE(stage_.rounds([&] { return desk().replica().graphs()->runtime("gate") != nullptr; }))
      << desk().replica().graphs()->waitsFor("gate");
  EXPECT_EQ(desk().replica().graphs()->runtime("gate")->deployed()->version, 6);
  goesOn("last");
}

// An owner before this one took it all the same: the version before it goes on, and a higher one mends it.
TEST_F(GraphAttacks, WhatAnotherOwnerTookIsNotRunHere) {
  stage_.deploy();
  const json::object endless = gateDocument(kAskMs, 2, R"(,{"from":"doctor","to":"doctor","type":"T"})");
  Request request = deployRequest(graphs(), *graph::readDocument(endless).document, endless, "endless").value();
  request.device = desk().name();
  ASSERT_TRUE(GraphBodies(desk().replica().data(), "main").keep({std::make_shared<const json::value>(endless)}).ok());
  desk().replica().sign({&request, 1});
  (void)desk().replica().host("graph/0")->decideAs(request, request, at(desk().ms).wall, "");
  stage_.rounds([] { return false; }, 5);
  EXPECT_THAT(stage_.words(desk()), HasSubstr("version 2 is not run: GL07"));
  EXPECT_THAT(incidents(), ElementsAre(HasSubstr("gate: version 2 is not run: GL07")));
  stage_.deploy(gateDocument(kAskMs, 3));
  ASSERT_TRUE(stage_.rounds([&] { return desk().replica().graphs()->runtime("gate")->deployed()->version == 3; }));
  goesOn("next");
}

// A graph that stands says so, where people look and where they send.
TEST_F(GraphAttacks, AGraphThatStandsSaysWhy) {
  stage_.deploy();
  Request step = proposalRequest(graphs(), "gate", "Runtime", "anothers",
                                 json::object{{"type", "Begin"},
                                              {"run", std::string(64, 'a')},
                                              {"version", 1},
                                              {"node", "in"},
                                              {"external", "x"},
                                              {"message", std::string(64, 'b')},
                                              {"key", "k"},
                                              {"digest", std::string(64, 'c')}})
                     .value();
  step.device = desk().name();
  desk().replica().sign({&step, 1});
  const auto decided = desk().replica().host("graph/0")->decideAs(step, step, at(desk().ms).wall, "");
  ASSERT_EQ(decided.outcome, kernel::Outcome::approved) << decided.invariant << decided.message;
  stage_.rounds([] { return false; }, 5);
  stage_.send(desk(), "in", "late", {{"k", "late"}});
  stage_.rounds([] { return false; }, 5);
  EXPECT_EQ(refusal(), "unavailable: the graph stands: another wrote a step of its runtime");
  EXPECT_THAT(incidents(), ElementsAre("gate: another wrote a step of its runtime"));
}

}  // namespace
}  // namespace witan::node::test::graph_attacks_test
