// `witan compare`: what each architecture must show, and that what it must not show is found where it happens.
#include "lab/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domains/registry.h"

namespace witan::compare::compare_test {
namespace {

enum : std::size_t { kNaive, kJudge, kSagas, kKernel };

Comparison compared(const char* domain, double errorRate) {
  const auto module = domains::makeDomain(domain).value();
  return compareArchitectures(*module, {.traces = 6, .rounds = 15, .errorRate = errorRate}).value();
}

TEST(Compare, TheKernelBreaksAndDeniesNothingWrongly) {
  for (const char* domain : {"budget", "moderation"}) {
    const Comparison all = compared(domain, 0.2);
    const ComparisonRow& kernel = all.rows[kKernel];
    EXPECT_EQ(kernel.violations, 0u) << domain;
    EXPECT_EQ(kernel.wrongDenials, 0u) << domain;
    EXPECT_GT(kernel.committed, 20u) << domain;
    for (const ComparisonRow& row : all.rows) EXPECT_EQ(row.committed + row.denied, all.proposals) << row.architecture;
  }
}

TEST(Compare, NaiveServicesBreakABudgetAndSagasUndo) {
  const Comparison all = compared("budget", 0);
  EXPECT_GT(all.rows[kNaive].violations, 0u);
  EXPECT_EQ(all.rows[kNaive].compensations, 0u);
  EXPECT_GT(all.rows[kSagas].violations, 0u) << "others see it until it is undone";
  EXPECT_GT(all.rows[kSagas].compensations, 0u);
}

TEST(Compare, AJudgeIsAsGoodAsItsErrorRate) {
  const ComparisonRow sure = compared("budget", 0).rows[kJudge], fickle = compared("budget", 0.3).rows[kJudge];
  EXPECT_EQ(sure.violations, 0u);
  EXPECT_EQ(sure.wrongDenials, 0u);
  EXPECT_GT(fickle.violations, 0u);
  EXPECT_GT(fickle.wrongDenials, 0u);
  EXPECT_GT(sure.meanMicros, 800'000u);
}

TEST(Compare, TableAndDrawingHaveEveryArchitecture) {
  const Comparison all = compared("budget", 0.05);
  const std::string table = comparisonTable("budget", {.traces = 6, .rounds = 15}, all);
  const std::string drawing = comparisonSvg("budget", all);
  for (const ComparisonRow& row : all.rows) {
    EXPECT_THAT(table, testing::HasSubstr(row.architecture));
    EXPECT_THAT(drawing, testing::HasSubstr(row.architecture));
  }
  EXPECT_TRUE(drawing.ends_with("</svg>\n"));
}

}  // namespace
}  // namespace witan::compare::compare_test
