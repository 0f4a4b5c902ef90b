// The shrinker on three recorded plans, each of which breaks a broken variant of the cores: what is left still fails in
// the same way, is at most a tenth, and without any one of its events nothing fails.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/node/program.h"
#include "tests/node/scratch.h"
#include "tests/paths.h"

namespace witan::sim_shrink_cases_test {
namespace {

using witan::node::test::Finished;
using witan::node::test::runWitan;
using witan::node::test::Scratch;

struct Case {
  const char* mutant;
  const char* checker;
};

std::vector<std::string> linesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

Finished replay(const std::string& plan, const Case& c) {
  return runWitan({"sim", "replay", "--plan", plan, "--mutant", c.mutant, "--json"});
}

class ShrinkCases : public ::testing::TestWithParam<Case> {};

TEST_P(ShrinkCases, TheSmallestPlanStillFailsAndNeedsEachEvent) {
  const Case c = GetParam();
  const std::string original = std::string(witan::tests::kSourceDir) + "/tests/sim/cases/" + c.mutant + ".plan";
  const Scratch dir;
  const std::string smallest = dir / "smallest.plan";
  const Finished shrunk =
      runWitan({"sim", "shrink", "--plan", original, "--mutant", c.mutant, "--out", smallest, "--json"});
  ASSERT_EQ(shrunk.exitCode, 0) << shrunk.err;
  const std::vector<std::string> before = linesOf(original), after = linesOf(smallest);
  ASSERT_GT(after.size(), 1U);
  EXPECT_LE(10 * (after.size() - 1), before.size() - 1);

  const Finished again = replay(smallest, c);
  EXPECT_EQ(again.exitCode, 1);
  EXPECT_NE(again.out.find("\"checker\":\"" + std::string(c.checker) + "\""), std::string::npos) << again.out;
  for (std::size_t without = 1; without < after.size(); ++without) {
    const std::string path = dir / "less.plan";
    std::ofstream file(path);
    for (std::size_t i = 0; i < after.size(); ++i)
      if (i != without) file << after[i] << "\n";
    file.close();
    const Finished less = replay(path, c);
    EXPECT_EQ(less.out.find("\"checker\":\"" + std::string(c.checker) + "\""), std::string::npos)
        << "without " << after[without] << "\n"
        << less.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, ShrinkCases,
                         ::testing::Values(Case{"forgetOutbox", "no-request-lost"}, Case{"serveOn", "answers"},
                                           Case{"answerBeforeFlush", "no-decision-lost"}),
                         [](const auto& made) { return std::string(made.param.mutant); });

}  // namespace
}  // namespace witan::sim_shrink_cases_test
