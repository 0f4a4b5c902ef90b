// The theorems of seed 000 for every domain that the registry knows. The quotations stand at the checkers
// (lab/redux/theorem_checks.h), which tests/kernel/theorem_test.cpp proves able to fire.
#include <gtest/gtest.h>

#include "lab/redux/calculus_kernel.h"
#include "lab/redux/theorem_checks.h"
#include "tests/domains/scenario.h"
#include "tests/kernel/ledger_crash.h"
#include "tests/kernel/state_checks.h"

namespace witan::domains::test::theorem_test {
namespace {

using namespace kernel::test;

class EveryDomain : public testing::TestWithParam<std::string> {
 protected:
  EveryDomain() {
    module = makeDomain(GetParam()).value();
    if (module->signature().counselors.empty()) module = makeDomain(GetParam(), {}, {"somebody"}).value();
  }
  std::unique_ptr<DomainModule> module;
};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (std::string_view name : domainNames()) all.emplace_back(name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Theorems, EveryDomain, testing::ValuesIn(names()),
                         [](const auto& name) { return name.param; });

constexpr int kTraces = 25;
constexpr int kSteps = 120;

// Theorems 1, 1+, 2, 4 (i-viii) and lemmas A.47 and A.65, each clause with its own name in the failure.
void checkTheorems(const DomainModule& module, kernel::test::HistoryOptions options) {
  for (int trace = 0; trace < kTraces; ++trace) {
    const bool single = trace % 2 == 0;
    if (single)
      options.ttl = 40'000'000'000;
    else
      options.ttl = 0;
    History history(module, 31 + static_cast<std::uint64_t>(trace), options);
    history.init("e1");
    if (!single) history.init("e2");
    history.run(kSteps);
    for (const NamedCheck& check : everyCheck())
      ASSERT_EQ(check.run(module, history.steps), "") << check.name << ", trace " << trace;
  }
}

TEST_P(EveryDomain, Theorem1_Theorem2_WithoutCounselors) {
  checkTheorems(*module, {.counselors = false});
  for (int trace = 0; trace < kTraces; ++trace) {
    History history(*module, 900 + static_cast<std::uint64_t>(trace), {.counselors = false, .keepAudits = false});
    history.init("e1");
    history.run(kSteps);
    for (const Step& step : history.steps) ASSERT_EQ(firstNonPass(step.onStateAfter), "");
  }
}
TEST_P(EveryDomain, Theorem1Plus_Theorem4_WithCounselors) { checkTheorems(*module, {}); }
TEST_P(EveryDomain, Theorem1Plus_Theorem4_WithUnsafeCommits) { checkTheorems(*module, {.unsafeEdits = true}); }

TEST_P(EveryDomain, Theorem3_CalculusOverTheKernel) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    KernelArchitecture architecture(*module, seed, seed % 2 == 0);
    ASSERT_EQ(runProgram(architecture, seed, calculus::System::withCounselor), "") << seed;
    for (const NamedCheck& check : everyCheck())
      ASSERT_EQ(check.run(*module, architecture.history.steps), "") << check.name;
  }
}

TEST_P(EveryDomain, Proposition1i_ObservationConfinement) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const EntityPtr one = anyState(*module, seed, 15, seed % 2 == 0);
    const EntityPtr donor = anyState(*module, seed + 5000, 15, true);
    for (const RoleInfo& role : module->signature().roles) {
      const EntityPtr two = withHiddenFieldsOf(*module, *one, *donor, role.footprint);
      ASSERT_EQ(stateJson(*module, one.get(), role.footprint), stateJson(*module, two.get(), role.footprint));
      ASSERT_EQ(KernelArchitecture::agent(*module, *one, role.name, seed, one->shared.clock),
                KernelArchitecture::agent(*module, *two, role.name, seed, one->shared.clock));
    }
  }
}

TEST_P(EveryDomain, FootprintHonesty_Probe) {
  for (std::uint64_t seed = 0; seed < 80; ++seed)
    ASSERT_EQ(footprintsAreHonest(*module, *anyState(*module, seed, 25, seed % 2 == 0),
                                  *anyState(*module, seed + 9000, 25, true)),
              "");
}

TEST_P(EveryDomain, F5_TimeStability_RandomStates) {
  for (std::uint64_t seed = 0; seed < 80; ++seed)
    ASSERT_EQ(invariantsAreTimeStable(*module, *anyState(*module, seed, 30, seed % 2 == 0)), "");
}

TEST_P(EveryDomain, F5_TimeStability_ScenarioEnds) {
  Partition partition(*module);
  const auto lines = scenariosOf(*makeDomain(GetParam()).value());
  if (lines.empty()) GTEST_SKIP() << GetParam() << " ships no scenarios and WITAN_SCENARIOS names no folder";
  for (const ScenarioLine& line : lines) {
    (void)feed(partition, line.event);
    const EntityState* state = partition.state(line.event.entity);
    if (state == nullptr) continue;
    ASSERT_EQ(invariantsAreTimeStable(*module, *state), "") << line.event.entity;
  }
}

TEST_P(EveryDomain, F8_IncrementalEqualsFull) {
  int unsafe = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed)
    ASSERT_EQ(incrementalEqualsFullOnHistories(*module, seed, 100, &unsafe), "") << seed;
  EXPECT_GT(unsafe, 100);
}

TEST_P(EveryDomain, CrashAtEveryWriteBoundary) {
  EXPECT_EQ(crashAtEveryWriteBoundary(*module, eventsFor(*module, 5, 30), 4), "");
  EXPECT_EQ(tearTheLastBatchAtEveryByte(*module, eventsFor(*module, 6, 12), 8), "");
}

// A doctored ledger of the real domain is refused on folding, whatever byte was altered (as in ledger_crash_test.cpp),
// and the folded partition is the one that decided.
TEST_P(EveryDomain, TheLogFoldsToTheSamePartition) {
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    History history(*module, seed, {.unsafeEdits = true, .keepAudits = false});
    history.init("e1");
    history.init("e2");
    history.run(80);
    Partition folded(*module);
    for (const std::string& batch : history.batches) ASSERT_TRUE(folded.fold(batch).ok());
    ASSERT_EQ(picture(folded), picture(history.partition())) << seed;
  }
}

}  // namespace
}  // namespace witan::domains::test::theorem_test
