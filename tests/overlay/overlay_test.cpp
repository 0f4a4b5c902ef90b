// A partial mesh of a thousand devices and the trees on it: what an edit costs and how long it takes, what quiet
// costs, and what cuts, deaths and liars do to it. Each property has a twin in which it does not hold.
#include <gtest/gtest.h>

#include <iostream>

#include "overlay/overlay.capnp.h"
#include "tests/overlay/world.h"
#include "tests/same_layout.h"

namespace witan::overlay::tests {
namespace overlay_test {

constexpr std::uint32_t kThousand = 1'000;

std::int64_t percentile(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  return sorted[std::min(sorted.size() - 1, sorted.size() * percent / 100)];
}

void publishSome(World& world, int edits, std::int64_t everyMs) {
  for (int i = 0; i < edits; ++i) {
    std::uint32_t from = 0;
    do from = static_cast<std::uint32_t>(world.random.below(10) * world.seats.size() / 10) + 3;
    while (!world.seats[from]->alive || world.seats[from]->liar);
    world.publish(from);
    world.run(everyMs);
  }
}

void killSome(World& world, std::size_t percent) {
  std::size_t left = world.seats.size() * percent / 100;
  while (left > 0) {
    const auto victim = static_cast<std::uint32_t>(world.random.below(world.seats.size()));
    if (!world.seats[victim]->alive) continue;
    world.kill(victim);
    --left;
  }
}

// Seconds until all that are alive are connected; `most`: not within so many.
int secondsUntilConnected(World& world, int most) {
  for (int seconds = 0; seconds < most; ++seconds, world.run(1'000))
    if (world.apart() == 0) return seconds;
  return most;
}

TEST(Overlay, MessagesAreTheSchemas) { layout::expectSameLayout<wire::ViewMessage, ViewMessage>(); }

TEST(Overlay, AThousandDevicesAreOneMeshOfFewLinks) {
  World world(kThousand, 1);
  world.start();
  world.run(60'000);
  EXPECT_EQ(world.apart(), 0u);
  EXPECT_LE(world.mostLinks(), 8u);

  // An edit reaches all within 2 s, and is sent hardly more often than there are devices.
  publishSome(world, 60, 500);
  world.run(5'000);
  const auto all = world.latencies();
  const double perDevice = static_cast<double>(world.sum(&Seat::payloads)) / (60.0 * kThousand);
  EXPECT_LE(percentile(all, 99), 2'000);
  EXPECT_LT(all.back(), 10'000);
  EXPECT_LE(perDevice, 1.5);

  // Nothing happens for four minutes.
  const std::uint64_t before = world.sum(&Seat::bytesOut);
  world.run(240'000);
  const double idle =
      (static_cast<double>(world.sum(&Seat::bytesOut) - before) + world.heartbeats(240)) / (240.0 * kThousand);
  EXPECT_LT(idle, 200);

  // 30 of 100 lose power at once.
  killSome(world, 30);
  const int seconds = secondsUntilConnected(world, 60);
  EXPECT_LE(seconds, 30);
  world.run(60'000);
  world.born.clear();
  publishSome(world, 20, 500);
  world.run(5'000);
  const auto after = world.latencies();
  EXPECT_LE(percentile(after, 99), 2'000);
  EXPECT_LT(after.back(), 10'000);
  EXPECT_LE(world.mostLinks(), 8u);
  std::cout << "p50 " << percentile(all, 50) << " ms, p99 " << percentile(all, 99) << " ms, last " << all.back()
            << " ms; payload frames a device " << perDevice << "; idle " << idle
            << " bytes/s a device; connected after " << seconds << " s; then p99 " << percentile(after, 99)
            << " ms, last " << after.back() << " ms\n";
}

// Edits while a third of the devices dies: what their children in the tree miss, digests bring in two seconds, else
// anti-entropy does in three for each step.
std::int64_t lastAmidDeaths(Faults faults) {
  World world(300, 2, {}, faults);
  world.start();
  world.run(60'000);
  publishSome(world, 20, 500);
  killSome(world, 20);
  world.born.clear();
  publishSome(world, 5, 200);
  world.run(10'000);  // before the first heartbeats fail
  return percentile(world.latencies(), 99);
}

TEST(Overlay, DigestsRepairTheTree) { EXPECT_LE(lastAmidDeaths({}), 2'500); }
TEST(Overlay, WithoutGraftsAntiEntropyComesLate) { EXPECT_GT(lastAmidDeaths({.graftsLost = true}), 3'000); }

int healingAfterDeaths(bool heals, std::uint64_t seed) {
  World world(500, seed);
  world.start();
  world.run(60'000);
  killSome(world, 50);
  world.faults.nothingDialled = !heals;
  return secondsUntilConnected(world, 60);
}

TEST(Overlay, ViewsHealAfterDeaths) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) EXPECT_LT(healingAfterDeaths(true, seed), 45) << seed;
}
TEST(Overlay, WithoutDialsViewsDoNotHeal) { EXPECT_EQ(healingAfterDeaths(false, 1), 60); }

// Two halves that heard nothing of each other for half an hour.
std::size_t apartAfterAWall(Faults faults) {
  World world(100, 3, {}, faults);
  for (const auto& seat : world.seats) seat->half = seat->index % 2 == 1;
  world.start();
  world.run(60'000);
  world.wall(true);
  world.run(1'800'000);
  world.wall(false);
  world.run(180'000);
  return world.apart();
}

TEST(Overlay, HalvesMeetAgain) { EXPECT_EQ(apartAfterAWall({}), 0u); }
TEST(Overlay, WithoutTheDirectoryHalvesStayApart) { EXPECT_GT(apartAfterAWall({.noDirectory = true}), 0u); }

TEST(Overlay, FirewalledDevicesAreLinked) {
  World world(300, 4);
  for (const auto& seat : world.seats) seat->reachable = seat->index % 3 != 0;
  world.start();
  world.run(120'000);
  EXPECT_EQ(world.apart(), 0u);
  EXPECT_LE(world.mostLinks(), 8u);
}

// --- members that lie

// A tenth of the devices, at two sites, lies: it names none but liars, asks for places again and again with urgency,
// has a place for all, and passes no update on. Returns the liars' share of honest views, and how many honest ones have
// only liars.
struct Surrounded {
  double share = 0;
  std::size_t only = 0, apart = 0;
};

void lie(World& world, std::uint32_t index, const std::vector<std::uint32_t>& liars) {
  Seat& seat = *world.seats[index];
  std::vector<std::string> names;
  for (int i = 0; i < 8; ++i) names.push_back(world.names[liars[world.random.below(liars.size())]]);
  for (const auto& [other, generation] : std::map(seat.links)) {
    world.say(index, other, ViewMessage{.kind = ViewKind::neighbour, .urgent = true});
    world.say(index, other, ViewMessage{.kind = ViewKind::shuffle, .nonce = world.random.next(), .devices = names});
    world.say(index, other, ViewMessage{.kind = ViewKind::forwardJoin, .device = names[0], .ttl = 3});
    world.say(index, other, ViewMessage{.kind = ViewKind::forwardJoin, .device = names[1]});
  }
  for (int i = 0; i < 4; ++i) {
    const auto victim = static_cast<std::uint32_t>(world.random.below(world.seats.size()));
    if (!world.seats[victim]->liar && !seat.links.contains(victim)) world.dial(index, victim);
  }
  world.at(world.now + 2'000, [&world, index, &liars] { lie(world, index, liars); });
}

Surrounded surrounded(ViewLimits limits, Faults faults) {
  World world(200, 5, limits, faults, 20);
  std::vector<std::uint32_t> liars;
  for (std::uint32_t i = 0; i < 200; ++i)
    if (i % 20 < 2) liars.push_back(i), world.seats[i]->liar = true;
  world.start();
  world.run(60'000);
  world.swallow = true;
  for (const std::uint32_t index : liars) lie(world, index, liars);
  world.run(200'000);
  Surrounded result;
  std::size_t links = 0, lying = 0;
  for (const auto& seat : world.seats) {
    if (seat->liar) continue;
    std::size_t mine = 0;
    for (const std::string& device : seat->view.active()) mine += world.seats[world.byName[device]]->liar;
    links += seat->view.active().size(), lying += mine;
    result.only += mine == seat->view.active().size();
  }
  result.share = static_cast<double>(lying) / static_cast<double>(links);
  result.apart = world.apart(true);
  world.born.clear();
  publishSome(world, 10, 500);
  world.run(10'000);
  const auto all = world.latencies();
  if (result.apart == 0) {
    EXPECT_LT(all.back(), 5'000);
  }
  std::cout << "liars: share " << result.share << ", surrounded " << result.only << ", apart " << result.apart
            << ", last " << all.back() << " ms\n";
  return result;
}

TEST(Overlay, LiarsSurroundNoDevice) {
  const Surrounded result = surrounded({}, {});
  EXPECT_LT(result.share, 0.6);
  EXPECT_EQ(result.only, 0u);
  EXPECT_EQ(result.apart, 0u);
}

TEST(Overlay, WithoutBoundsAndDirectoryLiarsSurroundSome) {
  const Surrounded result = surrounded({.own = 0, .displaceMs = 0}, {.noDirectory = true, .onePlace = true});
  EXPECT_GT(result.only + result.apart, 0u);
}

TEST(Overlay, FloodsOfJoinsEndTheirLink) {
  World world(50, 6);
  world.start();
  world.run(30'000);
  Seat& seat = *world.seats[0];
  const std::uint32_t victim = seat.links.begin()->first;
  const std::uint64_t dials = world.seats[victim]->view.counters().dials;
  for (int i = 0; i < 2'000; ++i)
    world.say(0, victim, ViewMessage{.kind = ViewKind::forwardJoin, .device = world.names[1 + i % 49]});
  world.run(1'000);
  EXPECT_GT(world.ended, 0u);
  EXPECT_FALSE(seat.links.contains(victim));
  EXPECT_LE(world.seats[victim]->view.counters().dials - dials, 4u);
  EXPECT_GT(world.seats[victim]->view.counters().dropped, 900u);
  EXPECT_LE(world.mostLinks(), 8u);
}

TEST(Overlay, WhatNoHonestDeviceSendsEndsItsLink) {
  World world(20, 7);
  world.start();
  world.run(30'000);
  Seat& seat = *world.seats[0];
  ViewEffects out;
  const std::string from = world.names[seat.links.begin()->first];
  EXPECT_FALSE(
      seat.view.received(from, {.kind = ViewKind::forwardJoin, .device = from, .ttl = 60'000}, world.now, out).ok());
  ViewMessage shuffle{.kind = ViewKind::shuffle};
  shuffle.devices.assign(kMostNamed + 1, from);
  EXPECT_FALSE(seat.view.received(from, shuffle, world.now, out).ok());
  EXPECT_TRUE(out.empty());
}

// --- one link of the tree by itself

TEST(TreeLink, ARepetitionMakesItLazyAndNewsEager) {
  TreeLink link;
  EXPECT_TRUE(link.plain());
  link.repeated();
  EXPECT_FALSE(link.receives());
  EXPECT_FALSE(link.plain());
  link.fresh();
  EXPECT_TRUE(link.plain());
}

TEST(TreeLink, ALazyLinkTellsAndDoesNotSendUntilItIsLate) {
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

TEST(TreeLink, WhatAPeerShowsAndDoesNotSendIsAskedFor) {
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
TEST(TreeLink, LiesOfOneLinkCostOneGraft) {
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

}  // namespace overlay_test
}  // namespace witan::overlay::tests
