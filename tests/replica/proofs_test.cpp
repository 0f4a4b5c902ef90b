// Claims and batches that prove who made them: what a member with the role "ledger" invents changes nothing, and what
// honest owners do needs nobody's trust.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replica/core/owner_proofs.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::proofs_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Devices a and b may take partitions over; c is a member with the role "ledger".
class Proofs : public ::testing::Test {
 protected:
  explicit Proofs(bool founded = true)
      : cluster(3, [this](std::size_t n, ReplicaConfig& config) {
          keys[n]->takers = takers;
          config.heads = signs ? keys[n] : nullptr;
        }) {
    if (!founded) return;
    cluster.found();
    decide(b(), "op-1", 10);
  }
  Device& a() { return cluster.a(); }
  Device& b() { return cluster.b(); }
  Device& c() { return cluster.c(); }
  void decide(Device& device, const std::string& id, std::int64_t n) {
    device.submit(spend(id, n));
    cluster.run();
  }
  void minute() {
    for (Device* device : {&a(), &b(), &c()}) device->passTime(61'000);
    cluster.run();
  }
  template <class T>
  void send(const std::string& from, const std::string& to, const T& message) {
    std::string bytes;
    WordWriter words;
    appendFrame(bytes, words, message);
    cluster.hand({from, to, bytes});
    cluster.run();
  }
  // What device c says of ownership.
  PeerAdvertisement standing() {
    PeerAdvertisement message;
    message.owner = c().replica().ownerName();
    message.engine = "embedded";
    return message;
  }
  OwnershipRecord claimOf(Device& owner, std::uint64_t number, kernel::EpochCause cause) {
    OwnershipRecord claim = *a().replica().owners().find(kPartition);
    claim.previousNumber = claim.number, claim.previousOwner = claim.owner;
    claim.number = number, claim.owner = owner.replica().ownerName(), claim.cause = cause;
    claim.batches = a().host().ledger().batches(), claim.chain = a().host().chain().last();
    signClaim("test", claim, keyOfDevice(owner.name()));
    return claim;
  }
  std::vector<std::string> accused(Device& by, std::string_view kind) {
    std::vector<std::string> devices;
    const auto incidents = by.replica().data().incidents();
    for (const replication::Incident& incident : *incidents)
      if (incident.kind == kind) devices.push_back(incident.peer);
    return devices;
  }
  void reconnect() {
    for (Device* one : {&a(), &b(), &c()})
      for (Device* other : {&a(), &b(), &c()})
        if (one->name() < other->name()) cluster.cut(*one, *other), cluster.connect(*one, *other);
    cluster.run();
  }
  // Goes on, and everybody has it.
  void expectAllGoOn(Device& owner) {
    decide(b(), "after", 1);
    ASSERT_NE(b().answered("after"), nullptr);
    EXPECT_EQ(b().answered("after")->outcome, kernel::Outcome::approved);
    for (Device* device : {&a(), &b(), &c()}) {
      EXPECT_EQ(device->decided().back(), "after") << device->name();
      EXPECT_EQ(device->owns(), device == &owner) << device->name();
    }
  }

  bool signs = true;
  std::string takers = "ab";
  std::vector<std::shared_ptr<TestKeys>> keys{std::make_shared<TestKeys>("a"), std::make_shared<TestKeys>("b"),
                                              std::make_shared<TestKeys>("c")};
  TestCluster cluster;
};

// Members 1 and 2: whoever claims a partition gets neither its requests nor its owner's silence.
TEST_F(Proofs, AMemberThatTakesEveryPartitionGetsNone) {
  PeerAdvertisement claims = standing();
  claims.claims = {claimOf(c(), 2, kernel::EpochCause::seizure)};
  for (const char* device : {"a", "b"}) send("c", device, claims);
  claims.claims = {claimOf(c(), 2, kernel::EpochCause::handover)};
  for (const char* device : {"a", "b"}) send("c", device, claims);
  for (Device* device : {&a(), &b()}) {
    EXPECT_EQ(device->replica().owners().latestEpoch(kPartition), 1u);
    EXPECT_GE(device->replica().counters().claimsRefused, 1u);
    EXPECT_TRUE(device->noticed("claimRefused"));
  }
  EXPECT_THAT(cluster.closed, IsEmpty()) << "its roster may be another one";
  expectAllGoOn(a());
}

TEST_F(Proofs, AnUnsignedClaimIsNone) {
  PeerAdvertisement claims = standing();
  claims.claims = {claimOf(c(), 2, kernel::EpochCause::seizure)};
  claims.claims.front().signature.clear();
  send("c", "a", claims);
  EXPECT_TRUE(a().owns());
  expectAllGoOn(a());
}

TEST_F(Proofs, AForgedClaimIsNone) {
  PeerAdvertisement claims = standing();
  claims.claims = {claimOf(b(), 2, kernel::EpochCause::seizure)};
  claims.claims.front().entries += 1;
  send("c", "a", claims);
  EXPECT_TRUE(a().owns());
  EXPECT_THAT(cluster.closed, IsEmpty()) << "the key may be a newer one";
  expectAllGoOn(a());
}

// An owner has told its next epoch to c alone, which keeps no ledgers. What c passes on is signed: the devices that
// keep them take it for what it is, else c would ask another owner than they do, for ever.
TEST(ProofsOfClaims, CountNoMatterWhoPassesThemOn) {
  std::vector<std::shared_ptr<TestKeys>> keys;
  for (const char* name : {"a", "b", "c"}) keys.push_back(std::make_shared<TestKeys>(name)), keys.back()->takers = "ab";
  std::string keepers = "abc";
  TestCluster cluster(3, [&](std::size_t n, ReplicaConfig& config) {
    config.heads = keys[n];
    config.keepsLedgers = [&](std::string_view device) { return keepers.find(device.front()) != std::string::npos; };
  });
  cluster.found();
  keepers = "ab";
  for (Device* device : {&cluster.a(), &cluster.b()}) cluster.cut(cluster.c(), *device);
  for (Device* device : {&cluster.a(), &cluster.b()}) cluster.connect(cluster.c(), *device);
  cluster.run();
  PeerAdvertisement standing{.owner = cluster.c().replica().ownerName()};
  OwnershipRecord claim = *cluster.a().replica().owners().find(kPartition);
  claim.previousNumber = claim.number, claim.previousOwner = claim.owner;
  claim.number = 2, claim.owner = cluster.b().replica().ownerName(), claim.cause = kernel::EpochCause::seizure;
  const auto pass = [&] {
    standing.claims = {claim};
    std::string bytes;
    WordWriter words;
    appendFrame(bytes, words, standing);
    cluster.hand({"c", "a", bytes});
    cluster.run();
  };
  pass();
  EXPECT_EQ(cluster.a().replica().owners().latestEpoch(kPartition), 1u) << "it is not signed";
  signClaim("test", claim, keyOfDevice("b"));
  pass();
  EXPECT_EQ(cluster.a().replica().owners().latestEpoch(kPartition), 2u);
  EXPECT_EQ(cluster.b().replica().owners().latestEpoch(kPartition), 2u) << "it is passed on";
}

// The same of a position, which bore claims once.
TEST_F(Proofs, APositionIsNoClaim) {
  PeerAdvertisement message = standing();
  LogPosition position = c().host().position();
  position.epochs.push_back({2, message.owner, position.batches});
  position.batches += 1, position.chain = sha256("another log");
  message.positions = {position};
  send("c", "a", message);
  send("c", "b", message);
  EXPECT_EQ(b().replica().owners().latestEpoch(kPartition), 1u);
  reconnect();
  expectAllGoOn(a());
}

// Members 3: nothing is taken out of a log on a peer's word.
TEST_F(Proofs, APositionOfALaterEpochErasesNothing) {
  const std::uint64_t batches = b().host().ledger().batches();
  PeerAdvertisement message = standing();
  LogPosition position = c().host().position();
  position.epochs.push_back({2, message.owner, 1});
  message.positions = {position};
  for (const char* device : {"a", "b"}) send("c", device, message);
  for (Device* device : {&a(), &b()}) {
    EXPECT_EQ(device->host().ledger().batches(), batches);
    EXPECT_EQ(device->aside(), 0u);
  }
  reconnect();
  expectAllGoOn(a());
}

// A false position stops no owner, whether it tells of more batches or of others.
TEST_F(Proofs, AFalsePositionStopsNoOwnerAndNamesWhoSentIt) {
  for (const bool longer : {true, false}) {
    PeerAdvertisement message = standing();
    LogPosition position = c().host().position();
    if (longer) position.batches += 5;
    position.chain = sha256("another log");
    message.positions = {position};
    send("c", "a", message);
    EXPECT_TRUE(a().owns());
  }
  EXPECT_THAT(accused(a(), "falsePosition"), ElementsAre("c")) << "once for each connection";
  EXPECT_EQ(a().replica().counters().forks + a().replica().counters().wentBack, 0u);
  reconnect();
  expectAllGoOn(a());
}

// A seal of another place in the log, or of another partition's owner, is no seal here.
TEST_F(Proofs, ASealOfAnotherPositionStopsNoOwner) {
  PeerAdvertisement message = standing();
  LogPosition position = c().host().position();
  position.seal = [&] {
    BatchSeal seal{1, a().replica().ownerName(), position.batches, position.chain, {}};
    const std::vector<std::pair<std::string, BatchSeal*>> one{{std::string(kPartition), &seal}};
    sealTogether("test", one, keyOfDevice("c"));
    WordWriter words;
    const std::string_view bytes = words.message(seal);
    return Bytes(bytes.begin(), bytes.end());
  }();
  position.batches += 1;
  message.positions = {position};
  send("c", "a", message);
  EXPECT_TRUE(a().owns());
}

// An owner whose disk went back meets a copy that has its seal: that proves it.
TEST_F(Proofs, AnOwnerWhoseDiskWentBackIsStoppedByItsOwnSeal) {
  const auto before = a().stores[2].image();
  decide(b(), "op-2", 10);
  cluster.cut(a(), b()), cluster.cut(a(), c());
  keys[0]->memory.clear();
  a().stores[2].restoreImage(*before);
  a().start();
  reconnect();
  EXPECT_FALSE(a().owns());
  EXPECT_GE(a().replica().counters().wentBack, 1u);
  EXPECT_THAT(accused(a(), "falsePosition"), IsEmpty());
}

// The reason of an epoch is in no leaf. Its owner sealed it all the same.
TEST_F(Proofs, ARecordOfAnEpochThatWasChangedOnDiskIsNotWhatItsOwnerSealed) {
  decide(b(), "op-2", 10);
  const auto altered = [](Device& device) {
    return alteredSince(SealBook(device.stores[2]), device.host(), "test",
                        [&](std::string_view of) { return device.replica().keysOf(of); });
  };
  EXPECT_EQ(altered(b()), "");
  kernel::LogBatch batch(1);
  const auto read = kernel::readLogBatch(*b().host().ledger().batch(0), [&](const kernel::LogRecord& record) -> Status {
    kernel::EpochRecord epoch;
    WITAN_DO(readMessage(record.payload, epoch, "epoch"));
    epoch.reason = "another one";
    WordWriter words;
    const std::string_view bytes = words.message(epoch);
    batch.add(record.kind, bytes, kernel::leafHash(bytes));
    return okStatus();
  });
  ASSERT_TRUE(read.ok()) << read.error().message;
  store::WriteBatch rows;
  ASSERT_TRUE(b().stores[2]
                  .scan("", {},
                        [&](std::string_view key, std::string_view) {
                          if (key.ends_with(kernel::batchKey(0)) && key.find(kPartition) != key.npos)
                            rows.put(key, batch.take());
                          return true;
                        })
                  .ok());
  ASSERT_TRUE(b().stores[2].write(rows).ok());
  EXPECT_THAT(altered(b()),
              testing::HasSubstr("is not the one that its owner " + a().replica().ownerName() + " sealed"));
  EXPECT_EQ(altered(c()), "");
}

// Also of a copy that was restarted meanwhile, and by a seal that came over a third device.
TEST_F(Proofs, ASealIsKeptAndPassedOn) {
  const auto before = a().stores[2].image();
  cluster.cut(a(), c());
  decide(b(), "op-2", 10);
  EXPECT_EQ(c().decided().back(), "op-2") << "by way of b";
  cluster.losePower(c());
  cluster.cut(a(), b());
  keys[0]->memory.clear();
  a().stores[2].restoreImage(*before);
  a().start();
  cluster.connect(a(), c());
  cluster.run();
  EXPECT_FALSE(a().owns());
}

// Members 4: a device that passes entries on invents none.
TEST_F(Proofs, ACopyTakesNoBatchThatTheOwnerDidNotSeal) {
  cluster.lose = [](const TestCluster::Frame& frame) {
    return isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::entries;
  };
  decide(a(), "op-2", 10);
  const std::uint64_t batch = b().host().ledger().batches();
  Entries entries;
  entries.partition = kPartition;
  entries.batch = batch;
  entries.epochNumber = entries.previousNumber = 1;
  entries.epochOwner = entries.previousOwner = a().replica().ownerName();
  const std::string value = *a().host().ledger().batch(a().host().ledger().batches() - 1);
  entries.value.assign(value.begin(), value.end());
  entries.previousChain = b().host().chain().last();
  cluster.lose = {};
  const std::uint64_t unsealed = b().replica().counters().batchesUnsealed;
  send("c", "b", entries);
  EXPECT_EQ(b().replica().counters().batchesUnsealed, unsealed + 1);
  const std::uint64_t gaps = b().replica().counters().gaps;
  entries.batch = batch + 1;
  send("c", "b", entries);
  EXPECT_EQ(b().replica().counters().gaps, gaps) << "what stands behind it is not asked for at once, with it, for ever";
  entries.batch = batch;
  BatchSeal seal{1, a().replica().ownerName(), batch + 1, chained(b().host().chain().last(), value), sha256(value)};
  const std::vector<std::pair<std::string, BatchSeal*>> one{{std::string(kPartition), &seal}};
  sealTogether("test", one, keyOfDevice("c"));
  WordWriter words;
  const std::string_view bytes = words.message(seal);
  entries.seal.assign(bytes.begin(), bytes.end());
  send("c", "b", entries);
  EXPECT_EQ(b().replica().counters().batchesUnsealed, unsealed + 2) << "by another key";
  EXPECT_EQ(b().host().ledger().batches(), batch);
  seal.batches += 1;
  const std::string_view other = words.message(seal);
  entries.seal.assign(other.begin(), other.end());
  send("c", "b", entries);
  EXPECT_THAT(accused(b(), "badEntries"), ElementsAre("c")) << "of another batch";
}

// Members 1, by way of the log: what a later claim vouches for bears no seal, and begins no epoch after that claim.
TEST_F(Proofs, AVouchedBatchBeginsNoLaterEpoch) {
  ASSERT_TRUE(a().replica().transferOwnership(kPartition, "b", "", at(a().ms)).ok());
  cluster.run();
  ASSERT_TRUE(b().owns());
  cluster.losePower(c());
  for (store::MemoryStore& disk : c().stores) disk.wipe();
  c().start();
  cluster.lose = [](const TestCluster::Frame& frame) {
    return isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::entries;
  };
  cluster.connect(a(), c());
  cluster.run();
  ASSERT_EQ(c().host().ledger().batches(), 0u);
  Device liar("x");
  ASSERT_EQ(c().replica().owners().latestEpoch(kPartition), 3u);
  auto log = PartitionHost::open(liar.stores[2], budget(), {"budget/0", "test", 0});
  ASSERT_TRUE(log.ok());
  store::WriteBatch rows;
  (*log)->beginEpoch({900, "x@00000001"}, kernel::EpochCause::founding, at(0).wall, "", rows);
  Entries entries;
  entries.partition = kPartition;
  entries.epochNumber = 900, entries.epochOwner = "x@00000001";
  const std::string value(rows.op(0).value);
  entries.value.assign(value.begin(), value.end());
  send("a", "c", entries);
  EXPECT_EQ(c().replica().owners().latestEpoch(kPartition), 3u);
  EXPECT_EQ(c().host().ledger().batches(), 0u);
  cluster.lose = {};
  reconnect();
  minute();
  EXPECT_EQ(c().decided(), b().decided());
}

TEST_F(Proofs, OneSignatureSealsABatchOfEachPartition) {
  std::vector<BatchSeal> seals(5);
  std::vector<std::pair<std::string, BatchSeal*>> all;
  for (std::size_t i = 0; i < seals.size(); ++i) {
    seals[i] = {1, "a@00000001", i, sha256("chain"), sha256("value")};
    all.emplace_back("budget/" + std::to_string(i), &seals[i]);
  }
  sealTogether("test", all, keyOfDevice("a"));
  kernel::SignatureMemo memo;
  const std::vector<PublicKey> keysOfA{keyOfDevice("a").publicKey()}, keysOfB{keyOfDevice("b").publicKey()};
  for (std::size_t i = 0; i < seals.size(); ++i) {
    EXPECT_EQ(seals[i].signature, seals[0].signature);
    EXPECT_TRUE(holdsSeal("test", all[i].first, seals[i], keysOfA, memo));
    EXPECT_FALSE(holdsSeal("test", all[i].first, seals[i], keysOfB, memo));
    EXPECT_FALSE(holdsSeal("test", "budget/9", seals[i], keysOfA, memo));
    EXPECT_FALSE(holdsSeal("other", all[i].first, seals[i], keysOfA, memo));
    for (const auto change :
         {+[](BatchSeal& s) { ++s.batches; }, +[](BatchSeal& s) { s.chain = {}; }, +[](BatchSeal& s) { s.value = {}; },
          +[](BatchSeal& s) { ++s.number; }, +[](BatchSeal& s) { s.index ^= 1; }, +[](BatchSeal& s) { ++s.size; },
          +[](BatchSeal& s) { s.path.resize(3); }, +[](BatchSeal& s) { s.path.resize(32 * 99); },
          +[](BatchSeal& s) { s.signature.clear(); }, +[](BatchSeal& s) { s.root = {}; },
          +[](BatchSeal& s) { s.format = 2; }}) {
      BatchSeal changed = seals[i];
      change(changed);
      EXPECT_FALSE(holdsSeal("test", all[i].first, changed, keysOfA, memo));
    }
  }
}

// An asker of a copy verifies one signature for both.
TEST_F(Proofs, TheAnswersAndTheBatchOfARoundHaveOneSignature) {
  std::vector<std::string> signatures;
  cluster.lose = [&](const TestCluster::Frame& frame) {
    if (frame.from != "a" || frame.to != "b" || !isAdjudication(frame.bytes)) return false;
    const std::string payload = frame.bytes.substr(replication::kFrameHeaderBytes);
    Answer answer;
    Entries entries;
    BatchSeal seal;
    if (typeOf(frame.bytes) == AdjudicationFrame::answer && readMessage(payload, answer, "answer").ok()) {
      const auto proof = kernel::readProof(answer.proof);
      signatures.emplace_back(proof->signature.begin(), proof->signature.end());
    } else if (typeOf(frame.bytes) == AdjudicationFrame::entries && readMessage(payload, entries, "entries").ok() &&
               readMessage(asView(entries.seal), seal, "seal").ok()) {
      signatures.emplace_back(seal.signature.begin(), seal.signature.end());
    }
    return false;
  };
  for (const char* id : {"op-2", "op-3"}) b().submit(spend(id, 1));
  cluster.run();
  ASSERT_EQ(signatures.size(), 3u) << "two answers and a batch";
  for (const std::string& signature : signatures) EXPECT_EQ(signature, signatures.front());
}

TEST_F(Proofs, ATakeoverThatTheRosterPermitsCounts) {
  cluster.cut(a(), b()), cluster.cut(a(), c());
  decide(a(), "op-2", 10);  // only a has it
  EXPECT_EQ(c().replica().forceTakeover(kPartition, "", at(c().ms)).error().code, ErrorCode::unauthorised);
  ASSERT_TRUE(b().replica().forceTakeover(kPartition, "", at(b().ms)).ok());
  cluster.run();
  EXPECT_EQ(c().replica().owners().find(kPartition)->owner, b().replica().ownerName());
  cluster.connect(a(), c());
  cluster.run();
  EXPECT_FALSE(a().owns()) << "it heard of it by way of c, and c is not believed";
  minute();
  EXPECT_EQ(a().aside(), 1u);
  EXPECT_TRUE(a().hasIncident("surplus"));
  cluster.connect(a(), b());
  cluster.run();
  expectAllGoOn(b());
}

// Several takeovers: a device that missed the first ones asks for what links the last one to its own log.
TEST_F(Proofs, ADeviceThatMissedSeveralTakeoversIsToldOfEach) {
  cluster.cut(a(), b()), cluster.cut(a(), c());
  decide(a(), "op-2", 10);
  ASSERT_TRUE(b().replica().forceTakeover(kPartition, "", at(b().ms)).ok());
  cluster.run();
  decide(b(), "op-3", 10);
  ASSERT_TRUE(b().replica().transferOwnership(kPartition, "c", "", at(b().ms)).ok());
  cluster.run();
  ASSERT_TRUE(c().owns()) << "b handed over to it, which needs no role";
  decide(c(), "op-4", 10);
  cluster.connect(a(), c());
  cluster.run();
  minute();
  EXPECT_THAT(a().decided(), ElementsAre("op-1", "op-3", "op-4"));
  EXPECT_EQ(a().aside(), 1u);
  cluster.connect(a(), b());
  cluster.run();
  expectAllGoOn(c());
}

// Two took over at once, and the ledger goes on from the one whose name is the lesser: the other one missed an epoch of
// the same number as its own.
TEST_F(Proofs, ADeviceThatTookOverBesideAnotherIsToldOfThatOne) {
  for (const auto& one : keys) one->takers = "abc";
  cluster.cut(a(), b()), cluster.cut(a(), c()), cluster.cut(b(), c());
  for (Device* device : {&b(), &c()}) ASSERT_TRUE(device->replica().forceTakeover(kPartition, "", at(device->ms)).ok());
  decide(c(), "op-c", 10);
  cluster.connect(a(), b());
  cluster.run();
  decide(b(), "op-b", 10);
  ASSERT_TRUE(b().replica().transferOwnership(kPartition, "a", "", at(b().ms)).ok());
  cluster.run();
  ASSERT_TRUE(a().owns());
  decide(a(), "op-a", 10);
  cluster.connect(a(), c());
  cluster.run();
  minute();
  EXPECT_THAT(c().decided(), ElementsAre("op-1", "op-b", "op-a"));
  EXPECT_EQ(c().aside(), 2u) << "its epoch's beginning, and op-c";
  cluster.connect(b(), c());
  cluster.run();
  expectAllGoOn(a());
}

// A successor that nobody named is none, also if the owner does hand over, to another one.
TEST_F(Proofs, OnlyTheNamedSuccessorSucceeds) {
  takers = "";
  for (const auto& one : keys) one->takers = "";
  ASSERT_TRUE(a().replica().transferOwnership(kPartition, "b", "", at(a().ms)).ok());
  ASSERT_TRUE(a().drain().ok());
  PeerAdvertisement claims = standing();
  OwnershipRecord claim = claimOf(c(), 3, kernel::EpochCause::handover);
  claims.claims = {*a().replica().owners().find(kPartition), claim};
  send("c", "b", claims);
  EXPECT_NE(b().replica().owners().find(kPartition)->owner, c().replica().ownerName());
  expectAllGoOn(b());
}

// A roster that comes later proves what nothing proved.
TEST_F(Proofs, AClaimWaitsForTheRoster) {
  keys[0]->takers = keys[2]->takers = "a";
  cluster.cut(a(), b());
  cluster.cut(a(), c());
  ASSERT_TRUE(b().replica().forceTakeover(kPartition, "", at(b().ms)).ok());
  cluster.run();
  EXPECT_EQ(c().replica().owners().latestEpoch(kPartition), 1u);
  keys[0]->takers = keys[2]->takers = "ab";
  c().replica().rosterChanged();
  minute();
  EXPECT_EQ(c().replica().owners().latestEpoch(kPartition), 2u);
  EXPECT_EQ(c().host().epoch().owner, b().replica().ownerName()) << "and it follows";
}

// A store from before claims and batches were signed.
class Older : public Proofs {
 protected:
  Older() : Proofs(false) {
    signs = false;
    for (Device* device : {&a(), &b(), &c()}) device->start();
    cluster.found();
    decide(b(), "op-1", 10);
    signs = true;
  }
};

TEST_F(Older, StoresGoOnAndTheirOwnersSign) {
  EXPECT_TRUE(b().replica().owners().find(kPartition)->signature.empty());
  for (Device* device : {&a(), &b(), &c()}) device->start();
  reconnect();
  expectAllGoOn(a());
  for (Device* device : {&a(), &b(), &c()})
    EXPECT_FALSE(device->replica().owners().find(kPartition)->signature.empty()) << device->name();
  for (Device* device : {&a(), &b(), &c()}) device->start();
  reconnect();
  EXPECT_FALSE(c().replica().owners().find(kPartition)->signature.empty()) << "also after a restart";
  PeerAdvertisement claims = standing();
  claims.claims = {claimOf(c(), 2, kernel::EpochCause::seizure)};
  send("c", "a", claims);
  EXPECT_TRUE(a().owns());
}

// A device that comes later learns all of an older log: the signed claim of its owner vouches for nothing before its
// founding, so each batch bears a seal.
TEST_F(Older, ANewDeviceLearnsAnOlderLog) {
  for (Device* device : {&a(), &b(), &c()}) device->start();
  cluster.losePower(c());
  for (store::MemoryStore& disk : c().stores) disk.wipe();
  c().start();
  reconnect();
  minute();
  EXPECT_EQ(c().decided(), a().decided());
}

}  // namespace
}  // namespace witan::node::test::proofs_test
