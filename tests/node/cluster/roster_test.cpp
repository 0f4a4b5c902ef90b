// Who belongs to a cluster: the signed roster, the token of an invitation, and the desk that admits.
#include "node/cluster/roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "base/bytes.h"
#include "node/cluster/cluster.capnp.h"
#include "node/cluster/device_key.h"
#include "node/enrolment/enrolment_service.h"
#include "node/enrolment/joining.h"
#include "tests/node/scratch.h"
#include "tests/same_layout.h"

namespace witan::node::roster_test {
namespace {

using test::Scratch;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Time kNow{1'700'000'000'000'000};

const std::vector<std::string> kEvery{"ledger", "*"};

SigningKey keyOf(unsigned char seed) { return *SigningKey::fromSeed(std::string(32, static_cast<char>(seed))); }

RosterDevice deviceWith(const SigningKey& key, const std::string& name) {
  RosterDevice device;
  device.device = deviceIdOf(key.publicKey());
  device.name = name;
  device.keys = {toHex(key.publicKey())};
  device.roles = {"ledger", "*"};
  device.since = kNow;
  return device;
}

Roster rosterOf(const SigningKey& admin, std::vector<RosterDevice> devices) {
  std::sort(devices.begin(), devices.end(), [](const auto& a, const auto& b) { return a.device < b.device; });
  return {clusterIdOf(admin.publicKey()), 1, std::move(devices)};
}

TEST(ClusterMessages, SchemaAndStructsHaveOneLayout) {
  using witan::layout::expectSameLayout;
  expectSameLayout<wire::RosterMessage, RosterMessage>();
  expectSameLayout<wire::JoinRequest, JoinRequest>();
  expectSameLayout<wire::JoinAnswer, JoinAnswer>();
  expectSameLayout<wire::SlicePlace, SlicePlace>();
  expectSameLayout<wire::SliceHave, SliceHave>();
  expectSameLayout<wire::Slice, Slice>();
  expectSameLayout<wire::SliceUpTo, SliceUpTo>();
  expectSameLayout<wire::RotateKey, RotateKey>();
  expectSameLayout<wire::EntryAsk, EntryAsk>();
  expectSameLayout<wire::EntryTold, EntryTold>();
}

TEST(Roster, PersonsAreNamedWithKeysAndRevoked) {
  const SigningKey admin = keyOf(1);
  Roster roster = rosterOf(admin, {deviceWith(keyOf(2), "laptop")});
  EXPECT_THAT(*signRoster(roster, admin), Not(HasSubstr("persons"))) << "as before there were any";
  const std::vector<std::string> lead{"moderation.counselor"}, judge{"moderation.judge"};
  ASSERT_TRUE(addPerson(roster, "human.lead", keyOf(4).publicKey(), lead, kNow).ok());
  ASSERT_TRUE(addPerson(roster, "ann", keyOf(5).publicKey(), lead, kNow).ok());
  ASSERT_TRUE(addPerson(roster, "human.lead", keyOf(6).publicKey(), lead, kNow).ok()) << "the key was lost";
  const auto read = readRoster(*signRoster(roster, admin), admin.publicKey());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, roster);
  const RosterPerson* person = read->person("human.lead");
  ASSERT_NE(person, nullptr);
  EXPECT_THAT(person->keys, ::testing::ElementsAre(toHex(keyOf(4).publicKey()), toHex(keyOf(6).publicKey())));
  EXPECT_TRUE(person->mayAnswer("moderation"));
  EXPECT_FALSE(person->mayAnswer("udt"));
  Roster bad = roster;
  EXPECT_THAT(addPerson(bad, "eve", keyOf(7).publicKey(), judge, kNow).error().message,
              HasSubstr("no role of a person"));
  bad = roster;
  EXPECT_THAT(addPerson(bad, "eve", keyOf(4).publicKey(), lead, kNow).error().message, HasSubstr("is another's too"));
  bad = roster;
  EXPECT_THAT(addPerson(bad, "eve", keyOf(2).publicKey(), lead, kNow).error().message, HasSubstr("is another's too"));
  ASSERT_TRUE(revokePerson(roster, "human.lead", "left").ok());
  EXPECT_FALSE(roster.person("human.lead")->mayAnswer("moderation"));
  EXPECT_EQ(revokePerson(roster, "human.lead", "left").error().code, ErrorCode::conflict);
  EXPECT_EQ(revokePerson(roster, "nobody", "left").error().code, ErrorCode::notFound);
}

TEST(Roster, WhoKeepsALedgerFollowsFromTheMomentOfAdmission) {
  std::vector<RosterDevice> devices;
  for (unsigned char seed = 2; seed < 8; ++seed) devices.push_back(deviceWith(keyOf(seed), concat("d", int{seed})));
  Roster roster = rosterOf(keyOf(1), devices);
  ASSERT_TRUE(setCopies(roster, "budget", 2).ok());
  const std::string& id = roster.devices.front().device;
  std::set<bool> kept;
  for (int n = 0; n < 40; ++n) {
    roster.devices.front().since.micros += 1'000;
    kept.insert(placementOf(roster).keeps(id, "budget/0"));
  }
  EXPECT_EQ(kept.size(), 2u);
}

TEST(Roster, SaysHowManyCopiesOfADomainThereAreAndWhere) {
  const SigningKey admin = keyOf(1);
  std::vector<RosterDevice> devices;
  for (unsigned char seed = 2; seed < 8; ++seed) devices.push_back(deviceWith(keyOf(seed), concat("d", int{seed})));
  devices[0].roles = {"*"};
  devices[1].state = DeviceState::revoked;
  for (std::size_t n = 2; n < 6; ++n) devices[n].site = std::string(n < 4 ? "berlin" : "rome");
  Roster roster = rosterOf(admin, devices);
  EXPECT_FALSE(placementOf(roster).partial("budget/0"));
  EXPECT_THAT(*signRoster(rosterOf(admin, {deviceWith(keyOf(2), "a")}), admin),
              Not(::testing::AnyOf(HasSubstr("copies"), HasSubstr("site"))))
      << "as before there were any";
  ASSERT_TRUE(setCopies(roster, "udt", 3).ok());
  ASSERT_TRUE(setCopies(roster, "budget", 2).ok());
  const auto read = readRoster(*signRoster(roster, admin), admin.publicKey());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, roster);
  const Placement placement = placementOf(*read);
  EXPECT_EQ(placement.version(), read->version);
  for (int n = 0; n < 20; ++n) {
    const auto& keepers = placement.keepers(concat("budget/", n));
    ASSERT_EQ(keepers.size(), 2u);
    EXPECT_NE(read->find(keepers[0])->site.value_or(""), read->find(keepers[1])->site.value_or(""));
    for (const std::string& keeper : keepers)
      EXPECT_TRUE(read->member(keeper) != nullptr && read->member(keeper)->keepsLedgers());
  }
  ASSERT_TRUE(setCopies(roster, "budget", 0).ok());
  EXPECT_FALSE(placementOf(roster).partial("budget/0"));
  EXPECT_TRUE(placementOf(roster).partial("udt/0"));
  ASSERT_TRUE(setCopies(roster, "udt", 0).ok());
  EXPECT_FALSE(roster.copies.has_value());
}

TEST(Roster, HasNoSingleCopiesAndNoneOfWhatMustBeEverywhere) {
  const SigningKey admin = keyOf(1);
  Roster roster = rosterOf(admin, {deviceWith(keyOf(2), "laptop")});
  EXPECT_EQ(setCopies(roster, "budget", 1).error().code, ErrorCode::invalidInput);
  EXPECT_EQ(setCopies(roster, "graph", 3).error().code, ErrorCode::invalidInput);
  for (const auto& bad : std::vector<std::vector<DomainCopies>>{{{"budget", 1}},
                                                                {{"udt", 2}, {"budget", 2}},
                                                                {{"budget", 2}, {"budget", 3}},
                                                                {{"", 2}},
                                                                {{"budget", 9'999}}}) {
    roster.copies = bad;
    EXPECT_EQ(checkRoster(roster).error().code, ErrorCode::invalidInput) << toJson(bad);
  }
  roster.copies.reset();
  roster.devices.front().site = std::string("two words");
  EXPECT_EQ(checkRoster(roster).error().code, ErrorCode::invalidInput);
}

TEST(Roster, SaysWhatCopiesOfADomainKeepAndHowManyKeepAll) {
  const SigningKey admin = keyOf(1);
  std::vector<RosterDevice> devices;
  for (unsigned char seed = 2; seed < 8; ++seed) devices.push_back(deviceWith(keyOf(seed), concat("d", int{seed})));
  devices[0].roles = {"*"};
  Roster roster = rosterOf(admin, devices);
  EXPECT_EQ(placementOf(roster).retention("budget/0"), nullptr);
  EXPECT_THAT(*signRoster(roster, admin), Not(HasSubstr("retention"))) << "as before there was any";
  ASSERT_TRUE(setRetention(roster, {"udt", 3, 0, 30}).ok());
  ASSERT_TRUE(setRetention(roster, {"budget", 2, 100, 0}).ok());
  const auto read = readRoster(*signRoster(roster, admin), admin.publicKey());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, roster);
  const Placement placement = placementOf(*read);
  EXPECT_EQ(placement.version(), read->version);
  EXPECT_FALSE(placement.partial("udt/0")) << "all keep a copy";
  ASSERT_NE(placement.retention("udt/0"), nullptr);
  EXPECT_EQ(*placement.retention("udt/0"), (DomainRetention{"udt", 3, 0, 30}));
  ASSERT_EQ(placement.whole("udt/0").size(), 3u);
  for (const std::string& keeper : placement.whole("udt/0"))
    EXPECT_TRUE(read->member(keeper) != nullptr && read->member(keeper)->keepsLedgers());
  ASSERT_TRUE(setRetention(roster, {"budget", 2, 7, 7}).ok()) << "the last word counts";
  EXPECT_EQ(roster.retention->front(), (DomainRetention{"budget", 2, 7, 7}));
  ASSERT_TRUE(setRetention(roster, {"budget"}).ok());
  EXPECT_EQ(placementOf(roster).retention("budget/0"), nullptr);
  ASSERT_TRUE(setRetention(roster, {"udt"}).ok());
  EXPECT_FALSE(roster.retention.has_value());
}

TEST(Roster, HasNoRetentionThatLosesEntries) {
  Roster roster = rosterOf(keyOf(1), {deviceWith(keyOf(2), "laptop")});
  EXPECT_EQ(setRetention(roster, {"budget", 1, 100, 0}).error().code, ErrorCode::invalidInput);
  EXPECT_EQ(setRetention(roster, {"graph", 2, 100, 0}).error().code, ErrorCode::invalidInput);
  for (const auto& bad : std::vector<std::vector<DomainRetention>>{{{"budget", 1, 100, 0}},
                                                                   {{"budget", 2, 0, 0}},
                                                                   {{"budget", 2, 0, 36'501}},
                                                                   {{"budget", 9'999, 1, 0}},
                                                                   {{"udt", 2, 1, 0}, {"budget", 2, 1, 0}},
                                                                   {{"budget", 2, 1, 0}, {"budget", 2, 2, 0}},
                                                                   {{"", 2, 1, 0}}}) {
    roster.retention = bad;
    EXPECT_EQ(checkRoster(roster).error().code, ErrorCode::invalidInput) << toJson(bad);
  }
}

TEST(Roster, NoPersonIsCalledAsTheProgramAnswers) {
  Roster roster = rosterOf(keyOf(1), {deviceWith(keyOf(2), "first")});
  const std::vector<std::string> roles{"udt.counselor"};
  EXPECT_EQ(addPerson(roster, "system", keyOf(4).publicKey(), roles, kNow).error().code, ErrorCode::invalidInput);
  EXPECT_TRUE(addPerson(roster, "system2", keyOf(4).publicKey(), roles, kNow).ok());
}

TEST(Roster, ASignedOneReadsBack) {
  const SigningKey admin = keyOf(1);
  const Roster roster = rosterOf(admin, {deviceWith(keyOf(2), "laptop"), deviceWith(keyOf(3), "phone")});
  const auto document = signRoster(roster, admin);
  ASSERT_TRUE(document.ok()) << document.error().message;
  const auto read = readRoster(*document, admin.publicKey());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, roster);
  EXPECT_EQ(read->byKey(keyOf(3).publicKey())->name, "phone");
  EXPECT_EQ(read->byKey(keyOf(9).publicKey()), nullptr);
}

TEST(Roster, AnyFlippedBitIsRefused) {
  const SigningKey admin = keyOf(1);
  const auto document = signRoster(rosterOf(admin, {deviceWith(keyOf(2), "laptop")}), admin);
  for (std::size_t at = 0; at < document->size(); ++at) {
    std::string damaged = *document;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    const auto read = readRoster(damaged, admin.publicKey());
    EXPECT_FALSE(read.ok()) << "byte " << at;
  }
}

TEST(Roster, AnotherAdminsIsRefused) {
  const SigningKey admin = keyOf(1), other = keyOf(7);
  const auto document = signRoster(rosterOf(other, {deviceWith(keyOf(2), "laptop")}), other);
  EXPECT_FALSE(readRoster(*document, admin.publicKey()).ok());
  // Signed by the right key, of a cluster that is not its own.
  const auto wrong = signRoster(rosterOf(other, {deviceWith(keyOf(2), "laptop")}), admin);
  EXPECT_THAT(readRoster(*wrong, admin.publicKey()).error().message, HasSubstr("a roster of the cluster"));
}

TEST(Roster, WhatDoesNotHoldTogetherIsNamed) {
  const SigningKey admin = keyOf(1);
  const auto problem = [&](auto change) {
    Roster roster = rosterOf(admin, {deviceWith(keyOf(2), "laptop"), deviceWith(keyOf(3), "phone")});
    change(roster);
    const Status checked = checkRoster(roster);
    return checked.ok() ? std::string("fine") : checked.error().message;
  };
  EXPECT_EQ(problem([](Roster&) {}), "fine");
  EXPECT_THAT(problem([](Roster& r) { r.devices[0].name = r.devices[1].name; }), HasSubstr("two devices are called"));
  EXPECT_THAT(problem([](Roster& r) { std::swap(r.devices[0], r.devices[1]); }), HasSubstr("not in order"));
  EXPECT_THAT(problem([](Roster& r) { r.devices[0].keys = {toHex(keyOf(5).publicKey())}; }),
              HasSubstr("not the hash of its first key"));
  EXPECT_THAT(problem([](Roster& r) { r.devices[0].keys.push_back(r.devices[1].keys[0]); }),
              HasSubstr("one key stands for two devices"));
  EXPECT_THAT(problem([](Roster& r) { r.devices[0].keys.push_back("01" + std::string(62, '0')); }),
              HasSubstr("is no Ed25519 key"));
  EXPECT_THAT(problem([](Roster& r) {
                r.persons.emplace(1, RosterPerson{.name = "ann", .keys = {"02" + std::string(62, '0')}});
              }),
              HasSubstr("is no Ed25519 key"));
  EXPECT_THAT(problem([](Roster& r) { r.devices[0].roles = {"doctor"}; }), HasSubstr("is no role of a device"));
  EXPECT_THAT(problem([](Roster& r) { r.devices[0].addresses = {"nowhere"}; }), HasSubstr("is no address"));
  EXPECT_THAT(problem([](Roster& r) { r.devices.clear(); }), HasSubstr("1 to 1024 devices"));
}

TEST(Roster, ANameIsOneLineAndNoId) {
  for (const char* good : {"", "lab", "front desk", "M\xc3\xbcnster", "a1b2c3d4e5f6", "deadbee",
                           "\u043f\u043e\u0441\u0442", "\u03bb\u03ac\u03c0\u03c4\u03bf\u03c0"})
    EXPECT_TRUE(checkDeviceName(good).ok()) << good;
  for (const char* bad :
       {"a\nb", "a\tb", "a\x1b[31m", "\x7f", "a\xe2\x80\xae", "\xff", "0d66796d", "0123456789abcdef0123456789abcdef"})
    EXPECT_FALSE(checkDeviceName(bad).ok()) << bad;
  EXPECT_FALSE(checkDeviceName(std::string(65, 'x')).ok());
  // Nor what this program prints for a device, a blank that is not seen, or an option.
  for (const char* bad : {"alpha (8629053a)", " alpha", "alpha ", "a  b", "--all", ".", "-", "\u217cab"})
    EXPECT_FALSE(checkDeviceName(bad).ok()) << bad;
  EXPECT_TRUE(checkDeviceName("lab (2nd floor)").ok());
}

// Members 17: what nobody sees, and letters of another alphabet within a word.
TEST(Roster, ANameHasOnlyCharactersThatPeopleTellApart) {
  for (const char* bad : {"f\u200bd", "f\u00a0d", "\ufefffd", "\uff46d", "l\u0430b", "\U0001d41fd", "fd\ufe0f",
                          "f\u2009d", "cafe\u0301", "\u1100\u1161", "\u30ab\u3099"})
    EXPECT_FALSE(checkDeviceName(bad).ok()) << bad;
  for (const char* good : {"caf\u00e9", "\uac00", "\u30ac"}) EXPECT_TRUE(checkDeviceName(good).ok()) << good;
}

TEST(Roster, NamesThatLookAlikeAreFound) {
  EXPECT_TRUE(looksLike("ape", "\u0430\u0440\u0435"));
  EXPECT_TRUE(looksLike("Lab", "lAB"));
  EXPECT_TRUE(looksLike("\u041f\u041e\u0421\u0422", "\u043f\u043e\u0441\u0442"));
  for (const char* alike : {"aIpha", "a1pha", "al-pha", "ALPHA"}) EXPECT_EQ(looksLike("alpha", alike), alike[2] != '-');
  EXPECT_TRUE(looksLike("beta0", "betaO"));
  EXPECT_TRUE(looksLike("lab-1", "lab l"));
  EXPECT_TRUE(looksLike("modem", "modern"));
  EXPECT_FALSE(looksLike("lab", "lad"));
  EXPECT_FALSE(looksLike("lab", "lab2"));
}

TEST(Roster, RolesSayWhatADeviceMay) {
  RosterDevice device = deviceWith(keyOf(2), "lab");
  device.roles = {"udt.LabOrder"};
  EXPECT_TRUE(device.mayAct("udt", "LabOrder"));
  EXPECT_FALSE(device.mayAct("udt", "Clinical"));
  EXPECT_FALSE(device.mayAct("budget", "LabOrder"));
  EXPECT_FALSE(device.keepsLedgers());
  device.roles = {"*"};
  EXPECT_TRUE(device.mayAct("udt", "Clinical"));
  EXPECT_FALSE(device.keepsLedgers());
  EXPECT_TRUE(device.mayHave("main"));
  device.roles = {"udt.LabOrder"};  // single roles bring no journals, unless they are named
  EXPECT_FALSE(device.mayHave("main"));
  device.scopes = {"main"};
  EXPECT_TRUE(device.mayHave("main"));
  EXPECT_FALSE(device.mayHave("private"));
}

TEST(Roster, TheRoleCopyStandsAloneAndHasSealedScopesOnly) {
  RosterDevice device = deviceWith(keyOf(2), "shed");
  device.roles = {"copy"};
  EXPECT_TRUE(device.copiesOnly());
  EXPECT_FALSE(device.keepsLedgers() || device.takesOver() || device.maySee("budget", "A") || device.mayHave("main"));
  EXPECT_TRUE(device.mayHave("sealed.main") && device.mayHave("sealed.private"));
  device.scopes = {"main"};
  EXPECT_TRUE(device.mayHave("sealed.main"));
  EXPECT_FALSE(device.mayHave("sealed.private") || device.mayHave("main"));
  const std::vector<std::string> alone{"copy"}, both{"copy", "ledger"};
  EXPECT_TRUE(checkDeviceRoles(alone).ok());
  EXPECT_EQ(checkDeviceRoles(both).error().code, ErrorCode::invalidInput);
  // Who may have a scope may have what is sealed of it.
  device.roles = {"udt.LabOrder"};
  EXPECT_TRUE(device.mayHave("sealed.main"));
  EXPECT_FALSE(device.mayHave("sealed.private"));
}

// --- tokens

JoinToken sampleToken() {
  return {"c-0123",
          {"192.168.1.10:7600", "[fe80::1]:7600"},
          toHex(keyOf(2).publicKey()),
          "0011223344556677",
          "00112233445566778899aabbccddeeff"};
}

TEST(JoinToken, ReadsBack) { EXPECT_EQ(*readToken(writeToken(sampleToken())), sampleToken()); }

TEST(JoinToken, EveryTypingErrorIsNoticed) {
  const std::string token = writeToken(sampleToken());
  for (std::size_t at = 0; at < token.size(); ++at) {
    std::string mistyped = token;
    mistyped[at] = mistyped[at] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(readToken(mistyped).ok()) << at;
    EXPECT_FALSE(readToken(token.substr(0, at)).ok()) << at;
  }
  EXPECT_THAT(readToken("witan join").error().message, HasSubstr("this is no invitation"));
}

// --- the desk

class Enrolment : public ::testing::Test {
 protected:
  Enrolment()
      : book_(*RosterStore::create(dir(), admin_.publicKey(),
                                   *signRoster(rosterOf(admin_, {deviceWith(first_, "first")}), admin_))),
        desk_(open(admin_)) {}

  std::filesystem::path dir() const { return scratch_ / ""; }
  EnrolmentService open(std::optional<SigningKey> admin) {
    return std::move(*EnrolmentService::open(dir(), book_, std::string(32, 'k'), 8, std::move(admin)));
  }
  JoinRequest withToken(const std::string& text, const std::string& name = "new") {
    const JoinToken token = *readToken(text);
    return {token.id, token.secret, name, {"127.0.0.1:7601"}, {}};
  }
  std::string invite(InviteOptions options = {}) {
    if (options.roles.empty()) options.roles = {"ledger", "*"};
    const std::vector<std::string> here{"127.0.0.1:7600"};
    return *desk_.invite(options, here, first_.publicKey(), kNow, random_);
  }
  JoinAnswer ask(const JoinRequest& request, const SigningKey& key, Time now = kNow) {
    return desk_.onJoin(request, key.publicKey(), "10.0.0.9:1234", now);
  }

  const Scratch scratch_;
  const SigningKey admin_ = keyOf(1), first_ = keyOf(2);
  SeededRandom random_{7};
  RosterStore book_;
  EnrolmentService desk_;
};

TEST_F(Enrolment, ATokenAdmitsOnceAndTheRosterSaysSo) {
  const JoinRequest request = withToken(invite({.roles = {"udt.LabOrder"}}), "lab");
  const JoinAnswer answer = ask(request, keyOf(3));
  ASSERT_EQ(answer.verdict, JoinVerdict::admitted) << answer.reason;
  EXPECT_EQ(answer.clusterKey.size(), 32u);
  const auto roster = readRoster(asView(answer.document), admin_.publicKey());
  ASSERT_TRUE(roster.ok());
  EXPECT_EQ(roster->find(answer.device)->roles, std::vector<std::string>{"udt.LabOrder"});
  // A stolen token past its use.
  const JoinAnswer stolen = ask(request, keyOf(4));
  EXPECT_EQ(stolen.verdict, JoinVerdict::refused);
  EXPECT_EQ(stolen.reason, "the invitation was used up");
  EXPECT_TRUE(stolen.clusterKey.empty());
  // The same device did not hear the answer and asks again.
  EXPECT_EQ(ask(request, keyOf(3)).verdict, JoinVerdict::admitted);
}

TEST_F(Enrolment, ADeviceGetsOnlyRolesThatSomebodyNamed) {
  const std::vector<std::string> here{"127.0.0.1:7600"};
  EXPECT_THAT(desk_.invite({}, here, first_.publicKey(), kNow, random_).error().message, HasSubstr("no role is given"));
  ASSERT_EQ(ask({"", "", "phone", {}, {}}, keyOf(3)).verdict, JoinVerdict::pending);
  EXPECT_THAT(desk_.approve("phone", {}, {}, kNow).error().message, HasSubstr("no role is given"));
  EXPECT_EQ(book_.current().devices.size(), 1u);
}

// Members 17: two devices that people would take for each other.
TEST_F(Enrolment, ANameThatLooksLikeAnotherGetsAMark) {
  const JoinAnswer answer = ask(withToken(invite(), "FIRST"), keyOf(3));
  ASSERT_EQ(answer.verdict, JoinVerdict::admitted);
  EXPECT_EQ(book_.current().find(answer.device)->name, "FIRST-" + answer.device.substr(0, 8));
}

TEST_F(Enrolment, AnExpiredOrWrongTokenIsRefused) {
  JoinRequest request = withToken(invite({.ttlMicros = 1'000'000}));
  EXPECT_THAT(ask(request, keyOf(3), Time{kNow.micros + 1'000'001}).reason, HasSubstr("the invitation expired at"));
  request.secret.back() = request.secret.back() == '0' ? '1' : '0';
  EXPECT_THAT(ask(request, keyOf(3)).reason, HasSubstr("no such invitation"));
  EXPECT_EQ(book_.current().devices.size(), 1u);
}

TEST_F(Enrolment, UsesSurviveARestart) {
  const JoinRequest request = withToken(invite());
  ASSERT_EQ(ask(request, keyOf(3)).verdict, JoinVerdict::admitted);
  desk_ = open(admin_);
  EXPECT_EQ(ask(request, keyOf(4)).reason, "the invitation was used up");
}

TEST_F(Enrolment, TheFileAloneAdmitsNobody) {
  const JoinToken token = *readToken(invite());
  std::ifstream file(dir() / "enrolment.json");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr(token.id));
  EXPECT_THAT(text, Not(HasSubstr(token.secret)));
}

TEST_F(Enrolment, WithoutATokenAPersonDecides) {
  const JoinRequest request{"", "", "phone", {}, {}};
  const JoinAnswer waits = ask(request, keyOf(3));
  EXPECT_EQ(waits.verdict, JoinVerdict::pending);
  EXPECT_TRUE(waits.clusterKey.empty());
  EXPECT_EQ(ask(request, keyOf(3)).verdict, JoinVerdict::pending);
  ASSERT_EQ(desk_.pending().size(), 1u);
  ASSERT_TRUE(desk_.approve("phone", kEvery, {}, kNow).ok());
  EXPECT_EQ(ask(request, keyOf(3)).verdict, JoinVerdict::admitted);
  EXPECT_EQ(ask({"", "", "other", {}, {}}, keyOf(4)).verdict, JoinVerdict::pending);
  ASSERT_TRUE(desk_.deny("other").ok());
  EXPECT_THAT(ask({"", "", "other", {}, {}}, keyOf(4)).reason, HasSubstr("denied"));
}

// The roster counts, also where the list of those who wait could not be written after it.
TEST_F(Enrolment, WhoIsApprovedIsSoWhateverBecomesOfTheList) {
  ASSERT_EQ(ask({"", "", "phone", {}, {}}, keyOf(3)).verdict, JoinVerdict::pending);
  ASSERT_TRUE(std::filesystem::create_directory(dir() / "enrolment.json.new"));
  EXPECT_TRUE(desk_.approve("phone", kEvery, {}, kNow).ok());
  EXPECT_EQ(ask({"", "", "phone", {}, {}}, keyOf(3)).verdict, JoinVerdict::admitted);
  desk_ = open(admin_);
  EXPECT_TRUE(desk_.pending().empty());
}

// A stranger that calls itself as the device that a person expects, and comes first, is not approved in its place.
TEST_F(Enrolment, ANameThatSeveralBearDecidesNothing) {
  for (const unsigned char seed : {3, 4})
    ASSERT_EQ(ask({"", "", "phone", {}, {}}, keyOf(seed)).verdict, JoinVerdict::pending);
  const PublicKey wanted = keyOf(4).publicKey();
  const auto approved = desk_.approve("phone", kEvery, {}, kNow);
  ASSERT_FALSE(approved.ok());
  EXPECT_EQ(approved.error().code, ErrorCode::conflict);
  EXPECT_THAT(approved.error().message, HasSubstr(deviceIdOf(wanted) + " (fingerprint " + fingerprintOf(wanted)));
  EXPECT_THAT(approved.error().message, HasSubstr(deviceIdOf(keyOf(3).publicKey())));
  EXPECT_THAT(approved.error().hint, HasSubstr("use the id"));
  EXPECT_EQ(desk_.deny("phone").error().code, ErrorCode::conflict);
  EXPECT_EQ(desk_.pending().size(), 2u);
  EXPECT_EQ(desk_.approve(deviceIdOf(wanted), kEvery, {}, kNow)->device, deviceIdOf(wanted));
  EXPECT_EQ(desk_.deny("phone")->device, deviceIdOf(keyOf(3).publicKey()));
}

// Keys cost nothing, so places are counted by address, and do not last.
TEST_F(Enrolment, StrangersCannotFillTheList) {
  const JoinRequest request{"", "", "n", {}, {}};
  const auto from = [&](int host, int seed, Time at = kNow) {
    const std::string address = "10.0.0." + std::to_string(host) + ":" + std::to_string(40'000 + seed);
    return desk_.onJoin(request, keyOf(static_cast<unsigned char>(seed)).publicKey(), address, at);
  };
  int seed = 10;
  for (; seed < 18; ++seed) EXPECT_EQ(from(1, seed).verdict, JoinVerdict::pending);
  EXPECT_THAT(from(1, seed).reason, HasSubstr("too many devices of this address"));
  EXPECT_EQ(from(1, 10).verdict, JoinVerdict::pending) << "it waits already";
  EXPECT_EQ(from(2, seed++).verdict, JoinVerdict::pending) << "another address";
  for (int n = 9; n < static_cast<int>(kMaxPending); ++n) EXPECT_EQ(from(n, seed++).verdict, JoinVerdict::pending);
  EXPECT_THAT(from(200, seed).reason, HasSubstr("too many devices wait"));
  const Time later{kNow.micros + kPendingMicros + 1};
  EXPECT_EQ(from(1, seed, later).verdict, JoinVerdict::pending);
  EXPECT_EQ(desk_.pending().size(), 1u) << "who waited for a day is forgotten";
}

TEST_F(Enrolment, ARevokedDeviceStaysOutWhateverItHolds) {
  const JoinRequest request = withToken(invite({.uses = 5}));
  const JoinAnswer joined = ask(request, keyOf(3));
  ASSERT_EQ(joined.verdict, JoinVerdict::admitted);
  ASSERT_TRUE(desk_.revoke(joined.device, "stolen").ok());
  EXPECT_EQ(ask(request, keyOf(3)).reason, "this device was revoked: stolen");
  EXPECT_THAT(desk_.revoke(joined.device, "").error().message, HasSubstr("revoked already"));
  EXPECT_THAT(desk_.revoke("first", "").error().message, HasSubstr("the last device"));
}

// The invitation is on the disk that was stolen: by what is left of it nobody joins, in whatever new directory.
TEST_F(Enrolment, ARevocationEndsTheInvitationByWhichTheDeviceCame) {
  const JoinRequest shared = withToken(invite({.uses = 5})), other = withToken(invite());
  const JoinAnswer joined = ask(shared, keyOf(3));
  ASSERT_EQ(joined.verdict, JoinVerdict::admitted);
  desk_ = open(admin_);  // it is known after a restart, too
  ASSERT_TRUE(desk_.revoke(joined.device, "stolen").ok());
  EXPECT_THAT(ask(shared, keyOf(4)).reason, HasSubstr("no such invitation"));
  EXPECT_EQ(desk_.openInvites(kNow)->size(), 1u);
  EXPECT_EQ(ask(other, keyOf(4)).verdict, JoinVerdict::admitted);
}

TEST_F(Enrolment, AnInvitationIsListedAndEnds) {
  const JoinRequest first = withToken(invite({.uses = 2})), second = withToken(invite()), third = withToken(invite());
  const JoinAnswer joined = ask(first, keyOf(3));
  const auto listed = desk_.openInvites(kNow);
  ASSERT_EQ(listed->size(), 3u);
  EXPECT_EQ(listed->front().usesLeft, 1u);
  EXPECT_EQ(*listed->front().devices, std::vector<std::string>{joined.device});
  EXPECT_EQ(desk_.withdrawInvites("nonsense", kNow).error().code, ErrorCode::notFound);
  EXPECT_EQ(*desk_.withdrawInvites(first.tokenId, kNow), 1u);
  EXPECT_EQ(ask(first, keyOf(4)).verdict, JoinVerdict::refused);
  EXPECT_EQ(*desk_.withdrawInvites("all", kNow), 2u);
  EXPECT_EQ(*desk_.withdrawInvites("all", kNow), 0u);
  desk_ = open(admin_);
  EXPECT_EQ(ask(second, keyOf(4)).verdict, JoinVerdict::refused);
  EXPECT_EQ(ask(third, keyOf(4)).verdict, JoinVerdict::refused);
  EXPECT_EQ(ask(first, keyOf(3)).verdict, JoinVerdict::admitted) << "a member is one";
}

// The disk of the admin's device goes back, and it goes on: one key has signed two rosters of which neither follows the
// other. Who was revoked in one stays so in both; who was admitted in the other stays a member.
TEST_F(Enrolment, WhoWasRevokedStaysOutWhenTheAdminsDeviceGoesBack) {
  const std::string thief = ask(withToken(invite()), keyOf(3)).device;
  const std::string before(book_.document());
  ASSERT_TRUE(desk_.revoke(thief, "stolen").ok());
  for (int admitted = 1; admitted <= 3; ++admitted) {
    SCOPED_TRACE(admitted);
    const Scratch there, back;
    RosterStore member = *RosterStore::create(there / "", admin_.publicKey(), before);
    ASSERT_TRUE(*member.adopt(book_.document()));
    RosterStore restored = *RosterStore::create(back / "", admin_.publicKey(), before);
    EnrolmentService desk = std::move(*EnrolmentService::open(back / "", restored, std::string(32, 'k'), 8, keyOf(1)));
    for (int n = 0; n < admitted; ++n) {
      const JoinRequest request{"", "", concat("phone-", n), {}, {}};
      desk.onJoin(request, keyOf(static_cast<char>(10 + n)).publicKey(), "10.0.0.9:1", kNow);
      ASSERT_TRUE(desk.approve(concat("phone-", n), std::vector<std::string>{"ledger"}, {}, kNow).ok());
    }
    ASSERT_TRUE(restored.current().find(thief)->active());
    const auto heard = member.adopt(restored.document());
    EXPECT_FALSE(heard.ok() && member.current().find(thief)->active());
    EXPECT_FALSE(member.current().find(thief)->active());
    (void)restored.adopt(member.document());
    ASSERT_TRUE(desk.unite(kNow, [](const std::string&) {}).ok());
    ASSERT_TRUE(member.adopt(restored.document()).ok());
    EXPECT_EQ(member.document(), restored.document());
    EXPECT_FALSE(member.current().find(thief)->active());
    EXPECT_EQ(member.current().activeCount(), 1u + static_cast<unsigned>(admitted));
    EXPECT_EQ(restored.parted(), nullptr);
  }
}

TEST_F(Enrolment, ARotatedKeyReplacesTheOld) {
  const JoinAnswer joined = ask(withToken(invite()), keyOf(3));
  ASSERT_TRUE(desk_.rotate(joined.device, keyOf(4).publicKey()).ok());
  EXPECT_EQ(book_.current().byKey(keyOf(4).publicKey())->device, joined.device);
  EXPECT_EQ(book_.current().byKey(keyOf(3).publicKey()), nullptr);
  EXPECT_THAT(ask({"", "", "n", {}, {}}, keyOf(3)).reason, HasSubstr("rotated away"));
}

RotateKey wishOf(const std::string& device, const SigningKey& next) {
  RotateKey wish;
  const PublicKey key = next.publicKey();
  const Signature proof = next.sign(rotationText(device, key));
  wish.key.assign(key.begin(), key.end()), wish.proof.assign(proof.begin(), proof.end());
  return wish;
}

// Members 10: who has stolen a key may ask, too.
TEST_F(Enrolment, AKeyIsReplacedOnlyIfAPersonAcceptsIt) {
  const std::string device = ask(withToken(invite(), "lab"), keyOf(3)).device;
  EXPECT_THAT(*desk_.onRotate(device, wishOf(device, keyOf(4)), kNow), HasSubstr("asks for another key"));
  EXPECT_EQ(book_.current().find(device)->keys.size(), 1u);
  EXPECT_EQ(*desk_.onRotate(device, wishOf(device, keyOf(4)), kNow), "") << "asked before";
  EXPECT_THAT(*desk_.onRotate(device, wishOf(device, keyOf(5)), kNow), HasSubstr("one of both is not its owner's"));
  desk_ = open(admin_);
  ASSERT_EQ(desk_.askedKeys().size(), 1u) << "also after a restart";
  EXPECT_EQ(desk_.denyKey("lab")->key, toHex(keyOf(4).publicKey()));
  EXPECT_EQ(desk_.acceptKey("lab").error().code, ErrorCode::notFound);
  (void)desk_.onRotate(device, wishOf(device, keyOf(5)), kNow);
  ASSERT_TRUE(desk_.acceptKey("lab").ok());
  EXPECT_EQ(book_.current().byKey(keyOf(5).publicKey())->device, device);
  EXPECT_TRUE(desk_.askedKeys().empty());
  EXPECT_FALSE(desk_.onRotate(device, wishOf("other", keyOf(6)), kNow).ok()) << "no proof";
}

// The id follows from the first key; of the others the oldest go.
TEST_F(Enrolment, KeysMayBeReplacedMoreOftenThanARosterKeepsThem) {
  const std::string device = ask(withToken(invite()), keyOf(3)).device;
  for (unsigned char n = 0; n < 20; ++n)
    ASSERT_TRUE(desk_.rotate(device, keyOf(static_cast<unsigned char>(100 + n)).publicKey()).ok()) << int{n};
  const auto& keys = book_.current().find(device)->keys;
  EXPECT_EQ(keys.size(), kMaxDeviceKeys);
  EXPECT_EQ(keys.front(), toHex(keyOf(3).publicKey()));
  EXPECT_EQ(keys.back(), toHex(keyOf(119).publicKey()));
}

// Members 20.
TEST_F(Enrolment, AReasonIsOneLineWithoutControls) {
  const std::string device = ask(withToken(invite()), keyOf(3)).device;
  for (const char* reason : {"sold\nadmin  active", "\u009b31m", "\u202etset", "a\tb"})
    EXPECT_EQ(desk_.revoke(device, reason).error().code, ErrorCode::invalidInput) << reason;
  EXPECT_TRUE(desk_.revoke(device, "sold to Zo\u00eb").ok());
}

TEST_F(Enrolment, ADateOfTheRosterIsTheAdminsAndOfARosterThatIsHere) {
  const auto dated = [&](std::int64_t later, std::uint64_t version, const SigningKey& by) {
    RosterDate date{Time{kNow.micros + later}, version, {}};
    date.signature = toHex(by.sign(dateText(book_.current().cluster, date)));
    return date;
  };
  EXPECT_FALSE(book_.adopt(dated(1, 1, keyOf(7)), kNow).ok()) << "of another key";
  EXPECT_FALSE(*book_.adopt(dated(1, 2, admin_), kNow)) << "of a roster that is not here";
  EXPECT_THAT(book_.adopt(dated(7'200'000'000, 1, admin_), kNow).error().message, HasSubstr("the roster's date is"));
  EXPECT_TRUE(*book_.adopt(dated(1, 1, admin_), kNow));
  EXPECT_FALSE(*book_.adopt(dated(0, 1, admin_), kNow)) << "an earlier one";
  EXPECT_EQ(RosterStore::open(dir(), admin_.publicKey())->date().at, (Time{kNow.micros + 1}));
  std::ofstream(dir() / "roster.date") << toJson(dated(5, 1, keyOf(7)));
  EXPECT_EQ(RosterStore::open(dir(), admin_.publicKey())->date().at, Time{}) << "forged on the disk";
}

TEST_F(Enrolment, WhereTheAdminsKeyIsNotNobodyIsAdmitted) {
  const JoinRequest request = withToken(invite());
  desk_ = open(std::nullopt);
  EXPECT_THAT(ask(request, keyOf(3)).reason, HasSubstr("does not hold the admin's key"));
  EXPECT_FALSE(EnrolmentService::open(dir(), book_, "", 8, keyOf(9)).ok());
}

// A folder in the file's place: nothing can be renamed to there, whoever tries.
TEST_F(Enrolment, ARosterThatCannotBeWrittenCountsAndIsWrittenLater) {
  Roster next = book_.current();
  next.version = 5;
  std::filesystem::remove(dir() / "roster");
  std::filesystem::create_directory(dir() / "roster");
  const auto adopted = book_.adopt(*signRoster(next, admin_));
  ASSERT_TRUE(adopted.ok()) << adopted.error().message;
  EXPECT_TRUE(*adopted);
  EXPECT_EQ(book_.current().version, 5u);
  EXPECT_FALSE(book_.kept().ok());
  EXPECT_FALSE(book_.keep().ok());
  EXPECT_FALSE(book_.publish(next, admin_).ok()) << "the admin's own word is durable before it counts";
  EXPECT_EQ(book_.current().version, 5u);
  std::filesystem::remove(dir() / "roster");
  EXPECT_TRUE(book_.keep().ok());
  EXPECT_TRUE(book_.kept().ok());
  EXPECT_EQ(RosterStore::open(dir(), admin_.publicKey())->current().version, 5u);
}

TEST_F(Enrolment, TheBookTakesWhatIsNewerAndNothingElse) {
  Roster next = book_.current();
  next.version = 5;
  const std::string newer = *signRoster(next, admin_);
  EXPECT_TRUE(*book_.adopt(newer));
  EXPECT_FALSE(*book_.adopt(newer));
  next.version = 4;
  EXPECT_FALSE(*book_.adopt(*signRoster(next, admin_)));
  EXPECT_FALSE(book_.adopt("nonsense").ok());
  EXPECT_EQ(RosterStore::open(dir(), admin_.publicKey())->current().version, 5u);
}

}  // namespace
}  // namespace witan::node::roster_test
