// Agents at work on one device, with crashes at every write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/episode/replay.h"
#include "domains/agents.h"
#include "replication/records/agent_state.h"
#include "replication/records/record_views.h"
#include "tests/agents/clerk.h"

namespace witan::agents::host_test {
namespace {

using test::clerkOn;
using test::external;
using test::HostRig;
using test::kClerk;
using namespace replication;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(AgentHost, AnEntryWakesAnAgentWhichActsOnce) {
  auto rig = clerkOn("a", "yes");
  ASSERT_TRUE(rig->open().ok());
  ASSERT_TRUE(rig->enter("r1", "request", "\"please\"").ok());
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_EQ(rig->shown("done/r1"), "\"yes\"");
  EXPECT_THAT(rig->effects(DatabaseName::journal), SizeIs(1));
  EXPECT_THAT(rig->effects(DatabaseName::agents), Each(Pair(::testing::_, 1u)));
  EXPECT_THAT(rig->runs(), SizeIs(1));
  EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::completed)));
  // The same again is another commit, hence another wake, hence another run.
  ASSERT_TRUE(rig->enter("r1", "request", "\"again\"").ok());
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_THAT(rig->runs(), SizeIs(2));
}

TEST(AgentHost, ProposalsCarryTheRunAndItsPlan) {
  HostRig rig("a", {domains::findAgent("udt-lab")});
  ASSERT_TRUE(rig.open().ok());
  ASSERT_TRUE(
      rig.enter(
             "o", "udt.order",
             R"({"patient":"David","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23","rationale":"plan"})")
          .ok());
  ASSERT_TRUE(rig.settle().ok());
  ASSERT_THAT(rig.proposals, SizeIs(2));
  EXPECT_EQ(rig.proposals[0].body.at("type"), "DocumentRationale");  // in the order of the plan
  EXPECT_EQ(rig.proposals[1].body.at("type"), "OrderTest");
  EXPECT_EQ(rig.proposals[0].plan, rig.proposals[1].plan);
  EXPECT_EQ(rig.proposals[0].run, rig.proposals[1].run);
  EXPECT_NE(rig.proposals[0].operation, rig.proposals[1].operation);
}

// An order without its rationale is none: what builds on an action that failed is not tried.
TEST(AgentHost, APlanStopsOnATargetWhereAnActionFailed) {
  const auto order = [](const char* patient) {
    return R"({"patient":")" + std::string(patient) +
           R"(","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23","rationale":"plan"})";
  };
  HostRig rig("a", {domains::findAgent("udt-lab")});
  rig.metaAgent = [](const ProposalCall& call) {
    return call.entity == "David" ? saga::Outcome{OperationOutcome::failed, R"({"outcome":"rejected"})"}
                                  : saga::Outcome{};
  };
  ASSERT_TRUE(rig.open().ok());
  ASSERT_TRUE(rig.enter("o", "udt.order", order("David")).ok());
  ASSERT_TRUE(rig.settle().ok());
  ASSERT_THAT(rig.proposals, SizeIs(1));
  EXPECT_EQ(rig.proposals[0].body.at("type"), "DocumentRationale");
  const auto runs = rig.runs();
  ASSERT_THAT(runs, SizeIs(1));
  // The transcript says why, and comes to the same when it is read again.
  const auto rows = episode::readTranscript(rig.device().agents(), *RunKey::parse(runs.begin()->first), "a");
  std::vector<std::string> contents;
  for (const auto& row : *rows) contents.push_back(row.message.content);
  EXPECT_THAT(contents, ::testing::Contains(HasSubstr("after_failure")));
  const auto replayed = episode::replay(*domains::findAgent("udt-lab"), contents);
  ASSERT_TRUE(replayed.ok());
  EXPECT_FALSE(replayed->difference) << replayed->difference->why;
  EXPECT_TRUE(replayed->ended);
  // Another target is another matter.
  ASSERT_TRUE(rig.enter("p", "udt.order", order("Eva")).ok());
  ASSERT_TRUE(rig.settle().ok());
  EXPECT_THAT(rig.proposals, SizeIs(3));
}

TEST(AgentHost, WhatIsSaidToAPausedAgentIsNotSkippedWithoutAWord) {
  auto rig = clerkOn("a", "yes");
  ASSERT_TRUE(rig->open().ok());
  AgentState state;
  state.lifecycle = Lifecycle::dormant;
  const Write pause{Kind::agentState, "clerk", encodeAgentState(state, rig->device().replica().writer()), false};
  ASSERT_TRUE(rig->device().replica().commit(DatabaseName::agents, "main", {&pause, 1}).ok());
  ASSERT_TRUE(rig->host().userTurn("clerk", "s", "1", "hello", rig->now()).ok());
  ASSERT_TRUE(rig->settle().ok());
  ASSERT_THAT(rig->notices, SizeIs(1));
  EXPECT_EQ(rig->notices[0].kind, "unheard");
  EXPECT_THAT(rig->notices[0].what, HasSubstr("clerk does not hear what was said: the agent is dormant"));
}

// Theorem 2 of seed 003, 6.2: "crash/retry replay cannot create a second logical mutation for the same action". At
// every write of both databases, before it and after it, with and without the tail that was not synced.
TEST(AgentHost, Theorem2NoSecondMutationWhereverItDies) {
  std::uint64_t steps[2] = {};
  {
    auto calm = clerkOn("a", "mail");
    ASSERT_TRUE(calm->open().ok());
    steps[0] = calm->device().journalStore().writeSteps();
    steps[1] = calm->device().agentStore().writeSteps();
    ASSERT_TRUE(calm->enter("r1", "request", "1").ok());
    ASSERT_TRUE(calm->settle().ok());
    steps[0] = calm->device().journalStore().writeSteps() - steps[0];
    steps[1] = calm->device().agentStore().writeSteps() - steps[1];
    ASSERT_EQ(calm->calls.size(), 2u);
  }
  ASSERT_GT(steps[0], 2u);
  ASSERT_GT(steps[1], 6u);
  for (const int which : {0, 1})
    for (std::uint64_t n = 0; n < steps[which]; ++n)
      for (const store::Moment moment : {store::Moment::before, store::Moment::after})
        for (const std::size_t keep : {std::size_t{0}, SIZE_MAX}) {
          SCOPED_TRACE((which == 0 ? "journal " : "agents ") + std::to_string(n) +
                       (moment == store::Moment::before ? " before" : " after") + (keep == 0 ? "" : " kept"));
          auto rig = clerkOn("a", "mail");
          std::set<OperationId> sent;
          rig->tool = [&](const ToolCall& call) {
            sent.insert(*call.operation);
            return saga::Outcome{};
          };
          ASSERT_TRUE(rig->open().ok());
          auto& store = which == 0 ? rig->device().journalStore() : rig->device().agentStore();
          store.crashAt(n, moment);
          Status entered = rig->enter("r1", "request", "1");
          Status status = entered.ok() ? rig->settle() : entered;
          ASSERT_FALSE(status.ok());
          rig->crash(keep);
          ASSERT_TRUE(rig->open().ok());
          if (rig->shown("r1").empty()) {  // it was never acknowledged
            ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
          }
          ASSERT_TRUE(rig->settle().ok());
          EXPECT_EQ(rig->shown("done/r1"), "\"mail\"");
          EXPECT_THAT(rig->effects(DatabaseName::journal), SizeIs(1));
          EXPECT_THAT(rig->effects(DatabaseName::journal), Each(Pair(::testing::_, 1u)));
          EXPECT_THAT(rig->effects(DatabaseName::agents), SizeIs(2));
          EXPECT_THAT(rig->effects(DatabaseName::agents), Each(Pair(::testing::_, 1u)));
          EXPECT_THAT(sent, SizeIs(1));
          EXPECT_THAT(rig->runs(), SizeIs(1));
          EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::completed)));
          EXPECT_TRUE(rig->host().quiet());
        }
}

// The verdict require-human (seed 004), and docs/FINDINGS.md, F17.
class AskingGate final : public episode::Gate {
 public:
  episode::GateVerdict judge(const episode::GateRequest& request) const override {
    if (all ? request.tool->kind == episode::ToolKind::look : request.tool->name != "mail.send")
      return {episode::GateKind::allow, "", "", std::nullopt, std::nullopt};
    const Hash digest = sha256(canonicalJson(*request.arguments));
    if (request.approved != nullptr && *request.approved == digest)
      return {episode::GateKind::allow, "", "", std::nullopt, std::nullopt};
    return {episode::GateKind::requireHuman, "", "mail needs a person", std::nullopt, digest};
  }
  std::string epoch() const override { return "asking"; }
  bool all = false;  // actions, and not mails only
};

// A request is there, and its run has come as far as it does without a person.
void openWithRequest(HostRig& rig, const AskingGate& gate) {
  rig.gate = &gate;
  ASSERT_TRUE(rig.open().ok());
  ASSERT_TRUE(rig.enter("r1", "request", "1").ok());
  ASSERT_TRUE(rig.settle(60'000).ok());
}

struct Asked {
  OperationId operation;
  ApprovalView view;
};
std::optional<Asked> asked(HostRig& rig) {
  const auto keys = rig.device().agents().keys(Kind::approval);
  if (keys.size() != 1) return std::nullopt;
  const OperationId operation = *OperationId::parse(keys[0]);
  return Asked{operation, approvalViewOf(operation, *rig.device().agents().versions(Kind::approval, keys[0]))};
}
Status answerWith(HostRig& rig, ApprovalVerdict verdict) {
  const auto question = asked(rig);
  if (!question) return Error{ErrorCode::notFound, "nothing is asked", ""};
  WITAN_TRY(body, answerTo(question->view, question->view.shown->body.digest, verdict, "ann", "", rig.ms));
  const Write write{Kind::approval, question->operation.hex(), *encodeRecord(body), false};
  WITAN_DO(rig.device().replica().commit(DatabaseName::agents, "main", {&write, 1}));
  return okStatus();
}

TEST(AgentHost, WhatNeedsAPersonWaitsForOne) {
  const AskingGate gate;
  for (const bool approve : {true, false}) {
    auto rig = clerkOn("a", "mail");
    ASSERT_NO_FATAL_FAILURE(openWithRequest(*rig, gate));
    EXPECT_FALSE(rig->host().quiet());
    ASSERT_TRUE(asked(*rig));
    const auto mails = [&] {
      return std::count_if(rig->calls.begin(), rig->calls.end(),
                           [](const ToolCall& c) { return c.tool == "mail.send"; });
    };
    EXPECT_EQ(mails(), 0);
    ASSERT_TRUE(answerWith(*rig, approve ? ApprovalVerdict::approved : ApprovalVerdict::denied).ok());
    ASSERT_TRUE(rig->settle().ok());
    EXPECT_EQ(mails(), approve ? 1 : 0);
    EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::completed)));
  }
}

// What waits for a person goes no further with an agent that is not there any more, nor while it is paused.
TEST(AgentHost, AnApprovalMovesNoAgentThatIsDestroyedOrPaused) {
  const AskingGate gate;
  for (const Lifecycle lifecycle : {Lifecycle::destroyed, Lifecycle::dormant}) {
    auto rig = clerkOn("a", "mail");
    ASSERT_NO_FATAL_FAILURE(openWithRequest(*rig, gate));
    const auto become = [&](Lifecycle next) {
      AgentState state;
      state.lifecycle = next;
      const Write write{Kind::agentState, "clerk", encodeAgentState(state, rig->device().replica().writer()), false};
      ASSERT_TRUE(rig->device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
    };
    become(lifecycle);
    ASSERT_TRUE(answerWith(*rig, ApprovalVerdict::approved).ok());
    ASSERT_TRUE(rig->settle(60'000).ok());
    const auto mails = [&] { return std::ranges::count(rig->calls, "mail.send", &ToolCall::tool); };
    EXPECT_EQ(mails(), 0);
    if (lifecycle == Lifecycle::destroyed) continue;
    become(Lifecycle::active);
    ASSERT_TRUE(rig->settle(60'000).ok());
    EXPECT_EQ(mails(), 1) << "it goes on when it is resumed";
  }
}

// Nobody is asked any more for an agent that is not there, and its run ends.
TEST(AgentHost, WhatADestroyedAgentAskedIsDenied) {
  const AskingGate gate;
  auto rig = clerkOn("a", "mail");
  ASSERT_NO_FATAL_FAILURE(openWithRequest(*rig, gate));
  ASSERT_TRUE(asked(*rig));
  AgentState state;
  state.lifecycle = Lifecycle::destroyed;
  const Write write{Kind::agentState, "clerk", encodeAgentState(state, rig->device().replica().writer()), false};
  ASSERT_TRUE(rig->device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
  ASSERT_TRUE(rig->settle(60'000).ok());
  EXPECT_TRUE(rig->host().quiet());
  EXPECT_EQ(std::ranges::count(rig->calls, "mail.send", &ToolCall::tool), 0);
  const auto keys = rig->device().agents().keys(Kind::approval);
  ASSERT_THAT(keys, testing::SizeIs(1));
  const ApprovalView view =
      approvalViewOf(*OperationId::parse(keys[0]), *rig->device().agents().versions(Kind::approval, keys[0]));
  ASSERT_TRUE(view.shown);
  EXPECT_EQ(view.shown->body.verdict, ApprovalVerdict::denied);
  EXPECT_EQ(view.shown->body.by, kNobodyAnswered);
  EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::failedTerminal)));
}

// Until nothing is left that needs no time.
void workOn(HostRig& rig) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(rig.round().ok());
}

TEST(AgentHost, WaitingForAPersonIsNoFailureHoweverOftenTheProcessEnds) {
  const AskingGate gate;
  auto rig = clerkOn("a", "mail");
  rig->gate = &gate;
  ASSERT_TRUE(rig->open().ok());
  ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
  for (int i = 0; i < 20; ++i) {
    workOn(*rig);
    ASSERT_TRUE(asked(*rig));
    rig->crash();
    ASSERT_TRUE(rig->open().ok());
  }
  workOn(*rig);
  EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::started)));
  ASSERT_TRUE(answerWith(*rig, ApprovalVerdict::approved).ok());
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::completed)));
}

// What goes on after the answer and takes the process down each time is given up as any other.
TEST(AgentHost, WorkThatCrashesAfterAPersonsAnswerIsGivenUp) {
  const AskingGate gate;
  auto rig = clerkOn("a", "mail");
  rig->gate = &gate;
  ASSERT_TRUE(rig->open().ok());
  ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
  workOn(*rig);
  rig->mute = true;
  ASSERT_TRUE(answerWith(*rig, ApprovalVerdict::approved).ok());
  int starts = 0;
  for (; starts < 20; ++starts) {
    workOn(*rig);
    if (rig->runs().begin()->second != WakeStatus::started) break;
    rig->crash();
    ASSERT_TRUE(rig->open().ok());
  }
  EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::failedTerminal)));
  EXPECT_EQ(starts, static_cast<int>(rig->options.wake.attempts));
}

TEST(AgentHost, WorkThatCrashesWhileItLooksIsGivenUp) {
  auto rig = clerkOn("a", "mail");
  rig->mute = true;
  ASSERT_TRUE(rig->open().ok());
  ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
  int starts = 0;
  for (; starts < 20; ++starts) {
    workOn(*rig);
    if (rig->runs().begin()->second != WakeStatus::started) break;
    rig->crash();
    ASSERT_TRUE(rig->open().ok());
  }
  EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::failedTerminal)));
  EXPECT_EQ(starts, static_cast<int>(rig->options.wake.attempts));
}

TEST(AgentHost, AnOrderlyStopIsNoFailure) {
  auto rig = clerkOn("a", "yes");
  rig->mute = true;
  ASSERT_TRUE(rig->open().ok());
  ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
  for (int i = 0; i < 20; ++i) {
    workOn(*rig);
    rig->host().stopping();
    ASSERT_TRUE(rig->device().replica().flush().ok());
    rig->crash();
    ASSERT_TRUE(rig->open().ok());
  }
  rig->mute = false;
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::completed)));
}

// --- order

// Proposes whatever is entered.
class Asker final : public EntryAgent {
 public:
  explicit Asker(std::string id) {
    spec_.id = std::move(id);
    spec_.version = "1";
    spec_.subscriptions = {onEntries("request")};
    spec_.capabilities = {{"journal.read"}, {"propose"}};
  }
  const AgentSpec& spec() const override { return spec_; }

 protected:
  bool concerns(const Entry&) const override { return true; }
  Result<Actions> plan(const Entry&, const Entries&) const override {
    return Actions{proposal("budget", "team", "Spender", {{"type", "Spend"}})};
  }

 private:
  AgentSpec spec_;
};

// Run keys derive from the id of the device that wrote the entry: they order nothing that others see.
TEST(AgentHost, RunsGoOnAsTheyArrivedWhateverTheDeviceIsCalled) {
  const Asker first("a-first"), second("b-second"), third("c-third");
  for (int i = 0; i < 12; ++i) {
    HostRig rig("device-" + std::to_string(i), {&first, &second, &third});
    ASSERT_TRUE(rig.open().ok());
    ASSERT_TRUE(rig.enter("r1", "request", "{}").ok());
    ASSERT_TRUE(rig.settle().ok());
    std::vector<std::string> order;
    for (const ProposalCall& call : rig.proposals) order.push_back(call.agentId);
    EXPECT_THAT(order, ::testing::ElementsAre("a-first", "b-second", "c-third")) << i;
  }
}

TEST(EntryAgents, WhatWaitsForAPersonHasNotFailed) {
  const auto told = [](std::string_view results) { return reportOf(parseJson(results)->get_array(), {}); };
  const Finish waits =
      told(R"([{"tool":"propose","outcome":"failed","result":{"error":"a counselor decides first","waiting":true}}])");
  EXPECT_FALSE(waits.failed);
  EXPECT_THAT(waits.answer, HasSubstr("a counselor decides first"));
  EXPECT_TRUE(told(R"([{"tool":"propose","outcome":"failed","result":{"outcome":"rejected"}}])").failed);
  EXPECT_FALSE(told(R"([{"tool":"propose","outcome":"applied"}])").failed);
}

// --- denials

class Allowing final : public episode::Gate {
 public:
  explicit Allowing(std::set<std::string> tools) : tools_(std::move(tools)) {}
  episode::GateVerdict judge(const episode::GateRequest& request) const override {
    if (tools_.contains(request.tool->name)) return {episode::GateKind::allow, "", "", std::nullopt, std::nullopt};
    return {episode::GateKind::deny, "out_of_scope", "", std::nullopt, std::nullopt};
  }
  std::string epoch() const override { return "some"; }

 private:
  const std::set<std::string> tools_;
};

// How the only run ended.
WakeRunBody endOf(HostRig& rig) {
  const std::string key = rig.runs().begin()->first;
  return wakeRunViewOf(*RunKey::parse(key), *rig.device().agents().versions(Kind::wakeRun, key)).run->body;
}

// Answers that nothing is wrong, whatever it was told.
class Blithe final : public Agent {
 public:
  const AgentSpec& spec() const override { return kClerk.spec(); }
  Turn step(const json::value& sigma, const Input& input) const override {
    if (input.kind != InputKind::observation || input.content.at(0).at("ok").as_bool())
      return kClerk.step(sigma, input);
    return {nullptr, {}, Finish{"all is well", {}, {}, {}, false}};
  }
};

TEST(AgentHost, ARunThatWasDeniedAllItsActionsHasFailed) {
  const Allowing gate({"model.ask"});
  auto rig = clerkOn("a", "mail");
  rig->gate = &gate;
  ASSERT_TRUE(rig->open().ok());
  ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_EQ(endOf(*rig).status, WakeStatus::failedTerminal);
  EXPECT_EQ(endOf(*rig).cause, "all its 2 actions were denied (journal.put: out_of_scope)");
  EXPECT_EQ(rig->host().counters().failed, 1u);
}

TEST(AgentHost, ARunThatWasDeniedSomeActionsSaysSo) {
  const Allowing gate({"model.ask", "journal.put"});
  auto rig = clerkOn("a", "mail");
  rig->gate = &gate;
  ASSERT_TRUE(rig->open().ok());
  ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_EQ(endOf(*rig).status, WakeStatus::completed);
  EXPECT_EQ(endOf(*rig).cause, "1 of 2 actions were denied (mail.send: out_of_scope)");
  EXPECT_EQ(rig->host().counters().failed, 0u);
}

TEST(AgentHost, ARunThatCouldLookAtNothingHasFailedWhateverItsAgentSays) {
  static const Blithe kBlithe;
  const Allowing gate({});
  HostRig rig("a", {&kBlithe});
  rig.options.tools = {external("model.ask", episode::ToolKind::look)};
  rig.gate = &gate;
  ASSERT_TRUE(rig.open().ok());
  ASSERT_TRUE(rig.enter("r1", "request", "1").ok());
  ASSERT_TRUE(rig.settle().ok());
  EXPECT_EQ(endOf(rig).status, WakeStatus::failedTerminal);
  EXPECT_EQ(endOf(rig).cause, "its only look was denied (model.ask: out_of_scope)");
}

TEST(AgentHost, ARunWhoseOnlyActionAPersonDeniedHasFailed) {
  AskingGate gate;
  gate.all = true;
  auto rig = clerkOn("a", "yes");
  rig->gate = &gate;
  ASSERT_TRUE(rig->open().ok());
  ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
  workOn(*rig);
  ASSERT_TRUE(answerWith(*rig, ApprovalVerdict::denied).ok());
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_EQ(endOf(*rig).status, WakeStatus::failedTerminal);
  EXPECT_EQ(endOf(*rig).cause, "its only action was denied (journal.put: denied_by_person)");
}

TEST(AgentHost, AQuestionThatNobodyAnswersIsDeniedInTheEnd) {
  const AskingGate gate;
  auto rig = clerkOn("a", "mail");
  ASSERT_NO_FATAL_FAILURE(openWithRequest(*rig, gate));
  rig->ms += rig->options.approvalTtlMs;
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_TRUE(rig->host().quiet());
  EXPECT_EQ(asked(*rig)->view.shown->body.by, "system");
}

// Its only action waits for a person.
std::unique_ptr<HostRig> clerkWhoWaits() {
  static const AskingGate gate = [] {
    AskingGate all;
    all.all = true;
    return all;
  }();
  auto rig = clerkOn("a", "yes");
  rig->gate = &gate;
  EXPECT_TRUE(rig->open().ok());
  EXPECT_TRUE(rig->enter("r1", "request", "1").ok());
  EXPECT_TRUE(rig->settle(60'000).ok());
  return rig;
}

// Written while the agent's device was off, or by a device with another program.
TEST(AgentHost, AnApprovalAfterTheQuestionsEndDoesNotCount) {
  const auto rig = clerkWhoWaits();
  const auto question = asked(*rig);
  ApprovalBody late = question->view.shown->body;
  late.verdict = ApprovalVerdict::approved, late.by = "late", late.atMs = late.untilMs;
  EXPECT_EQ(answerTo(question->view, late.digest, late.verdict, late.by, "", late.atMs).error().code,
            ErrorCode::conflict);
  EXPECT_TRUE(answerTo(question->view, late.digest, late.verdict, late.by, "", late.atMs - 1).ok());
  const Write write{Kind::approval, question->operation.hex(), *encodeRecord(late), false};
  ASSERT_TRUE(rig->device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
  rig->ms += rig->options.approvalTtlMs;
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_EQ(endOf(*rig).status, WakeStatus::failedTerminal);
  EXPECT_EQ(endOf(*rig).cause, "its only action was denied (journal.put: approval_expired)");
}

TEST(AgentHost, ARunWhoseOnlyQuestionNobodyAnsweredSaysSo) {
  const auto rig = clerkWhoWaits();
  rig->ms += rig->options.approvalTtlMs;
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_EQ(endOf(*rig).status, WakeStatus::failedTerminal);
  EXPECT_EQ(endOf(*rig).cause, "its only action was denied (journal.put: approval_expired)");
}

// A poison operation ends as needsAttention, never in an endless retry, and holds up neither its run nor others.
TEST(AgentHost, APoisonToolDoesNotHoldUpTheRest) {
  auto rig = clerkOn("a", "mail");
  rig->tool = [](const ToolCall&) -> Result<saga::Outcome> {
    return Error{ErrorCode::unavailable, "no mail today", ""};
  };
  ASSERT_TRUE(rig->open().ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(rig->enter("r" + std::to_string(i), "request", "1").ok());
  ASSERT_TRUE(rig->settle(24 * 3'600'000).ok());
  EXPECT_THAT(rig->runs(), SizeIs(5));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(rig->shown("done/r" + std::to_string(i)), "\"mail\"");
  EXPECT_EQ(std::count_if(rig->notices.begin(), rig->notices.end(),
                          [](const HostNotice& n) { return n.kind == "needsAttention"; }),
            5);
}

// --- tools that do not honour an operation id

std::unique_ptr<HostRig> onceClerk(std::size_t& sent) {
  auto rig = clerkOn("a", "mail");
  rig->options.onceTools = {"mail.send"};
  rig->tool = [&sent](const ToolCall&) {
    ++sent;
    return saga::Outcome{};
  };
  return rig;
}

bool isUncertain(const HostRig& rig) {
  return std::any_of(rig.notices.begin(), rig.notices.end(), [](const HostNotice& n) {
    return n.kind == "needsAttention" && n.what.find("uncertain: ") != n.what.npos;
  });
}

// The power goes at each write of the agents' database. The mail goes out once at most, and if nobody can know, a
// person is told so.
TEST(AgentHost, AToolThatWouldActAgainIsCalledOnceAtMost) {
  std::uint64_t steps = 1;
  std::size_t certain = 0, uncertain = 0;
  for (std::uint64_t n = 0; n < steps; ++n)
    for (const store::Moment moment : {store::Moment::before, store::Moment::after}) {
      SCOPED_TRACE(n);
      std::size_t sent = 0;
      auto rig = onceClerk(sent);
      ASSERT_TRUE(rig->open().ok());
      auto& store = rig->device().agentStore();
      const std::uint64_t before = store.writeSteps();
      if (steps > 1) store.crashAt(n, moment);
      const Status entered = rig->enter("r1", "request", "1");
      const Status status = entered.ok() ? rig->settle() : entered;
      if (steps == 1) {
        ASSERT_TRUE(status.ok());
        steps = store.writeSteps() - before;
        continue;
      }
      ASSERT_FALSE(status.ok());
      rig->crash(SIZE_MAX);
      ASSERT_TRUE(rig->open().ok());
      if (rig->shown("r1").empty()) {
        ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
      }
      ASSERT_TRUE(rig->settle().ok());
      EXPECT_LE(sent, 1u);
      EXPECT_TRUE(sent == 1 || isUncertain(*rig));
      ++(isUncertain(*rig) ? uncertain : certain);
    }
  EXPECT_GT(certain, 4u);
  EXPECT_GT(uncertain, 1u);
}

TEST(AgentHost, APersonMayHaveACallOfUncertainOutcomeMadeAgain) {
  std::size_t sent = 0;
  auto rig = onceClerk(sent);
  rig->mute = true;
  rig->options.callTimeoutMs = 1'000;
  rig->looker = nullptr;
  ASSERT_TRUE(rig->open().ok());
  ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
  ASSERT_TRUE(rig->round().ok());
  const auto observeLook = [&] {
    for (const ToolCall& call : rig->calls)
      if (!call.operation) (void)rig->host().observed(call.run, call.span, {true, json::value("mail"), "", 0, 0});
  };
  for (int i = 0; i < 12; ++i) {
    observeLook();
    ASSERT_TRUE(rig->round().ok());
  }
  ASSERT_EQ(std::count_if(rig->calls.begin(), rig->calls.end(), [](const auto& c) { return c.operation.has_value(); }),
            1);
  EXPECT_EQ(rig->host().counters().calls, 1u);
  rig->ms += 2'000;  // no answer: it may have acted
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(rig->round().ok());
  EXPECT_TRUE(isUncertain(*rig));
  rig->mute = false;
  ASSERT_TRUE(rig->host().sagas().retry(*rig->calls.back().operation, rig->now()).ok());
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_EQ(sent, 1u);
}

TEST(AgentHost, AToolThatNeverAnswersHoldsUpNothingForEver) {
  auto rig = clerkOn("a", "mail");
  rig->mute = true;
  ASSERT_TRUE(rig->open().ok());
  ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::failedTerminal)));  // the model is silent
  EXPECT_EQ(rig->device().view("clerk").consecutiveFailureCount, 1u);
  EXPECT_TRUE(rig->host().quiet());
  rig->mute = false;
  ASSERT_TRUE(rig->enter("r2", "request", "1").ok());
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_EQ(rig->shown("done/r2"), "\"mail\"");
  const auto next = rig->host().nextMs(rig->now());
  EXPECT_FALSE(next && *next <= rig->ms + rig->options.callTimeoutMs) << "nothing waits for a tool any more";
}

// Answers with what it remembers.
class Parrot final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{.id = "parrot",
                                 .version = "1",
                                 .what = "repeats",
                                 .category = "office",
                                 .subscriptions = {onEntries("seed")},
                                 .remembers = true};
    return kSpec;
  }
  Turn step(const json::value&, const Input& input) const override {
    std::string said;
    for (const json::value& message : input.content.at("memory").at("messages").as_array())
      said += std::string(message.at("content").as_string()) + "|";
    return {nullptr, {}, Finish{said + std::string(input.content.at("user").as_string()), {}, {}, {}, false}};
  }
};

TEST(AgentHost, AnAgentIsGivenItsMemory) {
  static const Parrot parrot;
  HostRig rig("a", {&parrot});
  ASSERT_TRUE(rig.open().ok());
  ASSERT_TRUE(rig.host().userTurn("parrot", "s", "1", "hello", rig.now()).ok());
  ASSERT_TRUE(rig.settle().ok());
  ASSERT_TRUE(rig.host().userTurn("parrot", "s", "2", "again", rig.now()).ok());
  ASSERT_TRUE(rig.settle().ok());
  std::vector<std::string> said;
  std::size_t beginnings = 0;
  for (const std::string& key : rig.device().agents().keys(Kind::message)) {
    const auto body = *decodeRecord<MessageBody>(rig.device().agents().versions(Kind::message, key)->front().body);
    if (key.ends_with("/answer")) said.push_back(body.content);
    beginnings += key.ends_with("/said") && body.parents.empty() ? 1 : 0;
  }
  EXPECT_THAT(said, ::testing::UnorderedElementsAre("hello", "hello|hello|again"));
  EXPECT_EQ(beginnings, 1u);  // the second turn follows the first answer
  // The same turn again is no other wake.
  ASSERT_TRUE(rig.host().userTurn("parrot", "s", "2", "again", rig.now()).ok());
  ASSERT_TRUE(rig.settle().ok());
  EXPECT_THAT(rig.runs(), SizeIs(2));
}

TEST(AgentHost, AnUnknownToolIsDeniedAndTold) {
  auto rig = clerkOn("a", "mail");
  rig->options.tools = {external("model.ask", episode::ToolKind::look)};
  ASSERT_TRUE(rig->open().ok());
  ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
  ASSERT_TRUE(rig->settle().ok());
  EXPECT_EQ(rig->shown("done/r1"), "\"mail\"");
  EXPECT_THAT(rig->runs(), Each(Pair(::testing::_, WakeStatus::completed)));
}

}  // namespace
}  // namespace witan::agents::host_test
