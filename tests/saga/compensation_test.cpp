// Undoing what was carried out: what was there before comes back, and nothing that a person wrote since is overwritten.
#include <gtest/gtest.h>

#include "tests/replication/cluster.h"
#include "tests/saga/host.h"

namespace witan::saga::test::compensation_test {
namespace {

using replication::test::Device;

struct Compensation : ::testing::Test {
  Device device{"a"};
  World world;
  std::unique_ptr<Host> host = std::make_unique<Host>(device.replica(), world);

  OperationId done(const std::string& turn, PlanAction what) {
    const PlanBody plan = host->plan(turn, {std::move(what)});
    EXPECT_TRUE(host->run());
    return intentsOf(plan)[0].id();
  }
  void undo(const OperationId& operation) {
    const Status begun = host->engine.compensate(operation, host->now);
    ASSERT_TRUE(begun.ok()) << begun.error().message;
    ASSERT_TRUE(host->run());
  }
  std::string refused(const OperationId& operation) {
    const Status begun = host->engine.compensate(operation, host->now);
    EXPECT_FALSE(begun.ok());
    return begun.ok() ? "" : begun.error().message;
  }
  SagaStatus statusOf(const OperationId& operation) { return host->engine.rows().find(operation)->status; }
};

TEST_F(Compensation, BringsBackWhatWasThere) {
  host->write("e", "\"old\"");
  const OperationId put = done("t", action("put", "e", "\"new\""));
  EXPECT_EQ(host->says("e"), "\"new\"");
  undo(put);
  EXPECT_EQ(host->says("e"), "\"old\"");
  EXPECT_EQ(statusOf(put), SagaStatus::compensated);
  EXPECT_EQ(statusOf(compensationOperationId(put)), SagaStatus::completed);
  EXPECT_EQ(host->recordsIn(DatabaseName::journal, compensationOperationId(put)), 1u);
  EXPECT_EQ(host->recordsIn(DatabaseName::agents, compensationOperationId(put)), 1u);
}

TEST_F(Compensation, OfWhatWasNewNothingIsLeft) {
  const OperationId put = done("t", action("put", "e", "\"new\""));
  undo(put);
  EXPECT_EQ(host->says("e"), "-");
}

TEST_F(Compensation, BringsBackWhatWasRemoved) {
  host->write("e", "\"old\"");
  const OperationId removed = done("t", action("remove", "e"));
  EXPECT_EQ(host->says("e"), "-");
  undo(removed);
  EXPECT_EQ(host->says("e"), "\"old\"");
}

TEST_F(Compensation, OfALaterEditedEntityIsAConflictForAPersonAndOverwritesNothing) {
  const OperationId put = done("t", action("put", "e", "\"new\""));
  host->write("e", "\"a person's\"");
  undo(put);
  EXPECT_EQ(host->says("e"), "\"a person's\"");
  ASSERT_EQ(host->aside.size(), 1u);
  EXPECT_EQ(host->aside[0].status, SagaStatus::needsAttention);
  EXPECT_NE(host->aside[0].lastError.find("e was edited after operation " + put.hex()), std::string::npos);
  EXPECT_EQ(host->recordsIn(DatabaseName::journal, compensationOperationId(put)), 0u);
  // The person settles it otherwise, and ends the saga.
  undo(compensationOperationId(put));
  EXPECT_EQ(host->says("e"), "\"a person's\"");
  EXPECT_EQ(statusOf(compensationOperationId(put)), SagaStatus::failed);
}

TEST_F(Compensation, OfSeveralEntitiesIsAllOrNothing) {
  PlanAction both = action("put", "e", "\"new\"");
  both.targets.push_back("f");
  const OperationId put = done("t", both);
  EXPECT_EQ(host->says("f"), "\"new\"");
  host->write("f", "\"a person's\"");
  undo(put);
  EXPECT_EQ(host->says("e"), "\"new\"");
  EXPECT_EQ(host->says("f"), "\"a person's\"");
  EXPECT_EQ(host->aside.size(), 1u);
}

TEST_F(Compensation, AnEditThatStandsBesideItStaysAlone) {
  Device other("b");
  Host there(other.replica(), world);
  const OperationId put = done("t", action("put", "e", "\"agent's\""));
  there.write("e", "\"person's\"");
  replication::test::sync(device, other);
  EXPECT_TRUE(host->says("e").ends_with("(conflict)"));
  undo(put);
  EXPECT_EQ(host->says("e"), "\"person's\"");
}

TEST_F(Compensation, TheLastOneFirst) {
  host->write("e", "\"old\"");
  const OperationId first = done("t", action("put", "e", "\"one\""));
  const OperationId second = done("t2", action("put", "e", "\"two\""));
  undo(second);
  EXPECT_EQ(host->says("e"), "\"one\"");
  undo(first);
  EXPECT_EQ(host->says("e"), "\"old\"");
}

TEST_F(Compensation, OnceAndOnlyOfWhatWasDone) {
  const OperationId put = done("t", action("put", "e", "\"new\""));
  const OperationId refusedOne = done("t2", action("refused", "e"));
  undo(put);
  EXPECT_NE(refused(put).find("was compensated before"), std::string::npos);
  EXPECT_NE(refused(refusedOne).find("was not carried out (failed)"), std::string::npos);
  EXPECT_NE(refused({sha256("nothing")}).find("no saga of operation"), std::string::npos);
}

// Its plan is begun once more, as after a start.
TEST_F(Compensation, WhatEndsOnceMoreStaysUndone) {
  const PlanBody plan = host->plan("t", {action("put", "e", "\"new\"")});
  ASSERT_TRUE(host->run());
  const OperationId operation = intentsOf(plan)[0].id();
  undo(operation);
  ASSERT_TRUE(host->engine.begin(intentsOf(plan), host->now).ok());
  ASSERT_TRUE(host->run());
  EXPECT_EQ(statusOf(operation), SagaStatus::compensated);
  EXPECT_EQ(host->says("e"), "-");
}

TEST_F(Compensation, OfAToolIsAnotherCallAndOfOthersImpossible) {
  const OperationId called = done("t", action("call", "x"));
  undo(called);
  EXPECT_EQ(world.calls.size(), 2u);
  EXPECT_EQ(world.calls.count(compensationOperationId(called).value), 1u);
  const OperationId proposed = done("t2", action("propose", "x"));
  EXPECT_EQ(refused(proposed), "a propose cannot be called back");
}

// What its compensation wrote tells agents, as every edit does.
TEST_F(Compensation, IsToldToAgents) {
  const OperationId put = done("t", action("put", "e", "\"new\""));
  Space& journal = *device.replica().database(DatabaseName::journal).find(kScope);
  ASSERT_EQ(journal.takeEvents()->size(), 1u);
  undo(put);
  EXPECT_EQ(journal.takeEvents()->size(), 1u);
}

TEST_F(Compensation, CrashAtEveryWriteStepUndoesOnce) {
  std::size_t crashes = 0;
  for (std::uint64_t n = 0; n < 12; ++n)
    for (const bool agents : {false, true})
      for (const store::Moment moment : {store::Moment::before, store::Moment::after}) {
        Device machine("a");
        World outside;
        auto life = std::make_unique<Host>(machine.replica(), outside);
        life->write("e", "\"old\"");
        const PlanBody plan = life->plan("t", {action("put", "e", "\"new\"")});
        ASSERT_TRUE(life->run());
        const OperationId put = intentsOf(plan)[0].id();
        (agents ? machine.agentStore() : machine.journalStore()).crashAt(n, moment);
        ASSERT_TRUE(life->engine.compensate(put, life->now).ok());
        if (!life->run()) {
          ++crashes;
          life.reset();
          machine.crash();
          life = std::make_unique<Host>(machine.replica(), outside);
          ASSERT_TRUE(life->engine.load(life->now).ok());
          (void)life->engine.compensate(put, life->now);
          ASSERT_TRUE(life->run());
        }
        EXPECT_EQ(life->says("e"), "\"old\"");
        EXPECT_EQ(life->recordsIn(DatabaseName::journal, compensationOperationId(put)), 1u);
        EXPECT_EQ(life->recordsIn(DatabaseName::agents, compensationOperationId(put)), 1u);
        EXPECT_EQ(life->engine.open(), 0u);
      }
  EXPECT_GE(crashes, 10u);
}

}  // namespace
}  // namespace witan::saga::test::compensation_test
