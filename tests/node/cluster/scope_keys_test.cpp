// Keys of scopes: who opens what was sealed in a scope, and who does not any more.
#include "node/cluster/scope_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/seams.h"
#include "domains/agents.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"
#include "node/data_dir/replica_dir.h"
#include "node/enrolment/enrolment_service.h"
#include "node/enrolment/joining.h"
#include "node/enrolment/new_node.h"
#include "tests/node/scratch.h"

namespace witan::node::scope_keys_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

SigningKey keyOf(char seed) { return *SigningKey::fromSeed(std::string(32, seed)); }

RosterDevice deviceOf(char seed, std::vector<std::string> roles, std::vector<std::string> scopes = {}) {
  const PublicKey key = keyOf(seed).publicKey();
  RosterDevice device{.device = deviceIdOf(key), .name = std::string(1, seed)};
  device.keys = {toHex(key)};
  device.roles = std::move(roles), device.scopes = std::move(scopes);
  return device;
}

class ScopeKeys : public ::testing::Test {
 protected:
  ScopeKeys() {
    roster.cluster = "c";
    roster.version = 1;
    roster.devices = {deviceOf('a', {"ledger", "*"}), deviceOf('b', {"*"}), deviceOf('l', {"udt.LabOrder"}, {"lab"})};
    std::ranges::sort(roster.devices, {}, &RosterDevice::device);
    renew();
  }
  void renew() {
    const Status renewed = renewScopeKeys(roster, keyOf('#'), random);
    ASSERT_TRUE(renewed.ok()) << renewed.error().message;
    ASSERT_TRUE(checkScopeKeys(*roster.scopeKeys).ok());
  }
  RosterDevice& device(char seed) { return *roster.find(deviceIdOf(keyOf(seed).publicKey())); }
  ScopeGenerations keys(char seed, std::string_view scope) { return keys(seed, scope, keyOf(seed)); }
  ScopeGenerations keys(char seed, std::string_view scope, const SigningKey& key) {
    return openScopeKeys(roster, scope, deviceIdOf(keyOf(seed).publicKey()), key);
  }

  SystemRandom random;
  Roster roster;
};

TEST_F(ScopeKeys, AreForMembersThatMayHaveTheScope) {
  EXPECT_THAT(keys('a', "lab"), SizeIs(1));
  EXPECT_THAT(keys('l', "lab"), SizeIs(1));
  EXPECT_EQ(keys('a', "lab").at(1)->reveal(), keys('l', "lab").at(1)->reveal());
  EXPECT_THAT(keys('b', "*"), SizeIs(1));
  EXPECT_THAT(keys('l', "*"), IsEmpty());
  EXPECT_NE(keys('a', "lab").at(1)->reveal(), keys('a', "*").at(1)->reveal());
  EXPECT_THAT(keys('a', "lab", keyOf('b')), IsEmpty());
}

TEST_F(ScopeKeys, WhoWasRevokedDoesNotOpenTheNextOne) {
  const Roster before = roster;
  device('b').state = DeviceState::revoked;
  renew();
  EXPECT_THAT(keys('b', "*"), IsEmpty());
  const ScopeGenerations now = keys('a', "*");
  ASSERT_THAT(now, SizeIs(2));
  // What it has from before opens the old one alone.
  const auto old = openScopeKeys(before, "*", device('b').device, keyOf('b'));
  ASSERT_THAT(old, SizeIs(1));
  EXPECT_EQ(old.at(1)->reveal(), now.at(1)->reveal());
  EXPECT_NE(old.at(1)->reveal(), now.rbegin()->second->reveal());
  EXPECT_GT(keys('l', "lab").rbegin()->first, 1u);  // b could have that scope too
}

TEST_F(ScopeKeys, NothingIsRenewedWithoutNeed) {
  const std::string before = toJson(roster);
  renew();
  EXPECT_EQ(toJson(roster), before);
  device('l').roles.push_back("udt.Surgery");
  renew();
  EXPECT_EQ(keys('a', "lab").rbegin()->first, 1u);
}

TEST_F(ScopeKeys, ALostScopeAndAnotherKeyRenewThem) {
  device('l').scopes = {"ward"};
  renew();
  EXPECT_THAT(keys('l', "lab"), IsEmpty());
  EXPECT_GT(keys('a', "lab").rbegin()->first, 1u);
  EXPECT_EQ(keys('a', "*").rbegin()->first, 1u);
  device('b').keys.push_back(toHex(keyOf('B').publicKey()));
  renew();
  EXPECT_THAT(keys('b', "*"), IsEmpty());
  EXPECT_THAT(keys('b', "*", keyOf('B')), SizeIs(2));
}

TEST_F(ScopeKeys, WhoComesLaterReadsWhatIsThere) {
  for (int n = 0; n < 5; ++n) {
    device('b').state = n % 2 == 0 ? DeviceState::revoked : DeviceState::active;
    renew();
  }
  roster.devices.push_back(deviceOf('n', {"*"}));
  std::ranges::sort(roster.devices, {}, &RosterDevice::device);
  renew();
  const ScopeGenerations mine = keys('a', "*"), theirs = keys('n', "*");
  ASSERT_EQ(mine.size(), theirs.size());
  ASSERT_THAT(mine, SizeIs(4));
  for (const auto& [generation, key] : mine) EXPECT_EQ(key->reveal(), theirs.at(generation)->reveal());
}

TEST_F(ScopeKeys, ADeviceThatKeepsCopiesGetsNone) {
  roster.devices.push_back(deviceOf('s', {"copy"}, {"lab"}));
  roster.devices.push_back(deviceOf('t', {"copy"}));
  std::ranges::sort(roster.devices, {}, &RosterDevice::device);
  renew();
  for (const char seed : {'s', 't'})
    for (const char* scope : {"*", "lab"}) EXPECT_THAT(keys(seed, scope), IsEmpty()) << seed << scope;
  EXPECT_EQ(keys('a', "lab").rbegin()->first, 1u);
}

TEST_F(ScopeKeys, AreDamagedOrTooMany) {
  std::vector<ScopeKey> keys = *roster.scopeKeys;
  keys.front().generation = 0;
  EXPECT_FALSE(checkScopeKeys(keys).ok());
  keys = *roster.scopeKeys;
  keys.front().before = {"", ""};
  EXPECT_FALSE(checkScopeKeys(keys).ok());
  keys = *roster.scopeKeys;
  keys.front().generation = 9, keys.front().before = {""};
  EXPECT_TRUE(checkScopeKeys(keys).ok()) << "of an older program";
  for (const auto& numbers : {std::vector<std::uint64_t>{}, {9}, {3, 4}}) {
    keys.front().numbers.emplace(numbers);
    EXPECT_FALSE(checkScopeKeys(keys).ok());
  }
  keys.front().before = {"", ""}, keys.front().numbers.emplace(std::vector<std::uint64_t>{4, 3});
  EXPECT_FALSE(checkScopeKeys(keys).ok());
  keys = *roster.scopeKeys;
  std::swap(keys.front(), keys.back());
  EXPECT_FALSE(checkScopeKeys(keys).ok());
  (*roster.scopeKeys)[0].copies[0].box = "?";
  (*roster.scopeKeys)[0].copies[1].box = toBase64("short");
  EXPECT_THAT(openScopeKeys(roster, "*", (*roster.scopeKeys)[0].copies[0].device, keyOf('a')), IsEmpty());
  EXPECT_THAT(openScopeKeys(roster, "*", (*roster.scopeKeys)[0].copies[1].device, keyOf('a')), IsEmpty());
  for (int n = 0; n < 70; ++n) device('l').scopes.push_back("scope-" + std::to_string(n));
  ASSERT_TRUE(renewScopeKeys(roster, keyOf('#'), random).ok());
  EXPECT_THAT(checkScopeKeys(*roster.scopeKeys).error().message, HasSubstr("have keys"));
}

// On directories: what is sealed after a revocation does not open with all that the revoked device has, the cluster's
// secret and the newest roster among it; what was sealed before does.
TEST(ScopeKeysOfNodes, ARevokedDeviceReadsNothingThatWasSealedAfterwards) {
  const test::Scratch scratch;
  SystemRandom random;
  const Now now{Time{1'774'252'800'000'000}, 0};
  NewNode node;
  node.name = "first";
  node.listen = {"127.0.0.1:0"};
  const Status begun = beginCluster(scratch / "first", node, now);
  ASSERT_TRUE(begun.ok()) << begun.error().message;
  const SigningKey admin = *readKey(scratch / "first", KeyName::admin);
  RosterStore rosters = *RosterStore::open(scratch / "first", admin.publicKey());
  EnrolmentService service =
      std::move(*EnrolmentService::open(scratch / "first", rosters, *readClusterSecret(scratch / "first"), 8, admin));
  std::filesystem::create_directory(scratch / "second");
  std::filesystem::permissions(scratch / "second", std::filesystem::perms::owner_all);
  const SigningKey second = *createKey(scratch / "second", KeyName::device);
  const InviteOptions options{.roles = {"ledger", "*"}, .scopes = {}};
  const std::vector<std::string> here{"127.0.0.1:7600"};
  const JoinToken token = *readToken(*service.invite(options, here, second.publicKey(), now.wall, random));
  const JoinAnswer answer =
      service.onJoin({token.id, token.secret, "second", {}, {}}, second.publicKey(), "", now.wall);
  ASSERT_EQ(answer.verdict, JoinVerdict::admitted) << answer.reason;
  node.name = "second";
  const Status entered = enterCluster(scratch / "second", node, answer);
  ASSERT_TRUE(entered.ok()) << entered.error().message;

  const auto sealsOf = [&](const char* name, const char* scope) {
    return domains::contentSeals(*sealKeysOf(scratch / name, scope));
  };
  const std::string type = "disclosure.case", about = R"({"artifact":"a","nonce":"n","portfolio":"p","v":"V-1"})";
  const agents::ContentSeals ofFirst = sealsOf("first", "main"), ofSecond = sealsOf("second", "main");
  const std::string before = *ofFirst.sealed(type, about);
  EXPECT_THAT(before, HasSubstr("\"sealedUnder\":\"*/1\""));
  EXPECT_EQ(canonicalJson(*ofSecond.opened(type, *parseJson(before))), about);
  EXPECT_FALSE(sealsOf("second", "other").opened(type, *parseJson(before)).ok());

  ASSERT_TRUE(service.revoke("second", "lost").ok());
  const std::string after = *ofFirst.sealed(type, about);
  EXPECT_THAT(after, Not(HasSubstr("\"sealedUnder\":\"*/1\"")));
  EXPECT_EQ(canonicalJson(*ofFirst.opened(type, *parseJson(after))), about);
  EXPECT_EQ(canonicalJson(*ofFirst.opened(type, *parseJson(before))), about);
  EXPECT_FALSE(ofSecond.opened(type, *parseJson(after)).ok());
  std::filesystem::copy_file(scratch / "first/roster", scratch / "second/roster",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(ofSecond.opened(type, *parseJson(after)).ok());
  EXPECT_FALSE(ofSecond.sealed(type, about).ok());
}

// What was sealed by the secret that all share opens as before.
TEST(ScopeKeysOfNodes, WhatWasSealedBeforeThereWereAnyOpens) {
  const test::Scratch scratch;
  NewNode node;
  node.name = "first";
  node.listen = {"127.0.0.1:0"};
  ASSERT_TRUE(beginCluster(scratch / "first", node, {Time{1'774'252'800'000'000}, 0}).ok());
  const std::string type = "disclosure.case", about = R"({"artifact":"a","nonce":"n","portfolio":"p","v":"V-1"})";
  const auto shared = domains::contentSeals(agents::sharedKey(*readClusterSecret(scratch / "first")));
  const std::string kept = *shared.sealed(type, about);
  EXPECT_EQ(
      canonicalJson(*domains::contentSeals(*sealKeysOf(scratch / "first", "main")).opened(type, *parseJson(kept))),
      about);
}

}  // namespace
}  // namespace witan::node::scope_keys_test
