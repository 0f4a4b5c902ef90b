// F3 (docs/FINDINGS.md): a partition binds a run key to the first plan digest that reaches it, and rejects others.
#include "kernel/run_bindings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_verify.h"
#include "store/memory_store.h"
#include "tests/kernel/history.h"
#include "tests/kernel/toy_domain.h"

namespace witan::kernel::run_binding_test {
namespace {

using test::actionOf;
using ::testing::HasSubstr;

const Hash kRun = sha256("run"), kOtherRun = sha256("other run");
const Hash kPlan = sha256("plan"), kOtherPlan = sha256("other plan");

class RunBinding : public testing::Test {
 protected:
  RunBinding() {
    open();
    EXPECT_EQ(partition().init("c", {}, Time{0}).outcome, Outcome::initialised);
  }

  void open() { ledger = std::move(Ledger::open(store, *module, {.origin = "binding.test/log"}).value()); }
  Partition& partition() { return ledger->partition(); }
  Decision propose(const std::string& operation, const Hash& run, const Hash& plan, std::int64_t n = 1,
                   const char* type = "Earn") {
    const ActionPtr action =
        actionOf(*module, R"({"type":")" + std::string(type) + R"(","n":)" + std::to_string(n) + "}");
    Proposal proposal{"c", "Treasurer", operation, "d", "a", action.get(), Time{10}};
    proposal.runKey = run;
    proposal.planDigest = plan;
    return partition().propose(proposal);
  }
  void commit() { ASSERT_TRUE(ledger->commit().ok()); }
  std::string verified(bool replay = true) {
    const auto report = verifyLedger(store, {replay ? module.get() : nullptr, std::nullopt});
    return report.ok() ? report->problem : report.error().message;
  }
  Entry entry(std::uint64_t seq) {
    commit();
    return readEntry(ledger->entryBytes(seq).value()).value();
  }

  // The same log with one entry altered, framed anew.
  void forge(std::uint64_t seq, const std::function<void(Entry&)>& alter) {
    commit();
    std::vector<std::pair<std::string, std::string>> values;
    ASSERT_TRUE(store
                    .scan("l", {},
                          [&](std::string_view key, std::string_view value) {
                            values.emplace_back(key, value);
                            return true;
                          })
                    .ok());
    store::WriteBatch out;
    for (const auto& [key, value] : values) {
      std::uint64_t first = 0;
      std::memcpy(&first, value.data() + 8, 8);
      LogBatch batch(first);
      ASSERT_TRUE(readLogBatch(value, [&](const LogRecord& record) {
                    std::string payload(record.payload);
                    if (record.kind == RecordKind::entry) {
                      Entry entry = readEntry(payload).value();
                      if (entry.seq == seq) alter(entry);
                      payload = WordWriter().message(entry);
                    }
                    batch.add(record.kind, payload, leafHash(payload));
                    return okStatus();
                  }).ok());
      out.put(key, batch.take());
    }
    ASSERT_TRUE(store.writeSynced(out).ok());
  }

  std::unique_ptr<DomainModule> module = chest::module();
  store::MemoryStore store;
  std::unique_ptr<Ledger> ledger;
};

TEST_F(RunBinding, F3_TheFirstPlanBindsAndOthersAreRejected) {
  EXPECT_EQ(propose("op-1", kRun, kPlan).outcome, Outcome::approved);
  const std::string before = test::stateJson(*module, partition().state("c"));
  const Decision other = propose("op-2", kRun, kOtherPlan);
  EXPECT_EQ(other.outcome, Outcome::rejected);
  EXPECT_EQ(other.invariant, kKernelIntegrity);
  EXPECT_TRUE(other.boundElsewhere);
  EXPECT_EQ(other.message, "run " + toHex(kRun) + " is bound to the plan whose digest begins with " +
                               toHex(kPlan).substr(0, 32) + " (entry 1)");
  EXPECT_EQ(test::stateJson(*module, partition().state("c")), before);
  EXPECT_EQ(partition().size(), 2u);  // one entry a decision, as of any rejection
  EXPECT_EQ(entry(2).verdicts, (std::vector<std::uint8_t>{2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(entry(2).planDigest, std::vector<std::uint8_t>(kOtherPlan.begin(), kOtherPlan.end()));
  // What was rejected for its plan binds nothing; other runs and proposals without one are not concerned.
  EXPECT_EQ(propose("op-3", kRun, kPlan).outcome, Outcome::approved);
  EXPECT_EQ(propose("op-4", kRun, kOtherPlan).outcome, Outcome::rejected);
  EXPECT_EQ(propose("op-5", kOtherRun, kOtherPlan).outcome, Outcome::approved);
  EXPECT_EQ(propose("op-6", {}, {}).outcome, Outcome::approved);
  commit();
  EXPECT_EQ(verified(), "");
}

// Also where no module is at hand: the format says how many there are.
TEST_F(RunBinding, AnEntryWithoutAVerdictOfEachInvariantIsNone) {
  EXPECT_EQ(propose("op-1", kRun, kPlan).outcome, Outcome::approved);
  EXPECT_EQ(propose("op-2", kRun, kPlan).outcome, Outcome::approved);
  forge(2, [](Entry& entry) { entry.verdicts.pop_back(); });
  EXPECT_NE(verified(false).find("verdicts"), std::string::npos) << verified(false);
}

TEST_F(RunBinding, F3_OnePlanOfManyActions) {
  for (int i = 0; i < 20; ++i) {
    const Decision decision = propose("op-" + std::to_string(i), kRun, kPlan);
    EXPECT_EQ(decision.outcome, Outcome::approved) << i;
    EXPECT_FALSE(decision.boundElsewhere);
  }
  commit();
  EXPECT_EQ(verified(), "");
}

TEST_F(RunBinding, F3_WhateverIsDecidedBindsWhateverIsNotDoesNot) {
  // Refused: no entry, no binding.
  EXPECT_EQ(propose("no id|", kRun, kPlan).outcome, Outcome::refused);
  EXPECT_EQ(propose("op-1", kRun, {}).outcome, Outcome::refused);
  EXPECT_EQ(propose("op-1", {}, kPlan).outcome, Outcome::refused);
  EXPECT_EQ(partition().size(), 0u);
  // Rejected by an invariant: decided.
  const Decision rejected = propose("op-2", kRun, kOtherPlan, -50);
  ASSERT_EQ(rejected.outcome, Outcome::rejected);
  EXPECT_NE(rejected.invariant, kKernelIntegrity);
  EXPECT_TRUE(propose("op-3", kRun, kPlan).boundElsewhere);
}

TEST_F(RunBinding, F3_AnEscalationBindsAndAFrozenAnswerDoesNot) {
  ASSERT_EQ(propose("op-1", kRun, kPlan, 5000).outcome, Outcome::escalated);
  EXPECT_EQ(propose("op-2", kOtherRun, kPlan).outcome, Outcome::frozen);
  CounselorDecision reject{"c", "captain", "decision-1"};
  reject.at = Time{20};
  ASSERT_EQ(partition().decide(reject).outcome, Outcome::cRejected);
  EXPECT_TRUE(propose("op-3", kRun, kOtherPlan).boundElsewhere);
  EXPECT_EQ(propose("op-4", kOtherRun, kOtherPlan).outcome, Outcome::approved);
  EXPECT_TRUE(entry(2).runKey.empty()) << "a counselor is no run";
  commit();
  EXPECT_EQ(verified(), "");
}

// 000, commit discipline: "A repeated operation id returns the recorded outcome and writes nothing."
TEST_F(RunBinding, F3_ARepeatIsAnsweredAsBefore) {
  ASSERT_EQ(propose("op-1", kRun, kPlan).outcome, Outcome::approved);
  ASSERT_EQ(propose("op-2", kRun, kOtherPlan).outcome, Outcome::rejected);
  const Decision shared = propose("op-1", kRun, kOtherPlan);  // both plans hold this action
  EXPECT_EQ(shared.outcome, Outcome::duplicate);
  EXPECT_EQ(shared.recorded, Outcome::approved);
  const Decision again = propose("op-2", kRun, kOtherPlan);
  EXPECT_EQ(again.outcome, Outcome::duplicate);
  EXPECT_EQ(again.recorded, Outcome::rejected);
  EXPECT_EQ(again.seq, 2u);
  EXPECT_EQ(partition().size(), 2u);
}

// Two plans of one run often share actions, and then operation ids. The loser's attempt must not take it from the plan
// that the run is bound to: it would be done by nobody.
TEST_F(RunBinding, F3_ASharedOperationIsStillTheBoundPlansToDo) {
  ASSERT_EQ(propose("op-1", kRun, kPlan).outcome, Outcome::approved);
  ASSERT_TRUE(propose("shared", kRun, kOtherPlan, 7).boundElsewhere);
  commit();
  const auto retried = [&] {
    EXPECT_EQ(propose("shared", kRun, kPlan, 8).outcome, Outcome::refused) << "one name, one act";
    EXPECT_EQ(propose("shared", {}, {}, 7).recorded, Outcome::rejected);
    EXPECT_EQ(propose("shared", kRun, kOtherPlan, 7).recorded, Outcome::rejected);
  };
  retried();
  open();  // and also after a restart
  retried();
  const Decision done = propose("shared", kRun, kPlan, 7);
  EXPECT_EQ(done.outcome, Outcome::approved);
  EXPECT_EQ(done.seq, 3u);
  commit();
  open();
  for (const Hash& plan : {kPlan, kOtherPlan}) {
    const Decision repeat = propose("shared", kRun, plan, 7);
    EXPECT_EQ(repeat.outcome, Outcome::duplicate);
    EXPECT_EQ(repeat.recorded, Outcome::approved);
    EXPECT_EQ(repeat.seq, 3u);
  }
  EXPECT_EQ(verified(), "");
}

TEST_F(RunBinding, F3_OutlivesARestartByTheLogAndByASnapshot) {
  ASSERT_EQ(propose("op-1", kRun, kPlan).outcome, Outcome::approved);
  ASSERT_EQ(propose("op-2", kRun, kOtherPlan).outcome, Outcome::rejected);
  commit();
  open();
  EXPECT_EQ(ledger->recovery().snapshotBatches, 0u);
  const Decision byLog = propose("op-3", kRun, kOtherPlan);
  EXPECT_TRUE(byLog.boundElsewhere);
  commit();
  ASSERT_TRUE(ledger->snapshotIfDue(1).ok());
  ASSERT_EQ(propose("op-4", kOtherRun, kOtherPlan).outcome, Outcome::approved);
  commit();
  ASSERT_TRUE(ledger->snapshotIfDue(1).ok());
  open();
  EXPECT_EQ(ledger->recovery().snapshotBatches, ledger->batches());
  const Decision bySnapshot = propose("op-5", kRun, kOtherPlan);
  EXPECT_EQ(bySnapshot.message, byLog.message);
  EXPECT_TRUE(propose("op-6", kOtherRun, kPlan).boundElsewhere);
  EXPECT_EQ(propose("op-2", kRun, kPlan).outcome, Outcome::approved) << "turned away, and open to the bound plan";
  commit();
  EXPECT_EQ(verified(), "");
}

// A follower has the same log, hence the same bindings, when the partition is handed to it.
TEST_F(RunBinding, F3_AFollowerBindsAsItsOwnerDid) {
  ASSERT_EQ(propose("op-1", kRun, kPlan).outcome, Outcome::approved);
  ASSERT_EQ(propose("op-2", kRun, kOtherPlan).outcome, Outcome::rejected);
  Partition follower(*module);
  ASSERT_TRUE(follower.fold(partition().takeBatch().value).ok());
  const ActionPtr action = actionOf(*module, R"({"type":"Earn","n":1})");
  Proposal proposal{"c", "Treasurer", "op-3", "d", "a", action.get(), Time{10}};
  proposal.runKey = kRun;
  proposal.planDigest = kOtherPlan;
  const Decision there = follower.propose(proposal);
  EXPECT_TRUE(there.boundElsewhere);
  EXPECT_EQ(there.message, propose("op-3", kRun, kOtherPlan).message);
}

// ---- a log that says otherwise is refused

TEST_F(RunBinding, F3_ALogWithTwoPlansOfOneRunIsRefused) {
  ASSERT_EQ(propose("op-1", kRun, kPlan).outcome, Outcome::approved);
  ASSERT_EQ(propose("op-2", kRun, kPlan).outcome, Outcome::approved);
  forge(2, [](Entry& entry) { entry.planDigest.assign(kOtherPlan.begin(), kOtherPlan.end()); });
  EXPECT_THAT(verified(false), HasSubstr("entry 2: decides under another plan: run"));
  EXPECT_THAT(Ledger::open(store, *module, {.origin = "binding.test/log"}).error().message,
              HasSubstr("entry 2: decides under another plan"));
}

TEST_F(RunBinding, F3_ReplaySeesARejectionWithoutCause) {
  ASSERT_EQ(propose("op-1", kRun, kPlan).outcome, Outcome::approved);
  ASSERT_EQ(propose("op-2", kRun, kOtherPlan).outcome, Outcome::rejected);
  forge(2, [](Entry& entry) { entry.planDigest.assign(kPlan.begin(), kPlan.end()); });
  EXPECT_THAT(verified(), HasSubstr("the outcome is recorded as \"rejected\" but comes out as \"approved\""));
}

TEST_F(RunBinding, F3_ReplaySeesAnotherBindingInTheMessage) {
  ASSERT_EQ(propose("op-1", kRun, kPlan).outcome, Outcome::approved);
  ASSERT_EQ(propose("op-2", kRun, kOtherPlan).outcome, Outcome::rejected);
  forge(2, [](Entry& entry) { entry.message.replace(entry.message.find("(entry 1)"), 9, "(entry 9)"); });
  EXPECT_THAT(verified(), HasSubstr("the message is recorded as"));
}

TEST_F(RunBinding, F3_AnOperationIsDecidedOnceUnderItsPlan) {
  ASSERT_EQ(propose("op-1", kRun, kPlan).outcome, Outcome::approved);
  ASSERT_TRUE(propose("op-2", kRun, kOtherPlan).boundElsewhere);
  ASSERT_EQ(propose("op-2", kRun, kPlan).outcome, Outcome::approved);
  ASSERT_EQ(propose("op-3", kRun, kPlan).outcome, Outcome::approved);
  commit();
  EXPECT_EQ(verified(), "");
  forge(4, [](Entry& entry) { entry.operationId = "op-2"; });
  EXPECT_THAT(verified(), HasSubstr("entry 4: its operation id was decided before: op-2"));
}

TEST_F(RunBinding, F3_ACounselorNamesNoRun) {
  ASSERT_EQ(propose("op-1", kRun, kPlan, 5000).outcome, Outcome::escalated);
  CounselorDecision reject{"c", "captain", "decision-1"};
  reject.at = Time{20};
  ASSERT_EQ(partition().decide(reject).outcome, Outcome::cRejected);
  forge(2, [](Entry& entry) {
    entry.runKey.assign(kRun.begin(), kRun.end());
    entry.planDigest.assign(kPlan.begin(), kPlan.end());
  });
  EXPECT_THAT(verified(), HasSubstr("names a run though a counselor decided"));
}

}  // namespace
}  // namespace witan::kernel::run_binding_test
