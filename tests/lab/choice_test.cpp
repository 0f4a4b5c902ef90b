// Seed 002, phases 2, 4 and 5 at run time: facts and goals within limits, the choice of tools, and what experience
// does.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "agents/decision/choice.h"
#include "agents/decision/decisions.h"
#include "agents/decision/knowledge.h"
#include "tests/agents/draw.h"

namespace witan::choice_test {
namespace {

using namespace witan::agents::decision;
using witan::agents::test::draw;

TEST(FactBook, GrowsWithinItsLimitsAndNeverForgets) {
  FactBook book({.count = 2, .bytes = 10});
  EXPECT_TRUE(book.add({"sky", FactSource::kg, 90}).ok());
  EXPECT_EQ(book.add({"is it?", FactSource::llm, 101}).error().message, "a fact's confidence is 101");
  EXPECT_FALSE(book.add({"\xff", FactSource::llm, 1}).ok());
  EXPECT_FALSE(book.add({"12345678", FactSource::user, 1}).ok());  // 11 bytes
  EXPECT_TRUE(book.add({"1234567", FactSource::user, 1}).ok());
  EXPECT_EQ(book.add({"", FactSource::user, 1}).error().message,
            "the facts are full: 2 of at most 2, 10 bytes of at most 10");
  ASSERT_EQ(book.facts().size(), 2u);
  EXPECT_EQ(book.facts()[0], (Fact<RunTime>{"sky", FactSource::kg, 90}));
}

TEST(GoalBook, SatisfactionIsTheLeastProgress) {
  GoalBook book;
  EXPECT_EQ(book.satisfaction(), Natural(0));
  ASSERT_TRUE(book.add("g1", "lookup", "find it").ok());
  ASSERT_TRUE(book.add("g2", "lookup", "say it").ok());
  EXPECT_EQ(book.add("g2", "lookup", "").error().code, ErrorCode::conflict);
  EXPECT_FALSE(book.add("g|3", "lookup", "").ok());
  ASSERT_TRUE(book.advance("g1", 130).ok());
  ASSERT_TRUE(book.advance("g2", 30).ok());
  EXPECT_EQ(book.satisfaction(), Natural(30));
  EXPECT_EQ(book.goals().at("g1").goal, (Goal<RunTime>{100, 1}));
  EXPECT_EQ(book.advance("g3", 1).error().code, ErrorCode::notFound);
}

ToolRegistry registry() {
  ToolRegistry tools;
  EXPECT_TRUE(tools.add("kg", {0, false, 100, 2}, {"lookup"}).ok());
  EXPECT_TRUE(tools.add("llm", {0, false, 900, 9}).ok());
  EXPECT_TRUE(tools.add("shell", {2, true, 1, 1}).ok());
  return tools;
}

std::string chosen(const ToolRegistry& tools, const AdaptationBook& experience, const State& st,
                   const std::string& goalType = "lookup") {
  const auto selection = selectTool(goalType, tools, experience, st);
  return selection ? selection->name : "none";
}

TEST(SelectTool, TheCheapestOfEqualsThatIsPermitted) {
  EXPECT_EQ(chosen(registry(), {}, State{}), "kg");
  EXPECT_EQ(chosen(registry(), {}, State{}, "prose"), "llm");
  EXPECT_EQ(chosen(registry(), {}, {.fileAccess = 2, .executeAllowed = true}), "shell");
}

TEST(SelectTool, FallsBackWhenThePreferredIsAwayOrTooDear) {
  ToolRegistry tools = registry();
  ASSERT_TRUE(tools.setAvailable("kg", false).ok());
  EXPECT_EQ(chosen(tools, {}, State{}), "llm");
  EXPECT_EQ(chosen(tools, {}, {.tokenBudget = 899}), "none");
  ASSERT_TRUE(tools.setAvailable("kg", true).ok());
  EXPECT_EQ(chosen(tools, {}, {.tokenBudget = 100}), "kg");
  EXPECT_EQ(tools.setAvailable("gone", true).error().code, ErrorCode::notFound);
}

TEST(SelectTool, LearnsWhatServesAGoal) {
  AdaptationBook experience;
  experience.observe("lookup", "kg", false, {100, 2});
  EXPECT_EQ(chosen(registry(), experience, State{}), "llm");
  EXPECT_EQ(experience.score("lookup", "kg"), Natural(438));
  EXPECT_EQ(experience.score("prose", "kg"), Natural(500));
}

TEST(Adaptation, AToolThatCostMoreIsCheckedAtWhatItCost) {
  AdaptationBook experience;
  experience.observe("lookup", "kg", true, {5'000, 1});
  const Tool declared{0, false, 100, 2};
  EXPECT_EQ(experience.adaptedTool("kg", declared), (Tool{0, false, 5'000, 2}));
  EXPECT_EQ(chosen(registry(), experience, {.tokenBudget = 4'999}), "llm");
  for (int i = 0; i < 100; ++i) experience.observe("lookup", "kg", true, {0, 0});
  EXPECT_EQ(experience.adaptedTool("kg", declared), declared);
}

// selection-respects-checks and adaptation-never-loosens, of whole registries with random experience.
RC_GTEST_PROP(SelectTool, NeverLoosensAnyCheck, ()) {
  ToolRegistry tools;
  AdaptationBook experience;
  const int n = *rc::gen::inRange(0, 12);
  for (int i = 0; i < n; ++i) {
    RC_ASSERT(tools.add("t" + std::to_string(i), draw<Tool>()).ok());
    for (int k = *rc::gen::inRange(0, 3); k > 0; --k)
      experience.observe("goal", "t" + std::to_string(i), draw<bool>(), draw<CostEstimate<RunTime>>());
  }
  const State st = draw<State>();
  const auto selection = selectTool("goal", tools, experience, st);
  for (const auto& [name, entry] : tools.tools())
    if (canInvokeTool(experience.adaptedTool(name, entry.spec), st)) {
      RC_ASSERT(selection.has_value());
      RC_ASSERT(experience.score("goal", name) <= selection->score);
    }
  if (!selection) return;
  RC_ASSERT(canInvokeTool(selection->tool, st));
  RC_ASSERT(canInvokeTool(tools.find(selection->name)->spec, st));
}

TEST(ToolRegistry, RefusesWhatIsNoName) {
  ToolRegistry tools = registry();
  EXPECT_FALSE(tools.add("a|b", {}).ok());
  EXPECT_FALSE(tools.add("a", {}, {"b|c"}).ok());
  EXPECT_EQ(tools.add("kg", {}).error().code, ErrorCode::conflict);
  EXPECT_EQ(tools.find("nobody"), nullptr);
}

}  // namespace
}  // namespace witan::choice_test
