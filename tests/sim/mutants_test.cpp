// The table of broken variants (sim/mutants.h). That each is noticed is for the program: witan sim mutants.
#include "sim/mutants.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "sim/active_mutant.h"
#include "sim/checkers.h"
#include "sim/scenario.h"

namespace witan::sim {
namespace {

TEST(Mutants, EveryVariantHasItsPlace) {
  std::set<Mutant> all;
  for (const MutantCase& one : mutantCases()) {
    EXPECT_TRUE(all.insert(one.mutant).second) << enumName(one.mutant);
    EXPECT_EQ(findMutantCase(enumName(one.mutant)), &one);
    EXPECT_FALSE(one.what.empty()) << enumName(one.mutant);
  }
  EXPECT_GE(all.size(), 30u);
  for (const Mutant story : storyMutants()) EXPECT_TRUE(all.insert(story).second) << enumName(story);
  EXPECT_EQ(all.size() + 1, enumNames<Mutant>().size());
  EXPECT_FALSE(all.contains(Mutant::none));
  EXPECT_EQ(findMutantCase("none"), nullptr);
  EXPECT_EQ(findMutantCase("nonsense"), nullptr);
}

TEST(Mutants, CheckersAndScenariosExist) {
  for (const MutantCase& one : mutantCases()) {
    std::istringstream words{std::string(one.checkers)};
    std::size_t named = 0;
    for (std::string word; words >> word; ++named)
      EXPECT_FALSE(checkerPromise(word).empty()) << enumName(one.mutant) << ": " << word;
    EXPECT_GE(named, 1u) << enumName(one.mutant);
    EXPECT_TRUE(builtinScenario(one.scenario).ok()) << enumName(one.mutant) << ": " << one.scenario;
    EXPECT_GE(one.budget, 1u) << enumName(one.mutant);
    EXPECT_LE(one.budget, 2000u) << enumName(one.mutant);
  }
}

TEST(Mutants, ThisProgramHasNone) {
  EXPECT_FALSE(mutantsCompiledIn());
  EXPECT_TRUE(activateMutant("none").ok());
  EXPECT_EQ(activateMutant("noGate").error().code, ErrorCode::unavailable);
  EXPECT_EQ(activateMutant("nonsense").error().code, ErrorCode::invalidInput);
  const auto hunted = huntMutants(mutantCases().first(1), {});
  ASSERT_FALSE(hunted.ok());
  EXPECT_EQ(hunted.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace witan::sim
