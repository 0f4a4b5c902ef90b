// Broken variants of the engine (base/mutant.h): each must be noticed by a test that passes without it.
#include <gtest/gtest.h>

#include "tests/saga/crash_rig.h"
#include "tests/saga/stories.h"
#include "tests/with_mutant.h"

namespace witan::saga::test::saga_mutants_test {
namespace {

using witan::tests::WithMutant;

std::string crashes() {
  CrashTally tally;
  return crashEverywhere<store::MemoryStore>(
      {{.keepUnsynced = 0, .tearLastValue = {}}, {.keepUnsynced = SIZE_MAX, .tearLastValue = {}}}, false, tally);
}

std::string poisonIsPutAside() {
  Device device("a");
  World world;
  SagaOptions options;
  options.maxAttempts = 3;
  options.lastBackoffMs = 2'000;
  Host host(device.replica(), world, options);
  host.plan("t", {action("poison", "e")});
  for (int i = 0; i < 50; ++i) {
    if (!host.round()) return "a store failed";
    host.advance(2'000);
  }
  return host.aside.size() == 1 ? "" : "tried for ever";
}

void expectNoticed(std::string_view mutant, const std::function<std::string()>& story) {
  EXPECT_EQ(story(), "");
  const WithMutant with(mutant);
  const std::string noticed = story();
  std::printf("%s: %s\n", mutant.data(), noticed.c_str());
  EXPECT_NE(noticed, "") << mutant << " is not noticed";
}

TEST(SagaMutants, SkippedMarkerCheckDoublesEffects) { expectNoticed("skipMarkerCheck", crashes); }
TEST(SagaMutants, RecordingBeforeApplyingLosesEffects) { expectNoticed("recordBeforeApply", crashes); }
TEST(SagaMutants, AnEffectBeforeItsRowIsOrphaned) { expectNoticed("ackBeforeRow", crashes); }
TEST(SagaMutants, CompensatingUnderOwnIdsIsNoticed) { expectNoticed("compensateTwice", twoPlansForOneRun); }
TEST(SagaMutants, UndoingOnceIsNoticed) { expectNoticed("undoOnce", repeatAfterUndoing); }
TEST(SagaMutants, UndoingBelowWhatShowsIsNoticed) { expectNoticed("undoBelow", undoingOnItsWay); }
TEST(SagaMutants, EndlessPoisonIsNoticed) { expectNoticed("endlessPoison", poisonIsPutAside); }

}  // namespace
}  // namespace witan::saga::test::saga_mutants_test
