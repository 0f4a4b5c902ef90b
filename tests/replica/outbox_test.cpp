// Outbox: what was accepted is asked until it is answered.
#include "replica/core/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/memory_store.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::outbox_test {
namespace {

TEST(Outbox, SurvivesARestart) {
  store::MemoryStore store;
  Outbox outbox;
  store::WriteBatch rows;
  ASSERT_TRUE(outbox.accept(spend("op-1", 10), Keep::now, 0, rows).ok());
  ASSERT_TRUE(outbox.accept(spend("op-2", 20), Keep::now, 0, rows).ok());
  EXPECT_TRUE(outbox.settle("op-1", rows));
  ASSERT_TRUE(store.writeSynced(rows).ok());
  Outbox again;
  ASSERT_TRUE(again.load(store).ok());
  EXPECT_EQ(again.size(), 1u);
  ASSERT_NE(again.find("op-2"), nullptr);
  EXPECT_EQ(again.find("op-2")->request, spend("op-2", 20));
  EXPECT_EQ(again.find("op-2")->tries, 0u);
}

TEST(Outbox, WhatMayBeLateHasItsRowOnlyOnceItIs) {
  Outbox outbox;
  store::WriteBatch rows;
  ASSERT_TRUE(outbox.accept(spend("soon", 10), Keep::ifLate, 0, rows).ok());
  ASSERT_TRUE(outbox.accept(spend("late", 10), Keep::ifLate, 0, rows).ok());
  ASSERT_TRUE(outbox.accept(spend("later", 10), Keep::ifLate, 100, rows).ok());
  EXPECT_TRUE(outbox.settle("soon", rows));
  outbox.saveLate(kUnsavedMs - 1, rows);
  EXPECT_TRUE(rows.empty()) << "neither written nor erased";
  for (const char* id : {"late", "later"}) outbox.tried(*outbox.find(id), 0);
  EXPECT_EQ(outbox.dueMs(), kUnsavedMs);
  outbox.saveLate(kUnsavedMs, rows);
  EXPECT_EQ(rows.size(), 1u);
  EXPECT_TRUE(outbox.find("late")->saved);
  EXPECT_EQ(outbox.dueMs(), kUnsavedMs + 100);
  ASSERT_TRUE(outbox.accept(spend("later", 10), Keep::now, 100, rows).ok());  // somebody wants to be sure
  EXPECT_EQ(rows.size(), 2u);
  outbox.saveAll(rows);
  EXPECT_EQ(rows.size(), 2u);
  EXPECT_TRUE(outbox.settle("late", rows));
  EXPECT_EQ(rows.size(), 3u) << "its row goes";
}

TEST(Outbox, OneIdIsOneRequest) {
  Outbox outbox;
  store::WriteBatch rows;
  ASSERT_TRUE(outbox.accept(spend("op-1", 10), Keep::now, 0, rows).ok());
  const std::size_t written = rows.size();
  EXPECT_TRUE(outbox.accept(spend("op-1", 10), Keep::now, 5, rows).ok());
  EXPECT_EQ(rows.size(), written);
  const auto other = outbox.accept(spend("op-1", 11), Keep::now, 5, rows);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
  EXPECT_EQ(outbox.find("op-1")->request, spend("op-1", 10));
}

// Ids are hashes of who asks: what is due at once goes out as it came, whoever that is.
TEST(Outbox, WhatIsDueAtOnceGoesOutAsItCame) {
  Outbox outbox;
  store::WriteBatch rows;
  for (const char* id : {"op-9", "op-1", "op-5"}) ASSERT_TRUE(outbox.accept(spend(id, 10), Keep::now, 0, rows).ok());
  const auto due = [&](std::int64_t nowMs) {
    std::vector<std::string> ids;
    outbox.visitDue(nowMs, [&](const Outbox::Waiting& waiting) { ids.push_back(waiting.request.operationId); });
    return ids;
  };
  EXPECT_THAT(due(0), ::testing::ElementsAre("op-9", "op-1", "op-5"));
  for (const char* id : {"op-1", "op-5", "op-9"}) outbox.tried(*outbox.find(id), 0);
  outbox.expedite(100);
  EXPECT_THAT(due(100), ::testing::ElementsAre("op-9", "op-1", "op-5"));
}

// A visit may settle one that comes after it, put it off, or hurry another.
TEST(Outbox, AVisitMayChangeWhatIsDue) {
  Outbox outbox;
  store::WriteBatch rows;
  for (const char* id : {"op-1", "op-2", "op-3", "op-4", "op-5"})
    ASSERT_TRUE(outbox.accept(spend(id, 10), Keep::now, 0, rows).ok());
  outbox.tryAt(*outbox.find("op-5"), 500);
  std::vector<std::string> visited;
  const auto visit = [&](Outbox::Waiting& waiting) {
    visited.push_back(waiting.request.operationId);
    if (visited.size() > 1) return;
    EXPECT_TRUE(outbox.settle("op-2", rows));
    outbox.tryAt(*outbox.find("op-3"), 900);
    outbox.tryAt(*outbox.find("op-5"), 0);
  };
  outbox.visitDue(100, visit);
  EXPECT_THAT(visited, ::testing::ElementsAre("op-1", "op-4"));
  outbox.visitDue(100, visit);
  EXPECT_THAT(visited, ::testing::ElementsAre("op-1", "op-4", "op-1", "op-4", "op-5"));
}

TEST(Outbox, TriesAreSpacedByBackoffUpToAMinute) {
  Outbox outbox;
  store::WriteBatch rows;
  ASSERT_TRUE(outbox.accept(spend("op-1", 10), Keep::now, 0, rows).ok());
  EXPECT_EQ(outbox.dueMs(), 0);
  Outbox::Waiting& waiting = *outbox.find("op-1");
  for (unsigned n = 0; n < 12; ++n) {
    outbox.tried(waiting, 1'000'000);
    const std::int64_t whole = std::min(kLastRetryMs, kFirstRetryMs << n), pause = waiting.dueMs - 1'000'000;
    EXPECT_GE(pause, whole / 2) << n;
    EXPECT_LT(pause, whole) << n;
  }
  Outbox twin;  // nothing is drawn: the same tries are due at the same times
  ASSERT_TRUE(twin.accept(spend("op-1", 10), Keep::now, 0, rows).ok());
  for (unsigned n = 0; n < 12; ++n) twin.tried(*twin.find("op-1"), 1'000'000);
  EXPECT_EQ(twin.dueMs(), outbox.dueMs());
}

TEST(Outbox, DevicesThatLostTheOwnerTogetherComeBackApart) {
  Outbox outbox;
  store::WriteBatch rows;
  std::set<std::int64_t> times;
  for (int n = 0; n < 50; ++n) {
    const std::string id = "op-" + std::to_string(n);
    ASSERT_TRUE(outbox.accept(spend(id, 10), Keep::now, 0, rows).ok());
    outbox.tried(*outbox.find(id), 0);
    times.insert(outbox.find(id)->dueMs);
  }
  EXPECT_GT(times.size(), 30u);
}

TEST(Outbox, HurryMakesEverythingDue) {
  Outbox outbox;
  store::WriteBatch rows;
  ASSERT_TRUE(outbox.accept(spend("op-1", 10), Keep::now, 0, rows).ok());
  outbox.tried(*outbox.find("op-1"), 100);
  EXPECT_GT(*outbox.dueMs(), 100);
  outbox.expedite(200);
  EXPECT_EQ(outbox.dueMs(), 200);
  outbox.expedite(300);  // what is due already stays so
  EXPECT_EQ(outbox.dueMs(), 200);
}

TEST(Outbox, IsBounded) {
  Outbox outbox;
  store::WriteBatch rows;
  for (std::size_t n = 0; n < kMaxOutbox; ++n)
    ASSERT_TRUE(outbox.accept(beginning(std::to_string(n)), Keep::now, 0, rows).ok());
  const auto full = outbox.accept(beginning("more"), Keep::now, 0, rows);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(outbox.settle("init-0", rows));
  EXPECT_TRUE(outbox.accept(beginning("more"), Keep::now, 0, rows).ok());
}

TEST(Outbox, NothingWaitsForWhatWasNeverAsked) {
  Outbox outbox;
  store::WriteBatch rows;
  EXPECT_FALSE(outbox.settle("op-1", rows));
  EXPECT_TRUE(rows.empty());
  EXPECT_EQ(outbox.dueMs(), std::nullopt);
}

TEST(Outbox, DamagedRowsAreNamed) {
  store::MemoryStore store;
  store::WriteBatch rows;
  rows.put("o/op-1", "nonsense");
  ASSERT_TRUE(store.writeSynced(rows).ok());
  Outbox outbox;
  EXPECT_FALSE(outbox.load(store).ok());
}

}  // namespace
}  // namespace witan::node::test::outbox_test
