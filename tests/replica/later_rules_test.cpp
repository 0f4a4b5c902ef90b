// A later version of a rule file: who signed that it decides by it begins nothing under an earlier one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "kernel/record/log_batch.h"
#include "kernel/record/merkle.h"
#include "replica/core/entry_evidence.h"
#include "replica/core/owner_proofs.h"
#include "replication/writer.h"
#include "rules/domain/rule_module.h"
#include "rules/domain/versions.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::later_rules_test {
namespace {

using ::testing::HasSubstr;

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

// Device a decided under the first version, and goes on under the second, as the others do.
class LaterRules : public ::testing::Test {
 protected:
  LaterRules() : cluster(3, [this](std::size_t, ReplicaConfig& config) { config.domains = {&noteRules(version)}; }) {
    cluster.found();
    set("op-1");
    version = 2;
    for (Device* device : {&a(), &b(), &c()}) cluster.losePower(*device);
    cluster.connect(a(), b()), cluster.connect(a(), c()), cluster.connect(b(), c());
    cluster.run();
  }
  Device& a() { return cluster.a(); }
  Device& b() { return cluster.b(); }
  Device& c() { return cluster.c(); }
  void set(const std::string& id) {
    const auto& rules = noteRules(version);
    const std::string bytes = rules.encodeAction(**rules.parseAction({{"type", "Set"}, {"k", "x"}}));
    Request request = spend(id, 1);
    request.actionType = "Set";
    request.action.assign(bytes.begin(), bytes.end());
    a().submit(std::move(request));
    cluster.run();
  }
  // The owner signs a head of what there is.
  void sign() {
    a().passTime(1'000);
    cluster.run();
  }
  // b asks for the entity, and a begins it under the first version. Others get it from nobody else.
  void beginEarlier(const std::string& entity) {
    cluster.lose = [](const TestCluster::Frame& frame) {
      return isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::entries;
    };
    b().submit(beginning(entity));
    cluster.run();
    const std::uint64_t last = a().host().ledger().batches() - 1;
    const std::string honest = *a().host().ledger().batch(last);
    kernel::LogBatch batch(a().host().partition().size() + 1);
    ASSERT_TRUE(kernel::readLogBatch(honest, [&](const kernel::LogRecord& record) -> Status {
                  kernel::Genesis began;
                  WITAN_DO(readMessage(record.payload, began, "genesis"));
                  json::value state = *parseJson(began.genesis);
                  EXPECT_EQ(state.as_object()["state"].as_object().erase("rulesVersion"), 1u);
                  began.genesis = canonicalJson(state.as_object());
                  WordWriter words;
                  const std::string_view bytes = words.message(began);
                  batch.add(kernel::RecordKind::genesis, bytes, kernel::leafHash(bytes));
                  return okStatus();
                }).ok());
    const std::string value = batch.take();
    BatchSeal seal{1, a().replica().ownerName(), last + 1};
    seal.value = sha256(value), seal.format = kernel::kSignedBeginnings, seal.run = a().replica().run();
    seal.chain = chained(*a().host().chain().after(last), value);
    const std::pair<std::string, BatchSeal*> one{kPartition, &seal};
    sealTogether("test", {&one, 1}, keyOfDevice("a"));
    Entries entries{.partition = std::string(kPartition), .batch = last, .epochNumber = 1, .previousNumber = 1};
    entries.epochOwner = entries.previousOwner = seal.owner;
    entries.value.assign(value.begin(), value.end());
    WordWriter words;
    const std::string_view sealed = words.message(seal);
    entries.seal.assign(sealed.begin(), sealed.end());
    std::string bytes;
    appendFrame(bytes, words, entries);
    for (const char* device : {"b", "c"}) cluster.hand({"a", device, bytes});
    cluster.run();
  }

  int version = 1;
  TestCluster cluster;
};

TEST_F(LaterRules, AnOwnerThatBeginsUnderAnEarlierVersionThanItSignedIsProvenToLie) {
  sign();
  set("op-2");
  beginEarlier("f");
  for (Device* device : {&b(), &c()}) {
    EXPECT_EQ(device->host().partition().state("f"), nullptr) << device->name();
    EXPECT_TRUE(device->hasIncident("unlawful")) << device->name();
    ASSERT_EQ(device->replica().evidence().size(), 1u) << device->name();
    const std::string& file = device->replica().evidence().begin()->second;
    EXPECT_THAT(file, HasSubstr("\"entity\":\"f\""));
    for (const int here : {1, 2}) {
      const auto proven = verifyEvidence(file, [&](const kernel::LedgerFormat&) { return &noteRules(here); });
      ASSERT_TRUE(proven.ok()) << proven.error().message;
      EXPECT_EQ(proven->signer.name, "witan/test/a");
      EXPECT_EQ(proven->kind, "unlawful");
    }
  }
}

// Also if the head was signed after more entries, as long as an earlier one named the rules.
TEST_F(LaterRules, TheFirstHeadThatNamesThemCounts) {
  sign();
  set("op-2");
  sign();
  beginEarlier("f");
  EXPECT_EQ(b().host().partition().state("f"), nullptr);
  EXPECT_EQ(b().replica().evidence().size(), 1u);
}

// It may have begun the entity first, come to have the later rules then, and signed a head of as many entries.
TEST_F(LaterRules, WhatMayHaveBegunBeforeTheyCameIsTaken) {
  sign();
  beginEarlier("f");
  for (Device* device : {&b(), &c()}) {
    ASSERT_NE(device->host().partition().state("f"), nullptr) << device->name();
    EXPECT_EQ(rules::versionOf(noteRules(2), *device->host().partition().state("f")), 1);
    EXPECT_FALSE(device->hasIncident("unlawful")) << device->name();
  }
}

// Without a head there is no proof. Who has begun an entity under the later version is past the earlier one, too.
TEST_F(LaterRules, NothingBeginsUnderAnEarlierVersionThanWhatIsThere) {
  a().submit(beginning("late"));
  cluster.run();
  ASSERT_EQ(rules::versionOf(noteRules(2), *b().host().partition().state("late")), 2);
  beginEarlier("f");
  for (Device* device : {&b(), &c()}) {
    EXPECT_EQ(device->host().partition().state("f"), nullptr) << device->name();
    EXPECT_TRUE(device->hasIncident("unlawful")) << device->name();
    EXPECT_TRUE(device->replica().evidence().empty()) << "until a head names the rules";
  }
}

}  // namespace
}  // namespace witan::node::test::later_rules_test
