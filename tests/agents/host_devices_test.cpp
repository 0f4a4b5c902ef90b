// Agents at work on several devices: cut off from one another, connected, and with disks that are lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "agents/host/record_audit.h"
#include "agents/wake/host_choice.h"
#include "domains/agents.h"
#include "replication/records/record_views.h"
#include "saga/operation_marks.h"
#include "tests/agents/clerk.h"
#include "tests/agents/two_rigs.h"

namespace witan::agents::host_devices_test {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

// Finding F3. "Two devices can plan the same wake while cut off." One surviving effect set, compensations applied once
// on each device, equal stores after the heal.
TEST(AgentHost, F3TwoCutOffDevicesPlanTheSameWakeDifferently) {
  auto a = clerkOn("a", "yes"), b = clerkOn("b", "no");
  ASSERT_TRUE(a->open().ok());
  ASSERT_TRUE(b->open().ok());
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  connect(*a, *b);  // both know of the entry; then the network is cut
  meet(*a, *b, false);
  ASSERT_TRUE(a->settle().ok());
  ASSERT_TRUE(b->settle().ok());
  ASSERT_EQ(a->shown("done/r1"), "\"yes\"");
  ASSERT_EQ(b->shown("done/r1"), "\"no\"");
  together(*a, *b, 80);
  EXPECT_EQ(a->shown("done/r1"), "\"yes\"");  // the plan with the smaller dot
  EXPECT_EQ(b->shown("done/r1"), "\"yes\"");
  // yes, no, and the compensation of no: each once.
  EXPECT_THAT(a->effects(DatabaseName::journal), SizeIs(3));
  EXPECT_THAT(a->effects(DatabaseName::journal), Each(Pair(::testing::_, 1u)));
  EXPECT_EQ(a->effects(DatabaseName::journal), b->effects(DatabaseName::journal));
  expectEqualStores(*a, *b);
}

// --- effects that nobody can take back

// One plan, so no operation has lost: each device sent the mail, as it did not know of the other.
TEST(AgentHost, WhatTwoDevicesCarriedOutIsReportedOnEachOnce) {
  for (const bool once : {true, false}) {
    auto a = clerkOn("a", "mail"), b = clerkOn("b", "mail");
    if (once) a->options.onceTools = b->options.onceTools = {"mail.send"};
    ASSERT_TRUE(a->open().ok() && b->open().ok());
    ASSERT_TRUE(a->enter("r1", "request", "1").ok());
    connect(*a, *b);
    meet(*a, *b, false);
    ASSERT_TRUE(a->settle().ok() && b->settle().ok());
    EXPECT_THAT(incidentsOf(*a), SizeIs(0));
    together(*a, *b, 40);
    ASSERT_TRUE(a->open().ok());  // what was reported stays reported
    together(*a, *b, 10);
    for (HostRig* rig : {a.get(), b.get()}) {
      EXPECT_EQ(auditRecords(rig->device().replica(), "main")->doubled, 1u);
      if (once)
        EXPECT_THAT(incidentsOf(*rig), ElementsAre(AllOf(HasSubstr("clerk: mail.send"),
                                                         HasSubstr("by 2 devices that were cut off: a, b"))));
      else
        EXPECT_THAT(incidentsOf(*rig), SizeIs(0));
    }
  }
}

// Two plans of one run, each with a mail of its own.
TEST(AgentHost, WhatAPlanThatDidNotSurviveSentIsCounted) {
  auto a = clerkOn("a", "mail it"), b = clerkOn("b", "mail him");
  ASSERT_TRUE(a->open().ok() && b->open().ok());
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  connect(*a, *b);
  meet(*a, *b, false);
  ASSERT_TRUE(a->settle().ok() && b->settle().ok());
  EXPECT_EQ(auditRecords(a->device().replica(), "main")->unwanted, 0u);
  together(*a, *b, 80);
  for (HostRig* rig : {a.get(), b.get()}) {
    EXPECT_EQ(auditRecords(rig->device().replica(), "main")->unwanted, 1u);
    EXPECT_THAT(incidentsOf(*rig), ElementsAre(HasSubstr("of a plan that did not survive stays")));
  }
}

class AskingForMails final : public episode::Gate {
 public:
  episode::GateVerdict judge(const episode::GateRequest& request) const override {
    const Hash digest = sha256(canonicalJson(*request.arguments));
    const bool free = request.tool->name != "mail.send" || (request.approved != nullptr && *request.approved == digest);
    return {free ? episode::GateKind::allow : episode::GateKind::requireHuman, "", "", std::nullopt,
            free ? std::nullopt : std::optional(digest)};
  }
  std::string epoch() const override { return "asking"; }
};

void answerAll(HostRig& rig, ApprovalVerdict verdict, std::string_view by) {
  Space& records = rig.device().agents();
  for (const std::string& key : records.keys(Kind::approval)) {
    const ApprovalView view = approvalViewOf(*OperationId::parse(key), *records.versions(Kind::approval, key));
    const auto body = answerTo(view, view.shown->body.digest, verdict, by, "", rig.ms);
    ASSERT_TRUE(body.ok()) << body.error().message;
    const Write write{Kind::approval, key, *encodeRecord(*body), false};
    ASSERT_TRUE(rig.device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
  }
}

// Cut off, both have come to the question of one run.
void askOnBoth(HostRig& a, HostRig& b, const episode::Gate& gate) {
  a.gate = b.gate = &gate;
  ASSERT_TRUE(a.open().ok() && b.open().ok());
  ASSERT_TRUE(a.enter("r1", "request", "1").ok());
  connect(a, b);
  meet(a, b, false);
  ASSERT_TRUE(a.settle(60'000).ok() && b.settle(60'000).ok());
}

TEST(AgentHost, AnEffectAgainstADenialIsReportedOnEachDeviceOnce) {
  const AskingForMails gate;
  for (const ApprovalVerdict onA : {ApprovalVerdict::denied, ApprovalVerdict::approved}) {
    auto a = clerkOn("a", "mail"), b = clerkOn("b", "mail");
    ASSERT_NO_FATAL_FAILURE(askOnBoth(*a, *b, gate));
    answerAll(*a, onA, "ann");
    answerAll(*b, ApprovalVerdict::approved, "bob");
    ASSERT_TRUE(a->settle(60'000).ok() && b->settle(60'000).ok());
    together(*a, *b, 40);
    for (HostRig* rig : {a.get(), b.get()})
      EXPECT_EQ(auditRecords(rig->device().replica(), "main")->unwanted, onA == ApprovalVerdict::denied ? 1u : 0u);
    for (HostRig* rig : {a.get(), b.get()})
      if (onA == ApprovalVerdict::denied)
        EXPECT_THAT(incidentsOf(*rig), ElementsAre(HasSubstr("was carried out by b, and denied elsewhere by ann")));
      else
        EXPECT_THAT(incidentsOf(*rig), SizeIs(0));
  }
}

// A person changes the agent's state.
void become(HostRig& rig, const std::function<void(AgentState&)>& change) {
  AgentState state = rig.device().view("clerk");
  change(state);
  const Write write{Kind::agentState, "clerk", encodeAgentState(state, rig.device().replica().writer()), false};
  ASSERT_TRUE(rig.device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
  ASSERT_TRUE(rig.device().replica().flush().ok());
}

// b had not heard that a person destroyed the agent on a.
TEST(AgentHost, AnEffectOfAnAgentThatWasDestroyedElsewhereIsReported) {
  const AskingForMails gate;
  auto a = clerkOn("a", "mail"), b = clerkOn("b", "mail");
  ASSERT_NO_FATAL_FAILURE(askOnBoth(*a, *b, gate));
  become(*a, [](AgentState& state) { state.lifecycle = Lifecycle::destroyed; });
  answerAll(*b, ApprovalVerdict::approved, "bob");
  ASSERT_TRUE(a->settle(60'000).ok() && b->settle(60'000).ok());
  together(*a, *b, 40);
  for (HostRig* rig : {a.get(), b.get()}) {
    EXPECT_EQ(auditRecords(rig->device().replica(), "main")->unwanted, 1u);
    EXPECT_THAT(incidentsOf(*rig), ElementsAre(HasSubstr("was carried out by b, and denied elsewhere by system")));
  }
}

// A request is there, and its run has come as far as it does without a person.
void openWithRequest(HostRig& rig, const episode::Gate& gate) {
  rig.gate = &gate;
  ASSERT_TRUE(rig.open().ok());
  ASSERT_TRUE(rig.enter("r1", "request", "1").ok());
  ASSERT_TRUE(rig.settle(60'000).ok());
}

ApprovalBody onlyQuestion(HostRig& rig) {
  Space& records = rig.device().agents();
  const auto keys = records.keys(Kind::approval);
  EXPECT_THAT(keys, SizeIs(1));
  return approvalViewOf(*OperationId::parse(keys.at(0)), *records.versions(Kind::approval, keys.at(0))).shown->body;
}

// What keeps new wakes from an agent ends no run that has begun: with or without a restart, and however long.
TEST(AgentHost, ARunThatWaitsForAPersonOutlivesARestartWhileItsAgentIsPaused) {
  const AskingForMails gate;
  const auto far = static_cast<std::uint64_t>(4'000'000'000'000);
  const std::vector<std::function<void(AgentState&)>> reasons{
      [](AgentState& state) { state.lifecycle = Lifecycle::dormant; },
      [&](AgentState& state) { state.schedule.sleepUntil = far; },
      [](AgentState& state) { state.mode = AgentMode::interactive; }};
  for (std::size_t n = 0; n < reasons.size(); ++n) {
    SCOPED_TRACE(n);
    auto rig = clerkOn("a", "mail");
    ASSERT_NO_FATAL_FAILURE(openWithRequest(*rig, gate));
    const auto mails = [&] { return std::ranges::count(rig->calls, "mail.send", &ToolCall::tool); };
    become(*rig, reasons[n]);
    rig->crash();
    ASSERT_TRUE(rig->open().ok());
    ASSERT_TRUE(rig->settle(60'000).ok());
    EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::started)));
    EXPECT_EQ(onlyQuestion(*rig).verdict, ApprovalVerdict::waiting);
    answerAll(*rig, ApprovalVerdict::approved, "ann");
    ASSERT_TRUE(rig->device().replica().flush().ok());
    ASSERT_TRUE(rig->settle(60'000).ok());
    if (n == 0) {
      rig->crash();
      ASSERT_TRUE(rig->open().ok());
      ASSERT_TRUE(rig->settle(60'000).ok());
      EXPECT_EQ(mails(), 0) << "it is paused";
      EXPECT_TRUE(rig->host().onlyPeopleLeft());
      const auto next = rig->host().nextMs(rig->now());
      EXPECT_TRUE(!next || *next > rig->ms + 1'000) << "it does not run in circles";
      rig->ms += 30 * 24 * 3'600'000ll;
      ASSERT_TRUE(rig->settle(60'000).ok());
      EXPECT_EQ(mails(), 0);
      become(*rig, [](AgentState& state) { state.lifecycle = Lifecycle::active; });
      ASSERT_TRUE(rig->settle(60'000).ok());
    }
    EXPECT_EQ(mails(), 1);
    EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::completed)));
  }
}

// Who pauses an agent keeps something from happening: also what waits behind its run, before the pause and since.
TEST(AgentHost, NoWakeBehindTheRunOfAPausedAgentRunsWhenItIsResumed) {
  const AskingForMails gate;
  auto rig = clerkOn("a", "mail");
  ASSERT_NO_FATAL_FAILURE(openWithRequest(*rig, gate));
  ASSERT_TRUE(rig->enter("r2", "request", "1").ok());
  ASSERT_TRUE(rig->settle(60'000).ok());
  become(*rig, [](AgentState& state) { state.lifecycle = Lifecycle::dormant; });
  ASSERT_TRUE(rig->settle(60'000).ok());
  ASSERT_TRUE(rig->enter("r3", "request", "1").ok());
  ASSERT_TRUE(rig->settle(60'000).ok());
  answerAll(*rig, ApprovalVerdict::approved, "ann");
  ASSERT_TRUE(rig->device().replica().flush().ok());
  become(*rig, [](AgentState& state) { state.lifecycle = Lifecycle::active; });
  ASSERT_TRUE(rig->settle(60'000).ok());
  const auto ends = rig->runs();
  const auto count = [&](WakeStatus status) {
    return std::ranges::count(ends, status, [](auto& one) { return one.second; });
  };
  EXPECT_EQ(count(WakeStatus::completed), 1);
  EXPECT_EQ(count(WakeStatus::skippedSleeping), 2);
  EXPECT_EQ(std::ranges::count(rig->calls, "mail.send", &ToolCall::tool), 1);
}

// Nobody answers while the agent is paused: the question has its end all the same, also after a restart.
TEST(AgentHost, WhatAPausedAgentAskedExpiresInItsTime) {
  const AskingForMails gate;
  for (const bool restarts : {false, true}) {
    auto rig = clerkOn("a", "mail");
    ASSERT_NO_FATAL_FAILURE(openWithRequest(*rig, gate));
    become(*rig, [](AgentState& state) { state.lifecycle = Lifecycle::dormant; });
    if (restarts) {
      rig->crash();
      ASSERT_TRUE(rig->open().ok());
      ASSERT_TRUE(rig->settle(60'000).ok());
    }
    rig->ms += rig->options.approvalTtlMs + 1;
    ASSERT_TRUE(rig->settle(60'000).ok());
    EXPECT_EQ(onlyQuestion(*rig).verdict, ApprovalVerdict::denied);
    EXPECT_EQ(onlyQuestion(*rig).by, kNobodyAnswered);
    EXPECT_TRUE(rig->host().quiet());
    EXPECT_EQ(std::ranges::count(rig->calls, "mail.send", &ToolCall::tool), 0);
  }
}

// The device that asked is gone, and the agent is paused: another one takes the run over and waits as well.
TEST(AgentHost, WhatAPausedAgentAskedIsTakenOverByAnotherDevice) {
  const AskingForMails gate;
  auto a = clerkOn("a", "mail"), b = clerkOn("b", "mail");
  a->gate = b->gate = &gate;
  ASSERT_TRUE(a->open().ok() && b->open().ok());
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  meet(*a, *b, false);
  ASSERT_TRUE(a->settle(60'000).ok());
  become(*a, [](AgentState& state) { state.lifecycle = Lifecycle::dormant; });
  connect(*a, *b);
  b->ms = a->ms;
  ASSERT_TRUE(b->settle(60'000).ok());
  EXPECT_THAT(b->runs(), Each(Pair(::testing::_, WakeStatus::started)));
  answerAll(*b, ApprovalVerdict::approved, "ann");
  ASSERT_TRUE(b->settle(60'000).ok());
  const auto mails = [&] { return std::ranges::count(b->calls, "mail.send", &ToolCall::tool); };
  EXPECT_EQ(mails(), 0);
  become(*b, [](AgentState& state) { state.lifecycle = Lifecycle::active; });
  ASSERT_TRUE(b->settle(60'000).ok());
  EXPECT_EQ(mails(), 1);
  EXPECT_THAT(b->runs(), Each(Pair(::testing::_, WakeStatus::completed)));
}

// An entry that two devices wrote at once waits for a choice: an agent that could not write it does not report success.
TEST(AgentHost, ARunThatCouldNotWriteAnEntryInConflictHasFailed) {
  auto a = clerkOn("a", "yes"), b = clerkOn("b", "yes");
  ASSERT_TRUE(a->open().ok());
  ASSERT_TRUE(b->open().ok());
  ASSERT_TRUE(a->enter("done/r1", "answer", "1").ok());
  ASSERT_TRUE(b->enter("done/r1", "answer", "2").ok());
  connect(*a, *b);
  meet(*a, *b, false);
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  ASSERT_TRUE(a->settle().ok());
  ASSERT_THAT(a->runs(), SizeIs(1));
  EXPECT_EQ(a->runs().begin()->second, WakeStatus::failedTerminal);
}

// What is known of the actions of the plan that stands, for each run: their records.
void expectWholePlans(HostRig& rig) {
  for (const std::string& key : rig.device().agents().keys(Kind::plan)) {
    const PlanView view = planViewOf(*RunKey::parse(key), *rig.device().agents().versions(Kind::plan, key));
    ASSERT_TRUE(view.winner);
    for (const OperationId& operation : view.winner->operations)
      EXPECT_THAT(rig.effects(DatabaseName::agents), Contains(Pair(operation.hex(), 1u)));
  }
}

// Wherever a dies amid its plan, b, cut off from it, ends the run meanwhile by a plan of its own; then `after`. Where
// a's plan stands, all of it is carried out, although the run has long ended when a is back.
void whereverADies(const std::function<void(HostRig& a, HostRig& b)>& after) {
  std::size_t died = 0;
  for (std::uint64_t n = 0; !::testing::Test::HasFailure(); ++n) {
    SCOPED_TRACE(n);
    auto a = clerkOn("a", "mail"), b = clerkOn("b", "no");
    ASSERT_TRUE(a->open().ok() && b->open().ok());
    ASSERT_TRUE(a->enter("r1", "request", "1").ok());
    connect(*a, *b);
    meet(*a, *b, false);
    a->device().agentStore().crashAt(n, store::Moment::after);
    if (a->settle().ok()) break;
    ++died;
    ASSERT_TRUE(b->settle().ok());
    a->crash();
    after(*a, *b);
    expectWholePlans(*a);
    EXPECT_EQ(a->shown("done/r1"), b->shown("done/r1"));
    EXPECT_THAT(a->runs(), Each(Pair(::testing::_, WakeStatus::completed)));
    expectEqualStores(*a, *b);
  }
  EXPECT_GT(died, 6u);
}

TEST(AgentHost, F3OfThePlanThatStandsNothingIsLeftUndone) {
  whereverADies([](HostRig& a, HostRig& b) {
    ASSERT_TRUE(a.open().ok());
    together(a, b, 80);
  });
}

// The same where a is started without its agent in between: what is left waits for a start that has it.
TEST(AgentHost, F3WhatIsLeftOfAPlanWaitsForItsAgent) {
  whereverADies([](HostRig& a, HostRig& b) {
    a.agents.clear();
    ASSERT_TRUE(a.open().ok());
    together(a, b, 40);
    EXPECT_TRUE(a.host().quiet()) << "nothing that this start could do";
    a.crash();
    a.agents = {&kClerk};
    ASSERT_TRUE(a.open().ok());
    together(a, b, 80);
  });
}

// Nobody has written a state of the agent. One device destroys it while another runs it, at every moment of the run,
// and then they meet.
TEST(AgentHost, AnAgentWithoutStateIsDestroyedAmidARunElsewhere) {
  bool before = false, amid = false, after = false;
  for (int rounds = 0; rounds < 30 && !after && !::testing::Test::HasFailure(); ++rounds) {
    SCOPED_TRACE(rounds);
    auto a = clerkOn("a", "mail"), b = clerkOn("b", "mail");
    ASSERT_TRUE(a->open().ok() && b->open().ok());
    ASSERT_TRUE(a->enter("r1", "request", "1").ok());
    connect(*a, *b);
    meet(*a, *b, false);
    ASSERT_TRUE(b->device().antichain("clerk").empty());
    for (int i = 0; i < rounds; ++i) ASSERT_TRUE(a->round().ok());
    const auto runs = a->runs();
    const bool over = !runs.empty() && isTerminal(runs.begin()->second);
    AgentState state;
    state.lifecycle = Lifecycle::destroyed;
    const Write write{Kind::agentState, "clerk", encodeAgentState(state, b->device().replica().writer()), false};
    ASSERT_TRUE(b->device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
    ASSERT_TRUE(b->settle().ok());
    const std::size_t begun = a->calls.size();
    together(*a, *b, 40);
    expectEqualStores(*a, *b);
    EXPECT_TRUE(b->calls.empty());
    EXPECT_LE(a->calls.size(), begun + 1) << "what was announced already, and no more";
    for (HostRig* rig : {a.get(), b.get()}) {
      EXPECT_EQ(rig->device().view("clerk").lifecycle, Lifecycle::destroyed);
      EXPECT_THAT(rig->effects(DatabaseName::journal), Each(Pair(::testing::_, 1u)));
      ASSERT_THAT(rig->runs(), SizeIs(1));
      EXPECT_TRUE(isTerminal(rig->runs().begin()->second));
    }
    // b, which hosts it too, ended the wake without a run; what a had begun by then ends as that.
    EXPECT_EQ(a->runs().begin()->second, over ? WakeStatus::completed : WakeStatus::skippedDestroyed);
    EXPECT_EQ(a->runs(), b->runs());
    // What is said to it from now on is heard by no run.
    for (HostRig* rig : {a.get(), b.get()}) {
      ASSERT_TRUE(rig->host().userTurn("clerk", "s", "1", "are you there?", rig->now()).ok());
      ASSERT_TRUE(rig->settle(60'000).ok());
    }
    EXPECT_LE(a->calls.size(), begun + 1);
    before = before || runs.empty();
    amid = amid || (begun > 0 && !over);
    after = over;
  }
  EXPECT_TRUE(before && amid && after) << "at every moment of a run";
}

// Who is started without an agent says so: the others wait for it no longer.
TEST(AgentHost, WhatADeviceRunsNoMoreItHostsNoMore) {
  auto a = clerkOn("a", "yes");
  const std::vector<std::string> devices{"a"};
  const auto hosts = [&] { return hostsAmong(a->device().agents(), "clerk", devices); };
  ASSERT_TRUE(a->open().ok());
  EXPECT_EQ(hosts(), devices);
  a->agents.clear();
  ASSERT_TRUE(a->open().ok());
  EXPECT_TRUE(hosts().empty());
  // However often: a device can always be started, and hosts what it runs.
  for (int n = 0; n < 3 * kHostingKeys; ++n) {
    a->agents = {&kClerk};
    ASSERT_TRUE(a->open().ok()) << n;
    EXPECT_EQ(hosts(), devices) << n;
    a->agents.clear();
    ASSERT_TRUE(a->open().ok()) << n;
  }
}

const json::value kNotThere = nullptr;

// Cut off from each other, two devices hear of a finding each, and neither has its portfolio.
TEST(AgentHost, FindingsThatWaitOnSeveralDevicesAreAllTakenIn) {
  bool begun = false;
  const auto make = [&](const char* name) {
    auto rig = std::make_unique<HostRig>(name, std::vector<const Agent*>{domains::findAgent("verified-intake")});
    rig->options.tools = {external("slice.read", episode::ToolKind::look)};
    rig->options.tools[0].targetArgument = "role";
    rig->looker = [&](const ToolCall& call) {
      const std::string key(call.arguments.at("key").as_string());
      if (call.arguments.at("domain") == "verification")
        return episode::Observation{true, json::object{{"triage.component", {{key, "parser"}}}}, "", 0, 0};
      return begun ? episode::Observation{true, json::object{}, "", 0, 0}
                   : episode::Observation{false, kNotThere, "there is no disclosure", 0, 0};
    };
    return rig;
  };
  auto a = make("a"), b = make("b");
  ASSERT_TRUE(a->open().ok() && b->open().ok());
  connect(*a, *b);
  meet(*a, *b, false);
  const auto tell = [&](HostRig& rig, const char* subscription, const LedgerFact& fact) {
    EXPECT_TRUE(rig.host().ledgerFact("verified-intake", subscription, fact, rig.now()).value());
  };
  tell(*a, "verified", {"verification", "proj", "finding.phase", "F1", "VERIFIED"});
  tell(*b, "verified", {"verification", "proj", "finding.phase", "F2", "VERIFIED"});
  ASSERT_TRUE(a->settle().ok() && b->settle().ok());
  ASSERT_TRUE(a->proposals.empty() && b->proposals.empty());
  begun = true;
  for (HostRig* rig : {a.get(), b.get()}) tell(*rig, "begun", {"disclosure", "proj", "", "", ""});
  together(*a, *b, 40);
  std::vector<std::string> taken;
  for (HostRig* rig : {a.get(), b.get()})
    for (const ProposalCall& call : rig->proposals) taken.emplace_back(call.body.at("v").as_string());
  EXPECT_THAT(taken, ::testing::UnorderedElementsAre("proj/F1", "proj/F2"));
}

// b and c have both done what a's plan does not want. b and a have long seen to that when c comes back: nobody is at
// rest before what c did is undone too.
TEST(AgentHost, F3WhatArrivesLongAfterItWasUndoneIsUndoneToo) {
  auto a = clerkOn("a", "yes"), b = clerkOn("b", "no"), c = clerkOn("c", "no");
  for (HostRig* one : {a.get(), b.get(), c.get()}) ASSERT_TRUE(one->open().ok());
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  connect(*a, *b), connect(*a, *c);
  meet(*a, *b, false), meet(*a, *c, false);
  for (HostRig* one : {a.get(), b.get(), c.get()}) ASSERT_TRUE(one->settle().ok());
  meet(*a, *b, true);
  const auto allTogether = [&](const std::vector<HostRig*>& rigs) {
    for (int i = 0; i < 120; ++i) {
      for (HostRig* one : rigs) ASSERT_TRUE(one->round().ok());
      for (HostRig* one : rigs)
        if (one != rigs.front()) connect(*rigs.front(), *one);
      for (HostRig* one : rigs) one->ms += 500;
    }
  };
  allTogether({a.get(), b.get()});
  ASSERT_EQ(a->shown("done/r1"), "\"yes\"");
  ASSERT_TRUE(a->host().quiet() && b->host().quiet());
  connect(*a, *c);
  EXPECT_FALSE(a->host().quiet());
  allTogether({a.get(), b.get(), c.get()});
  for (HostRig* one : {a.get(), b.get(), c.get()}) {
    EXPECT_EQ(one->shown("done/r1"), "\"yes\"");
    EXPECT_TRUE(one->host().quiet());
    EXPECT_FALSE((*journalViewIn(one->device().journal(), "done/r1")).inConflict());
    // yes, no, and two compensations of no.
    EXPECT_THAT(one->effects(DatabaseName::journal), SizeIs(4));
  }
}

// A device loses its disk, begins a run anew, and hears from a peer what it had done before.
TEST(AgentHost, ATranscriptOfAnEarlierLifeThatComesBackIsGoneOnWith) {
  auto a = clerkOn("a", "mail"), b = std::make_unique<HostRig>("b", std::vector<const Agent*>{});
  std::set<OperationId> sent;
  a->tool = [&](const ToolCall& call) -> Result<saga::Outcome> {
    sent.insert(*call.operation);
    return Error{ErrorCode::unavailable, "no mail yet", ""};
  };
  ASSERT_TRUE(a->open().ok());
  ASSERT_TRUE(b->open().ok());
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(a->round().ok());
  ASSERT_EQ(a->shown("done/r1"), "\"mail\"");
  connect(*a, *b);
  a->wipe();
  a->tool = [&](const ToolCall& call) -> Result<saga::Outcome> {
    sent.insert(*call.operation);
    return saga::Outcome{};
  };
  ASSERT_TRUE(a->open().ok());
  // The journal comes first, and the run begins again; then everything else.
  ASSERT_TRUE(a->enter("r2", "request", "1").ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(a->round().ok());
  for (int i = 0; i < 30; ++i) {
    connect(*a, *b);
    ASSERT_TRUE(a->round().ok());
    a->ms += 5'000;
  }
  ASSERT_TRUE(a->settle().ok());
  EXPECT_TRUE(a->host().quiet());
  EXPECT_THAT(a->runs(), Each(Pair(::testing::_, WakeStatus::completed)));
  EXPECT_EQ(a->shown("done/r1"), "\"mail\"");
  EXPECT_THAT(sent, SizeIs(2));  // one for each request
}

TEST(AgentHost, OfTwoConnectedDevicesOneRunsAWake) {
  auto a = clerkOn("a", "yes"), b = clerkOn("b", "no");
  ASSERT_TRUE(a->open().ok());
  ASSERT_TRUE(b->open().ok());
  connect(*a, *b);
  meet(*a, *b, true);
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(a->round().ok());
    ASSERT_TRUE(b->round().ok());
    connect(*a, *b);
  }
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(a->settle().ok());
    ASSERT_TRUE(b->settle().ok());
    connect(*a, *b);
  }
  EXPECT_EQ(a->host().counters().started + b->host().counters().started, 1u);
  EXPECT_THAT(a->runs(), Each(Pair(::testing::_, WakeStatus::completed)));
  EXPECT_EQ(a->effects(DatabaseName::journal).size(), 1u);
}

// A commit has room for 4,096 writes, and for fewer bytes than these have.
TEST(AgentHost, ADeviceHostsMoreAgentsThanACommitHasRoomFor) {
  class Idle final : public Agent {
   public:
    explicit Idle(std::size_t number) {
      spec_.id = concat("idle-", number), spec_.version = "1", spec_.what = "does nothing", spec_.category = "office";
      spec_.subscriptions = {onEntries("request")};
    }
    const AgentSpec& spec() const override { return spec_; }
    Turn step(const json::value&, const Input&) const override { return {nullptr, {}, Finish{}}; }

   private:
    AgentSpec spec_;
  };
  std::vector<std::unique_ptr<Idle>> idle;
  std::vector<const Agent*> all;
  for (std::size_t i = 0; i < replication::kMaxCommitWrites + 4; ++i)
    all.push_back(idle.emplace_back(std::make_unique<Idle>(i)).get());
  HostRig rig("a", all);
  const Status opened = rig.open();
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(hostsAmong(rig.device().agents(), "idle-4099", std::vector<std::string>{"a", "b"}),
            std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace witan::agents::host_devices_test
