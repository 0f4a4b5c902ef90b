// Bodies of messages that are lost or damaged: each holds up its own message, and nothing else of its graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replication/records/record_write.h"
#include "tests/replica/graph_stage.h"

namespace witan::node::test::graph_bodies_test {
namespace {

using kernel::Outcome;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class GraphBodiesLost : public ::testing::Test {
 protected:
  GraphBodiesLost()
      : stage_(gateDocument(600'000), {gateSetup()}, {}, [this](std::size_t, ReplicaConfig&) {
          if (image_) desk().stores[1].restoreImage(*std::exchange(image_, nullptr));
        }) {
    stage_.deploy();
  }

  Device& desk() { return stage_.cluster.a(); }
  const GraphRuntime& runtime() { return *desk().replica().graphs(); }
  void ask(const std::string& external) {
    stage_.send(desk(), "in", external, {{"k", external}});
    EXPECT_TRUE(stage_.rounds([&] { return questionOf(external).has_value(); })) << stage_.words(desk());
  }
  std::optional<domains::graph::Question> questionOf(const std::string& external) {
    for (const domains::graph::Run& run : domains::graph::runsIn(stage_.state(desk())))
      for (const domains::graph::Question& one : domains::graph::questionsIn(stage_.state(desk())))
        if (run.external == external && one.run == run.id.hex()) return one;
    return std::nullopt;
  }
  Outcome propose(const char* role, const json::object& action, std::string* why = nullptr) {
    const std::string operation = concat("try-", ++asked_);
    const Request request = *proposalRequest(graphs(), "gate", role, operation, action);
    stage_.submit(desk(), request);
    stage_.rounds([&] { return desk().answered(operation) != nullptr; }, 20);
    const Answer* answer = desk().answered(operation);
    if (answer != nullptr && why != nullptr) *why = answer->message;
    return answer == nullptr ? Outcome::frozen : answer->outcome;
  }
  Outcome answer(const domains::graph::Question& question, bool approve, std::string* why = nullptr) {
    return propose("Person",
                   {{"type", "Answer"},
                    {"run", question.run},
                    {"node", question.node},
                    {"span", question.span},
                    {"by", "dr"},
                    {"digest", question.digest},
                    {"approve", approve}},
                   why);
  }
  std::string statusOf(const std::string& external) { return stage_.statusOf(desk(), external); }
  bool ends(const std::string& external, const std::string& status) {
    return stage_.rounds([&] { return statusOf(external) == status; }, 50);
  }
  void remember() { kept_ = desk().stores[1].image(); }
  // The disk of the bodies goes back to what was remembered; the ledgers do not.
  void loseBodies() {
    image_ = kept_;
    desk().losePower();
    EXPECT_TRUE(stage_.rounds([&] { return runtime().runtime("gate") != nullptr; }, 50)) << runtime().waitsFor("gate");
  }
  void bringBack(const std::string& external) {
    const auto body = std::make_shared<const json::value>(json::object{{"k", external}});
    EXPECT_TRUE(GraphBodies(desk().replica().data(), "main").keep({body}).ok());
  }

  int asked_ = 0;
  std::shared_ptr<const store::DiskImage> kept_, image_;
  Stage stage_;
};

// N2, N5: the question whose body is lost cannot be answered; all others are, and new runs begin.
TEST_F(GraphBodiesLost, AQuestionHoldsUpItsOwnRunAlone) {
  ask("old");
  remember();
  ask("lost"), ask("gone");
  loseBodies();
  EXPECT_THAT(runtime().lackingIn("gate"), SizeIs(2));
  EXPECT_THAT(runtime().waitsFor("gate"), HasSubstr(" is lost here, and 1 more"));
  const auto incidents = desk().replica().data().incidents().value();
  EXPECT_EQ(std::ranges::count(incidents, "graphBody", &replication::Incident::kind), 2);
  EXPECT_EQ(answer(*questionOf("old"), true), Outcome::approved);
  EXPECT_TRUE(ends("old", "completed")) << stage_.words(desk());
  std::string why;
  for (const bool approve : {true, false}) EXPECT_EQ(answer(*questionOf("lost"), approve, &why), Outcome::refused);
  EXPECT_THAT(why, HasSubstr("is not on the device of the owner"));
  EXPECT_EQ(propose("Operator", {{"type", "Cancel"}, {"run", questionOf("gone")->run}, {"why", "lost"}}),
            Outcome::approved);
  EXPECT_TRUE(ends("gone", "cancelled"));
  EXPECT_THAT(runtime().lackingIn("gate"), SizeIs(1));
  stage_.deploy(gateDocument(600'000, 2));
  ASSERT_TRUE(stage_.rounds([&] { return runtime().runtime("gate")->deployed()->version == 2; }));
  ask("new");
  EXPECT_EQ(answer(*questionOf("new"), true), Outcome::approved);
  EXPECT_TRUE(ends("new", "completed"));
  // It comes, and its run goes on.
  bringBack("lost");
  stage_.rounds([] { return false; }, 3);
  EXPECT_EQ(runtime().waitsFor("gate"), "");
  EXPECT_EQ(answer(*questionOf("lost"), true), Outcome::approved);
  EXPECT_TRUE(ends("lost", "completed"));
}

// The answer stands in the ledger when the body is lost: it is followed when the body comes.
TEST_F(GraphBodiesLost, AnAnswerThatStandsIsFollowedWhenTheBodyComes) {
  remember();
  ask("x");
  const auto question = *questionOf("x");
  stage_.answer(desk(), "dr", "doctor");
  // It is decided, and not followed yet.
  ASSERT_TRUE(stage_.rounds(
      [&] {
        const auto asked = domains::graph::askedIn(stage_.state(desk()), graph::Digest(question.span));
        return asked && asked->answered;
      },
      3));
  if (statusOf("x") != "running") GTEST_SKIP() << "skipped: it was followed at once";
  loseBodies();
  desk().passTime(700'000);  // the question's time is over; the answer came before
  EXPECT_EQ(statusOf("x"), "running");
  bringBack("x");
  EXPECT_TRUE(ends("x", "completed")) << stage_.words(desk());
}

// N3: a dead letter without its body is not sent again, and the graph goes on.
TEST_F(GraphBodiesLost, ADeadLetterWithoutItsBodyIsNotSentAgain) {
  remember();
  ask("dead");
  EXPECT_EQ(answer(*questionOf("dead"), false), Outcome::approved);
  ASSERT_TRUE(ends("dead", "degraded"));
  loseBodies();
  const domains::graph::Run run = domains::graph::runsIn(stage_.state(desk())).at(0);
  const auto letters = domains::graph::lettersIn(stage_.state(desk()), run.id);
  ASSERT_THAT(letters, SizeIs(1));
  const json::object redrive{{"type", "Redrive"}, {"run", run.id.hex()}, {"message", letters[0].message.id.hex()}};
  std::string why;
  EXPECT_EQ(propose("Operator", redrive, &why), Outcome::refused);
  EXPECT_THAT(why, HasSubstr("is not on the device of the owner"));
  ask("next");
  EXPECT_EQ(answer(*questionOf("next"), true), Outcome::approved);
  EXPECT_TRUE(ends("next", "completed"));
  bringBack("dead");
  EXPECT_EQ(propose("Operator", redrive), Outcome::approved);
  ASSERT_TRUE(stage_.rounds([&] { return questionOf("dead").has_value(); }, 50)) << stage_.words(desk());
  EXPECT_EQ(answer(*questionOf("dead"), true), Outcome::approved);
  EXPECT_TRUE(ends("dead", "degraded"));
}

// N8: what stands under the digest is another body; the right one replaces it.
TEST_F(GraphBodiesLost, ADamagedBodyIsNoneAndIsWrittenAgain) {
  GraphBodies bodies(desk().replica().data(), "main");
  const auto body = std::make_shared<const json::value>(json::object{{"k", "right"}});
  const std::string digest = graph::digestOf(*body);
  const auto wrong = replication::recordWrite(digest, replication::GraphMessageBody{R"({"k":"wrong"})"});
  ASSERT_TRUE(wrong.ok());
  ASSERT_TRUE(desk().replica().data().commit(replication::DatabaseName::agents, "main", {&*wrong, 1}).ok());
  EXPECT_FALSE(bodies.has(digest));
  ASSERT_TRUE(bodies.keep({body}).ok());
  EXPECT_TRUE(bodies.has(digest));
  ASSERT_NE(bodies.find(digest), nullptr);
}

// N6: an answer that the ledger took counts, however late the runtime hears of it.
TEST_F(GraphBodiesLost, AnAnswerAtTheLastMomentCounts) {
  for (const std::int64_t before : {3, 2, 1}) {
    const std::string external = concat("late-", before);
    ask(external);
    const auto question = *questionOf(external);
    desk().passTime(*runtime().runtime("gate")->due() - at(desk().ms).wall.micros / 1'000 - before);
    const Request request = *proposalRequest(graphs(), "gate", "Person", concat("at-", external),
                                             json::object{{"type", "Answer"},
                                                          {"run", question.run},
                                                          {"node", question.node},
                                                          {"span", question.span},
                                                          {"by", "dr"},
                                                          {"digest", question.digest},
                                                          {"approve", true}});
    stage_.submit(desk(), request);
    desk().passTime(before + 5);
    stage_.rounds([&] { return desk().answered(request.operationId) != nullptr; }, 20);
    const bool taken = desk().answered(request.operationId)->outcome == Outcome::approved;
    EXPECT_TRUE(ends(external, taken ? "completed" : "degraded")) << before << " " << stage_.words(desk());
  }
}

}  // namespace
}  // namespace witan::node::test::graph_bodies_test
