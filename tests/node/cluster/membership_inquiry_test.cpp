// A device that was away when it was revoked hears of it, and from no liar.
#include "node/enrolment/membership_inquiry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/bytes.h"
#include "node/cluster/device_key.h"
#include "node/cluster/revocation.h"
#include "node/peers/peer_manager.h"
#include "tests/net/device.h"
#include "tests/node/node_process.h"
#include "tests/node/scratch.h"

namespace witan::node::membership_inquiry_test {
namespace {

using ::testing::HasSubstr;

constexpr Time kNow{1'700'000'000'000'000};

struct MembershipInquiryTest : ::testing::Test {
  static std::string idOf(char letter) { return deviceIdOf(net::test::keyOf(letter).publicKey()); }
  // Of the devices a, b and c, each of which may dial a.
  Roster roster(std::uint64_t version, DeviceState stateOfC) const {
    Roster made{clusterIdOf(admin.publicKey()), version, {}};
    for (const char letter : {'a', 'b', 'c'}) {
      RosterDevice device{idOf(letter), std::string(1, letter), {toHex(net::test::keyOf(letter).publicKey())}};
      device.roles = {"ledger", "*"};
      device.since = kNow;
      made.devices.push_back(device);
    }
    std::ranges::sort(made.devices, {}, &RosterDevice::device);
    made.find(idOf('a'))->addresses = {address};
    RosterDevice& c = *made.find(idOf('c'));
    c.state = stateOfC;
    if (!c.active()) c.reason = "sold";
    return made;
  }
  RosterStore storeIn(const std::string& name, std::string document) const {
    std::filesystem::create_directories(scratch / name);
    return *RosterStore::create(scratch / name, admin.publicKey(), std::move(document));
  }
  // The roster in which c is revoked, and d has come since.
  RosterStore laterStore() const {
    RosterStore known = storeIn("a", *signRoster(roster(1, DeviceState::active), admin));
    EXPECT_TRUE(known.publish(roster(2, DeviceState::revoked), admin).ok());
    Roster later = known.current();
    RosterDevice d{idOf('d'), "newcomer", {toHex(net::test::keyOf('d').publicKey())}};
    d.roles = {"ledger", "*"};
    d.addresses = {"10.9.8.7:7600"};
    d.since = kNow;
    later.devices.push_back(d);
    std::ranges::sort(later.devices, {}, &RosterDevice::device);
    EXPECT_TRUE(known.publish(later, admin).ok());
    return known;
  }
  // Device c asks until it has taken a roster, or `heard` others have been asked.
  void ask(const std::function<bool()>& done) {
    ASSERT_TRUE(inquiry.ask(net::test::keyOf('c'), true).ok());
    at.until([&] { return changes > 0 || done(); }, "an answer");
    inquiry.stop();
  }

  const test::Scratch scratch;
  const SigningKey admin = net::test::keyOf('x');
  net::Loop loop;
  net::test::Device at{loop, 'a'};  // as what of the cluster device c can reach
  const std::string address = *at.network->listen("127.0.0.1:0");
  RosterStore rosters = storeIn("c", *signRoster(roster(1, DeviceState::active), admin));
  std::size_t changes = 0;
  MembershipInquiry inquiry{loop, rosters, [this] { ++changes; }};
};

TEST_F(MembershipInquiryTest, ARevokedDeviceHearsOfItOverALinkForJoining) {
  RosterStore known = laterStore();
  EnrolmentService enrolment = *EnrolmentService::open(scratch / "a", known, std::string(32, 's'), 1, std::nullopt);
  at.onFrame = [&](net::LinkId link, std::string_view frame) {
    EXPECT_EQ(at.up.at(link).purpose, net::kJoinPurpose);
    JoinRequest request;
    ASSERT_TRUE(readClusterFrame(frame, request).ok());
    const JoinAnswer answer = enrolment.onJoin(request, at.up.at(link).key, at.up.at(link).address, kNow);
    EXPECT_EQ(answer.verdict, JoinVerdict::refused);
    EXPECT_TRUE(answer.clusterKey.empty());
    EXPECT_TRUE(answer.document.empty());
    for (const std::string& of : {std::string("10.9.8.7"), std::string("newcomer"), idOf('d'), idOf('b'), idOf('a')})
      EXPECT_THAT(clusterFrame(answer), ::testing::Not(HasSubstr(of)));
    (void)at.network->send(link, clusterFrame(answer));
  };
  ask([] { return false; });
  EXPECT_EQ(changes, 1u);
  EXPECT_EQ(rosters.current().version, 2u);
  EXPECT_EQ(rosters.current().member(idOf('c')), nullptr);
  EXPECT_EQ(rosters.current().find(idOf('c'))->reason, "sold");
  EXPECT_EQ(rosters.current().find(idOf('d')), nullptr) << "who came later is not its business";
  // It stays so after a restart, until the admin lets it in again.
  RosterStore again = *RosterStore::open(scratch / "c", admin.publicKey());
  EXPECT_EQ(again.current().member(idOf('c')), nullptr);
  Roster back = known.current();
  back.find(idOf('c'))->state = DeviceState::active;
  ASSERT_TRUE(known.publish(back, admin).ok());
  EXPECT_FALSE(known.current().find(idOf('c'))->revocation);
  ASSERT_TRUE(*again.adopt(known.document()));
  EXPECT_NE(again.current().member(idOf('c')), nullptr);
  EXPECT_FALSE(*again.adoptRevocation(revocationOf(laterStore().current(), idOf('c')), idOf('c'))) << "an old word";
  EXPECT_NE(RosterStore::open(scratch / "c", admin.publicKey())->current().member(idOf('c')), nullptr);
}

// Word for word.
TEST_F(MembershipInquiryTest, ARevocationIsTheAdminsAndOfThisDevice) {
  const std::string said = revocationOf(laterStore().current(), idOf('c'));
  EXPECT_EQ(revocationOf(laterStore().current(), idOf('b')), "") << "it is a member";
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"sold", "lost"},
                                 {idOf('c'), idOf('b')},
                                 {"\"version\":2", "\"version\":3"}}) {
    std::string other = said;
    ASSERT_NE(other.find(from), std::string::npos) << said;
    other.replace(other.find(from), from.size(), to);
    const auto taken = rosters.adoptRevocation(other, idOf('c'));
    ASSERT_FALSE(taken.ok()) << other;
    EXPECT_EQ(taken.error().code, ErrorCode::unauthorised);
  }
  Roster forged = roster(9, DeviceState::revoked);
  signRevocations(forged, net::test::keyOf('a'), false);
  EXPECT_FALSE(rosters.adoptRevocation(revocationOf(forged, idOf('c')), idOf('c')).ok());
  signRevocations(forged, admin, true);
  forged.find(idOf('c'))->revokedIn = std::uint64_t{1} << 40;
  signRevocations(forged, admin, true);
  EXPECT_FALSE(rosters.adoptRevocation(revocationOf(forged, idOf('c')), idOf('c')).ok()) << "a version far ahead";
  for (const std::string& none : {std::string("{}"), std::string("x"), std::string(1 << 20, '[')})
    EXPECT_FALSE(rosters.adoptRevocation(none, idOf('c')).ok());
  EXPECT_NE(rosters.current().member(idOf('c')), nullptr);
  // No member cuts it off from another one by a word that no roster has.
  const auto ofAnother = rosters.adoptRevocation(said, idOf('b'));
  ASSERT_FALSE(ofAnother.ok());
  EXPECT_EQ(ofAnother.error().code, ErrorCode::unauthorised);
  EXPECT_NE(rosters.current().member(idOf('c')), nullptr);
  EXPECT_TRUE(*rosters.adoptRevocation(said, idOf('c')));
  EXPECT_FALSE(*rosters.adoptRevocation(said, idOf('c')));
}

// A member that has no admin's key.
TEST_F(MembershipInquiryTest, NoOtherDeviceMakesItBelieveThat) {
  std::size_t downs = 0;
  bool told = false;
  at.onFrame = [&](net::LinkId link, std::string_view frame) {
    JoinRequest request;
    if (!readClusterFrame(frame, request).ok()) return;  // c offers its own roster, too
    JoinAnswer answer{.verdict = JoinVerdict::refused, .reason = "this device was revoked", .device = idOf('c')};
    const std::string forged = *signRoster(roster(9, DeviceState::revoked), net::test::keyOf('a'));
    answer.document.assign(forged.begin(), forged.end());
    if (downs++ % 2 == 0) {
      Roster signedByIt = roster(9, DeviceState::revoked);
      signRevocations(signedByIt, net::test::keyOf('a'), false);
      answer.document = {};
      answer.revocation = revocationOf(signedByIt, idOf('c'));
    }
    (void)at.network->send(link, clusterFrame(answer));
  };
  ask([&] { return told = told || !at.downs.empty(); });
  told = false, at.downs.clear();
  ask([&] { return told = told || !at.downs.empty(); });
  EXPECT_TRUE(told);
  EXPECT_EQ(downs, 2u);
  EXPECT_EQ(changes, 0u);
  EXPECT_NE(rosters.current().member(idOf('c')), nullptr);
}

TEST_F(MembershipInquiryTest, OnlyTheDeviceExpectedAtAnAddressIsHeard) {
  net::test::Device thief{loop, 'b'};
  const std::string its = *thief.network->listen("127.0.0.1:0");
  Roster moved = roster(2, DeviceState::active);
  moved.find(idOf('a'))->addresses = {its};
  ASSERT_TRUE(*rosters.adopt(*signRoster(moved, admin)));
  ask([&] { return thief.loggedWith("refused") || !thief.logged.empty(); });
  EXPECT_EQ(thief.frameCount, 0u);
}

// Of a device that signs rosters: the one that names its next key is on its disk alone.
TEST_F(MembershipInquiryTest, WhoHasAnotherKeyOffersTheRosterThatNamesIt) {
  RosterStore known = storeIn("a", *signRoster(roster(1, DeviceState::active), admin));
  EnrolmentService enrolment = *EnrolmentService::open(scratch / "a", known, std::string(32, 's'), 1, std::nullopt);
  Roster rotated = roster(2, DeviceState::active);
  rotated.find(idOf('c'))->keys.push_back(toHex(net::test::keyOf('d').publicKey()));
  ASSERT_TRUE(*rosters.adopt(*signRoster(rotated, admin)));
  at.onFrame = [&](net::LinkId link, std::string_view frame) {
    RosterMessage offer;
    if (readClusterFrame(frame, offer).ok()) return (void)known.adopt(asView(offer.document));
    JoinRequest request;
    ASSERT_TRUE(readClusterFrame(frame, request).ok());
    (void)at.network->send(link, clusterFrame(enrolment.onJoin(request, at.up.at(link).key, "", kNow)));
  };
  ASSERT_TRUE(inquiry.ask(net::test::keyOf('d'), true).ok());
  at.until([&] { return known.current().version == 2 || !at.downs.empty(); }, "the offer");
  EXPECT_NE(known.current().byKey(net::test::keyOf('d').publicKey()), nullptr);
  EXPECT_EQ(changes, 0u);
}

// The other way round: a device that was off as it got another key. It is dialled, and dials nobody.
TEST_F(MembershipInquiryTest, WhoHasAnotherKeySinceIsHeardAtItsAddress) {
  net::test::Device fresh{loop, 'd'};  // what was a
  const std::string its = *fresh.network->listen("127.0.0.1:0");
  Roster moved = roster(2, DeviceState::active);
  moved.find(idOf('a'))->addresses = {its};
  ASSERT_TRUE(*rosters.adopt(*signRoster(moved, admin)));
  Roster rotated = moved;
  rotated.version = 3;
  rotated.find(idOf('a'))->keys.push_back(toHex(net::test::keyOf('d').publicKey()));
  fresh.onFrame = [&](net::LinkId link, std::string_view frame) {
    JoinRequest request;
    ASSERT_TRUE(readClusterFrame(frame, request).ok()) << "no offer goes to a stranger";
    EXPECT_EQ(request.name, "");
    JoinAnswer answer{.verdict = JoinVerdict::pending, .reason = "", .device = idOf('c')};
    const std::string document = *signRoster(rotated, admin);
    answer.document.assign(document.begin(), document.end());
    (void)fresh.network->send(link, clusterFrame(answer));
  };
  for (const bool expecting : {true, false}) {
    EXPECT_EQ(fresh.frameCount, 0u);
    fresh.logged.clear();
    ASSERT_TRUE(inquiry.ask(net::test::keyOf('c'), expecting).ok());
    fresh.until([&] { return changes > 0 || !fresh.logged.empty(); }, "an answer, or that it was refused");
  }
  EXPECT_EQ(changes, 1u);
  EXPECT_NE(rosters.current().byKey(net::test::keyOf('d').publicKey()), nullptr);
}

using test::Node;
using test::Scratch;

// All others were off, and are linked with each other before they hear of the next key.
TEST(ANodeThatSignsRosters, IsNotCutOffByItsNextKey) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second"), third(scratch, "third");
  ASSERT_TRUE(test::begin(first)) << first.log();
  ASSERT_TRUE(test::enrol(first, second)) << second.log();
  ASSERT_TRUE(test::enrol(first, third)) << third.log();
  ASSERT_TRUE(second.stop() == 0 && third.stop() == 0);
  ASSERT_EQ(first.run({"device", "rotate-key"}).exitCode, 0);
  ASSERT_TRUE(second.up() && third.up());
  EXPECT_TRUE(test::until([&] { return first.connectedTo(2); })) << first.log();
}

TEST(ARevokedNode, SaysSoAndSinceWhenItKnows) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second");
  ASSERT_TRUE(test::begin(first)) << first.log();
  ASSERT_TRUE(test::enrol(first, second)) << second.log();
  ASSERT_EQ(second.stop(), 0);
  ASSERT_EQ(first.run({"device", "revoke", "second", "--reason", "sold"}).exitCode, 0);
  ASSERT_TRUE(second.up());
  ASSERT_TRUE(test::until([&] { return !second.ready(); })) << second.log();
  const std::string words = second.check("member");
  EXPECT_THAT(words, HasSubstr("sold"));
  EXPECT_THAT(second.todo("member"), HasSubstr("witan join"));
  const std::string incidents = second.run({"incidents", "--json"}).out;
  EXPECT_THAT(incidents, HasSubstr("\"revoked\""));
  EXPECT_THAT(incidents, HasSubstr(words)) << "with the time";
  // Started again it says the same.
  ASSERT_EQ(second.stop(), 0);
  ASSERT_TRUE(second.up());
  EXPECT_EQ(second.check("member"), words);
}

}  // namespace
}  // namespace witan::node::membership_inquiry_test
