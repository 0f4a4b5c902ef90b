// The parts of PeerManager that decide, without a network: events and time in, decisions out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/bytes.h"
#include "node/cluster/device_key.h"
#include "node/peers/admission.h"
#include "node/peers/dialer.h"
#include "node/peers/peer_clocks.h"
#include "node/peers/peer_links.h"
#include "node/peers/roster_gossip.h"
#include "tests/net/device.h"
#include "tests/node/scratch.h"

namespace witan::node::peer_parts_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kHeartbeatMs = 1'000;

RosterDevice member(char letter, std::vector<std::string> addresses = {}) {
  const PublicKey key = net::test::keyOf(letter).publicKey();
  return {deviceIdOf(key),      std::string(1, letter), {toHex(key)},
          DeviceState::active,  {"ledger", "*"},        {},
          std::move(addresses), Time{1'000'000},        ""};
}

net::LinkInfo linkInfo(net::LinkId id, char letter, bool dialled = false, const std::string& via = "") {
  net::LinkInfo info;
  info.id = id;
  info.key = net::test::keyOf(letter).publicKey();
  info.dialled = dialled;
  info.purpose = net::kMemberPurpose;
  info.via = via;
  return info;
}

PeerLink link(net::LinkId id, char letter, const std::string& via = "") {
  PeerLink made;
  made.device = member(letter).device;
  made.info = linkInfo(id, letter, false, via);
  return made;
}

std::vector<std::string> started(const DialChanges& changes) {
  std::vector<std::string> addresses;
  for (const DialStart& dial : changes.start) addresses.push_back(dial.address);
  return addresses;
}

struct RosterParts : ::testing::Test {
  static RosterStore storeIn(const std::string& dir, const SigningKey& admin) {
    std::filesystem::create_directories(dir);
    Roster roster{clusterIdOf(admin.publicKey()), 1, {member('a'), member('b')}};
    std::sort(roster.devices.begin(), roster.devices.end(),
              [](const RosterDevice& one, const RosterDevice& other) { return one.device < other.device; });
    return *RosterStore::create(dir, admin.publicKey(), *signRoster(roster, admin));
  }
  void change(const std::function<void(RosterDevice& b)>& edit) {
    Roster next = rosters.current();
    edit(*next.find(b));
    ASSERT_TRUE(rosters.publish(std::move(next), admin).ok());
  }
  const RosterDevice& current() const { return *rosters.current().find(b); }

  const test::Scratch scratch;
  const SigningKey admin = net::test::keyOf('x');
  const std::string b = member('b').device;
  RosterStore rosters = storeIn(scratch / "node", admin);
  Admission admission{rosters, member('a').device};
  RosterGossip gossip{rosters};
};

TEST_F(RosterParts, AdmissionTakesActiveMembersThatAreNotBlocked) {
  EXPECT_TRUE(admission.admit(linkInfo(1, 'b')).ok());
  EXPECT_TRUE(admission.confirm(linkInfo(1, 'b').key).ok());
  EXPECT_FALSE(admission.admit(linkInfo(1, 'a')).ok()) << "this device itself";
  EXPECT_FALSE(admission.admit(linkInfo(1, 's')).ok()) << "no member";
  EXPECT_FALSE(admission.mayDial(*rosters.current().find(member('a').device)));
  admission.block(b, "cut");
  EXPECT_FALSE(admission.admit(linkInfo(1, 'b')).ok());
  EXPECT_FALSE(admission.confirm(linkInfo(1, 'b').key).ok());
  EXPECT_FALSE(admission.mayLink(b).ok());
  EXPECT_TRUE(admission.unblock(b));
  change([](RosterDevice& device) { device.state = DeviceState::revoked; });
  EXPECT_FALSE(admission.admit(linkInfo(1, 'b')).ok());
  EXPECT_FALSE(admission.confirm(linkInfo(1, 'b').key).ok());
  EXPECT_FALSE(admission.mayDial(current()));
}

TEST_F(RosterParts, AdmissionTakesUnenrolledDevicesOnlyOverTheirOwnConnections) {
  net::LinkInfo joining = linkInfo(1, 's');
  joining.purpose = net::kJoinPurpose;
  EXPECT_TRUE(admission.admit(joining).ok());
  joining.via = b;
  EXPECT_FALSE(admission.admit(joining).ok());
  joining.via = "", joining.dialled = true;
  EXPECT_FALSE(admission.admit(joining).ok());
}

TEST_F(RosterParts, GossipComparesWithTheVersionThatWasApplied) {
  gossip.apply(current());
  EXPECT_EQ(gossip.whyLinksEnd(b), "");
  EXPECT_FALSE(gossip.dialsEnd(current()));
  change([](RosterDevice& device) { device.addresses = {"127.0.0.1:1"}; });
  EXPECT_EQ(gossip.whyLinksEnd(b), "");
  EXPECT_TRUE(gossip.dialsEnd(current()));
  gossip.apply(current());
  EXPECT_FALSE(gossip.dialsEnd(current()));
  change([](RosterDevice& device) { device.roles = {"ledger"}; });
  EXPECT_EQ(gossip.whyLinksEnd(b), "its rights have changed");
  change([](RosterDevice& device) { device.state = DeviceState::revoked; });
  EXPECT_EQ(gossip.whyLinksEnd(b), "this device was revoked");
  EXPECT_TRUE(gossip.dialsEnd(current()));
}

TEST_F(RosterParts, GossipReceivesWhatAnotherNodeSends) {
  RosterStore others = storeIn(scratch / "other", admin);
  ASSERT_TRUE(others.publish(others.current(), admin).ok());
  const Time now{1'774'252'800'000'000};
  const std::string frame = RosterGossip(others).frame(now);
  EXPECT_TRUE(gossip.receive(frame, now)->roster);
  EXPECT_FALSE(gossip.receive(frame, now)->roster) << "known already";
  EXPECT_FALSE(gossip.receive(frame.substr(0, frame.size() - 1), now).ok());
  EXPECT_FALSE(gossip.startSaving()) << "it is on disk";
}

TEST_F(RosterParts, GossipSaysWhenItWasSent) {
  RosterStore others = storeIn(scratch / "other", admin);
  const Time there{1'774'252'800'000'000}, here{1'777'700'000'000'000};
  EXPECT_EQ(gossip.receive(RosterGossip(others).frame(there), here)->sent, there);
  EXPECT_EQ(gossip.receive(RosterGossip(others).dateFrame(there), here)->sent, there);
}

// Who tells of two rosters that part goes by one of them: its link stays.
TEST_F(RosterParts, GossipTakesWordOfARosterThatParts) {
  RosterStore others = storeIn(scratch / "other", admin), third = storeIn(scratch / "third", admin);
  Roster revokes = others.current();
  revokes.find(b)->state = DeviceState::revoked;
  ASSERT_TRUE(others.publish(revokes, admin).ok());
  ASSERT_TRUE(third.publish(third.current(), admin).ok());
  const Time now{1'774'252'800'000'000};
  RosterGossip theirs(third);
  EXPECT_EQ(theirs.partedFrame(), "");
  ASSERT_TRUE(theirs.receive(RosterGossip(others).frame(now), now)->roster) << "it has revoked somebody";
  const std::string frame = theirs.partedFrame();
  ASSERT_NE(frame, "");
  ASSERT_TRUE(gossip.receive(RosterGossip(others).frame(now), now)->roster);
  const auto heard = gossip.receive(frame, now);
  ASSERT_TRUE(heard.ok());
  EXPECT_FALSE(heard->roster);
  EXPECT_NE(rosters.parted(), nullptr);
  EXPECT_FALSE(rosters.current().find(b)->active());
}

TEST(PeerClocksTest, AClockThatIsFarFromAPeersIsToldOfOnce) {
  constexpr std::int64_t kMinute = 60'000'000, kDay = 24 * 60 * kMinute;
  PeerClocks clocks;
  const Time there{1'774'252'800'000'000};
  const auto after = [&](std::int64_t micros) { return Time{there.micros + micros}; };
  EXPECT_EQ(clocks.heard("aa", {}, there), std::nullopt) << "an older program does not say it";
  EXPECT_EQ(clocks.heard("aa", there, after(59 * kMinute)), "") << "what was noted in an earlier life is over";
  EXPECT_EQ(clocks.heard("aa", there, after(-59 * kMinute)), std::nullopt);
  EXPECT_EQ(clocks.words(), "");
  EXPECT_EQ(clocks.heard("aa", there, after(40 * kDay)),
            "the clock of this device is about 40 days ahead of that of aa");
  EXPECT_EQ(clocks.heard("aa", after(kMinute), after(40 * kDay + 2 * kMinute)), std::nullopt) << "nothing new";
  EXPECT_EQ(clocks.heard("bb", there, after(-5 * 60 * kMinute)),
            "the clock of this device is about 5 hours behind that of bb");
  EXPECT_EQ(clocks.words(), "the clock of this device is about 40 days ahead of that of aa");
  EXPECT_EQ(clocks.ahead(), clocks.words());
  EXPECT_EQ(clocks.heard("aa", there, there), "") << "both agree again";
  EXPECT_EQ(clocks.words(), "the clock of this device is about 5 hours behind that of bb");
  EXPECT_EQ(clocks.ahead(), "");
  clocks.forget("bb");
  EXPECT_EQ(clocks.words(), "");
}

// Else a liar keeps a revocation, which it passes on, from ending links.
TEST_F(RosterParts, GossipTellsOfARosterThatCameWithAForgedDate) {
  RosterStore others = storeIn(scratch / "other", admin);
  ASSERT_TRUE(others.publish(others.current(), admin).ok());
  const Time now{1'774'252'800'000'000};
  others.stamp(now, net::test::keyOf('q'));
  const auto heard = gossip.receive(RosterGossip(others).frame(now), now);
  ASSERT_TRUE(heard.ok());
  EXPECT_TRUE(heard->roster);
  EXPECT_FALSE(heard->date);
  EXPECT_FALSE(gossip.receive(RosterGossip(others).dateFrame(now), now).ok());
}

TEST(PendingPeersTest, TheOldestOfTooManyEndsAndRequestsAreCounted) {
  PendingPeers pending;
  for (net::LinkId id = 1; id <= kMaxPendingPeers; ++id)
    EXPECT_EQ(pending.add(id, static_cast<std::int64_t>(100 - id)), std::nullopt);
  EXPECT_EQ(pending.add(50, 500), kMaxPendingPeers) << "the last one came up first";
  EXPECT_TRUE(pending.remove(kMaxPendingPeers));
  EXPECT_FALSE(pending.remove(kMaxPendingPeers));
  for (unsigned n = 0; n < kMaxJoinRequests; ++n) EXPECT_TRUE(pending.countRequest(50));
  EXPECT_FALSE(pending.countRequest(50));
  EXPECT_FALSE(pending.countRequest(99));
}

TEST(PeerLinksTest, OneLinkOfADeviceCarriesItsTraffic) {
  PeerLinks links;
  links.add(link(1, 'b'));
  links.add(link(2, 'b'));
  EXPECT_EQ(links.of(member('b').device), nullptr);
  links.choose(1);
  EXPECT_EQ(links.of(member('b').device)->info.id, 1u);
  EXPECT_TRUE(links.mayBeRelayed(member('c').device));
  EXPECT_FALSE(links.mayBeRelayed(member('b').device));
  EXPECT_EQ(links.remove(2)->info.id, 2u);
  EXPECT_NE(links.of(member('b').device), nullptr);
  EXPECT_TRUE(links.remove(1));
  EXPECT_EQ(links.of(member('b').device), nullptr);
  EXPECT_FALSE(links.remove(1));
  links.add(link(3, 'b', member('d').device));
  links.choose(3);
  EXPECT_FALSE(links.mayBeRelayed(member('c').device)) << "a carried link carries no other";
}

// Both ends see the two links in opposite directions, and must keep the same one.
TEST(PeerLinksTest, BothEndsKeepTheSameOfTwoLinks) {
  for (const bool firstBySmaller : {false, true}) {
    const auto keepsSecond = [&](bool smaller) {
      return replacesLink(linkInfo(1, 'b', firstBySmaller == smaller), linkInfo(2, 'b', firstBySmaller != smaller),
                          smaller);
    };
    EXPECT_EQ(keepsSecond(true), keepsSecond(false));
    EXPECT_EQ(keepsSecond(true), !firstBySmaller);
  }
  EXPECT_TRUE(replacesLink(linkInfo(1, 'b', true, "relay"), linkInfo(2, 'b', false), true));
  EXPECT_FALSE(replacesLink(linkInfo(1, 'b', false), linkInfo(2, 'b', true, "relay"), true));
}

TEST(LinkProbationTest, ALinkPassesAfterItsHeartbeatsOrAsTheOnlyChoice) {
  LinkProbation probation(kHeartbeatMs);
  probation.start("b", {7, 0});
  EXPECT_TRUE(probation.contains(7));
  EXPECT_FALSE(probation.passes("b", true, 1, 0, 10'000));
  EXPECT_TRUE(probation.passes("b", true, 2, 0, 0));
  EXPECT_FALSE(probation.passes("b", false, 0, 0, 2'999));
  EXPECT_TRUE(probation.passes("b", false, 0, 0, 3'000));
  probation.lostOther("b", 5'000);
  EXPECT_FALSE(probation.passes("b", false, 0, 0, 7'999));
  EXPECT_EQ(probation.end("b")->link, 7u);
  EXPECT_FALSE(probation.contains(7));
  EXPECT_FALSE(probation.passes("b", false, 9, 0, 99'999));
}

TEST(LinkProbationTest, ATrialGrowsWithLinksThatWentQuietAndOneThatLastedClearsIt) {
  LinkProbation probation(kHeartbeatMs);
  for (const std::int64_t heartbeats : {8, 32, 128, 512, 512}) {
    probation.recordEnd("b", true, 0);
    EXPECT_TRUE(probation.suspects("b"));
    probation.start("b", {7, 0});
    EXPECT_FALSE(probation.passes("b", true, 2, 0, heartbeats * kHeartbeatMs - 1));
    EXPECT_TRUE(probation.passes("b", true, 2, 0, heartbeats * kHeartbeatMs));
  }
  probation.recordEnd("b", false, 512 * kHeartbeatMs + 59'999);
  EXPECT_TRUE(probation.suspects("b"));
  probation.recordEnd("b", false, 512 * kHeartbeatMs + 60'000);
  EXPECT_FALSE(probation.suspects("b"));
}

TEST(LinkHistoryTest, TheThirdShortLinkInARowDelaysTheNextDial) {
  LinkHistory history;
  EXPECT_EQ(history.of("b"), nullptr);
  EXPECT_EQ(history.recordEnd("b", "one", 0, 999), 0);
  EXPECT_EQ(history.recordEnd("b", "two", 1'000, 1'999), 0);
  EXPECT_EQ(history.recordEnd("b", "three", 2'000, 2'999), 8'000);
  EXPECT_EQ(history.of("b")->reason, "three");
  for (int i = 0; i < 9; ++i) EXPECT_LE(history.recordEnd("b", "again", 3'000, 3'001), 64'000);
  EXPECT_EQ(history.recordEnd("b", "lasted", 4'000, 5'000), 0);
}

TEST(DialerTest, EachAddressIsDialledOnceUntilALinkIsUp) {
  Dialer dialer;
  const RosterDevice b = member('b', {"one:1", "two:2"});
  EXPECT_THAT(started(dialer.start(b)), UnorderedElementsAre("one:1", "two:2"));
  EXPECT_THAT(started(dialer.start(b)), IsEmpty());
  EXPECT_EQ(Dialer::deviceOf(b.device + "/one:1"), b.device);
  EXPECT_THAT(dialer.linked(b.device, b.device + "/one:1").stop, ElementsAre(b.device + "/two:2"));
  EXPECT_THAT(started(dialer.start(b)), ElementsAre("two:2"));
  EXPECT_THAT(dialer.linked(b.device, "").stop, SizeIs(2));
}

TEST(DialerTest, AConfiguredAddressIsDialledAgainForTheDeviceItLedTo) {
  Dialer dialer;
  const RosterDevice b = member('b');
  const DialStart configured = Dialer::configured("one:1");
  EXPECT_EQ(configured.key, std::nullopt);
  EXPECT_THAT(dialer.linked(b.device, configured.name).stop, IsEmpty());
  EXPECT_THAT(dialer.stop(b.device).stop, ElementsAre(configured.name));
  EXPECT_THAT(started(dialer.start(b)), ElementsAre("one:1"));
  EXPECT_THAT(started(dialer.forget(b.device)), ElementsAre("one:1"));
  EXPECT_THAT(started(dialer.forget(b.device)), IsEmpty());
}

TEST(DialerTest, AllHaveFailedIfThereIsNoneOrEachHas) {
  Dialer dialer;
  const RosterDevice b = member('b', {"one:1", "two:2"});
  EXPECT_TRUE(dialer.allFailed(b.device, {}));
  dialer.start(b);
  std::vector<net::DialInfo> dials{{b.device + "/one:1", "one:1", 0, 1, ""}, {b.device + "/two:2", "two:2", 0, 0, ""}};
  EXPECT_FALSE(dialer.allFailed(b.device, dials));
  dials[1].failures = 3;
  EXPECT_TRUE(dialer.allFailed(b.device, dials));
}

TEST(DialerTest, APauseStopsItsDialsAndEndsOnce) {
  Dialer dialer;
  const RosterDevice b = member('b', {"one:1"});
  dialer.start(b);
  EXPECT_THAT(dialer.pause(b.device).stop, SizeIs(1));
  EXPECT_TRUE(dialer.isPaused(b.device));
  EXPECT_TRUE(dialer.resume(b.device));
  EXPECT_FALSE(dialer.resume(b.device));
}

}  // namespace
}  // namespace witan::node::peer_parts_test
