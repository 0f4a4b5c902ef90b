// Seed 002, "Decision Functions": the run-time functions on concrete values.
#include "agents/decision/decisions.h"

#include <gtest/gtest.h>

namespace witan::decision_test {
namespace {

using namespace witan::agents::decision;

TEST(Natural, NeverWraps) {
  EXPECT_EQ(saturatingMinus(Natural(3), Natural(5)), Natural(0));
  EXPECT_EQ(saturatingPlus(Natural(Natural::kMax), 1), Natural(Natural::kMax));
  EXPECT_EQ(saturatingPlus(Natural(Natural::kMax), Natural(Natural::kMax)), Natural(Natural::kMax));
  EXPECT_EQ(Natural(~std::uint64_t{0}), Natural(Natural::kMax));
}

}  // namespace
}  // namespace witan::decision_test
