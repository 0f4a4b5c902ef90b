// Terminal classes (seed 001 FQ24, FQ28, FQ32, FQ34; findings F12, F19).
#include "tests/coordination/scene.h"

namespace witan::kernel::joint::terminal_test {
namespace {

using namespace test;

const std::string kA1 = write({"A"}, R"("A":1)", {"CUD-001"}), kA2 = write({"A"}, R"("A":2)", {"CUD-002"});

Scene colliding(const std::vector<std::string>& first, const std::vector<std::string>& second, int maxEpochs) {
  Scene scene;
  scene.authorities = {allow(1, "a", {"A"}), allow(2, "b", {"A"})};
  scene.script("a", first).script("b", second);
  scene.maxEpochs = maxEpochs;
  return scene;
}

TEST(Livelock, FQ34_ThreeCollisionsInARowEndTheRun) {
  const auto log = runScene(colliding({kA1}, {kA2}, 10));
  EXPECT_EQ(terminal(log), "STATE_LIVELOCK");
  EXPECT_EQ(epochs(log), 3u);
  EXPECT_EQ(terminal(runScene(colliding({kA1}, {kA2}, 2))), "null");
}

TEST(Livelock, F19_AnIdleEpochBreaksTheRun) {
  const auto log = runScene(colliding({kA1, kA1, "null", kA1, kA1}, {kA2, kA2, "null", kA2, kA2, "null"}, 6));
  EXPECT_EQ(terminal(log), "null");
  EXPECT_EQ(epochs(log), 6u);
  const auto longer = runScene(colliding({kA1, kA1, "null", kA1}, {kA2, kA2, "null", kA2}, 9));
  EXPECT_EQ(terminal(longer), "STATE_LIVELOCK");
  EXPECT_EQ(epochs(longer), 6u);
}

TEST(Livelock, AnIdempotentWriteThatExecutesIsNone) {
  Scene scene;
  scene.authorities = {allow(1, "a", {"A"})};
  scene.script("a", {write({"A"}, R"("A":0)", {"CUD-001"})});
  scene.maxEpochs = 5;
  const auto log = runScene(scene);
  EXPECT_EQ(terminal(log), "null");
  EXPECT_EQ(epochs(log), 5u);
}

// The world stands still because pass 2 refuses two; that a third reads meanwhile changes nothing.
TEST(Livelock, OthersThatChangeNothingDoNotHideIt) {
  Scene scene = colliding({kA1}, {kA2}, 5);
  scene.authorities.push_back(allow(3, "c", {"B"}, "READ"));
  scene.script("c", {read({"B"}, {"CUD-003"})});
  EXPECT_EQ(terminal(runScene(scene)), "STATE_LIVELOCK");
}

TEST(Livelock, OthersThatChangeTheWorldBreakIt) {
  Scene scene = colliding({kA1}, {kA2}, 5);
  scene.authorities.push_back(allow(3, "c", {"B"}));
  scene.script("c", {"null", write({"B"}, R"("B":1)", {"CUD-003"}), "null"});
  const auto log = runScene(scene);
  EXPECT_EQ(terminal(log), "STATE_LIVELOCK");
  EXPECT_EQ(epochs(log), 5u) << "epochs 2, 3, 4";
}

TEST(Deadlock, F19_LastsToTheMaximum) {
  Scene scene;
  scene.script("a", {write({"A"}, R"("A":1)", {})});
  scene.maxEpochs = 4;
  const auto log = runScene(scene);
  EXPECT_EQ(terminal(log), "STATE_DEADLOCK");
  EXPECT_EQ(epochs(log), 4u);
}

TEST(Deadlock, F19_AnIdleEpochIsNone) {
  Scene scene;
  scene.script("a", {"null"}).script("b", {"null"});
  scene.maxEpochs = 3;
  EXPECT_EQ(terminal(runScene(scene)), "null");
  Scene ends;
  ends.script("a", {write({"A"}, R"("A":1)", {}), "null"});
  ends.maxEpochs = 3;
  EXPECT_EQ(terminal(runScene(ends)), "null") << "it did not last";
}

TEST(Deadlock, F19_HoldsFromTheFirstEpochSinceWhichItIsTrue) {
  Scene scene;
  scene.authorities = {allow(1, "a", {"A"})};
  const std::string vain = write({"B"}, R"("B":1)", {"CUD-001"});
  scene.script("a", {kA1, vain});
  scene.maxEpochs = 3;
  EXPECT_EQ(terminal(runScene(scene)), "STATE_DEADLOCK");
  Scene broken = scene;
  broken.agents.clear();
  broken.script("a", {vain, vain, kA1});
  EXPECT_EQ(terminal(runScene(broken)), "null");
}

TEST(Exit, FQ24_IsIrrevocableAndReleasesNothing) {
  Scene scene = colliding({kA1, "\"EXIT\"", kA1}, {"null", "null", write({"A"}, R"("A":9)", {"CUD-001"})}, 4);
  const auto log = runScene(scene);
  EXPECT_EQ(outcome(log, 0, "a:0:0"), kExecuted);
  EXPECT_EQ(canonicalJson(log.at("epochs").at(1).at("exits")), R"(["a"])");
  EXPECT_EQ(canonicalJson(log.at("epochs").at(1).at("outcomes")), R"({"b:1:none":"NO_ACTION"})");
  EXPECT_EQ(canonicalJson(log.at("epochs").at(2).at("outcomes")), R"({"b:2:0":"ACTION_FAULT"})");
  EXPECT_FALSE(log.at("epochs").at(2).at("observations").as_object().contains("a"));
  EXPECT_EQ(finalState(log), R"({"A":1,"B":0})");
}

TEST(Collapse, F18_NoActiveAgentRemains) {
  const auto log = runScene(colliding({kA1, "\"EXIT\""}, {"null", "null", "\"EXIT\""}, 9));
  EXPECT_EQ(terminal(log), "COLLAPSE");
  EXPECT_EQ(epochs(log), 3u);
  EXPECT_EQ(finalState(log), R"({"A":1,"B":0})");
}

TEST(Orphaning, FQ28_TheLastHolderLeaves) {
  Scene scene = colliding({"null"}, {"\"EXIT\""}, 9);
  EXPECT_EQ(terminal(runScene(scene)), "null") << "another still holds an ALLOW for A";
  scene.authorities.push_back(allow(3, "b", {"B"}));
  const auto log = runScene(scene);
  EXPECT_EQ(terminal(log), "ORPHANING");
  EXPECT_EQ(epochs(log), 1u);
}

TEST(Orphaning, FQ28_IsAboutWriting) {
  Scene scene = colliding({"null"}, {"\"EXIT\""}, 3);
  scene.authorities = {allow(1, "a", {"A"}, "READ"), allow(2, "b", {"A"})};
  EXPECT_EQ(terminal(runScene(scene)), "ORPHANING") << "a may still read A, nobody may write it";
  scene.authorities = {allow(1, "a", {"A"}), allow(2, "b", {"A"}, "READ")};
  EXPECT_EQ(terminal(runScene(scene)), "null") << "a may still write A";
  scene.authorities = {allow(1, "a", {"A"}), allow(2, "b", {"B"}, "READ")};
  EXPECT_EQ(terminal(runScene(scene)), "ORPHANING") << "nobody may do anything with B any more";
}

TEST(Orphaning, IsTestedBeforeDeadlockAndAfterCollapse) {
  Scene scene = colliding({write({"B"}, R"("B":1)", {"CUD-001"})}, {"null", "\"EXIT\""}, 2);
  scene.authorities = {allow(1, "a", {"A"}), allow(2, "b", {"B"})};
  EXPECT_EQ(terminal(runScene(scene)), "ORPHANING");
  scene.agents.clear();
  scene.script("a", {"\"EXIT\""}).script("b", {"\"EXIT\""});
  EXPECT_EQ(terminal(runScene(scene)), "COLLAPSE");
}

TEST(Orphaning, WhoIsNobodyOfTheRunNeverHeldIt) {
  Scene scene = colliding({"null"}, {"\"EXIT\""}, 2);
  scene.authorities = {allow(1, "harness", {"A"}), allow(2, "a", {"B"}), allow(3, "b", {"B"})};
  EXPECT_EQ(terminal(runScene(scene)), "null");
}

}  // namespace
}  // namespace witan::kernel::joint::terminal_test
