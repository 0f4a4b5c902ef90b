// Checker "runs" (sim/check/run_rules.h): histories in which it passes, and those in which it fires.
#include "sim/check/run_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace witan::sim::run_rules_test {
namespace {

using replication::WakeStatus;
using ::testing::HasSubstr;

const RunKey kRun{sha256("run")}, kOther{sha256("another")};

RunRules::Start startOn(std::uint32_t device) {
  return {device, "device-" + std::to_string(device), "clerk", kRun, false, false};
}
bool there(const RunKey&) { return true; }
bool gone(const RunKey&) { return false; }

agents::KnownRun runOf(const RunKey& key, WakeStatus status) {
  agents::KnownRun run;
  run.key = key;
  run.view.run.emplace();
  run.view.run->dot = {"a@1", 3};
  run.view.run->body.agentId = "clerk";
  run.view.run->body.status = status;
  return run;
}

// What a ledger says and should wake whoever watches it: what entities began with, what was approved, and what a
// counselor committed; each key once.
TEST(LedgerFacts, AreReadFromBeginningsAndWrites) {
  const agents::LedgerSpec spec{"triaged", "verification", "finding.phase", "TRIAGED"};
  PartitionLog log;
  const auto entry = [&](kernel::Tag tag, const char* genesis, const char* writes) {
    LedgerLine line;
    line.entry.tag = tag;
    line.entry.entity = "v-1";
    line.entry.genesis = genesis;
    line.entry.writes = writes;
    log.lines.push_back(line);
  };
  entry(kernel::Tag::rejected, R"({"at":"x","state":{"finding.phase":{"F1":"TRIAGED","F2":"SUBMITTED"}}})", "");
  entry(kernel::Tag::approved, "", R"({"finding.phase":{"F2":"TRIAGED"},"other":{"F3":"TRIAGED"}})");
  entry(kernel::Tag::cCommitted, "", R"({"finding.phase":{"F1":"TRIAGED","F4":"TRIAGED","F5":7}})");
  std::vector<std::string> keys;
  for (const agents::LedgerFact& fact : factsOf(log, spec)) {
    EXPECT_EQ(fact.entity, "v-1");
    EXPECT_EQ(fact.value, "TRIAGED");
    keys.push_back(fact.key);
  }
  EXPECT_THAT(keys, ::testing::ElementsAre("F1", "F2", "F4"));
}

// As base/identity.h derives them, by other code; and words are no part of them.
TEST(RunKeys, AreThoseOfTheSeed) {
  EXPECT_EQ(runOfTurn("clerk", "s/1", "2"), *userRunKey("clerk", "s/1", "2"));
  EXPECT_NE(runOfTurn("clerk", "s/1", "2"), runOfTurn("clerk", "s/2", "2"));
  const ChangeUnit change{ChangeOrigin::local, "a@1", 3, "journalEntity", "request/1"};
  const auto key = logicalChangeKey(std::vector{*changeUnitKey(change)});
  EXPECT_EQ(runOfEntry("clerk", "entries:request", change), *subscriptionRunKey("clerk", "entries:request", *key));
  agents::LedgerFact fact{"verification", "v-1", "finding.phase", "F1", "TRIAGED"};
  EXPECT_EQ(runOfFact("herald", "triaged", fact), agents::ledgerJob("herald", "triaged", fact)->key());
  const RunKey first = runOfFact("herald", "triaged", fact);
  fact.key = "F2";
  EXPECT_NE(runOfFact("herald", "triaged", fact), first);
}

TEST(RunRules, ARunBeginsOnceAndGoesOnAfterACrash) {
  RunRules rules;
  EXPECT_TRUE(rules.isNew(0, kRun));
  EXPECT_EQ(rules.begins(startOn(0)), "");
  EXPECT_FALSE(rules.isNew(0, kRun));
  rules.stands(0, there);
  rules.stopped(0, false);
  EXPECT_TRUE(rules.isNew(0, kRun));
  EXPECT_EQ(rules.begins(startOn(0)), "") << "it had not ended";
  EXPECT_EQ(rules.begins(startOn(1)), "") << "devices that do not see each other may";
  EXPECT_EQ(rules.startedBy(kRun), 2u);
  EXPECT_EQ(rules.startedBy(kOther), 0u);
}

TEST(RunRules, FiresForARunThatBeginsWhereItHasEnded) {
  RunRules rules;
  ASSERT_EQ(rules.begins(startOn(0)), "");
  rules.stands(0, gone);
  rules.stopped(0, false);
  EXPECT_THAT(rules.begins(startOn(0)),
              HasSubstr("device-0 begins clerk's run " + kRun.hex().substr(0, 16) + ", which has ended there"));
  EXPECT_EQ(rules.begins(startOn(1)), "") << "it need not know";
  rules.stands(1, gone);
  rules.stopped(1, true);
  EXPECT_EQ(rules.begins(startOn(1)), "") << "its disk is gone, and what it knew";
}

TEST(RunRules, ADeviceUnderANewNameMayKnowOfNoEnd) {
  RunRules rules;
  ASSERT_EQ(rules.begins(startOn(0)), "");
  rules.stands(0, gone);
  rules.forgetEnds(0);
  EXPECT_EQ(rules.begins(startOn(0)), "");
  rules.stands(0, gone);
  EXPECT_THAT(rules.begins(startOn(0)), HasSubstr("which has ended there")) << "of later ones it does";
}

TEST(RunRules, FiresForARunOfAPausedAgent) {
  RunRules rules;
  RunRules::Start start = startOn(0);
  start.paused = true;
  EXPECT_THAT(rules.begins(start), HasSubstr("although the agent is paused"));
}

TEST(RunRules, FiresForARunThatSeveralBeginWhoSeeEachOther) {
  RunRules rules;
  RunRules::Start start = startOn(0);
  start.undisturbed = true;
  EXPECT_EQ(rules.begins(start), "");
  start.device = 1;
  EXPECT_THAT(rules.begins(start), HasSubstr("was begun by several devices that see each other"));
}

// Section 10, invariant 5: "every run reaching markStarted reaches a terminal wake-run status".
TEST(RunRules, FiresAtRestForARunWithoutItsEnd) {
  const std::vector ended{runOf(kRun, WakeStatus::completed), runOf(kOther, WakeStatus::failedTerminal)};
  EXPECT_EQ(checkAtRest(ended, {}), "");
  const std::vector open{runOf(kRun, WakeStatus::completed), runOf(kOther, WakeStatus::started)};
  EXPECT_THAT(checkAtRest(open, {}), HasSubstr("was started by a@1 and has not ended"));
}

TEST(RunRules, FiresAtRestForWhatWokeNobody) {
  const std::vector<ExpectedRun> expected{{"request/7 was entered, and nobody has worked on it", kRun}};
  const std::vector ended{runOf(kRun, WakeStatus::completed)}, others{runOf(kOther, WakeStatus::completed)};
  EXPECT_EQ(checkAtRest(ended, expected), "");
  EXPECT_THAT(checkAtRest(others, expected), HasSubstr("request/7 was entered, and nobody has worked on it"));
  EXPECT_THAT(checkAtRest({}, expected), HasSubstr("has no end"));
}

}  // namespace
}  // namespace witan::sim::run_rules_test
