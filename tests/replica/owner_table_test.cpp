// OwnerTable: a join semilattice of claims.
#include "replica/core/owner_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "store/memory_store.h"

namespace witan::node::owner_table_test {
namespace {

using ::testing::HasSubstr;

OwnershipRecord claim(std::uint64_t number, const std::string& owner, const std::string& of = "p/0") {
  OwnershipRecord made;
  made.partition = of;
  made.number = number;
  made.owner = owner;
  return made;
}

std::vector<OwnershipRecord> generated() {
  const auto words = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 36));
  std::vector<OwnershipRecord> claims;
  for (const int word : words)
    claims.push_back(claim(static_cast<std::uint64_t>(word % 3 + 1), word / 3 % 2 == 0 ? "a@00000001" : "b@00000001",
                           word / 6 % 2 == 0 ? "p/0" : "p/1"));
  return claims;
}

std::map<std::string, kernel::Epoch> learned(const std::vector<OwnershipRecord>& claims) {
  OwnerTable table;
  store::WriteBatch rows;
  for (const OwnershipRecord& one : claims) table.learn(one, rows);
  std::map<std::string, kernel::Epoch> out;
  for (const auto& [partition, known] : table.all()) out[partition] = known.epoch();
  return out;
}

RC_GTEST_PROP(OwnerTableLattice, AnyOrderAndRepetitionsGiveTheSame, ()) {
  const std::vector<OwnershipRecord> claims = generated();
  std::vector<OwnershipRecord> other = claims;
  other.insert(other.end(), claims.begin(), claims.end());
  std::reverse(other.begin(), other.end());
  RC_ASSERT(learned(other) == learned(claims));
}

RC_GTEST_PROP(OwnerTableLattice, WhatIsKnownIsTheGreatest, ()) {
  const std::vector<OwnershipRecord> claims = generated();
  const auto known = learned(claims);
  for (const OwnershipRecord& one : claims) RC_ASSERT(known.at(one.partition) >= one.epoch());
}

RC_GTEST_PROP(OwnerTableLattice, LearningIsNewsOnlyIfItIsGreater, ()) {
  OwnerTable table;
  for (const OwnershipRecord& one : generated()) {
    const OwnershipRecord* before = table.find(one.partition);
    const bool greater = before == nullptr || one.epoch() > before->epoch();
    store::WriteBatch rows;
    RC_ASSERT(table.learn(one, rows) == greater);
    RC_ASSERT(rows.empty() == !greater);
  }
}

TEST(OwnerTable, IsReadBack) {
  store::MemoryStore store;
  OwnerTable table;
  store::WriteBatch rows;
  table.learn(claim(2, "b@00000001"), rows);
  table.learn(claim(7, "a@00000001", "p/1"), rows);
  ASSERT_TRUE(store.writeSynced(rows).ok());
  OwnerTable again;
  ASSERT_TRUE(again.load(store).ok());
  ASSERT_NE(again.find("p/0"), nullptr);
  EXPECT_EQ(again.find("p/0")->epoch(), (kernel::Epoch{2, "b@00000001"}));
  EXPECT_EQ(again.find("p/1")->number, 7u);
  EXPECT_EQ(again.find("p/2"), nullptr);
}

TEST(OwnerTable, OfOneEpochTheSignedClaimStaysAndSignedOnesAreKept) {
  store::MemoryStore store;
  OwnerTable table;
  store::WriteBatch rows;
  EXPECT_TRUE(table.learn(claim(1, "b@00000001"), rows));
  OwnershipRecord one = claim(1, "b@00000001");
  one.signature = {1, 2, 3};
  EXPECT_TRUE(table.learn(one, rows));
  EXPECT_FALSE(table.learn(one, rows));
  EXPECT_FALSE(table.learn(claim(1, "b@00000001"), rows)) << "not back to the unsigned one";
  OwnershipRecord later = claim(3, "a@00000001"), between = claim(2, "b@00000001");
  later.signature = between.signature = one.signature;
  EXPECT_TRUE(table.learn(later, rows));
  EXPECT_FALSE(table.learn(between, rows));
  ASSERT_TRUE(store.writeSynced(rows).ok());
  OwnerTable again;
  ASSERT_TRUE(again.load(store).ok());
  for (const OwnerTable* known : {&table, &again}) {
    EXPECT_EQ(known->latestEpoch("p/0"), 3u);
    EXPECT_EQ(known->find("p/0", one.epoch())->signature, one.signature);
    EXPECT_EQ(known->after("p/0", one.epoch()).size(), 2u);
    EXPECT_EQ(known->find("p/0", {2, "c@00000001"}), nullptr);
  }
}

TEST(OwnerTable, ARowUnderAnotherKeyIsCorrupt) {
  store::MemoryStore store;
  OwnerTable table;
  store::WriteBatch rows;
  table.learn(claim(2, "b@00000001"), rows);
  ASSERT_TRUE(store.writeSynced(rows).ok());
  auto value = store.get("c/p/0");
  store::WriteBatch moved;
  moved.put("c/p/9", **value);
  ASSERT_TRUE(store.writeSynced(moved).ok());
  OwnerTable again;
  const Status read = again.load(store);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
}

TEST(OwnerTable, HoldsSoManyPartitions) {
  OwnerTable table;
  store::WriteBatch rows;
  for (std::size_t n = 0; n < kMaxPartitions; ++n)
    ASSERT_TRUE(table.learn(claim(1, "a@00000001", "p/" + std::to_string(n)), rows));
  EXPECT_FALSE(table.learn(claim(1, "a@00000001", "q/0"), rows));
  EXPECT_TRUE(table.learn(claim(2, "a@00000001", "p/0"), rows));
}

TEST(OwnerTable, ClaimsAreChecked) {
  EXPECT_TRUE(checkOwnershipRecord(claim(1, "a@00000001"), 0).ok());
  EXPECT_THAT(checkOwnershipRecord(claim(0, "a@00000001"), 0).error().message, HasSubstr("epoch 0"));
  EXPECT_THAT(checkOwnershipRecord(claim(1, "no writer"), 0).error().message, HasSubstr("epoch owner"));
  EXPECT_THAT(checkOwnershipRecord(claim(1, "a@00000001", ""), 0).error().message, HasSubstr("partition"));
}

}  // namespace
}  // namespace witan::node::owner_table_test
