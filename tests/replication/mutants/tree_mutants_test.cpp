// The repair of a broken tree, and its failing twin.
#include "tests/replication/tree_world.h"
#include "tests/with_mutant.h"

namespace witan::replication::test {
namespace tree_test {

TEST(TreeMutants, WithoutGraftsABrokenTreeIsRepairedLate) {
  EXPECT_LE(slowestAmidDeaths({}), 2'500);
  const tests::WithMutant with("neverGraft");
  EXPECT_GT(slowestAmidDeaths({}), TreeLink::kAnywayMs);
}

TEST(TreeMutants, WhoAsksNoOtherLinkGetsUpdatesLater) {
  const std::int64_t asked = slowestAfterLosses();
  const tests::WithMutant with("neverRegraft");
  EXPECT_GT(slowestAfterLosses(), asked);
}

}  // namespace tree_test
}  // namespace witan::replication::test
