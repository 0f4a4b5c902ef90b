// Broken variants of the engine (base/mutant.h): each must be noticed by a test that passes without it.
#include <gtest/gtest.h>

#include "base/mutant.h"
#include "tests/saga/crash_rig.h"
#include "tests/saga/stories.h"

namespace witan::saga::test {
namespace {

class WithMutant {
 public:
  explicit WithMutant(Mutant mutant) { activeMutant = mutant; }
  ~WithMutant() { activeMutant = Mutant::none; }
};

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

void expectNoticed(Mutant mutant, const std::function<std::string()>& story) {
  EXPECT_EQ(story(), "");
  const WithMutant with(mutant);
  const std::string noticed = story();
  std::printf("%s: %s\n", std::string(enumName(mutant)).c_str(), noticed.c_str());
  EXPECT_NE(noticed, "") << enumName(mutant) << " is not noticed";
}

TEST(SagaMutants, SkippedMarkerCheckDoublesEffects) { expectNoticed(Mutant::skipMarkerCheck, crashes); }
TEST(SagaMutants, RecordingBeforeApplyingLosesEffects) { expectNoticed(Mutant::recordBeforeApply, crashes); }
TEST(SagaMutants, AnEffectBeforeItsRowIsOrphaned) { expectNoticed(Mutant::ackBeforeRow, crashes); }
TEST(SagaMutants, CompensatingUnderOwnIdsIsNoticed) { expectNoticed(Mutant::compensateTwice, twoPlansForOneRun); }
TEST(SagaMutants, UndoingOnceIsNoticed) { expectNoticed(Mutant::undoOnce, repeatAfterUndoing); }
TEST(SagaMutants, EndlessPoisonIsNoticed) { expectNoticed(Mutant::endlessPoison, poisonIsPutAside); }

}  // namespace
}  // namespace witan::saga::test
