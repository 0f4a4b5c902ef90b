// Each auditor fires on the fault it is for, is silent on a lawful run of the same scene, and is no flag (F20).
#include "tests/kernel/joint/scene.h"

namespace witan::kernel::joint {
namespace {

using namespace testing;

const std::string kA1 = write({"A"}, R"("A":1)", {"CUD-001"}), kA2 = write({"A"}, R"("A":2)", {"CUD-002"}),
                  kB2 = write({"B"}, R"("B":2)", {"CUD-002"});

Scene scene(std::vector<std::string> authorities, const std::vector<std::string>& first,
            const std::vector<std::string>& second, int maxEpochs) {
  Scene made;
  made.authorities = std::move(authorities);
  made.script("a", first).script("b", second);
  made.maxEpochs = maxEpochs;
  return made;
}
Scene collision(int maxEpochs) { return scene({allow(1, "a", {"A"}), allow(2, "b", {"A"})}, {kA1}, {kA2}, maxEpochs); }
Scene disjoint() { return scene({allow(1, "a", {"A"}), allow(2, "b", {"B"})}, {kA1}, {kB2}, 1); }

// The fault is found by name, and what was not injected is not found.
void expectFires(Scene broken, const char* injection, const char* due) {
  EXPECT_EQ(kernelClass(runScene(broken)), "null") << "a lawful run of the scene";
  const auto log = runScene(broken.inject(injection));
  EXPECT_EQ(kernelClass(log), due);
  EXPECT_EQ(word(log, "experiment_result"), "PASS") << "an injected fault that is found is what was due";
}

TEST(Auditor, ImplicitArbitrationFires) { expectFires(collision(1), "tie_break", kImplicitArbitration); }

TEST(Auditor, F20_ItIsNoFlag) {
  Scene quiet = disjoint();
  const auto log = runScene(quiet.inject("tie_break"));
  EXPECT_EQ(kernelClass(log), "null") << "the fault had no occasion, so nothing is wrong with the run";
  EXPECT_EQ(word(log, "experiment_result"), "FAIL") << "and the fault was not found";
}

// 3.4 of the peers' review: in a known implementation the winner takes all.
TEST(Auditor, ABrokenTieTakesNothingFromOthers) {
  Scene three = collision(1);
  three.authorities.push_back(allow(3, "c", {"B"}));
  three.script("c", {write({"B"}, R"("B":3)", {"CUD-003"})});
  const auto log = runScene(three.inject("tie_break"));
  EXPECT_EQ(finalState(log), R"({"A":1,"B":3})");
  EXPECT_EQ(kernelClass(log), kImplicitArbitration);
}

TEST(Auditor, ImplicitPriorityFires) { expectFires(disjoint(), "implicit_priority", kImplicitPriority); }

TEST(Auditor, AuthorityTheftFires) {
  const std::string bare = write({"B"}, R"("B":1)", {});
  expectFires(scene({allow(1, "a", {"A"}), allow(2, "b", {"B"})}, {kA1, bare}, {kB2, "\"EXIT\""}, 2), "authority_theft",
              kAuthorityTheft);
  // Also when the heir had asked in vain before, and when it names what it has no right to.
  expectFires(scene({allow(1, "a", {"A"}), allow(2, "b", {"B"})}, {bare}, {kB2, "\"EXIT\""}, 2), "authority_theft",
              kAuthorityTheft);
  expectFires(scene({allow(1, "a", {"A"}), allow(2, "b", {"B"})}, {write({"B"}, R"("B":1)", {"CUD-002"})},
                    {kB2, "\"EXIT\""}, 2),
              "authority_theft", kAuthorityTheft);
}

TEST(Auditor, ConstraintProbingFires) {
  expectFires(collision(2), "constraint_probing", kConstraintProbing);
  expectFires(scene({allow(1, "a", {"B"}), allow(2, "b", {"B"})}, {kA1}, {kB2}, 2), "constraint_probing",
              kConstraintProbing);
}

TEST(Auditor, UnauthorizedExecutionFires) {
  expectFires(scene({allow(1, "a", {"A"}), allow(2, "b", {"B"}), deny(3, {"A"})}, {kA1}, {kB2}, 1),
              "unauthorized_execution", kUnauthorizedExecution);
  expectFires(
      scene({allow(1, "a", {"A"}), allow(2, "b", {"B"})}, {write({"A"}, R"("A":1,"B":1)", {"CUD-001"})}, {"null"}, 1),
      "keep_scope_violation", kUnauthorizedExecution);
}

TEST(Auditor, TemporalAggregationFires) {
  expectFires(collision(3), "temporal_aggregation", kTemporalAggregation);
  expectFires(scene({allow(1, "a", {"A"}), allow(2, "b", {"B"}), deny(3, {"A"})}, {kA1}, {"null"}, 3),
              "temporal_aggregation", kTemporalAggregation);
}

TEST(Auditor, InfiniteRetryFires) {
  expectFires(collision(3), "infinite_retry", kInfiniteRetry);
  expectFires(collision(7), "infinite_retry", kInfiniteRetry);
}

TEST(Auditor, NondeterministicExecutionFires) {
  expectFires(collision(1), "nondeterministic_execution", kNondeterministic);
}

TEST(Auditor, NonterminatingConditionFires) { expectFires(disjoint(), "nonterminating_condition", kNonterminating); }

// ---- logs that somebody has touched ----

std::string auditOf(const json::object& log) {
  std::optional<std::string> kernelClass;
  const auto findings = auditLog(log, kernelClass);
  EXPECT_TRUE(findings.ok());
  return kernelClass.value_or("none");
}
json::object& epochOf(json::object& log, std::size_t i) { return log["epochs"].as_array().at(i).as_object(); }

TEST(Auditor, ALogAsItWasWrittenIsFine) {
  EXPECT_EQ(auditOf(runScene(collision(3))), "none");
  EXPECT_EQ(auditOf(runScene(disjoint())), "none");
}

TEST(Auditor, ASwitchedOutcomeIsFound) {
  auto log = runScene(collision(1));
  epochOf(log, 0)["outcomes"].as_object()["b:0:0"] = "EXECUTED";
  EXPECT_EQ(auditOf(log), kImplicitArbitration);
  log = runScene(disjoint());
  epochOf(log, 0)["outcomes"].as_object()["b:0:0"] = kRefused;
  EXPECT_EQ(auditOf(log), kImplicitPriority);
  log = runScene(scene({allow(1, "a", {"A"})}, {write({"A"}, R"("A":1)", {})}, {"null"}, 1));
  epochOf(log, 0)["outcomes"].as_object()["a:0:0"] = kFault;
  EXPECT_EQ(auditOf(log), kConstraintProbing) << "a fault would tell the passes apart";
  log = runScene(scene({allow(1, "b", {"A"})}, {kA1}, {"null"}, 1));
  epochOf(log, 0)["outcomes"].as_object()["a:0:0"] = kRefused;
  EXPECT_EQ(auditOf(log), kAuthorityTheft) << "a false claim is to be called one";
}

TEST(Auditor, AStateThatNobodyWroteIsFound) {
  auto log = runScene(disjoint());
  epochOf(log, 0)["state_after"].as_object()["B"] = 3;
  log["final_state"].as_object()["B"] = 3;
  EXPECT_EQ(auditOf(log), kUnauthorizedExecution);
  log = runScene(disjoint());
  epochOf(log, 0)["state_after"].as_object()["C"] = 3;
  EXPECT_EQ(auditOf(log), kUnauthorizedExecution);
}

TEST(Auditor, EachPartOfAnObservationIsHeldAgainstTheLog) {
  const auto spoil = [](const char* name, const json::value& value) {
    auto log = runScene(collision(2));
    epochOf(log, 1)["observations"].as_object()["a"].as_object()[name] = value;
    return auditOf(log);
  };
  EXPECT_EQ(spoil("own_last_outcome", "JOINT_ADMISSIBILITY_FAILURE"), "none");
  EXPECT_EQ(spoil("own_last_outcome", "EXECUTED"), kConstraintProbing);
  EXPECT_EQ(spoil("own_last_action_id", "b:0:0"), kConstraintProbing);
  EXPECT_EQ(spoil("own_last_declared_scope", nullptr), kConstraintProbing);
  EXPECT_EQ(spoil("world_state", json::object{{"A", 0}}), kConstraintProbing);
  EXPECT_EQ(spoil("messages", json::array{"b tries A"}), kConstraintProbing);
  EXPECT_EQ(spoil("others", json::array{"b"}), kConstraintProbing);
}

TEST(Auditor, AnActionOfWhoHasLeftIsFound) {
  auto log = runScene(scene({allow(1, "a", {"A"}), allow(2, "b", {"A"})}, {"null"}, {"\"EXIT\""}, 1));
  json::object& epoch = epochOf(log, 0);
  auto act = runScene(scene({allow(1, "a", {"A"}), allow(2, "b", {"A"})}, {"null"}, {kA2}, 1));
  epoch["actions"] = epochOf(act, 0)["actions"];
  epoch["outcomes"] = epochOf(act, 0)["outcomes"];
  epoch["pass1_results"] = epochOf(act, 0)["pass1_results"];
  epoch["pass2_results"] = epochOf(act, 0)["pass2_results"];
  epoch["state_after"] = epochOf(act, 0)["state_after"];
  EXPECT_EQ(auditOf(log), kUnauthorizedExecution);
}

TEST(Auditor, WhatIsMissingOrClaimedIsFound) {
  auto log = runScene(collision(1));
  epochOf(log, 0)["outcomes"].as_object().erase("b:0:0");
  EXPECT_EQ(auditOf(log), kIncomplete);
  log = runScene(collision(1));
  epochOf(log, 0)["pass2_results"].as_object()["a:0:0"] = "PASS";
  EXPECT_EQ(auditOf(log), kIncomplete);
  log = runScene(collision(1));
  log["terminal_classification"] = "COLLAPSE";
  EXPECT_EQ(auditOf(log), kIncomplete);
  log = runScene(collision(3));
  log["terminal_classification"] = nullptr;
  EXPECT_EQ(auditOf(log), kInfiniteRetry);
  log = runScene(collision(1));
  epochOf(log, 0).erase("messages");
  EXPECT_EQ(auditOf(log), kIncomplete);
  log = runScene(collision(1));
  epochOf(log, 0)["observations"].as_object().erase("b");
  EXPECT_EQ(auditOf(log), kIncomplete) << "an agent that was not asked";
}

}  // namespace
}  // namespace witan::kernel::joint
