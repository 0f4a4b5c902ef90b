// Findings F5 and F8 and footprint honesty on the toy domain, and that each check sees a planted mistake.
#include "tests/kernel/state_checks.h"

#include <gtest/gtest.h>

#include "tests/kernel/toy_domain.h"

namespace witan::kernel::test::state_checks_test {
namespace {

using chest::Chest;

TEST(StateChecks, FootprintHonesty_Probe) {
  const auto module = chest::module();
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    ASSERT_EQ(footprintsAreHonest(*module, *anyState(*module, seed, 20, seed % 2 == 0),
                                  *anyState(*module, seed + 9000, 20, true)),
              "");
}

TEST(StateChecks, FootprintHonesty_ProbeFindsAnInvariantThatPeeps) {
  using Peeping = Chest<InvariantList<chest::GoldPositive, chest::Peeper>>;
  const auto module = chest::module<Peeping>();
  const auto look = [](const EntityState& state) { chest::peepHole = &TypedModule<Peeping>::boxOf(state).state; };
  std::string found;
  for (std::uint64_t seed = 0; seed < 50 && found.empty(); ++seed)
    found = footprintsAreHonest(*module, *anyState(*module, seed, 10, true), *anyState(*module, seed + 9000, 10, true),
                                look);
  chest::peepHole = nullptr;
  EXPECT_EQ(found, "PEEPER depends on a field outside its footprint");
}

// F5. Predicates that read the clock must be time-stable.
TEST(StateChecks, F5_TimeStabilityOfEveryInvariant) {
  const auto module = chest::module();
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    ASSERT_EQ(invariantsAreTimeStable(*module, *anyState(*module, seed, 25, seed % 2 == 0)), "");
}

TEST(StateChecks, F5_TimeStabilityCheckFindsAnUnstableInvariant) {
  const auto module = chest::module<Chest<InvariantList<chest::GoldPositive, chest::ItemFresh>>>();
  const EntityPtr chest = module->create({}, Time{}).value();
  ASSERT_TRUE(module->applyWrites(*chest, objectOf(R"({"item.at":{"i1":"1970-01-01T00:00:00Z"}})")).ok());
  EXPECT_NE(invariantsAreTimeStable(*module, *chest).find("ITEM_FRESH fails by the mere passing of time"),
            std::string::npos);
}

// F8. "if a mutation's write set is disjoint from its footprint, its last verdict stands", also after unsafe commits.
TEST(StateChecks, F8_IncrementalEqualsFull) {
  const auto module = chest::module();
  int unsafe = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed)
    ASSERT_EQ(incrementalEqualsFullOnHistories(*module, seed, 80, &unsafe), "") << seed;
  EXPECT_GT(unsafe, 100);
}

TEST(StateChecks, F8_ComparisonFindsAWrongStillPasses) {
  const auto module = chest::module<Chest<InvariantList<chest::GoldPositive, chest::WrongItemsCovered>>>();
  std::string found;
  for (std::uint64_t seed = 0; seed < 400 && found.empty(); ++seed)
    found = incrementalEqualsFullOnHistories(*module, seed, 80);
  EXPECT_NE(found.find("another outcome"), std::string::npos) << found;
}

// F8, by hand: a failing invariant is evaluated on a candidate that does not touch it, and keeps failing it.
TEST(StateChecks, F8_AFailingInvariantIsAlwaysReChecked) {
  const auto module = chest::module();
  const EntityPtr chest = module->create({}, Time{}).value();
  Evaluation out;
  ASSERT_TRUE(
      module->counselorCommit(*chest, CommitBase::current, nullptr, objectOf(R"({"gold":-5})"), {}, Time{1}, out).ok());
  ASSERT_EQ(chest->notPassing, 1u);
  const ActionPtr put = actionOf(*module, R"({"type":"PutItem","item":"i","value":0})");
  module->evaluate(*chest, "Keeper", *put, Time{2}, out);
  EXPECT_EQ(out.tag, Evaluation::Tag::rejected);
  EXPECT_EQ(out.message, "gold is -5");
  // The same candidate on a chest whose last verdicts were pass: only what it touches is evaluated.
  const EntityPtr good = module->create({}, Time{}).value();
  module->evaluate(*good, "Keeper", *put, Time{2}, out);
  EXPECT_EQ(out.tag, Evaluation::Tag::approved);
  EXPECT_EQ(out.verdicts, (std::vector<std::uint8_t>{1, 0, 0, 0, 1, 1, 1}));
}

}  // namespace
}  // namespace witan::kernel::test::state_checks_test
