// The rules of sync, each with its failing twin: the same story on the real room and on one that breaks the rule, and
// how many generated histories it takes to notice.
#include <cstdio>

#include "tests/replication/history_world.h"
#include "tests/replication/rule_stories.h"
#include "tests/with_mutant.h"

namespace witan::replication::test::rules_test {
namespace {

using witan::tests::WithMutant;

// The first generated history, up to `most`, that the mutant spoils; 0: none.
std::uint64_t caughtAt(std::string_view mutant, std::uint64_t most) {
  const WithMutant with(mutant);
  for (std::uint64_t seed = 1; seed <= most; ++seed)
    if (!outcomeOf(makePlot(seed)).empty()) return seed;
  return 0;
}

void expectStory(const char* name, bool (*story)(), std::string_view mutant) {
  EXPECT_TRUE(story()) << name;
  const WithMutant with(mutant);
  EXPECT_FALSE(story()) << name << " is not noticed";
}

void expectCaught(const char* name, std::string_view mutant, std::uint64_t most) {
  const std::uint64_t seed = caughtAt(mutant, most);
  std::printf("%s: noticed in generated history %llu\n", name, static_cast<unsigned long long>(seed));
  EXPECT_NE(seed, 0u) << name << ": not noticed in " << most << " generated histories";
}

TEST(FourRules, Rule1_TheVectorRisesAtTheCommitOnly) {
  expectStory("rule 1", aSessionBreaksAndTheSenderIsLost, "advanceEarly");
}
TEST(FourRules, Rule2_TheWalkGoesByTheWritersCounter) {
  expectStory("rule 2", anOlderVersionArrivesLater, "orderByArrival");
}
TEST(FourRules, Rule3_WhatIsCoveredAndNotHeldIsDropped) {
  expectStory("rule 3", aLateFrameBringsWhatWasSuperseded, "noGate");
}
TEST(FourRules, Rule4_ContextsShrinkWhenEveryDeviceHasThem) {
  expectStory("rule 4", aContextIsNeededElsewhere, "stripUnstable");
}
TEST(MoreRules, ACommitComesWhenTheWalkIsComplete) { expectStory("early commit", manySegments, "commitEarly"); }
TEST(MoreRules, ATokenIsVoidAfterAnOlderArrival) {
  expectStory("old token", anOlderVersionArrivesBeforeTheWalkIsResumed, "trustOldToken");
}
TEST(MoreRules, ATokenIsVoidAfterARetry) { expectStory("void token", aSessionBreaksBeforeTheRetry, "keepVoidToken"); }
TEST(MoreRules, ADeltaNeedsItsBase) { expectStory("missing base", aDeltaHasNoBase, "ignoreMissingBase"); }
TEST(MoreRules, ATombstoneStaysUntilEveryDeviceHasIt) {
  expectStory("tombstone", aDeletionReachesEverybody, "forgetTombstones");
}
TEST(MoreRules, AnAckCountsOnlyWithItsStatements) {
  expectStory("unheard", anAckComesBeforeItsStatements, "ackUnheard");
}

// The others need a meeting of so many chances that the stories above are what guards them.
TEST(GeneratedHistories, NoticeTheMutantsThatChanceMeets) {
  expectCaught("advanceEarly", "advanceEarly", 500);
  expectCaught("stripUnstable", "stripUnstable", 500);
  expectCaught("commitEarly", "commitEarly", 500);
  expectCaught("ignoreMissingBase", "ignoreMissingBase", 500);
  expectCaught("forgetTombstones", "forgetTombstones", 500);
}

}  // namespace
}  // namespace witan::replication::test::rules_test
