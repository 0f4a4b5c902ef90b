// Twelve PeerManagers on one loop that keep four links each: real connections, what the mesh (replica/mesh.h) says. And
// nodes of few links that have to act with one that they have none with.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/bytes.h"
#include "node/cluster/device_key.h"
#include "node/peers/peer_manager.h"
#include "tests/net/device.h"
#include "tests/node/node_process.h"
#include "tests/node/scratch.h"

namespace witan::node::mesh_links_test {
namespace {

constexpr Time kNow{1'700'000'000'000'000};
constexpr std::string_view kLetters = "abcdefghijkl";
constexpr std::size_t kLinks = 4;

RosterDevice deviceOf(char letter) {
  const PublicKey key = net::test::keyOf(letter).publicKey();
  return {
      deviceIdOf(key), std::string(1, letter), {toHex(key)}, DeviceState::active, {"ledger", "*"}, {}, {}, kNow, ""};
}

class MeshLinks : public ::testing::Test {
 protected:
  struct Peer {
    Peer(net::Loop& loop, const std::string& dir, char letter, RosterStore store, const SigningKey& admin)
        : device(deviceOf(letter).device),
          rosters(std::move(store)),
          enrolment(*EnrolmentService::open(dir, rosters, std::string(32, 's'), 1, admin)),
          log(
              LogLevel::error, false, [] { return kNow; }, [](std::string_view) {}),
          manager(loop, net::test::identityOf(letter), rosters, enrolment, log,
                  {.device = device, .heartbeatMs = 250, .deadAfterMs = 1'000, .links = kLinks},
                  {.connected = [this](const std::string& peer) { links.insert(peer); },
                   .disconnected = [this](const std::string& peer) { links.erase(peer); },
                   .received = [](const std::string&, std::string_view) {},
                   .room = [](const std::string&) {},
                   .rosterChanged = [] {},
                   .alarm = [](const std::string&, const std::string&, const std::string&) {},
                   .wall = [] { return kNow; },
                   .steadyMs = [] { return net::Loop::nowMs(); }}) {}

    std::string device;
    RosterStore rosters;
    EnrolmentService enrolment;
    Log log;
    std::set<std::string> links;
    PeerManager manager;
  };

  MeshLinks() {
    Roster roster{clusterIdOf(admin.publicKey()), 1, {}};
    for (const char letter : kLetters) roster.devices.push_back(deviceOf(letter));
    std::ranges::sort(roster.devices, {}, &RosterDevice::device);
    for (const char letter : kLetters) {
      const std::string dir = scratch / std::string(1, letter);
      std::filesystem::create_directories(dir);
      auto store = RosterStore::create(dir, admin.publicKey(), *signRoster(roster, admin));
      peers.push_back(std::make_unique<Peer>(loop, dir, letter, *std::move(store), admin));
    }
    for (const auto& peer : peers) roster.find(peer->device)->addresses = {*peer->manager.listen("127.0.0.1:0")};
    roster.version = 2;
    for (const auto& peer : peers) EXPECT_TRUE(*peer->rosters.adopt(*signRoster(roster, admin)));
    for (const auto& peer : peers) peer->manager.dialAll();
  }

  bool until(const std::function<bool()>& done, std::int64_t ms = 30'000) {
    for (const std::int64_t end = net::Loop::nowMs() + ms; net::Loop::nowMs() < end;)
      if (loop.runUntil(done, 5)) return true;
    return false;
  }
  // Each device that has links reaches each other one over them.
  bool connected() const {
    std::set<std::string> reached;
    std::vector<std::string> open{peers.front()->device};
    while (!open.empty()) {
      const std::string device = open.back();
      open.pop_back();
      if (!reached.insert(device).second) continue;
      for (const auto& peer : peers)
        if (peer->device == device) open.insert(open.end(), peer->links.begin(), peer->links.end());
    }
    return reached.size() == peers.size();
  }
  std::size_t mostLinks() const {
    std::size_t most = 0;
    for (const auto& peer : peers) most = std::max(most, peer->links.size());
    return most;
  }

  const test::Scratch scratch;
  const SigningKey admin = net::test::keyOf('x');
  net::Loop loop;
  std::vector<std::unique_ptr<Peer>> peers;
};

TEST_F(MeshLinks, TwelveDevicesAreConnectedByFewLinks) {
  EXPECT_TRUE(until([&] { return connected(); }));
  EXPECT_LT(mostLinks(), peers.size() - 1);
  std::size_t links = 0;
  for (const auto& peer : peers) links += peer->links.size();
  EXPECT_LE(links, peers.size() * 5);
}

// Each third device ends without a word for the others but the end of its connections.
TEST_F(MeshLinks, WhatIsLeftOfThemIsConnectedAgain) {
  ASSERT_TRUE(until([&] { return connected(); }));
  for (std::size_t i = 0; i < 4; ++i) peers.erase(peers.begin() + static_cast<std::ptrdiff_t>(2 * i));
  EXPECT_TRUE(until([&] { return connected(); }));
}

TEST_F(MeshLinks, ALinkIsMadeWithADeviceThatIsNeeded) {
  ASSERT_TRUE(until([&] { return connected(); }));
  Peer& first = *peers.front();
  const auto far = std::ranges::find_if(
      peers, [&](const auto& peer) { return peer.get() != &first && !first.links.contains(peer->device); });
  ASSERT_NE(far, peers.end());
  first.manager.need({(*far)->device});
  EXPECT_TRUE(until([&] { return first.links.contains((*far)->device); }, 5'000));
}

// An operator cuts the links of one device with all that it is linked with: others take their place.
TEST_F(MeshLinks, ADeviceWhoseLinksAreCutFindsOthers) {
  ASSERT_TRUE(until([&] { return connected(); }));
  Peer& first = *peers.front();
  const std::set<std::string> before = first.links;
  for (const std::string& device : before) first.manager.cut(device);
  EXPECT_TRUE(until([&] { return connected(); }));
  for (const std::string& device : before) EXPECT_FALSE(first.links.contains(device));
}

TEST_F(MeshLinks, WhoIsSoughtIsSaidToBeMissingUntilItIsLinked) {
  ASSERT_TRUE(until([&] { return connected(); }));
  Peer& first = *peers.front();
  const auto far = std::ranges::find_if(
      peers, [&](const auto& peer) { return peer.get() != &first && !first.links.contains(peer->device); });
  ASSERT_NE(far, peers.end());
  const Status sought = first.manager.seek({(*far)->device});
  ASSERT_FALSE(sought.ok());
  EXPECT_EQ(sought.error().code, ErrorCode::conflict);
  EXPECT_TRUE(until([&] { return first.links.contains((*far)->device); }, 5'000));
  EXPECT_TRUE(first.manager.seek({(*far)->device}).ok());
}

// --- nodes

class FewLinks : public ::testing::Test {
 protected:
  static constexpr std::size_t kNodes = 7;

  FewLinks() {
    for (std::size_t i = 0; i < kNodes; ++i)
      nodes.push_back(
          std::make_unique<test::Node>(scratch, std::string("n").append(std::to_string(i)), "[network]\nlinks = 4\n"));
    EXPECT_TRUE(test::begin(founder()));
    for (std::size_t i = 1; i < kNodes; ++i) EXPECT_TRUE(test::enrol(founder(), *nodes[i])) << nodes[i]->log();
  }
  test::Node& founder() { return *nodes.front(); }
  // One that has no link with the founder.
  test::Node* far() {
    for (auto& node : nodes) {
      const json::value peers = node->get("/v1/peers");
      if (node.get() == &founder() || !peers.is_object()) continue;
      for (const json::value& peer : peers.at("peers").as_array())
        if (peer.at("name").as_string() == "n0" && !peer.at("connected").as_bool()) return node.get();
    }
    return nullptr;
  }

  const test::Scratch scratch;
  std::vector<std::unique_ptr<test::Node>> nodes;
};

// The owner is alive, and the device has no link with it: it must not take over before it has looked for it.
TEST_F(FewLinks, ATakeoverLooksForTheOwnerFirst) {
  test::Node* node = nullptr;
  ASSERT_TRUE(test::until([&] { return (node = far()) != nullptr; })) << "links of " << founder().log();
  const auto first = node->post("/v1/partitions/seize", {{"partition", "budget/0"}, {"reason", "test"}});
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().code, ErrorCode::conflict);
  EXPECT_TRUE(test::until([&] {
    const auto again = node->post("/v1/partitions/seize", {{"partition", "budget/0"}, {"reason", "test"}});
    return !again.ok() && again.error().message.ends_with("is connected");
  }));
  EXPECT_EQ(node->owned(), 0u);
  // Of an owner that is off, it does, once it has looked for long enough.
  founder().kill();
  EXPECT_TRUE(test::until([&] {
    return node->post("/v1/partitions/seize", {{"partition", "budget/0"}, {"reason", "test"}}).ok();
  }));
  EXPECT_EQ(node->owned(), 1u);
}

// Who has the admin's key is not known elsewhere: the device goes through all.
TEST_F(FewLinks, AnotherKeyIsAskedForOfADeviceWithoutALink) {
  test::Node* node = nullptr;
  ASSERT_TRUE(test::until([&] { return (node = far()) != nullptr; })) << "links of " << founder().log();
  ASSERT_EQ(node->run({"device", "rotate-key"}).exitCode, 0);
  EXPECT_TRUE(test::until([&] { return founder().run({"device", "accept-key", node->name()}).exitCode == 0; }));
}

}  // namespace
}  // namespace witan::node::mesh_links_test
