// Bad input of agents at work: destroyed amid a run, a policy that denies what was planned, slots and threads at their
// limits. Each has an outcome that is said, and nothing is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/episode/sparing.h"
#include "tests/agents/clerk.h"

namespace witan::agents::bad_input_test {
namespace {

using namespace test;
using namespace replication;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Whenever it is destroyed: what it has begun comes to its end, nothing more begins, and its run says that it failed,
// but for one that was at its last action.
TEST(AgentHostInput, ARunWhoseAgentIsDestroyedEnds) {
  bool before = false, amid = false, after = false;
  for (int rounds = 0; rounds < 30 && !after; ++rounds) {
    auto rig = clerkOn("a", "mail");
    ASSERT_TRUE(rig->open().ok());
    ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
    for (int i = 0; i < rounds; ++i) ASSERT_TRUE(rig->round().ok());
    const std::size_t begun = rig->calls.size();
    AgentState state;
    state.lifecycle = Lifecycle::destroyed;
    const Write write{Kind::agentState, "clerk", encodeAgentState(state, rig->device().replica().writer()), false};
    ASSERT_TRUE(rig->device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
    const auto runs = rig->runs();
    const bool over = !runs.empty() && isTerminal(runs.begin()->second);
    ASSERT_TRUE(rig->settle().ok());
    EXPECT_TRUE(rig->host().quiet());
    const auto ends = rig->runs();
    ASSERT_EQ(ends.size(), 1u);
    const WakeStatus end = ends.begin()->second;
    if (over) {
      EXPECT_EQ(end, WakeStatus::completed);
    }
    if (end == WakeStatus::completed) {  // it was at its last action
      EXPECT_EQ(std::ranges::count(rig->calls, "mail.send", &ToolCall::tool), 1) << rounds;
      EXPECT_THAT(rig->effects(DatabaseName::journal), SizeIs(1)) << rounds;
    }
    EXPECT_LE(rig->calls.size(), begun + 1) << "what was announced already, and no more";
    for (const auto& [operation, records] : rig->effects(DatabaseName::journal)) EXPECT_EQ(records, 1u);
    EXPECT_EQ(rig->device().view("clerk").lifecycle, Lifecycle::destroyed);
    before = before || end == WakeStatus::skippedDestroyed;
    amid = amid || end == WakeStatus::failedTerminal;
    after = over;
  }
  EXPECT_TRUE(before && amid && after) << "at every moment of a run";
}

// The policy that is in force when an action is announced decides it, whatever was planned under another one; what was
// allowed and announced before a crash stands. The run says what was denied.
TEST(AgentHostInput, WhatAPolicyDeniesAfterItWasPlannedIsNotDoneAndSaid) {
  class Denying final : public episode::Gate {
   public:
    episode::GateVerdict judge(const episode::GateRequest& request) const override {
      if (request.tool->kind == episode::ToolKind::look) return {episode::GateKind::allow, "", "", {}, {}};
      return {episode::GateKind::deny, "denied_by_policy", "not any more", {}, {}};
    }
    std::string epoch() const override { return "later"; }
  };
  const Denying denying;
  std::size_t denied = 0, stood = 0;
  for (int rounds = 1; rounds < 20; ++rounds) {
    auto rig = clerkOn("a", "mail");
    ASSERT_TRUE(rig->open().ok());
    ASSERT_TRUE(rig->enter("r1", "request", "1").ok());
    for (int i = 0; i < rounds; ++i) ASSERT_TRUE(rig->round().ok());
    const auto plans = rig->device().agents().keys(Kind::plan);
    const auto runs = rig->runs();
    if (plans.empty() || (!runs.empty() && isTerminal(runs.begin()->second))) continue;
    rig->crash(1'000);
    rig->gate = &denying;
    ASSERT_TRUE(rig->open().ok());
    ASSERT_TRUE(rig->settle().ok());
    const WakeStatus end = rig->runs().begin()->second;
    const auto effects = rig->effects(DatabaseName::journal);
    const std::size_t mails = static_cast<std::size_t>(std::ranges::count(rig->calls, "mail.send", &ToolCall::tool));
    if (end == WakeStatus::failedTerminal) {
      ++denied;
      EXPECT_THAT(effects, IsEmpty()) << rounds;
      EXPECT_EQ(mails, 0u) << rounds;
      EXPECT_THAT(rig->host().lastFailure()->cause, HasSubstr("denied_by_policy"));
    } else {
      ++stood;
      EXPECT_THAT(effects, SizeIs(1)) << rounds;
      EXPECT_GE(mails, 1u) << rounds;
    }
  }
  EXPECT_GT(denied, 0u);
  EXPECT_GT(stood, 0u);
}

// An agent that fills its slots: the run that would keep too much fails and says so, nothing of what it kept is lost,
// and it goes on thinking.
TEST(AgentHostInput, AnAgentWhoseSlotsAreFullGoesOn) {
  class Hoarder final : public Agent {
   public:
    const AgentSpec& spec() const override {
      static const AgentSpec kSpec{.id = "hoarder",
                                   .version = "1",
                                   .what = "keeps all",
                                   .category = "office",
                                   .subscriptions = {onEntries("request")}};
      return kSpec;
    }
    Turn step(const json::value&, const Input& input) const override {
      const std::string id(input.content.at("changes").at(0).at("id").as_string());
      const SlotName slot = static_cast<SlotName>((id[1] - '0') % int{kSlots});
      const std::size_t bytes = id[0] == 's' ? 100 : 60 * 1024;
      return {nullptr, {}, Finish{"kept", {{slot, json::value(std::string(bytes, id[1]))}}, {}, {}, false}};
    }
  };
  const Hoarder hoarder;
  HostRig rig("a", {&hoarder});
  ASSERT_TRUE(rig.open().ok());
  for (const char* id : {"r0", "r1", "r2", "r3", "r4", "s2"}) {
    ASSERT_TRUE(rig.enter(id, "request", "1").ok());
    ASSERT_TRUE(rig.settle().ok()) << id;
  }
  EXPECT_EQ(rig.host().counters().failed, 3u) << "r2, r3, r4";
  EXPECT_EQ(rig.host().counters().completed, 3u);
  EXPECT_THAT(rig.host().lastFailure()->cause, HasSubstr("its slots would have"));
  const AgentState state = rig.device().view("hoarder");
  EXPECT_EQ(state.slot(static_cast<SlotName>(0)).value.size(), 60u * 1024 + 2);
  EXPECT_EQ(state.slot(static_cast<SlotName>(1)).value.size(), 60u * 1024 + 2);
  EXPECT_EQ(state.slot(static_cast<SlotName>(2)).value.size(), 102u);
}

// Turns of which each takes half of an input as JSON: the newest of the thread are told as far as there is room.
TEST(AgentHostInput, AThreadThatIsLongerThanAnyInputIsToldInPart) {
  class Listener final : public Agent {
   public:
    const AgentSpec& spec() const override {
      static const AgentSpec kSpec = [] {
        AgentSpec spec{.id = "listener", .version = "1", .what = "listens", .category = "office"};
        spec.subscriptions = {onEntries("request")};
        spec.remembers = true;
        spec.foldsBy = "by-nobody";  // its fold runs fail
        return spec;
      }();
      return kSpec;
    }
    Turn step(const json::value&, const Input& input) const override {
      const json::object& wake = input.content.get_object();
      if (wake.contains("fold")) return {nullptr, {}, Finish{"", {}, {}, {}, true}};
      last = wake.at("memory");
      return {nullptr, {}, Finish{"heard", {}, {}, {}, false}};
    }
    mutable json::value last;
  };
  const Listener listener;
  HostRig rig("a", {&listener});
  ASSERT_TRUE(rig.open().ok());
  const std::string words(30'000, '\x02');  // 180,000 bytes as JSON
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(rig.host().userTurn("listener", "s", std::to_string(i), words, rig.now()).ok());
    ASSERT_TRUE(rig.settle().ok());
  }
  EXPECT_GE(rig.host().counters().completed, 12u);
  EXPECT_LE(canonicalJson(listener.last).size(), 64u * 1024);
  EXPECT_FALSE(listener.last.at("messages").as_array().empty());
}

// A place that is none is said to be none, whoever wrote it.
TEST(Sparing, DamagedPlacesOfWhatWasSparedAreCorrupt) {
  const json::object begin{{"input", json::object{{"memory", json::object{{"a", 1}}}}}};
  for (const char* spared : {R"([{"at":["x"],"of":"memory"}])", R"([{"at":["t"],"from":9,"of":"memory"}])",
                             R"([{"at":["t"],"of":"memory"}])", R"([{"at":[-1],"of":"memory"}])",
                             R"([{"of":"memory"}])", R"([{"at":["n"],"of":"slots"}])", R"([7])", R"({})"}) {
    const json::object call{{"arguments", json::object{{"n", nullptr}, {"t", "text"}}},
                            {"spared", parseJson(spared).value()}};
    const auto whole = episode::wholeArguments(begin, call);
    ASSERT_FALSE(whole.ok()) << spared;
    EXPECT_EQ(whole.error().code, ErrorCode::corrupt) << spared;
  }
}

}  // namespace
}  // namespace witan::agents::bad_input_test
