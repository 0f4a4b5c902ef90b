// Decisions that somebody was told of and that are nowhere: each case of what does not count as being there.
#include "sim/check/answers.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/sha256.h"

namespace witan::sim::lost_decisions_test {
namespace {

Operation told(std::string id, std::string action, std::string_view plan) {
  Operation operation;
  operation.operationId = std::move(id);
  operation.entity = "e";
  operation.role = "A";
  operation.action = std::move(action);
  if (!plan.empty()) operation.run = asView(sha256("run")), operation.plan = asView(sha256(plan));
  operation.returned = 7;
  operation.answer.decision.outcome = kernel::Outcome::approved;
  operation.answer.decision.seq = 1;
  return operation;
}

LedgerLine lineOf(const Operation& operation) {
  LedgerLine line;
  line.entry.entity = operation.entity;
  line.entry.operationId = operation.operationId;
  line.entry.role = operation.role;
  line.entry.action = operation.action;
  line.entry.runKey.assign(operation.run.begin(), operation.run.end());
  line.entry.planDigest.assign(operation.plan.begin(), operation.plan.end());
  return line;
}

bool isGone(const Operation& operation, const std::vector<LedgerLine>& entries) {
  const Operation* const one = &operation;
  return !toldAndGone({&one, 1}, entries).empty();
}

TEST(LostDecisions, WhatStandsThereIsNotGone) {
  EXPECT_FALSE(isGone(told("op-1", "{}", "p"), {lineOf(told("op-2", "{}", "")), lineOf(told("op-1", "{}", "p"))}));
  EXPECT_FALSE(isGone(told("op-1", "{}", ""), {lineOf(told("op-1", "{}", ""))}));
}

TEST(LostDecisions, AnEntryOfAnotherIdActOrPlanIsNotTheOne) {
  const Operation operation = told("op-1", "{}", "p");
  EXPECT_TRUE(isGone(operation, {}));
  EXPECT_TRUE(isGone(operation, {lineOf(told("op-2", "{}", "p"))}));
  EXPECT_TRUE(isGone(operation, {lineOf(told("op-1", "{\"n\":2}", "p"))}));
  EXPECT_TRUE(isGone(operation, {lineOf(told("op-1", "{}", "q"))}));
  EXPECT_TRUE(isGone(operation, {lineOf(told("op-1", "{}", ""))}));
}

// Whoever repeats an act under a later plan is told of the entry that the first plan made.
TEST(LostDecisions, ADuplicateMayBeOfAnotherPlan) {
  Operation operation = told("op-1", "{}", "p");
  operation.answer.decision.outcome = kernel::Outcome::duplicate;
  EXPECT_FALSE(isGone(operation, {lineOf(told("op-1", "{}", "q"))}));
  EXPECT_TRUE(isGone(operation, {lineOf(told("op-1", "{\"n\":2}", "q"))}));
}

TEST(LostDecisions, WhoWasToldOfNoEntryMissesNone) {
  Operation waiting = told("op-1", "{}", ""), refused = told("op-2", "{}", "");
  waiting.returned.reset();
  refused.answer.decision = {};
  refused.answer.decision.outcome = kernel::Outcome::refused;
  EXPECT_FALSE(isGone(waiting, {}));
  EXPECT_FALSE(isGone(refused, {}));
}

}  // namespace
}  // namespace witan::sim::lost_decisions_test
