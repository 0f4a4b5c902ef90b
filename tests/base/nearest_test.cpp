#include "base/string_util.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace witan::nearest_test {
namespace {

using namespace witan;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Nearest, CountsLettersPutInTakenOutAndChanged) {
  EXPECT_EQ(editDistance("", ""), 0u);
  EXPECT_EQ(editDistance("gaps", ""), 4u);
  EXPECT_EQ(editDistance("gap", "gaps"), 1u);
  EXPECT_EQ(editDistance("went back", "wentBack"), 2u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
}

TEST(Nearest, TheNearestFirstAmongEqualsInTheirOrder) {
  const std::vector<std::string> known{"forks", "gaps", "gasp", "wentBack"};
  EXPECT_THAT(nearest("gap", known, 2), ElementsAre("gaps", "gasp"));
  EXPECT_THAT(nearest("gap", known, 9).back(), "wentBack");
  EXPECT_THAT(nearest("gap", {}, 3), IsEmpty());
}

}  // namespace
}  // namespace witan::nearest_test
