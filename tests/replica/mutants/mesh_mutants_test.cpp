// Rules of the mesh, each with its failing twin.
#include <gtest/gtest.h>

#include "tests/replica/mesh_world.h"
#include "tests/with_mutant.h"

namespace witan::node {
namespace mesh_test {

TEST(MeshMutants, OwnChoicesThatNeverChange) {
  EXPECT_TRUE(ownChoicesChange());
  const tests::WithMutant with("chooseOnce");
  EXPECT_FALSE(ownChoicesChange());
}

TEST(MeshMutants, WhoPassesOverNobodyIsLeftAlone) {
  EXPECT_TRUE(fewOfManyFindEachOther());
  const tests::WithMutant with("passOverNobody");
  EXPECT_FALSE(fewOfManyFindEachOther());
}

}  // namespace mesh_test
}  // namespace witan::node
