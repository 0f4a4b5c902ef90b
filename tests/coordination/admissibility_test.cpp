// Pass 1, pass 2 and execution, rule by rule (seed 001; sections in the names of the tests).
#include "tests/coordination/scene.h"

namespace witan::kernel::joint::admissibility_test {
namespace {

using namespace test;

Scene one(const std::string& action, std::vector<std::string> authorities) {
  Scene scene;
  scene.authorities = std::move(authorities);
  scene.script("a", {action});
  return scene;
}
std::string alone(const Scene& scene) { return outcome(runScene(scene), 0, "a:0:0"); }

const std::string kWriteA = write({"A"}, R"("A":1)", {"CUD-001"});

TEST(FirstPass, FQ27_AnAllowThatIsHeldAndCitedIsNeeded) {
  EXPECT_EQ(alone(one(kWriteA, {allow(1, "a", {"A"})})), kExecuted);
  EXPECT_EQ(alone(one(write({"A"}, R"("A":1)", {}), {allow(1, "a", {"A"})})), kRefused) << "held, not cited";
  EXPECT_EQ(alone(one(kWriteA, {allow(1, "a", {"B"})})), kRefused) << "for another key";
  EXPECT_EQ(alone(one(kWriteA, {allow(1, "a", {"A"}, "READ")})), kRefused) << "for another operation";
  EXPECT_EQ(alone(one(write({"A"}, R"("A":1)", {}), {})), kRefused) << "there is none";
}

TEST(FirstPass, FQ33_EachKeyOfTheScopeNeedsOne) {
  const std::string both = write({"A", "B"}, R"("A":1,"B":1)", {"CUD-001", "CUD-002"});
  EXPECT_EQ(alone(one(both, {allow(1, "a", {"A"}), allow(2, "a", {"B"})})), kExecuted);
  EXPECT_EQ(alone(one(both, {allow(1, "a", {"A", "B"}), allow(2, "a", {"C"})})), kExecuted);
  EXPECT_EQ(alone(one(both, {allow(1, "a", {"A"}), allow(2, "a", {"A"})})), kRefused);
}

TEST(FirstPass, FQ34_ADenyIsAGlobalVeto) {
  EXPECT_EQ(alone(one(kWriteA, {allow(1, "a", {"A"}), deny(2, {"A"})})), kRefused);
  EXPECT_EQ(alone(one(kWriteA, {allow(1, "a", {"A"}), authority(2, "DENY", "a", "WRITE", {"A"})})), kRefused);
  EXPECT_EQ(alone(one(kWriteA, {allow(1, "a", {"A"}), deny(2, {"A"}, "READ")})), kExecuted) << "of reading only";
  EXPECT_EQ(alone(one(kWriteA, {allow(1, "a", {"A"}), deny(2, {"B"})})), kExecuted) << "of another key";
}

TEST(FirstPass, FQ33_ClaimingWhatOneDoesNotHoldIsAFault) {
  EXPECT_EQ(alone(one(kWriteA, {allow(1, "b", {"A"})})), kFault);
  EXPECT_EQ(alone(one(write({"A"}, R"("A":1)", {"CUD-001", "CUD-009"}), {allow(1, "a", {"A"})})), kFault)
      << "one that does not exist, beside a good one";
  EXPECT_EQ(alone(one(write({"A"}, R"("A":1)", {"CUD-001", "CUD-002"}), {allow(1, "a", {"A"}), deny(2, {"B"})})),
            kFault)
      << "a DENY of somebody else";
  EXPECT_EQ(alone(one(write({"A"}, R"("A":1)", {"CUD-001", "CUD-002"}),
                      {allow(1, "a", {"A"}), authority(2, "DENY", "a", "WRITE", {"B"})})),
            kExecuted)
      << "its own DENY is held, and covers nothing";
}

TEST(FirstPass, AFaultDoesNotCollide) {
  Scene scene;
  scene.authorities = {allow(1, "a", {"A"})};
  scene.script("a", {kWriteA}).script("b", {write({"A"}, R"("A":2)", {"CUD-001"})});
  const auto log = runScene(scene);
  EXPECT_EQ(outcome(log, 0, "a:0:0"), kExecuted);
  EXPECT_EQ(outcome(log, 0, "b:0:0"), kFault);
  EXPECT_EQ(canonicalJson(log.at("epochs").at(0).at("pass1_results")), R"({"a:0:0":"PASS","b:0:0":"FAIL"})");
  EXPECT_EQ(canonicalJson(log.at("epochs").at(0).at("pass2_results")), R"({"a:0:0":"PASS"})");
}

Scene two(const std::string& first, const std::string& second) {
  Scene scene;
  for (int i = 0; i < 2; ++i) {
    const std::string agent = i == 0 ? "a" : "b";
    scene.authorities.push_back(allow(2 * i + 1, agent, {"A", "B"}));
    scene.authorities.push_back(allow(2 * i + 2, agent, {"A", "B"}, "READ"));
  }
  scene.script("a", {first}).script("b", {second});
  return scene;
}
std::string together(const Scene& scene) {
  const auto log = runScene(scene);
  EXPECT_EQ(kernelClass(log), "null");
  return outcome(log, 0, "a:0:0") + " " + outcome(log, 0, "b:0:0");
}

const std::string kBoth = std::string(kExecuted) + " " + kExecuted, kNone = std::string(kRefused) + " " + kRefused;

TEST(SecondPass, D13_TwoWritesOfOneKeyAreBothRefused) {
  const std::string b = write({"A"}, R"("A":2)", {"CUD-003"});
  EXPECT_EQ(together(two(kWriteA, b)), kNone);
  EXPECT_EQ(together(two(kWriteA, write({"A"}, R"("A":1)", {"CUD-003"}))), kNone) << "even if they agree";
  EXPECT_EQ(together(two(kWriteA, write({"B"}, R"("B":2)", {"CUD-003"}))), kBoth);
}

TEST(SecondPass, FQ10_AReadAndAWriteAreBothRefused) {
  EXPECT_EQ(together(two(kWriteA, read({"A"}, {"CUD-004"}))), kNone);
  EXPECT_EQ(together(two(kWriteA, read({"B", "A"}, {"CUD-004"}))), kNone);
  EXPECT_EQ(together(two(kWriteA, read({"B"}, {"CUD-004"}))), kBoth);
}

TEST(SecondPass, FQ10_TwoReadsAreFine) {
  EXPECT_EQ(together(two(read({"A"}, {"CUD-002"}), read({"A"}, {"CUD-004"}))), kBoth);
}

TEST(FirstPass, FQ10_AReadCanBeVetoed) {
  Scene scene = two(read({"A"}, {"CUD-002"}), read({"B"}, {"CUD-004"}));
  scene.authorities.push_back(deny(5, {"A"}, "READ"));
  EXPECT_EQ(together(scene), std::string(kRefused) + " " + kExecuted);
}

TEST(SecondPass, OnlySurvivorsOfTheFirstPassCollide) {
  EXPECT_EQ(together(two(kWriteA, write({"A"}, R"("A":2)", {}))), std::string(kExecuted) + " " + kRefused);
}

TEST(SecondPass, AKeyNamedTwiceIsNoCollisionWithOneself) {
  EXPECT_EQ(alone(one(write({"A", "A"}, R"("A":1)", {"CUD-001"}), {allow(1, "a", {"A"})})), kExecuted);
}

// A chain: a with b on A, b with c on B. All three are refused: c may not have B because b will not get it.
TEST(SecondPass, ARefusedActionStillCollides) {
  Scene scene;
  scene.state = R"("A":0,"B":0,"C":0)";
  scene.authorities = {allow(1, "a", {"A"}), allow(2, "b", {"A", "B"}), allow(3, "c", {"B"}), allow(4, "d", {"C"})};
  scene.script("a", {kWriteA})
      .script("b", {write({"A", "B"}, R"("A":2,"B":2)", {"CUD-002"})})
      .script("c", {write({"B"}, R"("B":3)", {"CUD-003"})})
      .script("d", {write({"C"}, R"("C":4)", {"CUD-004"})});
  const auto log = runScene(scene);
  for (const char* id : {"a:0:0", "b:0:0", "c:0:0"}) EXPECT_EQ(outcome(log, 0, id), kRefused) << id;
  EXPECT_EQ(outcome(log, 0, "d:0:0"), kExecuted) << "who is in nobody's way does not lose";
  EXPECT_EQ(finalState(log), R"({"A":0,"B":0,"C":4})");
}

TEST(Execution, C10_AChangeOutsideTheScopeIsAFaultAndUndone) {
  const auto log = runScene(one(write({"A"}, R"("A":1,"B":1)", {"CUD-001"}), {allow(1, "a", {"A"})}));
  EXPECT_EQ(outcome(log, 0, "a:0:0"), kFault);
  EXPECT_EQ(finalState(log), R"({"A":0,"B":0})") << "all of it";
  EXPECT_EQ(canonicalJson(log.at("epochs").at(0).at("pass1_results")), R"({"a:0:0":"PASS"})");
  EXPECT_EQ(canonicalJson(log.at("epochs").at(0).at("pass2_results")), R"({"a:0:0":"PASS"})");
  EXPECT_EQ(kernelClass(log), "null") << "a lawful kernel's answer to an agent's fault";
}

TEST(Execution, C10_WhatDoesNotChangeIsNoViolation) {
  EXPECT_EQ(alone(one(write({"A"}, R"("A":1,"B":0)", {"CUD-001"}), {allow(1, "a", {"A"})})), kExecuted);
}

// The state before the epoch decides, not what others do in it.
TEST(Execution, C10_AViolationDependsOnNobodyElse) {
  Scene scene;
  scene.authorities = {allow(1, "a", {"A"}), allow(2, "b", {"B"})};
  scene.script("a", {write({"A"}, R"("A":1,"B":0)", {"CUD-001"})}).script("b", {write({"B"}, R"("B":7)", {"CUD-002"})});
  const auto log = runScene(scene);
  EXPECT_EQ(outcome(log, 0, "a:0:0"), kExecuted);
  EXPECT_EQ(outcome(log, 0, "b:0:0"), kExecuted);
  EXPECT_EQ(finalState(log), R"({"A":1,"B":7})") << "an undeclared old value does not undo another's write";
}

TEST(Execution, AWriteMayMakeAKeyAndMayWriteAnyPrimitive) {
  Scene scene = one(write({"N"}, R"("N":null)", {"CUD-001"}), {allow(1, "a", {"N", "F", "T"})});
  scene.script("b", {write({"F"}, R"("F":1.5e3)", {"CUD-002"})});
  scene.authorities.push_back(allow(2, "b", {"F"}));
  EXPECT_EQ(finalState(runScene(scene)), R"({"A":0,"B":0,"F":1500,"N":null})");
}

}  // namespace
}  // namespace witan::kernel::joint::admissibility_test
