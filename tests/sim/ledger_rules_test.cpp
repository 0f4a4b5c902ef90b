// The rules of ledgers and of the fences between epochs: good ones pass, and each rule has a ledger that only it
// refuses.
#include "sim/check/ledger_rules.h"

#include <gtest/gtest.h>

#include "kernel/record/merkle.h"
#include "tests/sim/made_history.h"

namespace witan::sim::test::ledger_rules_test {
namespace {

using kernel::Entry;
using kernel::Tag;

// A domain module with one thing wrong: its walk sees what is not there, or does not see what is.
class Deluded final : public kernel::DomainModule {
 public:
  Deluded(const kernel::DomainModule& real, bool blind) : real_(real), blind_(blind) {}

  std::vector<kernel::Verdict> walk(const kernel::EntityState& state) const override {
    auto verdicts = real_.walk(state);
    for (kernel::Verdict& verdict : verdicts) verdict = kernel::Verdict::pass();
    if (!blind_ && state.shared.clock > Time{1'000'000}) verdicts.back() = kernel::Verdict::reject("I see ghosts");
    return verdicts;
  }

  const kernel::Signature& signature() const override { return real_.signature(); }
  std::string policyJson() const override { return real_.policyJson(); }
  const Hash& digest() const override { return real_.digest(); }
  std::string_view scenarios() const override { return real_.scenarios(); }
  Result<kernel::EntityPtr> create(const json::object& fields, Time at) const override {
    return real_.create(fields, at);
  }
  kernel::EntityPtr clone(const kernel::EntityState& state) const override { return real_.clone(state); }
  void prefetch(const kernel::EntityState& state) const override { real_.prefetch(state); }
  Result<kernel::ActionPtr> parseAction(const json::value& value) const override { return real_.parseAction(value); }
  Result<kernel::ActionPtr> decodeAction(std::string_view type, capnp::AnyStruct::Reader reader) const override {
    return real_.decodeAction(type, reader);
  }
  void writeAction(std::string& out, const kernel::Action& action) const override { real_.writeAction(out, action); }
  std::string encodeAction(const kernel::Action& action) const override { return real_.encodeAction(action); }
  std::string actionSchema() const override { return real_.actionSchema(); }
  void evaluate(kernel::EntityState& state, std::string_view role, const kernel::Action& action, Time at,
                kernel::Evaluation& out) const override {
    real_.evaluate(state, role, action, at, out);
  }
  void evaluateFully(kernel::EntityState& state, std::string_view role, const kernel::Action& action, Time at,
                     kernel::Evaluation& out) const override {
    real_.evaluateFully(state, role, action, at, out);
  }
  Status counselorCommit(kernel::EntityState& state, kernel::CommitBase base, const kernel::Action* pending,
                         const json::object& edit, std::string_view counselor, Time at,
                         kernel::Evaluation& out) const override {
    return real_.counselorCommit(state, base, pending, edit, counselor, at, out);
  }
  kernel::Touch touch(const kernel::EntityState& state, const kernel::Action& action, Time at) const override {
    return real_.touch(state, action, at);
  }
  Status applyWrites(kernel::EntityState& state, const json::object& writes) const override {
    return real_.applyWrites(state, writes);
  }
  void writeState(std::string& out, const kernel::EntityState& state, kernel::FieldMask mask) const override {
    real_.writeState(out, state, mask);
  }
  Result<kernel::EntityPtr> readState(const json::object& state) const override { return real_.readState(state); }
  kernel::ActionPtr sample(const kernel::EntityState& state, Random& random, Time at) const override {
    return real_.sample(state, random, at);
  }
  std::string sampleInit(Random& random, Time at) const override { return real_.sampleInit(random, at); }
  std::string sampleEdit(const kernel::EntityState& state, const kernel::Action& pending, std::string_view counselor,
                         Random& random, Time at) const override {
    return real_.sampleEdit(state, pending, counselor, random, at);
  }
  std::string generate(std::size_t entities, std::size_t days, std::uint64_t seed) const override {
    return real_.generate(entities, days, seed);
  }

 private:
  const kernel::DomainModule& real_;
  const bool blind_;
};

class Rules : public testing::Test {
 protected:
  Rules() : made(*module, 3, {.operations = 200, .ttl = 400, .runs = false}), lines(made.ledger) {}

  template <class Is>
  Entry& first(Is is) {
    for (LedgerLine& line : lines)
      if (is(line.entry)) return line.entry;
    ADD_FAILURE() << "no such entry in this ledger";
    return lines.front().entry;
  }
  Entry& first(Tag tag) {
    return first([tag](const Entry& entry) { return entry.tag == tag && entry.counselor != "system"; });
  }
  // As if the owner had written it so.
  void seal() {
    WordWriter words;
    for (LedgerLine& line : lines) line.leaf = kernel::leafHash(words.message(line.entry));
  }
  void refuses(std::string_view because) {
    seal();
    const std::string problem = checkLedger(*module, lines);
    EXPECT_NE(problem.find(because), std::string::npos) << (problem.empty() ? "nothing was noticed" : problem);
  }

  std::unique_ptr<kernel::DomainModule> module = chest::module();
  MadeHistory made;
  std::vector<LedgerLine> lines;
};

TEST_F(Rules, GoodOnesPass) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const MadeHistory good(*module, seed, {.operations = 100, .ttl = seed % 2 == 0 ? 40 : 0});
    ASSERT_EQ(checkLedger(*module, good.ledger), "") << "seed " << seed;
  }
  EXPECT_EQ(checkLedger(*module, lines), "");
  (void)first([](const Entry& entry) { return entry.counselor == "system"; });
}

TEST_F(Rules, Numbers) {
  lines.erase(lines.begin() + 3);
  refuses("stands where entry 4 is due");
}
TEST_F(Rules, OneOperationOneEntry) {
  lines[5].entry.operationId = lines[2].entry.operationId;
  refuses("was decided before");
}
// Finding F3: one plan per run key.
TEST_F(Rules, TwoPlansOfOneRun) {
  Entry& one = first([](const Entry& entry) { return entry.tag == Tag::approved && entry.seq > 5; });
  Entry& other = first([&](const Entry& entry) { return entry.tag == Tag::approved && entry.seq > one.seq; });
  for (Entry* entry : {&one, &other}) {
    entry->runKey.assign(32, 1);
    entry->planDigest.assign(32, 2);
  }
  seal();
  EXPECT_EQ(checkLedger(*module, lines), "");
  other.planDigest.assign(32, 3);
  refuses("acts by a second plan, beside 02020202020202020202020202020202 (F3)");
}
TEST_F(Rules, TurnedAwayWithoutASecondPlan) {
  lines = MadeHistory(*module, 5, {.operations = 200}).ledger;
  Entry& entry = first(isTurnedAway);
  const Entry& binds = first([&](const Entry& each) { return each.runKey == entry.runKey; });
  entry.planDigest = binds.planDigest;
  refuses("turned away for the plan that its run is bound to");
}
TEST_F(Rules, OneOperationOneEntryUnderItsPlan) {
  lines = MadeHistory(*module, 5, {.operations = 200}).ledger;
  const Entry& turnedAway = first(isTurnedAway);
  first([&](const Entry& each) { return each.seq > turnedAway.seq && each.runKey.empty(); }).operationId =
      turnedAway.operationId;
  refuses("was decided before");
}
TEST_F(Rules, ACounselorIsNoRun) {
  Entry& entry = first(Tag::cCommitted);
  entry.runKey.assign(32, 1);
  entry.planDigest.assign(32, 2);
  refuses("a counselor who is a run");
}
TEST_F(Rules, CanonicalBytes) {
  lines[2].leaf[0] ^= 1;
  EXPECT_NE(checkLedger(*module, lines).find("not that of its canonical bytes"), std::string::npos);
}
TEST_F(Rules, EntitiesBeginOnce) {
  Entry& begins = first([](const Entry& entry) { return !entry.genesis.empty(); });
  const std::string genesis = begins.genesis;
  first([&](const Entry& entry) { return entry.entity == begins.entity && entry.genesis.empty(); }).genesis = genesis;
  refuses("begins a second time");
}
TEST_F(Rules, EntitiesBegin) {
  lines[0].entry.genesis.clear();
  refuses("has no beginning");
}
TEST_F(Rules, EntitiesBeginLawfully) {
  std::string& genesis = lines[0].entry.genesis;
  genesis.replace(genesis.find("\"gold\":40"), 9, "\"gold\":-1");
  refuses("begins in violation: GOLD_POSITIVE");
}
TEST_F(Rules, LemmaA65_OneWaits) {
  const Entry escalated = first(Tag::escalated);
  first([&](const Entry& entry) { return entry.escalation == escalated.seq; }).entity = "somebody else";
  // The resolution went elsewhere, so the entity's next proposal comes while the first one waits.
  std::erase_if(lines, [](const LedgerLine& line) { return line.entry.entity == "somebody else"; });
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].entry.seq = i + 1;
  refuses("(lemma A.65)");
}
TEST_F(Rules, Theorem4viii_SomethingWaits) {
  Entry& approved = first(Tag::approved);
  approved.tag = Tag::cRejected;
  approved.counselor = "captain";
  approved.writes.clear();
  approved.verdicts.clear();
  approved.escalation = 1;
  refuses("but nothing waits (4 viii)");
}
TEST_F(Rules, Theorem4viii_ThatVeryOne) {
  ++first(Tag::cRejected).escalation;
  refuses("waits (4 viii)");
}
TEST_F(Rules, TheActionThatWaits) {
  first(Tag::cRejected).action = "{\"n\":1,\"type\":\"Earn\"}";
  refuses("not the one that waits");
}
TEST_F(Rules, Theorem4vii_WhoMay) {
  first(Tag::cRejected).counselor = "stranger";
  refuses("no authorised counselor");
}
// Finding F17. The very first resolution, so that nothing else breaks before it.
TEST_F(Rules, ACounselorDecidesInTime) {
  const auto resolved = [](const Entry& entry) { return entry.tag == Tag::cCommitted || entry.tag == Tag::cRejected; };
  const Entry& resolution = first(resolved);
  const Entry& asked = first([&](const Entry& entry) { return entry.seq == resolution.escalation; });
  const std::int64_t waited = resolution.time.micros - asked.time.micros;
  const std::string late = checkLedger(*module, lines, std::max<std::int64_t>(1, waited));
  const bool human = resolution.counselor != "system";
  EXPECT_EQ(late.find("a counselor decides") != std::string::npos, human) << late;
  EXPECT_NE(checkLedger(*module, lines, 399).find("(F17)"), std::string::npos) << "what expires after 400";
}
TEST_F(Rules, TheSystemOnlyExpires) {
  first([](const Entry& entry) { return entry.counselor == "system"; }).operationId = "expire:0";
  refuses("rejects by expiry only");
}
TEST_F(Rules, ProposalsResolveNothing) {
  first(Tag::approved).escalation = 1;
  refuses("a proposal that resolves something");
}
TEST_F(Rules, Theorem4i_NoWitness) {
  first(Tag::approved).invariant = "SHY";
  refuses("a witness where none belongs");
}
TEST_F(Rules, Theorem4ii_AWitness) {
  first(Tag::rejected).invariant.clear();
  refuses("no witness");
}
TEST_F(Rules, Theorem4ii_TheFirstThatFails) {
  Entry& rejected = first([](const Entry& entry) { return entry.invariant == "GOLD_POSITIVE"; });
  rejected.invariant = "SHY";
  refuses("the witness is recorded as \"SHY\"");
}
TEST_F(Rules, CommitsWrite) {
  first(Tag::approved).writes.clear();
  refuses("a commit without its writes");
}
TEST_F(Rules, LemmaA47_OthersDoNot) {
  first(Tag::rejected).writes = "{}";
  refuses("writes without a commit");
}
TEST_F(Rules, LemmaA47_TheDigestStays) {
  first(Tag::rejected).stateDigest[0] ^= 1;
  refuses("its state digest is not that of what was written");
}
TEST_F(Rules, WhatWasWritten) {
  Entry& approved = first([](const Entry& entry) { return entry.writes.find("gold") != std::string::npos; });
  approved.writes = "{\"gold\":41}";
  refuses("the write set is recorded as");
}
TEST_F(Rules, CounselorsDecide) {
  first(Tag::approved).counselor = "captain";
  refuses("a counselor who decided nothing");
}
TEST_F(Rules, SomebodyDecides) {
  first(Tag::cRejected).counselor.clear();
  refuses("nobody decided it");
}
TEST_F(Rules, DecisionsBelongToCommits) {
  first(Tag::cCommitted).decision.clear();
  refuses("belongs to commits");
}
TEST_F(Rules, VectorsBelongToFailures) {
  first(Tag::rejected).findings.push_back({"SHY", 2, "boo"});
  refuses("a detection vector where none belongs");
}
TEST_F(Rules, TheVectorIsWhole) {
  first(Tag::escalated).findings.pop_back();
  refuses("the detection vector comes out differently");
}
TEST_F(Rules, OneVerdictAnInvariant) {
  first(Tag::approved).verdicts.pop_back();
  refuses("not one verdict an invariant");
}
TEST_F(Rules, Names) {
  lines[0].entry.operationId.clear();
  refuses("names no entity or no operation");
}
TEST_F(Rules, AnotherOutcome) {
  Entry& rejected = first(Tag::rejected);
  rejected.tag = Tag::escalated;
  refuses("the outcome is recorded as");
}
TEST_F(Rules, Theorem1_AfterEveryCommit) {
  const Deluded module2(*module, false);
  EXPECT_NE(checkLedger(module2, lines).find("I see ghosts (theorem 1)"), std::string::npos);
}
TEST_F(Rules, Theorem1Plus_UnsafeIsUnsafe) {
  (void)first([](const Entry& entry) { return entry.tag == Tag::cCommitted && !entry.findings.empty(); });
  const Deluded module2(*module, true);
  EXPECT_NE(checkLedger(module2, lines).find("recorded as unsafe"), std::string::npos);
}

// One thing wrong anywhere in any ledger: an entry left out, given twice, two that changed places.
TEST_F(Rules, AlteredLedgersAreNoticed) {
  WordWriter words;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto good = MadeHistory(*module, seed, {.entities = 1, .operations = 60}).ledger;
    for (std::size_t i = 0; i + 1 < good.size(); ++i) {
      auto gone = good, twice = good;
      gone.erase(gone.begin() + static_cast<std::ptrdiff_t>(i));
      twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(i), good[i]);
      EXPECT_NE(checkLedger(*module, gone), "") << "seed " << seed << ", entry " << i + 1 << " left out";
      EXPECT_NE(checkLedger(*module, twice), "") << "seed " << seed << ", entry " << i + 1 << " twice";
    }
  }
}

// --- fences

class Fences : public testing::Test {
 protected:
  Fences() {
    for (std::uint64_t n = 1; n <= 6; ++n) {
      LedgerLine line;
      line.entry.seq = n;
      line.entry.operationId = "op-" + std::to_string(n);
      line.leaf[0] = static_cast<std::uint8_t>(n);
      log.lines.push_back(line);
    }
    begin(log, 1, "a", 0);
    begin(log, 2, "b", 3);
  }
  static void begin(PartitionLog& into, std::uint64_t number, std::string owner, std::uint64_t entries) {
    kernel::EpochRecord epoch;
    if (!into.epochs.empty()) {
      epoch.previousNumber = into.epochs.back().number;
      epoch.previousOwner = into.epochs.back().owner;
    }
    epoch.number = number;
    epoch.owner = std::move(owner);
    epoch.entries = entries;
    kernel::MerkleFrontier tree;
    for (std::uint64_t i = 0; i < entries && i < into.lines.size(); ++i) tree.append(into.lines[i].leaf);
    epoch.root = tree.root();
    into.epochs.push_back(std::move(epoch));
  }
  void accepts(const PartitionLog& other, std::vector<LostRange> lost = {}) {
    EXPECT_EQ(checkFences(std::vector<DeviceLog>{{"x", &log}, {"y", &other}}, lost), "");
  }
  void refuses(const PartitionLog& other, std::string_view because, std::vector<LostRange> lost = {}) {
    const std::string problem = checkFences(std::vector<DeviceLog>{{"x", &log}, {"y", &other}}, lost);
    EXPECT_NE(problem.find(because), std::string::npos) << (problem.empty() ? "nothing was noticed" : problem);
  }
  PartitionLog log;
};

TEST_F(Fences, OneMayBeBehind) {
  PartitionLog behind = log;
  accepts(behind);
  behind.lines.pop_back();
  accepts(behind);
  behind.lines.resize(3);
  accepts(behind);
  behind.epochs.pop_back();
  accepts(behind);
  accepts({});
}
TEST_F(Fences, ADecisionOfItsOwn) {
  PartitionLog forked = log;
  forked.lines[5].leaf[1] = 1;
  refuses(forked, "entry 6 (approved, op-6) is entry 6 (approved, op-6) in the other");
}
TEST_F(Fences, NumbersRise) {
  PartitionLog other = log;
  begin(other, 2, "c", 4);
  refuses(other, "the log of y: epoch 2 of c follows epoch 2 of b");
}
TEST_F(Fences, PositionsDoNotGoBack) {
  PartitionLog other = log;
  begin(other, 3, "c", 2);
  refuses(other, "epoch 3 of c begins after 2 entries, epoch 2 of b after 3");
}
TEST_F(Fences, EpochsBeginWithinTheLog) {
  PartitionLog other = log;
  begin(other, 3, "c", 7);
  refuses(other, "but there are 6");
}
TEST_F(Fences, EpochsBeginOnWhatIsThere) {
  PartitionLog other = log;
  other.epochs[1].root[0] ^= 1;
  refuses(other, "begins on other entries than those before it");
}
TEST_F(Fences, EpochsKnowTheirPredecessor) {
  PartitionLog other = log;
  other.epochs[1].previousOwner = "z";
  refuses(other, "names another predecessor");
}
TEST_F(Fences, OneOwnerANumber) {
  PartitionLog other = log;
  other.epochs.pop_back();
  begin(other, 2, "c", 3);
  refuses(other, "epoch 2 has two owners: b in the log of x, c in that of y");
  // One that was given up does not count, but its holder must have cut it off.
  refuses(other, "epoch 2 of b is epoch 2 of c in the other", {{{2, "c"}, 4}});
}
TEST_F(Fences, OnePlaceAnEpoch) {
  PartitionLog other = log;
  other.epochs.pop_back();
  begin(other, 2, "b", 4);
  refuses(other, "epoch 2 of b begins after 3 entries at x, after 4 at y");
}
TEST_F(Fences, EntriesOfAnEpochThatIsNotKnown) {
  PartitionLog other = log;
  other.epochs.pop_back();
  refuses(other, "which it does not know");
}

}  // namespace
}  // namespace witan::sim::test::ledger_rules_test
