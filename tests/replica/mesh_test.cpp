// The overlay of few links a device.
#include <gtest/gtest.h>

#include <functional>

#include "tests/replica/mesh_world.h"

namespace witan::node {
namespace mesh_test {

TEST(Mesh, NineDevicesLinkAllWithAllAndNoLinkEnds) {
  World world(9, kUsualLinks);
  world.run(300'000);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(world.links(i), 8u);
  EXPECT_EQ(world.ended(), 0u);
}

TEST(Mesh, WithLinksOfZeroAnyNumberLinksAllWithAll) {
  World world(40, 0);
  world.run(10'000);
  EXPECT_EQ(world.meanLinks(), 39);
}

TEST(Mesh, ManyDevicesKeepFewLinksAndAreConnected) {
  for (const std::size_t size : {10u, 40u, 200u}) {
    World world(size, kUsualLinks);
    world.run(10'000);
    EXPECT_TRUE(world.connected()) << size;
    world.run(300'000);
    EXPECT_TRUE(world.connected()) << size;
    EXPECT_LE(world.mostLinks(), kUsualLinks) << size;
    EXPECT_GE(world.meanLinks(), 4.5) << size;
    EXPECT_LE(world.meanLinks(), 7) << size;
    const std::uint64_t ended = world.ended();
    world.run(300'000);
    EXPECT_LE(world.ended() - ended, size / 50) << "links go on ending of " << size;
  }
}

TEST(Mesh, MoreLinksWhereMoreAreConfigured) {
  World world(100, 16);
  world.run(300'000);
  EXPECT_TRUE(world.connected());
  EXPECT_LE(world.mostLinks(), 16u);
  EXPECT_GE(world.meanLinks(), 10);
}

// The tenth device makes them too many: the links that are not needed go, and none is missed meanwhile.
TEST(Mesh, AClusterThatGrowsGivesUpLinksAndStaysConnected) {
  World world(9, kUsualLinks);
  world.run(10'000);
  for (std::size_t i = 9; i < 40; ++i) {
    world.join({std::string(kLedgerGroup)});
    world.run(2'000);
    EXPECT_TRUE(world.connected()) << i;
  }
  world.run(300'000);
  EXPECT_TRUE(world.connected());
  EXPECT_LE(world.mostLinks(), kUsualLinks);
}

TEST(Mesh, AThirdOfAThousandDiesWithoutAWordAndTheRestIsConnectedWithinHalfAMinute) {
  World world(1'000, kUsualLinks);
  world.run(60'000);
  for (std::size_t i = 0; i < 1'000; ++i)
    if (i * 7 % 10 < 3) world.kill(i);
  EXPECT_EQ(world.alive(), 700u);
  world.run(30'000);
  EXPECT_TRUE(world.connected());
  world.run(120'000);
  EXPECT_LE(world.meanLinks(), 7);
  // And they come back.
  for (std::size_t i = 0; i < 1'000; ++i)
    if (i * 7 % 10 < 3) world.revive(i);
  world.run(10'000);
  EXPECT_TRUE(world.connected());
  world.run(300'000);
  EXPECT_LE(world.mostLinks(), kUsualLinks);
  const std::uint64_t ended = world.ended();
  world.run(300'000);
  EXPECT_EQ(world.ended(), ended) << "links go on ending";
}

// Nine of ten are off: what is left finds itself, though each has to pass over many.
TEST(Mesh, OfTwoHundredOnlyTwentyAreOn) {
  World world(200, kUsualLinks);
  for (std::size_t i = 0; i < 200; ++i)
    if (i % 10 != 0) world.kill(i);
  world.run(40'000);
  EXPECT_TRUE(world.connected());
  world.run(120'000);
  EXPECT_LE(world.mostLinks(), 2 * kUsualLinks);
}

// Devices that cannot be reached from everywhere: half of all pairs cannot have a link.
TEST(Mesh, HalfOfAllPairsCannotLink) {
  World world(100, kUsualLinks);
  for (std::size_t a = 0; a < 100; ++a)
    for (std::size_t b = 0; b < a; ++b)
      if ((a * 31 + b * 17) % 2 == 0) world.wall(a, b);
  world.run(60'000);
  EXPECT_TRUE(world.connected());
}

// Few copies of the ledgers link all with all; the others have their way to two of them.
TEST(Mesh, CopiesAreLinkedAndEveryDeviceHasAWayToTwo) {
  World world(60, kUsualLinks, 4);
  const auto check = [&](std::size_t dead) {
    for (std::size_t i = 0; i < 60; ++i) {
      if (i == dead) continue;
      std::size_t ways = 0;
      for (std::size_t keeper = 0; keeper < 4; ++keeper) ways += keeper != dead && world.linked(i, keeper) ? 1 : 0;
      if (i < 4)
        EXPECT_EQ(ways, dead < 4 ? 2u : 3u) << i;
      else
        EXPECT_GE(ways, 2u) << i;
    }
  };
  world.run(300'000);
  check(60);
  world.kill(1);
  world.run(60'000);
  check(1);
}

TEST(Mesh, WhoIsNeededIsLinkedAndLetGoLater) {
  World world(200, kUsualLinks);
  world.run(60'000);
  std::size_t far = 1;
  while (world.linked(0, far)) ++far;
  const std::string name = concat("device-", far);
  world.need(0, {name});
  world.run(2'000);
  EXPECT_TRUE(world.linked(0, far));
  world.run(300'000);
  EXPECT_TRUE(world.linked(0, far)) << "as long as it is needed";
  world.need(0, {});
  world.run(120'000);
  EXPECT_FALSE(world.linked(0, far));
}

// A device that cannot be dialled: one of those that it is linked with can carry.
TEST(Mesh, WhoIsNeededAndDoesNotAnswerHasItsNeighboursLinked) {
  World world(200, kUsualLinks);
  world.run(60'000);
  std::size_t far = 1;
  while (world.linked(0, far)) ++far;
  world.wall(0, far);
  world.need(0, {concat("device-", far)});
  world.run(6'000);
  std::size_t both = 0;
  for (std::size_t i = 1; i < 200; ++i) both += world.linked(0, i) && world.linked(far, i) ? 1 : 0;
  EXPECT_GE(both, 3u);
}

// --- members that lie

// Sixty members, all at one address, dial everybody: they get the room for guests and no more. What the others have
// among themselves stays.
TEST(Mesh, AFloodOfLinksTakesOnlyTheRoomForGuests) {
  constexpr std::size_t kHonest = 140;
  World world(200, kUsualLinks);
  world.run(300'000);
  const auto before = world.pairs(kHonest);
  for (std::size_t i = kHonest; i < 200; ++i) world.addresses_[i] = "10.9.9.9", world.flood(i);
  for (int round = 0; round < 16; ++round) {
    world.run(5'000);
    for (std::size_t i = 0; i < kHonest; ++i) EXPECT_LE(world.links(i), Mesh::kMostGuests + 2 * kUsualLinks);
  }
  for (const auto& [a, b] : before) EXPECT_TRUE(world.linked(a, b)) << a << " with " << b;
  for (std::size_t i = kHonest; i < 200; ++i) world.kill(i);
  world.run(30'000);
  EXPECT_TRUE(world.connected());
}

// Where three of ten lie, all the links of some device lead to liars, by chance. Its own choices bring it out again.
TEST(Mesh, NoDeviceStaysAmongLiars) {
  constexpr std::size_t kHonest = 140;
  World world(200, kUsualLinks);
  world.run(10'000);
  std::set<std::size_t> among;
  const auto surrounded = [&](std::size_t i) {
    for (std::size_t to = 0; to < kHonest; ++to)
      if (world.linked(i, to)) return false;
    return true;
  };
  for (std::size_t i = 0; i < kHonest; ++i)
    if (surrounded(i)) among.insert(i);
  EXPECT_FALSE(among.empty());
  for (int round = 0; round < 24 && !among.empty(); ++round) {
    world.run(Mesh::kOwnMs / 6);
    std::erase_if(among, [&](std::size_t i) { return !surrounded(i); });
  }
  EXPECT_TRUE(among.empty()) << *among.begin();
  EXPECT_LE(world.mostLinks(), kUsualLinks + 2);
}

// Forty guests link themselves one after the other, the n-th from the address `from(n)`. Returns the addresses of those
// that had to go.
std::set<std::string> addressesThatWent(const std::function<std::string(int)>& from, std::uint64_t secret) {
  std::vector<MeshMember> members;
  for (int i = 0; i < 200; ++i) members.push_back({concat("device-", i), {std::string(kLedgerGroup)}});
  Mesh mesh("device-0", kUsualLinks, secret);
  mesh.setMembers(members);
  for (const std::string& device : mesh.update(0).dial) mesh.linked(device, {"10.1.1.1"}, 0);
  std::map<std::string, std::string> addresses;
  std::set<std::string> went;
  for (int i = 1; addresses.size() < 40; ++i) {
    const std::string device = concat("device-", i);
    if (mesh.dials(device)) continue;
    const std::string address = from(static_cast<int>(addresses.size()));
    addresses[device] = address;
    mesh.linked(device, {address}, i);
    for (const std::string& ended : mesh.update(i).end) mesh.unlinked(ended, i), went.insert(addresses.at(ended));
  }
  EXPECT_EQ(went.size(), 40 - Mesh::kMostGuests);
  return went;
}

// Where each guest has an address of its own, chance decides which goes, not the order of the addresses.
TEST(Mesh, WhichGuestGoesCannotBeArrangedByAddresses) {
  std::set<std::string> went;
  for (std::uint64_t secret = 0; secret < 10; ++secret)
    went.merge(addressesThatWent([](int n) { return concat(100 + n, ".0.0.1"); }, secret));
  EXPECT_GE(went.size(), 20u);
}

// Members at one site take no room of a guest elsewhere, though each has an address of its own.
TEST(Mesh, AFloodFromManyAddressesOfOneSiteCostsNoOtherItsRoom) {
  using Case = std::pair<std::string, std::string>;
  for (const auto& [elsewhere, site] : {Case("10.0.0.1", "192.0.2."), Case("2001:db8:1:1::7", "2001:db8:9:9::")})
    for (std::uint64_t secret = 0; secret < 10; ++secret)
      EXPECT_FALSE(
          addressesThatWent([&](int n) { return n == 0 ? elsewhere : concat(site, n); }, secret).contains(elsewhere))
          << elsewhere << " with secret " << secret;
}

// A link that came up when it was not needed any more: neither end keeps it.
TEST(Mesh, ALinkThatComesUpTooLateGoes) {
  std::vector<MeshMember> members;
  for (int i = 0; i < 100; ++i) members.push_back({concat("device-", i), {}});
  Mesh mesh("device-0", kUsualLinks, 1);
  mesh.setMembers(members);
  for (const std::string& device : mesh.update(0).dial) mesh.linked(device, {}, 0);
  std::string late = "device-1";
  for (int i = 2; mesh.dials(late); ++i) late = concat("device-", i);
  mesh.need({late});
  EXPECT_EQ(mesh.update(1'000).dial, std::vector{late});
  mesh.need({});
  mesh.linked(late, {}, 1'500);
  EXPECT_EQ(mesh.update(2'000).rest, std::vector{late});
  EXPECT_EQ(mesh.update(2'000 + Mesh::kLingerMs).end, std::vector{late});
}

// Its other end has no room for it. That both dial at that moment makes it no choice of this one again.
TEST(Mesh, AChoiceThatHasBeenEndedIsNotMadeAgain) {
  std::vector<MeshMember> members;
  for (int i = 0; i < 100; ++i) members.push_back({concat("device-", i), {}});
  Mesh mesh("device-0", kUsualLinks, 1);
  mesh.setMembers(members);
  const auto dialled = mesh.update(0).dial;
  for (const std::string& device : dialled) mesh.linked(device, {}, 0);
  mesh.update(0);
  std::size_t moved = 0;
  for (const std::string& device : dialled) {
    mesh.unlinked(device, 60'000);
    mesh.linked(device, {}, 60'000);
    const auto changes = mesh.update(60'000);
    moved += changes.dial.size();
    EXPECT_EQ(changes.dial.size(), changes.rest.size());
    EXPECT_TRUE(changes.rest.empty() || changes.rest == std::vector{device});
  }
  EXPECT_EQ(moved, 1u) << "of all that it keeps, its own choice only";
}

// Four links come of the rings, which everybody can compute. At least one more is a choice of its own, and another one
// with another secret.
TEST(Mesh, ADeviceChoosesALinkThatNobodyCanCompute) {
  std::set<std::string> chosen;
  for (std::uint64_t secret = 0; secret < 20; ++secret) {
    Mesh mesh("device-0", kUsualLinks, secret);
    std::vector<MeshMember> members;
    for (int i = 0; i < 100; ++i) members.push_back({concat("device-", i), {std::string(kLedgerGroup)}});
    mesh.setMembers(members);
    const auto dial = mesh.update(0).dial;
    EXPECT_EQ(dial.size(), 5u);
    chosen.insert(dial.begin(), dial.end());
  }
  EXPECT_GE(chosen.size(), 4u + 15);
}

}  // namespace mesh_test
}  // namespace witan::node
