// Seed 002, "Decision Functions": the run-time functions on concrete values.
#include "agents/decision/decisions.h"

#include <gtest/gtest.h>

#include "agents/decision/refusal.h"

namespace witan::decision_test {
namespace {

using namespace witan::agents::decision;

TEST(Natural, NeverWraps) {
  EXPECT_EQ(saturatingMinus(Natural(3), Natural(5)), Natural(0));
  EXPECT_EQ(saturatingPlus(Natural(Natural::kMax), 1), Natural(Natural::kMax));
  EXPECT_EQ(saturatingPlus(Natural(Natural::kMax), Natural(Natural::kMax)), Natural(Natural::kMax));
  EXPECT_EQ(Natural(~std::uint64_t{0}), Natural(Natural::kMax));
}

// whyRefused has a reason exactly if canInvokeTool says no.
TEST(Refusal, NamesEveryReason) {
  const Tool tool{.requiredAccess = 2, .requiresExecute = true, .tokenCost = 20000, .timeCost = 4000};
  EXPECT_EQ(whyRefused(tool, State{}),
            "file access level: needs 2, has 0; execution of code is not allowed; tokens: needs 20000, has 10000; "
            "seconds: needs 4000, has 3600");
  EXPECT_EQ(whyRefused(Tool{}, State{}), "");
  EXPECT_FALSE(canInvokeTool(tool, State{}));
  EXPECT_TRUE(canInvokeTool(Tool{}, State{}));
}

}  // namespace
}  // namespace witan::decision_test
