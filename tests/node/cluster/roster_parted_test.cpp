// The disk of the device that signs rosters goes back, and it goes on: one key has signed two rosters of which neither
// follows the other. What either took stays taken.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/seams.h"
#include "node/cluster/roster_follows.h"
#include "node/cluster/scope_keys.h"
#include "node/daemon/daemon.h"
#include "node/enrolment/new_node.h"
#include "tests/node/cluster/roster_side.h"
#include "tests/node/node_process.h"

namespace witan::node::roster_parted_test {
namespace {

// Told before and after each file that this thread puts in place: a power cut leaves what is on disk then.
thread_local std::function<void(const std::filesystem::path& file)> onRename;

}  // namespace
}  // namespace witan::node::roster_parted_test

// In the place of the C library's.
extern "C" int rename(const char* from, const char* to) noexcept {
  const auto& told = witan::node::roster_parted_test::onRename;
  if (told) told(to);
  const int done = ::renameat(AT_FDCWD, from, AT_FDCWD, to);
  if (told) told(to);
  return done;
}

namespace witan::node::roster_parted_test {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string genesis() {
  const PublicKey key = keyOf('f').publicKey();
  Roster roster{clusterIdOf(keyOf('#').publicKey()), 1, {}};
  RosterDevice first{.device = deviceIdOf(key), .name = "first"};
  first.keys = {toHex(key)}, first.roles = kAll, first.since = kNow;
  roster.devices = {first};
  return *signRoster(roster, keyOf('#'));
}

class PartedRosters : public ::testing::Test {
 protected:
  PartedRosters() {
    first.admit('b', kAll);
    first.admit('e');
    first.change([](Roster& roster) { return addPerson(roster, "dr.eve", keyOf('P').publicKey(), kCounselor, kNow); });
    before = first.rosters.document();
  }
  // The device with the key forgets what it signed since, and hears of it again from a member.
  std::string meets(Side& restored, const std::string& document) {
    (void)restored.rosters.adopt(document);
    std::string words;
    const auto united = restored.desk.unite(kNow, [&](const std::string& told) { words = told; });
    EXPECT_TRUE(united.ok()) << united.error().message;
    return united.ok() && *united ? words : "";
  }

  Side first{genesis()};
  std::string before;
};

TEST_F(PartedRosters, ARevokedPersonAndATakenRoleDoNotComeBackByAHigherVersion) {
  Side member(before, false), restored(before);
  first.change([](Roster& roster) { return revokePerson(roster, "dr.eve", "key stolen"); });
  ASSERT_TRUE(first.desk.setRoles(idOf('b'), std::vector<std::string>{"*"}).ok());
  ASSERT_TRUE(*member.rosters.adopt(first.rosters.document()));
  for (const char* where : {"berlin", "bonn", "basel", "bern"}) restored.site('e', where);
  ASSERT_GT(restored.roster().version, member.roster().version);

  (void)member.rosters.adopt(restored.rosters.document());
  EXPECT_FALSE(member.roster().person("dr.eve")->active());
  EXPECT_THAT(member.device('b').roles, ElementsAre("*"));

  EXPECT_THAT(meets(restored, member.rosters.document()), Not(IsEmpty()));
  EXPECT_FALSE(restored.roster().person("dr.eve")->active());
  EXPECT_THAT(restored.device('b').roles, ElementsAre("*"));
  EXPECT_EQ(restored.device('e').site.value_or(""), "bern");
  ASSERT_TRUE(*member.rosters.adopt(restored.rosters.document()));
  EXPECT_EQ(member.rosters.document(), restored.rosters.document());
}

TEST_F(PartedRosters, RolesOfBothStay) {
  Side restored(before);
  ASSERT_TRUE(first.desk.setRoles(idOf('b'), std::vector<std::string>{"*", "copyless.x"}).ok());
  ASSERT_TRUE(first.desk.revoke(idOf('e'), "stolen").ok());
  restored.admit('n');
  const std::string words = meets(restored, first.rosters.document());
  EXPECT_THAT(restored.device('b').roles, ElementsAre("*"));
  EXPECT_FALSE(restored.device('e').active());
  EXPECT_TRUE(restored.device('n').active());
  EXPECT_THAT(words, HasSubstr("takeover"));
}

TEST_F(PartedRosters, NoInvitationOutlivesTheUnion) {
  const std::string invitation = first.invite();
  ASSERT_EQ(first.join('t', invitation).verdict, JoinVerdict::admitted);
  const std::string kept = first.rosters.document();
  Side restored(kept);
  std::filesystem::copy_file(first.scratch / "enrolment.json", restored.scratch / "enrolment.json");
  restored.desk =
      std::move(*EnrolmentService::open(restored.scratch / "", restored.rosters, std::string(32, 'k'), 8, keyOf('#')));
  ASSERT_TRUE(first.desk.revoke(idOf('t'), "stolen").ok());
  restored.site('b', "berlin");
  // Where the roster came back without a union, as on a device whose file of invitations alone went back.
  Side alone(first.rosters.document());
  std::filesystem::copy_file(restored.scratch / "enrolment.json", alone.scratch / "enrolment.json");
  alone.desk =
      std::move(*EnrolmentService::open(alone.scratch / "", alone.rosters, std::string(32, 'k'), 8, keyOf('#')));
  EXPECT_EQ(alone.join('u', invitation).verdict, JoinVerdict::refused);

  EXPECT_THAT(meets(restored, first.rosters.document()), HasSubstr("invitation"));
  EXPECT_EQ(restored.join('u', invitation).verdict, JoinVerdict::refused);
  EXPECT_THAT(*restored.desk.openInvites(kNow), IsEmpty());
}

TEST_F(PartedRosters, TheKeyThatReplacedAStolenOneStays) {
  Side member(before, false), restored(before);
  ASSERT_TRUE(first.desk.rotate(idOf('e'), keyOf('E').publicKey()).ok());
  ASSERT_TRUE(*member.rosters.adopt(first.rosters.document()));
  for (const char* where : {"berlin", "bonn", "basel", "bern"}) restored.site('b', where);
  (void)member.rosters.adopt(restored.rosters.document());
  EXPECT_EQ(member.device('e').keys.back(), toHex(keyOf('E').publicKey()));
  EXPECT_THAT(meets(restored, member.rosters.document()), Not(IsEmpty()));
  EXPECT_EQ(restored.device('e').keys.back(), toHex(keyOf('E').publicKey()));
}

// A member that meets the other history first keeps both, also over a restart, for the device that unites them.
TEST_F(PartedRosters, AMemberKeepsBothUntilTheyAreUnited) {
  Side member(before, false), restored(before);
  first.admit('x');
  ASSERT_TRUE(*member.rosters.adopt(first.rosters.document()));
  restored.admit('y');
  for (const char* where : {"berlin", "bonn"}) restored.site('b', where);
  const std::string other = restored.rosters.document();
  EXPECT_FALSE(*member.rosters.adopt(other));
  EXPECT_TRUE(member.device('x').active());
  EXPECT_EQ(member.rosters.partedDocument(), other);
  RosterStore again = *RosterStore::open(member.scratch / "", keyOf('#').publicKey());
  ASSERT_NE(again.parted(), nullptr);
  EXPECT_EQ(again.partedDocument(), other);

  EXPECT_THAT(meets(restored, again.document()), Not(IsEmpty()));
  EXPECT_TRUE(restored.device('x').active());
  EXPECT_TRUE(restored.device('y').active());
  EXPECT_TRUE(*again.adopt(restored.rosters.document()));
  EXPECT_EQ(again.parted(), nullptr);
  EXPECT_EQ(again.partedDocument(), "");
  EXPECT_EQ(RosterStore::open(member.scratch / "", keyOf('#').publicKey())->parted(), nullptr);
}

TEST_F(PartedRosters, OneNameOfTwoDevicesIsNoObstacle) {
  Side restored(before);
  first.admit('x', {"*"}, "phone");
  ASSERT_TRUE(first.desk.revoke(idOf('e'), "stolen").ok());
  restored.admit('y', {"*"}, "phone");
  const std::string words = meets(restored, first.rosters.document());
  EXPECT_TRUE(restored.device('x').active());
  EXPECT_TRUE(restored.device('y').active());
  EXPECT_NE(restored.device('x').name, restored.device('y').name);
  EXPECT_THAT(words, HasSubstr("is called"));
}

TEST_F(PartedRosters, NoKeyOfAScopeIsOfTwoHistories) {
  Side restored(before);
  const auto keys = [](const Side& side, char seed) {
    return openScopeKeys(side.roster(), "*", idOf(seed), keyOf(seed));
  };
  ASSERT_TRUE(first.desk.revoke(idOf('e'), "stolen").ok());  // b and f have a key that e has not
  ASSERT_TRUE(restored.desk.setRoles(idOf('b'), std::vector<std::string>{"udt.LabOrder"}).ok());  // f and e have one
  const ScopeGenerations here = keys(first, 'f'), there = keys(restored, 'e');
  ASSERT_FALSE(there.empty());
  EXPECT_NE(here.rbegin()->second->reveal(), there.rbegin()->second->reveal());
  (void)meets(restored, first.rosters.document());
  const ScopeGenerations now = keys(restored, 'f');
  EXPECT_GT(now.rbegin()->first, std::max(here.rbegin()->first, there.rbegin()->first));
  EXPECT_THAT(keys(restored, 'e'), IsEmpty());
  for (const ScopeGenerations& known : {here, there})  // nothing that was sealed in either is lost
    for (const auto& [generation, key] : known) {
      ASSERT_TRUE(now.contains(generation)) << generation;
      EXPECT_EQ(now.at(generation)->reveal(), key->reveal()) << generation;
      EXPECT_NE(now.rbegin()->second->reveal(), key->reveal());
    }
}

// Without a chain of versions that reaches so far, what a roster keeps decides, as before.
TEST_F(PartedRosters, WhoWasAwayForLongTakesTheLatestRoster) {
  Side away(before, false), recent(before, false);
  for (std::size_t n = 0; n < kMaxRosterLinks + 5; ++n) {
    first.site('b', concat("site-", n));
    if (n == 10) {
      ASSERT_TRUE(*recent.rosters.adopt(first.rosters.document()));
    }
  }
  EXPECT_EQ(first.roster().before->size(), kMaxRosterLinks);
  EXPECT_TRUE(*recent.rosters.adopt(first.rosters.document()));
  EXPECT_TRUE(*away.rosters.adopt(first.rosters.document()));
  EXPECT_EQ(away.rosters.parted(), nullptr);
  EXPECT_FALSE(*first.rosters.adopt(before));
  EXPECT_EQ(first.rosters.parted(), nullptr);
}

TEST_F(PartedRosters, LinksThatAreNoneAreRefused) {
  const auto problem = [](std::vector<RosterLink> links) { return !checkRosterLinks(links, 5).ok(); };
  const std::string digest(32, 'a');
  EXPECT_FALSE(problem({{4, digest}, {3, digest}, {3, std::string(32, 'b')}, {1, digest}}));
  EXPECT_TRUE(problem({{5, digest}}));
  EXPECT_TRUE(problem({{3, digest}, {4, digest}}));
  EXPECT_TRUE(problem({{0, digest}}));
  EXPECT_TRUE(problem({{4, "aa"}}));
  EXPECT_TRUE(problem({{4, std::string(32, 'A')}}));
  EXPECT_TRUE(problem(std::vector<RosterLink>(kMaxRosterLinks + 1, RosterLink{1, digest})));
}

// Several admins: no role goes without their act, so what was given in one history alone stays.
class PartedActs : public PartedRosters {};

TEST_F(PartedActs, AreUnitedWhereAnActRevokedInOne) {
  agree(first);
  const std::string agreed = first.rosters.document();
  Side member(agreed, false), restored(agreed);
  apply(first, {0, ActKind::revoke, idOf('e')}, "xy");
  ASSERT_TRUE(*member.rosters.adopt(first.rosters.document()));
  ASSERT_TRUE(
      restored.desk.setRoles(idOf('b'), std::vector<std::string>{"ledger", "*", "takeover", "udt.Surgery"}).ok());
  restored.admit('n');
  (void)member.rosters.adopt(restored.rosters.document());
  EXPECT_FALSE(member.device('e').active());

  EXPECT_THAT(meets(restored, member.rosters.document()), Not(IsEmpty()));
  EXPECT_FALSE(restored.device('e').active());
  EXPECT_TRUE(restored.device('n').active());
  EXPECT_THAT(restored.device('b').roles, ElementsAre("ledger", "*", "takeover", "udt.Surgery"));
  const auto taken = member.rosters.adopt(restored.rosters.document());
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(member.rosters.document(), restored.rosters.document());
}

// One has more acts, the other a higher version.
TEST_F(PartedActs, AreUnitedWhereTheOneThatLacksAnActWentOnFurther) {
  agree(first);
  const std::string agreed = first.rosters.document();
  Side member(agreed, false), restored(agreed);
  apply(first, {0, ActKind::revokePerson, "dr.eve"}, "xz");
  ASSERT_TRUE(*member.rosters.adopt(first.rosters.document()));
  restored.admit('n');
  restored.site('b', "berlin");
  ASSERT_GT(restored.roster().version, member.roster().version);
  (void)member.rosters.adopt(restored.rosters.document());
  EXPECT_FALSE(member.roster().person("dr.eve")->active());
  EXPECT_THAT(meets(restored, member.rosters.document()), Not(IsEmpty()));
  EXPECT_FALSE(restored.roster().person("dr.eve")->active());
  EXPECT_TRUE(restored.device('n').active());
  const auto taken = member.rosters.adopt(restored.rosters.document());
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(member.rosters.document(), restored.rosters.document());
}

// The newcomer of both gets another name, which each member takes.
TEST_F(PartedActs, ANameOfTwoDevicesIsNoObstacle) {
  agree(first);
  const std::string agreed = first.rosters.document();
  Side member(agreed, false), away(agreed, false), restored(agreed);
  first.admit('x', {"*"}, "phone");
  apply(first, {0, ActKind::revoke, idOf('e')}, "xy");
  ASSERT_TRUE(*member.rosters.adopt(first.rosters.document()));
  restored.admit('y', {"*"}, "phone");
  ASSERT_TRUE(*away.rosters.adopt(restored.rosters.document()));
  (void)meets(restored, member.rosters.document());
  EXPECT_FALSE(restored.device('e').active());
  EXPECT_EQ(restored.device('x').name, "phone");
  EXPECT_EQ(restored.device('y').name, "phone-" + idOf('y').substr(0, 8));
  for (Side* side : {&member, &away}) {
    const auto taken = side->rosters.adopt(restored.rosters.document());
    EXPECT_TRUE(taken.ok()) << taken.error().message;
    EXPECT_EQ(side->rosters.document(), restored.rosters.document());
  }
}

// The one that went back knows nothing of the admins' first act, and revokes alone.
TEST_F(PartedActs, TheAdminsFirstActCountsAndTheyRevokeAgain) {
  Side member(before, false), away(before, false), restored(before);
  agree(first);
  ASSERT_TRUE(*member.rosters.adopt(first.rosters.document()));
  ASSERT_TRUE(restored.desk.revoke(idOf('e'), "lost").ok());
  restored.admit('n', kAll);
  ASSERT_TRUE(*away.rosters.adopt(restored.rosters.document()));
  const std::string words = meets(restored, member.rosters.document());
  EXPECT_THAT(words, HasSubstr("witan admin propose revoke " + idOf('e')));
  EXPECT_TRUE(restored.device('e').active());
  EXPECT_THAT(restored.device('n').roles, ElementsAre("ledger", "*"));
  EXPECT_EQ(restored.rosters.admins().acts, 1u);
  for (Side* side : {&member, &away}) {
    const auto taken = side->rosters.adopt(restored.rosters.document());
    EXPECT_TRUE(taken.ok()) << taken.error().message;
    EXPECT_EQ(side->rosters.document(), restored.rosters.document());
  }
  apply(restored, {0, ActKind::revoke, idOf('e')}, "xz");
  EXPECT_TRUE(*member.rosters.adopt(restored.rosters.document()));
  EXPECT_FALSE(member.device('e').active());
}

TEST_F(PartedActs, WhoRevokedAloneTakesTheAdminsFirstAct) {
  Side member(before, false), restored(before);
  agree(first);
  ASSERT_TRUE(*member.rosters.adopt(first.rosters.document()));
  ASSERT_TRUE(restored.desk.revoke(idOf('e'), "lost").ok());
  EXPECT_THAT(meets(restored, member.rosters.document()), HasSubstr("witan admin propose revoke " + idOf('e')));
  EXPECT_EQ(restored.rosters.admins().acts, 1u);
  const std::uint64_t version = restored.roster().version;
  EXPECT_EQ(meets(restored, member.rosters.document()), "") << "once";
  EXPECT_EQ(restored.roster().version, version);
  EXPECT_TRUE(*member.rosters.adopt(restored.rosters.document()));
  EXPECT_EQ(member.rosters.document(), restored.rosters.document());
}

// Its owner asked for it before the admins acted together: they can propose it at once.
TEST_F(PartedActs, AKeyThatWasAcceptedAloneIsNamedForThem) {
  Side restored(before);
  ASSERT_TRUE(first.desk.rotate(idOf('e'), keyOf('E').publicKey()).ok());
  agree(restored);
  EXPECT_THAT(meets(restored, first.rosters.document()), HasSubstr("witan admin propose rekey " + idOf('e')));
  ASSERT_EQ(restored.desk.askedKeys().size(), 1u);
  EXPECT_EQ(restored.desk.askedKeys().front().key, toHex(keyOf('E').publicKey()));
  EXPECT_EQ(restored.desk.askedKeys().front().since, kNow);
  const std::string key = toHex(keyOf('E').publicKey());
  apply(restored, {0, ActKind::rekey, rekeyText(idOf('e'), key)}, "xy");
  EXPECT_EQ(restored.device('e').keys.back(), key);
}

// A first device from before the act that replaced its own key: no word of its own gives it one again.
TEST_F(PartedActs, AFirstDeviceFromBeforeItsOwnNewKeyHasOneByTheAdminsAlone) {
  agree(first);
  const std::string agreed = first.rosters.document();
  Side member(agreed, false), restored(agreed);
  const std::string next = toHex(keyOf('F').publicKey()), third = toHex(keyOf('G').publicKey());
  apply(first, {0, ActKind::rekey, rekeyText(idOf('f'), next)}, "xy");
  ASSERT_TRUE(*member.rosters.adopt(first.rosters.document()));
  restored.admit('n');
  for (const char* where : {"berlin", "bonn"}) restored.site('e', where);
  (void)member.rosters.adopt(restored.rosters.document());
  EXPECT_EQ(member.device('f').keys.back(), next);

  EXPECT_THAT(meets(restored, member.rosters.document()), Not(IsEmpty()));
  EXPECT_EQ(restored.device('f').keys.back(), next);
  EXPECT_EQ(hadKey(restored.roster(), keyOf('f').publicKey()), &restored.device('f'));
  EXPECT_TRUE(restored.device('n').active());
  EXPECT_EQ(restored.device('e').site.value_or(""), "bonn");
  const Status alone = restored.desk.rotate(idOf('f'), keyOf('G').publicKey());
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().code, ErrorCode::unauthorised);
  EXPECT_THAT(alone.error().hint, HasSubstr("witan admin propose rekey " + idOf('f')));
  apply(restored, {0, ActKind::rekey, rekeyText(idOf('f'), third)}, "yz");
  ASSERT_TRUE(*member.rosters.adopt(restored.rosters.document()));
  EXPECT_EQ(member.device('f').keys.back(), third);
}

// It gave itself another key in ignorance of the admins' first act, which knows the key before.
TEST_F(PartedActs, AKeyThatTheFirstDeviceGaveItselfIsNamedForThem) {
  Side restored(before);
  agree(first);
  ASSERT_TRUE(restored.desk.rotate(idOf('f'), keyOf('G').publicKey()).ok());
  EXPECT_THAT(meets(restored, first.rosters.document()), HasSubstr("witan admin propose rekey " + idOf('f')));
  EXPECT_EQ(restored.device('f').keys.back(), toHex(keyOf('f').publicKey()));
  ASSERT_EQ(restored.desk.askedKeys().size(), 1u);
  EXPECT_EQ(restored.desk.askedKeys().front().key, toHex(keyOf('G').publicKey()));
  apply(restored, {0, ActKind::rekey, rekeyText(idOf('f'), toHex(keyOf('G').publicKey()))}, "xz");
  EXPECT_TRUE(*first.rosters.adopt(restored.rosters.document()));
  EXPECT_EQ(first.device('f').keys.back(), toHex(keyOf('G').publicKey()));
}

// The act is known to both: it takes nothing that was given since.
TEST_F(PartedActs, ARoleThatWasGivenAgainStays) {
  agree(first);
  apply(first, {0, ActKind::withdraw, withdrawText(idOf('b'), std::vector<std::string>{"*"})}, "xy");
  const std::string agreed = first.rosters.document();
  Side member(agreed, false), restored(agreed);
  ASSERT_TRUE(restored.desk.setRoles(idOf('b'), kAll).ok());
  first.admit('n');
  first.site('e', "bonn");
  ASSERT_TRUE(*member.rosters.adopt(restored.rosters.document()));
  EXPECT_THAT(meets(restored, first.rosters.document()), Not(IsEmpty()));
  EXPECT_THAT(restored.device('b').roles, ::testing::UnorderedElementsAreArray(kAll));
  EXPECT_TRUE(*member.rosters.adopt(restored.rosters.document()));
}

// Neither key answers by the name that two have: who signs rosters alone gives a name to no other key.
TEST_F(PartedActs, APersonWhomTwoHistoriesGaveTwoKeys) {
  agree(first);
  const std::string agreed = first.rosters.document();
  Side member(agreed, false), restored(agreed);
  const auto add = [](Side& side, const char* name, char seed) {
    side.change([&](Roster& roster) { return addPerson(roster, name, keyOf(seed).publicKey(), kCounselor, kNow); });
  };
  add(first, "dr.a", 'K'), add(first, "dr.b", 'L');
  ASSERT_TRUE(*member.rosters.adopt(first.rosters.document()));
  add(restored, "dr.a", 'M'), add(restored, "dr.c", 'L');
  EXPECT_THAT(meets(restored, member.rosters.document()), HasSubstr("dr.a"));
  for (const char seed : {'K', 'M'}) {
    const RosterPerson* person = restored.roster().person(longerName("dr.a", toHex(keyOf(seed).publicKey())));
    ASSERT_NE(person, nullptr);
    EXPECT_TRUE(person->active());
  }
  EXPECT_EQ(restored.roster().person("dr.a"), nullptr);
  EXPECT_NE(restored.roster().person("dr.b")->active(), restored.roster().person("dr.c")->active()) << "one key";
  const auto taken = member.rosters.adopt(restored.rosters.document());
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(member.rosters.document(), restored.rosters.document());
  Roster next = restored.roster();
  ASSERT_TRUE(addPerson(next, "dr.a", keyOf('T').publicKey(), kCounselor, kNow).ok());
  EXPECT_FALSE(checkFollows(restored.roster(), next).ok());
}

TEST_F(PartedActs, ARoleThatAnActTookStaysTaken) {
  agree(first);
  const std::string agreed = first.rosters.document();
  Side restored(agreed);
  apply(first, {0, ActKind::withdraw, withdrawText(idOf('b'), std::vector<std::string>{"takeover"})}, "yz");
  restored.site('e', "berlin");
  restored.site('e', "bonn");
  (void)meets(restored, first.rosters.document());
  EXPECT_THAT(restored.device('b').roles, ElementsAre("ledger", "*"));
  EXPECT_EQ(restored.rosters.admins().acts, 2u);
}

TEST_F(PartedActs, AVersionFarAheadIsRefusedAlsoWhereRostersPart) {
  agree(first);
  Roster far = first.roster();
  far.version += (1 << 20) + 1;
  far.devices.erase(far.devices.begin());
  const auto taken = first.rosters.adopt(*signRoster(far, keyOf('#')));
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, ErrorCode::unauthorised);
  EXPECT_EQ(first.rosters.parted(), nullptr);
}

// A node in the test's own process; its words about two rosters.
std::string startsAndSays(const std::string& dir) {
  net::Loop loop;
  Log log{LogLevel::error, false, [] { return SystemClock().now(); }, [](std::string_view) {}};
  DaemonConfig config;
  config.listen.clear();
  const auto daemon = Daemon::open(loop, log, dir, std::move(config), nullptr);
  const Status started = daemon.ok() ? (*daemon)->start() : Status(daemon.error());
  EXPECT_TRUE(started.ok()) << dir << ": " << started.error().message;
  std::string words;
  if (!started.ok()) return words;
  const auto incidents = (*daemon)->replica().data().incidents();
  for (const replication::Incident& incident : incidents.value())
    if (incident.kind == kRosterPartedIncident) words += incident.what;
  return words;
}

// The power goes before and after each file with which a first device hears of the other roster and unites both.
TEST(PowerCutAmidAUnion, BringsNothingBack) {
  const Scratch scratch;
  const std::string dir = scratch / "first";
  ASSERT_TRUE(beginCluster(dir, {.name = "first", .partitions = 1}, {SystemClock().now(), net::Loop::nowMs()}).ok());
  std::string invitation, forgotten;
  {
    Side kept(AtRest{dir});
    kept.admit('b', kAll), kept.admit('e');
    kept.change([](Roster& roster) { return addPerson(roster, "dr.eve", keyOf('P').publicKey(), kCounselor, kNow); });
    invitation = kept.invite();
    fs::copy(dir, scratch / "gone", fs::copy_options::recursive);
    Side gone(AtRest{scratch / "gone"});
    ASSERT_TRUE(gone.desk.revoke(idOf('e'), "stolen").ok() && gone.desk.withdrawInvites("all", kNow).ok());
    gone.change([](Roster& roster) { return revokePerson(roster, "dr.eve", "key stolen"); });
    forgotten = gone.rosters.document();
    kept.admit('n');
    ASSERT_TRUE(kept.desk.revoke(idOf('b'), "lost").ok());
  }
  std::vector<std::string> cuts;
  onRename = [&](const fs::path& file) {
    if (file.parent_path() != dir) return;  // its stores are tested elsewhere
    cuts.push_back(scratch / concat("cut-", cuts.size()));
    fs::copy(dir, cuts.back(), fs::copy_options::recursive);
  };
  (void)Side(AtRest{dir}).rosters.adopt(forgotten);
  EXPECT_THAT(startsAndSays(dir), HasSubstr("1 invitation(s) ended"));
  onRename = nullptr;
  const std::uint64_t version = Side(AtRest{dir}).roster().version;
  cuts.push_back(dir);
  EXPECT_GT(cuts.size(), 7u) << "the other roster, the invitations, the roster";
  for (const std::string& cut : cuts) {
    SCOPED_TRACE(cut);
    const bool knew = Side(AtRest{cut}).rosters.parted() != nullptr,
               united = Side(AtRest{cut}).roster().version == version;
    std::string words = startsAndSays(cut);
    Side again(AtRest{cut});
    EXPECT_EQ(again.roster().version == version, knew || united)
        << "where both are on disk it waits for no other device";
    (void)again.rosters.adopt(forgotten);
    ASSERT_TRUE(again.desk.unite(kNow, [&](const std::string& told) { words += told; }).ok());
    EXPECT_EQ(again.roster().version, version) << "once";
    EXPECT_EQ(again.rosters.parted(), nullptr);
    EXPECT_FALSE(again.device('e').active());
    EXPECT_FALSE(again.device('b').active());
    EXPECT_TRUE(again.device('n').active());
    EXPECT_FALSE(again.roster().person("dr.eve")->active());
    EXPECT_THAT(*again.desk.openInvites(kNow), IsEmpty());
    EXPECT_EQ(again.join('u', invitation).verdict, JoinVerdict::refused);
    EXPECT_THAT(words, HasSubstr("1 invitation(s) ended"));
  }
}

// Its disk went back, and it has heard of the roster of today.
TEST(ANodeWhoseKeyWasReplaced, StartsAndGetsAnother) {
  const Scratch scratch;
  test::Node first(scratch, "first");
  ASSERT_EQ(first.init(1).exitCode, 0);
  const std::string device = Side(AtRest{first.dir()}).roster().devices.front().device;
  ASSERT_TRUE(Side(AtRest{first.dir()}).desk.rotate(device, keyOf('F').publicKey()).ok());
  ASSERT_TRUE(first.up()) << first.log();
  EXPECT_TRUE(test::until([&] { return first.check("member") == "ok"; })) << first.log();
  EXPECT_EQ(first.stop(), 0);
  EXPECT_EQ(Side(AtRest{first.dir()}).roster().devices.front().keys.back(),
            toHex(readKey(first.dir(), KeyName::device)->publicKey()));
}

TEST(ANodeWhoseKeyWasReplaced, StartsAndNamesTheAct) {
  const Scratch scratch;
  test::Node first(scratch, "first");
  ASSERT_EQ(first.init(1).exitCode, 0);
  const std::string key = toHex(keyOf('F').publicKey());
  std::string device;
  {
    Side at(AtRest{first.dir()});
    device = at.roster().devices.front().device;
    ASSERT_NO_FATAL_FAILURE(agree(at));
    ASSERT_NO_FATAL_FAILURE(apply(at, {0, ActKind::rekey, rekeyText(device, key)}, "xy"));
  }
  ASSERT_TRUE(first.up()) << first.log();
  EXPECT_THAT(first.todo("member"), HasSubstr("witan admin propose rekey " + device));
  EXPECT_EQ(first.stop(), 0);
  EXPECT_EQ(Side(AtRest{first.dir()}).roster().devices.front().keys.back(), key);
}

// Two real nodes that are linked. The first one's disk goes back to before what a test does.
struct PartedNodes : ::testing::Test {
  void SetUp() override {
    ASSERT_TRUE(first.init(1).exitCode == 0 && first.up()) << first.log();
    ASSERT_TRUE(enrol(first, second, {"--role", "ledger", "--role", "*"})) << second.log();
    ASSERT_TRUE(linked()) << second.log();
    ASSERT_EQ(first.stop(), 0);
    std::filesystem::copy(first.dir(), scratch / "yesterday", std::filesystem::copy_options::recursive);
    ASSERT_TRUE(first.up() && linked()) << first.log();
  }
  bool linked() {
    return test::until([&] { return first.connectedTo(1) && second.connectedTo(1); });
  }
  static std::string rosterOf(const test::Node& node) { return node.run({"device", "roster", "--json"}).out; }
  // Both are down then.
  void goBack() {
    ASSERT_TRUE(second.stop() == 0 && first.stop() == 0);
    std::filesystem::remove_all(first.dir());
    std::filesystem::copy(scratch / "yesterday", first.dir(), std::filesystem::copy_options::recursive);
  }

  const Scratch scratch;
  test::Node first{scratch, "first"}, second{scratch, "second"};
};

// With real nodes: what the union takes from the member that tells of the other roster ends the very link.
TEST_F(PartedNodes, AreUnitedAndGoOn) {
  ASSERT_EQ(first.run({"device", "roles", "second", "--role", "ledger", "--role", "budget.A"}).exitCode, 0);
  ASSERT_TRUE(test::until([&] { return rosterOf(second).find("budget.A") != std::string::npos; })) << second.log();
  goBack();
  ASSERT_TRUE(first.up()) << first.log();
  for (const char* site : {"berlin", "bonn"})
    ASSERT_EQ(first.run({"device", "site", "first", site}).exitCode, 0) << first.log();

  ASSERT_TRUE(second.up()) << second.log();
  const auto versionAt = [&](const test::Node& node) {
    const auto roster = parseJson(rosterOf(node));
    return roster.ok() ? roster->at("version").to_number<int>() : 0;
  };
  EXPECT_TRUE(test::until([&] {
    return versionAt(first) > 4 && versionAt(first) == versionAt(second) && first.connectedTo(1) &&
           second.connectedTo(1);
  })) << first.log()
      << second.log();
  EXPECT_EQ(versionAt(first), 5) << "once";
  EXPECT_THAT(rosterOf(first), HasSubstr(R"(["ledger","budget.A"])")) << "what both gave";
  EXPECT_THAT(rosterOf(first), HasSubstr("bonn"));
  EXPECT_THAT(first.run({"incident", "list"}).out, HasSubstr("rosterParted"));
  EXPECT_EQ(first.stop(), 0);
  EXPECT_EQ(second.stop(), 0);
}

// A backup of before it changed its own key: that key opens no link, and `admin.key` proves who asks for the roster.
TEST_F(PartedNodes, AFirstDeviceFromBeforeItsOwnNewKeyGoesOn) {
  const std::string before = rosterOf(second);
  ASSERT_EQ(first.run({"device", "rotate-key"}).exitCode, 0) << first.log();
  ASSERT_TRUE(test::until([&] { return rosterOf(second) != before; }) && linked()) << second.log();
  goBack();

  ASSERT_TRUE(second.up() && first.up()) << first.log();
  EXPECT_TRUE(linked()) << first.log() << second.log();
  ASSERT_EQ(first.stop(), 0);
  ASSERT_TRUE(first.up()) << first.log();
  EXPECT_TRUE(linked()) << first.log() << second.log();
  EXPECT_EQ(first.run({"device", "site", "first", "bonn"}).exitCode, 0) << first.log();
  EXPECT_TRUE(test::until([&] { return rosterOf(second).find("bonn") != std::string::npos; })) << second.log();
  EXPECT_EQ(first.stop(), 0);
  EXPECT_EQ(second.stop(), 0);
}

}  // namespace
}  // namespace witan::node::roster_parted_test
