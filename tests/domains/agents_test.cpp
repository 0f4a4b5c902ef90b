// The agents of this build, message by message: they are pure, so nothing else is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/entry_agent.h"
#include "domains/agents.h"

namespace witan::domains::test::agents_test {
namespace {

using namespace agents;
using ::testing::HasSubstr;

json::value parse(std::string_view text) { return *parseJson(text); }

Turn wake(const Agent& agent, std::string_view content) {
  return agent.step(nullptr, {InputKind::wake, parse(content)});
}
Turn observed(const Agent& agent, const Turn& before, std::string_view content) {
  return agent.step(before.sigma, {InputKind::observation, parse(content)});
}

template <class T>
const T& output(const Turn& turn) {
  EXPECT_TRUE(std::holds_alternative<T>(turn.output));
  return std::get<T>(turn.output);
}

TEST(BuiltinAgents, AreWellDescribedAndInOrder) {
  std::string before;
  for (const Agent* agent : builtinAgents()) {
    EXPECT_TRUE(checkSpec(agent->spec()).ok()) << agent->spec().id;
    EXPECT_LT(before, agent->spec().id);
    before = agent->spec().id;
    EXPECT_EQ(findAgent(before), agent);
    EXPECT_FALSE(agent->spec().what.empty());
  }
  EXPECT_EQ(findAgent("nobody"), nullptr);
}

TEST(BuiltinAgents, AnAgentThatNothingWakesIsNone) {
  AgentSpec spec;
  spec.id = "idle";
  spec.version = "1";
  EXPECT_THAT(checkSpec(spec).error().message, HasSubstr("nothing would wake it"));
  spec.timers = {{"often", 10}};
  EXPECT_THAT(checkSpec(spec).error().message, HasSubstr("a timer of 10 ms (from 1000 "));
}

// Whatever an agent is told, it answers (Law 1: total on its domain).
TEST(BuiltinAgents, AreTotal) {
  for (const Agent* agent : builtinAgents())
    for (const char* content :
         {"null", "{}", "[]", R"({"changes":[{"type":"journalEntity"}]})", R"([{"ok":false}])", "7"})
      for (const InputKind kind : {InputKind::wake, InputKind::observation, InputKind::results}) {
        EXPECT_NO_THROW(agent->step(nullptr, {kind, parse(content)})) << agent->spec().id << " " << content;
        EXPECT_NO_THROW(agent->step(parse("[3]"), {kind, parse(content)})) << agent->spec().id << " " << content;
      }
}

TEST(UdtLab, ProposesRationaleAndOrder) {
  const Agent& lab = *findAgent("udt-lab");
  const Turn woken = wake(lab, R"({"changes":[{"type":"journalEntity","id":"e1"},{"type":"agentState","id":"x"}]})");
  ASSERT_EQ(output<Looks>(woken).size(), 1u);
  EXPECT_EQ(output<Looks>(woken)[0].tool, "journal.read");
  const Turn planned =
      observed(lab, woken, R"([{"tool":"journal.read","ok":true,"content":{"id":"e1","type":"udt.order",
    "payload":{"patient":"David","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23","rationale":"treatment plan"}}}])");
  const Actions& actions = output<Actions>(planned);
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(
      actions[0].arguments,
      R"({"action":{"order":"O1","text":"treatment plan","type":"DocumentRationale"},"domain":"udt","entity":"David","role":"LabOrder"})");
  EXPECT_THAT(actions[1].arguments, HasSubstr(R"("type":"OrderTest")"));
  EXPECT_EQ(actions[1].targets, std::vector<std::string>{"David"});
  const Turn done = lab.step(
      planned.sigma,
      {InputKind::results, parse(R"([{"tool":"propose","outcome":"applied","result":{"outcome":"approved"}}])")});
  EXPECT_THAT(output<Finish>(done).answer, HasSubstr("approved"));
  EXPECT_FALSE(output<Finish>(done).failed);
}

TEST(UdtLab, SaysWhatItCannotUse) {
  const Agent& lab = *findAgent("udt-lab");
  const Turn woken = wake(lab, R"({"changes":[{"type":"journalEntity","id":"e1"}]})");
  const Turn done = observed(
      lab, woken,
      R"([{"tool":"journal.read","ok":true,"content":{"id":"e1","type":"udt.order","payload":{"patient":"David"}}}])");
  EXPECT_THAT(output<Finish>(done).answer, HasSubstr("e1: it has no \"order\""));
  EXPECT_TRUE(output<Finish>(done).failed);
}

TEST(UdtClinical, BeginsPatientsAndRecordsResults) {
  const Agent& clinical = *findAgent("udt-clinical");
  const Turn woken =
      wake(clinical, R"({"changes":[{"type":"journalEntity","id":"p"},{"type":"journalEntity","id":"r"}]})");
  const Turn planned = observed(clinical, woken, R"([
    {"content":{"id":"p","type":"udt.patient","payload":{"patient":"David","fields":{"baselinePositiveOn":"2025-12-01"}}}},
    {"content":{"id":"r","type":"udt.result","payload":{"patient":"David","order":"O1","outcome":"NEGATIVE","on":"2026-03-23"}}}])");
  ASSERT_EQ(output<Actions>(planned).size(), 2u);
  EXPECT_EQ(output<Actions>(planned)[0].toolName, "begin");
  EXPECT_THAT(output<Actions>(planned)[1].arguments, HasSubstr("RecordResult"));
}

TEST(UdtBilling, TakesCodeAndDateFromTheOrder) {
  const Agent& billing = *findAgent("udt-billing");
  const Turn woken = wake(billing, R"({"changes":[{"type":"journalEntity","id":"b"}]})");
  const Turn further =
      observed(billing, woken,
               R"([{"content":{"id":"b","type":"udt.bill","payload":{"patient":"David","order":"O1","entry":"e1"}}}])");
  ASSERT_EQ(output<Looks>(further).size(), 1u);
  EXPECT_EQ(output<Looks>(further)[0].arguments.at("id"), "e1");
  const Turn planned =
      observed(billing, further,
               R"([{"content":{"id":"e1","type":"udt.order","payload":{"code":"G0480","dos":"2026-03-23"}}}])");
  ASSERT_EQ(output<Actions>(planned).size(), 1u);
  EXPECT_THAT(output<Actions>(planned)[0].arguments, HasSubstr(R"("code":"G0480")"));
  const Turn missing = observed(billing, further, R"([{"ok":true,"content":null}])");
  EXPECT_THAT(output<Finish>(missing).answer, HasSubstr("is not in the journal"));
}

TEST(JournalSummariser, KeepsADigestOfTheDay) {
  const Agent& summariser = *findAgent("journal-summariser");
  const Turn woken = wake(summariser, R"({"nowMs":1774252800000,"changes":[]})");
  EXPECT_EQ(output<Looks>(woken)[0].arguments.at("day"), "2026-03-23");
  const Turn planned = observed(
      summariser, woken,
      R"([{"ok":true,"content":{"entries":[{"id":"n1","payload":"first line\nsecond"},{"id":"n2","payload":{"title":"T"}}]}}])");
  ASSERT_EQ(output<Actions>(planned).size(), 1u);
  EXPECT_EQ(
      output<Actions>(planned)[0].arguments,
      R"({"id":"digest/2026-03-23","payload":{"day":"2026-03-23","lines":["first line","T"],"notes":2},"type":"digest"})");
}

TEST(JournalSummariser, SaysThatThereWereMore) {
  const Agent& summariser = *findAgent("journal-summariser");
  const Turn woken = wake(summariser, R"({"nowMs":1774252800000,"changes":[]})");
  const Turn planned =
      observed(summariser, woken, R"([{"ok":true,"content":{"entries":[{"id":"n1","payload":"a"}],"more":true}}])");
  EXPECT_EQ(
      output<Actions>(planned)[0].arguments,
      R"({"id":"digest/2026-03-23","payload":{"day":"2026-03-23","lines":["a"],"more":true,"notes":1},"type":"digest"})");
}

// At night all cases are gone through, however many pages they fill.
TEST(DisclosurePublisher, ReadsTheListToItsEnd) {
  const Agent& agent = *findAgent("disclosure-publisher");
  const auto page = [](const char* ids, const char* more) {
    json::array entries;
    for (const char v : std::string_view(ids))
      entries.push_back(json::object{{"id", std::string("disclosure/p/V-") + v + "/due"}, {"payload", json::object{}}});
    return canonicalJson(json::array{json::object{
        {"ok", true},
        {"content", json::object{{"entries", std::move(entries)}, {"more", std::string_view(more) == "more"}}}}});
  };
  const Turn woken = wake(agent, R"({"nowMs":0,"reason":"timer"})");
  const Turn first = observed(agent, woken, page("ab", "more"));
  const Looks& next = output<Looks>(first);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].tool, "journal.list");
  EXPECT_EQ(canonicalJson(next[0].arguments), R"({"after":"disclosure/p/V-b/due","type":"disclosure.due"})");
  const Turn second = observed(agent, first, page("c", "no more"));
  std::string read;
  for (const Look& look : output<Looks>(second)) read += canonicalJson(look.arguments);
  for (const char* v : {"V-a/case", "V-b/case", "V-c/case"}) EXPECT_THAT(read, HasSubstr(v));
  const Turn stuck = observed(agent, woken, page("", "more"));
  EXPECT_THAT(output<Finish>(stuck).answer, HasSubstr("could not be read to its end"));
  EXPECT_TRUE(output<Finish>(stuck).failed);
}

// Version 2 kept what waits in its slot: each gets an entry, some a run.
TEST(VerifiedIntake, WhatAnOlderVersionKeptGetsEntries) {
  const Agent& agent = *findAgent("verified-intake");
  json::array kept;
  for (int n = 0; n < 40; ++n) kept.push_back(json::array{"proj", "F" + std::to_string(n)});
  const json::object slots{{"extension", {{"waiting", kept}}}};
  Turn turn = agent.step(nullptr, {InputKind::wake, json::object{{"nowMs", 5'000}, {"slots", slots}}});
  std::size_t seen = 0;
  while (std::holds_alternative<Looks>(turn.output)) {
    json::array answers;
    for (const Look& look : std::get<Looks>(turn.output)) {
      seen += look.tool == "slice.read";
      answers.push_back(json::object{{"tool", look.tool}, {"ok", false}, {"error", "not now"}});
    }
    turn = agent.step(turn.sigma, {InputKind::observation, std::move(answers)});
  }
  EXPECT_EQ(seen, 32u);
  const Actions& actions = output<Actions>(turn);
  ASSERT_EQ(actions.size(), 32u);
  for (const replication::PlanAction& action : actions) EXPECT_EQ(action.toolName, "journal.put");
  const Turn done = agent.step(turn.sigma, {InputKind::results, json::array{}});
  const Finish& finish = output<Finish>(done);
  ASSERT_EQ(finish.slots.size(), 1u);
  EXPECT_EQ(finish.slots[0].value.at("waiting").as_array().size(), 8u);
  EXPECT_EQ(finish.nextWakeAtMs, 6'000);
}

TEST(FollowUp, RemindsOnceOfWhatIsOverdue) {
  const Agent& followUp = *findAgent("follow-up");
  const Turn woken = wake(followUp, R"({"nowMs":1000})");
  ASSERT_EQ(output<Looks>(woken).size(), 2u);
  const Turn planned = observed(followUp, woken, R"([{"content":{"entries":[
      {"id":"t1","payload":{"dueMs":900,"status":"open"}},{"id":"t2","payload":{"dueMs":900,"status":"done"}},
      {"id":"t3","payload":{"dueMs":1100,"status":"open"}},{"id":"t4","payload":{"dueMs":1,"status":"open"}}]}},
      {"content":{"entries":[{"id":"reminder/t4"}]}}])");
  ASSERT_EQ(output<Actions>(planned).size(), 1u);
  EXPECT_EQ(output<Actions>(planned)[0].targets, std::vector<std::string>{"reminder/t1"});
}

// A page of each list has more behind it: nothing is reminded of twice, and nothing is missed.
TEST(FollowUp, ReadsBothListsToTheirEnd) {
  const Agent& followUp = *findAgent("follow-up");
  const auto page = [](const std::string& entries, bool more) {
    return R"({"content":{"entries":[)" + entries + R"(],"more":)" + (more ? "true" : "false") + "}}";
  };
  const auto task = [](const char* id, int dueMs) {
    return R"({"id":")" + std::string(id) + R"(","payload":{"status":"open","dueMs":)" + std::to_string(dueMs) + "}}";
  };
  const auto asked = [](const Turn& turn) { return canonicalJson(output<Looks>(turn).at(0).arguments); };
  Turn turn = wake(followUp, R"({"nowMs":1000})");
  turn = observed(
      followUp, turn,
      "[" + page(task("t1", 1) + "," + task("t2", 2), true) + "," + page(R"({"id":"reminder/a"})", true) + "]");
  EXPECT_EQ(asked(turn), R"({"after":"reminder/t","type":"reminder"})");
  turn = observed(followUp, turn, "[" + page(R"({"id":"reminder/t1"},{"id":"reminder/t1x"})", true) + "]");
  EXPECT_EQ(asked(turn), R"({"after":"reminder/t1x","type":"reminder"})") << "t2 may have one yet";
  turn = observed(followUp, turn, "[" + page(R"({"id":"reminder/t2"},{"id":"reminder/t3"})", true) + "]");
  EXPECT_EQ(asked(turn), R"({"after":"t2","type":"task"})") << "all of these were reminded of";
  turn = observed(followUp, turn, "[" + page(task("t4", 5000), true) + "]");
  EXPECT_EQ(asked(turn), R"({"after":"t4","type":"task"})") << "none of these is overdue";
  turn = observed(followUp, turn, "[" + page(task("t5", 3), false) + "]");
  EXPECT_EQ(asked(turn), R"({"after":"reminder/t","type":"reminder"})");
  turn = observed(followUp, turn, "[" + page("", false) + "]");
  ASSERT_EQ(output<Actions>(turn).size(), 1u);
  EXPECT_EQ(output<Actions>(turn)[0].targets, std::vector<std::string>{"reminder/t5"});
}

// Of a worker of disclosure that was woken by one case: what it says when it is told this of the case's four entries
// and, if it asks for advice, that.
std::string finishOf(std::string_view entries, std::string_view advice = "[]") {
  const Agent& reports = *findAgent("disclosure-reports");
  Turn turn = wake(reports, R"({"changes":[{"type":"journalEntity","id":"disclosure/P/V/case"}],"nowMs":0})");
  turn = observed(reports, turn, entries);
  if (std::holds_alternative<Looks>(turn.output)) turn = observed(reports, turn, advice);
  const Finish* finish = std::get_if<Finish>(&turn.output);
  EXPECT_NE(finish, nullptr);
  if (finish == nullptr) return "";
  EXPECT_TRUE(finish->failed) << "so the run's status and the log tell";
  return finish->answer;
}

TEST(DisclosureWorker, SaysWhichCaseItLeavesAlone) {
  EXPECT_EQ(finishOf(R"([{"ok":false,"error":"tool-error: the answer has 70000 bytes"},{"ok":true,"content":null},
                         {"ok":true,"content":null},{"ok":true,"content":null}])"),
            "left alone: disclosure/P/V/case: tool-error: the answer has 70000 bytes");
  EXPECT_THAT(
      finishOf(R"([{"ok":true,"content":{"id":"disclosure/P/V/case","payload":{"portfolio":"P","v":"V","text":")" +
               std::string(62'000, 'x') + R"("}}}])"),
      HasSubstr("left alone: disclosure/P/V/case has 62"));
}

TEST(DisclosureWorker, SaysThatACaseHasMoreToDoThanARunTakes) {
  std::string actions;
  for (int i = 0; i < 201; ++i) actions += std::string(i > 0 ? "," : "") + R"({"type":"X"})";
  EXPECT_EQ(finishOf(R"([{"ok":true,"content":{"id":"disclosure/P/V/case","payload":{"portfolio":"P","v":"V"}}}])",
                     R"([{"ok":true,"content":{"actions":[)" + actions + R"(],"due":"","over":false}}])"),
            "left alone: disclosure/P/V/: 202 actions at once, and a run takes 200; a person has to begin");
}

TEST(DisclosureWorker, SaysThatTheListOfCasesHadNoRoom) {
  const Agent& reports = *findAgent("disclosure-reports");
  const Turn listed = observed(reports, wake(reports, R"({"nowMs":0})"),
                               R"([{"ok":true,"content":{"entries":[],"more":false,"tooLarge":2}}])");
  EXPECT_TRUE(output<Finish>(listed).failed);
  EXPECT_THAT(output<Finish>(listed).answer, HasSubstr("left alone: 2 cases that are too large for a list"));
}

}  // namespace
}  // namespace witan::domains::test::agents_test
