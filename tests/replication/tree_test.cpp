// Live updates of many devices: an update crosses each link of a tree once, digests go beside it, and a tree that
// breaks is repaired. Real sessions over links of 50 ms; each property has a twin in which it does not hold.
#include "tests/replication/tree_world.h"

namespace witan::replication::test {
namespace tree_test {

TEST(Tree, AnUpdateCrossesEachLinkOfATreeOnce) {
  Mesh all(16), few(24);
  all.linkAll(), few.linkFew();
  EXPECT_LE(segments(all), 1.1);
  EXPECT_LE(all.slowestMs(), 1'000);
  EXPECT_LE(segments(few), 1.1);
  EXPECT_LE(few.slowestMs(), 1'000);
  expectEqual(all.device(0), all.device(15));
  expectEqual(few.device(0), few.device(23));
}

TEST(Tree, WithoutPrunesItCrossesAllLinks) {
  Mesh all(16, {.prunes = false}), few(24, {.prunes = false});
  all.linkAll(), few.linkFew();
  EXPECT_GT(segments(all), 10);
  EXPECT_GT(segments(few), 2);
}

// One tree for all writers: what is pruned for one of them is not missing for the next one.
TEST(Tree, ItServesAllWriters) {
  Mesh mesh(60, {.jitterMs = 10});
  mesh.linkDrawn(2);
  (void)segments(mesh);
  mesh.count();
  for (int i = 0; i < 20; ++i) mesh.write(i * 37 % mesh.size()), mesh.run(3'000);
  EXPECT_LE(mesh.frames(FrameType::tree), 10);
  EXPECT_LE(mesh.frames(FrameType::segment), 20 * 60);
  EXPECT_LE(mesh.slowestMs(), 700);
}

TEST(Tree, DigestsRepairIt) { EXPECT_LE(slowestAmidDeaths({}), 2'500); }
TEST(Tree, WithoutGraftsAntiEntropyComesLate) {
  const std::int64_t slowest = slowestAmidDeaths({.grafts = false});
  EXPECT_GT(slowest, TreeLink::kAnywayMs);
  EXPECT_LT(slowest, 30'000);
}

TEST(Tree, ALostLinkMakesTheOthersEagerAtOnce) { EXPECT_LE(slowestAfterLosses(), 1'000); }

// --- one link by itself

TEST(Tree, ARepetitionMakesALinkLazyAndNewsEager) {
  TreeLink link;
  EXPECT_TRUE(link.plain());
  link.repeated();
  EXPECT_FALSE(link.receives());
  EXPECT_FALSE(link.plain());
  link.fresh();
  EXPECT_TRUE(link.plain());
}

// Else what its device writes has no way out, if it is the last one to get everything.
TEST(Tree, APruneCountsForBothEnds) {
  TreeLink pruner, pruned;
  pruner.repeated();
  pruned.pruned();
  EXPECT_FALSE(pruner.maySend(0) || pruner.receives() || pruned.maySend(0) || pruned.receives());
  pruner.compare({.lacks = true}, 0);
  pruner.graft(true, 300);
  pruned.grafted();
  EXPECT_TRUE(pruner.plain() && pruned.plain());
}

TEST(Tree, ADigestLongBeforeTheUpdateShowsAShorterWay) {
  TreeLink link;
  EXPECT_FALSE(link.compare({.lacks = true}, 1'000));
  EXPECT_FALSE(link.compare({}, 1'500));  // eager: it came over this one
  link.repeated();
  EXPECT_FALSE(link.compare({.lacks = true}, 2'000));
  EXPECT_FALSE(link.compare({}, 2'099));
  EXPECT_FALSE(link.compare({.lacks = true}, 3'000));
  EXPECT_FALSE(link.compare({.lacks = true}, 3'050));
  EXPECT_TRUE(link.compare({}, 3'100));
  link.graft(false, 3'100);  // another one was asked: no matter
  EXPECT_FALSE(link.graftDue(9'000));
  EXPECT_FALSE(link.compare({}, 9'000));
}

TEST(Tree, ALazyLinkTellsAndDoesNotSendUntilItIsLate) {
  TreeLink link;
  link.pruned();
  link.compare({.peerLacks = true, .untold = true}, 1'000);
  EXPECT_FALSE(link.maySend(1'000));
  EXPECT_EQ(link.nextMs(1'000), 1'300);
  EXPECT_FALSE(link.digestDue(1'299));
  EXPECT_TRUE(link.digestDue(1'300));
  link.compare({.peerLacks = true}, 1'300);  // told
  EXPECT_FALSE(link.digestDue(9'000));
  EXPECT_EQ(link.nextMs(1'300), 4'000);
  EXPECT_FALSE(link.maySend(3'999));
  EXPECT_TRUE(link.maySend(4'000));
  link.compare({}, 4'100);
  EXPECT_TRUE(link.maySend(9'000));  // until the peer says prune again
  link.pruned();
  EXPECT_FALSE(link.maySend(9'000));
  link.grafted();
  EXPECT_TRUE(link.maySend(9'000));
}

TEST(Tree, WhatAPeerShowsAndDoesNotSendIsAskedFor) {
  TreeLink link;
  link.compare({.lacks = true}, 1'000);
  EXPECT_FALSE(link.graftDue(9'000));  // it is eager: it is on its way
  link.repeated();
  link.compare({.lacks = true}, 1'000);
  EXPECT_FALSE(link.graftDue(1'299));
  EXPECT_TRUE(link.graftDue(1'300));
  link.graft(false, 1'300);  // another link was asked
  EXPECT_FALSE(link.graftDue(1'599));
  EXPECT_TRUE(link.graftDue(1'600));
  link.graft(true, 1'600);
  EXPECT_FALSE(link.graftDue(9'000));
}

// A digest that comes again and again shows nothing new; one that is made up costs one graft.
TEST(Tree, LiesOfOneLinkCostOneGraft) {
  TreeLink link;
  link.repeated();
  int grafts = 0;
  for (std::int64_t now = 0; now < 600'000; now += 100) {
    link.compare({.lacks = true}, now);
    if (!link.graftDue(now)) continue;
    ++grafts;
    link.graft(true, now);
  }
  EXPECT_EQ(grafts, 1);
}

}  // namespace tree_test
}  // namespace witan::replication::test
