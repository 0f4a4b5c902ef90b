// What waits for a counselor goes on when the counselor has decided, on whichever device either was asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replica/core/messages.h"
#include "replica/core/operation_names.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::frozen_test {
namespace {

using kernel::Outcome;

const kernel::DomainModule& moderation() {
  static const std::unique_ptr<kernel::DomainModule> module = *domains::makeDomain("moderation");
  return *module;
}

Request proposal(const std::string& entity, const std::string& id, const std::string& action) {
  const json::value parsed = *parseJson(action);
  const auto& signature = moderation().signature();
  const std::string role = signature.processes[(*moderation().parseAction(parsed))->process].role;
  return *proposalRequest(moderation(), entity, role, id, parsed);
}
Request label(const std::string& entity, const std::string& id) {
  return proposal(entity, id,
                  R"({"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"r"})");
}

// Device a owns the only partition; the entities "one" and "other" are frozen.
class Frozen : public ::testing::Test {
 protected:
  Frozen() {
    EXPECT_TRUE(a_.replica().bootstrap(at(a_.ms)).ok());
    cluster_.connect(a_, b_);
    for (const char* entity : {"one", "other"}) escalate(entity);
  }
  void escalate(const std::string& entity) {
    a_.submit(initRequest(moderation(), entity, entity, json::object{}));
    a_.submit(label(entity, entity + "label"));
    a_.submit(proposal(entity, entity + "notice",
                       R"({"type":"DraftNotice","n":"N1","action":"A1","facts":"f","clause":"c","redress":"r"})"));
    a_.submit(proposal(entity, entity + "ban",
                       R"({"type":"TakeAction","a":"A1","kind":"BAN","policy":"csam","item":"i","evidence":["L1"]})"));
    talk();
    ASSERT_NE(a_.answered(entity + "ban"), nullptr);
    ASSERT_EQ(a_.answered(entity + "ban")->outcome, Outcome::escalated) << a_.answered(entity + "ban")->message;
  }
  // Until no device sends anything or has anything due; no time passes.
  void talk() {
    const auto due = [](Device& device) { return device.replica().nextTickMs() <= device.ms; };
    do cluster_.run();
    while (due(a_) || due(b_));
  }
  // So that what waits tries again seldom: in half a minute or later.
  void wait() {
    for (int minute = 0; minute < 10; ++minute) {
      for (Device* device : {&a_, &b_}) device->passTime(60'000);
      talk();
    }
  }
  void reject(Device& asked, const std::string& entity) {
    const auto queue = a_.replica().host("moderation/0")->partition().queue();
    const auto view = std::find_if(queue.begin(), queue.end(), [&](const auto& one) { return one.entity == entity; });
    ASSERT_NE(view, queue.end());
    Request decision;
    decision.kind = RequestKind::reject;
    decision.domain = "moderation";
    decision.entity = entity;
    decision.operationId = "counsel-" + entity;
    decision.counselor = moderation().signature().counselors.front();
    decision.reason = "r";
    decision.escalation = view->seq;
    decision.pendingDigest = view->digest;
    asked.submit(std::move(decision));
    talk();
    ASSERT_NE(asked.answered("counsel-" + entity), nullptr);
    ASSERT_EQ(asked.answered("counsel-" + entity)->outcome, Outcome::cRejected)
        << asked.answered("counsel-" + entity)->message;
  }
  unsigned tries(Device& device, const std::string& id) const { return device.replica().outbox().all().at(id).tries; }

  TestCluster cluster_{2, [](std::size_t, ReplicaConfig& config) { config.domains = {&moderation()}; }};
  Device &a_ = cluster_.a(), &b_ = cluster_.b();
};

TEST_F(Frozen, WhatWaitsOnTheOwnerGoesOnWhenACounselorElsewhereHasDecided) {
  ASSERT_TRUE(a_.replica().enqueue(label("one", "late"), at(a_.ms)).ok());
  wait();
  ASSERT_TRUE(a_.replica().outbox().all().contains("late"));
  reject(b_, "one");
  ASSERT_NE(a_.answered("late"), nullptr);
  EXPECT_NE(a_.answered("late")->kind, AnswerKind::frozen);
}

TEST_F(Frozen, WhatWaitsElsewhereGoesOnWhenItsCounselorIsAnswered) {
  b_.submit(label("one", "late"));
  wait();
  ASSERT_TRUE(b_.replica().outbox().all().contains("late"));
  reject(b_, "one");
  ASSERT_NE(b_.answered("late"), nullptr);
  EXPECT_NE(b_.answered("late")->kind, AnswerKind::frozen);
}

TEST_F(Frozen, WhatWaitsForAnotherDecisionIsLeftAlone) {
  ASSERT_TRUE(a_.replica().enqueue(label("one", "late"), at(a_.ms)).ok());
  ASSERT_TRUE(a_.replica().enqueue(label("other", "of-another"), at(a_.ms)).ok());
  b_.submit(label("other", "elsewhere"));
  wait();
  const unsigned here = tries(a_, "of-another"), there = tries(b_, "elsewhere");
  reject(a_, "one");
  EXPECT_NE(a_.answered("late"), nullptr);
  EXPECT_EQ(tries(a_, "of-another"), here);
  EXPECT_EQ(tries(b_, "elsewhere"), there);
}

// The digest of what waits is no secret, and the id of its answer follows from it.
TEST_F(Frozen, NobodyTakesTheIdOfAnAnswer) {
  const auto queue = a_.replica().host("moderation/0")->partition().queue();
  const std::string id = "queue:" + toHex(queue.front().digest).substr(0, 32);
  for (Device* device : {&a_, &b_}) {
    const Status taken = device->replica().submit(label("free", id), at(device->ms));
    ASSERT_FALSE(taken.ok());
    EXPECT_THAT(taken.error().message, ::testing::HasSubstr("belong to answers of counselors"));
    EXPECT_FALSE(device->replica().enqueue(label("one", id), at(device->ms)).ok());
    EXPECT_FALSE(device->replica().outbox().all().contains(id));
  }
}

TEST(OperationNames, EachSpaceBelongsToOneKindOfAct) {
  const std::string digest(64, 'a');
  for (const std::string id : {"queue:1", "feed-1", "graph:1", "market-run:1", "graph-deploy:1", "graph-begin:1"}) {
    EXPECT_FALSE(checkChosenName(id).ok()) << id;
    EXPECT_FALSE(checkName(label("one", id)).ok()) << id;
  }
  for (const std::string prefix : {"", "evidence:", "letter:", "open:", "begin:", "holder:"}) {
    EXPECT_FALSE(checkChosenName(prefix + digest).ok()) << prefix;
    EXPECT_FALSE(checkName(label("one", prefix + digest)).ok()) << prefix;
  }
  for (const std::string& id : {std::string("order-1"), std::string("api:12"), std::string("open:door"),
                                digest.substr(1), std::string(64, 'A')})
    EXPECT_TRUE(checkChosenName(id).ok() && checkName(label("one", id)).ok()) << id;
  // Those that the acts themselves have.
  Request answer;
  answer.kind = RequestKind::reject, answer.operationId = "queue:1";
  EXPECT_TRUE(checkName(answer).ok());
  answer.operationId = "counsel-1";
  EXPECT_TRUE(checkName(answer).ok());
  Request ofAgent = label("one", digest);
  ofAgent.agent = "follow-up";
  EXPECT_TRUE(checkName(ofAgent).ok());
  EXPECT_TRUE(checkName(ingressRequest("g", "in", "1", "graph:1", "{}")).ok());
}

}  // namespace
}  // namespace witan::node::test::frozen_test
