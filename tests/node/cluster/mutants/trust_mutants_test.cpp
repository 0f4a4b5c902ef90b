// Broken variants of what proves who wrote, began, answered and agreed (docs/SECURITY.md), each noticed by a story.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/seams.h"
#include "kernel/partition.h"
#include "kernel/record/statement.h"
#include "node/cluster/admin_acts.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster.h"
#include "node/cluster/scope_keys.h"
#include "replication/local_replica.h"
#include "replication/records/record_schemas.h"
#include "replication/records/records.h"
#include "tests/replica/test_cluster.h"
#include "tests/with_mutant.h"

namespace witan::node::test::trust_mutants_test {
namespace {

using replication::DatabaseName;
using replication::Kind;
using witan::tests::WithMutant;

void expectStory(bool (*story)(), std::string_view mutant) {
  EXPECT_TRUE(story());
  const WithMutant with(mutant);
  EXPECT_FALSE(story()) << mutant << " is not noticed";
}

std::vector<std::uint8_t> begunBy(const std::string& signer, const std::string& entity, const std::string& device) {
  kernel::Statement statement{"test", "budget", "begin", entity, {}, "init-" + entity, device};
  statement.action = "{}";
  const Hash leaf = kernel::requestLeaf(statement);
  return kernel::packProof(kernel::signLeaves("test", {&leaf, 1}, keyOfDevice(signer)).front());
}

// Device c, which has no keys, passes on a row that it made up in the name of a.
bool aForgedRowIsNotTaken() {
  TestCluster cluster(3, [](std::size_t n, ReplicaConfig& config) {
    if (n == 2) config.heads = nullptr;
  });
  const auto journal = [](Device& device) -> replication::Space& {
    return **device.replica().data().database(DatabaseName::journal).space("main");
  };
  replication::JournalBody body;
  body.type = "plot", body.payload = "\"beans\"", body.author = "ada", body.lamport = 1;
  const std::string genuine = *replication::encodeRecord(body);
  const replication::Write write{Kind::journal, "plot", genuine, false};
  if (!cluster.a().replica().commit(DatabaseName::journal, "main", {&write, 1}).ok()) return false;
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  body.payload = "\"forged\"";
  const std::string forged = *replication::encodeRecord(body);
  replication::Space& space = journal(cluster.c());
  const auto index = space.intern(cluster.a().replica().data().writer());
  (void)space.receive({Kind::journal, "plot", *index, 7, false, nullptr, forged});
  replication::VersionVector upTo;
  upTo.raise(*index, 7);
  space.advance(upTo);
  cluster.connect(cluster.b(), cluster.c());
  cluster.run();
  const auto versions = journal(cluster.b()).versions(Kind::journal, "plot");
  return versions.ok() && versions->size() == 1 && versions->front().body == genuine;
}

// An owner begins an entity in the name of b, which did not ask.
bool aForgedBeginningIsNotTaken() {
  TestCluster cluster(3);
  cluster.found();
  (void)cluster.a().host().ledger().partition().begin("f", {}, at(0).wall, false,
                                                      {"init-f", "b", "", begunBy("a", "f", "b")});
  cluster.run();
  return cluster.b().host().partition().state("f") == nullptr && cluster.b().hasIncident("forgedName");
}

// An owner begins another state than b asked for.
bool aBeginningOfOtherFieldsIsNotTaken() {
  kernel::Partition log(budget());
  log.beginEpoch({1, "a@00000001"}, kernel::EpochCause::founding, at(0).wall, "", "", kernel::kSignedBeginnings);
  const std::string epoch = log.takeBatch().value;
  (void)log.begin("f", {}, at(0).wall, false, {"init-f", "b", "", begunBy("b", "f", "b")});
  const std::string good = log.takeBatch().value;
  kernel::LogBatch batch(1);
  const auto read = kernel::readLogBatch(good, [&](const kernel::LogRecord& record) -> Status {
    kernel::Genesis began;
    WITAN_DO(readMessage(record.payload, began, "genesis"));
    began.fields = R"({"x":1})";
    WordWriter words;
    const std::string_view bytes = words.message(began);
    batch.add(kernel::RecordKind::genesis, bytes, kernel::leafHash(bytes));
    return okStatus();
  });
  kernel::Partition copy(budget());
  return read.ok() && copy.fold(epoch, kernel::Fold::checked).ok() &&
         !copy.fold(batch.take(), kernel::Fold::checked).ok();
}

// The owner's disk goes back behind an answer, and it decides something else: that is no lie.
bool aDiskThatWentBackIsNoLie() {
  TestCluster cluster(2);
  cluster.found();
  Device &a = cluster.a(), &b = cluster.b();
  const auto before = a.stores[2].image();
  cluster.lose = [](const TestCluster::Frame& frame) {
    return isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::entries;
  };
  b.submit(spend("op-1", 20));
  cluster.run();
  cluster.cut(a, b);
  a.stores[2].restoreImage(*before);
  a.start();
  a.submit(spend("op-2", 7));
  cluster.run();
  cluster.lose = nullptr;
  cluster.connect(a, b);
  cluster.run();
  return b.hasIncident("contradiction") && !b.hasIncident("falseAnswer") && b.replica().evidence().empty();
}

bool oneAdminOfTwoIsNotEnough() {
  AdminState state;
  state.signer = keyOfDevice("s").publicKey();
  AdminAct act;
  act.number = 1;
  act.approvals = 2;
  for (const char* name : {"a", "b"}) act.admins.push_back({name, toHex(keyOfDevice(name).publicKey())});
  approveAct("test", act, keyOfDevice("s"));
  if (!state.apply("test", act).ok()) return false;
  AdminAct revoke;
  revoke.number = 2, revoke.kind = ActKind::revoke, revoke.subject = "device";
  approveAct("test", revoke, keyOfDevice("a"));
  return !state.apply("test", revoke).ok();
}

bool aRevokedDeviceOpensNoLaterKey() {
  SystemRandom random;
  Roster roster;
  roster.cluster = "c", roster.version = 1;
  for (const char* name : {"a", "b"}) {
    const PublicKey key = keyOfDevice(name).publicKey();
    RosterDevice& device = roster.devices.emplace_back();
    device.device = deviceIdOf(key), device.name = name;
    device.keys = {toHex(key)}, device.roles = {"*"};
  }
  std::ranges::sort(roster.devices, {}, &RosterDevice::device);
  if (!renewScopeKeys(roster, keyOfDevice("#"), random).ok()) return false;
  const Roster before = roster;
  const std::string revoked = deviceIdOf(keyOfDevice("b").publicKey());
  roster.find(revoked)->state = DeviceState::revoked;
  if (!renewScopeKeys(roster, keyOfDevice("#"), random).ok()) return false;
  const auto old = openScopeKeys(before, "*", revoked, keyOfDevice("b"));
  const auto now = openScopeKeys(roster, "*", deviceIdOf(keyOfDevice("a").publicKey()), keyOfDevice("a"));
  return !now.empty() && !old.empty() && now.rbegin()->second->reveal() != old.rbegin()->second->reveal();
}

TEST(TrustMutants, RowsOfAnybody) { expectStory(aForgedRowIsNotTaken, "anyRowSeal"); }
TEST(TrustMutants, BeginningsOfAnybody) { expectStory(aForgedBeginningIsNotTaken, "anyBeginner"); }
TEST(TrustMutants, BeginningsOfAnyState) { expectStory(aBeginningOfOtherFieldsIsNotTaken, "anyBeginning"); }
TEST(TrustMutants, OneRunForEver) { expectStory(aDiskThatWentBackIsNoLie, "oneRun"); }
TEST(TrustMutants, OneAdmin) { expectStory(oneAdminOfTwoIsNotEnough, "oneAdminSuffices"); }
TEST(TrustMutants, OneScopeKeyForEver) { expectStory(aRevokedDeviceOpensNoLaterKey, "keepScopeKey"); }

}  // namespace
}  // namespace witan::node::test::trust_mutants_test
