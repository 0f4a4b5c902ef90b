// Theorems 2 and 3 of seed 003 and obligation 5, one engine on a replica in memory.
#include <gtest/gtest.h>

#include "tests/replication/cluster.h"
#include "tests/saga/host.h"

namespace witan::saga::test::theorem_test {
namespace {

using replication::test::Device;

struct SagaTest : ::testing::Test {
  Device device{"a"};
  World world;
  std::unique_ptr<Host> host = std::make_unique<Host>(device.replica(), world);

  // The process dies and starts again; what was not flushed is lost.
  void restart(SagaOptions options = {}) {
    host.reset();
    device.crash();
    host = std::make_unique<Host>(device.replica(), world, options);
    ASSERT_TRUE(host->engine.load(host->now).ok());
  }
  void expectOnce(const PlanBody& plan) {
    for (const Intent& intent : intentsOf(plan)) {
      EXPECT_EQ(host->recordsIn(DatabaseName::journal, intent.id()), intent.kind == EffectKind::journal ? 1u : 0u);
      EXPECT_EQ(host->recordsIn(DatabaseName::agents, intent.id()), 1u);
      EXPECT_EQ(host->messagesOf(intent.id()), 1u);
    }
  }
};

// "Given idempotent handlers keyed by operationId and persisted action-plan reuse, crash/retry replay cannot create a
// second logical mutation for the same action."
TEST_F(SagaTest, Theorem2_NoDuplicateLogicalMutationUnderReplay) {
  const PlanBody plan = host->plan("t", {action("count", "e"), action("count", "e"), action("call", "x")});
  ASSERT_TRUE(host->run());
  EXPECT_EQ(host->says("e"), "2");
  for (int replay = 0; replay < 3; ++replay) {
    if (replay > 0) restart();
    ASSERT_TRUE(host->engine.begin(intentsOf(plan), host->now).ok());
    ASSERT_TRUE(host->engine.begin(intentsOf(plan), host->now).ok());
    ASSERT_TRUE(host->run());
    EXPECT_EQ(host->says("e"), "2");
    expectOnce(plan);
    EXPECT_EQ(host->engine.open(), 0u);
  }
  EXPECT_EQ(world.calls.size(), 1u);
}

// 003, section 11, obligation 5: "replay idempotency for runKey and operationId". The same turn gives the same run key,
// the same plan the same operations, another turn others.
TEST_F(SagaTest, Obligation5_ReplayIdempotencyForRunKeyAndOperationId) {
  const PlanBody plan = host->plan("t", {action("count", "e")});
  ASSERT_TRUE(host->run());
  ASSERT_TRUE(host->engine.begin(intentsOf({runOf("t").value, "agent-1", plan.actions}), host->now).ok());
  ASSERT_TRUE(host->run());
  EXPECT_EQ(host->says("e"), "1");
  const PlanBody other = host->plan("t2", {action("count", "e")});
  EXPECT_NE(intentsOf(other)[0].operation, intentsOf(plan)[0].operation);
  ASSERT_TRUE(host->run());
  EXPECT_EQ(host->says("e"), "2");
  expectOnce(plan);
  expectOnce(other);
}

// "If journal and agent mutations are individually idempotent by operationId and recovery retries continue, both
// domains converge to a consistent post-state": here attempts fail in either domain before they succeed.
TEST_F(SagaTest, Theorem3_EventualCrossDomainConsistency) {
  world.reachable = false;
  const PlanBody plan = host->plan("t", {action("count", "e"), action("call", "x")});
  host->failRecords = 3;
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(host->round());
    host->advance(2'000);
  }
  EXPECT_EQ(host->says("e"), "1");
  EXPECT_EQ(host->recordsIn(DatabaseName::agents, intentsOf(plan)[1].id()), 0u);
  world.reachable = true;
  restart();
  EXPECT_GT(host->engine.counters().recovered, 0u);
  ASSERT_TRUE(host->run());
  expectOnce(plan);
  EXPECT_EQ(host->says("e"), "1");
  EXPECT_EQ(world.calls.size(), 1u);
}

// The effect arrived by replication while this device was about to make it.
TEST_F(SagaTest, Theorem2_AnEffectThatCameByReplicationIsNotMadeAgain) {
  Device other("b");
  Host there(other.replica(), world);
  const PlanBody plan = there.plan("t", {action("count", "e")});
  ASSERT_TRUE(there.run());
  replication::test::sync(device, other);
  ASSERT_TRUE(host->engine.begin(intentsOf(plan), host->now).ok());
  ASSERT_TRUE(host->run());
  EXPECT_EQ(host->says("e"), "1");
  EXPECT_EQ(host->recordsIn(DatabaseName::journal, intentsOf(plan)[0].id()), 1u);
  EXPECT_EQ(host->engine.counters().found, 1u);
  ASSERT_EQ(host->ended.size(), 1u);
  EXPECT_EQ(host->ended[0].status, SagaStatus::completed);
  EXPECT_EQ(host->ended[0].result, "{\"ok\":true}");
}

// Two devices that were cut off carry out the same plan: one logical mutation, two records, nothing for a person.
TEST_F(SagaTest, Theorem2_TheSamePlanOnTwoCutOffDevicesIsOneMutation) {
  Device other("b");
  Host there(other.replica(), world);
  const PlanBody plan = host->plan("t", {action("put", "e", "{\"n\":1}")});
  there.plan("t", plan.actions);
  ASSERT_TRUE(host->run());
  there.advance(5'000);
  ASSERT_TRUE(there.run());
  replication::test::sync(device, other);
  EXPECT_EQ(host->says("e"), "{\"n\":1}");
  EXPECT_EQ(there.says("e"), "{\"n\":1}");
  EXPECT_EQ(host->recordsIn(DatabaseName::journal, intentsOf(plan)[0].id()), 2u);
  replication::test::expectEqual(device, other);
}

OperationId sameCall(Host& here, Host& there) {
  const PlanBody plan = here.plan("t", {action("call", "x")});
  there.plan("t", plan.actions);
  return intentsOf(plan)[0].id();
}

// Two devices call a tool for one operation. The one is refused, and its record arrives at the other before the answer.
TEST_F(SagaTest, WhatWasCarriedOutIsSaidWhereAnotherDeviceWasRefused) {
  Device other("b");
  Host there(other.replica(), world);
  const OperationId operation = sameCall(*host, there);
  for (auto* const one : {&device, &other}) one->flush();
  host->engine.agentsDurable(host->now);
  there.engine.agentsDurable(there.now);
  there.engine.answered(operation, invalid("no such address"), there.now);
  ASSERT_TRUE(there.run());
  ASSERT_EQ(there.ended.size(), 1u);
  EXPECT_EQ(there.ended[0].status, SagaStatus::failed);
  replication::test::sync(device, other);
  EXPECT_EQ(host->recordsIn(DatabaseName::agents, operation), 1u);
  host->engine.answered(operation, Outcome{OperationOutcome::applied, "{\"called\":true}"}, host->now);
  ASSERT_TRUE(host->run());
  ASSERT_EQ(host->ended.size(), 1u);
  EXPECT_EQ(host->ended[0].status, SagaStatus::completed);
  replication::test::sync(device, other);
  for (auto* const one : {&device, &other}) {
    const auto marks = marksOf(one->replica(), kScope, operation);
    ASSERT_TRUE(marks.ok());
    EXPECT_TRUE(marks->applied()) << one->name();
    EXPECT_EQ(marks->agents.repeats.size(), 1u) << one->name();
  }
  replication::test::expectEqual(device, other);
}

// The other way round nothing is to be added: the effect is there.
TEST_F(SagaTest, ARefusalIsNotSaidWhereAnotherDeviceCarriedItOut) {
  Device other("b");
  Host there(other.replica(), world);
  const OperationId operation = sameCall(*host, there);
  device.flush();
  host->engine.agentsDurable(host->now);
  ASSERT_TRUE(there.run());
  replication::test::sync(device, other);
  host->engine.answered(operation, invalid("no such address"), host->now);
  ASSERT_TRUE(host->run());
  EXPECT_EQ(host->recordsIn(DatabaseName::agents, operation), 1u);
  EXPECT_TRUE(marksOf(device.replica(), kScope, operation)->applied());
}

// The record never changes otherwise, whoever asks.
TEST_F(SagaTest, ARecordOfWhatWasCarriedOutNeverChanges) {
  const PlanBody plan = host->plan("t", {action("call", "x")});
  ASSERT_TRUE(host->run());
  const Intent intent = intentsOf(plan)[0];
  for (const OperationOutcome outcome : {OperationOutcome::applied, OperationOutcome::failed}) {
    const Write write = *operationWrite(intent, {outcome, "null"}, {});
    const auto again = device.replica().commit(DatabaseName::agents, kScope, {&write, 1});
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().code, ErrorCode::conflict);
  }
  EXPECT_EQ(host->recordsIn(DatabaseName::agents, intent.id()), 1u);
}

// Three syncs, shared by all sagas of a round.
TEST_F(SagaTest, AThousandSagasShareTheirSyncs) {
  ASSERT_TRUE(host->round());
  const auto before = device.journalStore().writeSteps() + device.agentStore().writeSteps();
  std::vector<PlanAction> actions;
  for (int i = 0; i < 1000; ++i) actions.push_back(action("put", "e" + std::to_string(i), "{\"n\":1}"));
  host->plan("t", actions);
  ASSERT_TRUE(host->round());
  ASSERT_TRUE(host->round());
  EXPECT_EQ(host->ended.size(), 1000u);
  EXPECT_EQ(device.journalStore().writeSteps() + device.agentStore().writeSteps() - before, 6u)
      << "each of the three flushes is a write and a sync";
}

TEST_F(SagaTest, RefusedAndForbiddenEffectsEndWithTheirOutcome) {
  const PlanBody plan = host->plan("t", {action("refused", "e"), action("forbidden", "e")});
  ASSERT_TRUE(host->run());
  ASSERT_EQ(host->ended.size(), 2u);
  EXPECT_EQ(host->ended[0].status, SagaStatus::failed);
  EXPECT_EQ(host->ended[0].result, "{\"error\":\"nobody can do that\"}");
  EXPECT_EQ(host->ended[1].status, SagaStatus::denied);
  EXPECT_EQ(host->recordsIn(DatabaseName::journal, intentsOf(plan)[0].id()), 0u);
  EXPECT_EQ(host->recordsIn(DatabaseName::agents, intentsOf(plan)[0].id()), 1u);
  EXPECT_EQ(host->says("e"), "-");
}

TEST_F(SagaTest, AnEntityInConflictIsLeftToAPerson) {
  Device other("b");
  Host there(other.replica(), world);
  host->write("e", "1");
  there.write("e", "2");
  replication::test::sync(device, other);
  host->plan("t", {action("put", "e", "3")});
  ASSERT_TRUE(host->run());
  ASSERT_EQ(host->ended.size(), 1u);
  EXPECT_EQ(host->ended[0].status, SagaStatus::failed);
  EXPECT_TRUE(host->says("e").ends_with("(conflict)"));
}

TEST_F(SagaTest, BadIntentsAreRefusedTogether) {
  const PlanBody plan{runOf("t").value, "agent-1", {action("put", "e", "{\"n\":1}"), action("put", "f", "{\"n\":1}")}};
  auto intents = intentsOf(plan);
  intents[1].arguments = "{\"n\": 1}";
  const Status refused = host->engine.begin(intents, host->now);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find(intents[1].id().hex() + ": arguments: not in canonical form"),
            std::string::npos);
  EXPECT_EQ(host->engine.open(), 0u);
}

// The recovery scan reads what is under way, not what ended or waits for a person.
TEST_F(SagaTest, RecoveryReadsOpenRowsOnly) {
  SagaOptions options;
  options.maxAttempts = 2;
  restart(options);
  host->plan("t", {action("count", "e"), action("poison", "e")});
  ASSERT_TRUE(host->run());
  world.reachable = false;
  host->plan("t2", {action("call", "x")});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(host->round());
  restart(options);
  EXPECT_EQ(host->engine.counters().recovered, 1u);
  EXPECT_EQ(host->engine.open(), 1u);
}

TEST_F(SagaTest, ARowThatIsNotReadableIsNamed) {
  device.replica().database(DatabaseName::agents).putMeta("saga/open/x", "nonsense");
  device.flush();
  const Status loaded = Host(device.replica(), world).engine.load(host->now);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::corrupt);
  EXPECT_NE(loaded.error().message.find("736167612f6f70656e2f78"), std::string::npos) << loaded.error().message;
}

TEST_F(SagaTest, OfThoseThatEndedTheLastFewAreKept) {
  SagaOptions options;
  options.keepDone = 3;
  restart(options);
  for (int i = 0; i < 5; ++i) {
    host->plan("t" + std::to_string(i), {action("count", "e")});
    ASSERT_TRUE(host->run());
    if (i == 3) restart(options);
  }
  std::vector<std::string> kept;
  ASSERT_TRUE(host->engine.rows().visitDone([&](SagaRow&& row) { kept.push_back(toHex(row.intent.run)); }).ok());
  EXPECT_EQ(kept, (std::vector{runOf("t2").hex(), runOf("t3").hex(), runOf("t4").hex()}));
}

}  // namespace
}  // namespace witan::saga::test::theorem_test
