// Entries of partitions that only other devices keep copies of: what it asks, whom, and what it believes.
#include "node/ledgers/held_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/bytes.h"
#include "kernel/record/merkle.h"
#include "node/data_dir/replica_dir.h"
#include "node/ledgers/holder_questions.h"
#include "node/ledgers/ledger_place.h"
#include "node/ledgers/ledger_readers.h"
#include "node/ledgers/ledger_rows.h"
#include "node/operations/why.h"
#include "node/slices/slices.h"
#include "replica/head_exchange.h"
#include "tests/node/node_process.h"
#include "tests/node/scratch.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::held_entry_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHere(kPartition);

// Devices "a" to "e": two of them keep copies beside the owner, "a"; five entries, and a head that others have signed.
class Held : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(device('a').replica().bootstrap(at(0)).ok());
    ASSERT_TRUE(device('a').replica().submit(beginning(), at(0)).ok());
    for (char one = 'a'; one <= 'e'; ++one)
      for (char other = 'a'; other < one; ++other) cluster.connect(device(other), device(one));
    cluster.run();
    for (const char* id : {"op-1", "op-2", "op-3"}) decide(id);
    settle();
    older = told({0, kHere, 0});
    decide("op-4"), settle();
    for (char name = 'e'; name > 'a' && asker == '?'; --name)
      if (device(name).replica().host(kHere) == nullptr) asker = name;
    ASSERT_NE(asker, '?');
  }
  Device& device(char name) { return cluster.of(std::string(1, name)); }
  void decide(const std::string& id) { device('a').submit(spend(id, 10)), cluster.run(); }
  void settle() {
    for (int n = 0; n < 3; ++n) {
      for (char name = 'a'; name <= 'e'; ++name) device(name).passTime(kSignHeadMs);
      cluster.run();
    }
  }
  EntryTold told(const EntryAsk& ask) { return tellEntry(device('a').replica(), ask); }
  Result<HeldEntry> check(const EntryAsk& ask, const EntryTold& answer, const LogHead* known = nullptr) {
    return checkTold(device(asker).replica(), ask, answer, known);
  }
  InclusionProof proofIn(const EntryTold& answer) {
    InclusionProof proof;
    EXPECT_TRUE(readJson(*parseJson(answer.proof), proof, "proof").ok());
    return proof;
  }
  // The answer to `ask` with something altered in its proof.
  ErrorCode refusalOf(const EntryAsk& ask, const std::function<void(InclusionProof&)>& alter) {
    EntryTold answer = told(ask);
    InclusionProof proof = proofIn(answer);
    alter(proof);
    answer.proof = toJson(proof);
    const auto held = check(ask, answer);
    EXPECT_FALSE(held.ok());
    return held.ok() ? ErrorCode::invalidInput : held.error().code;
  }

  TestCluster cluster{5, [](std::size_t, ReplicaConfig& config) {
                        config.placement = [] {
                          std::vector<LedgerMember> members;
                          for (char name = 'a'; name <= 'e'; ++name) members.push_back({std::string(1, name), ""});
                          return Placement(members, {{"budget", 2}}, 1);
                        };
                      }};
  char asker = '?';  // keeps no copy
  EntryTold older;   // a head from before the last entry
};

TEST_F(Held, AnEntryIsProvenByACosignedHead) {
  const EntryAsk ask{7, kHere, 2};
  const EntryTold answer = told(ask);
  EXPECT_EQ(answer.id, 7u);
  const auto held = check(ask, answer);
  ASSERT_TRUE(held.ok()) << held.error().message;
  EXPECT_EQ(held->head.checkpoint.size, 4u);
  EXPECT_FALSE(held->head.cosigners.empty());
  EXPECT_EQ(held->proof.size, 4u);
  EXPECT_EQ(held->proof.root, toHex(held->head.checkpoint.root));
  EXPECT_EQ(kernel::readEntry(*fromBase64(held->proof.bytes))->operationId, "op-2");
}

TEST_F(Held, TheHeadAloneIsAskedByNumberZero) {
  const auto held = check({1, kHere}, told({1, kHere}));
  ASSERT_TRUE(held.ok()) << held.error().message;
  EXPECT_EQ(held->head.checkpoint.size, 4u);
  EXPECT_EQ(held->proof.seq, 0u);
}

TEST_F(Held, WhatIsAlteredIsNotBelieved) {
  const EntryAsk ask{1, kHere, 2};
  const InclusionProof other = proofIn(told({1, kHere, 3}));
  EXPECT_EQ(refusalOf(ask, [&](InclusionProof& p) { p.bytes = other.bytes; }), ErrorCode::corrupt);
  EXPECT_EQ(refusalOf(ask, [&](InclusionProof& p) { p.bytes = other.bytes, p.leafHash = other.leafHash; }),
            ErrorCode::corrupt);
  // Another entry of the tree, at its own place: it is not the one that was asked.
  EXPECT_EQ(refusalOf(ask, [&](InclusionProof& p) { p = other; }), ErrorCode::corrupt);
  EXPECT_EQ(refusalOf(ask, [&](InclusionProof& p) { p = other, p.seq = 2; }), ErrorCode::corrupt);
  EXPECT_EQ(refusalOf(ask, [](InclusionProof& p) { p.path.pop_back(); }), ErrorCode::corrupt);
  EXPECT_EQ(refusalOf(ask, [](InclusionProof& p) { p.path.assign(100, p.path.front()); }), ErrorCode::corrupt);
  EXPECT_EQ(refusalOf(ask, [](InclusionProof& p) { p.path.front() = "nothing"; }), ErrorCode::invalidInput);
  EXPECT_EQ(refusalOf(ask, [](InclusionProof& p) { p.index = 2; }), ErrorCode::corrupt);
  EXPECT_EQ(refusalOf(ask, [](InclusionProof& p) { p.root = std::string(64, '0'); }), ErrorCode::corrupt);
  EXPECT_EQ(refusalOf(ask, [](InclusionProof& p) { p.size = 3; }), ErrorCode::unavailable);
  EXPECT_EQ(refusalOf(ask, [](InclusionProof& p) { p.bytes = "?"; }), ErrorCode::corrupt);
  EntryTold answer = told(ask);
  for (const char* text : {"", "null", "[]", "{}", "{\"partition\":1}"}) {
    answer.proof = text;
    EXPECT_FALSE(check(ask, answer).ok()) << text;
  }
}

// A tree of the holder's own, with a head that it signed itself.
TEST_F(Held, AHeadCountsWithTheSignaturesOfItsOwnerAndOfAnother) {
  const EntryAsk ask{1, kHere, 2};
  const EntryTold honest = told(ask);
  const LogHead head = check(ask, honest)->head;
  const auto noted = [](const std::string& device, const kernel::Checkpoint& of) {
    const kernel::NoteSigner key{keyNameOf("test", device), keyOfDevice(device)};
    return *kernel::signNote(*kernel::checkpointText(of), {&key, 1});
  };
  const auto codeOf = [&](const std::string& note) {
    EntryTold answer = honest;
    answer.head = note;
    const auto held = check(ask, answer);
    return held.ok() ? ErrorCode::invalidInput : held.error().code;
  };
  EXPECT_EQ(codeOf(noted("b", head.checkpoint)), ErrorCode::corrupt) << "not by its owner";
  EXPECT_EQ(codeOf(noted("a", head.checkpoint)), ErrorCode::unavailable) << "by its owner alone";
  kernel::Checkpoint otherEpoch = head.checkpoint;
  otherEpoch.origin = originOf("test", {kHere, {head.log.epoch.number + 1, head.log.epoch.owner}});
  EXPECT_EQ(codeOf(noted("a", otherEpoch)), ErrorCode::unavailable);
  kernel::Checkpoint otherPartition = head.checkpoint;
  otherPartition.origin = originOf("test", {"budget/9", head.log.epoch});
  EXPECT_EQ(codeOf(noted("a", otherPartition)), ErrorCode::corrupt);
  EXPECT_NE(codeOf("no note"), ErrorCode::unavailable);
  EXPECT_NE(codeOf(std::string(100'000, 'x')), ErrorCode::unavailable);
}

TEST_F(Held, AProofInAnEarlierTreeNeedsAHeadOfItThatWasChecked) {
  const auto before = check({0, kHere, 0}, older);
  ASSERT_TRUE(before.ok()) << before.error().message;
  ASSERT_EQ(before->head.checkpoint.size, 3u);
  const EntryAsk ask{1, kHere, 2, 3};
  const auto held = check(ask, told(ask), &before->head);
  ASSERT_TRUE(held.ok()) << held.error().message;
  EXPECT_EQ(held->proof.size, 3u);
  EXPECT_EQ(check(ask, told(ask)).error().code, ErrorCode::unavailable);
  LogHead other = before->head;
  other.checkpoint.root = sha256("another tree");
  EXPECT_EQ(check(ask, told(ask), &other).error().code, ErrorCode::corrupt);
}

TEST_F(Held, ThePathFromAnEarlierTreeIsChecked) {
  const EntryAsk ask{1, kHere, 4, 0, 3};
  const auto held = check(ask, told(ask));
  ASSERT_TRUE(held.ok()) << held.error().message;
  EXPECT_EQ(held->proof.firstRoot, toHex(check({0, kHere, 0}, older)->head.checkpoint.root));
  EXPECT_EQ(refusalOf(ask, [](InclusionProof& p) { p.firstRoot = std::string(64, '0'); }), ErrorCode::corrupt);
  EXPECT_EQ(refusalOf(ask, [](InclusionProof& p) { p.consistency->pop_back(); }), ErrorCode::corrupt);
  EXPECT_FALSE(check(ask, told({1, kHere, 4})).ok()) << "none came";
}

TEST_F(Held, WhatADeviceDoesNotHaveItRefuses) {
  for (const EntryAsk& ask :
       {EntryAsk{1, kHere, 99}, EntryAsk{1, "budget/9", 1}, EntryAsk{1, "", 1}, EntryAsk{1, kHere, 1, 99}}) {
    const EntryTold answer = told(ask);
    EXPECT_EQ(answer.verdict, EntryVerdict::refused);
    EXPECT_EQ(check(ask, answer).error().code, ErrorCode::notFound);
  }
  EXPECT_EQ(tellEntry(device(asker).replica(), {1, kHere, 1}).verdict, EntryVerdict::refused);
  EXPECT_EQ(check({1, kHere, 1}, {1, EntryVerdict::busy}).error().code, ErrorCode::unavailable);
}

// ---- whom it asks

Now atMs(std::int64_t ms) { return {Time{ms * 1'000}, ms}; }

class Questions : public ::testing::Test {
 protected:
  void ask(std::vector<std::string> holders) {
    ASSERT_TRUE(
        questions
            .ask({0, "p/0", 1}, std::move(holders), atMs(ms),
                 [this](const Result<HeldEntry>& held) { done.push_back(held.ok() ? "ok" : held.error().message); })
            .ok());
  }
  void work(std::int64_t after) {
    questions.work(atMs(ms += after), [this](const std::string& device, const EntryAsk& put) {
      if (off.contains(device)) return false;
      asked.push_back(device), id = put.id;
      return true;
    });
  }
  void tell(const std::string& device, EntryVerdict verdict = EntryVerdict::told) {
    questions.told(device, {id, verdict}, [&](const EntryAsk&, const EntryTold& told, const LogHead*) {
      return told.verdict == EntryVerdict::told ? Result<HeldEntry>(HeldEntry{}) : Result<HeldEntry>(corrupt("no"));
    });
  }
  HolderQuestions questions;
  std::int64_t ms = 1'000;
  std::uint64_t id = 0;
  std::set<std::string> off;
  std::vector<std::string> asked, done;
};

TEST_F(Questions, GoToOneHolderAfterTheOther) {
  ask({"a", "b", "c"});
  work(0);
  EXPECT_THAT(asked, ElementsAre("a"));
  work(HolderQuestions::kAnswerMs - 1);
  EXPECT_THAT(asked, ElementsAre("a"));
  work(1);
  EXPECT_THAT(asked, ElementsAre("a", "b")) << "the first was silent";
  tell("a");
  EXPECT_THAT(done, IsEmpty()) << "it is not asked any more";
  tell("b", EntryVerdict::refused);
  work(0);
  EXPECT_THAT(asked, ElementsAre("a", "b", "c"));
  tell("c");
  EXPECT_THAT(done, ElementsAre("ok"));
  EXPECT_TRUE(questions.idle());
  tell("c");
  EXPECT_THAT(done, ElementsAre("ok"));
}

TEST_F(Questions, AreRefusedOnceAllHaveRefused) {
  ask({"a", "b"});
  work(0), tell("a", EntryVerdict::refused);
  work(0), tell("b", EntryVerdict::refused);
  EXPECT_THAT(done, IsEmpty());
  work(0);
  EXPECT_THAT(done, ElementsAre(HasSubstr("device b: no")));
}

TEST_F(Questions, WaitForALinkAndGiveUp) {
  off = {"a", "b"};
  ask({"a", "b"});
  work(0), work(5'000);
  off = {"a"};
  work(100);
  EXPECT_THAT(asked, ElementsAre("b"));
  tell("b", EntryVerdict::busy);
  work(100);
  EXPECT_THAT(done, IsEmpty()) << "it may have time later";
  off = {"a", "b"};
  work(100), work(HolderQuestions::kGiveUpMs);
  EXPECT_EQ(done.size(), 1u);
  ask({});
  work(0);
  EXPECT_THAT(done.back(), HasSubstr("no device that keeps"));
}

TEST_F(Questions, AreBoundedAndEndWithTheNode) {
  for (std::size_t n = 0; n < HolderQuestions::kOpen; ++n) ask({"a"});
  EXPECT_EQ(questions.ask({0, "p/0", 1}, {"a"}, atMs(ms), {}).error().code, ErrorCode::unavailable);
  questions.stop();
  EXPECT_EQ(done.size(), HolderQuestions::kOpen);
  EXPECT_TRUE(questions.idle());
}

// ---- real nodes

// Whether it has no copy, and is to make none.
bool lacksCopy(const Node& node) {
  const std::string id = readReplicaIdentity(node.dir())->device;
  const json::value list = node.runJson({"partition", "list"});
  for (const json::value& row : list.at("partitions").as_array()) {
    if (row.at("partition").as_string() != "budget/0") continue;
    const json::value* keepers = row.get_object().if_contains("keepers");
    return keepers != nullptr && !row.get_object().contains("entries") &&
           std::ranges::none_of(keepers->as_array(), [&](const json::value& one) { return one.as_string() == id; });
  }
  return false;
}

// Devices "a" to "e", which all have a copy: "a" decides, two of them keep every entry, the others the newest two.
class PrunedCopy : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto& wholeOnes = placement().whole(kHere);
    for (char name = 'b'; name <= 'e'; ++name)
      (std::ranges::find(wholeOnes, std::string(1, name)) == wholeOnes.end() ? pruner : whole) = name;
    ASSERT_TRUE(device('a').replica().bootstrap(at(0)).ok());
    ASSERT_TRUE(device('a').replica().submit(beginning(), at(0)).ok());
    for (char one = 'a'; one <= 'e'; ++one)
      for (char other = 'a'; other < one; ++other) cluster.connect(device(other), device(one));
    cluster.run();
    slow.emplace(here());
    spendSome(12);
    for (int n = 0; n < 40; ++n) pass();
    gone = copy().firstEntry() - 1;
    ASSERT_GT(gone, 3u);
    ASSERT_EQ(device(whole).host().first(), 0u);
  }
  Device& device(char name) { return cluster.of(std::string(1, name)); }
  Replica& here() { return device(pruner).replica(); }
  PartitionHost& copy() { return device(pruner).host(); }
  void spendSome(int n) {
    for (int i = 0; i < n; ++i) device('a').submit(spend("op-" + std::to_string(++spent), 1)), cluster.run();
  }
  void pass() {
    for (char name = 'a'; name <= 'e'; ++name) device(name).passTime(5'000);
    cluster.run();
  }
  static Placement placement() {
    std::vector<LedgerMember> members;
    for (char name = 'a'; name <= 'e'; ++name) members.push_back({std::string(1, name), ""});
    return Placement(members, {}, 1, {{"budget", 2, 2, 0}});
  }

  TestCluster cluster{5, [](std::size_t, ReplicaConfig& config) {
                        config.placement = placement;
                        config.pruneEvery = 4;
                      }};
  char pruner = '?', whole = '?';
  int spent = 0;
  std::uint64_t gone = 0;
  std::optional<LedgerFeed> slow;  // of the pruner, and has read nothing
};

TEST_F(PrunedCopy, IsReadFromItsFirstEntryOn) {
  const RowFilter all{"", kHere, ""};
  const std::uint64_t stand = copy().entries() - gone;
  EXPECT_EQ(newestRows(here(), all, 100)->size(), stand);
  EXPECT_EQ(rowsAfter(here(), all, gone, 100, false)->size(), stand);
  EXPECT_EQ(rowsAfter(here(), all, 0, 100, false).error().code, ErrorCode::notFound);
  EXPECT_EQ(*lastDurable(copy()), copy().entries());
  const auto first = placeAt(copy(), gone + 1), before = placeAt(copy(), gone);
  ASSERT_TRUE(first.ok() && before.ok());
  EXPECT_EQ(first->seq, gone + 1);
  EXPECT_EQ(before->seq, 0u) << "before all that stands";
  EXPECT_EQ(*partedFrom(copy(), *first), std::nullopt);
  std::uint64_t fed = 0;
  ASSERT_TRUE(slow->poll([&](PartitionHost&, const StoredEntry& entry) { EXPECT_EQ(entry.seq, gone + ++fed); }).ok());
  EXPECT_EQ(fed, stand);
}

TEST_F(PrunedCopy, ProvesWhatIsGoneByItsHashAndTellsNoOtherOfIt) {
  const auto mine = proveEntry(here(), kHere, 2, 0, 1), full = proveEntry(device(whole).replica(), kHere, 2, 0, 1);
  ASSERT_TRUE(mine.ok() && full.ok());
  EXPECT_EQ(mine->bytes, "");
  EXPECT_FALSE(full->bytes.empty());
  EXPECT_EQ(mine->leafHash, full->leafHash);
  EXPECT_EQ(mine->path, full->path);
  EXPECT_EQ(mine->root, full->root);
  EXPECT_EQ(*mine->consistency, *full->consistency);
  EXPECT_FALSE(proveEntry(here(), kHere, gone + 1, 0, 0)->bytes.empty());
  const EntryAsk ask{1, kHere, 2};
  EXPECT_EQ(tellEntry(here(), ask).verdict, EntryVerdict::refused);
  const auto held = checkTold(here(), ask, tellEntry(device(whole).replica(), ask), nullptr);
  ASSERT_TRUE(held.ok()) << held.error().message;
  EXPECT_EQ(held->proof.leafHash, mine->leafHash);
}

TEST_F(PrunedCopy, IsVerifiedAndSaysFromWhereOn) {
  const auto report = verifyHosts(here(), device(pruner).stores[2], true);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->at("ok").as_bool()) << *report;
  EXPECT_EQ(report->at("ledgers").at(0).at("prunedEntries").to_number<std::uint64_t>(), gone);
  EXPECT_EQ(verifyHosts(device(whole).replica(), device(whole).stores[2], true)->at("root"), report->at("root"));
}

TEST_F(PrunedCopy, OfACauseThatIsGoneTheChainSaysSo) {
  const std::filesystem::path none;
  operations::OperationContext context{none, here().data(), at(0).wall, [] { return okStatus(); }, &here()};
  const auto chain = operations::why(context, {kHere + ":2"});
  ASSERT_TRUE(chain.ok()) << chain.error().message;
  ASSERT_EQ(chain->links.size(), 1u);
  EXPECT_EQ(chain->links[0].kind, operations::WhyKind::missing);
  EXPECT_EQ(operations::why(context, {kHere + ":" + std::to_string(gone + 1)})->links.back().kind,
            operations::WhyKind::decision);
  EXPECT_EQ(operations::why(context, {kHere + ":0"}).error().code, ErrorCode::notFound);
}

// What the batches changed is not known any more; what they led to is.
TEST_F(PrunedCopy, SlicesOfAllEntitiesStandForTheBatchesThatAreGone) {
  SliceServer slices(here());
  RosterDevice reader;
  reader.device = "f", reader.roles = {"budget.A"};
  slices.connected(reader);
  ASSERT_TRUE(slices.onHave("f", {}).ok());
  const auto sent = [&] {
    std::string frames;
    EXPECT_EQ(*slices.produce("f", frames), false);
    return frames;
  };
  EXPECT_THAT(sent(), HasSubstr(concat(R"("spentA":)", spent)));
  EXPECT_THAT(sent(), IsEmpty());
  spendSome(1);
  EXPECT_THAT(sent(), HasSubstr(concat(R"("spentA":)", spent)));
}

TEST(HeldEntries, AreAskedAndProvenOnADeviceWithoutACopy) {
  const Scratch scratch;
  std::vector<std::unique_ptr<Node>> nodes;
  nodes.push_back(std::make_unique<Node>(scratch, "first"));
  Node& first = *nodes.front();
  ASSERT_TRUE(first.init(1).exitCode == 0 && first.up()) << first.log();
  ASSERT_EQ(first.run({"partition", "copies", "budget", "2"}).exitCode, 0);
  const Finished retained = first.run({"partition", "retain", "budget", "--days", "30"});
  ASSERT_EQ(retained.exitCode, 0) << retained.err;
  EXPECT_THAT(retained.err, HasSubstr("each copy has every entry until there are more"));
  // Who keeps copies is drawn; one that is to keep none has none from the beginning.
  const Node* asker = nullptr;
  for (const char* name : {"second", "third", "fourth", "fifth", "sixth"}) {
    nodes.push_back(std::make_unique<Node>(scratch, name));
    ASSERT_TRUE(enrol(first, *nodes.back())) << nodes.back()->log();
    if (lacksCopy(*nodes.back())) asker = nodes.back().get();
    if (asker != nullptr) break;
  }
  // If each was drawn when it came (one time in 23), one gives its copy up soon.
  ASSERT_TRUE(until(
      [&] {
        for (std::size_t n = 1; n < nodes.size() && asker == nullptr; ++n)
          if (lacksCopy(*nodes[n])) asker = nodes[n].get();
        return asker != nullptr;
      },
      std::chrono::seconds(240)));
  ASSERT_EQ(first.run({"begin", "budget", "team"}).exitCode, 0);
  const std::vector<std::string> spend{"propose", "budget", "team", "A", R"({"type":"SpendA","n":1})"};
  ASSERT_EQ(first.run(spend).exitCode, 0);
  const std::vector<std::string> show{"ledger", "show", "1", "--partition", "budget/0"};
  Finished shown;
  ASSERT_TRUE(until([&] { return (shown = asker->run(show)).exitCode == 0; })) << shown.err << asker->log();
  EXPECT_THAT(shown.out, HasSubstr("SpendA"));
  EXPECT_THAT(shown.out, HasSubstr("asked from device"));
  // What a stranger verifies is the same as on a device with a copy.
  const json::value here = asker->runJson({"ledger", "proof", "1", "--partition", "budget/0"});
  const json::value there = first.runJson({"ledger", "proof", "1", "--partition", "budget/0"});
  for (const char* member : {"seq", "size", "leafHash", "root"}) EXPECT_EQ(here.at(member), there.at(member)) << member;
  const json::value head = asker->runJson({"ledger", "checkpoint", "--partition", "budget/0"});
  EXPECT_EQ(head.at("root"), here.at("root"));
  EXPECT_FALSE(head.at("cosigners").as_array().empty());
  const json::value row = asker->runJson({"partition", "list", "--domain", "budget"}).at("partitions").at(0);
  EXPECT_EQ(row.at("retention").at("days").to_number<int>(), 30);
  EXPECT_EQ(row.at("retention").at("whole"), row.at("keepers"));
  const Finished none = asker->run({"ledger", "show", "9", "--partition", "budget/0"});
  EXPECT_EQ(none.exitCode, 1);
  EXPECT_THAT(none.err, HasSubstr("there is no entry 9"));
}

}  // namespace
}  // namespace witan::node::test::held_entry_test
