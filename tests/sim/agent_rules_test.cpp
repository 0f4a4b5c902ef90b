// The judges of agents' work (sim/check/agent_rules.h): a history in which each passes, and one in which it fires.
#include "sim/check/agent_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "saga/operation_marks.h"
#include "sim/sim_agents.h"
#include "tests/replication/cluster.h"

namespace witan::sim::agent_rules_test {
namespace {

using namespace replication;
using ::testing::HasSubstr;

// One run, whose plan writes one entry, and has done so.
struct Story {
  Story() {
    plan = planBy("a", "\"yes\"");
    view.winner = plan;
    records.completed.emplace(run, "");
    did(records.journal, plan.operations[0], "a");
    did(records.agents, plan.operations[0], "a");
    wrote("done/1", plan.operations[0], "a");
  }

  Plan planBy(const std::string& host, const std::string& payload) {
    Plan made;
    made.dot = {host, 1};
    made.body = {run.value, "clerk", {{"journal.put", R"({"id":"done/1","payload":)" + payload + "}", {}, {"done/1"}}}};
    made.operations = *operationsOf(made.body);
    made.digest = planDigest(made.operations);
    return made;
  }
  OperationBody body(const OperationId& operation) const {
    OperationBody out;
    out.operationId = operation.value;
    out.runKey = run.value;
    out.agentId = "clerk";
    out.toolName = "journal.put";
    out.result = "null";
    return out;
  }
  void did(std::map<OperationId, OperationView>& in, const OperationId& operation, const std::string& host) const {
    in[operation].record = OperationRecord{{host, 7}, body(operation)};
  }
  void undid(const OperationId& operation, const OperationId& by) {
    for (auto* side : {&records.journal, &records.agents}) {
      did(*side, by, "a");
      (*side)[by].record->body.compensates = operation.value;
    }
  }
  void wrote(const std::string& id, const OperationId& operation, const std::string& host) {
    const JournalBody written{"done", "1", 1, "clerk", 1, operation.value, {}};
    records.entries[id].siblings.push_back({{host, 7}, written});
  }
  // Another plan of the run survives, which has done nothing yet.
  void loses() {
    view.losers = {plan}, view.winner = planBy("b", "\"no\"");
    records.completed.clear(), records.entries.clear();
  }
  std::string operations(const AgentRuleOptions& options = {}) {
    records.plans[run] = view;
    return checkOperations(records, options);
  }

  const RunKey run{sha256("run")};
  Plan plan;
  PlanView view;
  AgentRecords records;
};

std::string body() {
  JournalBody written;
  written.type = "note";
  written.payload = "1";
  written.lamport = 1;
  written.author = "person-1";
  return encodeRecord(written).value();
}

TEST(AgentRules, WhatIsAsItShouldBePasses) {
  Story story;
  EXPECT_EQ(story.operations(), "");
  EXPECT_EQ(checkCompensations(story.records), "");
}

// What a person has denied and was done all the same is counted, and what nobody minds is not.
TEST(AgentRules, WhatNobodyWantedIsCounted) {
  Story story;
  const OperationId operation = story.plan.operations[0];
  EXPECT_EQ(checkUnwanted(story.records, {}, 0), "");
  EXPECT_EQ(checkUnwanted(story.records, {operation}, 1), "");
  EXPECT_THAT(checkUnwanted(story.records, {}, 1), HasSubstr("1 effects outside are said to be unwanted"));
  EXPECT_THAT(checkUnwanted(story.records, {operation}, 0), HasSubstr("1 were denied"));
  story.records.agents[operation].record->body.outcome = OperationOutcome::denied;
  EXPECT_EQ(checkUnwanted(story.records, {operation}, 0), "");
  story.view.losers = {story.planBy("b", "\"no\"")};
  const OperationId lost = story.view.losers[0].operations[0];
  story.did(story.records.agents, lost, "b");
  story.operations();
  EXPECT_EQ(checkUnwanted(story.records, {}, 0), "") << "what the journal says is undone";
  story.records.agents[lost].record->body.toolName = "sim.mail";
  EXPECT_EQ(checkUnwanted(story.records, {}, 1), "");
  EXPECT_THAT(checkUnwanted(story.records, {}, 0), HasSubstr("1 are of plans that did not survive"));
  story.view.losers[0].operations.push_back(operation);  // both plans have it
  story.records.agents[operation].record->body.toolName = "propose";
  story.records.agents[operation].record->body.outcome = OperationOutcome::applied;
  story.operations();
  EXPECT_THAT(checkUnwanted(story.records, {}, 2), HasSubstr("1 are of plans that did not survive"));
}

TEST(AgentRules, AnAnswerThatWasReplacedDeniesNothing) {
  ApprovalBody said;
  said.agentId = "clerk", said.what = "{}", said.by = "somebody", said.verdict = ApprovalVerdict::denied;
  said.operationId = said.runKey = said.digest = sha256("x");
  const auto version = [&](std::uint64_t counter) {
    Version one;
    one.dot = {"a", counter};
    one.body = encodeRecord(said).value();
    return one;
  };
  const Version denial = version(1);
  EXPECT_TRUE(isDenied(std::array{denial}));
  said.verdict = ApprovalVerdict::approved;
  Version later = version(2);
  EXPECT_TRUE(isDenied(std::array{denial, later})) << "side by side";
  later.context.set("a", 1);
  EXPECT_FALSE(isDenied(std::array{denial, later}));
  said.verdict = ApprovalVerdict::denied, said.by = kNobodyAnswered;
  EXPECT_FALSE(isDenied(std::array{version(3)})) << "its time was over";
}

TEST(AgentRules, EachRunKnowsHowManyAreBehindIt) {
  Story story;
  EXPECT_EQ(checkHops(story.records, "clerk", 0), "");
  EXPECT_EQ(checkHops(story.records, "another", 7), "");
  EXPECT_THAT(checkHops(story.records, "clerk", 1), HasSubstr("has 0 runs behind it, not 1"));
}

// Checker "effects": what stands is there, and who says that it did everything did.
struct Effects : ::testing::Test {
  Effects() {
    options.shared = "desk/";
    story.view.winner = plan = planOf({R"({"id":"done/1","payload":"yes","type":"done"})"});
    story.did(story.records.journal, plan.operations[0], "a");
    story.did(story.records.agents, plan.operations[0], "a");
    says("done/1", "\"yes\"");
  }
  Plan planOf(const std::vector<std::string>& arguments) {
    Plan made = story.plan;
    made.body.actions.clear();
    for (const std::string& one : arguments) made.body.actions.push_back({"journal.put", one, {}, {"t"}});
    made.operations = *operationsOf(made.body);
    return made;
  }
  // The plan writes on a desk instead, as another run's does; both have been carried out.
  void onDesk() {
    story.view.winner = plan = planOf({R"({"id":"desk/1","payload":"a","type":"done"})"});
    story.did(story.records.journal, plan.operations[0], "a");
    story.did(story.records.agents, plan.operations[0], "a");
  }
  void says(const std::string& id, const std::string& payload) {
    story.records.entries[id].siblings = {{{"a", 7}, JournalBody{"done", payload, 1, "clerk", 1, {}, {}}}};
  }
  std::string check() {
    story.records.plans[story.run] = story.view;
    return checkEffects(story.records, writes, options);
  }

  Story story;
  Plan plan;
  SharedWrites writes;
  AgentRuleOptions options;
};

TEST_F(Effects, ThatAreThereCount) { EXPECT_EQ(check(), ""); }

TEST_F(Effects, ThatAreMissingAreSeen) {
  story.records.entries.clear();
  EXPECT_THAT(check(), HasSubstr("does not say what it wrote"));
  says("done/1", "\"no\"");
  EXPECT_THAT(check(), HasSubstr("does not say what it wrote"));
  story.undid(plan.operations[0], compensationOperationId(plan.operations[0]));
  EXPECT_EQ(check(), "") << "it does not stand";
}

TEST_F(Effects, OfASharedEntryMayBeReplacedByWhoHasSeenThem) {
  onDesk();
  says("desk/1", "\"b\"");
  EXPECT_THAT(check(), HasSubstr("desk/1 does not say"));
  const SharedWrite own{{"a", 1}, {}, contentOf("done", "\"a\""), plan.operations[0].value};
  const SharedWrite between{{"b", 1}, {{"a", 1}}, contentOf("done", "\"x\""), std::nullopt};
  writes["desk/1"] = {own, {{"p", 1}, {}, contentOf("done", "\"b\""), std::nullopt}};
  EXPECT_THAT(check(), HasSubstr("desk/1 does not say")) << "a person wrote beside it";
  writes["desk/1"] = {own, between, {{"p", 1}, {{"b", 1}}, contentOf("done", "\"b\""), std::nullopt}};
  EXPECT_EQ(check(), "");
  const OperationId undoing = compensationOperationId({sha256("of a loser")});
  writes["desk/1"] = {own, {{"c", 7}, {{"a", 1}}, contentOf("done", "\"b\""), sha256("of a loser")}};
  EXPECT_THAT(check(), HasSubstr("desk/1 does not say")) << "an operation that does not stand";
  story.did(story.records.journal, undoing, "c");
  story.records.journal[undoing].record->body.compensates = sha256("of a loser");
  writes["desk/1"] = {own, {{"c", 7}, {{"a", 1}}, "", std::nullopt}};
  EXPECT_THAT(check(), HasSubstr("desk/1 does not say")) << "an undoing is no excuse";
}

TEST_F(Effects, WhatPeopleWroteStaysToo) {
  onDesk();
  says("desk/1", "\"a\"");
  writes["desk/1"] = {{{"p", 1}, {}, contentOf("done", "\"mine\""), std::nullopt, true}};
  EXPECT_THAT(check(), HasSubstr("what a person wrote into desk/1"));
  writes["desk/1"].push_back({{"a", 1}, {{"p", 1}}, contentOf("done", "\"a\""), plan.operations[0].value});
  EXPECT_EQ(check(), "");
}

TEST_F(Effects, OfSeveralOfOnePlanOnOneEntryTheLastCounts) {
  story.view.winner = plan =
      planOf({R"({"id":"done/1","payload":"no","type":"done"})", R"({"id":"done/1","payload":"yes","type":"done"})"});
  for (const OperationId& operation : plan.operations) {
    story.did(story.records.journal, operation, "a");
    story.did(story.records.agents, operation, "a");
  }
  EXPECT_EQ(check(), "");
}

// Two devices carried one operation out, and a person wrote over what the one had.
TEST_F(Effects, WhatWasBuiltUponDoesNotStandBesideARepeat) {
  onDesk();
  const OperationId operation = plan.operations[0];
  story.records.journal[operation].repeats = {{"b", 3}};
  const JournalBody repeat{"done", "\"a\"", 1, "clerk", 1, operation.value, {}};
  JournalView& raw = story.records.entries["desk/1"];
  raw.siblings = {{{"b", 3}, repeat}, {{"p", 9}, JournalBody{"done", "\"c\"", 2, "ann", 2, {}, {}}}};
  const std::vector<SharedWrite> both{{{"a", 7}, {}, "done \"a\"", operation.value},
                                      {{"b", 3}, {}, "done \"a\"", operation.value},
                                      {{"p", 9}, {{"a", 7}}, "done \"c\"", {}}};
  JournalView read;
  read.siblings = {raw.siblings[1]};
  EXPECT_EQ(checkRepeats(story.records, "desk/1", read, both), "");
  EXPECT_THAT(checkRepeats(story.records, "desk/1", raw, both), HasSubstr("beside what was built upon it"));
  // Nobody has written over either: that is a conflict.
  raw.siblings.push_back({{"a", 7}, repeat});
  EXPECT_EQ(checkRepeats(story.records, "desk/1", raw, both), "");
}

TEST_F(Effects, ARunThatSaysItIsDoneIsDone) {
  story.records.agents[plan.operations[0]].record->body.outcome = OperationOutcome::failed;
  EXPECT_THAT(check(), HasSubstr("completed without a word of failure"));
  story.records.completed[story.run] = "1 of 1 actions failed";
  EXPECT_EQ(check(), "");
  story.records.completed[story.run] = "";
  story.records.agents.clear();
  options.deadLettered.insert(plan.operations[0]);
  EXPECT_THAT(check(), HasSubstr("completed without a word of failure"));
  story.did(story.records.agents, plan.operations[0], "b");
  EXPECT_EQ(check(), "") << "put aside by one device, carried out by another";
}

// Invariant 6: "Mutating side effects are keyed by deterministic operationId".
TEST(AgentRules, AnOperationOfNoPlanIsSeen) {
  Story story;
  story.did(story.records.journal, OperationId{sha256("own idea")}, "a");
  EXPECT_THAT(story.operations(), HasSubstr("stands in no plan of its run"));
  Story other;
  other.view.winner.reset();
  other.records.plans.clear();
  EXPECT_THAT(checkOperations(other.records), HasSubstr("is of a run without a plan"));
}

TEST(AgentRules, WhatAToolIsSaidToHaveDoneItDid) {
  Story story;
  story.plan.body.actions = {{"sim.mail", R"({"to":"somebody"})", {}, {"mail/1"}}};
  story.plan.operations = *operationsOf(story.plan.body);
  story.view.winner = story.plan;
  story.records.journal.clear(), story.records.agents.clear(), story.records.entries.clear();
  const OperationId operation = story.plan.operations[0];
  story.did(story.records.agents, operation, "a");
  story.records.agents[operation].record->body.toolName = "sim.mail";
  AgentRuleOptions options;
  EXPECT_EQ(story.operations(options), "") << "nobody looked";
  options.toolsDid.emplace();
  EXPECT_THAT(story.operations(options), HasSubstr("sim.mail has done nothing"));
  options.toolsDid->insert(operation.hex());
  EXPECT_EQ(story.operations(options), "");
  story.records.agents[operation].record->body.toolName = "propose";
  options.ledgersDid.emplace();
  EXPECT_THAT(story.operations(options), HasSubstr("no ledger has it"));
  options.ledgersDid->insert(operation.hex());
  EXPECT_EQ(story.operations(options), "");
}

TEST(AgentRules, OperationsOfAPlanGoByNamesOfTheirOwn) {
  Story story;
  story.plan.body.actions.push_back(story.plan.body.actions.front());
  story.plan.operations = *operationsOf(story.plan.body);
  PlanView& view = story.records.plans[story.run];
  view.winner = story.plan;
  EXPECT_EQ(checkNames(story.records), "");
  view.winner->operations[1] = view.winner->operations[0];
  EXPECT_THAT(checkNames(story.records), HasSubstr("goes by another name"));
}

TEST(AgentRules, ADeviceThatDoesItTwiceIsSeen) {
  Story story;
  story.records.journal[story.plan.operations[0]].repeats = {{"b", 1}};
  EXPECT_EQ(story.operations(), "") << "two devices that were cut off may";
  story.records.journal[story.plan.operations[0]].repeats = {{"b", 1}, {"b", 2}};
  EXPECT_THAT(story.operations(), HasSubstr("b carried out"));
  AgentRuleOptions lost;
  lost.wholeDisks = false;
  EXPECT_EQ(story.operations(lost), "") << "with a disk that was lost between";
}

TEST(AgentRules, AnEffectThatWasMadeTwiceIsSeen) {
  Story story;
  story.records.entries["done/1"].siblings[0].body->lamport = 2;
  EXPECT_THAT(story.operations(), HasSubstr("has written done/1 more than once"));
}

TEST(AgentRules, AnEffectWithoutItsOutcomeAndTheOtherWayRoundAreSeen) {
  Story story;
  story.records.agents.clear();
  EXPECT_THAT(story.operations(), HasSubstr("has its effect in the journal and no outcome"));
  Story other;
  other.records.journal.clear();
  EXPECT_THAT(other.operations(), HasSubstr("its effect is nowhere"));
}

TEST(AgentRules, ACompletedRunThatHasNotDoneItsPlanIsSeen) {
  Story story;
  story.records.agents.clear(), story.records.journal.clear(), story.records.entries.clear();
  EXPECT_THAT(story.operations(), HasSubstr("is completed"));
  AgentRuleOptions aside;
  aside.deadLettered = {story.plan.operations[0]};
  EXPECT_EQ(story.operations(aside), "");
  AgentRuleOptions denied;
  denied.denied = {story.plan.operations[0]};
  EXPECT_EQ(story.operations(denied), "");
}

// F3: of two plans for one run one survives, and only what it wants.
// Of a run that ended before the horizon nothing is left but what it wrote.
TEST(AgentRules, WhatIsForgottenWithItsRunIsMissedByNobody) {
  Story story;
  story.view = {};
  story.records.agents.clear(), story.records.journal.clear(), story.records.completed.clear();
  AgentRuleOptions options;
  EXPECT_THAT(story.operations(options), HasSubstr("which has no record"));
  options.keptSinceMs = 1;
  EXPECT_THAT(story.operations(options), HasSubstr("which has no record")) << "it was written then";
  options.keptSinceMs = 2;
  EXPECT_EQ(story.operations(options), "");
  options.keptSinceMs = 0, options.keptUntilMs = 0;
  EXPECT_EQ(story.operations(options), "") << "its clock was ahead";
}

TEST(AgentRules, WhatALosingPlanWroteMustBeGone) {
  Story story;
  const Plan loser = story.planBy("b", "\"no\"");
  story.view.losers = {loser};
  const OperationId lost = loser.operations[0];
  story.did(story.records.journal, lost, "b");
  story.did(story.records.agents, lost, "b");
  EXPECT_EQ(story.operations(), "") << "its record stays";
  story.wrote("done/2", lost, "b");
  EXPECT_THAT(story.operations(), HasSubstr("another plan of its run survives"));
  story.undid(lost, compensationOperationId(lost));
  EXPECT_THAT(story.operations(), HasSubstr("which was undone"));
  story.records.entries.erase("done/2");
  EXPECT_EQ(story.operations(), "");
}

TEST(AgentRules, WhatTheSurvivingPlanWantsStands) {
  Story story;
  const OperationId done = story.plan.operations[0], undoing = compensationOperationId(done);
  story.records.entries.clear();
  story.undid(done, undoing);
  EXPECT_THAT(story.operations(), HasSubstr("that survives wants it"));
  story.undid(undoing, compensationOperationId(undoing));
  EXPECT_EQ(story.operations(), "") << "and its undoing is undone";
}

TEST(AgentRules, AnOperationIsUndoneOnce) {
  Story story;
  const OperationId done = story.plan.operations[0];
  story.undid(done, OperationId{sha256("by a")});
  EXPECT_THAT(story.operations(), HasSubstr("under an id of its own"));
  story.undid(done, OperationId{sha256("by b")});
  EXPECT_THAT(checkCompensations(story.records), HasSubstr("was undone by two operations"));
  Story twice;
  twice.undid(done, compensationOperationId(done));
  twice.records.journal[compensationOperationId(done)].repeats = {{"a", 8}};
  EXPECT_THAT(checkCompensations(twice.records), HasSubstr("a undid it twice"));
}

// What several devices did may have to be undone several times (saga/operation_marks.h): each follows another.
// Of two plans of a run the one that lost wrote one entry twice.
struct Undone {
  Undone() {
    Plan lost = story.planBy("b", "1");
    lost.body.actions.push_back({"journal.put", R"({"id":"desk/1","payload":1,"type":"desk"})", {}, {"desk/1"}});
    lost.body.actions.push_back({"journal.put", R"({"id":"desk/1","payload":2,"type":"desk"})", {}, {"desk/1"}});
    lost.operations = *operationsOf(lost.body);
    first = lost.operations[1], second = lost.operations[2];
    for (const OperationId& operation : {first, second}) {
      story.did(story.records.journal, operation, "b");
      writes["desk/1"].push_back({{"b", ++counter}, {}, "desk", operation.value});
    }
    story.view.losers = {lost};
    story.records.plans[story.run] = story.view;
  }
  Undoing undoing(const OperationId& operation, std::set<OperationId> had) const {
    return {compensationOperationId(operation), operation, "device-1", false, std::move(had)};
  }
  Undoing asks(const OperationId& operation) const {
    return {compensationOperationId(operation), operation, "device-1", true, {}};
  }
  std::string check(const std::vector<Undoing>& undoings) const {
    return checkUndoings(story.records, writes, undoings);
  }

  Story story;
  SharedWrites writes;
  OperationId first, second;
  std::uint64_t counter = 0;
};

TEST(AgentRules, WhatAPlanWroteIsUndoneLastFirst) {
  const Undone undone;
  const auto& [first, second] = std::tie(undone.first, undone.second);
  const OperationId undoing = compensationOperationId(second);
  EXPECT_EQ(undone.check({undone.undoing(second, {first, second}), undone.undoing(first, {first, second, undoing})}),
            "");
  EXPECT_EQ(undone.check({undone.undoing(first, {first})}), "") << "the later one had not come";
  EXPECT_THAT(undone.check({undone.undoing(first, {first, second})}), HasSubstr("before"));
}

TEST(AgentRules, NobodyIsAskedAboutWhatOnlyOnePlanWrote) {
  Undone undone;
  EXPECT_THAT(undone.check({undone.asks(undone.first)}), HasSubstr("asks a person"));
  EXPECT_EQ(undone.check({undone.asks(undone.second)}), "");
  EXPECT_EQ(undone.check({undone.asks(undone.first), undone.asks(undone.second)}), "") << "the later one stays";
  undone.writes["desk/1"].push_back({{"a", 9}, {}, "desk by a person", {}});
  EXPECT_EQ(undone.check({undone.asks(undone.first)}), "");
}

TEST(AgentRules, FurtherUndoingsMustHaveSomethingToUndo) {
  Story story;
  const OperationId done = story.plan.operations[0], first = compensationOperationId(done),
                    second = saga::nextCompensation(first), third = saga::nextCompensation(second);
  story.loses();
  story.undid(done, second);
  EXPECT_THAT(story.operations(), HasSubstr("under an id of its own")) << "the first is nowhere";
  story.undid(done, first);
  EXPECT_THAT(story.operations(), HasSubstr("undoes for time 2 what was done less often"));
  story.records.journal[done].repeats = {{"b", 1}};
  EXPECT_EQ(story.operations(), "");
  EXPECT_EQ(checkCompensations(story.records), "");
  story.undid(done, third);
  EXPECT_THAT(story.operations(), HasSubstr("undoes for time 3 what was done less often"));
  story.undid(done, saga::nextCompensation(third));
  for (auto* side : {&story.records.journal, &story.records.agents}) side->erase(third);
  EXPECT_THAT(checkCompensations(story.records), HasSubstr("was undone by two operations"));
}

// The undoing of another operation brought it back, and a person gave its next undoing up: that one changed nothing.
TEST(AgentRules, AFurtherUndoingOfASharedEntryMayBeGivenUp) {
  Story story;
  AgentRuleOptions options;
  options.shared = "desk/";
  const OperationId done = story.plan.operations[0], first = compensationOperationId(done),
                    second = saga::nextCompensation(first);
  story.loses();
  story.records.journal[done].record->body.undo = {{"main", "done/1", {}, {}, std::nullopt}};
  story.undid(done, first);
  story.undid(done, second);
  story.records.journal.erase(second);
  story.records.agents[second].record->body.outcome = OperationOutcome::failed;
  EXPECT_THAT(story.operations(options), HasSubstr("undoes for time 2 what was done less often"));
  story.records.journal[done].record->body.undo[0].key = "desk/1";
  EXPECT_EQ(story.operations(options), "");
}

// A gate leaves no record of what it denies. It may have, while nobody had confirmed; later it may not.
TEST(AgentRules, ADenialWithoutAReasonIsSeen) {
  Story story;
  const OperationId mail = story.plan.operations[0];
  story.view.winner->body.actions[0].toolName = "sim.mail";
  story.records.agents.clear();
  story.records.journal.clear();
  story.records.entries.clear();
  story.records.plans[story.run] = story.view;
  const auto judged = [&](std::map<RunKey, std::int64_t> begun, std::int64_t unconfirmedAt,
                          std::map<std::string, std::uint64_t> calls) {
    AgentRuleOptions options;
    options.denied = perhapsDenied(story.records, "sim.mail", begun, unconfirmedAt, calls);
    return checkOperations(story.records, options);
  };
  EXPECT_EQ(judged({{story.run, 5}}, 5, {}), "");
  EXPECT_EQ(judged({}, -1, {}), "") << "nobody saw it begin";
  EXPECT_THAT(judged({{story.run, 6}}, 5, {}), HasSubstr("nothing is known"));
  EXPECT_THAT(judged({{story.run, 0}}, -1, {}), HasSubstr("nothing is known"));
  EXPECT_THAT(judged({{story.run, 5}}, 5, {{mail.hex(), 1}}), HasSubstr("nothing is known")) << "it was not denied";
  story.records.plans[story.run].winner->body.actions[0].toolName = "propose";
  EXPECT_THAT(judged({{story.run, 5}}, 5, {}), HasSubstr("nothing is known")) << "no tool that wants to be confirmed";
}

// Section 10, invariants 1 and 2: "agent internals are persisted only in agent.sqlite", "links only in agent domain".
TEST(AgentsApart, FiresForWhatAnAgentKeepsInTheJournalAndTheOtherWayRound) {
  for (const Kind kind : {Kind::message, Kind::link, Kind::plan, Kind::agentState}) {
    replication::test::Device device("a");
    ASSERT_TRUE(device.replica()
                    .commit(DatabaseName::journal, "main", std::array{Write{Kind::journal, "e", body(), false}})
                    .ok());
    EXPECT_EQ(checkApart(device.replica()), "");
    device.journal().table().findOrAdd(kind, "its-own");  // no commit would let it in
    EXPECT_THAT(checkApart(device.replica()),
                HasSubstr("a: the journal of main holds what is an agent's own: its-own"));
  }
  replication::test::Device device("a");
  device.agents().table().findOrAdd(Kind::journal, "entry");
  EXPECT_THAT(checkApart(device.replica()), HasSubstr("hold what belongs in the journal: entry"));
}

// Section 9.2: what a person confirmed counts until somebody takes it back, also where both happened apart.
TEST(NeedToKnow, AConfirmationThatWasTakenBackIsNone) {
  const auto version = [](const char* host, std::uint64_t counter, const VectorClock& seen, bool tombstone) {
    Version made{{host, counter}, seen, "", tombstone};
    made.context.raise(host, counter);
    return made;
  };
  const Version confirmed = version("a", 1, {}, false), withdrawn = version("b", 1, confirmed.context, true);
  const Version again = version("a", 2, withdrawn.context, false), apart = version("c", 1, {}, true);
  EXPECT_FALSE(isConfirmed({}));
  EXPECT_TRUE(isConfirmed(std::array{confirmed}));
  EXPECT_FALSE(isConfirmed(std::array{withdrawn}));
  EXPECT_FALSE(isConfirmed(std::array{confirmed, withdrawn}));
  EXPECT_TRUE(isConfirmed(std::array{confirmed, withdrawn, again}));
  EXPECT_FALSE(isConfirmed(std::array{confirmed, apart}));
}

// Invariant 7: "boundary payloads obey NEED_TO_KNOW allowlists".
TEST(NeedToKnow, FiresForAFieldThatIsOnNoAllowlistAndForWhatIsHiddenInOneThatIs) {
  EXPECT_EQ(checkNeedToKnow("sim.ask", {{"about", "request/1"}}), "");
  EXPECT_EQ(checkNeedToKnow("sim.mail", {{"to", "request/1"}, {"text", "long"}}), "");
  EXPECT_THAT(checkNeedToKnow("sim.mail", {{"to", "x"}, {"private", "y"}}), HasSubstr("is told private"));
  EXPECT_THAT(checkNeedToKnow("sim.ask", {{"text", "long"}}), HasSubstr("on no allowlist")) << "another tool's";
  EXPECT_THAT(checkNeedToKnow("sim.fax", {{"to", "x"}}), HasSubstr("on no allowlist")) << "a tool without a rule";
  const std::string secret = std::string(kNeedToKnow) + "7";
  EXPECT_THAT(checkNeedToKnow("sim.mail", {{"to", "x"}, {"text", "he said: " + secret}}),
              HasSubstr("is told what may not be told"));
  EXPECT_THAT(checkNeedToKnow("sim.mail", {{"to", json::array{json::object{{"deep", secret}}}}}),
              HasSubstr("is told what may not be told"));
}

}  // namespace
}  // namespace witan::sim::agent_rules_test
