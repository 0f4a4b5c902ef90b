// The table of broken variants (sim/mutants.h). That each is noticed is for the program: witan sim mutants.
#include "sim/mutants.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "sim/catalog.h"
#include "sim/scenario.h"
#include "tests/paths.h"

namespace witan::sim::mutants_test {
namespace {

std::string textOf(const std::string& path) {
  std::ifstream in(std::string(tests::kSourceDir) + "/" + path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::set<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern); at != std::sregex_iterator(); ++at)
    found.insert((*at)[1]);
  return found;
}

TEST(Mutants, EachIsListedOnce) {
  std::set<std::string_view> all;
  for (const MutantCase& one : mutantCases()) {
    EXPECT_TRUE(all.insert(one.name).second) << one.name;
    EXPECT_EQ(findMutantCase(one.name), &one);
    EXPECT_FALSE(one.what.empty()) << one.name;
  }
  EXPECT_GE(all.size(), 30u);
  for (const StoryMutant& story : storyMutants()) {
    EXPECT_TRUE(all.insert(story.name).second) << story.name;
    EXPECT_TRUE(isMutant(story.name));
    EXPECT_FALSE(story.what.empty()) << story.name;
  }
  EXPECT_FALSE(isMutant(kNoMutant));
  EXPECT_EQ(findMutantCase("nonsense"), nullptr);
}

// tests/tidy checks that no file outside of sim/mutants.cmake has a hook.
TEST(Mutants, HooksAndListNameTheSame) {
  std::set<std::string> hooked, listed;
  for (const std::string& path : matches(textOf("sim/mutants.cmake"), std::regex(R"(\n  ([a-z_/]+\.cpp))"))) {
    const std::set<std::string> names = matches(textOf(path), std::regex(R"re(mutated\("(\w+)"\))re"));
    if (path != "sim/mutants.cpp") {
      EXPECT_FALSE(names.empty()) << path << " is compiled twice without a hook";
    }
    hooked.insert(names.begin(), names.end());
  }
  for (const MutantCase& one : mutantCases()) listed.insert(std::string(one.name));
  for (const StoryMutant& story : storyMutants()) {
    listed.insert(std::string(story.name));
    bool told = false;
    for (const auto& file : std::filesystem::directory_iterator(tests::kSourceDir + ("/" + std::string(story.test))))
      told = told || textOf(std::string(story.test) + "/" + file.path().filename().string())
                             .find("\"" + std::string(story.name) + "\"") != std::string::npos;
    EXPECT_TRUE(told) << story.name << " has no story in " << story.test;
  }
  EXPECT_EQ(hooked, listed);
}

TEST(Mutants, CheckersAndScenariosExist) {
  for (const MutantCase& one : mutantCases()) {
    std::istringstream words{std::string(one.checkers)};
    std::size_t named = 0;
    for (std::string word; words >> word; ++named)
      EXPECT_FALSE(checkerPromise(word).empty()) << one.name << ": " << word;
    EXPECT_GE(named, 1u) << one.name;
    EXPECT_TRUE(builtinScenario(one.scenario).ok()) << one.name << ": " << one.scenario;
    EXPECT_GE(one.budget, 1u) << one.name;
    EXPECT_LE(one.budget, 2000u) << one.name;
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
}  // namespace witan::sim::mutants_test
