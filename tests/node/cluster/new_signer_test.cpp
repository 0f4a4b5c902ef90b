// Another key signs rosters, while the one before goes on: by accident, or in the hands of a thief.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/bytes.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"
#include "tests/node/scratch.h"

namespace witan::node::new_signer_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Time kNow{1'774'252'800'000'000};
constexpr std::int64_t kWeek = 7LL * 24 * 3600 * 1'000'000;

SigningKey keyOf(char seed) { return *SigningKey::fromSeed(std::string(32, seed)); }
std::string hexOf(char seed) { return toHex(keyOf(seed).publicKey()); }
std::string idOf(char seed) { return deviceIdOf(keyOf(seed).publicKey()); }

const SigningKey kOld = keyOf('x'), kNext = keyOf('y'), kThird = keyOf('z');

void addDevice(Roster& roster, char letter) {
  RosterDevice device{idOf(letter), std::string(1, letter), {hexOf(letter)}};
  device.roles = {"ledger", "*"}, device.since = kNow;
  roster.devices.insert(std::ranges::lower_bound(roster.devices, device.device, {}, &RosterDevice::device), device);
}

AdminAct actAfter(const Roster& roster, ActKind kind, const std::string& subject,
                  Time expires = {kNow.micros + kWeek}) {
  AdminAct act{roster.allActs().size() + 1, kind, subject};
  act.expires = expires;
  if (kind == ActKind::admins) {
    for (const char name : {'a', 'b', 'c'}) act.admins.push_back({std::string(1, name), hexOf(name)});
    act.approvals = 2;
  }
  return act;
}

void addAct(Roster& roster, AdminAct act) {
  for (const char admin : {'a', 'b'}) approveAct(roster.cluster, act, keyOf(admin));
  (roster.acts ? *roster.acts : roster.acts.emplace()).push_back(std::move(act));
}

// With what it says.
void revoke(Roster& roster, char letter) {
  addAct(roster, actAfter(roster, ActKind::revoke, idOf(letter)));
  if (RosterDevice* device = roster.find(idOf(letter))) device->state = DeviceState::revoked;
}

std::string signedBy(const SigningKey& key, const Roster& roster) {
  auto document = signRoster(roster, key);
  EXPECT_TRUE(document.ok()) << document.error().message;
  return document.ok() ? *document : std::string();
}

// Devices k to n; admins a, b and c, two of whom an act takes; kOld signs rosters.
struct NewSigner : ::testing::Test {
  NewSigner() {
    start = {clusterIdOf(kOld.publicKey()), 25, {}};
    for (const char letter : {'k', 'l', 'm', 'n'}) addDevice(start, letter);
    AdminAct act = actAfter(start, ActKind::admins, "");
    approveAct(start.cluster, act, kOld);
    start.acts = std::vector{act};
  }
  RosterStore storeIn(const std::string& name) const {
    std::filesystem::create_directories(scratch / name);
    return *RosterStore::create(scratch / name, kOld.publicKey(), signedBy(kOld, start));
  }
  Roster next(const Roster& from, const std::function<void(Roster&)>& edit) const {
    Roster made = from;
    ++made.version;
    edit(made);
    return made;
  }
  Roster signerAfter(const Roster& from) const {
    return next(from, [](Roster& made) { addAct(made, actAfter(made, ActKind::signer, toHex(kNext.publicKey()))); });
  }

  const test::Scratch scratch;
  Roster start;
};

TEST_F(NewSigner, WhatTheReplacedKeyGaveMeanwhileDoesNotCount) {
  const std::vector<std::string> roles{"udt.counselor"};
  const Roster stolen = next(start, [&](Roster& made) {
    addDevice(made, 't');
    ASSERT_TRUE(addPerson(made, "zoe", keyOf('p').publicKey(), roles, kNow).ok());
  });
  const std::string old = signedBy(kOld, stolen), fresh = signedBy(kNext, signerAfter(start));  // of one version
  RosterStore one = storeIn("one"), other = storeIn("other");
  ASSERT_TRUE(*one.adopt(old));
  ASSERT_NE(one.current().member(idOf('t')), nullptr);
  const auto taken = one.adopt(fresh);
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_TRUE(*taken);
  EXPECT_EQ(one.current().find(idOf('t')), nullptr);
  ASSERT_TRUE(*other.adopt(fresh));
  EXPECT_FALSE(*other.adopt(old));
  EXPECT_EQ(one.document(), other.document());
  // Both say who is left out, once.
  const std::vector<RosterStore::LeftOut> left{{idOf('t'), "t"}, {"", "zoe"}};
  EXPECT_EQ(one.newlyLeftOut(), left);
  EXPECT_EQ(other.newlyLeftOut(), left);
  EXPECT_FALSE(*other.adopt(old));
  EXPECT_THAT(other.newlyLeftOut(), IsEmpty());
  // Whatever it signs from now on.
  const Roster far = next(stolen, [](Roster& made) { made.version += 1 << 20, addDevice(made, 'u'); });
  for (RosterStore* store : {&one, &other}) EXPECT_FALSE(*store->adopt(signedBy(kOld, far)));
  // The next key takes in whom people know, and gives another first key to a person.
  const Roster again = next(signerAfter(start), [&](Roster& made) {
    addDevice(made, 't');
    ASSERT_TRUE(addPerson(made, "zoe", keyOf('q').publicKey(), roles, kNow).ok());
  });
  RosterStore late = storeIn("late");
  ASSERT_TRUE(*late.adopt(old));
  for (RosterStore* store : {&one, &other, &late}) EXPECT_TRUE(*store->adopt(signedBy(kNext, again)));
  EXPECT_EQ(late.document(), one.document());
}

// A version far ahead does not defend the key that set it.
TEST_F(NewSigner, ItCountsWhateverTheVersionsAre) {
  RosterStore store = storeIn("one");
  const Roster far = next(start, [](Roster& made) { made.version += (1 << 20) - 1; });
  ASSERT_TRUE(*store.adopt(signedBy(kOld, far)));
  EXPECT_TRUE(*store.adopt(signedBy(kNext, signerAfter(start))));
  RosterStore behind = storeIn("behind");
  const Roster farther = signerAfter(next(far, [](Roster& made) { made.version += 1 << 20; }));
  EXPECT_TRUE(*behind.adopt(signedBy(kNext, farther)));
}

// Its clock may be ahead: a date by it parts nobody and lasts for nobody.
TEST_F(NewSigner, DatesByTheReplacedKeyEnd) {
  RosterStore old = storeIn("old"), fresh = storeIn("fresh"), other = storeIn("other");
  old.stamp({kNow.micros + 3'000'000'000}, kOld);
  ASSERT_TRUE(*other.adopt(old.date(), kNow));
  ASSERT_TRUE(*fresh.adopt(signedBy(kNext, signerAfter(start))));
  fresh.stamp(kNow, kNext);
  ASSERT_TRUE(*other.adopt(fresh.document()));
  EXPECT_TRUE(*other.adopt(fresh.date(), kNow));
  const auto before = other.adopt(old.date(), kNow);
  ASSERT_TRUE(before.ok()) << before.error().message;
  EXPECT_FALSE(*before);
  RosterDate forged = old.date();
  forged.at = {kNow.micros + 1};
  EXPECT_EQ(other.adopt(forged, kNow).error().code, ErrorCode::unauthorised);
}

// The admins revoked where the old key was, as the next signer was down: its roster counts once it says so too.
TEST_F(NewSigner, ActsThatTheNextSignerHadNotHeardStillHold) {
  RosterStore one = storeIn("one"), fresh = storeIn("fresh");
  const std::string old = signedBy(kOld, next(start, [](Roster& made) { revoke(made, 'n'); }));
  ASSERT_TRUE(*one.adopt(old));
  const Roster signer = signerAfter(start);
  const auto refused = one.adopt(signedBy(kNext, signer));
  EXPECT_EQ(refused.error().code, ErrorCode::unauthorised);
  EXPECT_THAT(refused.error().message, HasSubstr("lets in again"));
  EXPECT_THAT(refused.error().hint, HasSubstr("witan admin propose revoke"));
  EXPECT_FALSE(one.current().find(idOf('n'))->active());
  ASSERT_TRUE(*fresh.adopt(signedBy(kNext, signer)));
  EXPECT_FALSE(*fresh.adopt(old));
  const std::string again = signedBy(kNext, next(signer, [](Roster& made) { revoke(made, 'n'); }));
  EXPECT_TRUE(*fresh.adopt(again));
  EXPECT_TRUE(*one.adopt(again));
  EXPECT_FALSE(*one.adopt(old));
}

TEST_F(NewSigner, SoDoWithdrawalsNewKeysAndOtherAdmins) {
  const std::vector<std::string> star{"*"};
  const auto withdrawn = [&](Roster& made) {
    addAct(made, actAfter(made, ActKind::withdraw, withdrawText(idOf('n'), star)));
    made.find(idOf('n'))->roles = {"ledger"};
  };
  const auto rekeyed = [&](Roster& made) {
    addAct(made, actAfter(made, ActKind::rekey, rekeyText(idOf('n'), hexOf('o'))));
    made.find(idOf('n'))->keys.push_back(hexOf('o'));
  };
  const auto other = [&](Roster& made) {
    AdminAct act = actAfter(made, ActKind::admins, "");
    act.admins.pop_back();
    addAct(made, act);
  };
  const std::function<void(Roster&)> edits[] = {withdrawn, rekeyed, other};
  for (std::size_t i = 0; i < std::size(edits); ++i) {
    RosterStore store = storeIn(concat("store", i));
    ASSERT_TRUE(*store.adopt(signedBy(kOld, next(start, edits[i]))));
    EXPECT_EQ(store.adopt(signedBy(kNext, signerAfter(start))).error().code, ErrorCode::unauthorised) << i;
    const auto taken = store.adopt(signedBy(kNext, next(signerAfter(start), edits[i])));
    EXPECT_TRUE(taken.ok() && *taken) << i << taken.error().message;
  }
}

// An act that lay about until the cluster had gone on without it.
TEST_F(NewSigner, AnActThatExpiredBeforeTheOthersOvertakesNothing) {
  RosterStore one = storeIn("one"), other = storeIn("other");
  const std::string old = signedBy(kOld, next(start, [](Roster& made) {
                                     const Time later{kNow.micros + kWeek + kMaxActLifeMicros + 1};
                                     addAct(made, actAfter(made, ActKind::takeover, idOf('k'), later));
                                   }));
  const std::string late = signedBy(kNext, signerAfter(start));
  ASSERT_TRUE(*one.adopt(old));
  EXPECT_THAT(one.adopt(late).error().message, HasSubstr("other acts of the admins"));
  ASSERT_TRUE(*other.adopt(late));
  EXPECT_THAT(other.adopt(old).error().message, HasSubstr("other acts of the admins"));
}

TEST_F(NewSigner, TheRoleTakeoverStillTakesAnAct) {
  RosterStore store = storeIn("one");
  Roster forged = signerAfter(start);
  forged.find(idOf('k'))->roles.emplace_back(kTakeoverRole);
  EXPECT_THAT(signRoster(forged, kNext).error().message, HasSubstr("no act of the admins"));
  // One that was given and withdrawn.
  const std::vector<std::string> taken{std::string(kTakeoverRole)};
  forged = next(start, [&](Roster& made) {
    addAct(made, actAfter(made, ActKind::takeover, idOf('k')));
    addAct(made, actAfter(made, ActKind::withdraw, withdrawText(idOf('k'), taken)));
    addAct(made, actAfter(made, ActKind::signer, toHex(kNext.publicKey())));
    made.find(idOf('k'))->roles.emplace_back(kTakeoverRole);
  });
  EXPECT_THAT(store.adopt(signedBy(kNext, forged)).error().message, HasSubstr("without a new act"));
}

// Two keys were named for the one that was lost: every device takes the same one.
// The disk of who signs went back, and admins have signed two acts of one number: another signer is the way out, and
// what it lacks is signed again.
TEST_F(NewSigner, IsTheWayOutOfTwoHistoriesOfActs) {
  const Roster one = next(start, [](Roster& made) {
    addAct(made, actAfter(made, ActKind::takeover, idOf('k')));
    made.find(idOf('k'))->roles.emplace_back("takeover");
  });
  const Roster two = next(start, [](Roster& made) { revoke(made, 'm'); });
  RosterStore here = storeIn("here"), there = storeIn("there");
  ASSERT_TRUE(*here.adopt(signedBy(kOld, one)));
  ASSERT_TRUE(*there.adopt(signedBy(kOld, two)));
  EXPECT_EQ(here.adopt(signedBy(kOld, two)).error().code, ErrorCode::unauthorised);
  const Roster fresh = signerAfter(one);
  ASSERT_TRUE(*here.adopt(signedBy(kNext, fresh)));
  const auto refused = there.adopt(signedBy(kNext, fresh));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().hint, HasSubstr("witan admin propose revoke"));
  const std::string again = signedBy(kNext, next(fresh, [](Roster& made) { revoke(made, 'm'); }));
  for (RosterStore* store : {&here, &there}) {
    const auto taken = store->adopt(again);
    ASSERT_TRUE(taken.ok()) << taken.error().message;
    EXPECT_TRUE(*taken);
    EXPECT_EQ(store->current().member(idOf('m')), nullptr);
    EXPECT_FALSE(*store->adopt(signedBy(kOld, two))) << "it counts no more";
  }
}

TEST_F(NewSigner, OfTwoNextSignersOneCounts) {
  const Roster third =
      next(start, [](Roster& made) { addAct(made, actAfter(made, ActKind::signer, toHex(kThird.publicKey()))); });
  const std::string one = signedBy(kNext, signerAfter(start)), other = signedBy(kThird, third);
  RosterStore first = storeIn("first"), second = storeIn("second");
  (void)*first.adopt(one), (void)*first.adopt(other);
  (void)*second.adopt(other), (void)*second.adopt(one);
  EXPECT_EQ(first.document(), second.document());
}

// A thief who signs what it likes, admins who revoke wherever a key signs, a next signer who knows some of it, and
// devices that hear of anything in any order.
struct Interleaving {
  Interleaving(const NewSigner& test, unsigned seed) : draw(seed), thief(test.start) {
    for (int i = 0; i < 4; ++i) stores.push_back(test.storeIn(concat(seed, "-", i)));
    documents.push_back(stores.front().document());
  }
  std::size_t below(std::size_t n) { return draw() % n; }
  char someDevice() { return "klmntuvw"[below(8)]; }

  void revokeBy(Roster& roster, char letter) {
    if (letter == 'k' || roster.member(idOf(letter)) == nullptr) return;
    revoke(roster, letter);
    revoked.insert(letter);
  }
  void edit(Roster& roster) {
    const char letter = someDevice();
    ++roster.version;
    switch (below(4)) {
      case 0: return revokeBy(roster, letter);
      case 1: roster.version += below(1 << 20); break;
      case 2: std::erase_if(roster.devices, [&](const auto& one) { return one.device == idOf(letter); }); break;
      default:
        if (roster.find(idOf(letter)) == nullptr && !revokes(roster, letter)) addDevice(roster, letter);
    }
  }
  static bool revokes(const Roster& roster, char letter) {
    return std::ranges::any_of(roster.allActs(), [&](const AdminAct& act) {
      return act.kind == ActKind::revoke && act.subject == idOf(letter);
    });
  }
  void step() {
    switch (below(6)) {
      case 0: {
        Roster made = thief;
        edit(made);
        if (made.devices.empty()) return;
        if (below(2) == 0 || made.allActs().size() > thief.allActs().size()) thief = made;  // else it tells two tales
        return documents.push_back(signedBy(kOld, made));
      }
      case 1: return signFresh();
      default: hear(stores[below(stores.size())], documents[below(documents.size())]);
    }
  }
  // The next signer is the first store, and honest: it adds to what it knows.
  void signFresh() {
    const bool begun = stores[0].admins().signer == kNext.publicKey();
    Roster made = stores[0].current();
    ++made.version;
    if (!begun) addAct(made, actAfter(made, ActKind::signer, toHex(kNext.publicKey())));
    if (const char letter = someDevice(); below(2) == 0) {
      if (begun) revokeBy(made, letter);
    } else if (made.find(idOf(letter)) == nullptr && !revoked.contains(letter)) {
      addDevice(made, letter);
    }
    publish(made);
  }
  void publish(const Roster& made) {
    documents.push_back(signedBy(kNext, made));
    hear(stores[0], documents.back());
    EXPECT_EQ(stores[0].document(), documents.back());
  }
  void hear(RosterStore& store, const std::string& document) {
    std::set<char> out;
    for (const char letter : revoked)
      if (const auto* known = store.current().find(idOf(letter)); known != nullptr && !known->active())
        out.insert(letter);
    (void)store.adopt(document);
    for (const char letter : out) EXPECT_EQ(store.current().member(idOf(letter)), nullptr) << letter;
  }
  void finish() {
    if (stores[0].admins().signer != kNext.publicKey()) signFresh();
    // The admins hear of what the next signer lacks, and sign it again.
    Roster made = stores[0].current();
    ++made.version;
    for (const char letter : revoked) revokeBy(made, letter);
    publish(made);
    std::shuffle(documents.begin(), documents.end(), draw);
    for (const std::string& document : documents)
      for (RosterStore& store : stores) hear(store, document);
    for (RosterStore& store : stores) hear(store, stores[0].document());
  }

  std::mt19937 draw;
  Roster thief;
  std::vector<RosterStore> stores;
  std::vector<std::string> documents;
  std::set<char> revoked;  // by acts, anywhere
};

TEST_F(NewSigner, AllAgreeInTheEndAndNobodyWhomAnActRevokedIsLetIn) {
  std::size_t leftOut = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Interleaving run(*this, seed);
    for (int i = 0; i < 40; ++i) run.step();
    run.finish();
    for (RosterStore& store : run.stores) {
      EXPECT_EQ(store.document(), run.stores[0].document());
      for (const char letter : run.revoked) EXPECT_EQ(store.current().member(idOf(letter)), nullptr) << letter;
      leftOut += store.newlyLeftOut().size();
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(leftOut, 0u);
}

}  // namespace
}  // namespace witan::node::new_signer_test
