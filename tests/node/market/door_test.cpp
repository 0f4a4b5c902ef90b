// The door of the market (node/market/market_door.h) against those who are not whom they say: two doors, and bare
// links, on one loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/frame.h"
#include "node/cluster/device_key.h"
#include "node/data_dir/replica_dir.h"
#include "node/market/market_door.h"
#include "node/market/market_revoked.h"
#include "tests/node/scratch.h"

namespace witan::node {
namespace {

using market::Letter;
using market::MarketIncident;
using market::Moment;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kPatienceMs = 20'000;

SigningKey keyOf(std::string_view name) { return SigningKey::fromSeed(asView(sha256(name))).value(); }

std::string passOf(const std::string& org, const SigningKey& device, const SigningKey& root, Moment until = {4'000}) {
  DevicePass pass;
  pass.org = org;
  pass.device = "device";
  pass.key = toHex(device.publicKey());
  pass.until = until;
  return market::sealedDocument(pass, {&root, 1});
}

// One organisation: its door, what it trusts, what came.
struct House {
  House(net::Loop& loop, const std::string& name, const SigningKey& root, Moment until = {4'000},
        const std::string& deviceName = "device of ")
      : log(
            LogLevel::error, false, [] { return Time{}; }, [](std::string_view) {}) {
    const SigningKey device = keyOf(deviceName + name);
    MarketDoor::Events events;
    events.now = [this] { return now; };
    events.roots = [this] { return roots; };
    events.isRevoked = [this](const PublicKey&, const PublicKey& key) { return revoked.contains(key); };
    events.awaitsEvidence = [this](const std::string&) { return awaits; };
    events.connected = [this](const std::string& org) { connected.push_back(org); };
    events.letter = [this](const Letter& letter) { letters.push_back(letter); };
    events.incident = [this](const MarketIncident& incident) { incidents.push_back(incident); };
    door = std::make_unique<MarketDoor>(loop, log, net::tlsIdentityOf(device, "device").value(), name,
                                        passOf(name, device, root, until), std::move(events));
  }
  market::Roots roots;
  std::set<PublicKey> revoked;
  Moment now{1'000};
  bool awaits = false;
  std::vector<std::string> connected;
  std::vector<Letter> letters;
  std::vector<MarketIncident> incidents;
  Log log;
  std::unique_ptr<MarketDoor> door;
};

class Doors : public ::testing::Test {
 protected:
  Doors() : lab_(loop_, "lab", keyOf("root of lab")) {
    lab_.roots["clinic"] = keyOf("root of clinic").publicKey();
    address_ = lab_.door->listen("127.0.0.1:0").value();
  }
  std::unique_ptr<House> dialling(const std::string& name, const SigningKey& root, Moment until = {4'000},
                                  const std::string& deviceName = "device of ") {
    auto house = std::make_unique<House>(loop_, name, root, until, deviceName);
    house->roots["lab"] = keyOf("root of lab").publicKey();
    house->door->dial("lab", address_);
    return house;
  }
  bool until(const std::function<bool()>& so) { return loop_.runUntil(so, kPatienceMs); }

  net::Loop loop_;
  House lab_;
  std::string address_;
};

TEST_F(Doors, TwoThatTrustEachOtherExchangeLetters) {
  const auto clinic = dialling("clinic", keyOf("root of clinic"));
  ASSERT_TRUE(until([&] { return !lab_.connected.empty() && !clinic->connected.empty(); }));
  EXPECT_THAT(lab_.connected, ElementsAre("clinic"));
  const std::string large(1 << 20, 'x');
  EXPECT_TRUE(clinic->door->send({"clinic", "lab", "1", "order", {{"text", large}}}));
  ASSERT_TRUE(until([&] { return !lab_.letters.empty(); }));
  EXPECT_EQ(lab_.letters[0].from, "clinic");
  EXPECT_EQ(lab_.letters[0].to, "lab");
  EXPECT_EQ(market::textOf(lab_.letters[0].body, "text"), large);
  EXPECT_TRUE(lab_.door->send({"lab", "clinic", "1", "answer", {}}));
  ASSERT_TRUE(until([&] { return !clinic->letters.empty(); }));
  EXPECT_FALSE(lab_.door->send({"lab", "notary", "2", "view", {}})) << "nobody of that name is connected";
}

TEST_F(Doors, AnotherRootThanTheTrustedOneIsRefusedAndOnRecord) {
  const auto other = dialling("clinic", keyOf("another root"));
  ASSERT_TRUE(until([&] { return !lab_.incidents.empty(); }));
  EXPECT_EQ(lab_.incidents[0].kind, "pass");
  EXPECT_EQ(lab_.incidents[0].org, "clinic");
  EXPECT_THAT(lab_.incidents[0].what, HasSubstr("another root"));
  EXPECT_THAT(lab_.connected, IsEmpty());
  EXPECT_FALSE(lab_.door->isConnected("clinic"));
}

// A stranger who knows a partner's name shows a new false pass each time.
TEST_F(Doors, APartnersNameUsedAgainAndAgainFillsNoRecords) {
  for (const char* root : {"one root", "another root", "a third root"}) {
    const auto other = dialling("clinic", keyOf(root));
    ASSERT_TRUE(until([&] { return !other->connected.empty(); })) << "it believes the laboratory";
    ASSERT_TRUE(until([&] { return !other->door->isConnected("lab"); }));
  }
  EXPECT_EQ(lab_.incidents.size(), 1u);
}

TEST_F(Doors, APassOfYesterdayIsRefused) {
  const auto late = dialling("clinic", keyOf("root of clinic"), Moment{999});
  ASSERT_TRUE(until([&] { return !late->connected.empty(); }));
  ASSERT_TRUE(until([&] { return !late->door->isConnected("lab"); }));
  EXPECT_THAT(lab_.connected, IsEmpty());
  EXPECT_THAT(lab_.incidents, IsEmpty()) << "one of the clocks is wrong, which is nobody's lie";
}

// Reading costs more than sending.
TEST_F(Doors, ALargeLetterIsReadWhereEvidenceIsAwaitedAndNowAndThen) {
  const auto clinic = dialling("clinic", keyOf("root of clinic"));
  const auto connected = [&] { return lab_.door->isConnected("clinic") && clinic->door->isConnected("lab"); };
  ASSERT_TRUE(until(connected));
  const std::string large(3 << 20, 'x');
  ASSERT_TRUE(clinic->door->send({"clinic", "lab", "1", "view", {{"text", large}}}));
  ASSERT_TRUE(until([&] { return lab_.connected.size() == 2; })) << "the link has ended, and it dials again";
  EXPECT_THAT(lab_.letters, IsEmpty());
  lab_.awaits = true;
  ASSERT_TRUE(until(connected));
  for (const char* id : {"2", "3"})
    ASSERT_TRUE(clinic->door->send({"clinic", "lab", id, "evidence", {{"text", large}}}));
  for (int n = 0; n < 6; ++n)
    ASSERT_TRUE(clinic->door->send({"clinic", "lab", "4", "order", {{"text", std::string(1'000'000, 'x')}}}));
  ASSERT_TRUE(clinic->door->send({"clinic", "lab", "5", "view", {}}));
  ASSERT_TRUE(until([&] { return !lab_.letters.empty() && lab_.letters.back().id == "5"; }));
  const auto count = [&](const char* id) { return std::ranges::count(lab_.letters, std::string(id), &Letter::id); };
  EXPECT_EQ(count("2"), 1);
  EXPECT_LE(count("2") + count("3"), 2);
  EXPECT_GE(count("4"), 4);
}

// Trust that has ended, and a pass that has, cut a link that is up.
TEST_F(Doors, ALinkEndsWithItsRootAndItsPass) {
  const auto clinic = dialling("clinic", keyOf("root of clinic"));
  ASSERT_TRUE(until([&] { return lab_.door->isConnected("clinic"); }));
  lab_.door->keepTo(lab_.roots);
  EXPECT_TRUE(lab_.door->isConnected("clinic"));
  lab_.now = {4'000};
  lab_.door->keepTo(lab_.roots);
  ASSERT_TRUE(until([&] { return !lab_.door->isConnected("clinic"); })) << "its pass has ended";
  lab_.now = {1'000};
  ASSERT_TRUE(until([&] { return lab_.door->isConnected("clinic"); })) << "it dials again";
  lab_.door->keepTo({{"clinic", keyOf("another root").publicKey()}});
  ASSERT_TRUE(until([&] { return !lab_.door->isConnected("clinic"); }));
  lab_.roots.clear();
  ASSERT_TRUE(until([&] { return lab_.connected.size() >= 2; }));
  lab_.door->keepTo({});
  ASSERT_TRUE(until([&] { return !lab_.door->isConnected("clinic"); }));
}

TEST_F(Doors, ANewerPassKeepsALinkUp) {
  const auto clinic = dialling("clinic", keyOf("root of clinic"));
  ASSERT_TRUE(until([&] { return lab_.door->isConnected("clinic") && clinic->door->isConnected("lab"); }));
  clinic->door->show(passOf("clinic", keyOf("device of clinic"), keyOf("root of clinic"), {9'000}));
  ASSERT_TRUE(clinic->door->send({"clinic", "lab", "1", "view", {}}));
  ASSERT_TRUE(until([&] { return !lab_.letters.empty(); }));
  lab_.now = {5'000};
  lab_.door->keepTo(lab_.roots);
  ASSERT_TRUE(clinic->door->send({"clinic", "lab", "2", "view", {}}));
  ASSERT_TRUE(until([&] { return lab_.letters.size() == 2; }));
  EXPECT_EQ(lab_.connected.size(), 1u) << "it is the same link";
  clinic->door->show(passOf("evil", keyOf("device of clinic"), keyOf("root of clinic"), {9'000}));
  ASSERT_TRUE(until([&] { return !lab_.door->isConnected("clinic"); })) << "of another organisation";
}

// A device that lost its say may have a pass for days: it comes again and again.
TEST_F(Doors, LinksOfAnotherDeviceDisplaceNobodyAndTellOfRevocationsAlone) {
  const auto clinic = dialling("clinic", keyOf("root of clinic"));
  ASSERT_TRUE(until([&] { return lab_.door->isConnected("clinic") && clinic->door->isConnected("lab"); }));
  std::vector<std::unique_ptr<House>> others;
  for (int n = 0; n < 6; ++n) {
    others.push_back(dialling("clinic", keyOf("root of clinic"), {4'000}, "another device of "));
    ASSERT_TRUE(until([&] { return !others.back()->connected.empty(); }));
  }
  House& other = *others.back();
  ASSERT_TRUE(other.door->send({"clinic", "lab", "1", "view", {}}));
  ASSERT_TRUE(other.door->send({"clinic", "lab", "2", std::string(kRevokedLetter), {}}));
  ASSERT_TRUE(until([&] { return !lab_.letters.empty() && !other.letters.empty(); }));
  EXPECT_EQ(lab_.letters.size(), 1u) << "of one that waits nothing else is heard";
  EXPECT_EQ(lab_.letters[0].id, "2");
  EXPECT_TRUE(other.letters[0].body.contains("busy"));
  ASSERT_TRUE(lab_.door->send({"lab", "clinic", "3", "answer", {}}));
  ASSERT_TRUE(until([&] { return !clinic->letters.empty(); })) << "letters go to the one that speaks";
  EXPECT_THAT(lab_.connected, ElementsAre("clinic"));
  // Its turn comes when the first one is gone.
  clinic->door->close();
  ASSERT_TRUE(until([&] { return lab_.connected.size() == 2; }));
  ASSERT_TRUE(until([&] { return other.door->isConnected("lab"); }));
  ASSERT_TRUE(other.door->send({"clinic", "lab", "4", "order", {{"text", std::string(1'000'000, 'x')}}}));
  ASSERT_TRUE(until([&] { return lab_.letters.size() == 2; }));
  EXPECT_EQ(lab_.letters[1].id, "4");
}

TEST_F(Doors, ARevokedDeviceIsCutOffAndItsOrganisationIsNotAccused) {
  const auto clinic = dialling("clinic", keyOf("root of clinic"));
  const auto honest = dialling("clinic", keyOf("root of clinic"), {4'000}, "another device of ");
  ASSERT_TRUE(until([&] { return lab_.door->isConnected("clinic") && !honest->connected.empty(); }));
  lab_.revoked = {keyOf("device of clinic").publicKey()};
  lab_.door->keepTo(lab_.roots);
  ASSERT_TRUE(until([&] { return !clinic->door->isConnected("lab"); }));
  const std::size_t dialled = clinic->connected.size();
  ASSERT_TRUE(until([&] { return clinic->connected.size() > dialled && !clinic->door->isConnected("lab"); }))
      << "it dials again, and is refused";
  ASSERT_TRUE(honest->door->send({"clinic", "lab", "1", "view", {}}));
  ASSERT_TRUE(until([&] { return !lab_.letters.empty(); }));
  EXPECT_EQ(lab_.letters[0].id, "1");
  EXPECT_THAT(lab_.incidents, IsEmpty());
}

TEST_F(Doors, AStrangerFillsNoRecords) {
  const auto stranger = dialling("evil", keyOf("root of evil"));
  // The stranger learns why when the link has ended; it dials again, and is refused again.
  ASSERT_TRUE(until([&] { return !stranger->connected.empty(); })) << "it believes the laboratory";
  ASSERT_TRUE(until([&] { return !stranger->door->isConnected("lab"); }));
  EXPECT_THAT(lab_.incidents, IsEmpty());
  EXPECT_THAT(lab_.connected, IsEmpty());
}

// Links without a door behind them.
class Bare : public Doors {
 protected:
  net::LinkId connect() {
    net::PeerEvents events;
    events.up = [this](const net::LinkInfo& info) { up_ = info.id; };
    events.down = [this](net::LinkId, std::string_view reason) { ended_ = std::string(reason); };
    net::PeerNetworkOptions options;
    options.purposes = {std::string(kMarketPurpose)};
    key_ = keyOf("bare");
    network_ = std::make_unique<net::PeerNetwork>(loop_, net::tlsIdentityOf(key_, "bare").value(), options, events);
    network_->dial("lab", address_, std::nullopt, std::string(kMarketPurpose));
    EXPECT_TRUE(until([&] { return up_ != 0; }));
    return up_;
  }
  static std::string frame(std::uint8_t type, std::string text) {
    text.resize((text.size() + 7) / 8 * 8, ' ');
    std::string bytes;
    appendFrame(bytes, type, 1, text);
    return bytes;
  }
  SigningKey key_ = keyOf("bare");
  net::LinkId up_ = 0;
  std::string ended_;
  std::unique_ptr<net::PeerNetwork> network_;
};

constexpr std::uint8_t kPass = 80, kLetter = 81;

// Strangers from one place, as many as there are: a partner still comes in.
TEST_F(Bare, StrangersGiveWayToPartners) {
  connect();
  for (int n = 0; n < 60; ++n) network_->dial(concat("lab", n), address_, std::nullopt, std::string(kMarketPurpose));
  ASSERT_TRUE(until([&] { return !ended_.empty(); }));
  EXPECT_THAT(ended_, HasSubstr("too many links without a pass"));
  const auto clinic = dialling("clinic", keyOf("root of clinic"));
  ASSERT_TRUE(until([&] { return lab_.door->isConnected("clinic") && clinic->door->isConnected("lab"); }));
}

TEST_F(Bare, ALetterBeforeThePassEndsTheLink) {
  const net::LinkId link = connect();
  network_->send(link, frame(kLetter, R"({"body":{},"id":"1","kind":"view"})"));
  ASSERT_TRUE(until([&] { return !ended_.empty(); }));
  EXPECT_THAT(ended_, HasSubstr("before the pass"));
  EXPECT_THAT(lab_.letters, IsEmpty());
}

TEST_F(Bare, NothingLargeIsReadBeforeThePass) {
  const net::LinkId link = connect();
  network_->send(link, frame(kPass, std::string(70'000, ' ')));
  ASSERT_TRUE(until([&] { return !ended_.empty(); }));
  EXPECT_THAT(lab_.connected, IsEmpty());
}

TEST_F(Bare, FramesThatAreNoJsonOrOfReplicationEndTheLink) {
  const net::LinkId link = connect();
  network_->send(link, frame(1, "replicate"));
  ASSERT_TRUE(until([&] { return !ended_.empty(); }));
  ended_.clear(), up_ = 0;
  ASSERT_TRUE(until([&] { return up_ != 0; })) << "it dials again";
  network_->send(up_, frame(kPass, "{\"no\":"));
  ASSERT_TRUE(until([&] { return !ended_.empty(); }));
  EXPECT_THAT(ended_, HasSubstr("no JSON"));
}

TEST_F(Bare, ThePassOfAnotherKeyIsRefused) {
  const net::LinkId link = connect();
  network_->send(link, frame(kPass, passOf("clinic", keyOf("device of clinic"), keyOf("root of clinic"))));
  ASSERT_TRUE(until([&] { return !ended_.empty(); }));
  EXPECT_THAT(ended_, HasSubstr("another key than the link's"));
  ASSERT_EQ(lab_.incidents.size(), 1u);
}

TEST_F(Bare, AFloodIsNotRead) {
  const net::LinkId link = connect();
  network_->send(link, frame(kPass, passOf("clinic", key_, keyOf("root of clinic"))));
  ASSERT_TRUE(until([&] { return !lab_.connected.empty(); }));
  std::string many;
  for (int n = 0; n < 5'000; ++n) many += frame(kLetter, R"({"body":{},"id":"1","kind":"view"})");
  many += frame(1, "the end");  // of no type that is known: the link ends when all before it was seen
  network_->send(link, std::move(many));
  ASSERT_TRUE(until([&] { return !ended_.empty(); }));
  // They are counted by the second, and this took at most some of them.
  EXPECT_GE(lab_.letters.size(), std::size_t(kLettersPerSecond));
  EXPECT_LT(lab_.letters.size(), 5'000u);
}

// So that what is looked at costs little.
TEST_F(Bare, AFloodOfListsIsNotRead) {
  const net::LinkId link = connect();
  network_->send(link, frame(kPass, passOf("clinic", key_, keyOf("root of clinic"))));
  ASSERT_TRUE(until([&] { return !lab_.connected.empty(); }));
  std::string many;
  for (int n = 0; n < 150; ++n) many += frame(kLetter, R"({"body":{},"id":"1","kind":"revoked"})");
  network_->send(link, many + frame(kLetter, R"({"body":{},"id":"2","kind":"view"})"));
  ASSERT_TRUE(until([&] { return !lab_.letters.empty() && lab_.letters.back().id == "2"; }));
  EXPECT_GE(lab_.letters.size(), std::size_t(kLettersOfAWaiting));
  EXPECT_LT(lab_.letters.size(), 150u);
}

// ---- lists of revoked devices

class Revoked : public ::testing::Test {
 protected:
  static MarketEnrolment enrolled(int device) {
    const auto hexOf = [&](const char* of) -> market::Hex { return toHex(keyOf(concat(of, device)).publicKey()); };
    return {{}, "clinic", "device", hexOf("device "), hexOf("contract "), hexOf("evidence "), hexOf("card ")};
  }
  // The list `before` with one more.
  static json::value with(const json::value& before, int device, Moment now, const SigningKey& root) {
    return market::valueOf(withRevoked(before, {enrolled(device)}, root, now).value());
  }
  bool has(int device, const char* key = "device ") const {
    return book_.has(root_.publicKey(), keyOf(concat(key, device)).publicKey());
  }

  const SigningKey root_ = keyOf("root of clinic");
  const market::Roots roots_{{"clinic", root_.publicKey()}};
  RevokedBook book_;
};

TEST_F(Revoked, OnlyALaterListOfTheTrustedRootCounts) {
  const json::value first = with({}, 1, {1'000}, root_), second = with(first, 2, {1'000}, root_);
  EXPECT_EQ(book_.take(first, {}, {1}), nullptr) << "nobody is trusted";
  EXPECT_EQ(book_.take(with({}, 1, {9'000}, keyOf("another root")), roots_, {1}), nullptr);
  EXPECT_EQ(book_.take(market::valueOf(passOf("clinic", keyOf("device"), root_)), roots_, {1}), nullptr);
  ASSERT_NE(book_.take(second, roots_, {1}), nullptr);
  EXPECT_TRUE(has(1) && has(2) && has(1, "contract ") && has(1, "evidence ") && has(2, "card "));
  EXPECT_FALSE(has(3));
  EXPECT_EQ(book_.take(first, roots_, {1}), nullptr) << "it is an earlier one";
  EXPECT_EQ(book_.take(second, roots_, {1}), nullptr) << "it is known";
  EXPECT_TRUE(has(2));
  EXPECT_FALSE(book_.has(keyOf("another root").publicKey(), keyOf("device 1").publicKey()));
  // A root that was brought back from a backup, or whose clock was set back.
  ASSERT_NE(book_.take(with({}, 3, {5'000}, root_), roots_, {1}), nullptr);
  EXPECT_EQ(withRevoked(second, {enrolled(1), enrolled(2)}, root_, {9'000}), std::nullopt) << "they stand in it";
}

TEST_F(Revoked, AListStaysSmallAndForgetsWhatHasNoPassAnyMore) {
  json::value list;
  for (int n = 0; n < int(kMostRevoked) + 20; ++n) list = with(list, n, {1'000 + n}, root_);
  ASSERT_NE(book_.take(list, roots_, {1}), nullptr);
  EXPECT_EQ(book_.byRoot().begin()->second.keys.size(), kMostRevoked);
  EXPECT_LT(book_.byRoot().begin()->second.envelope.size(), market::kMostEnvelopeBytes - 4'096);
  EXPECT_TRUE(!has(0) && has(kMostRevoked + 19)) << "devices go before what they sign with";
  ASSERT_NE(book_.take(with(list, 999, {1'000 + 40 * kDaySeconds}, root_), roots_, {1}), nullptr);
  EXPECT_TRUE(has(999) && has(999, "contract ") && !has(kMostRevoked + 19));
}

// Each list is stored, and told to others.
TEST_F(Revoked, ARootThatRevokesAllTheTimeIsHeardNowAndThen) {
  json::value list;
  for (int n = 0; n < kListsAMinute; ++n)
    ASSERT_NE(book_.take(list = with(list, n, {1'000}, root_), roots_, {5}), nullptr);
  list = with(list, 99, {1'000}, root_);
  EXPECT_EQ(book_.take(list, roots_, {64}), nullptr);
  EXPECT_TRUE(has(kListsAMinute - 1) && !has(99));
  EXPECT_NE(book_.take(list, roots_, {65}), nullptr);
  EXPECT_NE(book_.take(with(list, 100, {1'000}, root_), roots_, {3}), nullptr) << "the clock was set back";
}

// ---- a device of the organisation that does not hold its root

class MarketIdentities : public ::testing::Test {
 protected:
  MarketIdentities() {
    for (const char* name : {"begun", "serving", "other"}) EXPECT_TRUE(makeFolder(dir(name)).ok());
    root_ = createKey(dir("begun"), KeyName::admin).value().publicKey();
    device_ = createKey(dir("serving"), KeyName::device).value();
    key_ = device_.publicKey();
    RosterDevice device;
    device.device = deviceIdOf(key_);
    device.keys = {toHex(key_)};
    roster_.devices = {device};
  }
  std::filesystem::path dir(const std::string& name) const { return scratch_ / name; }
  MarketOrigin origin(const std::string& org = "lab") const { return {org, "cluster", deviceIdOf(key_), key_, root_}; }
  Result<MarketLicence> granted(const std::string& asked) const {
    return grantInMarket(dir("begun"), market::valueOf(asked), roster_, kNow);
  }
  std::string enrol(const std::string& org = "lab") const {
    return enrolInMarket(dir("serving"), origin(org), device_).value();
  }
  static MarketEnrolment askedIn(const std::string& envelope) {
    return market::openEnvelope<MarketEnrolment>(market::valueOf(envelope)).value().document;
  }
  static std::string why(const Status& status) { return status.ok() ? "" : status.error().message; }

  static constexpr Moment kNow{1'800'000'000};
  const test::Scratch scratch_;
  SigningKey device_ = keyOf("none");
  PublicKey root_{}, key_{};
  Roster roster_;
};

TEST_F(MarketIdentities, ADeviceSpeaksByTheWordOfTheRootAndKeepsItsKeys) {
  EXPECT_THAT(why(openMarketIdentity(dir("serving"), origin(), kNow).error()), HasSubstr("holds no root"));
  const std::string asked = enrol();
  const auto licence = granted(asked);
  ASSERT_TRUE(licence.ok()) << licence.error().message;
  ASSERT_EQ(why(takeLicence(dir("serving"), origin(), *licence, kNow)), "");
  const auto identity = openMarketIdentity(dir("serving"), origin(), kNow);
  ASSERT_TRUE(identity.ok()) << identity.error().message;
  const auto pass = market::openEnvelope<DevicePass>(market::valueOf(identity->pass));
  ASSERT_TRUE(pass.ok());
  EXPECT_TRUE(market::isSignedBy(pass->text, root_));
  EXPECT_EQ(toHex(identity->contract.publicKey()), askedIn(asked).contract);
  EXPECT_EQ(identity->root, root_);
  EXPECT_EQ(enrol(), asked) << "asked again it has the same keys";
  // A week later it must ask again, and so must one whose key was replaced.
  const Moment later{kNow.seconds + 8 * kDaySeconds};
  EXPECT_THAT(why(openMarketIdentity(dir("serving"), origin(), later).error()), HasSubstr("its time is over"));
  EXPECT_EQ(*renewedPass(dir("serving"), origin(), identity->pass, kNow), identity->pass);
  EXPECT_FALSE(renewedPass(dir("serving"), origin(), identity->pass, later).ok());
  const auto next = grantInMarket(dir("begun"), market::valueOf(asked), roster_, later);
  ASSERT_EQ(why(takeLicence(dir("serving"), origin(), *next, later)), "");
  EXPECT_EQ(*renewedPass(dir("serving"), origin(), identity->pass, later), canonicalJson(next->pass))
      << "a word that comes while the node is up counts";
  MarketOrigin replaced = origin();
  replaced.deviceKey = keyOf("a newer key").publicKey();
  EXPECT_THAT(why(openMarketIdentity(dir("serving"), replaced, kNow).error()), HasSubstr("another device or key"));
}

TEST_F(MarketIdentities, NoOtherWordCounts) {
  const std::string asked = enrol();
  const auto signedBy = [](const MarketEnrolment& wish, const SigningKey& key) {
    return market::sealedDocument(wish, {&key, 1});
  };
  MarketEnrolment stranger = askedIn(asked);
  stranger.device = "0123";
  EXPECT_THAT(why(granted(signedBy(stranger, device_)).error()), HasSubstr("not in the roster"));
  stranger = askedIn(asked);
  stranger.key = toHex(keyOf("another").publicKey());
  EXPECT_THAT(why(granted(signedBy(stranger, device_)).error()), HasSubstr("not in the roster"));
  EXPECT_THAT(why(granted(signedBy(askedIn(asked), keyOf("another"))).error()), HasSubstr("not signed by its device"));
  EXPECT_THAT(why(grantInMarket(dir("other"), market::valueOf(asked), roster_, kNow).error()),
              HasSubstr("holds no root"));

  const MarketLicence licence = granted(asked).value();
  EXPECT_THAT(why(granted(enrol("clinic")).error()), HasSubstr("this root speaks for \"lab\""));
  EXPECT_THAT(why(takeLicence(dir("serving"), origin("clinic"), licence, kNow)), HasSubstr("for \"lab\""));
  EXPECT_THAT(why(takeLicence(dir("other"), origin(), licence, kNow)), HasSubstr("grants no key"));
  MarketOrigin elsewhere = origin();
  elsewhere.root = keyOf("another root").publicKey();
  EXPECT_THAT(why(takeLicence(dir("serving"), elsewhere, licence, kNow)), HasSubstr("another root"));
  MarketLicence less = licence;
  less.grants.pop_back();
  EXPECT_THAT(why(takeLicence(dir("serving"), origin(), less, kNow)), HasSubstr("grants no key for card"));
  EXPECT_FALSE(openMarketIdentity(dir("serving"), origin(), kNow).ok()) << "nothing of it was kept";
}

}  // namespace
}  // namespace witan::node
