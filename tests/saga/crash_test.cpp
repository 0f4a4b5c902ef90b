// Crashes between the two databases: at every write step, not at a sample of them.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/saga/crash_rig.h"

namespace witan::saga::test::crash_test {
namespace {

// Nothing un-synced survives, the oldest batch of it, or all.
const std::vector<store::CrashPlan> kPlain{{.keepUnsynced = 0, .tearLastValue = {}},
                                           {.keepUnsynced = 1, .tearLastValue = {}},
                                           {.keepUnsynced = SIZE_MAX, .tearLastValue = {}}};
// And on RocksDB's own files: the last write torn, files cut at places of their own.
const std::vector<store::CrashPlan> kTorn{{.keepUnsynced = 0, .tearLastValue = {}},
                                          {.keepUnsynced = SIZE_MAX, .tearLastValue = 9},
                                          {.keepUnsynced = SIZE_MAX, .tearLastValue = {}, .scatter = 7}};

void report(const char* what, const CrashTally& tally) {
  std::printf("%s: %zu crashes, %zu with sagas to recover\n", what, tally.crashes, tally.midway);
  EXPECT_GT(tally.midway, tally.crashes / 8) << "too few crashes hit sagas under way";
}

// 003, section 11, obligation 6: "crash-between-domain-commit saga recovery convergence"; section 7, Theorem 3: "both
// domains converge to a consistent post-state".
TEST(Obligation6, CrashAtEveryWriteStepOfBothDatabases) {
  CrashTally tally;
  EXPECT_EQ(crashEverywhere<store::MemoryStore>(kPlain, false, tally), "");
  report("in memory", tally);
}

TEST(Obligation6, CrashAtEveryWriteStepAndAgainAtEachOfTheRecovery) {
  CrashTally tally;
  EXPECT_EQ(crashEverywhere<store::MemoryStore>({kPlain[0], kPlain[2]}, true, tally), "");
  report("in memory, twice", tally);
}

TEST(Obligation6, CrashAtEveryWriteStepOfRocksDbWithTornWrites) {
  CrashTally tally;
  EXPECT_EQ(crashEverywhere<store::CrashableRocks>(kTorn, false, tally), "");
  report("RocksDB", tally);
}

}  // namespace
}  // namespace witan::saga::test::crash_test
