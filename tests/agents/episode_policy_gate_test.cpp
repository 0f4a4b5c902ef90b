// The policy monitor as the gate of episodes: its tokens arrive in transcripts, and an approval is of one payload.
#include "agents/host/device_gate.h"
#include "tests/agents/episode_kit.h"

namespace witan::agents::episode::episode_policy_gate_test {
namespace {

Policy policyOf() {
  Policy policy;
  policy.name = "p";
  policy.version = 1;
  OperationRule put{"put", {"id", "n"}, {}};
  OperationRule order{"order", {"id"}, {}};
  order.excess = Excess::redact;
  OperationRule ask{"ask", {"id", "n"}, {}};
  ask.requireHuman = true;
  policy.boundary = {{"journal", {"us"}, {put, order, ask}}};
  agents::Grant toys;
  toys.agent = "script";
  toys.category = "toys";
  toys.locales = {"us"};
  toys.tools = {"act.put", "act.order", "act.ask", "act.away"};
  toys.boundaries = {"journal"};
  policy.grant = {toys};
  return policy;
}

ToolTable tools() {
  ToolTable table;
  for (const char* operation : {"put", "order", "ask", "away"}) {
    ToolInfo tool;
    tool.name = std::string("act.") + operation;
    tool.kind = ToolKind::action;
    tool.boundary = "journal";
    tool.operation = operation;
    EXPECT_TRUE(table.add(std::move(tool)).ok());
  }
  return table;
}

struct World {
  explicit World(const std::string& tool, json::object arguments)
      : agent({planning({{tool, canonicalJson(arguments), {}, {}}})}) {
    auto compiled = Monitor::compile(policyOf());
    EXPECT_TRUE(compiled.ok()) << (compiled.ok() ? "" : compiled.error().message);
    monitor = *std::move(compiled);
    auto beginning = beginningOf(agent.spec(), tools(), toyRun(1), "d1", {});
    EXPECT_TRUE(beginning.ok());
    auto begun = Episode::begin(agent, gate, *std::move(beginning));
    EXPECT_TRUE(begun.ok());
    episode = *std::move(begun);
    EXPECT_TRUE(episode->planned(*episode->wantsPlan()).ok());
    settle(*episode);
  }
  ScriptAgent agent;
  Monitor monitor;
  ReceiptBook receipts;
  SecretNames secrets;
  PolicyGate gate{monitor, receipts, secrets};
  std::optional<Episode> episode;
};

TEST(EpisodePolicyGate, WhatThePolicyAllowsPasses) {
  World w("act.put", {{"id", "a"}, {"n", 1}});
  EXPECT_EQ(w.episode->takeEffects().size(), 1u);
  EXPECT_EQ(lastOf(*w.episode, EntryKind::intended).body.at("policy").as_string(), w.gate.epoch());
}

TEST(EpisodePolicyGate, ItsTokensStandInTheTranscript) {
  World over("act.put", {{"id", "a"}, {"name", "Jane"}});
  EXPECT_TRUE(over.episode->takeEffects().empty());
  EXPECT_EQ(tokenOf(lastOf(*over.episode, EntryKind::intended)), "overshared_payload_blocked");
  World away("act.away", {});
  EXPECT_EQ(tokenOf(lastOf(*away.episode, EntryKind::intended)), "out_of_scope");
}

TEST(EpisodePolicyGate, RedactedArgumentsAreWhatCrosses) {
  World w("act.order", {{"id", "a"}, {"name", "Jane"}});
  const std::vector<Effect> effects = w.episode->takeEffects();
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(canonicalJson(effects[0].arguments()), R"({"id":"a"})");
}

TEST(EpisodePolicyGate, APersonIsAskedAndTheAnswerLetsItPass) {
  World w("act.ask", {{"id", "a"}, {"n", 1}});
  EXPECT_TRUE(w.episode->takeEffects().empty());
  const std::vector<Question> questions = w.episode->questions();
  ASSERT_EQ(questions.size(), 1u);
  ASSERT_TRUE(w.episode->answered(questions[0].span, questions[0].digest, true, "person").ok());
  settle(*w.episode);
  EXPECT_EQ(w.episode->takeEffects().size(), 1u);
}

}  // namespace
}  // namespace witan::agents::episode::episode_policy_gate_test
