// Who asked, and what was decided, is proven: an owner that writes an entry in another's name is refused by every copy,
// with evidence that a stranger can check, and an answer counts with its entry only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "kernel/ledger/ledger_verify.h"
#include "kernel/record/statement.h"
#include "replica/core/entry_evidence.h"
#include "replica/core/owner_proofs.h"
#include "replica/core/request_proofs.h"
#include "replication/writer.h"
#include "rules/domain/rule_module.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::names_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Device a owns the partition.
class Names : public ::testing::Test {
 protected:
  explicit Names(std::uint32_t partitions = 1)
      : cluster(3, [partitions](std::size_t, ReplicaConfig& config) { config.partitions = partitions; }) {
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
  template <class T>
  void send(const std::string& from, const std::string& to, const T& message) {
    std::string bytes;
    WordWriter words;
    appendFrame(bytes, words, message);
    cluster.hand({from, to, bytes});
    cluster.run();
  }
  static kernel::Entry entryOf(Device& device, std::uint64_t seq) {
    return *kernel::readEntry(*device.host().ledger().entryBytes(seq));
  }
  static kernel::LeafProof proofOf(Device& device, std::uint64_t seq) {
    return *kernel::readProof(entryOf(device, seq).proof);
  }
  std::vector<std::string> accused(Device& by, std::string_view kind) {
    std::vector<std::string> devices;
    const auto incidents = by.replica().data().incidents();
    for (const replication::Incident& incident : *incidents)
      if (incident.kind == kind) devices.push_back(incident.peer);
    return devices;
  }
  // The owner decides this in the name of `device`, with that proof.
  void enter(const std::string& id, const std::string& device, std::span<const std::uint8_t> proof) {
    auto action = budget().parseAction(*parseJson(R"({"type":"SpendA","n":7})"));
    const kernel::Decision made = a().host().ledger().partition().propose({.entity = "e",
                                                                           .role = "A",
                                                                           .operationId = id,
                                                                           .device = device,
                                                                           .action = action->get(),
                                                                           .at = at(0).wall,
                                                                           .proof = proof});
    ASSERT_EQ(made.outcome, kernel::Outcome::approved) << made.message;
    cluster.run();
  }
  // A proof that `signer` makes of the request in the name of `device`.
  static std::vector<std::uint8_t> signedBy(const std::string& signer, const std::string& id,
                                            const std::string& device) {
    kernel::Statement statement{"test", "budget", "propose", "e", "A", id, device};
    statement.action = R"({"n":7,"type":"SpendA"})";
    const Hash leaf = kernel::requestLeaf(statement);
    return kernel::packProof(kernel::signLeaves("test", {&leaf, 1}, keyOfDevice(signer)).front());
  }
  // The same of the beginning of an entity without fields.
  static std::vector<std::uint8_t> begunBy(const std::string& signer, const std::string& entity,
                                           const std::string& device) {
    kernel::Statement statement{"test", "budget", "begin", entity, {}, "init-" + entity, device};
    statement.action = "{}";
    const Hash leaf = kernel::requestLeaf(statement);
    return kernel::packProof(kernel::signLeaves("test", {&leaf, 1}, keyOfDevice(signer)).front());
  }
  // Every copy refused entry `id`, names the owner, and has evidence that holds.
  void expectRefused(const std::string& id, const std::string& kind) {
    for (Device* device : {&b(), &c()}) {
      EXPECT_THAT(device->decided(), Not(Contains(id))) << device->name();
      expectProven(*device, kind);
    }
    EXPECT_THAT(cluster.closed, IsEmpty()) << "private data goes on";
  }
  void expectProven(Device& one, const std::string& kind) {
    for (Device* device : {&one}) {
      // By what it saw itself, and by what others told before.
      EXPECT_THAT(accused(*device, kind), AllOf(Not(IsEmpty()), Each("a"))) << device->name();
      EXPECT_TRUE(device->noticed(kind));
      ASSERT_EQ(device->replica().evidence().size(), 1u) << device->name();
      const std::string& file = device->replica().evidence().begin()->second;
      const auto proven = verifyEvidence(file, [](const kernel::LedgerFormat&) { return &budget(); });
      ASSERT_TRUE(proven.ok()) << proven.error().message;
      EXPECT_EQ(proven->signer.name, "witan/test/a");
      EXPECT_EQ(proven->kind, kind);
    }
  }

  TestCluster cluster;
};

TEST_F(Names, EachEntryBearsTheProofOfTheDeviceThatAsked) {
  decide(a(), "op-2", 20);
  for (Device* device : {&a(), &b(), &c()}) {
    EXPECT_EQ(proofOf(*device, 1).key, keyOfDevice("b").publicKey());
    EXPECT_EQ(proofOf(*device, 2).key, keyOfDevice("a").publicKey());
    EXPECT_EQ(entryOf(*device, 1).epoch, 1u);
    EXPECT_EQ(entryOf(*device, 1).owner, a().replica().ownerName());
    EXPECT_EQ(entryOf(*device, 2).epoch, 0u) << "of the first entry only";
    kernel::VerifyOptions options{&budget(), std::nullopt};
    options.keysOf = [](std::string_view one) { return std::vector{keyOfDevice(one).publicKey()}; };
    const auto report = kernel::verifyLedger(device->host().rows(), options);
    EXPECT_EQ(report->problem, "");
    EXPECT_EQ(report->provenEntries, 2u);
    options.keysOf = [](std::string_view one) { return std::vector{keyOfDevice(one == "b" ? "z" : one).publicKey()}; };
    EXPECT_THAT(kernel::verifyLedger(device->host().rows(), options)->problem,
                HasSubstr("no key of its proposer b signed it"));
    options.keysOf = [](std::string_view) { return std::vector{keyOfDevice("z").publicKey()}; };
    EXPECT_THAT(kernel::verifyLedger(device->host().rows(), options)->problem,
                HasSubstr("entity \"e\": no key of its proposer a signed it"));
  }
}

TEST_F(Names, TheRequestsOfARoundShareOneSignature) {
  for (int i = 0; i < 5; ++i) b().submit(spend("round-" + std::to_string(i), 1));
  cluster.run();
  for (std::uint64_t seq = 2; seq <= 6; ++seq) {
    EXPECT_EQ(proofOf(c(), seq).size, 5u);
    EXPECT_EQ(proofOf(c(), seq).signature, proofOf(c(), 2).signature);
  }
}

TEST_F(Names, AnOwnerThatInventsAProposerIsRefusedByEveryCopy) {
  enter("op-2", "b", signedBy("a", "op-2", "b"));
  expectRefused("op-2", "forgedName");
}

TEST_F(Names, SoIsASignatureOfAnotherRequest) {
  enter("op-2", "b", entryOf(a(), 1).proof);
  expectRefused("op-2", "forgedName");
}

// A key that nobody here knows may be in a roster that is on its way: nobody is accused, and nothing is taken.
TEST_F(Names, AKeyThatIsNotKnownIsWaitedFor) {
  enter("op-2", "b", signedBy("z", "op-2", "b"));
  for (Device* device : {&b(), &c()}) {
    EXPECT_THAT(device->decided(), ElementsAre("op-1"));
    EXPECT_TRUE(device->noticed("proposerUnknown"));
    EXPECT_THAT(accused(*device, "forgedName"), IsEmpty());
  }
}

TEST_F(Names, WhatTheyRefusedAndWhyOutlastsARestart) {
  enter("op-2", "b", signedBy("a", "op-2", "b"));
  cluster.losePower(b());
  EXPECT_EQ(b().replica().evidence().size(), 1u);
  cluster.connect(a(), b()), cluster.connect(b(), c());
  cluster.run();
  ASSERT_TRUE(c().replica().forceTakeover(kPartition, "a lies", at(c().ms)).ok());
  cluster.run();
  decide(b(), "after", 1);
  for (Device* device : {&b(), &c()}) EXPECT_THAT(device->decided(), ElementsAre("op-1", "after"));
}

// The owner's own batch, with entry 2 changed by `change` and sealed anew.
std::pair<std::string, BatchSeal> resealed(Device& owner, const std::function<void(kernel::Entry&)>& change) {
  const std::uint64_t last = owner.host().ledger().batches() - 1;
  kernel::LogBatch batch(owner.host().partition().size());
  const std::string value = *owner.host().ledger().batch(last);
  const auto read = kernel::readLogBatch(value, [&](const kernel::LogRecord& record) -> Status {
    kernel::Entry entry = *kernel::readEntry(record.payload);
    change(entry);
    WordWriter words;
    const std::string_view bytes = words.message(entry);
    batch.add(kernel::RecordKind::entry, bytes, kernel::leafHash(bytes));
    return okStatus();
  });
  EXPECT_TRUE(read.ok());
  BatchSeal seal{1, owner.replica().ownerName(), last + 1};
  const std::string altered = batch.take();
  seal.value = sha256(altered), seal.format = kernel::kSignedBeginnings, seal.run = owner.replica().run();
  seal.chain = chained(*owner.host().chain().after(last), altered);
  const std::pair<std::string, BatchSeal*> one{kPartition, &seal};
  sealTogether("test", {&one, 1}, keyOfDevice(owner.name()));
  return {altered, seal};
}

// The owner's last batch as others get it.
Entries entriesOf(const std::string& value, const BatchSeal& seal) {
  Entries entries;
  entries.partition = kPartition;
  entries.batch = seal.batches - 1;
  entries.epochNumber = entries.previousNumber = 1;
  entries.epochOwner = entries.previousOwner = seal.owner;
  entries.value.assign(value.begin(), value.end());
  WordWriter words;
  const std::string_view bytes = words.message(seal);
  entries.seal.assign(bytes.begin(), bytes.end());
  return entries;
}

bool isEntries(const TestCluster::Frame& frame) {
  return isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::entries;
}

TEST_F(Names, AnEntryWithoutAProofIsRefused) {
  cluster.cut(a(), b()), cluster.cut(a(), c());
  decide(a(), "op-2", 20);
  const auto [value, seal] = resealed(a(), [](kernel::Entry& entry) { entry.proof.clear(); });
  cluster.connect(a(), b()), cluster.connect(a(), c());
  cluster.lose = isEntries;
  cluster.run();
  for (const char* device : {"b", "c"}) send("a", device, entriesOf(value, seal));
  expectRefused("op-2", "unsigned");
}

// A decision that the rules do not give is proven by the whole log, and by a head in which the owner names its rules.
TEST_F(Names, AnUnlawfulEntryIsProvenOnceItsOwnerHasNamedItsRules) {
  cluster.lose = isEntries;
  decide(a(), "op-2", 20);
  const auto [value, seal] = resealed(a(), [](kernel::Entry& entry) { entry.verdicts.at(1) = 2; });
  for (const char* device : {"b", "c"}) send("a", device, entriesOf(value, seal));
  EXPECT_THAT(accused(b(), "unlawful"), ElementsAre("a"));
  EXPECT_THAT(b().replica().evidence(), IsEmpty()) << "its owner may have other rules";
  a().passTime(1'000);
  cluster.run();
  expectRefused("op-2", "unlawful");
  const std::string file = b().replica().evidence().begin()->second;
  EXPECT_THAT(verifyEvidence(file).error().message, HasSubstr("rules of budget are not here"));
  const auto other = *domains::makeDomain("budget", {{"cap", 1'000'000}});
  EXPECT_THAT(verifyEvidence(file, [&](const kernel::LedgerFormat&) { return other.get(); }).error().message,
              HasSubstr("other rules"));
  // Nor is a lawful batch, or a log with a batch left out, evidence of anything.
  EntryEvidence evidence;
  ASSERT_TRUE(readJson(*parseJson(file, {.bytes = 1 << 20, .depth = 4}), evidence, "evidence").ok());
  const auto verdict = [](const EntryEvidence& one) {
    return verifyEvidence(toJson(one), [](const kernel::LedgerFormat&) { return &budget(); });
  };
  ASSERT_TRUE(verdict(evidence).ok());
  EntryEvidence fewer = evidence;
  fewer.before->pop_back();
  EXPECT_FALSE(verdict(fewer).ok());
  const auto [lawful, itsSeal] = resealed(a(), [](kernel::Entry&) {});
  WordWriter words;
  EntryEvidence honest = evidence;
  honest.batch = toBase64(lawful), honest.seal = toBase64(words.message(itsSeal));
  EXPECT_THAT(verdict(honest).error().message, HasSubstr("the rules give the batch"));
}

// Rules of a file, in the version of this number.
const kernel::DomainModule& noteRules(int version) {
  static std::map<int, std::unique_ptr<kernel::DomainModule>> made;
  const char* const later =
      "[invariants.LONG]\nrule = \"a note says something\"\n"
      "check = '''require size(s) > 0 else reject 'empty' '''\n[since]\n2 = [\"LONG\"]\n";
  if (!made[version])
    made[version] = *rules::makeRuleModule(concat("domain = \"budget\"\nversion = ", version, R"toml(
[fields]
s = "string = 'new'"
[processes.Set]
role = "A"
arguments = "k: string"
do = "s = k"
[invariants.SHORT]
rule = "a note is short"
check = '''require size(s) < 10 else reject 'long' '''
)toml",
                                                  version > 1 ? later : ""),
                                           "notes.domain.toml");
  return *made[version];
}

void ask(TestCluster& cluster, int version, const std::string& id, const std::string& role, const json::object& what) {
  const std::string bytes = noteRules(version).encodeAction(**noteRules(version).parseAction(what));
  Request request = spend(id, 1);
  request.role = role;
  request.actionType = what.at("type").as_string();
  request.action.assign(bytes.begin(), bytes.end());
  cluster.a().submit(std::move(request));
  cluster.run();
}

// Of a device that was upgraded since, too; and who decides by a later version than it signed before is no liar.
TEST(RuleEvidence, IsCheckedUnderTheVersionThatItsOwnerSigned) {
  int version = 1;
  TestCluster cluster(2, [&](std::size_t, ReplicaConfig& config) { config.domains = {&noteRules(version)}; });
  cluster.found();
  ask(cluster, 1, "op-1", "A", {{"type", "Set"}, {"k", "a"}});
  cluster.a().passTime(1'000);
  cluster.run();
  cluster.lose = isEntries;
  ask(cluster, 1, "op-2", "A", {{"type", "Set"}, {"k", "b"}});
  const auto [value, seal] = resealed(cluster.a(), [](kernel::Entry& entry) { entry.verdicts.at(1) = 2; });
  std::string bytes;
  WordWriter words;
  appendFrame(bytes, words, entriesOf(value, seal));
  cluster.hand({"a", "b", bytes});
  cluster.run();
  EXPECT_TRUE(cluster.b().replica().evidence().empty()) << "the head is of before the batch";
  cluster.a().passTime(1'000);
  cluster.run();
  ASSERT_EQ(cluster.b().replica().evidence().size(), 1u);
  const std::string file = cluster.b().replica().evidence().begin()->second;
  const auto under = [](const std::string& text, int here) {
    return verifyEvidence(text, [&](const kernel::LedgerFormat&) { return &noteRules(here); });
  };
  EXPECT_TRUE(under(file, 1).ok()) << under(file, 1).error().message;
  EXPECT_TRUE(under(file, 2).ok()) << under(file, 2).error().message;

  // The owner goes on to the second version in the same epoch, and moves the entity on.
  EntryEvidence evidence;
  ASSERT_TRUE(readJson(*parseJson(file, {.bytes = 1 << 20, .depth = 4}), evidence, "evidence").ok());
  evidence.before->push_back(FileBytes(toBase64(*cluster.a().host().ledger().batch(evidence.before->size()))));
  version = 2;
  cluster.losePower(cluster.a());
  ask(cluster, 2, "op-3", "Upgrade", {{"type", "UpgradeRules"}});
  ASSERT_NE(cluster.a().answered("op-3"), nullptr);
  const auto [later, itsSeal] = resealed(cluster.a(), [](kernel::Entry&) {});
  WordWriter others;
  evidence.batch = toBase64(later), evidence.seal = toBase64(others.message(itsSeal));
  for (const int here : {1, 2})
    EXPECT_THAT(under(toJson(evidence), here).error().message, HasSubstr("the head is of before the batch"));
}

// An owner tells b of one entry and seals another under its number. Who never asked learns it from b.
TEST_F(Names, AnOwnerThatTellsOfAnotherEntryThanItSealsIsProvenToLie) {
  cluster.lose = isEntries;
  decide(b(), "op-2", 20);
  ASSERT_NE(b().answered("op-2"), nullptr);
  const auto [value, seal] = resealed(a(), [](kernel::Entry& entry) {
    entry.device = "c", entry.operationId = "op-9";
    kernel::Statement statement{"test", "budget", "propose", "e", entry.role, "op-9", "c"};
    statement.action = entry.action;
    const Hash leaf = kernel::requestLeaf(statement);
    entry.proof = kernel::packProof(kernel::signLeaves("test", {&leaf, 1}, keyOfDevice("c")).front());
  });
  send("a", "b", entriesOf(value, seal));
  EXPECT_THAT(b().decided(), ElementsAre("op-1", "op-9"));
  for (Device* device : {&b(), &c()}) {
    EXPECT_THAT(accused(*device, "falseAnswer"), ElementsAre("a")) << device->name();
    ASSERT_EQ(device->replica().evidence().size(), 1u) << device->name();
  }
  const std::string file = c().replica().evidence().begin()->second;
  ASSERT_TRUE(verifyEvidence(file).ok());
  EntryEvidence evidence;
  ASSERT_TRUE(readJson(*parseJson(file, {.bytes = 1 << 20, .depth = 4}), evidence, "evidence").ok());
  EntryEvidence same = evidence;
  same.answer = FileBytes(toBase64(*b().host().ledger().entryBytes(2)));
  EXPECT_FALSE(verifyEvidence(toJson(same)).ok()) << "what it did not tell";
  same = evidence, same.entry = 1;
  EXPECT_FALSE(verifyEvidence(toJson(same)).ok());
}

// The same from another run: its disk went back. It is told of, and nobody is accused, also by a file that lies.
TEST_F(Names, AnOwnerWhoseDiskWentBackBehindAnAnswerIsNoLiar) {
  const auto before = a().stores[2].image();
  cluster.lose = isEntries;
  decide(b(), "op-2", 20);
  ASSERT_NE(b().answered("op-2"), nullptr);
  const Answer told = *b().answered("op-2");
  cluster.cut(a(), b()), cluster.cut(a(), c());
  a().stores[2].restoreImage(*before);
  a().start();
  decide(a(), "op-9", 7);
  cluster.lose = nullptr;
  cluster.connect(a(), b()), cluster.connect(a(), c());
  cluster.run();
  EXPECT_THAT(b().decided(), ElementsAre("op-1", "op-9"));
  EXPECT_THAT(accused(b(), "contradiction"), ElementsAre("a"));
  EXPECT_THAT(accused(b(), "falseAnswer"), IsEmpty());
  EXPECT_THAT(b().replica().evidence(), IsEmpty());
  const std::string value = *b().host().ledger().batch(b().host().ledger().batches() - 1);
  const auto kept = kernel::makeNoteVerifier("witan/test/a", keyOfDevice("a").publicKey());
  EntryEvidence evidence{"falseAnswer",  kernel::verifierKeyText(*kept), std::string(kPartition), 2, {},
                         toBase64(value)};
  auto [same, seal] = resealed(a(), [](kernel::Entry&) {});
  for (const std::uint64_t run : {a().replica().run(), std::uint64_t{0}}) {
    seal.run = run;
    const std::pair<std::string, BatchSeal*> one{kPartition, &seal};
    sealTogether("test", {&one, 1}, keyOfDevice("a"));
    WordWriter words;
    evidence.seal = toBase64(words.message(seal));
    evidence.answer = FileBytes(toBase64(asView(told.entry))), evidence.proof = toHex(told.proof);
    EXPECT_FALSE(verifyEvidence(toJson(evidence)).ok()) << run;
  }
}

// What an owner decided before its log parted is of another run than what its log holds after.
TEST_F(Names, AnOwnerWhoseLogPartedSpeaksInAnotherRun) {
  const std::uint64_t run = a().replica().run();
  cluster.cut(a(), b()), cluster.cut(a(), c());
  decide(a(), "op-2", 5);
  EXPECT_EQ(a().replica().run(), run);
  ASSERT_TRUE(b().replica().forceTakeover(kPartition, "a is away", at(b().ms)).ok());
  cluster.run();
  cluster.connect(a(), b()), cluster.connect(a(), c());
  cluster.run();
  EXPECT_THAT(a().decided(), ElementsAre("op-1"));
  EXPECT_NE(a().replica().run(), run);
}

// Who began an entity is proven as who proposed.
TEST_F(Names, ABeginningBearsTheProofOfTheDeviceThatAsked) {
  c().submit(beginning("f"));
  cluster.run();
  const std::string value = *b().host().ledger().batch(b().host().ledger().batches() - 1);
  bool found = false;
  const auto read = kernel::readLogBatch(value, [&](const kernel::LogRecord& record) -> Status {
    if (record.kind != kernel::RecordKind::genesis) return okStatus();
    const auto words = alignedWords(record.payload);
    const auto began = kernel::readGenesis({reinterpret_cast<const char*>(words->data()), record.payload.size()});
    found = began.ok() && began->entity == "f" && began->device == "c" && began->operationId == "init-f" &&
            kernel::readProof(began->proof)->key == keyOfDevice("c").publicKey();
    return okStatus();
  });
  EXPECT_TRUE(read.ok() && found);
  c().submit(beginning("f"));
  cluster.run();
  EXPECT_EQ(c().answered("init-f")->outcome, kernel::Outcome::duplicate);
  EXPECT_EQ(kernel::verifyLedger(b().host().rows(), {&budget(), std::nullopt})->problem, "");
}

TEST_F(Names, ABeginningThatItsDeviceDidNotSignIsNone) {
  Request request = beginning("f");
  request.device = "b";
  send("b", "a", request);
  request.proof = begunBy("c", "f", "b");
  send("b", "a", request);
  request.proof = begunBy("b", "g", "b");  // of another entity
  send("b", "a", request);
  request.proof = signedBy("b", "init-f", "b");  // of another act
  send("b", "a", request);
  EXPECT_EQ(a().replica().counters().requestsUnproven, 4u);
  EXPECT_FALSE(a().host().partition().state("f"));
}

TEST_F(Names, AnOwnerThatBeginsAnEntityInAnothersNameIsRefusedByEveryCopy) {
  const auto proof = begunBy("a", "f", "b");
  const kernel::Decision made =
      a().host().ledger().partition().begin("f", {}, at(0).wall, false, {"init-f", "b", "", proof});
  ASSERT_EQ(made.outcome, kernel::Outcome::initialised) << made.message;
  cluster.run();
  expectRefused("init-f", "forgedName");
  EXPECT_THAT(b().replica().evidence().begin()->second, HasSubstr("\"entity\":\"f\""));
}

// What b signed once begins no other entity.
TEST_F(Names, AnOwnerThatBeginsAnotherEntityByASignatureIsRefusedByEveryCopy) {
  const auto proof = begunBy("b", "f", "b");
  const kernel::Decision made =
      a().host().ledger().partition().begin("g", {}, at(0).wall, false, {"init-f", "b", "", proof});
  ASSERT_EQ(made.outcome, kernel::Outcome::initialised) << made.message;
  cluster.run();
  expectRefused("init-f", "forgedName");
  for (Device* device : {&b(), &c()}) EXPECT_FALSE(device->host().partition().state("g")) << device->name();
}

// An owner of two partitions spends a budget twice if an entity may stand in both.
class TwoPartitions : public Names {
 protected:
  TwoPartitions() : Names(2) {}
};

TEST_F(TwoPartitions, AnEntityBeginsInItsOwn) {
  std::string entity = "f";
  while (partitionOf("budget", entity, 2) == kPartition) entity += "f";
  const auto proof = begunBy("b", entity, "b");
  const std::string id = "init-" + entity;
  ASSERT_EQ(a().host().ledger().partition().begin(entity, {}, at(0).wall, false, {id, "b", "", proof}).outcome,
            kernel::Outcome::initialised);
  cluster.run();
  for (Device* device : {&b(), &c()}) {
    EXPECT_FALSE(device->host().partition().state(entity)) << device->name();
    EXPECT_THAT(accused(*device, "unlawful"), AllOf(Not(IsEmpty()), Each("a"))) << device->name();
  }
}

// It asked for other fields, and the owner made a state of its own.
TEST_F(Names, ABeginningIsWhatItsFieldsGive) {
  kernel::Partition log(budget());
  log.beginEpoch({1, "a@00000001"}, kernel::EpochCause::founding, at(0).wall, "", "", kernel::kSignedBeginnings);
  const std::string epoch = log.takeBatch().value;
  const auto proof = begunBy("b", "f", "b");
  ASSERT_EQ(log.begin("f", {}, at(0).wall, false, {"init-f", "b", "", proof}).outcome, kernel::Outcome::initialised);
  const std::string good = log.takeBatch().value;
  const auto takes = [&](const std::function<void(kernel::Genesis&)>& change) {
    kernel::LogBatch batch(1);
    EXPECT_TRUE(kernel::readLogBatch(good, [&](const kernel::LogRecord& record) -> Status {
                  kernel::Genesis began;
                  WITAN_DO(readMessage(record.payload, began, "genesis"));
                  change(began);
                  WordWriter words;
                  const std::string_view bytes = words.message(began);
                  batch.add(kernel::RecordKind::genesis, bytes, kernel::leafHash(bytes));
                  return okStatus();
                }).ok());
    kernel::Partition copy(budget());
    EXPECT_TRUE(copy.fold(epoch, kernel::Fold::checked).ok());
    const auto folded = copy.fold(batch.take(), kernel::Fold::checked);
    return folded.ok() ? std::string() : folded.error().message;
  };
  EXPECT_EQ(takes([](kernel::Genesis&) {}), "");
  EXPECT_THAT(takes([](kernel::Genesis& g) { g.proof.clear(); }), HasSubstr("bears no signature of who began it"));
  EXPECT_THAT(takes([](kernel::Genesis& g) { g.fields = "{ }"; }), HasSubstr("no canonical JSON"));
  EXPECT_THAT(takes([](kernel::Genesis& g) { g.fields = R"({"x":1})"; }), HasSubstr("is not what its fields begin"));
}

// Whoever changes evidence has none; an honest owner's batch is none.
TEST_F(Names, EvidenceThatProvesNothingProvesNothing) {
  enter("op-2", "b", signedBy("a", "op-2", "b"));
  const std::string file = b().replica().evidence().begin()->second;
  EntryEvidence evidence;
  ASSERT_TRUE(readJson(*parseJson(file, {.bytes = 1 << 20, .depth = 4}), evidence, "evidence").ok());
  const auto verdict = [](const EntryEvidence& one) { return verifyEvidence(toJson(one)); };
  ASSERT_TRUE(verdict(evidence).ok());
  EntryEvidence other = evidence;
  other.kind = "unsigned";
  EXPECT_FALSE(verdict(other).ok());
  other = evidence, other.entry = 1;
  EXPECT_FALSE(verdict(other).ok());
  other = evidence, other.partition = "budget/1";
  EXPECT_FALSE(verdict(other).ok());
  other = evidence;
  other.key = kernel::verifierKeyText(*kernel::makeNoteVerifier("witan/test/b", keyOfDevice("b").publicKey()));
  EXPECT_FALSE(verdict(other).ok());
  other = evidence, other.batch = toBase64(*fromBase64(evidence.batch) + std::string(8, '\0'));
  EXPECT_FALSE(verdict(other).ok());
  const auto [honest, seal] = resealed(a(), [](kernel::Entry& entry) { entry.proof = signedBy("b", "op-2", "b"); });
  WordWriter words;
  other = evidence, other.batch = toBase64(honest), other.seal = toBase64(words.message(seal));
  EXPECT_THAT(verdict(other).error().message, HasSubstr("may be in order"));
}

TEST_F(Names, ARequestThatItsDeviceDidNotSignIsNotDecided) {
  Request request = spend("op-2", 20);
  request.device = "b";
  send("b", "a", request);
  request.proof = entryOf(a(), 1).proof;
  send("b", "a", request);
  request.proof = signedBy("c", "op-2", "b");
  send("b", "a", request);
  EXPECT_EQ(a().replica().counters().requestsUnproven, 3u);
  EXPECT_THAT(a().decided(), ElementsAre("op-1"));
}

// Attack 2: what an owner says counts with the entry, signed to be in its log.
TEST_F(Names, AnAnswerCountsWithItsEntryOnly) {
  cluster.lose = [&](const TestCluster::Frame& frame) {
    return frame.from == "a" && isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::answer;
  };
  decide(b(), "op-2", 20);
  cluster.lose = {};
  ASSERT_EQ(b().answered("op-2"), nullptr);
  Answer answer = answerTo(b().replica().outbox().all().at("op-2").request, AnswerKind::decided, "");
  answer.outcome = kernel::Outcome::approved;
  answer.seq = 4242;
  answer.epochNumber = 1, answer.epochOwner = a().replica().ownerName();
  send("a", "b", answer);
  answer.seq = 1;
  answer.entry = [&] {
    const std::string bytes = *a().host().ledger().entryBytes(1);
    return std::vector<std::uint8_t>(bytes.begin(), bytes.end());
  }();
  send("a", "b", answer);  // the entry of another request
  answer.seq = 2;
  const std::string bytes = *a().host().ledger().entryBytes(2);
  answer.entry.assign(bytes.begin(), bytes.end());
  send("a", "b", answer);  // not signed to be in the log
  EXPECT_EQ(b().answered("op-2"), nullptr);
  EXPECT_EQ(b().replica().counters().answersUnproven, 3u);
  EXPECT_THAT(accused(b(), "falseAnswer"), ElementsAre("a"));
  b().passTime(kLastRetryMs);
  cluster.run();
  ASSERT_NE(b().answered("op-2"), nullptr);
  EXPECT_EQ(b().answered("op-2")->recorded, kernel::Outcome::approved);
}

// The same act under the same id, asked for by another device, is answered by the entry that there is.
TEST_F(Names, AnActThatAnotherDeviceAskedForBeforeIsAnsweredByItsEntry) {
  decide(c(), "op-1", 10);
  ASSERT_NE(c().answered("op-1"), nullptr);
  EXPECT_EQ(c().answered("op-1")->outcome, kernel::Outcome::duplicate);
  EXPECT_EQ(c().answered("op-1")->seq, 1u);
  EXPECT_THAT(accused(c(), "falseAnswer"), IsEmpty());
}

// Requests are decided at the end of the round that signs them.
TEST_F(Names, ARequestInWhoseRoundThePartitionWentAwayWaitsForTheNextOwner) {
  cluster.cut(a(), b());
  ASSERT_TRUE(b().replica().forceTakeover(kPartition, "", at(b().ms)).ok());
  for (int step = 0; step < 2; ++step) {  // b tells c, and c tells a
    cluster.collect();
    if (step == 1) a().submit(spend("op-2", 20));
    for (const TestCluster::Frame& frame : std::exchange(cluster.underWay, {})) cluster.hand(frame);
  }
  ASSERT_FALSE(a().owns());
  ASSERT_TRUE(a().drain().ok());
  EXPECT_TRUE(a().replica().outbox().all().contains("op-2"));
  cluster.connect(a(), b());
  cluster.run();
  ASSERT_NE(a().answered("op-2"), nullptr);
  EXPECT_EQ(a().answered("op-2")->outcome, kernel::Outcome::approved);
}

// Golden vectors, from a program that was written from docs/ledger-format.md alone.
TEST(NamesTexts, AreThoseOfTheDocument) {
  const std::vector<std::uint8_t> run(32, 0x11), plan(32, 0x22), shown(32, 0x33);
  kernel::Statement request{"c-1", "budget", "propose", "e", "A", "op-1", "dev", "agent"};
  request.action = R"({"n":7,"type":"SpendA"})", request.runKey = run, request.planDigest = plan;
  EXPECT_EQ(toHex(kernel::requestLeaf(request)), "6fec80b8515928c376f5c26e31683efd7ac17ca5abc7e6ca8114c4a0cc932a0f");
  kernel::Statement answer{"c-1", "udt", "commit", "David", "", "op-2", "dev"};
  const std::string decision = kernel::decisionText("candidate", parseJson(R"({"x":1})")->as_object());
  answer.counselor = "dr.supervising", answer.decision = decision, answer.reason = "seen", answer.shown = shown;
  EXPECT_EQ(toHex(kernel::requestLeaf(answer)), "c44f2f878441628293bb7802d7940f4994fb182a5aaa406b61b3540799df930f");
  EXPECT_EQ(toHex(sha256(kernel::answerText(answer))),
            "676ac496cb5d7aac32261acac1dc87bb1087a2e9fa5ee09a6805537b2891c8a4");
  Hash leaf;
  leaf.fill(0x44);
  EXPECT_EQ(toHex(kernel::holdingLeaf("c-1", "udt/3", 2, "dev@00000001", 9, 7, leaf)),
            "108ba81c482d379e71068dda469a0df1e44deeb5b358298b83e572792f2a1257");
}

// A proof has one form, and one leaf; paths of all shapes lead to what was signed.
TEST(NamesTexts, AProofIsOfOneLeaf) {
  std::vector<Hash> leaves;
  for (int i = 0; i < 300; ++i) leaves.push_back(sha256(std::to_string(i)));
  const auto proofs = kernel::signLeaves("test", leaves, keyOfDevice("a"));
  ASSERT_EQ(proofs.size(), leaves.size());
  kernel::SignatureMemo memo;
  for (std::size_t i = 0; i < leaves.size(); i += 7) {
    const auto bytes = kernel::packProof(proofs[i]);
    const auto read = kernel::readProof(bytes);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, proofs[i]);
    EXPECT_TRUE(memo.holds("test", leaves[i], *read));
    EXPECT_FALSE(memo.holds("test", leaves[(i + 1) % leaves.size()], *read));
    EXPECT_FALSE(memo.holds("other", leaves[i], *read));
    for (const std::size_t at : {0, 32, 36, 40, 104}) {
      auto changed = bytes;
      changed[at] ^= 1;
      const auto other = kernel::readProof(changed);
      EXPECT_FALSE(other.ok() && memo.holds("test", leaves[i], *other)) << at;
    }
  }
  for (const std::size_t size : {0, 103, 105, 104 + 31, 104 + 65 * 32})
    EXPECT_FALSE(kernel::readProof(std::vector<std::uint8_t>(size, 1)).ok()) << size;
}

// A log from before goes on as it was; its next epoch has proofs.
TEST(NamesOfOlderLogs, TheNextEpochHasProofs) {
  bool keys = false;
  TestCluster cluster(2, [&](std::size_t, ReplicaConfig& config) {
    if (!keys) config.heads = nullptr;
  });
  cluster.found();
  cluster.a().submit(spend("op-1", 10));
  cluster.run();
  keys = true;
  cluster.losePower(cluster.a()), cluster.losePower(cluster.b());
  cluster.connect(cluster.a(), cluster.b());
  cluster.run();
  cluster.b().submit(spend("op-2", 20));
  cluster.run();
  ASSERT_TRUE(cluster.a().replica().transferOwnership(kPartition, "b", "", at(cluster.a().ms)).ok());
  cluster.run();
  cluster.a().submit(spend("op-3", 30));
  cluster.run();
  for (Device* device : {&cluster.a(), &cluster.b()}) {
    EXPECT_THAT(device->decided(), ElementsAre("op-1", "op-2", "op-3"));
    const auto& epochs = device->host().partition().epochs();
    EXPECT_EQ(epochs.front().format, 0u);
    EXPECT_EQ(epochs.back().format, kernel::kSignedBeginnings);
    EXPECT_EQ(kernel::readEntry(*device->host().ledger().entryBytes(1))->proof.size(), 0u);
    EXPECT_EQ(kernel::readEntry(*device->host().ledger().entryBytes(3))->epoch, epochs.back().number);
    EXPECT_EQ(kernel::verifyLedger(device->host().rows(), {&budget(), std::nullopt})->problem, "");
  }
}

}  // namespace
}  // namespace witan::node::test::names_test
