// What holds of each union of two rosters that parted, over histories that are drawn: who has either of the two takes
// it, it is the same from both sides, and nothing that was taken comes back.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <set>

#include "base/bytes.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_follows.h"
#include "node/cluster/roster_store.h"
#include "node/cluster/roster_union.h"
#include "node/cluster/scope_keys.h"

namespace witan::node::roster_union_test {
namespace {

constexpr Time kNow{1'700'000'000'000'000};
const std::vector<std::string> kRoles{"ledger", "*", "takeover", "udt.Clinical", "udt.LabOrder"};
const std::vector<std::string> kPersonRoles{"moderation.counselor", "graph.Person"};
const std::vector<std::string> kNames{"phone", "lab", "desk"}, kPersons{"dr.a", "dr.b", "dr.c"};

const SigningKey& keyOf(unsigned number) {
  static std::map<unsigned, SigningKey> made;
  if (const auto at = made.find(number); at != made.end()) return at->second;
  std::string seed(32, 'k');
  seed[0] = static_cast<char>(number), seed[1] = static_cast<char>(number >> 8);
  return made.emplace(number, *SigningKey::fromSeed(seed)).first->second;
}
std::string hexOf(unsigned number) { return toHex(keyOf(number).publicKey()); }

// A history: it signs as the device with the key does, with acts where admins act together.
struct History {
  Roster roster;
  std::string document;
  RosterLink link;

  static History begin() {
    History first;
    const PublicKey key = keyOf(1).publicKey();
    RosterDevice device{.device = deviceIdOf(key), .name = "first"};
    device.keys = {toHex(key)}, device.roles = {"ledger", "*", "takeover"}, device.since = kNow;
    first.roster = Roster{clusterIdOf(keyOf(0).publicKey()), 0, {device}};
    EXPECT_TRUE(first.sign(first.roster, nullptr).ok());
    return first;
  }
  // False: this history may not do that.
  Status sign(Roster next, const Roster* before) {
    next.version = roster.version + 1;
    if (!document.empty()) next.before = linksAfter(next, link);
    if (before != nullptr && !next.allActs().empty()) WITAN_DO(checkFollows(*before, next));
    WITAN_TRY(text, signRoster(next, keyOf(0)));
    WITAN_TRY(read, readRoster(text, keyOf(0).publicKey()));
    roster = std::move(read), document = std::move(text), link = linkOf(roster, document);
    return okStatus();
  }
  bool act(Roster& next, ActKind kind, const std::string& subject) const {
    if (next.allActs().empty()) return false;
    AdminAct one{next.allActs().size() + 1, kind, subject};
    one.expires = Time{kNow.micros + 1'000'000};
    for (const unsigned admin : {900u, 901u}) approveAct(next.cluster, one, keyOf(admin));
    next.acts->push_back(one);
    return true;
  }
  bool firstAct() {
    Roster next = roster;
    AdminAct one{1, ActKind::admins, ""};
    for (const unsigned admin : {900u, 901u, 902u}) one.admins.push_back({std::to_string(admin), hexOf(admin)});
    one.approvals = 2, one.settled = actsNeededBy(next), one.expires = Time{kNow.micros + 1'000'000};
    approveAct(next.cluster, one, keyOf(0));
    next.acts = std::vector<AdminAct>{one};
    const Roster before = roster;
    return sign(std::move(next), &before).ok();
  }
};

// Draws what a history does next.
class Steps {
 public:
  explicit Steps(unsigned seed) : random_(seed) {}

  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  bool one(unsigned in) { return below(in) == 0; }

  // `acts`: an act may be in this one. Of two that part, it is in one alone.
  void go(History& history, bool acts) {
    Roster next = history.roster;
    bool done = false;
    switch (below(10)) {
      case 0:
      case 1: done = admit(next); break;
      case 2: done = revoke(history, next, acts); break;
      case 3: done = rekey(history, next, acts); break;
      case 4: done = roles(history, next, acts); break;
      case 5:
      case 6: done = person(history, next, acts); break;
      case 7: done = revokePerson(history, next, acts); break;
      case 8: done = rename(next); break;
      default: next.devices[below(next.devices.size())].site = concat("site-", below(4)), done = true;
    }
    const Roster before = history.roster;
    if (done) (void)history.sign(std::move(next), &before);
  }

 private:
  std::vector<std::string> some(const std::vector<std::string>& of) {
    std::vector<std::string> drawn;
    for (const std::string& each : of)
      if (one(2)) drawn.push_back(each);
    return drawn.empty() ? std::vector<std::string>{of[1]} : drawn;
  }
  bool admit(Roster& next) {
    const unsigned number = one(4) ? 10 + below(4) : 100 + below(400);  // some come to both
    RosterDevice device{.device = deviceIdOf(keyOf(number).publicKey())};
    if (next.find(device.device) != nullptr) return false;
    device.name = freeNameIn(next, kNames[below(kNames.size())], device.device);
    device.keys = {hexOf(number)}, device.roles = some(kRoles), device.since = kNow;
    if (!next.allActs().empty()) std::erase(device.roles, kTakeoverRole);
    if (one(3)) device.scopes = some({"s1", "s2", "s3"});
    next.devices.insert(std::ranges::lower_bound(next.devices, device.device, {}, &RosterDevice::device), device);
    return true;
  }
  RosterDevice* member(Roster& next) {
    RosterDevice& device = next.devices[below(next.devices.size())];
    return device.active() && device.device != deviceIdOf(keyOf(1).publicKey()) ? &device : nullptr;
  }
  bool revoke(History& history, Roster& next, bool acts) {
    RosterDevice* device = member(next);
    if (device == nullptr) return false;
    device->state = DeviceState::revoked, device->reason = "lost";
    return next.allActs().empty() || (acts && history.act(next, ActKind::revoke, device->device));
  }
  bool rekey(History& history, Roster& next, bool acts) {
    RosterDevice* device = member(next);
    if (device == nullptr || device->keys.size() > 8) return false;
    const std::string key = hexOf(10'000 + drawn_++ * 2 % 400 + below(2));
    device->keys.push_back(key);
    return next.allActs().empty() || (acts && history.act(next, ActKind::rekey, rekeyText(device->device, key)));
  }
  bool roles(History& history, Roster& next, bool acts) {
    RosterDevice* device = member(next);
    if (device == nullptr) return false;
    const std::vector<std::string> was = std::exchange(device->roles, some(kRoles));
    if (next.allActs().empty()) return true;
    if (std::ranges::find(was, kTakeoverRole) == was.end()) std::erase(device->roles, kTakeoverRole);
    if (device->roles.empty()) return false;
    const auto lost = rolesLost(was, device->roles);
    return lost.empty() || (acts && history.act(next, ActKind::withdraw, withdrawText(device->device, lost)));
  }
  bool person(History& history, Roster& next, bool acts) {
    const std::string& name = kPersons[below(kPersons.size())];
    const RosterPerson* was = next.person(name);
    const std::string key = hexOf(600 + below(5));  // one for several names, in two histories
    if (!addPerson(next, name, *publicKeyFromHex(key, "key"), some(kPersonRoles), kNow).ok()) return false;
    if (next.allActs().empty() || was == nullptr) return true;
    const auto lost = rolesLost(history.roster.person(name)->roles, next.person(name)->roles);
    if (!lost.empty()) return false;
    return history.roster.person(name)->keys.back() == key ||
           (acts && history.act(next, ActKind::rekeyPerson, rekeyText(name, key)));
  }
  bool revokePerson(History& history, Roster& next, bool acts) {
    const std::string& name = kPersons[below(kPersons.size())];
    if (!witan::node::revokePerson(next, name, "gone").ok()) return false;
    return next.allActs().empty() || (acts && history.act(next, ActKind::revokePerson, name));
  }
  bool rename(Roster& next) {
    RosterDevice* device = member(next);
    if (device == nullptr) return false;
    device->name = freeNameIn(next, kNames[below(kNames.size())], device->device);
    return true;
  }

  std::mt19937 random_;
  unsigned drawn_ = 0;
};

// As EnrolmentService::unite publishes it.
std::optional<History> unite(const History& one, const History& other, RosterUnion& united) {
  united = uniteRosters(one.roster, one.link, {other.roster, other.link});
  History next = one;
  next.roster.version = std::max(one.roster.version, other.roster.version);
  Roster roster = united.roster;
  const Status done = next.sign(std::move(roster), &one.roster);
  EXPECT_TRUE(done.ok()) << done.error().message;
  return done.ok() ? std::optional(next) : std::nullopt;
}

// The two as they are when they are compared: which of them signs last is no matter.
std::string contentOf(const Roster& roster) {
  Roster content = roster;
  content.before = {}, content.version = 0;
  return toJson(content);
}

bool named(const RosterUnion& united, ActKind kind, const std::string& subject) {
  return std::ranges::any_of(united.toSign, [&](const std::string& command) {
    return command.starts_with(concat("witan admin propose ", enumName(kind), " ", subject));
  });
}

void checkFollowed(const History& side, const History& united) {
  EXPECT_EQ(lineageOf(side.roster, side.link, united.roster, united.link), Lineage::follows);
  if (!united.roster.allActs().empty()) {
    const Status follows = checkFollows(side.roster, united.roster);
    EXPECT_TRUE(follows.ok()) << follows.error().message;
  }
  // For who was away so long that no link reaches back.
  Roster later = united.roster;
  later.before = {};
  EXPECT_EQ(lineageOf(side.roster, side.link, later, united.link), Lineage::follows);
  EXPECT_EQ(lineageOf(later, united.link, side.roster, side.link), Lineage::precedes);
}

// Nothing that either took comes back, but what the admins alone may do and are told of.
void checkTaken(const Roster& side, const History& history, const RosterUnion& united) {
  const Roster& now = history.roster;
  for (const RosterDevice& was : side.devices) {
    const RosterDevice* is = now.find(was.device);
    if (is == nullptr || !is->active()) continue;
    if (!was.active()) {
      EXPECT_TRUE(named(united, ActKind::revoke, was.device)) << was.device;
    }
    const bool later = std::ranges::find(is->keys, was.keys.back()) != is->keys.end();
    if (!later && was.active()) {
      EXPECT_TRUE(named(united, ActKind::rekey, was.device)) << was.device;
      EXPECT_TRUE(std::ranges::any_of(united.keys, [&](const auto& one) { return one.key == was.keys.back(); }));
    }
  }
  std::set<std::string> counting;
  for (const RosterPerson& person : personsOf(now))
    if (person.active()) {
      EXPECT_TRUE(counting.insert(person.keys.back()).second) << person.name;
    }
  for (const RosterPerson& was : personsOf(side)) {
    const RosterPerson* is = standsFor(now, was);
    if (is != nullptr && is->active() && !was.active()) {
      EXPECT_TRUE(named(united, ActKind::revokePerson, is->name)) << was.name;
    }
  }
}

void checkUnion(const History& one, const History& other) {
  RosterUnion here, there;
  const auto united = unite(one, other, here), asWell = unite(other, one, there);
  ASSERT_TRUE(united && asWell);
  EXPECT_EQ(contentOf(united->roster), contentOf(asWell->roster));
  for (const History* side : {&one, &other}) {
    checkFollowed(*side, *united);
    checkTaken(side->roster, *united, here);
    // Again with either, nothing changes, however long ago.
    RosterUnion again;
    const auto twice = unite(*united, *side, again);
    ASSERT_TRUE(twice);
    EXPECT_EQ(contentOf(twice->roster), contentOf(united->roster));
  }
}

enum class Acts { none, before, after };

History grown(Steps& steps, Acts acts) {
  History root = History::begin();
  for (unsigned n = 4 + steps.below(8); n > 0; --n) steps.go(root, true);
  if (acts == Acts::before) {
    EXPECT_TRUE(root.firstAct());
    for (unsigned n = steps.below(8); n > 0; --n) steps.go(root, true);
  }
  return root;
}

void run(Acts acts, unsigned seeds) {
  for (unsigned seed = 1; seed <= seeds && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(concat("seed ", seed));
    Steps steps(seed * 3 + static_cast<unsigned>(acts));
    const History root = grown(steps, acts);
    History one = root, other = root, third = root;
    for (unsigned n = 1 + steps.below(8); n > 0; --n) steps.go(other, false);
    for (unsigned n = 1 + steps.below(4); n > 0; --n) steps.go(one, true);
    if (acts == Acts::after) {
      EXPECT_TRUE(one.firstAct());
    }
    for (unsigned n = steps.below(6); n > 0; --n) steps.go(one, true);
    for (unsigned n = steps.below(5); n > 0; --n) steps.go(third, false);
    checkUnion(one, other);
    if (::testing::Test::HasFailure()) return;
    RosterUnion united;
    if (const auto both = unite(one, other, united); both && third.link != root.link) checkUnion(*both, third);
  }
}

TEST(RosterUnion, SaysWhoseCopiesAndRetentionDoNotCount) {
  History mine = History::begin(), other = mine;
  const auto says = [](History& history, std::uint64_t copies, DomainRetention retention) {
    Roster next = history.roster;
    return setCopies(next, "budget", copies).ok() && setRetention(next, std::move(retention)).ok() &&
           history.sign(std::move(next), nullptr).ok();
  };
  ASSERT_TRUE(says(other, 3, {"budget", 4, 100, 0}));
  ASSERT_TRUE(says(mine, 2, {"budget", 2, 0, 30}) && says(mine, 2, {"budget", 2, 0, 31}));
  RosterUnion united;
  const auto next = unite(mine, other, united);
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(toJson(*next->roster.copies), toJson(*mine.roster.copies)) << "the later one's";
  EXPECT_EQ(*next->roster.retention, *mine.roster.retention);
  const auto told = [&](std::string_view command) {
    return std::ranges::any_of(united.taken, [&](const std::string& one) { return one.find(command) != one.npos; });
  };
  EXPECT_TRUE(told("witan partition copies budget 3"));
  EXPECT_TRUE(told("witan partition retain budget --entries 100 --whole 4"));
}

TEST(RosterUnion, FollowsBothAndBringsNothingBack) { run(Acts::none, 100); }
TEST(RosterUnion, FollowsBothWhereAdminsActTogether) { run(Acts::before, 100); }
TEST(RosterUnion, FollowsBothWhereOneHasTheFirstAct) { run(Acts::after, 100); }

}  // namespace
}  // namespace witan::node::roster_union_test
