// Loops over rows that visit some of them only (rules/program/scans.h) give what they give when they visit all.
#include "rules/program/scans.h"

#include <gtest/gtest.h>

#include "kernel/domain_module.h"
#include "rules/domain/rule_module.h"

namespace witan::rules {
namespace {

using namespace kernel;

// Each require compares a loop that is narrowed with one whose test hides its bounds.
constexpr const char* kRules = R"toml(domain = "scans"
title = "Loops"
counselors = ["c"]

[tables.items]
v = "int"
s = "string"

[functions]
"isAt(x: row(items), s: string)" = "has(x.s) && x.s == s"
"first(a: int, b: list(int))" = "a"

[processes.Set]
role = "R"
arguments = "item: string, v: int?, s: string?"
do = '''
items[item].v = v;
items[item].s = s;
'''

[invariants.SAME]
rule = "narrowed loops are as the others"
check = '''
for y in items {
  if has(y.v) && has(y.s) {
    require items.filter(x, has(x.v) && x.v > y.v).map(x, x.key) ==
      items.filter(x, has(x.v) && (x.v > y.v || false)).map(x, x.key) else reject 'greater';
    require items.filter(x, has(x.v) && x.v >= y.v - 2 && y.v + 1 > x.v).map(x, x.key) ==
      items.filter(x, has(x.v) && (x.v >= y.v - 2 && x.v < y.v + 1 || false)).map(x, x.key) else reject 'between';
    require items.filter(x, isAt(x, y.s) && x.key != y.key).map(x, x.key) ==
      items.filter(x, (isAt(x, y.s) || false) && x.key != y.key).map(x, x.key) else reject 'equal';
    require items.exists(x, has(x.s) && x.s == y.s && has(x.v) && x.v == y.v + 1) ==
      items.exists(x, has(x.s) && (x.s == y.s && has(x.v) && x.v == y.v + 1 || false)) else reject 'exists';
  }
}
require first(7, [1, 2].map(x, x)) == 7 else reject 'a loop in an argument changed another argument';
'''

[invariants.SMALL]
rule = "values are at most 12"
each = "items as i"
check = "require !has(i.v) || i.v <= 12 else reject 'too large'"
)toml";

TEST(Scans, VisitWhatTheOthersVisit) {
  const auto module = makeRuleModule(kRules, "scans.domain.toml").value();
  int rejected = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SeededRandom random(seed);
    EntityPtr state = module->create({}, Time{}).value();
    Evaluation out;
    for (int i = 0; i < 60; ++i) {
      // Keys come in no order; cells are emptied and candidates undone.
      const json::object action{
          {"type", "Set"},
          {"item", concat("i", random.below(20))},
          {"v", random.below(5) == 0 ? json::value(nullptr) : json::value(static_cast<std::int64_t>(random.below(14)))},
          {"s", random.below(5) == 0 ? json::value(nullptr) : json::value(concat("s", random.below(4)))}};
      const auto parsed = module->parseAction(json::value(action));
      ASSERT_TRUE(parsed.ok());
      module->evaluateFully(*state, "R", **parsed, Time{i}, out);
      if (out.tag == Evaluation::Tag::approved) continue;
      ASSERT_EQ(out.message, "too large") << "seed " << seed << ", step " << i;
      ++rejected;
      if (i % 7 == 0) state = module->clone(*state);
    }
  }
  EXPECT_GT(rejected, 10);
}

}  // namespace
}  // namespace witan::rules
