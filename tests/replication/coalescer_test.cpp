// Key-preserving coalescing (003, 3.4).
#include "replication/coalescer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "tests/replication/record_history.h"

namespace witan::replication {
namespace {

NotificationBatch batchOfUnits(std::uint64_t counter, const std::vector<std::string>& ids,
                               const std::vector<std::string>& entities = {}, std::string localBatchId = "b") {
  BatchDraft draft{std::move(localBatchId), {}, {}, {}, ""};
  for (const auto& id : ids) draft.changes.push_back({"t", id, ChangeOrigin::local});
  for (const auto& e : entities) draft.tokens.push_back({TokenClass::entityId, std::nullopt, e});
  return *batchOf({{"hostA", counter}, {}, *batchRecord(draft), false});
}

std::vector<NotificationBatch> drain(Coalescer& coalescer) {
  std::vector<NotificationBatch> out;
  while (auto batch = coalescer.take()) out.push_back(*std::move(batch));
  return out;
}

// 003, section 11: "2. key-preserving coalescing (no cross-key merge)".
RC_GTEST_PROP(Obligation2, NoChangeIsLostAndNoTwoChangesBecomeOne, ()) {
  test::onManyHistories([] {
    Coalescer coalescer;
    std::map<LogicalChangeKey, std::vector<ChangeUnitKey>> offered;
    std::map<LogicalChangeKey, std::set<TokenKey>> tokens;
    std::vector<NotificationBatch> taken;
    for (int i = test::uniform(1, 40); i > 0; --i) {
      if (test::uniform(0, 5) == 0) {
        if (auto batch = coalescer.take()) {
          RC_ASSERT(batch->changeUnitKeys == offered.at(batch->logicalChangeKey));
          taken.push_back(*std::move(batch));
        }
        continue;
      }
      auto batch = batchOfUnits(test::uniform<std::uint64_t>(1, 6), {*rc::gen::element<std::string>("x", "y")},
                                {*rc::gen::element<std::string>("e1", "e2", "e3")});
      offered[batch.logicalChangeKey] = batch.changeUnitKeys;
      tokens[batch.logicalChangeKey].insert(batch.tokenKeys.begin(), batch.tokenKeys.end());
      RC_ASSERT(coalescer.offer(std::move(batch)) != Coalesced::full);
    }
    for (auto& batch : drain(coalescer)) taken.push_back(std::move(batch));
    for (const auto& batch : taken) {
      RC_ASSERT(batch.changeUnitKeys == offered.at(batch.logicalChangeKey));
      RC_ASSERT(*logicalChangeKey(batch.changeUnitKeys) == batch.logicalChangeKey);
      for (const TokenKey& key : batch.tokenKeys) tokens.at(batch.logicalChangeKey).erase(key);
    }
    for (const auto& [key, left] : tokens) RC_ASSERT(left.empty());
  });
}

// The failing twin: a debounce window that merges whatever falls into it. What wakes then depends on when it closed.
TEST(Obligation2, MergingAcrossKeysWouldChangeIdentity) {
  const auto first = batchOfUnits(1, {"x"}), second = batchOfUnits(2, {"y"});
  std::vector<ChangeUnitKey> both = first.changeUnitKeys;
  both.insert(both.end(), second.changeUnitKeys.begin(), second.changeUnitKeys.end());
  const auto window = *logicalChangeKey(both);
  EXPECT_NE(window, first.logicalChangeKey);
  EXPECT_NE(window, second.logicalChangeKey);
  EXPECT_NE(*subscriptionRunKey("agent-1", "sub-1", window),
            *subscriptionRunKey("agent-1", "sub-1", first.logicalChangeKey));

  Coalescer coalescer;
  coalescer.offer(first);
  coalescer.offer(second);
  EXPECT_EQ(drain(coalescer), (std::vector{first, second}));
}

RC_GTEST_PROP(Coalescer, TheOrderOfMergingDoesNotShow, ()) {
  test::onManyHistories([] {
    std::vector<NotificationBatch> batches;
    for (int i = test::uniform(1, 6); i > 0; --i)
      batches.push_back(batchOfUnits(
          1, {"x"}, *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>("a", "b", "c", "d")),
          *rc::gen::element<std::string>("b1", "b2", "b3")));
    NotificationBatch forth = batches.front(), back = batches.back();
    for (const auto& b : batches) mergeEqualChange(forth, b);
    for (auto b = batches.rbegin(); b != batches.rend(); ++b) mergeEqualChange(back, *b);
    RC_ASSERT(forth == back);
    RC_ASSERT(std::is_sorted(forth.tokenKeys.begin(), forth.tokenKeys.end()));
  });
}

TEST(Coalescer, FullMeansNothingChangedAndEqualKeysStillFitIn) {
  Coalescer coalescer({.batches = 2, .tokens = 3});
  EXPECT_EQ(coalescer.offer(batchOfUnits(1, {"x"}, {"a"})), Coalesced::queued);
  EXPECT_EQ(coalescer.offer(batchOfUnits(2, {"x"}, {"a"})), Coalesced::queued);
  EXPECT_EQ(coalescer.offer(batchOfUnits(3, {"x"}, {"a"})), Coalesced::full);
  EXPECT_EQ(coalescer.offer(batchOfUnits(1, {"x"}, {"a", "b"})), Coalesced::merged);
  EXPECT_EQ(coalescer.offer(batchOfUnits(1, {"x"}, {"c"})), Coalesced::full);
  EXPECT_EQ(coalescer.offer(batchOfUnits(1, {"x"}, {"b"})), Coalesced::merged);
  EXPECT_EQ(coalescer.take()->tokens.size(), 2u);
  EXPECT_EQ(coalescer.size(), 1u);
  // One that is larger than the limit alone goes through once there is nothing else.
  EXPECT_TRUE(coalescer.take().has_value());
  EXPECT_EQ(coalescer.offer(batchOfUnits(4, {"x"}, {"a", "b", "c", "d"})), Coalesced::queued);
}

TEST(CoalescerDeathTest, MergingDifferentChangesIsABug) {
  auto a = batchOfUnits(1, {"x"});
  const auto b = batchOfUnits(2, {"x"});
  EXPECT_DEATH(mergeEqualChange(a, b), "only equal changes");
}

}  // namespace
}  // namespace witan::replication
