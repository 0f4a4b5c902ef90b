// An operation that stopped on two devices, and what people say of it on each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/host/record_audit.h"
#include "agents/wake/host_choice.h"
#include "domains/agents.h"
#include "replication/records/record_views.h"
#include "saga/operation_marks.h"
#include "tests/agents/clerk.h"
#include "tests/agents/two_rigs.h"

namespace witan::agents::host_answers_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// One mail that may or may not have been sent, put aside on both devices. `sent`: the devices that sent it
// after that.
struct TwoWithAnUncertainMail {
  std::unique_ptr<HostRig> a = clerkOn("a", "mail"), b = clerkOn("b", "mail");
  std::vector<std::string> sent;
  OperationId mail;

  TwoWithAnUncertainMail() {
    for (HostRig* rig : {a.get(), b.get()}) {
      rig->options.onceTools = {"mail.send"};
      rig->options.callTimeoutMs = 1'000;
    }
    for (HostRig* rig : {a.get(), b.get()})
      rig->tool = [this, rig](const ToolCall&) -> Result<saga::Outcome> {
        sent.push_back(rig->device().name());
        return saga::Outcome{OperationOutcome::applied, "{\"by\":\"" + rig->device().name() + "\"}"};
      };
    EXPECT_TRUE(a->open().ok() && b->open().ok());
    EXPECT_TRUE(a->enter("r1", "request", "1").ok());
    connect(*a, *b);
    meet(*a, *b, false);
    for (HostRig* rig : {a.get(), b.get()}) {
      for (int i = 0; i < 50 && (rig->calls.empty() || !rig->calls.back().operation); ++i, rig->ms += 100) {
        rig->mute = std::ranges::any_of(rig->calls, [](const ToolCall& call) { return !call.operation; });
        EXPECT_TRUE(rig->round().ok());
      }
      rig->ms += 2'000;
      EXPECT_TRUE(rig->settle(60'000).ok());
      rig->mute = false;
      mail = *rig->calls.back().operation;
    }
    together(*a, *b, 10);
    EXPECT_TRUE(waitsOn(*a) && waitsOn(*b));
    EXPECT_THAT(sent, SizeIs(0));
  }

  bool waitsOn(HostRig& rig) const { return rig.host().sagas().rows().held(mail)->has_value(); }
  // As a node does it: what a person said stands in a record, and is passed on by the wall clock.
  Status say(HostRig& rig, const std::string& by, const std::string& choice) {
    const saga::SagaRow row = rig.host().sagas().rows().find(mail).value();
    const Now now{rig.now().wall, rig.now().ms + 1'000'000'000'000};
    WITAN_DO(choice == "retry" ? rig.host().sagas().retry(mail, now) : rig.host().sagas().compensate(mail, now));
    const std::string text =
        canonicalJson(json::object{{"item", "operation:" + mail.hex()}, {"by", by}, {"choice", choice}});
    const Write write{Kind::artefact,
                      concat(saga::kAnswerKeys, toHex(row.intent.run), ":", choice, "-", rig.device().name()),
                      *encodeRecord(ArtefactBody{text}), false};
    auto dot = rig.device().replica().commit(DatabaseName::agents, "main", {&write, 1});
    return dot.ok() ? okStatus() : Status(dot.error());
  }
};

// The finding: each device did it, and no device said so.
TEST(AgentHost, OfTwoThatAreToldAtOnceToTryAgainTheFirstDoes) {
  TwoWithAnUncertainMail two;
  ASSERT_TRUE(two.say(*two.a, "ann", "retry").ok() && two.say(*two.b, "bob", "retry").ok());
  together(*two.a, *two.b, 20);
  EXPECT_THAT(two.sent, ElementsAre("a"));
  EXPECT_FALSE(two.waitsOn(*two.a) || two.waitsOn(*two.b));
  for (HostRig* rig : {two.a.get(), two.b.get()}) {
    EXPECT_EQ(rig->host().sagas().rows().find(two.mail)->status, saga::SagaStatus::completed);
    EXPECT_THAT(incidentsOf(*rig), SizeIs(0));
    EXPECT_EQ(auditRecords(rig->device().replica(), "main")->doubled, 0u);
  }
}

// Cut off, both do it. Also what is recorded only after the other's record has come is no secret.
TEST(AgentHost, WhatTwoTriedAgainIsReportedOnEachDevice) {
  for (const bool late : {false, true}) {
    TwoWithAnUncertainMail two;
    meet(*two.a, *two.b, false);
    ASSERT_TRUE(two.say(*two.a, "ann", "retry").ok() && two.say(*two.b, "bob", "retry").ok());
    two.b->mute = late;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(two.a->round().ok() && two.b->round().ok());
    if (late) {
      connect(*two.a, *two.b);
      two.sent.push_back("b");
      two.b->host().answered(two.mail, saga::Outcome{}, two.b->now());
    }
    together(*two.a, *two.b, 20);
    EXPECT_THAT(two.sent, ElementsAre("a", "b"));
    for (HostRig* rig : {two.a.get(), two.b.get()}) {
      EXPECT_THAT(incidentsOf(*rig), ElementsAre(HasSubstr("was carried out by 2 devices"))) << late;
      EXPECT_EQ(auditRecords(rig->device().replica(), "main")->doubled, 1u);
      EXPECT_FALSE(two.waitsOn(*rig));
    }
  }
}

// What one device has ended the other ends with, and takes no other answer.
TEST(AgentHost, WhatAnotherDeviceEndedWaitsNoMore) {
  for (const std::string first : {"retry", "compensate"}) {
    TwoWithAnUncertainMail two;
    ASSERT_TRUE(two.say(*two.a, "ann", first).ok());
    if (first == "retry") {
      connect(*two.a, *two.b);
      const Status refused = two.say(*two.b, "bob", "compensate");
      ASSERT_FALSE(refused.ok()) << "a is at it";
      EXPECT_EQ(refused.error().code, ErrorCode::conflict);
      EXPECT_THAT(refused.error().message, HasSubstr("ann said retry on a"));
    }
    for (int i = 0; i < 10; ++i, two.a->ms += 500) ASSERT_TRUE(two.a->round().ok());
    connect(*two.a, *two.b);
    // Its record is there, and b has not looked yet.
    for (const std::string later : {"retry", "compensate"}) {
      const Status refused = two.say(*two.b, "bob", later);
      ASSERT_FALSE(refused.ok()) << later;
      EXPECT_EQ(refused.error().code, ErrorCode::conflict);
      EXPECT_THAT(refused.error().message, HasSubstr("ann said " + first + " on a"));
    }
    together(*two.a, *two.b, 20);
    EXPECT_THAT(two.sent, SizeIs(first == "retry" ? 1 : 0));
    for (HostRig* rig : {two.a.get(), two.b.get()}) {
      EXPECT_FALSE(two.waitsOn(*rig));
      EXPECT_EQ(rig->host().sagas().rows().find(two.mail)->status,
                first == "retry" ? saga::SagaStatus::completed : saga::SagaStatus::failed);
      EXPECT_THAT(incidentsOf(*rig), SizeIs(0));
    }
  }
}

}  // namespace
}  // namespace witan::agents::host_answers_test
