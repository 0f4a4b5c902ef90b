// Each auditor fires on the fault it is for, is silent on a lawful run of the same scene, and is no flag (F20).
#include <gmock/gmock.h>

#include "coordination/log_audit.h"
#include "tests/coordination/scene.h"

namespace witan::kernel::joint::audit_test {
namespace {

using namespace test;

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

// The module that resolves conflicts by itself, of the list of injections of seed 001.
TEST(Auditor, ImplicitArbitrationFiresForMergedConflicts) {
  expectFires(collision(1), "conflict_resolution", kImplicitArbitration);
  expectFires(collision(3), "conflict_resolution", kImplicitArbitration);
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
  const auto audit = auditLog(canonicalJson(log));
  EXPECT_TRUE(audit.ok());
  return audit->kernelClass.value_or("none");
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

// ---- the words that a log says of itself ----

// The last finding of an audit of the log with one member changed.
std::string lastFinding(json::object log, const char* member, const json::value& value) {
  log[member] = value;
  const auto audit = auditLog(canonicalJson(log));
  EXPECT_TRUE(audit.ok());
  return audit->findings.empty() ? "none" : audit->findings.back().detail;
}

TEST(Auditor, AKernelClassThatTheEpochsDoNotShowIsFound) {
  const auto lawful = runScene(collision(1)), broken = runScene(collision(1).inject("tie_break"));
  EXPECT_EQ(lastFinding(lawful, "kernel_classification", nullptr), "none");
  EXPECT_EQ(lastFinding(lawful, "kernel_classification", kAuthorityTheft),
            "$.kernel_classification: the epochs show null, the log says \"IX2_FAIL / AUTHORITY_THEFT\"");
  EXPECT_EQ(lastFinding(broken, "kernel_classification", nullptr),
            "$.kernel_classification: the epochs show \"IX2_FAIL / IMPLICIT_ARBITRATION\", the log says null");
  EXPECT_EQ(lastFinding(broken, "kernel_classification", kAuthorityTheft),
            "$.kernel_classification: the epochs show \"IX2_FAIL / IMPLICIT_ARBITRATION\", the log says \"IX2_FAIL / "
            "AUTHORITY_THEFT\"");
  EXPECT_EQ(lastFinding(lawful, "kernel_classification", "fine"), "$.kernel_classification: is no class and not null");
  EXPECT_EQ(lastFinding(lawful, "kernel_classification", kNondeterministic), "none") << "no log shows that";
}

TEST(Auditor, WordsThatAreNoneAreFound) {
  const auto log = runScene(collision(1));
  EXPECT_EQ(lastFinding(log, "experiment_result", "passed"), "$.experiment_result: is neither PASS nor FAIL");
  EXPECT_EQ(lastFinding(log, "experiment_result", true), "$.experiment_result: is neither PASS nor FAIL");
  EXPECT_EQ(lastFinding(log, "condition", 7), "$.condition: expected text, found an integer");
}

// What the vector alone can tell.
std::string differenceFrom(const Scene& vector, const json::object& log) {
  const auto setup = readSetup(vector.text()).value();
  const auto found = compareWithRun(canonicalJson(log), setup);
  EXPECT_TRUE(found.ok());
  return *found ? (*found)->detail : "none";
}

TEST(Auditor, ARunOfTheVectorTellsTheFirstDifference) {
  const Scene vector = collision(2);
  const auto log = runScene(vector);
  EXPECT_EQ(differenceFrom(vector, log), "none");
  auto doctored = log;
  doctored["experiment_result"] = "FAIL";
  EXPECT_EQ(differenceFrom(vector, doctored),
            "$.experiment_result: the log says \"FAIL\", a run of the vector \"PASS\"");
  doctored["condition"] = "U";
  EXPECT_EQ(differenceFrom(vector, doctored), "$.condition: the log says \"U\", a run of the vector \"T\"");
  doctored = log;
  epochOf(doctored, 1)["outcomes"].as_object()["a:1:0"] = kFault;
  EXPECT_EQ(differenceFrom(vector, doctored),
            "$.epochs[1].outcomes[\"a:1:0\"]: the log says \"ACTION_FAULT\", a run of the vector "
            "\"JOINT_ADMISSIBILITY_FAILURE\"");
  doctored = log;
  epochOf(doctored, 0)["outcomes"].as_object().erase("a:0:0");
  EXPECT_EQ(differenceFrom(vector, doctored),
            "$.epochs[0].outcomes[\"a:0:0\"]: the log says nothing, a run of the vector "
            "\"JOINT_ADMISSIBILITY_FAILURE\"");
  EXPECT_EQ(differenceFrom(vector, runScene(collision(1))), "$.epochs[1]: is only in the run of the vector");
  EXPECT_EQ(differenceFrom(collision(1), log), "$.epochs[1]: is only in the log");
}

// ---- logs from outside ----

TEST(Auditor, ALogThatIsNoneIsRefusedWithItsPlace) {
  const std::string log = canonicalJson(runScene(collision(1)));
  const auto refusal = [&](std::string_view from, std::string_view to) {
    std::string text = log;
    text.replace(text.find(from), from.size(), to);
    const auto audit = auditLog(text);
    return audit.ok() ? "none" : audit.error().message;
  };
  EXPECT_EQ(auditLog("[]").error().message, "$.authority_artifacts: is missing");
  EXPECT_EQ(auditLog("[1]").error().message, "$: expected an object, found a list");
  EXPECT_EQ(refusal("\"condition\"", "\"konditon\""), "$.konditon: unknown member");
  EXPECT_EQ(refusal("\"condition\":", "\"condition\":1,\"condition\":"), "$.condition: is there twice");
  EXPECT_EQ(refusal("\"epochs\":[", "\"epochs\":[1,,"), "$.epochs[1]: JSON at byte 0: the text ends too early");
  EXPECT_EQ(refusal("\"epochs\":[", "\"epochs\":[[:],"), "$.epochs[0]: JSON at byte 1: unexpected \":\"");
  EXPECT_THAT(refusal("\"epochs\":[", "\"epochs\":[[}],"), ::testing::StartsWith("JSON at byte "));
}

TEST(Auditor, WhatWouldTakeTooMuchMemoryIsRefused) {
  const std::string log = canonicalJson(runScene(collision(1)));
  const auto epoch = auditLog(log, {.values = 40});
  ASSERT_FALSE(epoch.ok());
  EXPECT_EQ(epoch.error().message, "$.authority_artifacts: more than 40 values");
  std::string zeros = "[0", dense = log;
  for (int i = 0; i < 500; ++i) zeros += ",0";
  dense.insert(dense.find("\"epochs\":[") + 10, zeros + "],");
  EXPECT_EQ(auditLog(dense, {.values = 400}).error().message, "$.epochs[0]: more than 400 values");
}

}  // namespace
}  // namespace witan::kernel::joint::audit_test
