// Partition: what is decided, refused, remembered and frozen; KERNEL_INTEGRITY; findings F5, F6, F16, F17, F21.
#include "kernel/partition.h"

#include <gtest/gtest.h>

#include "tests/kernel/history.h"
#include "tests/kernel/toy_domain.h"

namespace witan::kernel::partition_test {
namespace {

using test::actionOf;
using test::jsonOf;
using test::objectOf;

// A partition with one chest, and short words for its events.
class PartitionTest : public testing::Test {
 protected:
  PartitionTest() { start({}); }

  void start(PartitionOptions options) {
    partition = std::make_unique<Partition>(*module, options);
    ASSERT_EQ(partition->init("c", {}, Time{0}).outcome, Outcome::initialised);
  }
  Decision propose(std::string_view role, std::string_view action, std::int64_t at = 10, std::string operation = {},
                   bool remember = false) {
    if (operation.empty()) operation = "op-" + std::to_string(++operations);
    const ActionPtr decoded = actionOf(*module, action);
    return partition->propose({"c", role, operation, "d", "a", decoded.get(), Time{at}, remember});
  }
  Decision earn(std::int64_t n, std::int64_t at = 10) {
    return propose("Treasurer", R"({"type":"Earn","n":)" + std::to_string(n) + "}", at);
  }
  CounselorDecision directive(bool commit, std::int64_t at = 20) {
    CounselorDecision d;
    d.entity = "c";
    d.counselor = "captain";
    operation_ = "decision-" + std::to_string(++operations);
    d.operationId = operation_;
    d.commit = commit;
    d.edit = &edit;
    d.reason = "because";
    d.at = Time{at};
    return d;
  }
  std::string state() { return test::stateJson(*module, partition->state("c")); }
  std::vector<Entry> all() {
    if (partition->hasOpenBatch()) taken.push_back(partition->takeBatch().value);
    std::vector<Entry> entries;
    for (const std::string& value : taken)
      EXPECT_TRUE(readLogBatch(value, [&](const LogRecord& r) {
                    if (r.kind == RecordKind::entry) entries.push_back(readEntry(r.payload).value());
                    return okStatus();
                  }).ok());
    return entries;
  }

  std::unique_ptr<DomainModule> module = chest::module();
  std::unique_ptr<Partition> partition;
  json::object edit;
  int operations = 0;
  std::vector<std::string> taken;

 private:
  std::string operation_;
};

// ---- KERNEL_INTEGRITY (adjudication.md, "The commit discipline"): the ledger entry and an untouched state ----

class Unlawful : public PartitionTest, public testing::WithParamInterface<std::array<const char*, 3>> {};

TEST_P(Unlawful, IsRejectedWithWitnessKernelIntegrity) {
  const auto [role, action, because] = GetParam();
  const std::string before = state();
  const Decision decision = propose(role, action);
  EXPECT_EQ(decision.outcome, Outcome::rejected);
  EXPECT_EQ(decision.invariant, kKernelIntegrity);
  EXPECT_NE(decision.message.find(because), std::string::npos) << decision.message;
  EXPECT_EQ(state(), before);
  EXPECT_EQ(partition->size(), 1u);
  EXPECT_EQ(all().at(0).verdicts, (std::vector<std::uint8_t>{2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(all().at(0).action, jsonOf(*module, *actionOf(*module, action)));
}

INSTANTIATE_TEST_SUITE_P(
    Partition, Unlawful,
    testing::Values(std::array{"Keeper", R"({"type":"Earn","n":1})", "belongs to role Treasurer"},
                    std::array{"", R"({"type":"Earn","n":1})", "belongs to role Treasurer"},
                    std::array{"Imp", R"({"type":"Throw","what":"fault"})", "as told"},
                    std::array{"Imp", R"({"type":"Throw","what":"std"})", "the mutation threw: as told"},
                    std::array{"Imp", R"({"type":"Throw","what":"other"})", "the mutation threw"},
                    std::array{"Imp", R"({"type":"Stray"})", "wrote outside its declared fields: gold"},
                    std::array{"Imp", R"({"type":"Endless"})", "exceeded its budget"},
                    std::array{"Keeper", R"({"type":"DropItem","item":"none"})", "no item none"},
                    std::array{"Keeper", R"({"type":"PutItem","item":"","value":1})",
                               "a key must have 1 to 256 bytes"}));

// "An invariant that throws fails closed under its own id."
TEST_F(PartitionTest, AnInvariantThatThrowsFailsClosedUnderItsOwnId) {
  const Decision decision = earn(13 - 40);
  EXPECT_EQ(decision.outcome, Outcome::rejected);
  EXPECT_EQ(decision.invariant, "SHY");
  EXPECT_EQ(decision.message, "the invariant could not be evaluated: thirteen");
}

// F5. "an `at` before the entity's clock is rejected with KERNEL_INTEGRITY"; the clock is the time of the last commit.
TEST_F(PartitionTest, F5_TimeNeverGoesBack) {
  ASSERT_EQ(earn(1, 100).outcome, Outcome::approved);
  EXPECT_EQ(earn(1, 99).invariant, kKernelIntegrity);
  EXPECT_EQ(partition->state("c")->shared.clock, Time{100});
  EXPECT_EQ(earn(-100, 500).invariant, "GOLD_POSITIVE");  // a rejection leaves the clock
  EXPECT_EQ(partition->state("c")->shared.clock, Time{100});
  EXPECT_EQ(earn(1, 100).outcome, Outcome::approved);  // equal times are lawful
}

// F6. The freeze stops the entity, not the partition; what comes meanwhile is `frozen` and leaves no entry.
TEST_F(PartitionTest, F6_TheFreezeIsOfOneEntity) {
  ASSERT_EQ(partition->init("other", {}, Time{0}).outcome, Outcome::initialised);
  ASSERT_EQ(earn(50).outcome, Outcome::escalated);
  ASSERT_TRUE(partition->frozen("c"));
  EXPECT_EQ(earn(-1).outcome, Outcome::frozen);
  EXPECT_EQ(propose("Keeper", R"({"type":"PutItem","item":"i","value":1})").outcome, Outcome::frozen);
  const ActionPtr action = actionOf(*module, R"({"type":"Earn","n":1})");
  EXPECT_EQ(partition->propose({"other", "Treasurer", "op-other", "d", "a", action.get(), Time{11}, false}).outcome,
            Outcome::approved);
  EXPECT_EQ(partition->size(), 2u);
  ASSERT_EQ(partition->decide(directive(false)).outcome, Outcome::cRejected);
  EXPECT_EQ(earn(-1, 21).outcome, Outcome::approved);  // thawed
}

// A frozen answer is retryable: it isn't recorded, unless the line it answers has no id of its own.
TEST_F(PartitionTest, F6_FrozenIsRetryable) {
  ASSERT_EQ(earn(50).outcome, Outcome::escalated);
  EXPECT_EQ(propose("Treasurer", R"({"type":"Earn","n":1})", 30, "retry").outcome, Outcome::frozen);
  EXPECT_EQ(propose("Treasurer", R"({"type":"Earn","n":1})", 30, "line-7", true).outcome, Outcome::frozen);
  ASSERT_EQ(partition->decide(directive(false)).outcome, Outcome::cRejected);
  EXPECT_EQ(propose("Treasurer", R"({"type":"Earn","n":1})", 30, "retry").outcome, Outcome::approved);
  const Decision line = propose("Treasurer", R"({"type":"Earn","n":1})", 30, "line-7", true);
  EXPECT_EQ(line.outcome, Outcome::duplicate);
  EXPECT_EQ(line.recorded, Outcome::frozen);
}

// ---- operation ids ----

TEST_F(PartitionTest, ARepeatedOperationIdReturnsTheRecordedOutcomeAndWritesNothing) {
  const Decision first = propose("Treasurer", R"({"type":"Earn","n":-100})", 10, "same");
  for (int i = 0; i < 2; ++i) {
    const Decision again = propose("Treasurer", R"({"type":"Earn","n":-100})", 99, "same");
    EXPECT_EQ(again.outcome, Outcome::duplicate);
    EXPECT_EQ(again.recorded, Outcome::rejected);
    EXPECT_EQ(again.seq, first.seq);
    EXPECT_EQ(again.invariant, first.invariant);
    EXPECT_EQ(again.message, first.message);
    EXPECT_EQ(partition->size(), 1u);
  }
}

TEST_F(PartitionTest, AnOperationIdNamesOneAct) {
  ASSERT_EQ(propose("Treasurer", R"({"type":"Earn","n":1})", 10, "one").outcome, Outcome::approved);
  for (const auto& [role, action] :
       {std::pair{"Treasurer", R"({"type":"Earn","n":2})"}, std::pair{"Imp", R"({"type":"Earn","n":1})"},
        std::pair{"Keeper", R"({"type":"DropItem","item":"i"})"}}) {
    const Decision reuse = propose(role, action, 10, "one");
    EXPECT_EQ(reuse.outcome, Outcome::refused);
    EXPECT_NE(reuse.message.find("already names another act (entry 1)"), std::string::npos);
  }
  ASSERT_EQ(partition->init("other", {}, Time{0}).outcome, Outcome::initialised);
  const ActionPtr action = actionOf(*module, R"({"type":"Earn","n":1})");
  EXPECT_EQ(partition->propose({"other", "Treasurer", "one", "d", "a", action.get(), Time{11}, false}).outcome,
            Outcome::refused);
  CounselorDecision d = directive(true);
  d.operationId = "one";
  EXPECT_EQ(partition->decide(d).outcome, Outcome::refused);
  EXPECT_EQ(partition->size(), 1u);
}

// A proposer's act under a counselor's name, and the other way round.
TEST_F(PartitionTest, AProposalIsNoCounselorsDecision) {
  ASSERT_EQ(earn(50).outcome, Outcome::escalated);
  CounselorDecision d = directive(false);
  d.operationId = "verdict";
  ASSERT_EQ(partition->decide(d).outcome, Outcome::cRejected);
  EXPECT_EQ(partition->decide(d).outcome, Outcome::duplicate);
  EXPECT_EQ(partition->decide(d).recorded, Outcome::cRejected);
  CounselorDecision late = directive(true);
  late.operationId = "verdict";
  const Decision refused = partition->decide(late);
  EXPECT_EQ(refused.outcome, Outcome::refused);
  EXPECT_EQ(refused.message.rfind("entry 2 decided it before: ", 0), 0u) << refused.message;
  EXPECT_EQ(propose("Treasurer", R"({"type":"Earn","n":1})", 30, "verdict").outcome, Outcome::refused);
  EXPECT_EQ(propose("", R"({"type":"Earn","n":1})", 30, "verdict").outcome, Outcome::refused);
}

TEST_F(PartitionTest, StrangersFillNoLedger) {
  const ActionPtr action = actionOf(*module, R"({"type":"Earn","n":1})");
  EXPECT_EQ(partition->propose({"nobody", "Treasurer", "op", "d", "a", action.get(), Time{1}, false}).outcome,
            Outcome::refused);
  for (const std::string& id :
       {std::string(), std::string("with space"), std::string("a|b"), std::string(257, 'x'), std::string("\xff")})
    EXPECT_EQ(partition->propose({"c", "Treasurer", id, "d", "a", action.get(), Time{1}, false}).outcome,
              Outcome::refused);
  EXPECT_EQ(partition->size(), 0u);
}

// Who does not give the time may ask again under any operation id.
TEST_F(PartitionTest, ABeginningMadeAgainIsDoneAlready) {
  for (const bool used : {false, true}) {
    if (used) {
      ASSERT_EQ(earn(5).outcome, Outcome::approved);
    }
    const Decision again = partition->begin("c", {}, Time{50}, true);
    EXPECT_EQ(again.outcome, Outcome::duplicate) << again.message;
    EXPECT_EQ(again.recorded, Outcome::initialised);
    const Decision other = partition->begin("c", objectOf(R"({"gold":1})"), Time{50}, true);
    EXPECT_EQ(other.outcome, Outcome::refused);
    EXPECT_EQ(other.message, "entity \"c\" exists already, with another beginning: gold differs");
    const Decision untold = partition->begin("c", objectOf(R"({"gold":1})"), Time{50}, false);
    EXPECT_EQ(untold.message, "entity \"c\" exists already, with another beginning");
    EXPECT_NE(partition->begin("c", objectOf(R"({"silver":1})"), Time{50}, true).message.find("unknown field"),
              std::string::npos);
  }
  EXPECT_EQ(partition->begin("new", objectOf(R"({"gold":1})"), Time{50}, true).outcome, Outcome::initialised);
  EXPECT_EQ(partition->begin("new", objectOf(R"({"gold":1})"), Time{90}, true).outcome, Outcome::duplicate);
}

TEST_F(PartitionTest, InitIsOnceAndLawful) {
  EXPECT_EQ(partition->init("c", {}, Time{0}).outcome, Outcome::duplicate);
  EXPECT_EQ(partition->init("c", {}, Time{1}).outcome, Outcome::refused);
  EXPECT_EQ(partition->init("c", objectOf(R"({"gold":1})"), Time{0}).outcome, Outcome::refused);
  EXPECT_NE(partition->init("d", objectOf(R"({"gold":-1})"), Time{0}).message.find("violates GOLD_POSITIVE"),
            std::string::npos);
  EXPECT_NE(partition->init("d", objectOf(R"({"gold":13})"), Time{0}).message.find("violates SHY"), std::string::npos);
  EXPECT_NE(partition->init("d", objectOf(R"({"silver":1})"), Time{0}).message.find("unknown field \"silver\""),
            std::string::npos);
  EXPECT_NE(
      partition->init("d", objectOf(R"({"gold":"much"})"), Time{0}).message.find("init.gold: expected an integer"),
      std::string::npos);
  for (const std::string& name : {std::string(), std::string(257, 'n'), std::string("a\nb"), std::string("\x7f")})
    EXPECT_EQ(partition->init(name, {}, Time{0}).outcome, Outcome::refused);
  EXPECT_EQ(partition->entityCount(), 1u);
}

// People read names in tables and approve by them.
TEST_F(PartitionTest, AnEntityBeginsUnderANameThatPeopleCanRead) {
  for (const char* name : {"te\u200bam", "te\u202eam", " team", "team ", "a  b", "te\u0430m", "\xff"})
    EXPECT_EQ(partition->init(name, {}, Time{0}).outcome, Outcome::refused) << name;
  for (const char* name :
       {"t\u00e9am", "\u041f\u041e\u0421\u0422", "a b", "-a", "\u041e\u0442\u0434\u0435\u043b IT", "\u03b2-blocker"})
    EXPECT_EQ(partition->init(name, {}, Time{0}).outcome, Outcome::initialised) << name;
}

// ---- counselors ----

TEST_F(PartitionTest, AnUnauthorisedCounselorChangesNothing) {
  ASSERT_EQ(earn(50).outcome, Outcome::escalated);
  for (const char* who : {"stranger", "", "system", "Captain"}) {
    CounselorDecision d = directive(true);
    d.counselor = who;
    EXPECT_EQ(partition->decide(d).outcome, Outcome::refused) << who;
  }
  EXPECT_TRUE(partition->frozen("c"));
  EXPECT_EQ(partition->size(), 1u);
}

TEST_F(PartitionTest, NothingPendingNothingDecided) {
  EXPECT_NE(partition->decide(directive(true)).message.find("nothing is pending"), std::string::npos);
  CounselorDecision d = directive(true);
  d.entity = "nobody";
  EXPECT_NE(partition->decide(d).message.find("unknown entity"), std::string::npos);
}

TEST_F(PartitionTest, EditsOfClockAndPolicyAreRefused) {
  ASSERT_EQ(earn(50).outcome, Outcome::escalated);
  const std::string before = state();
  for (const char* text :
       {R"({"clock":"2030-01-01T00:00:00Z"})", R"({"policy":{"high":1000}})", R"({"sealedBy":"captain","clock":0})"}) {
    edit = objectOf(text);
    EXPECT_NE(partition->decide(directive(true)).message.find("belongs to the kernel"), std::string::npos) << text;
    EXPECT_EQ(state(), before);
  }
  EXPECT_TRUE(partition->frozen("c"));
}

TEST_F(PartitionTest, AnIllTypedEditChangesNothing) {
  ASSERT_EQ(earn(50).outcome, Outcome::escalated);
  const std::string before = state();
  for (const char* text :
       {R"({"gold":1,"sealedBy":7})", R"({"gold":"one"})", R"({"silver":1})", R"({"gold":1,"item.value":[1]})",
        R"({"item.value":{"i":1,"j":"x"}})", R"({"item.value":{"":1}})", R"({"waivers":[]})",
        R"({"waivers":{"add":[["GOLD_HIGH"]]}})", R"({"gold":2,"waivers":{"add":[["a","b"]],"remove":[]}})"}) {
    edit = objectOf(text);
    const Decision decision = partition->decide(directive(true));
    EXPECT_EQ(decision.outcome, Outcome::refused) << text;
    EXPECT_EQ(state(), before) << text;
    EXPECT_TRUE(partition->state("c")->shared.waivers.empty()) << text;
  }
  EXPECT_EQ(partition->size(), 1u);
}

TEST_F(PartitionTest, ADecisionBeforeTheClockIsRefused) {
  ASSERT_EQ(earn(1, 100).outcome, Outcome::approved);
  ASSERT_EQ(earn(50, 110).outcome, Outcome::escalated);
  EXPECT_NE(partition->decide(directive(true, 99)).message.find("before the entity's clock"), std::string::npos);
  EXPECT_EQ(partition->decide(directive(true, 100)).outcome, Outcome::cCommitted);
}

// F16. "an early `escalate` can hide a later `reject`": the pending proposal shows it, the outcome stays the paper's.
TEST_F(PartitionTest, F16_AnEscalationShowsItsWholeDetectionVector) {
  ASSERT_EQ(propose("Keeper", R"({"type":"PutItem","item":"i","value":1,"owner":"imp"})").invariant,
            "OWNER_KNOWN");  // gold is 40
  ASSERT_EQ(earn(-20).outcome, Outcome::approved);
  ASSERT_EQ(propose("Keeper", R"({"type":"PutItem","item":"i","value":1,"owner":"imp"})").outcome, Outcome::approved);
  const Decision decision = earn(50);  // 70: GOLD_HIGH escalates, OWNER_KNOWN would reject
  EXPECT_EQ(decision.outcome, Outcome::escalated);
  EXPECT_EQ(decision.invariant, "GOLD_HIGH");
  const PendingView shown = partition->pending("c").value();
  ASSERT_EQ(shown.findings.size(), 2u);
  EXPECT_EQ(module->invariantId(shown.findings[0].invariant), "GOLD_HIGH");
  EXPECT_EQ(shown.findings[0].result, InvResult::escalate);
  EXPECT_EQ(module->invariantId(shown.findings[1].invariant), "OWNER_KNOWN");
  EXPECT_EQ(shown.findings[1].result, InvResult::reject);
  EXPECT_EQ(all().back().findings.size(), 2u);
  EXPECT_EQ(all().back().invariant, "GOLD_HIGH");
}

// F17. "A counselor's approval must be of exactly what was shown."
TEST_F(PartitionTest, F17_AStaleDecisionIsRefused) {
  ASSERT_EQ(earn(50).outcome, Outcome::escalated);
  const PendingView first = partition->pending("c").value();
  CounselorDecision wrongSeq = directive(true), wrongDigest = directive(true);
  wrongSeq.escalation = first.seq + 1;
  wrongDigest.pendingDigest = first.digest;
  wrongDigest.pendingDigest->at(0) ^= 1;
  for (const CounselorDecision& d : {wrongSeq, wrongDigest})
    EXPECT_NE(partition->decide(d).message.find("stale decision"), std::string::npos);
  ASSERT_EQ(partition->decide(directive(false)).outcome, Outcome::cRejected);
  ASSERT_EQ(earn(51, 30).outcome, Outcome::escalated);  // another proposal waits by now
  CounselorDecision late = directive(true, 40);
  late.escalation = first.seq;
  late.pendingDigest = first.digest;
  EXPECT_NE(partition->decide(late).message.find("stale decision"), std::string::npos);
  EXPECT_EQ(partition->size(), 3u);
  const PendingView second = partition->pending("c").value();
  CounselorDecision exact = directive(true, 40);
  exact.escalation = second.seq;
  exact.pendingDigest = second.digest;
  EXPECT_EQ(partition->decide(exact).outcome, Outcome::cCommitted);
}

// The digest shown is the leaf of the escalation: it commits to everything that is recorded of it.
TEST_F(PartitionTest, F17_TheDigestIsTheLeafOfTheEscalation) {
  ASSERT_EQ(earn(50).outcome, Outcome::escalated);
  const PendingView shown = partition->pending("c").value();
  std::optional<Hash> leaf;
  ASSERT_TRUE(readLogBatch(partition->takeBatch().value, [&](const LogRecord& r) {
                if (r.kind == RecordKind::entry) leaf = leafHash(r.payload);
                return okStatus();
              }).ok());
  EXPECT_EQ(shown.digest, leaf);
}

// F17. "Pending proposals can expire (configurable), which is recorded as cRejected by the system counselor."
TEST_F(PartitionTest, F17_PendingProposalsExpire) {
  start({.pendingTtlMicros = 1000});
  ASSERT_EQ(earn(50, 10).outcome, Outcome::escalated);
  EXPECT_EQ(partition->pending("c")->expires, Time{1010});
  EXPECT_TRUE(partition->expire(Time{1009}).empty());
  const auto expired = partition->expire(Time{5000});
  ASSERT_EQ(expired.size(), 1u);
  EXPECT_EQ(expired[0].second.outcome, Outcome::cRejected);
  EXPECT_FALSE(partition->frozen("c"));
  const Entry e = all().back();
  EXPECT_EQ(e.tag, Tag::cRejected);
  EXPECT_EQ(e.counselor, "system");
  EXPECT_EQ(e.escalation, 1u);
  EXPECT_EQ(e.time, Time{1010});
  EXPECT_TRUE(partition->expire(Time{9000}).empty());
  EXPECT_EQ(earn(1, 5001).outcome, Outcome::approved);
}

TEST_F(PartitionTest, F17_WithoutALimitNothingExpires) {
  ASSERT_EQ(earn(50, 10).outcome, Outcome::escalated);
  EXPECT_TRUE(partition->expire(Time{std::int64_t{1} << 60}).empty());
}

// F21. "whatever can be escalated has a field that the human decision fills, so that a commit can be safe".
TEST_F(PartitionTest, F21_AWaiverMakesTheCommitSafeAndTheEntityUsable) {
  ASSERT_EQ(earn(50).outcome, Outcome::escalated);
  edit = objectOf(R"({"waivers":{"add":[["GOLD_HIGH","gold"]]}})");
  const Decision commit = partition->decide(directive(true));
  EXPECT_EQ(commit.outcome, Outcome::cCommitted);
  EXPECT_EQ(commit.safe, true);
  EXPECT_EQ(all().back().writes, R"({"gold":90,"waivers":[["GOLD_HIGH","gold"]]})");
  EXPECT_EQ(earn(5, 30).outcome, Outcome::approved);  // the next one is not escalated again
}

// F21. Without it the entity is poisoned until somebody repairs it; unsafe commits are possible, flagged and counted.
TEST_F(PartitionTest, F21_AnUnsafeCommitPoisonsUntilRepaired) {
  ASSERT_EQ(earn(50).outcome, Outcome::escalated);
  const Decision commit = partition->decide(directive(true));
  EXPECT_EQ(commit.safe, false);
  EXPECT_EQ(commit.violated, std::vector<std::string>{"GOLD_HIGH"});
  EXPECT_EQ(partition->unsafeCommits(), 1u);
  // Every later candidate fails the same invariant, also one that does not touch its footprint (F8).
  EXPECT_EQ(propose("Keeper", R"({"type":"PutItem","item":"i","value":1})", 30).invariant, "GOLD_HIGH");
  ASSERT_EQ(partition->decide(directive(false, 31)).outcome, Outcome::cRejected);
  ASSERT_EQ(earn(1, 32).outcome, Outcome::escalated);
  edit = objectOf(R"({"sealedBy":"captain"})");
  CounselorDecision repair = directive(true, 33);
  repair.base = CommitBase::current;
  EXPECT_EQ(partition->decide(repair).safe, true);
  EXPECT_EQ(propose("Keeper", R"({"type":"PutItem","item":"i","value":1})", 40).outcome, Outcome::approved);
  EXPECT_EQ(partition->unsafeCommits(), 1u);
}

TEST_F(PartitionTest, BaseCandidateAndBaseCurrent) {
  ASSERT_EQ(earn(50).outcome, Outcome::escalated);
  edit = objectOf(R"({"sealedBy":"captain"})");
  CounselorDecision d = directive(true);
  d.base = CommitBase::current;
  ASSERT_EQ(partition->decide(d).safe, true);
  EXPECT_NE(state().find("\"gold\":40"), std::string::npos);
  ASSERT_EQ(earn(50, 30).outcome, Outcome::approved);  // sealed
  const Entry committed = all().at(1);
  EXPECT_EQ(committed.decision, R"({"base":"current","edit":{"sealedBy":"captain"}})");
  EXPECT_EQ(committed.action, R"({"n":50,"type":"Earn"})");
}

TEST_F(PartitionTest, GenesisStandsOnTheFirstEntryOnly) {
  ASSERT_EQ(earn(1).outcome, Outcome::approved);
  ASSERT_EQ(earn(1).outcome, Outcome::approved);
  EXPECT_EQ(
      all().at(0).genesis,
      R"({"at":"1970-01-01T00:00:00Z","state":{"clock":"1970-01-01T00:00:00Z","diary":"","gold":40,"sealedBy":""}})");
  EXPECT_EQ(all().at(1).genesis, "");
}

}  // namespace
}  // namespace witan::kernel::partition_test
