// What waits for a counselor goes on when the counselor has decided, on whichever device either was asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replica/core/messages.h"
#include "tests/replica/cable.h"

namespace witan::node::test {
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

// Two devices with a cable between them; a owns the partition.
class Frozen : public ::testing::Test {
 protected:
  struct Party {
    std::string name;
    store::MemoryStore stores[3];
    std::unique_ptr<Replica> replica;
    std::vector<Answer> answers;

    const Answer* answered(std::string_view id) const {
      for (const Answer& answer : answers)
        if (answer.operationId == id) return &answer;
      return nullptr;
    }
  };

  Frozen() {
    for (Party* party : {&a_, &b_}) {
      ReplicaConfig config;
      config.replication.cluster = "test";
      config.replication.clusterKey = "key";
      config.replication.device = party->name;
      config.replication.trustStore = true;
      config.replication.freshTag = [this] { return ++tags_; };
      config.domains = {&moderation()};
      config.partitions = 1;
      auto opened = Replica::open({party->stores[0], party->stores[1], party->stores[2]}, std::move(config), at(ms_));
      WITAN_CHECK(opened.ok(), "a replica opens");
      party->replica = *std::move(opened);
    }
    EXPECT_TRUE(a_.replica->bootstrap(at(ms_)).ok());
    a_.replica->connected("b", at(ms_));
    b_.replica->connected("a", at(ms_));
    for (const char* entity : {"one", "other"}) escalate(entity);
  }
  void escalate(const std::string& entity) {
    submit(a_, initRequest(moderation(), entity, entity, json::object{}));
    submit(a_, label(entity, entity + "label"));
    submit(a_, proposal(entity, entity + "notice",
                        R"({"type":"DraftNotice","n":"N1","action":"A1","facts":"f","clause":"c","redress":"r"})"));
    submit(a_, proposal(entity, entity + "ban",
                        R"({"type":"TakeAction","a":"A1","kind":"BAN","policy":"csam","item":"i","evidence":["L1"]})"));
    talk();
    ASSERT_NE(a_.answered(entity + "ban"), nullptr);
    ASSERT_EQ(a_.answered(entity + "ban")->outcome, Outcome::escalated) << a_.answered(entity + "ban")->message;
  }
  void submit(Party& party, Request request) {
    const Status accepted = party.replica->submit(std::move(request), at(ms_));
    ASSERT_TRUE(accepted.ok()) << accepted.error().message;
  }
  // Until nobody says anything more; no time passes.
  void talk() {
    for (bool more = true; more;) {
      more = false;
      for (Party* party : {&a_, &b_}) {
        Party& other = party == &a_ ? b_ : a_;
        Effects effects;
        ASSERT_TRUE(party->replica->drain(at(ms_), effects).ok());
        for (Answered& answer : effects.answers) party->answers.push_back(std::move(answer.answer));
        for (const Outgoing& out : effects.sends)
          for (const std::string& frame : framesOf(out.frames)) {
            other.replica->received(party->name, frame, at(ms_));
            more = true;
          }
        more = more || party->replica->nextTickMs() <= ms_;
      }
    }
  }
  // So that what waits tries again seldom: in half a minute or later.
  void wait() {
    for (int minute = 0; minute < 10; ++minute) {
      ms_ += 60'000;
      for (Party* party : {&a_, &b_}) party->replica->tick(at(ms_));
      talk();
    }
  }
  void reject(Party& asked, const std::string& entity) {
    const auto queue = a_.replica->host("moderation/0")->partition().queue();
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
    submit(asked, std::move(decision));
    talk();
    ASSERT_NE(asked.answered("counsel-" + entity), nullptr);
    ASSERT_EQ(asked.answered("counsel-" + entity)->outcome, Outcome::cRejected)
        << asked.answered("counsel-" + entity)->message;
  }
  unsigned tries(const Party& party, const std::string& id) const { return party.replica->outbox().all().at(id).tries; }

  std::int64_t ms_ = 0;
  std::uint32_t tags_ = 0;
  Party a_{"a", {}, {}, {}}, b_{"b", {}, {}, {}};
};

TEST_F(Frozen, WhatWaitsOnTheOwnerGoesOnWhenACounselorElsewhereHasDecided) {
  ASSERT_TRUE(a_.replica->enqueue(label("one", "late"), at(ms_)).ok());
  wait();
  ASSERT_TRUE(a_.replica->outbox().all().contains("late"));
  reject(b_, "one");
  ASSERT_NE(a_.answered("late"), nullptr);
  EXPECT_NE(a_.answered("late")->kind, AnswerKind::frozen);
}

TEST_F(Frozen, WhatWaitsElsewhereGoesOnWhenItsCounselorIsAnswered) {
  submit(b_, label("one", "late"));
  wait();
  ASSERT_TRUE(b_.replica->outbox().all().contains("late"));
  reject(b_, "one");
  ASSERT_NE(b_.answered("late"), nullptr);
  EXPECT_NE(b_.answered("late")->kind, AnswerKind::frozen);
}

TEST_F(Frozen, WhatWaitsForAnotherDecisionIsLeftAlone) {
  ASSERT_TRUE(a_.replica->enqueue(label("one", "late"), at(ms_)).ok());
  ASSERT_TRUE(a_.replica->enqueue(label("other", "of-another"), at(ms_)).ok());
  submit(b_, label("other", "elsewhere"));
  wait();
  const unsigned here = tries(a_, "of-another"), there = tries(b_, "elsewhere");
  reject(a_, "one");
  EXPECT_NE(a_.answered("late"), nullptr);
  EXPECT_EQ(tries(a_, "of-another"), here);
  EXPECT_EQ(tries(b_, "elsewhere"), there);
}

}  // namespace
}  // namespace witan::node::test
