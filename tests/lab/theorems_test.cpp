// Seed 002, "Proven Properties" and phases 2 to 5: each theorem for all inputs, and its broken twin that must fail.
#include <gtest/gtest.h>

#include <set>

#include "lab/proof/theorem.h"

namespace witan::theorems_test {
namespace {

using namespace witan::agents::proof;

std::string nameOf(const testing::TestParamInfo<Theorem>& info) {
  std::string name(info.param.id);
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

class Seed002 : public testing::TestWithParam<Theorem> {};

TEST_P(Seed002, HoldsForAllInputs) {
  const Verdict verdict = prove(GetParam());
  EXPECT_TRUE(verdict.asItMustBe) << GetParam().title << "\n" << verdict.detail;
}

TEST_P(Seed002, ItsTwinFails) {
  const Verdict verdict = refuteTwin(GetParam());
  EXPECT_TRUE(verdict.asItMustBe) << GetParam().twinTitle << "\n" << verdict.detail;
}

INSTANTIATE_TEST_SUITE_P(Theorems, Seed002, testing::ValuesIn(theorems()), nameOf);

// Every name in the seed's tables is here.
TEST(Seed002Theorems, AreAllThere) {
  std::set<std::string_view> ids;
  for (const Theorem& theorem : theorems()) EXPECT_TRUE(ids.insert(theorem.id).second) << theorem.id;
  for (const char* name :
       {"permission-safety", "budget-bounds-after-deduct", "error-state-forces-must-respond",
        "termination-by-max-steps", "step-increases-after-increment", "remaining-steps-decreases-after-increment",
        "deduct-preserves-agent-state", "increment-preserves-agent-state", "update-satisfaction-preserves-agent-state",
        "mark-done-preserves-agent-state", "set-error-preserves-agent-state", "react-step-preserves-agent-state",
        "continue-respond-partition", "external-tool-call-bounded", "facts-monotonic", "goal-progress"})
    EXPECT_TRUE(ids.contains(name)) << name;
}

// F9: the seed's "exactly one" fails, and Z3 shows a state that is both finished and satisfied.
TEST(Seed002Theorems, F9_ExactlyOneIsFalse) {
  for (const Theorem& theorem : theorems())
    if (theorem.id == "continue-respond-partition") {
      EXPECT_NE(refuteTwin(theorem).detail.find("state.satisfaction="), std::string::npos);
      return;
    }
  FAIL() << "the theorem is gone";
}

// F20: the prover itself can say no. A false theorem is refuted with values, a true twin is noticed.
TEST(Prover, SaysNo) {
  const Theorem wrong{
      "wrong", "numbers are below the cap",
      [](Scene& s) { return s.any<witan::agents::decision::Natural>("n") < Symbolic::cap(s.context()); },
      "a twin that holds", [](Scene& s) { return s.any<bool>("b") || true; }};
  EXPECT_FALSE(prove(wrong).asItMustBe);
  EXPECT_EQ(prove(wrong).detail.find("counterexample: cap="), 0u) << prove(wrong).detail;
  EXPECT_FALSE(refuteTwin(wrong).asItMustBe);
  Theorem impossible = wrong;
  impossible.expect = Expect::possible;
  impossible.claim = [](Scene& s) { return s.any<bool>("b") && false; };
  EXPECT_FALSE(prove(impossible).asItMustBe);
  EXPECT_FALSE(refuteTwin(impossible).asItMustBe);
}

}  // namespace
}  // namespace witan::theorems_test
