// PartitionHost: a copy of a partition, decided on or followed.
#include "replica/core/partition_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/test_cluster.h"

namespace witan::node::test::partition_host_test {
namespace {

using kernel::EpochCause;
using kernel::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const kernel::Epoch kFirst{1, "a@00000001"};
const kernel::Epoch kSecond{2, "b@00000001"};

std::unique_ptr<PartitionHost> open(store::MemoryStore& store) {
  auto host = PartitionHost::open(store, budget(), {std::string(kPartition), "test/budget/0", 0});
  WITAN_CHECK(host.ok(), "a partition opens");
  return *std::move(host);
}

void write(store::MemoryStore& store, store::WriteBatch& batch) {
  ASSERT_TRUE(store.writeSynced(batch).ok());
  batch.clear();
}

// An owner with the entity "e".
struct Owner {
  store::MemoryStore store;
  std::unique_ptr<PartitionHost> host = open(store);
  store::WriteBatch batch;
  std::vector<PartitionHost::Release> told;

  Owner() {
    host->beginEpoch(kFirst, EpochCause::founding, at(0).wall, "", batch);
    host->decide(beginning(), at(1).wall, "");
    save();
    told.clear();
  }
  void save() {
    host->stage(batch);
    write(store, batch);
    host->confirmed(told);
  }
};

std::vector<std::string> keptAside(const store::MemoryStore& store) {
  std::vector<std::string> kept;
  EXPECT_TRUE(store
                  .scan("x/", {},
                        [&](std::string_view, std::string_view value) {
                          kept.emplace_back(value);
                          return true;
                        })
                  .ok());
  return kept;
}

TEST(PartitionHost, AnswersWaitUntilTheyAreConfirmedAndKeepTheirOrder) {
  Owner owner;
  owner.host->decide(spend("op-1", 10), at(2).wall, "b");
  owner.host->decide(spend("op-2", 20, "B"), at(3).wall, "");
  EXPECT_EQ(owner.host->waiting(), 2u);
  EXPECT_TRUE(owner.told.empty());
  EXPECT_EQ(owner.host->durableBatches(), 2u);
  owner.save();
  ASSERT_EQ(owner.told.size(), 2u);
  EXPECT_EQ(owner.told[0].to, "b");
  EXPECT_EQ(owner.told[0].answer.operationId, "op-1");
  EXPECT_EQ(owner.told[0].answer.outcome, Outcome::approved);
  EXPECT_EQ(owner.told[0].answer.epochOwner, kFirst.owner);
  EXPECT_EQ(owner.told[1].answer.operationId, "op-2");
  EXPECT_EQ(owner.host->durableBatches(), 3u);
  EXPECT_EQ(owner.host->waiting(), 0u);
}

TEST(PartitionHost, ItsTimeNeverGoesBack) {
  Owner owner;
  owner.host->decide(spend("op-1", 10), at(5'000).wall, "");
  owner.host->decide(spend("op-2", 10), at(1'000).wall, "");
  owner.save();
  const auto timeOf = [&](std::uint64_t seq) { return kernel::readEntry(*owner.host->ledger().entryBytes(seq))->time; };
  EXPECT_EQ(timeOf(1), at(5'000).wall);
  EXPECT_EQ(timeOf(2), at(5'000).wall);
}

TEST(PartitionHost, BadRequestsAreRefusedWithoutAnEntry) {
  Owner owner;
  const std::uint64_t before = owner.host->partition().size();
  Request unknown = spend("op-1", 10);
  unknown.entity = "nobody";
  Request nonsense = spend("op-2", 10);
  nonsense.action.assign(16, 7);
  Request stranger = spend("op-3", 10);
  stranger.actionType = "NoSuchProcess";
  Request fields = beginning("f");
  fields.text = "[1]";
  Request edit;
  edit.kind = RequestKind::commit;
  edit.domain = "budget", edit.entity = "e", edit.operationId = "op-4", edit.text = "nonsense";
  for (const Request& request : {unknown, nonsense, stranger, fields, edit})
    owner.host->decide(request, at(2).wall, "");
  owner.save();
  ASSERT_EQ(owner.told.size(), 5u);
  for (const auto& release : owner.told) {
    EXPECT_EQ(release.answer.outcome, Outcome::refused) << release.answer.operationId;
    EXPECT_NE(release.answer.message, "") << release.answer.operationId;
  }
  EXPECT_THAT(owner.told[0].answer.message, HasSubstr("nobody"));
  EXPECT_EQ(owner.host->partition().size(), before);
}

struct Follower {
  store::MemoryStore store;
  std::unique_ptr<PartitionHost> host = open(store);
  store::WriteBatch batch;

  void followUpTo(PartitionHost& owner, std::uint64_t batches) {
    while (host->ledger().batches() < batches)
      ASSERT_TRUE(host->follow(*owner.ledger().batch(host->ledger().batches()), batch).ok());
  }
};

TEST(PartitionHost, AFollowerHasTheSameLogRootAndState) {
  Owner owner;
  owner.host->decide(spend("op-1", 10), at(2).wall, "");
  owner.save();
  Follower follower;
  follower.followUpTo(*owner.host, 3);
  EXPECT_EQ(follower.host->partition().tree().root(), owner.host->partition().tree().root());
  EXPECT_EQ(*follower.host->partition().stateDigest("e"), *owner.host->partition().stateDigest("e"));
  EXPECT_EQ(follower.host->lineage().epochs, owner.host->lineage().epochs);
  for (std::uint64_t n = 0; n <= 3; ++n) EXPECT_EQ(*follower.host->chain().after(n), *owner.host->chain().after(n));
  EXPECT_FALSE(follower.host->chain().after(4));
}

// A device that was just handed the partition is asked again what its predecessor decided last.
TEST(PartitionHost, WhatWasFollowedIsKnownBeforeItIsWritten) {
  Owner owner;
  owner.host->decide(spend("op-1", 10), at(2).wall, "");
  owner.save();
  Follower follower;
  follower.followUpTo(*owner.host, 3);
  follower.host->decide(spend("op-1", 10), at(3).wall, "");
  follower.host->decide(spend("op-1", 11), at(3).wall, "");
  write(follower.store, follower.batch);
  std::vector<PartitionHost::Release> told;
  follower.host->confirmed(told);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].answer.outcome, Outcome::duplicate);
  EXPECT_EQ(told[0].answer.recorded, Outcome::approved);
  EXPECT_EQ(told[1].answer.outcome, Outcome::refused);  // one name, one act
}

TEST(PartitionHost, WhatIsNoBatchIsRefused) {
  Owner owner;
  Follower follower;
  EXPECT_FALSE(follower.host->follow("nonsense", follower.batch).ok());
  std::string torn = *owner.host->ledger().batch(0);
  torn.resize(torn.size() - 8);
  follower.host = open(follower.store);
  EXPECT_FALSE(follower.host->follow(torn, follower.batch).ok());
  follower.host = open(follower.store);
  EXPECT_FALSE(follower.host->follow(*owner.host->ledger().batch(1) + "x", follower.batch).ok());
}

TEST(PartitionHost, SetAsideKeepsEveryBatchAndGoesBack) {
  Owner owner;
  const Hash before = owner.host->partition().tree().root();
  owner.host->decide(spend("op-1", 10), at(2).wall, "");
  owner.save();
  owner.host->decide(spend("op-2", 10), at(3).wall, "");
  owner.save();
  const std::string lost = *owner.host->ledger().batch(2);
  const auto surplus = owner.host->truncateDivergent(2, owner.batch);
  ASSERT_TRUE(surplus.ok());
  EXPECT_EQ(surplus->entries, 2u);
  EXPECT_THAT(surplus->operations, ElementsAre("op-1", "op-2"));
  write(owner.store, owner.batch);
  owner.host = open(owner.store);
  EXPECT_EQ(owner.host->ledger().batches(), 2u);
  EXPECT_EQ(owner.host->partition().tree().root(), before);
  EXPECT_FALSE(owner.host->partition().knows("op-1"));
  ASSERT_EQ(keptAside(owner.store).size(), 2u);
  EXPECT_EQ(keptAside(owner.store)[0], lost);
  // It goes on from there.
  owner.host->decide(spend("op-3", 10), at(4).wall, "");
  owner.save();
  EXPECT_EQ(owner.host->partition().size(), 1u);
  // A second tail of the epoch does not take the first one's place.
  ASSERT_TRUE(owner.host->truncateDivergent(2, owner.batch).ok());
  write(owner.store, owner.batch);
  EXPECT_EQ(keptAside(owner.store).size(), 3u);
}

TEST(PartitionHost, SetAsideForgetsSnapshotsThatKnowTooMuch) {
  Owner owner;
  owner.host->decide(spend("op-1", 10), at(2).wall, "");
  owner.save();
  ASSERT_TRUE(owner.host->ledger().snapshotIfDue(1).ok());
  ASSERT_TRUE(owner.host->truncateDivergent(2, owner.batch).ok());
  write(owner.store, owner.batch);
  owner.host = open(owner.store);
  EXPECT_EQ(owner.host->partition().size(), 0u);
  EXPECT_EQ(owner.host->epoch(), kFirst);
  EXPECT_NE(owner.host->partition().state("e"), nullptr);
}

TEST(PartitionHost, EpochsAreReadBackFromALogWithASnapshot) {
  Owner owner;
  owner.host->decide(spend("op-1", 10), at(2).wall, "");
  owner.host->beginEpoch(kSecond, EpochCause::handover, at(3).wall, "because", owner.batch);
  owner.save();
  ASSERT_TRUE(owner.host->ledger().snapshotIfDue(1).ok());
  const EpochHistory before = owner.host->lineage();
  ASSERT_EQ(before.epochs.size(), 2u);
  EXPECT_EQ(before.last(), kSecond);
  EXPECT_EQ(before.epochs[1].start, 3u);  // what was open came first
  owner.host = open(owner.store);
  EXPECT_EQ(owner.host->lineage().epochs, before.epochs);
  EXPECT_EQ(owner.host->claim().epoch(), kSecond);
  EXPECT_EQ(owner.host->recordOf(0).epoch(), kFirst);
  EXPECT_EQ(owner.host->claim().entries, 1u);
}

TEST(PartitionHost, EntitiesHaveOnePartitionEach) {
  EXPECT_EQ(partitionOf("budget", "e", 1), "budget/0");
  std::set<std::string> used;
  for (int n = 0; n < 200; ++n) used.insert(partitionOf("budget", "entity-" + std::to_string(n), 8));
  EXPECT_EQ(used.size(), 8u);
  EXPECT_EQ(partitionOf("budget", "entity-1", 8), partitionOf("budget", "entity-1", 8));
}

// With etcd: batches that are being committed elsewhere.
TEST(PartitionHost, BatchesUnderWayAreToldOfOneAfterTheOther) {
  Owner owner;
  PartitionHost& host = *owner.host;
  const LogPosition before = host.position();
  std::vector<PartitionHost::Ahead> ahead;
  host.decide(spend("op-1", 10), at(2).wall, "b");
  ahead.push_back(host.takeAhead());
  host.decide(spend("op-2", 20), at(3).wall, "c");
  host.decide(spend("op-1", 10), at(3).wall, "b");  // its first decision is not in the store yet
  ahead.push_back(host.takeAhead());
  host.decide(spend("op-2", 20), at(4).wall, "c");
  ahead.push_back(host.takeAhead());
  EXPECT_EQ(ahead[0].number, before.batches);
  EXPECT_EQ(ahead[1].number, before.batches + 1);
  EXPECT_EQ(ahead[2].value, "") << "a repetition writes nothing";
  EXPECT_EQ(kernel::readEntry(*host.ledger().entryBytes(host.partition().size()))->operationId, "op-2");
  EXPECT_EQ(host.position().batches, before.batches);
  EXPECT_EQ(host.position().root, before.root);
  host.confirmed(owner.told);
  EXPECT_TRUE(owner.told.empty());
  EXPECT_EQ(host.durableBatches(), before.batches);

  host.settle();
  write(owner.store, ahead[0].rows);
  EXPECT_EQ(host.position().batches, before.batches + 1);
  host.answered(owner.told);
  ASSERT_EQ(owner.told.size(), 1u);
  EXPECT_EQ(owner.told[0].answer.operationId, "op-1");
  EXPECT_EQ(host.durableBatches(), before.batches) << "its disk has it, but may lose it";
  host.confirmed(owner.told);
  EXPECT_EQ(owner.told.size(), 1u);
  EXPECT_EQ(host.durableBatches(), before.batches + 1);
  EXPECT_TRUE(host.ahead());

  host.settle();
  write(owner.store, ahead[1].rows);
  host.settle();
  EXPECT_FALSE(host.ahead());
  host.confirmed(owner.told);
  ASSERT_EQ(owner.told.size(), 4u);
  EXPECT_EQ(owner.told[1].answer.operationId, "op-2");
  EXPECT_EQ(owner.told[2].answer.outcome, Outcome::duplicate);
  EXPECT_EQ(owner.told[3].answer.outcome, Outcome::duplicate);
  EXPECT_EQ(open(owner.store)->position().root, host.position().root);
}

}  // namespace
}  // namespace witan::node::test::partition_host_test
