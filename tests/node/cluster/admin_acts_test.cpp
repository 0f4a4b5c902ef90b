// Several admins: what takes some of them, and what becomes of a lost admin's key.
#include "node/cluster/admin_acts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/seams.h"
#include "node/cluster/device_key.h"
#include "node/cluster/revocation.h"
#include "node/cluster/roster_follows.h"
#include "node/cluster/roster_store.h"
#include "node/cluster/scope_keys.h"
#include "node/daemon/published_files.h"
#include "node/data_dir/replica_dir.h"
#include "node/enrolment/enrolment_service.h"
#include "node/enrolment/joining.h"
#include "node/enrolment/new_node.h"
#include "program/durable_file.h"
#include "replication/records/record_schemas.h"
#include "store/memory_store.h"
#include "tests/node/node_process.h"

namespace witan::node::admin_acts_test {
namespace {

using ::testing::HasSubstr;

SigningKey keyOf(char seed) { return *SigningKey::fromSeed(std::string(32, seed)); }
AdminKey adminOf(char name) { return {std::string(1, name), toHex(keyOf(name).publicKey())}; }

const Now kNow{Time{1'774'252'800'000'000}, 0};

// A cluster of two devices on directories: the first has the admin's key.
class AdminActs : public ::testing::Test {
 protected:
  AdminActs() {
    NewNode node;
    node.name = "first";
    node.listen = {"127.0.0.1:0"};
    EXPECT_TRUE(beginCluster(first, node, kNow).ok());
    open();
    std::filesystem::create_directory(second);
    std::filesystem::permissions(second, std::filesystem::perms::owner_all);
    const SigningKey key = *createKey(second, KeyName::device);
    const std::vector<std::string> here{"127.0.0.1:7600"};
    const JoinToken token = *readToken(
        *service->invite({.roles = {"ledger", "*"}, .scopes = {}}, here, key.publicKey(), kNow.wall, random));
    const JoinAnswer answer =
        service->onJoin({token.id, token.secret, "second", {}, {}}, key.publicKey(), "", kNow.wall);
    EXPECT_EQ(answer.verdict, JoinVerdict::admitted) << answer.reason;
    node.name = "second";
    EXPECT_TRUE(enterCluster(second, node, answer).ok());
    others = *RosterStore::open(second, rosters->admin());
  }
  void open() {
    const SigningKey admin = *readKey(first, KeyName::admin);
    rosters = *RosterStore::open(first, admin.publicKey());
    auto opened = EnrolmentService::open(first, *rosters, *readClusterSecret(first), 8, admin);
    ASSERT_TRUE(opened.ok());
    service.emplace(*std::move(opened));
  }
  std::string idOf(const char* name) { return (*rosters->current().lookUp(name))->device; }

  AdminAct next(ActKind kind, const std::string& subject) {
    AdminAct act{rosters->admins().acts + 1, kind, subject};
    act.expires = Time{kNow.wall.micros + 1'000'000};
    return act;
  }
  AdminAct admins(const std::string& names, std::uint64_t approvals) {
    AdminAct act = next(ActKind::admins, "");
    for (const char name : names) act.admins.push_back(adminOf(name));
    act.approvals = approvals;
    if (act.number == 1) act.settled = actsNeededBy(rosters->current());
    return act;
  }
  Status apply(AdminAct act, const std::string& by, Time now = kNow.wall) {
    for (const char name : by) approveAct(rosters->current().cluster, act, keyOf(name));
    return service->apply(act, now);
  }
  // Two of three admins.
  void agree() {
    AdminAct act = admins("abc", 2);
    approveAct(rosters->current().cluster, act, *readKey(first, KeyName::admin));
    const Status done = service->apply(act, kNow.wall);
    ASSERT_TRUE(done.ok()) << done.error().message;
  }

  const test::Scratch scratch;
  const std::filesystem::path first = scratch / "first", second = scratch / "second";
  SystemRandom random;
  std::optional<RosterStore> rosters, others;
  std::optional<EnrolmentService> service;
};

TEST_F(AdminActs, OneAdminAloneRevokesUntilSeveralAgree) {
  agree();
  EXPECT_TRUE(*others->adopt(rosters->document()));
  const Status alone = service->revoke("second", "lost");
  EXPECT_THAT(alone.error().message, HasSubstr("this takes 2 of 3 admins"));
  EXPECT_THAT(alone.error().hint, HasSubstr("witan admin propose revoke"));
  const std::vector<std::string> takeover{"ledger", "takeover", "*"};
  EXPECT_THAT(service->setRoles("second", takeover).error().message, HasSubstr("2 of 3"));
  // The key that signs rosters does not help.
  Roster forged = rosters->current();
  forged.find(idOf("second"))->state = DeviceState::revoked;
  ++forged.version;
  EXPECT_THAT(signRoster(forged, *readKey(first, KeyName::admin)).error().message, HasSubstr("no act of the admins"));

  EXPECT_THAT(apply(next(ActKind::revoke, idOf("second")), "a").error().message, HasSubstr("lacks 1 of 2"));
  EXPECT_THAT(apply(next(ActKind::revoke, idOf("second")), "aa").error().message, HasSubstr("lacks 1 of 2"));
  EXPECT_THAT(apply(next(ActKind::revoke, idOf("second")), "az").error().message, HasSubstr("lacks 1 of 2"));
  const Status done = apply(next(ActKind::revoke, idOf("second")), "ac");
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_FALSE(rosters->current().find(idOf("second"))->active());
  EXPECT_TRUE(*others->adopt(rosters->document()));
  EXPECT_FALSE(others->current().find(idOf("second"))->active());
}

// Who signs rosters, alone: by leaving a device out, letting one in again, or by what the first act says.
TEST_F(AdminActs, ARosterThatGoesAroundThemIsRefused) {
  const SigningKey admin = *readKey(first, KeyName::admin);
  const std::string id = idOf("second");
  const auto refusedAs = [&](Roster forged, const std::function<void(Roster&)>& change) {
    change(forged);
    ++forged.version;
    const auto document = signRoster(forged, admin);
    if (!document.ok()) return document.error().message;
    const auto taken = others->adopt(*document);
    return taken.ok() ? std::string("taken") : taken.error().message;
  };
  EXPECT_THAT(refusedAs(rosters->current(),
                        [&](Roster& forged) {
                          AdminAct act = admins("abc", 2);
                          act.settled.push_back("revoke " + id);
                          approveAct(forged.cluster, act, admin);
                          forged.acts = std::vector{act};
                        }),
              HasSubstr("lets it in again"))
      << "the act says that it is out";
  agree();
  ASSERT_TRUE(*others->adopt(rosters->document()));
  EXPECT_THAT(refusedAs(rosters->current(),
                        [&](Roster& forged) {
                          std::erase_if(forged.devices, [&](const RosterDevice& one) { return one.device == id; });
                        }),
              HasSubstr("leaves out"));
  ASSERT_TRUE(apply(next(ActKind::revoke, id), "bc").ok());
  ASSERT_TRUE(*others->adopt(rosters->document()));
  // Also of a device that has not heard of the act: the roster itself says it.
  EXPECT_THAT(refusedAs(rosters->current(), [&](Roster& forged) { forged.find(id)->state = DeviceState::active; }),
              HasSubstr("lets it in again"));
}

TEST_F(AdminActs, TheRoleTakeoverTakesANewActEachTime) {
  const SigningKey admin = *readKey(first, KeyName::admin);
  const std::string id = idOf("second");
  Roster settles = rosters->current();
  AdminAct act = admins("abc", 2);
  act.settled.push_back("takeover " + id);
  approveAct(settles.cluster, act, admin);
  settles.acts = std::vector{act};
  ++settles.version;
  EXPECT_THAT(others->adopt(*signRoster(settles, admin)).error().message, HasSubstr("settles what did not happen"));
  agree();
  ASSERT_TRUE(apply(next(ActKind::takeover, id), "bc").ok());
  const std::vector<std::string> taken{"*", "takeover"};
  ASSERT_TRUE(apply(next(ActKind::withdraw, withdrawText(id, taken)), "bc").ok());
  ASSERT_TRUE(*others->adopt(rosters->document()));
  Roster forged = rosters->current();
  forged.find(id)->roles = {"ledger", "takeover"};
  ++forged.version;
  EXPECT_THAT(others->adopt(*signRoster(forged, admin)).error().message, HasSubstr("without a new act"));
}

// Who signs it last would sign it for ever.
TEST_F(AdminActs, ARosterOfAVersionFarAheadIsRefused) {
  const SigningKey admin = *readKey(first, KeyName::admin);
  const std::uint64_t known = others->current().version;
  Roster forged = rosters->current();
  for (const std::uint64_t version : {known + (1 << 20) + 1, std::uint64_t{1} << 62}) {
    forged.version = version;
    EXPECT_EQ(others->adopt(*signRoster(forged, admin)).error().code, ErrorCode::unauthorised);
  }
  forged.version = known + (1 << 20);
  forged.before = linksAfter(rosters->current(), rosters->link());
  EXPECT_TRUE(*others->adopt(*signRoster(forged, admin)));
}

// A node that has another one would look for each entity where others do not.
TEST_F(AdminActs, TheNumberOfPartitionsIsSigned) {
  const Status before = checkOwnKeys(second, *others);
  EXPECT_TRUE(before.ok()) << before.error().message;
  const std::string file = (second / "cluster.json").string();
  std::string text = *readSmallFile(file, 1 << 20).value();
  const std::size_t at = text.find("\"partitions\":");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, text.find_first_of(",}", at) - at, "\"partitions\":4");
  ASSERT_TRUE(replaceFile(file, text, 0600).ok());
  EXPECT_THAT(checkOwnKeys(second, *others).error().message, HasSubstr("says 4 partitions"));
}

// Nor does one signature count twice, in another cluster, or under another spelling of its key.
TEST_F(AdminActs, OneKeyIsNoQuorum) {
  agree();
  AdminAct act = next(ActKind::revoke, idOf("second"));
  approveAct(rosters->current().cluster, act, keyOf('a'));
  act.approved.push_back(act.approved.front());
  EXPECT_THAT(service->apply(act, kNow.wall).error().message, HasSubstr("lacks 1 of 2"));
  for (char& digit : act.approved.back().key) digit = static_cast<char>(std::toupper(digit));
  EXPECT_THAT(service->apply(act, kNow.wall).error().message, HasSubstr("lacks 1 of 2"));
  act.approved.clear();
  for (const char name : {'a', 'b'}) approveAct("another cluster", act, keyOf(name));
  EXPECT_THAT(service->apply(act, kNow.wall).error().message, HasSubstr("lacks 2 of 2"));
  AdminAct shouted = admins("ab", 2);
  for (char& digit : shouted.admins.front().key) digit = static_cast<char>(std::toupper(digit));
  EXPECT_THAT(apply(shouted, "ab").error().message, HasSubstr("lower-case hex"));
}

TEST_F(AdminActs, ATakeoverTakesThemToo) {
  agree();
  ASSERT_TRUE(apply(next(ActKind::takeover, idOf("second")), "bc").ok());
  EXPECT_TRUE(rosters->current().find(idOf("second"))->takesOver());
  EXPECT_TRUE(rosters->current().find(idOf("first"))->takesOver()) << "from before";
  EXPECT_TRUE(*others->adopt(rosters->document()));
}

// So an invitation that gives the role would let nobody in.
TEST_F(AdminActs, NoInvitationGivesTheRoleTakeover) {
  const std::vector<std::string> here{"127.0.0.1:7600"}, roles{"ledger", "takeover"};
  const PublicKey key = keyOf('n').publicKey();
  const auto invite = [&] { return service->invite({.roles = roles, .scopes = {}}, here, key, kNow.wall, random); };
  const auto before = invite();
  ASSERT_TRUE(before.ok());
  agree();
  EXPECT_EQ(invite().error().code, ErrorCode::unauthorised);
  EXPECT_THAT(invite().error().hint, HasSubstr("witan admin propose takeover"));
  const JoinToken token = *readToken(*before);
  const JoinAnswer answer = service->onJoin({token.id, token.secret, "new", {}, {}}, key, "", kNow.wall);
  EXPECT_EQ(answer.verdict, JoinVerdict::refused);
  EXPECT_THAT(answer.reason, HasSubstr("gets no role takeover"));
  EXPECT_EQ(service->openInvites(kNow.wall)->front().usesLeft, 1u) << "it is not used up by that";
  ASSERT_EQ(service->onJoin({"", "", "new", {}, {}}, key, "", kNow.wall).verdict, JoinVerdict::pending);
  EXPECT_EQ(service->approve("new", roles, {}, kNow.wall).error().code, ErrorCode::unauthorised);
}

TEST_F(AdminActs, OneThatExpiredOrHappenedBeforeIsRefused) {
  agree();
  AdminAct act = next(ActKind::takeover, idOf("second"));
  EXPECT_THAT(apply(act, "ab", Time{act.expires.micros + 1}).error().message, HasSubstr("expired"));
  AdminAct far = act;
  far.expires = Time{kNow.wall.micros + kMaxActLifeMicros + 1};
  EXPECT_FALSE(apply(far, "ab").ok());
  ASSERT_TRUE(apply(act, "ab").ok());
  EXPECT_THAT(apply(act, "ab").error().message, HasSubstr("is not the next one, which is 3"));
  AdminAct skipped = next(ActKind::takeover, idOf("first"));
  skipped.number = ~std::uint64_t{0};
  EXPECT_FALSE(apply(skipped, "ab").ok());
  // A signature of one act is none of another.
  AdminAct other = next(ActKind::revoke, idOf("second"));
  other.approved = act.approved;
  EXPECT_THAT(service->apply(other, kNow.wall).error().message, HasSubstr("lacks 2 of 2"));
}

TEST_F(AdminActs, WhatNamesNoAdminsOrTooFewIsNone) {
  EXPECT_FALSE(apply(admins("", 1), "a").ok());
  EXPECT_FALSE(apply(admins("ab", 0), "a").ok());
  EXPECT_FALSE(apply(admins("ab", 3), "a").ok());
  EXPECT_FALSE(apply(admins("aa", 1), "a").ok());
  AdminAct weak = admins("ab", 2);
  weak.admins.back().key = "01" + std::string(62, '0');
  EXPECT_THAT(checkAct(weak).error().message, HasSubstr("is no Ed25519 key"));
  EXPECT_THAT(apply(admins("ab", 2), "ab").error().message, HasSubstr("lacks 1 of 1")) << "not of who signs rosters";
  EXPECT_FALSE(apply(next(ActKind::revoke, idOf("second")), "a").ok()) << "the first act names the admins";
  agree();
  AdminAct again = admins("z", 1);
  again.settled = {"revoke x"};
  EXPECT_THAT(apply(again, "ab").error().message, HasSubstr("only the first act settles"));
  ASSERT_TRUE(apply(admins("xyz", 2), "ab").ok());
  EXPECT_FALSE(apply(next(ActKind::revoke, idOf("second")), "ab").ok()) << "they are admins no more";
  EXPECT_TRUE(apply(next(ActKind::revoke, idOf("second")), "xz").ok());
}

// Other admins let a key on another device sign rosters: the lost one, or who stole it, signs none that count, and what
// was sealed before can be read.
TEST_F(AdminActs, ALostAdminsKeyIsReplacedByTheOthers) {
  agree();
  ASSERT_TRUE(*others->adopt(rosters->document()));
  const ScopeGenerations before =
      openScopeKeys(others->current(), "*", idOf("second"), *readKey(second, KeyName::device));
  const SigningKey fresh = *createKey(second, KeyName::nextAdmin);
  auto there = EnrolmentService::open(second, *others, *readClusterSecret(second), 8, std::nullopt);
  ASSERT_TRUE(there.ok());
  EXPECT_FALSE(there->isAdmin());
  AdminAct act{2, ActKind::signer, toHex(fresh.publicKey())};
  act.expires = Time{kNow.wall.micros + 1'000'000};
  for (const char name : {'a', 'b'}) approveAct(others->current().cluster, act, keyOf(name));
  const Status done = there->apply(act, kNow.wall);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_TRUE(there->isAdmin());
  EXPECT_TRUE(hasKey(second, KeyName::admin));
  EXPECT_FALSE(hasKey(second, KeyName::nextAdmin));
  const ScopeGenerations after =
      openScopeKeys(others->current(), "*", idOf("second"), *readKey(second, KeyName::device));
  ASSERT_EQ(after.size(), before.size() + 1);
  EXPECT_EQ(after.at(1)->reveal(), before.at(1)->reveal());

  // Meanwhile the old key went on to a later version, and let a device in.
  const std::vector<std::string> here{"127.0.0.1:7600"};
  const JoinToken token =
      *readToken(*service->invite({.roles = {"*"}, .scopes = {}}, here, keyOf('f').publicKey(), kNow.wall, random));
  const JoinAnswer phone =
      service->onJoin({token.id, token.secret, "phone", {}, {}}, keyOf('p').publicKey(), "", kNow.wall);
  ASSERT_EQ(phone.verdict, JoinVerdict::admitted) << phone.reason;
  const std::vector<std::string> roles{"ledger", "*", "budget.A"}, all{"ledger", "takeover", "*"};
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(service->setRoles("second", roles).ok());
  const std::string stolen = rosters->document();
  EXPECT_FALSE(*others->adopt(stolen)) << "without the act";
  EXPECT_TRUE(*rosters->adopt(others->document())) << "with the act";
  EXPECT_EQ(rosters->current().find(phone.device), nullptr);
  EXPECT_FALSE(service->isAdmin());
  EXPECT_THAT(service->setRoles("second", roles).error().message, HasSubstr("was replaced"));
  Roster forged = others->current();
  ++forged.version;
  const auto document = signRoster(forged, *readKey(first, KeyName::admin));
  EXPECT_FALSE(others->adopt(*document).ok());
  open();
  EXPECT_FALSE(service->isAdmin()) << "after a restart";
  ASSERT_TRUE(there->setRoles("first", all).ok());
  EXPECT_TRUE(*rosters->adopt(others->document()));
  RosterDate date{kNow.wall, 1, ""};
  others->stamp(kNow.wall, *readKey(second, KeyName::admin));
  EXPECT_TRUE(*rosters->adopt(others->date(), kNow.wall));
}

// Who signs rosters cannot put a key of its own under a device, nor one that the device has given up.
TEST_F(AdminActs, ANewKeyOfADeviceTakesThemToo) {
  const std::string id = idOf("second");
  const auto hexOf = [](char name) { return toHex(keyOf(name).publicKey()); };
  ASSERT_TRUE(service->rotate(id, keyOf('k').publicKey()).ok()) << "before they agree";
  agree();
  ASSERT_TRUE(*others->adopt(rosters->document()));
  const Status alone = service->rotate(id, keyOf('l').publicKey());
  EXPECT_THAT(alone.error().message, HasSubstr("this takes 2 of 3 admins"));
  EXPECT_THAT(alone.error().hint, HasSubstr("witan admin propose rekey"));
  const SigningKey signer = *readKey(first, KeyName::admin);
  for (const bool last : {true, false}) {
    Roster forged = rosters->current();
    std::vector<std::string>& keys = forged.find(id)->keys;
    keys.insert(last ? keys.end() : keys.begin() + 1, hexOf('t'));
    ++forged.version;
    EXPECT_THAT(signRoster(forged, signer).error().message, HasSubstr("no act of the admins permits this: rekey"));
  }
  EXPECT_THAT(apply(next(ActKind::rekey, rekeyText(id, hexOf('l'))), "a").error().message, HasSubstr("lacks 1 of 2"));
  for (const std::string& subject : {id, rekeyText(id, "00"), rekeyText("nobody", hexOf('l'))})
    EXPECT_FALSE(apply(next(ActKind::rekey, subject), "ab").ok()) << subject;
  const Status done = apply(next(ActKind::rekey, rekeyText(id, hexOf('l'))), "ab");
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(rosters->current().find(id)->keys.back(), hexOf('l'));
  ASSERT_TRUE(*others->adopt(rosters->document()));
  Roster back = rosters->current();
  std::swap(back.find(id)->keys[1], back.find(id)->keys[2]);
  ++back.version;
  EXPECT_THAT(others->adopt(*signRoster(back, signer)).error().message, HasSubstr("goes back to an earlier key"));
}

// Who signs rosters cannot answer as a person by a key of its own.
TEST_F(AdminActs, ANewKeyOfAPersonTakesThemToo) {
  const std::vector<std::string> roles{"udt.counselor"};
  const auto add = [&](const char* name, char key) {
    return service->change(
        [&](Roster& roster) { return addPerson(roster, name, keyOf(key).publicKey(), roles, kNow.wall); });
  };
  ASSERT_TRUE(add("ann", 'p').ok());
  agree();
  ASSERT_TRUE(add("bob", 'q').ok()) << "a new person";
  ASSERT_TRUE(*others->adopt(rosters->document()));
  EXPECT_THAT(add("ann", 't').error().message, HasSubstr("no act of the admins permits this: rekeyPerson ann"));
  EXPECT_EQ(add("ann", 't').error().hint, "witan admin propose rekeyPerson ann=" + toHex(keyOf('t').publicKey()));
  const Status revoked = service->change([](Roster& roster) { return revokePerson(roster, "ann", "left"); });
  EXPECT_EQ(revoked.error().hint, "witan admin propose revokePerson ann");
  const std::string key = toHex(keyOf('r').publicKey());
  EXPECT_FALSE(apply(next(ActKind::rekeyPerson, rekeyText("nobody", key)), "ab").ok());
  const Status done = apply(next(ActKind::rekeyPerson, rekeyText("ann", key)), "ab");
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(rosters->current().person("ann")->keys.back(), key);
  ASSERT_TRUE(*others->adopt(rosters->document()));
  Roster forged = rosters->current();
  forged.persons->front().keys.front() = toHex(keyOf('t').publicKey());
  ++forged.version;
  EXPECT_THAT(others->adopt(*signRoster(forged, *readKey(first, KeyName::admin))).error().message,
              HasSubstr("another first key of ann"));
}

// A device without its roles is as good as revoked.
TEST_F(AdminActs, ToTakeRolesAwayTakesThemToo) {
  const std::string id = idOf("second");
  const std::vector<std::string> both{"ledger", "*"}, fewer{"ledger"}, more{"ledger", "*", "budget.A"};
  ASSERT_TRUE(service->setRoles("second", fewer).ok()) << "alone, while no admins have agreed";
  ASSERT_TRUE(service->setRoles("second", both).ok());
  agree();
  ASSERT_TRUE(*others->adopt(rosters->document()));
  const Status alone = service->setRoles("second", fewer);
  EXPECT_THAT(alone.error().message, HasSubstr("this takes 2 of 3 admins"));
  EXPECT_EQ(alone.error().hint, "witan admin propose withdraw " + id + " --role *");
  EXPECT_TRUE(service->setRoles("second", more).ok()) << "giving takes the signer alone";
  ASSERT_TRUE(*others->adopt(rosters->document()));
  const auto refusedAs = [&](const std::function<void(RosterDevice&)>& change) {
    Roster forged = rosters->current();
    change(*forged.find(id));
    ++forged.version;
    const auto taken = others->adopt(*signRoster(forged, *readKey(first, KeyName::admin)));
    return taken.ok() ? std::string("taken") : taken.error().message;
  };
  const auto without = [&](RosterDevice& device) { device.roles = fewer; };
  EXPECT_THAT(refusedAs(without), HasSubstr("takes the role * from " + id));
  EXPECT_THAT(refusedAs([](RosterDevice& device) { device.scopes = {"nowhere"}; }), HasSubstr("takes scopes from"));

  const std::vector<std::string> star{"*"}, none;
  EXPECT_THAT(apply(next(ActKind::withdraw, withdrawText(id, star)), "a").error().message, HasSubstr("lacks 1 of 2"));
  EXPECT_FALSE(apply(next(ActKind::withdraw, withdrawText(id, none)), "ab").ok());
  EXPECT_FALSE(apply(next(ActKind::withdraw, withdrawText(id, std::vector<std::string>{"udt.X"})), "ab").ok());
  const Status done = apply(next(ActKind::withdraw, withdrawText(id, star)), "ab");
  ASSERT_TRUE(done.ok()) << done.error().message;
  ASSERT_TRUE(*others->adopt(rosters->document()));
  EXPECT_EQ(others->current().find(id)->roles, (std::vector<std::string>{"ledger", "budget.A"}));
  // It is good for one time.
  ASSERT_TRUE(service->setRoles("second", more).ok());
  ASSERT_TRUE(*others->adopt(rosters->document()));
  EXPECT_THAT(refusedAs(without), HasSubstr("takes the role * from " + id));
}

// Where the last person of a domain goes, its answers need no signature any more.
TEST_F(AdminActs, SoDoesTakingRolesFromAPerson) {
  const auto add = [&](const std::vector<std::string>& roles) {
    return service->change(
        [&](Roster& roster) { return addPerson(roster, "ann", keyOf('p').publicKey(), roles, kNow.wall); });
  };
  ASSERT_TRUE(add({"udt.counselor", "budget.counselor"}).ok());
  agree();
  ASSERT_TRUE(*others->adopt(rosters->document()));
  const Status alone = add({"budget.counselor"});
  EXPECT_THAT(alone.error().message, HasSubstr("takes the role udt.counselor from ann"));
  EXPECT_EQ(alone.error().hint, "witan admin propose withdrawPerson ann --role udt.counselor");
  const std::vector<std::string> udt{"udt.counselor"};
  const Status done = apply(next(ActKind::withdrawPerson, withdrawText("ann", udt)), "ac");
  ASSERT_TRUE(done.ok()) << done.error().message;
  ASSERT_TRUE(*others->adopt(rosters->document()));
  EXPECT_EQ(others->current().person("ann")->roles, std::vector<std::string>{"budget.counselor"});
}

// What the lost key published stays where it came in, and what it signs afterwards comes in nowhere. The next key goes
// on.
TEST_F(AdminActs, WhoSignsRostersNowPublishes) {
  agree();
  ASSERT_TRUE(*others->adopt(rosters->document()));
  store::MemoryStore journal, records, ledgers;
  replication::ReplicaOptions options;
  options.cluster = others->current().cluster, options.clusterKey = "key", options.device = idOf("second");
  options.freshTag = [] { return 1u; };
  auto replica = *replication::LocalReplica::open(journal, records, replication::recordSchemas(), options);
  const DaemonConfig config;
  PublishedFiles files(*replica, ledgers, config, second, *others);
  const std::string name = "clerk.agent.toml",
                    head = "id = \"clerk\"\nentries = [\"note\"]\nmind = \"m.step\"\nwhat = ";
  const auto publish = [&](const std::string& what, const SigningKey& key) {
    const auto file = files.publish(name, head + what + "\n", key);
    EXPECT_TRUE(file.ok()) << file.error().message;
    EXPECT_TRUE(replica->flush().ok());
    EXPECT_TRUE(files.look().ok());
    return file.ok() ? file->version : 0;
  };
  const auto here = [&] { return **readSmallFile(second / "agents" / name, 4096); };
  const SigningKey lost = *readKey(first, KeyName::admin), fresh = *createKey(second, KeyName::nextAdmin);
  EXPECT_EQ(publish("\"one\"", lost), 1u);
  EXPECT_EQ(publish("\"two\"", lost), 2u);
  EXPECT_EQ(here(), head + "\"two\"\n");

  auto there = EnrolmentService::open(second, *others, *readClusterSecret(second), 8, std::nullopt);
  AdminAct act{2, ActKind::signer, toHex(fresh.publicKey())};
  act.expires = Time{kNow.wall.micros + 1'000'000};
  for (const char key : {'a', 'b'}) approveAct(others->current().cluster, act, keyOf(key));
  ASSERT_TRUE(there->apply(act, kNow.wall).ok());
  EXPECT_TRUE(checkPublished(second).ok()) << "what came in before stays in force";
  EXPECT_EQ(here(), head + "\"two\"\n");
  publish("\"of a thief\"", lost);
  EXPECT_EQ(here(), head + "\"two\"\n");
  EXPECT_EQ(publish("\"three\"", fresh), 1u);
  EXPECT_EQ(here(), head + "\"three\"\n");
  EXPECT_EQ(publish("\"four\"", fresh), 2u);
  EXPECT_EQ(here(), head + "\"four\"\n");
  EXPECT_TRUE(checkPublished(second).ok());
  ASSERT_TRUE(replaceFile(second / "agents" / name, head + "\"two\"\n", 0644).ok());
  EXPECT_FALSE(checkPublished(second).ok());
}

// The word for the revoked device itself, which stands alone, is no way around them either.
TEST_F(AdminActs, AWordOfTheSignerAloneRevokesNobody) {
  agree();
  ASSERT_TRUE(*others->adopt(rosters->document()));
  const std::string id = idOf("second");
  const SigningKey admin = *readKey(first, KeyName::admin);
  Roster forged = rosters->current();
  ++forged.version;
  forged.find(id)->state = DeviceState::revoked, forged.find(id)->reason = "gone";
  signRevocations(forged, admin, false);
  const auto alone = others->adoptRevocation(revocationOf(forged, id), id);
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().code, ErrorCode::unauthorised);
  EXPECT_TRUE(others->current().find(id)->active());
  AdminAct act = next(ActKind::revoke, id);
  act.reason = "sold";
  ASSERT_TRUE(apply(act, "bc").ok());
  const auto word = others->adoptRevocation(revocationOf(rosters->current(), id), id);
  ASSERT_TRUE(word.ok()) << word.error().message;
  EXPECT_TRUE(*word);
  EXPECT_FALSE(others->current().find(id)->active());
  RosterStore again = *RosterStore::open(second, rosters->admin());
  EXPECT_FALSE(again.current().find(id)->active());
}

// What takes no act changes nothing by which members, and the people who act for them, tell and trust each other.
TEST_F(AdminActs, TheSignerAloneTakesNeitherNamesNorSealsNorKeys) {
  agree();
  ASSERT_TRUE(*others->adopt(rosters->document()));
  const SigningKey admin = *readKey(first, KeyName::admin);
  const std::string id = idOf("second");
  const auto refused = [&](const std::function<void(Roster & roster)>& change) {
    Roster forged = rosters->current();
    change(forged);
    EXPECT_TRUE(rosters->publish(forged, admin).error().code == ErrorCode::unauthorised);
    ++forged.version;
    forged.before = linksAfter(rosters->current(), rosters->link());
    const auto taken = others->adopt(*signRoster(forged, admin));
    return !taken.ok() && taken.error().code == ErrorCode::unauthorised;
  };
  EXPECT_TRUE(refused([](Roster& roster) { std::swap(roster.devices[0].name, roster.devices[1].name); }));
  EXPECT_TRUE(refused([&](Roster& roster) { roster.find(id)->sealsRows.reset(); }));
  EXPECT_TRUE(refused([](Roster& roster) { roster.scopeKeys.reset(); }));
  EXPECT_TRUE(refused([](Roster& roster) { roster.scopeKeys->front().copies.pop_back(); }));
  Roster renamed = rosters->current();
  renamed.find(id)->name = "third";
  EXPECT_TRUE(rosters->publish(renamed, admin).ok());
  EXPECT_TRUE(*others->adopt(rosters->document()));
}

// Whoever knows the acts takes no other ones.
TEST_F(AdminActs, AnotherHistoryOfActsIsRefused) {
  agree();
  ASSERT_TRUE(*others->adopt(rosters->document()));
  Roster forged = others->current();
  AdminAct act = admins("z", 1);
  act.number = 1, act.settled = actsNeededBy(forged);
  const SigningKey admin = *readKey(first, KeyName::admin);
  approveAct(forged.cluster, act, admin);
  forged.acts = std::vector{act, act};
  forged.acts->back().number = 2, forged.acts->back().settled.clear(), forged.acts->back().approved.clear();
  approveAct(forged.cluster, forged.acts->back(), keyOf('z'));
  ++forged.version;
  const auto document = signRoster(forged, admin);
  ASSERT_TRUE(document.ok());
  ASSERT_TRUE(readRoster(*document, admin.publicKey()).ok()) << "good by itself";
  EXPECT_THAT(others->adopt(*document).error().message, HasSubstr("other acts of the admins"));
  forged.acts->front().approved.clear();
  EXPECT_THAT(readRoster(*signRoster(forged, admin), admin.publicKey()).error().message, HasSubstr("lacks 1 of 1"));
}

// The same by the command line, on nodes.
TEST(AdminCommand, LetsTwoAdminsRevokeADeviceOfARunningCluster) {
  const test::Scratch scratch;
  scratch.write("words", "correct horse\n");
  ASSERT_EQ(setenv("WITAN_PASSPHRASE_FILE", (scratch / "words").c_str(), 1), 0);
  test::Node one(scratch, "one"), two(scratch, "two");
  ASSERT_TRUE(one.init(1).exitCode == 0 && one.up()) << one.log();
  ASSERT_TRUE(test::enrol(one, two)) << two.log();
  std::vector<std::string> words{"admin", "propose", "admins", "--approvals", "2", "--out", scratch / "act"};
  for (const char* name : {"ann", "bob"}) {
    const json::value key = one.runJson({"admin", "key", scratch / name});
    words.insert(words.end(), {"--admin", concat(name, "=", key.at("key").as_string().c_str())});
  }
  ASSERT_EQ(one.stop(), 0);
  ASSERT_EQ(one.run(words).exitCode, 0);
  ASSERT_EQ(one.run({"admin", "sign", scratch / "act"}).exitCode, 0);
  const auto applied = one.run({"admin", "apply", scratch / "act"});
  ASSERT_EQ(applied.exitCode, 0) << applied.err;
  ASSERT_TRUE(one.up() && one.waitUntil("connected")) << one.log();
  EXPECT_THAT(one.run({"device", "revoke", "two", "--reason", "sold"}).err, HasSubstr("2 of 2 admins"));
  EXPECT_THAT(one.run({"admin", "apply", scratch / "act"}).err, HasSubstr("open"));
  ASSERT_EQ(one.stop(), 0);
  ASSERT_EQ(two.run({"admin", "propose", "revoke", "two", "--reason", "sold", "--out", scratch / "act"}).exitCode, 0);
  for (const char* name : {"ann", "bob"})
    ASSERT_EQ(two.run({"admin", "sign", scratch / "act", "--key", scratch / name}).exitCode, 0);
  ASSERT_EQ(one.run({"admin", "apply", scratch / "act"}).exitCode, 0);
  ASSERT_TRUE(one.up()) << one.log();
  EXPECT_THAT(one.run({"device", "roster", "--json"}).out, HasSubstr("\"revoked\""));
  EXPECT_FALSE(one.connectedTo(1));
  EXPECT_THAT(one.run({"admin", "list"}).out, HasSubstr("revoke"));
}

// What `admin sign` says of an act holds where it is applied.
TEST(AdminCommand, CountsTheSignaturesOfAdminsAlone) {
  const test::Scratch scratch;
  scratch.write("words", "correct horse\n");
  ASSERT_EQ(setenv("WITAN_PASSPHRASE_FILE", (scratch / "words").c_str(), 1), 0);
  const test::Node one(scratch, "one"), nobody(scratch, "nobody");
  ASSERT_EQ(one.init(1).exitCode, 0);
  std::map<std::string, std::string> keys;
  for (const char* name : {"ann", "bob", "eve"})
    keys[name] = one.runJson({"admin", "key", scratch / name}).at("key").as_string();
  const auto signedBy = [&](const test::Node& node, const char* name) {
    std::vector<std::string> words{"admin", "sign", scratch / "act"};
    if (*name != 0) words.insert(words.end(), {"--key", scratch / name});
    return node.runJson(words);
  };
  ASSERT_EQ(one.run({"admin", "propose", "admins", "--approvals", "2", "--out", scratch / "act", "--admin",
                     "ann=" + keys["ann"], "--admin", "bob=" + keys["bob"]})
                .exitCode,
            0);
  EXPECT_THAT(std::string(signedBy(one, "ann").at("failed").as_string()), HasSubstr("\"unauthorised\""));
  const json::value first = signedBy(one, "");
  EXPECT_EQ(first.at("signatures").to_number<int>(), 1);
  EXPECT_EQ(first.at("needed").to_number<int>(), 1);
  ASSERT_EQ(one.run({"admin", "apply", scratch / "act"}).exitCode, 0);

  ASSERT_EQ(one.run({"admin", "propose", "revokePerson", "zoe", "--out", scratch / "act"}).exitCode, 0);
  const std::string before = test::contentOf(scratch / "act");
  EXPECT_THAT(std::string(signedBy(one, "eve").at("failed").as_string()), HasSubstr("\"unauthorised\""));
  EXPECT_THAT(std::string(signedBy(one, "").at("failed").as_string()), HasSubstr("\"unauthorised\""));
  EXPECT_EQ(test::contentOf(scratch / "act"), before);
  // Where nothing of the cluster is, nobody can tell.
  EXPECT_EQ(signedBy(nobody, "eve").at("checked"), json::value(false));
  const json::value ann = signedBy(one, "ann");
  EXPECT_EQ(ann.at("signatures").to_number<int>(), 1);
  EXPECT_EQ(ann.at("needed").to_number<int>(), 2);
  EXPECT_EQ(ann.at("others"), json::value(json::array{json::value(keys["eve"])}));
  EXPECT_EQ(signedBy(one, "bob").at("signatures").to_number<int>(), 2);
}

}  // namespace
}  // namespace witan::node::admin_acts_test
