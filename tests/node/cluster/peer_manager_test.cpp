// A PeerManager and one other device on one loop: what the roster or an operator says while a link comes up counts.
#include "node/peers/peer_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/bytes.h"
#include "node/cluster/device_key.h"
#include "node/cluster/revocation.h"
#include "node/relay/tunnel_messages.h"
#include "tests/net/device.h"
#include "tests/net/proxy.h"
#include "tests/node/scratch.h"

namespace witan::node::peer_manager_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Time kNow{1'700'000'000'000'000};

RosterDevice deviceOf(char letter) {
  const PublicKey key = net::test::keyOf(letter).publicKey();
  return {
      deviceIdOf(key), std::string(1, letter), {toHex(key)}, DeviceState::active, {"ledger", "*"}, {}, {}, kNow, ""};
}

struct PeerManagerTest : ::testing::Test {
  explicit PeerManagerTest(std::int64_t itsDeadAfterMs = 1'000, std::int64_t itsJoinMs = 60'000)
      : deadAfterMs(itsDeadAfterMs), joinMs(itsJoinMs) {}

  static RosterStore storeIn(const std::string& dir, const SigningKey& admin) {
    std::filesystem::create_directories(dir);
    Roster roster{clusterIdOf(admin.publicKey()), 1, {deviceOf('a'), deviceOf('b'), deviceOf('c')}};
    std::sort(roster.devices.begin(), roster.devices.end(),
              [](const RosterDevice& one, const RosterDevice& another) { return one.device < another.device; });
    return *RosterStore::create(dir, admin.publicKey(), *signRoster(roster, admin));
  }
  // The other end, which is dialled, admits last: `meanwhile` happens when the manager has admitted it and is not
  // linked to it yet. What it hears of the link's end.
  std::string linkDuring(const std::function<void()>& meanwhile) {
    std::uint64_t refused = 0;
    other.admit = [&, done = false](const net::LinkInfo&) mutable {
      if (!std::exchange(done, true)) meanwhile();
      return okStatus();
    };
    other.onUp = [&](const net::LinkInfo&) { refused = manager.refusedLinks(); };
    manager.dialAll();
    other.until([&] { return !other.downs.empty() || !connected.empty(); }, "the end of the link, or that it stands");
    EXPECT_EQ(refused, 0u) << "the manager had let it in";
    EXPECT_THAT(connected, IsEmpty());
    return other.downs.empty() ? "" : other.downs.front().reason;
  }

  // The one link with the other end; and when it ends, every address is dialled again.
  void expectThatItStaysAndComesBack() {
    const auto lasts = [&](std::uint64_t frames) {  // four heartbeats a second
      if (other.up.size() != 1) return false;
      const auto stats = other.network->stats(other.up.begin()->first);
      return stats && stats->framesIn >= frames;
    };
    other.until([&] { return lasts(8); }, "a link that lasts some heartbeats");
    const std::size_t links = connected.size();
    other.until([&] { return lasts(12); }, "that it goes on");
    EXPECT_EQ(connected.size(), links);
    EXPECT_LE(links, 3u);
    other.network->drop(other.up.begin()->first);
    other.until([&] { return connected.size() > links; }, "another link");
  }

  const std::int64_t deadAfterMs, joinMs;
  const test::Scratch scratch;
  const SigningKey admin = net::test::keyOf('x');
  RosterStore rosters = storeIn(scratch / "node", admin);
  EnrolmentService enrolment = *EnrolmentService::open(scratch / "node", rosters, std::string(32, 's'), 1, admin);
  std::vector<std::string> lines;
  Log log{LogLevel::debug, false, [] { return kNow; }, [this](std::string_view line) { lines.emplace_back(line); }};
  net::Loop loop;
  net::test::Device other{loop, 'b'};
  std::vector<std::string> connected, alarms, askedInVain;
  std::size_t received = 0;
  PeerManager manager{loop,
                      net::test::identityOf('a'),
                      rosters,
                      enrolment,
                      log,
                      {deviceOf('a').device, {*other.network->listen("127.0.0.1:0")}, true, 250, deadAfterMs, joinMs},
                      {.connected = [this](const std::string& device) { connected.push_back(device); },
                       .disconnected = [](const std::string&) {},
                       .received = [this](const std::string&, std::string_view) { ++received; },
                       .room = [](const std::string&) {},
                       .rosterChanged = [] {},
                       .alarm = [this](const std::string& kind, const std::string& device,
                                       const std::string&) { alarms.push_back(kind + " " + device); },
                       .askedInVain = [this](const std::string& device) { askedInVain.push_back(device); },
                       .wall = [] { return kNow; },
                       .steadyMs = [] { return net::Loop::nowMs(); }}};
};

TEST_F(PeerManagerTest, AClockThatIsFarFromAPeersIsAnIncident) {
  manager.dialAll();
  other.until([&] { return connected.size() == 1; }, "the link");
  RosterMessage message;
  message.sent = Time{kNow.micros + 40LL * 86'400'000'000};
  for (int n = 0; n < 2; ++n) other.network->send(other.last, clusterFrame(message));
  other.until([&] { return !manager.clocks().empty(); }, "that it is noticed");
  message.sent = kNow;
  other.network->send(other.last, clusterFrame(message));
  other.until([&] { return manager.clocks().empty(); }, "that both agree");
  EXPECT_THAT(alarms, ::testing::ElementsAre("clockDiffers " + deviceOf('b').device));
}

TEST_F(PeerManagerTest, ADeviceThatIsRevokedWhileItsLinkComesUpDoesNotGetIn) {
  const std::string end = linkDuring([&] {
    ASSERT_TRUE(enrolment.revoke("b", "stolen").ok());
    manager.rosterPublished();
  });
  EXPECT_THAT(end, HasSubstr("no member any more"));
}

TEST_F(PeerManagerTest, ALinkThatIsCutWhileItComesUpDoesNotStand) {
  EXPECT_THAT(linkDuring([&] { manager.cut(deviceOf('b').device); }), HasSubstr("an operator has cut this link"));
}

TEST_F(PeerManagerTest, OtherwiseItStands) {
  manager.dialAll();
  other.until([&] { return !connected.empty(); }, "a link");
  EXPECT_EQ(connected.front(), deviceOf('b').device);
  EXPECT_TRUE(other.downs.empty());
}

// Members 16: a copied directory, both running.
TEST_F(PeerManagerTest, TwoMachinesWithOneKeyAreReported) {
  net::test::Device copy{loop, 'b'};
  const std::string address = *manager.listen("127.0.0.1:0");
  for (net::test::Device* one : {&other, &copy}) one->network->dial("a", address, std::nullopt);
  other.until([&] { return !alarms.empty(); }, "an alarm");
  EXPECT_EQ(alarms.front(), "cloned " + deviceOf('b').device);
}

TEST_F(PeerManagerTest, ADeviceThatComesBackAgainAndAgainIsNoCopy) {
  other.network->dial("a", *manager.listen("127.0.0.1:0"), std::nullopt);
  for (std::size_t links = 1; links <= 8; ++links) {
    other.until([&] { return connected.size() >= links && !other.up.empty(); }, "a link");
    other.network->drop(other.up.begin()->first);
    other.until([&] { return !manager.connected(deviceOf('b').device); }, "its end");
  }
  EXPECT_TRUE(alarms.empty());
}

// Members 18.
TEST_F(PeerManagerTest, ADeviceThatIsSuspendedComesBackAfterAWhile) {
  manager.dialAll();
  other.until([&] { return connected.size() == 1; }, "a link");
  manager.suspend(deviceOf('b').device, "it asks too much", 100);
  EXPECT_FALSE(manager.connected(deviceOf('b').device));
  EXPECT_TRUE(manager.isCut(deviceOf('b').device));
  other.until([&] { return connected.size() == 2; }, "another link");
  manager.suspend(deviceOf('b').device, "it asks too much", 100);
  manager.cut(deviceOf('b').device);
  loop.runUntil([] { return false; }, 300);
  EXPECT_TRUE(manager.isCut(deviceOf('b').device)) << "the operator's word stays";
}

// Members 10: a person hears of the first ask, and that there is another one; the rest counts as abuse.
TEST_F(PeerManagerTest, AFloodOfAsksForKeysIsCountedAndToldOfOnce) {
  manager.dialAll();
  other.until([&] { return !connected.empty() && !other.up.empty(); }, "a link");
  const std::string device = deviceOf('b').device;
  const auto ask = [&](char letter) {
    const SigningKey next = net::test::keyOf(letter);
    const PublicKey key = next.publicKey();
    const Signature proof = next.sign(rotationText(device, key));
    RotateKey wish;
    wish.key.assign(key.begin(), key.end()), wish.proof.assign(proof.begin(), proof.end());
    other.network->send(other.last, clusterFrame(wish));
  };
  for (const char letter : {'k', 'k', 'l', 'm', 'n', 'o', 'l'}) ask(letter);
  other.until([&] { return askedInVain.size() == 5; }, "that five of seven say nothing new");
  EXPECT_EQ(alarms, (std::vector<std::string>{"keyAsked " + device, "keyAsked " + device}));
  EXPECT_EQ(askedInVain, std::vector<std::string>(5, device));
  EXPECT_EQ(enrolment.askedKeys().size(), 1u);
}

// Both work, and of two links in one direction the newer counts: each would replace the other for ever.
TEST_F(PeerManagerTest, ALinkStaysWhereADeviceHasTwoAddresses) {
  Roster next = rosters.current();
  next.find(deviceOf('b').device)->addresses = {*other.network->listen("127.0.0.1:0"),
                                                *other.network->listen("127.0.0.1:0")};
  ASSERT_TRUE(rosters.publish(next, admin).ok());
  manager.rosterPublished();
  expectThatItStaysAndComesBack();
}

// The same where both are configured, and the roster has none.
TEST_F(PeerManagerTest, ALinkStaysWhereTwoAddressesOfADeviceAreConfigured) {
  const auto nothing = [](const std::string&) {};
  PeerManager dialling(loop, net::test::identityOf('a'), rosters, enrolment, log,
                       {deviceOf('a').device,
                        {*other.network->listen("127.0.0.1:0"), *other.network->listen("127.0.0.1:0")},
                        true,
                        250,
                        deadAfterMs,
                        joinMs},
                       {.connected = [this](const std::string& device) { connected.push_back(device); },
                        .disconnected = nothing,
                        .received = [](const std::string&, std::string_view) {},
                        .room = nothing,
                        .rosterChanged = [] {},
                        .wall = [] { return kNow; },
                        .steadyMs = [] { return net::Loop::nowMs(); }});
  dialling.dialAll();
  expectThatItStaysAndComesBack();
}

// The disk is full, here because a folder stands in the file's place: what b brings counts all the same.
TEST_F(PeerManagerTest, ARevocationCountsAlsoWhereItCannotBeWritten) {
  const auto file = std::filesystem::path(scratch / "node") / "roster";
  net::test::Device c(loop, 'c');
  c.network->dial("a", *manager.listen("127.0.0.1:0"), std::nullopt);
  manager.dialAll();
  other.until([&] { return connected.size() == 2 && other.up.size() == 1; }, "the links with b and c");
  Roster next = rosters.current();
  next.version = 7;
  next.find(deviceOf('c').device)->state = DeviceState::revoked;
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  RosterMessage message;
  const std::string document = *signRoster(next, admin);
  message.document.assign(document.begin(), document.end());
  other.network->send(other.last, clusterFrame(message));
  c.until([&] { return !c.downs.empty(); }, "the end of the revoked device's link");
  ASSERT_FALSE(c.downs.empty());
  EXPECT_THAT(c.downs.front().reason, HasSubstr("revoked"));
  c.until([&] { return c.loggedWith("this device was revoked"); }, "that it is not let in again");
  EXPECT_TRUE(manager.connected(deviceOf('b').device)) << "who brought it stays";
  EXPECT_THAT(other.downs, IsEmpty());
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("could not be written")));
  EXPECT_FALSE(rosters.kept().ok());
  std::filesystem::remove(file);
  other.until([&] { return rosters.kept().ok(); }, "that it is written again");
  EXPECT_EQ(RosterStore::open(scratch / "node", admin.publicKey())->current().version, 7u);
}

// The last frame over its link says that it was revoked, and nothing of the others.
TEST_F(PeerManagerTest, ARevokedDeviceIsToldOfItselfAlone) {
  net::test::Device c(loop, 'c');
  c.network->dial("a", *manager.listen("127.0.0.1:0"), std::nullopt);
  manager.dialAll();
  other.until([&] { return connected.size() == 2 && other.up.size() == 1; }, "the links with b and c");
  std::vector<RosterMessage> heard;
  c.onFrame = [&](net::LinkId, std::string_view frame) {
    RosterMessage message;
    if (readClusterFrame(frame, message).ok()) heard.push_back(message);
  };
  Roster next = rosters.current();
  next.version = 7;
  next.find(deviceOf('c').device)->state = DeviceState::revoked;
  signRevocations(next, admin, false);
  RosterMessage message;
  const std::string document = *signRoster(next, admin);
  message.document.assign(document.begin(), document.end());
  other.network->send(other.last, clusterFrame(message));
  c.until([&] { return !c.downs.empty(); }, "the end of the revoked device's link");
  ASSERT_FALSE(heard.empty());
  EXPECT_TRUE(heard.back().document.empty());
  EXPECT_EQ(heard.back().revocation, revocationOf(next, deviceOf('c').device));
}

// --- offers of rosters by devices whose keys are not known here

struct OffersTest : PeerManagerTest {
  static std::string frameWith(const Roster& roster, const SigningKey& key) {
    RosterMessage message;
    const std::string document = *signRoster(roster, key);
    message.document.assign(document.begin(), document.end());
    return clusterFrame(message);
  }
  Roster rotated(std::size_t bytes = 0) const {
    Roster next = rosters.current();
    ++next.version;
    RosterDevice& c = *next.find(deviceOf('c').device);
    c.keys.push_back(toHex(net::test::keyOf('s').publicKey()));
    for (std::size_t n = 0; n * 1'024 < bytes; ++n) {
      RosterDevice more = deviceOf('c');
      const PublicKey key = SigningKey::fromSeed(concat(std::string(24, 'q'), 10'000'000 + n))->publicKey();
      more.device = deviceIdOf(key), more.keys = {toHex(key)}, more.name = concat("device ", n);
      more.reason = std::string(1'000, 'r');
      next.devices.push_back(more);
    }
    std::ranges::sort(next.devices, {}, &RosterDevice::device);
    return next;
  }
  void offer(const std::string& frame) {
    offering.onUp = [this, frame](const net::LinkInfo& info) { offering.network->send(info.id, frame); };
    offering.network->dial("a", address, std::nullopt, std::string(net::kJoinPurpose));
    offering.until([&] { return !offering.downs.empty(); }, "the end of the link");
    offering.network->undial("a");
  }

  const std::string address = *manager.listen("127.0.0.1:0");
  net::test::Device offering{loop, 's'};
};

TEST_F(OffersTest, ARosterThatTheAdminSignedCounts) {
  const Roster next = rotated(200'000);
  offer(frameWith(next, admin));
  EXPECT_EQ(rosters.current().version, next.version);
  EXPECT_EQ(rosters.current().devices.size(), next.devices.size());
  offering.onUp = {};
  offering.network->dial("member", address, std::nullopt);
  offering.until([&] { return !connected.empty(); }, "that it is let in by its next key");
  ASSERT_FALSE(connected.empty());
  EXPECT_EQ(connected.front(), deviceOf('c').device);
}

TEST_F(OffersTest, AnotherDoesNot) {
  offer(frameWith(rotated(), net::test::keyOf('s')));
  EXPECT_EQ(rosters.current().version, 1u);
  EXPECT_THAT(alarms, IsEmpty()) << "strangers note nothing";
}

TEST(PendingPeersTest, TakesOneOfferOfAHostAndAFewInAll) {
  PendingPeers pending;
  EXPECT_TRUE(pending.takesOffer("host", false, 0));
  EXPECT_FALSE(pending.takesOffer("host", false, kOfferMs - 1));
  for (std::size_t n = 1; n < kMaxOffers; ++n) EXPECT_TRUE(pending.takesOffer(concat("host", n), false, 5));
  EXPECT_FALSE(pending.takesOffer("another", false, 6));
  EXPECT_TRUE(pending.takesOffer("member", true, 6)) << "strangers took none of its places";
  EXPECT_TRUE(pending.takesOffer("host", false, kOfferMs));
}

TEST_F(PeerManagerTest, WhoIsLeftOutByANewSignerIsTold) {
  RosterStore old = storeIn(scratch / "old", admin);
  EnrolmentService there = *EnrolmentService::open(scratch / "old", old, std::string(32, 's'), 1, admin);
  const auto by = [](const std::string& cluster, AdminAct act, const SigningKey& key) {
    act.expires = Time{kNow.micros + 1'000'000};
    approveAct(cluster, act, key);
    return act;
  };
  const SigningKey next = net::test::keyOf('y');
  const AdminAct agreed =
      by(old.current().cluster, {1, ActKind::admins, "", {{"ann", toHex(next.publicKey())}}, 1, {}, "", {}, {}}, admin);
  ASSERT_TRUE(there.apply(agreed, kNow).ok());
  Roster replaced = old.current();
  ++replaced.version;
  replaced.acts->push_back(by(replaced.cluster, {2, ActKind::signer, toHex(next.publicKey())}, next));
  ASSERT_EQ(there.onJoin({}, net::test::keyOf('s').publicKey(), "", kNow).verdict, JoinVerdict::pending);
  ASSERT_TRUE(there.approve(deviceOf('s').device, std::vector<std::string>{"*"}, {}, kNow).ok());
  manager.dialAll();
  other.until([&] { return !connected.empty(); }, "a link");
  for (const std::string& document : {old.document(), *signRoster(replaced, next)}) {
    RosterMessage message;
    message.document.assign(document.begin(), document.end());
    other.network->send(other.last, clusterFrame(message));
  }
  other.until([&] { return !alarms.empty(); }, "an incident");
  EXPECT_THAT(alarms, ::testing::ElementsAre("leftOut " + deviceOf('s').device));
  EXPECT_EQ(rosters.current().find(deviceOf('s').device), nullptr);
}

// Whoever has made itself a key.
struct StrangersTest : PeerManagerTest {
  using PeerManagerTest::PeerManagerTest;
  static net::PeerNetworkOptions impatient() {
    net::PeerNetworkOptions options;
    options.backoffMostMs = 20;
    return options;
  }
  void call(int times) {
    for (int n = 0; n < times; ++n)
      stranger.network->dial(std::to_string(n), address, std::nullopt, std::string(net::kJoinPurpose));
  }
  // On each link, as soon as it is up.
  void askEachTime(int times, const JoinRequest& request) {
    stranger.onUp = [this, times, frame = clusterFrame(request)](const net::LinkInfo& info) {
      for (int n = 0; n < times; ++n) stranger.network->send(info.id, frame);
    };
  }
  auto ended(const std::string& why) const {
    return std::count_if(stranger.downs.begin(), stranger.downs.end(),
                         [&](const auto& down) { return down.reason.find(why) != std::string::npos; });
  }

  const std::string address = *manager.listen("127.0.0.1:0");
  net::test::Device stranger{loop, 's', impatient()};
};

TEST_F(StrangersTest, HaveABoundedShareOfTheLinksAndMembersGetIn) {
  call(40);
  stranger.until([&] { return ended("too many devices would like to join") >= 100; }, "that the oldest links give way");
  other.network->dial("a", address, std::nullopt);
  other.until([&] { return !connected.empty(); }, "a member's link");
  EXPECT_EQ(connected.front(), deviceOf('b').device);
}

// The one that asks at once is answered, however many others only stay.
TEST_F(StrangersTest, WhoAsksIsHeardAmongThem) {
  call(40);
  stranger.until([&] { return ended("too many devices would like to join") >= 40; }, "that the oldest links give way");
  net::test::Device joining(loop, 'j');
  joining.onUp = [&](const net::LinkInfo& info) {
    joining.network->send(info.id, clusterFrame(JoinRequest{"", "", "new", {}, {}}));
  };
  joining.network->dial("a", address, std::nullopt, std::string(net::kJoinPurpose));
  joining.until([&] { return !joining.frames.empty(); }, "an answer");
  ASSERT_EQ(enrolment.pending().size(), 1u);
  EXPECT_EQ(enrolment.pending().front().name, "new");
}

// Whoever comes up last is heard, also where it was accepted first: it has had no time to ask.
TEST_F(StrangersTest, WhoTookLongToComeUpIsHeardToo) {
  net::test::Proxy slow(address);
  slow.mute("\x16");  // what answers a handshake waits
  net::test::Device joining(loop, 'j', impatient());
  joining.onUp = [&](const net::LinkInfo& info) {
    joining.network->send(info.id, clusterFrame(JoinRequest{"", "", "new", {}, {}}));
  };
  joining.network->dial("a", slow.address(), std::nullopt, std::string(net::kJoinPurpose));
  joining.until([&] { return slow.carriedBytes() > 0; }, "a handshake under way");
  net::PeerNetworkOptions once;
  once.backoffFirstMs = once.backoffMostMs = 60'000;
  net::test::Device staying(loop, 't', once);
  for (int n = 0; n < 16; ++n)
    staying.network->dial(std::to_string(n), address, std::nullopt, std::string(net::kJoinPurpose));
  staying.until([&] { return staying.up.size() == 16; }, "as many as there may be");
  ASSERT_THAT(joining.up, IsEmpty()) << "it is accepted first, and comes up last";
  slow.heal();
  joining.until([&] { return !joining.frames.empty() || !joining.downs.empty(); }, "an answer");
  EXPECT_THAT(joining.frames, ::testing::SizeIs(1)) << joining.words();
  EXPECT_EQ(staying.up.size(), 15u);
}

TEST_F(StrangersTest, MayAskAFewTimesOnALink) {
  askEachTime(10, {"", "", "new", {}, {}});
  call(1);
  stranger.until([&] { return ended("too many requests to join") >= 1; }, "the end");
  EXPECT_EQ(stranger.frameCount % 4, 0u);
  EXPECT_GE(stranger.frameCount, 4u);
}

TEST_F(StrangersTest, DoNotFillTheLog) {
  askEachTime(5, {"0011", "2233", "new", {}, {}});
  call(8);
  stranger.until([&] { return stranger.frameCount >= 400; }, "many refusals");
  const auto said = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("no such invitation") != std::string::npos;
  });
  EXPECT_GE(said, 1);
  EXPECT_LE(said, 60) << "20 in 10 seconds";
}

TEST_F(StrangersTest, DoNotFillTheLogWithRefusedLinksEither) {
  net::test::Device revoked(loop, 'r', impatient());
  for (int n = 0; n < 8; ++n) revoked.network->dial(std::to_string(n), address, std::nullopt);
  revoked.until([&] { return manager.refusedLinks() >= 200; }, "many refusals");
  const auto said = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("refused a link") != std::string::npos;
  });
  EXPECT_GE(said, 1);
  EXPECT_LE(said, 60) << "20 in 10 seconds";
}

struct HurriedStrangersTest : StrangersTest {
  HurriedStrangersTest() : StrangersTest(1'000, 200) {}
};

TEST_F(HurriedStrangersTest, StayOnlyAsLongAsItTakesToAsk) {
  call(1);
  stranger.until([&] { return ended("the time for joining is over") >= 1; }, "the end");
}

// The other device as a relay: it offers a link with c, and carries the bytes of `end`, who may be c or not.
struct RelayedTest : PeerManagerTest {
  using PeerManagerTest::PeerManagerTest;
  template <class T>
  void say(const T& message) {
    other.network->send(other.last, clusterFrame(message));
  }
  void meet() {
    manager.dialAll();
    other.until([&] { return connected.size() == 1 && other.up.size() == 1; }, "a direct link");
  }
  void offer(net::test::Device& end, const std::string& as) {
    meet();
    bring(end, as);
  }
  void bring(net::test::Device& end, const std::string& as) {
    net::PipeEvents events;
    events.came = [this](std::string_view bytes) {
      TunnelData data;
      data.tunnel = number;
      data.bytes.assign(bytes.begin(), bytes.end());
      say(data);
      if (pipe) pipe->allow(kTunnelChunk);
    };
    pipe = *end.network->carry({"b", "to a", net::test::keyOf('a').publicKey()}, std::move(events));
    other.onFrame = [this](net::LinkId, std::string_view frame) {
      const auto type = static_cast<TunnelFrame>(frame[4]);
      TunnelData data;
      if (type == TunnelFrame::opened) pipe->allow(kTunnelChunk);
      if (type == TunnelFrame::data && pipe && readClusterFrame(frame, data).ok())
        pipe->deliver(std::string(data.bytes.begin(), data.bytes.end()));
      TunnelClose close;  // of what was offered; the manager may ask for a way by itself
      if (type != TunnelFrame::close || !readClusterFrame(frame, close).ok() || close.tunnel % 2 != number % 2) return;
      closed = close;
      pipe.reset();
    };
    TunnelOffer message;
    message.tunnel = number;
    message.device = as;
    say(message);
  }

  // What the manager asks its peer for from now on is refused.
  void refuse(TunnelWhy why, const std::string& reason) {
    other.onFrame = [this, why, reason](net::LinkId, std::string_view frame) {
      TunnelOpen open;
      if (static_cast<TunnelFrame>(frame[4]) != TunnelFrame::open || !readClusterFrame(frame, open).ok()) return;
      TunnelClose close;
      close.tunnel = open.tunnel, close.why = why, close.reason = reason;
      say(close);
    };
  }
  PeerStatus statusOf(char letter) const {
    for (PeerStatus& peer : manager.status())
      if (peer.device == deviceOf(letter).device) return std::move(peer);
    return {};
  }

  const std::uint64_t number = deviceOf('b').device < deviceOf('a').device ? 3 : 2;
  TunnelClose closed;
  std::unique_ptr<net::Pipe> pipe;
};

TEST_F(RelayedTest, ALinkThroughAnotherDeviceStandsAndADirectOneTakesItsPlace) {
  net::test::Device c(loop, 'c');
  offer(c, deviceOf('c').device);
  c.until([&] { return connected.size() == 2; }, "the link with c");
  EXPECT_EQ(connected.back(), deviceOf('c').device);
  for (const PeerStatus& peer : manager.status())
    EXPECT_EQ(peer.via, peer.device == deviceOf('c').device ? deviceOf('b').device : "");
  c.network->dial("a", *manager.listen("127.0.0.1:0"), std::nullopt);
  c.until([&] { return connected.size() == 3 && c.downs.size() == 1; }, "a direct link, and the end of the other");
  EXPECT_THAT(c.downs.front().reason, HasSubstr("another link took its place"));
  for (const PeerStatus& peer : manager.status()) EXPECT_EQ(peer.via, "");
}

// A path that lets the handshake pass and little more, as one with a smaller MTU than it says.
TEST_F(RelayedTest, ADirectPathThatSwallowsIsGoneAroundAndDoesNotComeBack) {
  net::test::Device c(loop, 'c');
  net::test::Proxy hole(*manager.listen("127.0.0.1:0"));
  hole.swallowAfter(9'000);
  meet();
  bool asked = false;
  other.onFrame = [&](net::LinkId, std::string_view frame) {
    asked = asked || static_cast<TunnelFrame>(frame[4]) == TunnelFrame::open;
  };
  c.network->dial("a", hole.address(), std::nullopt);
  c.until([&] { return statusOf('c').connected; }, "the direct link");
  asked = false;
  manager.send(deviceOf('c').device, net::test::frameOf(1, 3'000), false);
  c.until([&] { return asked; }, "that another way is looked for");
  bring(c, deviceOf('c').device);
  c.until([&] { return statusOf('c').via == deviceOf('b').device; }, "the way around");
  const std::size_t links = connected.size();
  const std::uint64_t calls = hole.accepted();
  c.until([&] { return hole.accepted() >= calls + 3; }, "more links through the hole");
  EXPECT_EQ(statusOf('c').via, deviceOf('b').device);
  EXPECT_EQ(connected.size(), links) << "none of them took its place";
}

// Another link in the same direction would begin the trial again, and the next dial of the first one again.
TEST_F(RelayedTest, TwoAddressesDoNotEndEachOthersTrialsForEver) {
  net::PeerNetworkOptions often;
  often.backoffMostMs = 400;  // a trial takes two seconds
  net::test::Device c(loop, 'c', often);
  const std::string address = *manager.listen("127.0.0.1:0");
  net::test::Proxy hole(address);
  hole.swallowAfter(9'000);
  meet();
  bool asked = false;
  c.network->dial("hole", hole.address(), std::nullopt);
  c.until([&] { return statusOf('c').connected; }, "the direct link");
  other.onFrame = [&](net::LinkId, std::string_view frame) {
    asked = asked || static_cast<TunnelFrame>(frame[4]) == TunnelFrame::open;
  };
  manager.send(deviceOf('c').device, net::test::frameOf(1, 3'000), false);
  c.until([&] { return asked; }, "that another way is looked for");
  c.network->undial("hole");
  bring(c, deviceOf('c').device);
  c.until([&] { return statusOf('c').via == deviceOf('b').device; }, "the way around");
  for (const char* name : {"one", "another"}) c.network->dial(name, address, std::nullopt);
  c.until([&] { return statusOf('c').connected && statusOf('c').via.empty(); }, "a direct link after its trial");
}

struct SlowlyNoticed : RelayedTest {
  SlowlyNoticed() : RelayedTest(6'000) {}
};

// The other end of a trial is gone without a word, and back before its end is noticed.
TEST_F(SlowlyNoticed, ATrialThatWentQuietHoldsUpNoOther) {
  net::PeerNetworkOptions often;
  often.backoffMostMs = 200;
  net::test::Device c(loop, 'c', often);
  const std::string address = *manager.listen("127.0.0.1:0");
  net::test::Proxy cable(address);
  offer(c, deviceOf('c').device);
  c.until([&] { return connected.size() == 2; }, "the link with c");
  net::LinkId lost = 0;
  c.onUp = [&](const net::LinkInfo& info) { lost = info.id; };
  c.network->dial("before", cable.address(), std::nullopt);
  const auto probed = [&] {
    const auto stats = c.network->stats(lost);
    return stats && stats->bytesIn > 9'000;
  };
  c.until(probed, "the padding that says that it is on trial");
  cable.swallow();
  c.network->undial("before");
  c.network->drop(lost);
  ASSERT_EQ(statusOf('c').via, deviceOf('b').device) << "it has not passed";
  c.network->dial("after", address, std::nullopt);
  c.until([&] { return statusOf('c').connected && statusOf('c').via.empty(); }, "a direct link after its trial");
  EXPECT_THAT(lines, Not(::testing::Contains(HasSubstr("a link on trial has ended"))))
      << "before the end of the first was noticed";
}

TEST_F(RelayedTest, WhatComesOverADirectLinkOnTrialEndsTheTrial) {
  net::test::Device c(loop, 'c');
  offer(c, deviceOf('c').device);
  c.until([&] { return connected.size() == 2; }, "the link with c");
  c.onUp = [&](const net::LinkInfo& info) {
    if (info.via.empty()) c.network->send(info.id, net::test::frameOf(1, 1));
  };
  c.network->dial("a", *manager.listen("127.0.0.1:0"), std::nullopt);
  c.until([&] { return received == 1; }, "the frame, over the link that c has chosen");
  EXPECT_EQ(connected.size(), 3u);
  EXPECT_EQ(statusOf('c').via, "");
}

TEST_F(RelayedTest, WhyThereIsNoWayIsShown) {
  refuse(TunnelWhy::doesNotCarry, "this device carries for nobody ([relay] carry)");
  meet();
  other.until([&] { return !statusOf('c').lastEnd.empty(); }, "the reason");
  EXPECT_EQ(statusOf('c').lastEnd, "no way through b: it carries for nobody");
  EXPECT_FALSE(statusOf('c').connected);
}

TEST_F(RelayedTest, ACarriedLinkEndsForTheReasonThatTheRelayGives) {
  net::test::Device c(loop, 'c');
  offer(c, deviceOf('c').device);
  c.until([&] { return connected.size() == 2; }, "the link with c");
  const std::string reason = "the link of the relay with c has ended: closed by the other end: shutting down";
  refuse(TunnelWhy::noLink, "");
  TunnelClose close;
  close.tunnel = number, close.why = TunnelWhy::linkEnded, close.reason = reason;
  say(close);
  c.until([&] { return !statusOf('c').connected; }, "the end");
  EXPECT_THAT(statusOf('c').lastEnd, HasSubstr(reason));
}

TEST_F(RelayedTest, WhoIsBroughtIsWhoItIsSaidToBe) {
  net::test::Device stranger(loop, 's');
  offer(stranger, deviceOf('c').device);
  stranger.until([&] { return stranger.loggedWith("was expected"); }, "a refusal");
  EXPECT_EQ(connected.size(), 1u);
}

TEST_F(RelayedTest, NobodyIsBroughtWhoIsNoMemberOrCut) {
  net::test::Device c(loop, 'c');
  manager.cut(deviceOf('c').device);
  offer(c, deviceOf('c').device);
  c.until([&] { return closed.tunnel != 0; }, "a refusal");
  EXPECT_EQ(closed.why, TunnelWhy::notWanted);
  EXPECT_EQ(closed.reason, "an operator has cut this link");
  TunnelOffer stranger;
  stranger.tunnel = number + 2, stranger.device = deviceOf('s').device;
  say(stranger);
  c.until([&] { return closed.tunnel == number + 2; }, "another");
  EXPECT_EQ(closed.reason, "no member of the cluster");
}

TEST_F(RelayedTest, AFrameOfATunnelThatNeverWasEndsTheLink) {
  manager.dialAll();
  other.until([&] { return connected.size() == 1 && other.up.size() == 1; }, "a direct link");
  TunnelData data;
  data.tunnel = 77, data.bytes = {1};
  say(data);
  other.until([&] { return !other.downs.empty(); }, "the end");
  EXPECT_THAT(other.downs.front().reason, HasSubstr("tunnel 77 was never opened"));
}

}  // namespace
}  // namespace witan::node::peer_manager_test
