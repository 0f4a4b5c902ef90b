// LogHashChain: digests of a log, their rows, and where two logs part.
#include "replica/core/log_hash_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::log_hash_chain_test {
namespace {

// The log of a partition with so many batches; rows of the chain are in the same store.
struct Log {
  store::MemoryStore store;
  std::unique_ptr<PartitionHost> host;

  explicit Log(int batches) {
    open();
    store::WriteBatch out;
    host->beginEpoch({1, "a@00000001"}, kernel::EpochCause::founding, at(0).wall, "", out);
    host->decide(beginning(), at(0).wall, "");
    for (int n = 2; n <= batches; ++n) {
      host->stage(out);
      host->decide(spend("op-" + std::to_string(n), n), at(n).wall, "");
    }
    host->stage(out);
    WITAN_CHECK(store.writeSynced(out).ok(), "a store in memory");
    std::vector<PartitionHost::Release> told;
    host->confirmed(told);
  }
  void open() {
    auto opened = PartitionHost::open(store, budget(), {std::string(kPartition), "test/budget/0", 0});
    WITAN_CHECK(opened.ok(), "a partition opens");
    host = *std::move(opened);
  }
  std::vector<std::string> rows() {
    std::vector<std::string> keys;
    EXPECT_TRUE(store
                    .scan("p/budget/0/h", {},
                          [&](std::string_view key, std::string_view) {
                            keys.emplace_back(key);
                            return true;
                          })
                    .ok());
    return keys;
  }
  std::vector<Hash> digests() {
    std::vector<Hash> all;
    for (std::uint64_t n = 0; n <= host->chain().batches(); ++n) all.push_back(host->chain().after(n).value_or(Hash{}));
    return all;
  }
};

TEST(LogHashChain, IsWhatItsHeaderSays) {
  Log log(3);
  EXPECT_EQ(*log.host->chain().after(0), sha256(""));
  // By hand: every record of these batches, header by header.
  const std::string batch = *log.host->ledger().batch(1);
  std::string bytes(reinterpret_cast<const char*>(log.digests()[1].data()), 32);
  bytes += batch.substr(0, 24);
  for (std::size_t at = 24; at < batch.size();) {
    const auto length = static_cast<unsigned char>(batch[at]) | static_cast<unsigned char>(batch[at + 1]) << 8;
    bytes += batch.substr(at, 16);
    at += 16 + (static_cast<std::size_t>(length) + 7) / 8 * 8;
  }
  EXPECT_EQ(log.digests()[2], sha256(bytes));
  EXPECT_EQ(log.host->chain().last(), log.digests().back());
}

TEST(LogHashChain, MakesMissingAndDamagedRowsAgain) {
  Log log(20);
  const std::vector<Hash> before = log.digests();
  const std::vector<std::string> keys = log.rows();
  ASSERT_EQ(keys.size(), log.host->ledger().batches());
  store::WriteBatch damage;
  damage.put(keys[4], "nonsense");
  damage.erase(keys[12]);
  damage.put(keys.back(), "x");
  ASSERT_TRUE(log.store.writeSynced(damage).ok());
  log.open();
  EXPECT_EQ(log.digests(), before);
  store::WriteBatch none;
  for (const std::string& key : keys) none.erase(key);
  ASSERT_TRUE(log.store.writeSynced(none).ok());
  log.open();  // as a store that an earlier version wrote
  EXPECT_EQ(log.digests(), before);
  EXPECT_EQ(log.rows(), keys);
}

TEST(LogHashChain, MarksAreSpreadAndEndWhereTheyWereAsked) {
  Log log(100);
  const LogHashChain& chain = log.host->chain();
  const std::uint64_t all = chain.batches();
  const auto numbers = [&](std::uint64_t low, std::uint64_t high, std::size_t most) {
    std::vector<std::uint64_t> found;
    for (const LogProbe& mark : chain.between(low, high, most)) found.push_back(mark.batches);
    return found;
  };
  EXPECT_THAT(numbers(3, 6, 64), ::testing::ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(numbers(0, all, 4), ::testing::ElementsAre(0, all / 4, all / 2, all * 3 / 4, all));
  EXPECT_EQ(numbers(10, 5'000, 64).back(), all);
  EXPECT_LE(numbers(0, 5'000, 64).size(), kMaxLogProbes);
  EXPECT_THAT(numbers(all, all + 9, 4), ::testing::IsEmpty());
  EXPECT_THAT(numbers(9, 3, 4), ::testing::IsEmpty());
}

// However long two logs are, a few questions find the first batch that differs.
TEST(LogHashChain, TheSearchEndsAtTheFirstDifference) {
  Log log(100);
  const LogHashChain& chain = log.host->chain();
  const std::uint64_t all = chain.batches();
  for (std::uint64_t shared = 0; shared < all; ++shared) {
    LogPosition theirs;
    const auto mark = [&](std::uint64_t n) { return LogProbe{n, n <= shared ? *chain.after(n) : sha256("other")}; };
    theirs.batches = all;
    theirs.chain = mark(all).chain;
    Divergence found = divergenceOf(chain, all, theirs);
    ASSERT_TRUE(found.diverged);
    int questions = 0;
    for (; found.high - found.low > 1; ++questions) {
      theirs.probes.clear();
      for (const LogProbe& each : chain.between(found.low, found.high, 4)) theirs.probes.push_back(mark(each.batches));
      found = divergenceOf(chain, all, theirs);
    }
    EXPECT_EQ(found.low, shared);
    EXPECT_LE(questions, 5) << shared;
  }
}

TEST(LogHashChain, WhatCannotBeComparedIsNoDifference) {
  Log log(5);
  LogPosition theirs;
  theirs.batches = 3;  // no digest
  EXPECT_FALSE(divergenceOf(log.host->chain(), 5, theirs).diverged);
  theirs.batches = 9;  // more than here
  theirs.chain = sha256("other");
  EXPECT_FALSE(divergenceOf(log.host->chain(), 5, theirs).diverged);
  // Equal further on than where they differ: no two logs are so. The difference counts.
  theirs.probes = {{2, sha256("other")}, {4, *log.host->chain().after(4)}};
  const Divergence found = divergenceOf(log.host->chain(), 5, theirs);
  EXPECT_TRUE(found.diverged);
  EXPECT_EQ(found.high, 2u);
  EXPECT_LT(found.low, found.high);
}

}  // namespace
}  // namespace witan::node::test::log_hash_chain_test
