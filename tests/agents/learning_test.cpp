// What agents keep from run to run: facts and goals, the choice of tools and their costs by experience, permissions of
// capabilities, and the standing budgets of a day; on devices that lose their power and on two that were cut off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "agents/data/data_agent.h"
#include "agents/episode/replay.h"
#include "agents/episode/sparing.h"
#include "agents/knowledge.h"
#include "tests/agents/host_rig.h"

namespace witan::agents::learning_test {
namespace {

using namespace test;
using episode::Observation;
using episode::ToolInfo;
using episode::ToolKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Looks something up by what it is for, keeps what it was told as a fact, and comes nearer to its goal.
class Pupil : public Agent {
 public:
  Pupil() {
    spec_ = {.id = "pupil",
             .version = "1",
             .what = "learns",
             .category = "school",
             .subscriptions = {onEntries("question")},
             .capabilities = {{"journal.read"}, {"journal.put"}, {"fast.*"}, {"slow.*"}, {"mail.*"}},
             .budget = {.steps = 20, .tokens = 100, .seconds = 1'000},
             .learns = true};
  }
  const AgentSpec& spec() const override { return spec_; }
  Turn step(const json::value& sigma, const Input& input) const override {
    if (input.kind == InputKind::wake) {
      const json::value* known = input.content.get_object().if_contains("knowledge");
      return {known != nullptr ? *known : json::value(), {}, Looks{{"", {{"q", 1}}, 0, "lookup"}}};
    }
    if (input.kind == InputKind::results) return {nullptr, {}, Finish{"done", {}, {}, {}, false}};
    const json::object& seen = input.content.at(0).get_object();
    const json::value* content = seen.if_contains("content");
    if (content == nullptr) return {nullptr, {}, Finish{"asked in vain: " + text(seen, "error"), {}, {}, {}, true}};
    Turn turn{nullptr, {}, Finish{text(seen, "tool") + " " + canonicalJson(sigma), {}, {}, {}, false}};
    turn.facts = {{canonicalJson(*content), decision::FactSource::kg, 80}};
    turn.goals = {{"know", "lookup", "know everything", gain}};
    return turn;
  }
  std::int64_t gain = 30;

 protected:
  static std::string text(const json::object& object, std::string_view member) {
    return std::string(stringOf(object, member));
  }
  AgentSpec spec_;
};

ToolInfo lookup(const char* name, std::int64_t tokens, bool execute = false) {
  ToolInfo info{.name = name, .kind = ToolKind::look, .tokens = tokens};
  info.serves = std::vector<std::string>{"lookup"};
  if (execute) info.execute = true;
  return info;
}

struct School {
  explicit School(const Agent& agent, const std::string& device = "a") : rig(device, {&agent}), name(device) {
    rig.options.tools = {lookup("fast.ask", 5), lookup("slow.ask", 20),
                         ToolInfo{.name = "mail.send", .kind = ToolKind::action}};
    rig.looker = [this](const ToolCall& call) {
      asked.push_back(call.tool);
      if (down.contains(call.tool)) return Observation{false, nullptr, "it is down", 0, 0};
      return Observation{true, json::value(says), "", tokens, 1};
    };
    start();
  }
  void start() {
    EXPECT_TRUE(rig.open().ok());
    rig.host().setDevices({name}, {}, rig.now());
  }
  void ask(const std::string& id) {
    EXPECT_TRUE(rig.enter(id, "question", R"("why")").ok());
    EXPECT_TRUE(rig.settle().ok());
  }
  void restart() {
    rig.crash(1'000);
    start();
  }
  Knowledge knows() {
    return knowledgeOf("pupil", rig.device().agents().versions(Kind::agentState, "pupil").value()).value();
  }
  std::vector<std::vector<std::string>> transcripts() {
    std::vector<std::vector<std::string>> all;
    for (const auto& [run, status] : rig.runs()) {
      std::vector<std::string>& contents = all.emplace_back();
      const auto rows = episode::readTranscript(rig.device().agents(), RunKey::parse(run).value(), name);
      for (const episode::TranscriptRow& row : *rows) contents.push_back(row.message.content);
    }
    return all;
  }
  // The entries of all transcripts that have the word.
  std::string entriesWith(std::string_view word) {
    std::string found;
    for (const auto& contents : transcripts())
      for (const std::string& content : contents)
        if (content.find(word) != std::string::npos) found += content + "\n";
    return found;
  }

  HostRig rig;
  const std::string name;
  std::set<std::string> down;
  std::vector<std::string> asked;
  std::string says = "forty-two";
  std::int64_t tokens = 0;
};

TEST(Learning, FactsAndGoalsStandInTheSlotsAndReachTheNextRun) {
  const Pupil pupil;
  School school(pupil);
  school.ask("q1");
  school.says = "forty-three";
  school.restart();
  school.ask("q2");
  const Knowledge known = school.knows();
  ASSERT_THAT(known.facts, SizeIs(2));
  EXPECT_EQ(known.facts[0].content, R"("forty-three")");
  EXPECT_EQ(known.goals.at("know").goal, (decision::Goal<decision::RunTime>{60, 2}));
  EXPECT_THAT(school.entriesWith("\"entry\":\"begin\""), HasSubstr("forty-two")) << "the second run was told";
  const auto view = viewOf(school.rig.device().agents().versions(Kind::agentState, "pupil").value(), nullptr).value();
  EXPECT_EQ(view->state.slot(SlotName::openLoopIds).value, R"(["know"])");
  for (const auto& contents : school.transcripts()) {
    const auto again = episode::replay(pupil, contents);
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(again->reproduced());
  }
}

TEST(Learning, AFailingToolFallsBackAndIsNotPreferredNextTime) {
  const Pupil pupil;
  School school(pupil);
  school.down = {"fast.ask"};
  school.ask("q1");
  EXPECT_THAT(school.asked, ElementsAre("fast.ask", "slow.ask")) << "one round, the cheaper one first";
  school.down.clear();
  school.restart();
  school.ask("q2");
  EXPECT_EQ(school.asked.back(), "slow.ask") << "experience is kept";
  EXPECT_THAT(school.asked, SizeIs(3));
  EXPECT_THAT(school.rig.runs(), ::testing::Each(::testing::Pair(::testing::_, WakeStatus::completed)));
  for (const auto& contents : school.transcripts()) EXPECT_TRUE(episode::replay(pupil, contents)->reproduced());
  // With nothing that answers, the run says so.
  school.down = {"fast.ask", "slow.ask"};
  school.ask("q3");
  EXPECT_THAT(school.entriesWith("asked in vain"), HasSubstr("it is down"));
}

TEST(Learning, ACallIsChargedWhatTheLastOneTook) {
  const Pupil pupil;
  School school(pupil);
  school.tokens = 60;
  school.ask("q1");
  EXPECT_EQ(school.knows().costs.at("fast.ask").tokens, decision::Natural(60));
  school.ask("q2");
  EXPECT_THAT(school.entriesWith(R"("entry":"look")"), HasSubstr(R"("tokens":60)"));
}

TEST(Learning, WhatIsEnoughIsEnough) {
  class Eager final : public Pupil {
   public:
    Eager() { spec_.enough = 60; }
  };
  Eager eager;
  eager.gain = 60;
  School school(eager);
  school.ask("q1");
  school.ask("q2");
  EXPECT_THAT(school.asked, SizeIs(1));
  EXPECT_THAT(school.entriesWith("goal_met"), HasSubstr("observation"));
}

TEST(Learning, OnlyACapabilityWithExecuteCoversWhatExecutes) {
  class Permitted final : public Pupil {
   public:
    Permitted() {
      for (Capability& one : spec_.capabilities) one.execute = true;
    }
  };
  const Pupil pupil;
  const Permitted permitted;
  for (const Agent* agent : {static_cast<const Agent*>(&pupil), static_cast<const Agent*>(&permitted)}) {
    School school(*agent);
    school.rig.options.tools = {lookup("fast.ask", 5, true), lookup("slow.ask", 20)};
    school.restart();
    school.ask("q1");
    EXPECT_THAT(school.asked, ElementsAre(agent == &pupil ? "slow.ask" : "fast.ask"));
  }
  // A fork cannot widen it, and access to change is more than access to look.
  const Capability looks{"a", 1, {}, {}, std::int64_t{1}}, all{"a", 1, {}, {}}, runs{"a", 1, {}, {}, {}, true};
  EXPECT_TRUE(episode::within(looks, all));
  EXPECT_FALSE(episode::within(all, looks));
  EXPECT_FALSE(episode::within(runs, all));
  ToolInfo change{.name = "a", .kind = ToolKind::action};
  EXPECT_FALSE(episode::covers(looks, {"a", {}, {}, episode::specOf(change, {0, 0, 0})}));
  EXPECT_TRUE(episode::covers(all, {"a", {}, {}, episode::specOf(change, {0, 0, 0})}));
}

// Each learns alone; together they know both, also the run after the next.
TEST(Learning, DevicesThatWereCutOffLoseNoFact) {
  const Pupil pupil;
  School a(pupil), b(pupil, "b");
  b.says = "seven";
  const auto meet = [&](bool live) {
    a.rig.host().setDevices({"a", "b"}, live ? std::set<std::string>{"b"} : std::set<std::string>{}, a.rig.now());
    b.rig.host().setDevices({"a", "b"}, live ? std::set<std::string>{"a"} : std::set<std::string>{}, b.rig.now());
  };
  meet(false);
  a.ask("q1");
  b.ask("q2");
  replication::test::Link(a.rig.device(), b.rig.device()).run();
  EXPECT_THAT(a.knows().facts, SizeIs(2));
  EXPECT_EQ(a.knows(), b.knows());
  meet(false);
  a.says = "eight";
  a.ask("q3");
  EXPECT_THAT(a.knows().facts, SizeIs(3));
  replication::test::Link(a.rig.device(), b.rig.device()).run();
  EXPECT_EQ(a.knows(), b.knows());
}

TEST(Learning, AnAgentThatDoesNotLearnSaysNoFacts) {
  class Chatty final : public Pupil {
   public:
    Chatty() { spec_.learns = false; }
    Turn step(const json::value&, const Input&) const override {
      Turn turn{nullptr, {}, Finish{}};
      turn.facts = {{"a fact", decision::FactSource::user, 1}};
      return turn;
    }
  };
  const Chatty chatty;
  School school(chatty);
  school.ask("q1");
  EXPECT_THAT(school.entriesWith("it learns"), HasSubstr("failedTerminal"));
}

// --- agents in files

AgentFile fileOf(const char* form, const char* mind) {
  AgentFile file;
  file.id = "scribe", file.what = "writes", file.form = form, file.mind = mind, file.learns = true;
  file.entries = {"question"};
  file.tools = {FileTool{.name = "fast.ask"}};
  return file;
}

// What a mind answers, one after the other; the tools that were asked.
std::vector<std::string> live(const DataAgent& agent, const std::string& mind, std::vector<std::string> answers,
                              Knowledge& known) {
  HostRig rig("a", {&agent});
  rig.options.tools = {ToolInfo{.name = mind, .kind = ToolKind::look}, lookup("fast.ask", 5)};
  std::vector<std::string> asked;
  rig.looker = [&](const ToolCall& call) {
    asked.push_back(call.tool);
    if (call.tool != mind || answers.empty()) return Observation{true, json::value("seen"), "", 0, 0};
    const json::value answer = parseJson(answers.front()).value();
    answers.erase(answers.begin());
    return Observation{true, answer, "", 0, 0};
  };
  EXPECT_TRUE(rig.open().ok());
  rig.host().setDevices({"a"}, {}, rig.now());
  EXPECT_TRUE(rig.enter("q1", "question", R"("why")").ok());
  EXPECT_TRUE(rig.settle().ok());
  EXPECT_THAT(rig.runs(), ::testing::ElementsAre(::testing::Pair(::testing::_, WakeStatus::completed)));
  known = knowledgeOf("scribe", rig.device().agents().versions(Kind::agentState, "scribe").value()).value();
  return asked;
}

TEST(Learning, AModelNotesFactsAndGoals) {
  const auto agent = DataAgent::make(fileOf("model", "llm.chat"), "1").value();
  Knowledge known;
  const std::string notes =
      R"({"calls":[{"arguments":{"confidence":90,"content":"bees sleep"},"id":"c1","name":"learn.fact"},)"
      R"({"arguments":{"gained":40,"id":"g","type":"lookup"},"id":"c2","name":"learn.goal"}],"stop":"tool","text":""})";
  const auto asked = live(*agent, "llm.chat", {notes, R"({"calls":[],"stop":"end","text":"noted"})"}, known);
  EXPECT_THAT(asked, SizeIs(2)) << "it is asked again after a note";
  ASSERT_THAT(known.facts, SizeIs(1));
  EXPECT_EQ(known.facts[0], (Fact{"bees sleep", decision::FactSource::llm, 90u}));
  EXPECT_EQ(known.goals.at("g").goal.progress, decision::Natural(40));
}

TEST(Learning, AProgramNamesGoalsInsteadOfTools) {
  const auto agent = DataAgent::make(fileOf("program", "prog.step"), "1").value();
  Knowledge known;
  const auto asked =
      live(*agent, "prog.step",
           {R"({"looks":[{"arguments":{"q":1},"goal":"lookup"}]})",
            R"({"answer":"done","facts":[{"confidence":70,"content":"it was seen"}],"goals":[{"id":"g","type":"t"}]})"},
           known);
  EXPECT_THAT(asked, ElementsAre("prog.step", "fast.ask", "prog.step"));
  ASSERT_THAT(known.facts, SizeIs(1));
  EXPECT_EQ(known.facts[0].source, decision::FactSource::inference);
  EXPECT_EQ(known.goals.at("g").goal.attempts, decision::Natural(1));
}

// A scribe in a file whose mind says what a test says, and what it was asked.
struct Scribe {
  explicit Scribe(const char* form)
      : agent(DataAgent::make(fileOf(form, "mind.step"), "1").value()), rig("a", {agent.get()}) {
    rig.options.tools = {ToolInfo{.name = "mind.step", .kind = ToolKind::look}};
    rig.looker = [this](const ToolCall& call) {
      asked.push_back(call.arguments);
      return Observation{true, answer, "", 0, 0};
    };
    EXPECT_TRUE(rig.open().ok());
    rig.host().setDevices({"a"}, {}, rig.now());
  }
  void ask(const std::string& id) {
    EXPECT_TRUE(rig.enter(id, "question", R"("why")").ok());
    EXPECT_TRUE(rig.settle().ok());
  }
  Knowledge knows() {
    return knowledgeOf("scribe", rig.device().agents().versions(Kind::agentState, "scribe").value()).value();
  }
  std::vector<std::string> transcript(const RunKey& run) {
    std::vector<std::string> contents;
    const auto rows = episode::readTranscript(rig.device().agents(), run, "a");
    for (const episode::TranscriptRow& row : *rows) contents.push_back(row.message.content);
    return contents;
  }

  std::unique_ptr<DataAgent> agent;
  HostRig rig;
  json::value answer;
  std::vector<json::object> asked;
};

json::value learning(const std::string& prefix, std::size_t count, std::size_t letters, char letter) {
  json::array facts;
  for (std::size_t i = 0; i < count; ++i)
    facts.push_back(
        json::object{{"confidence", i % 7 * 10}, {"content", concat(prefix, i, std::string(letters, letter))}});
  return json::object{{"answer", "noted"}, {"facts", std::move(facts)}};
}

// Two thoughts of 64 facts of control characters, each of which is six bytes as JSON: more than a question has room
// for.
TEST(Learning, WhatFindsNoRoomInAQuestionIsCountedAndKept) {
  Scribe scribe("program");
  for (const char* id : {"q1", "q2"}) {
    scribe.answer = learning(id, 64, 80, '\x01');
    scribe.ask(id);
  }
  const std::size_t known = scribe.knows().facts.size();
  ASSERT_GT(known, 100u);
  scribe.answer = json::object{{"answer", "here"}};
  scribe.ask("q3");
  EXPECT_THAT(scribe.rig.runs(), ::testing::Each(::testing::Pair(::testing::_, WakeStatus::completed)));
  ASSERT_THAT(scribe.asked, SizeIs(3)) << "it thinks";
  EXPECT_LE(canonicalJson(scribe.asked.back()).size(), 60u * 1024);
  const json::value& told = scribe.asked.back().at("wake").at("knowledge");
  const std::size_t shown = told.at("facts").as_array().size();
  EXPECT_EQ(told.at("leftOut").to_number<std::size_t>() + shown, known);
  EXPECT_GT(shown, 80u);
  const auto facts = scribe.knows().facts;
  EXPECT_EQ(std::ranges::count_if(told.at("facts").as_array(),
                                  [](const json::value& fact) { return fact.at("confidence").to_number<int>() > 0; }),
            std::ranges::count_if(facts, [](const Fact& fact) { return fact.confidence > decision::Natural(0); }))
      << "the least certain go first";
  EXPECT_THAT(scribe.knows().facts, SizeIs(known));
  ASSERT_FALSE(scribe.rig.notices.empty());
  EXPECT_EQ(scribe.rig.notices.back().kind, "needsAttention");
  EXPECT_THAT(scribe.rig.notices.back().what, HasSubstr("find no room"));
  std::size_t said = 0;
  for (const auto& [run, status] : scribe.rig.runs()) {
    const auto contents = scribe.transcript(RunKey::parse(run).value());
    said += contents.back().find("\"leftOut\":") != std::string::npos ? 1 : 0;
    EXPECT_TRUE(episode::replay(*scribe.agent, contents)->reproduced());
  }
  EXPECT_EQ(said, 1u) << "at the end of the run";
}

// What a run was given stands once in its transcript.
TEST(Learning, AQuestionDoesNotRepeatWhatTheAgentKnows) {
  for (const char* form : {"program", "model"}) {
    Scribe scribe(form);
    if (std::string_view(form) == "program")
      scribe.answer = learning("bees", 3, 200, 'z');
    else
      scribe.answer = parseJson(concat(R"({"calls":[{"arguments":{"content":"bees)", std::string(400, 'z'),
                                       R"("},"id":"c1","name":"learn.fact"}],"stop":"tool","text":""})"))
                          .value();
    scribe.ask("q1");
    scribe.answer = json::object{{"answer", "here"}, {"calls", json::array()}, {"stop", "end"}, {"text", "here"}};
    scribe.asked.clear();
    scribe.ask("q2");
    ASSERT_THAT(scribe.asked, SizeIs(1));
    EXPECT_THAT(canonicalJson(scribe.asked[0]), HasSubstr("zzzz"));
    std::size_t looks = 0;
    for (const auto& [key, status] : scribe.rig.runs()) {
      const auto contents = scribe.transcript(RunKey::parse(key).value());
      EXPECT_TRUE(episode::replay(*scribe.agent, contents)->reproduced());
      const auto begin = episode::parseEntry(contents.front());
      if (contents.front().find("zzzz") == std::string::npos) continue;
      for (const std::string& content : contents) {
        const auto entry = episode::parseEntry(content);
        if (entry->kind != episode::EntryKind::look || stringOf(entry->body, "tool") != "mind.step") continue;
        ++looks;
        EXPECT_EQ(content.find("zzzz"), std::string::npos) << form;
        EXPECT_EQ(episode::wholeArguments(begin->body, entry->body).value(), scribe.asked[0]) << form;
        EXPECT_EQ(stringOf(entry->body, "input"), toHex(sha256(canonicalJson(scribe.asked[0])))) << form;
      }
    }
    EXPECT_EQ(looks, 1u) << form;
  }
}

// Transcripts of earlier builds have it twice, and are replayed as they are.
TEST(Learning, TranscriptsOfEarlierRulesRepeatIt) {
  const auto agent = DataAgent::make(fileOf("program", "mind.step"), "1").value();
  const episode::LocalGate gate;
  episode::ToolTable tools;
  ASSERT_TRUE(tools.add(ToolInfo{.name = "mind.step", .kind = ToolKind::look}).ok());
  Knowledge known;
  known.facts.push_back({std::string(400, 'z'), decision::FactSource::user, 50u});
  auto beginning = episode::beginningOf(agent->spec(), tools, RunKey{sha256("run")}, "a",
                                        {{"reason", "user"}, {"knowledge", parseJson(toJson(known)).value()}});
  ASSERT_TRUE(beginning.ok());
  for (const std::int64_t rules : {7, 8}) {
    beginning->rules = rules;
    auto run = episode::Episode::begin(*agent, gate, *beginning);
    ASSERT_TRUE(run.ok());
    const episode::Entry& look = run->entries().back();
    ASSERT_EQ(look.kind, episode::EntryKind::look);
    EXPECT_EQ(look.body.contains("spared"), rules == 8);
    EXPECT_EQ(look.content.find("zzzz") != std::string::npos, rules == 7);
    EXPECT_TRUE(episode::wholeArguments(run->entries().front().body, look.body).value().at("wake").at("knowledge") ==
                beginning->input.at("knowledge"));
    std::uint64_t first = 0;
    (void)run->takeEntries(first);
    run->durable(run->entries().size());
    ASSERT_TRUE(run->observed("look-1", {true, json::object{{"answer", "here"}}, "", 0, 0}).ok());
    std::vector<std::string> contents;
    for (const episode::Entry& entry : run->entries()) contents.push_back(entry.content);
    EXPECT_TRUE(episode::replay(*agent, contents)->reproduced()) << rules;
  }
}

// An earlier version of the program edited the slot by its own rules: that is the agent's own, what it learns stands
// beside it.
TEST(Learning, WhatAnEarlierProgramWroteInTheSlotStays) {
  const Pupil pupil;
  struct Case {
    const char *written, *own;
  };
  for (const Case& one :
       {Case{"[1,2]", R"("value":[1,2])"}, Case{"\"words\"", R"("value":"words")"}, Case{"7", R"("value":7)"},
        Case{R"({"own":{"a":1}})", R"("own":{"a":1})"}, Case{R"({"knowledge":{"facts":[]},"own":2})", R"("own":2)"}}) {
    School school(pupil);
    AgentState state;
    state.slot(SlotName::extension) = {one.written, 3, "old"};
    state.slot(SlotName::openLoopIds) = {R"(["loop-of-old"])", 1, "old"};
    const Write write{Kind::agentState, "pupil", encodeAgentState(state, school.rig.device().replica().writer()),
                      false};
    ASSERT_TRUE(school.rig.device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
    school.ask("q1");
    EXPECT_THAT(school.rig.runs(), ::testing::Each(::testing::Pair(::testing::_, WakeStatus::completed)))
        << one.written;
    EXPECT_THAT(school.knows().facts, SizeIs(1)) << one.written;
    EXPECT_THAT(school.rig.device().view("pupil").slot(SlotName::extension).value, HasSubstr(one.own));
    EXPECT_THAT(school.entriesWith("\"entry\":\"begin\""), HasSubstr("loop-of-old")) << "the run was told of it";
  }
}

// --- budgets of a day

constexpr std::int64_t kDayMs = 86'400'000;

TEST(Standing, ARunTakesWhatIsLeftAndTheNextWaitsForTheDay) {
  const Pupil pupil;
  School school(pupil);
  school.rig.options.standing = {{.name = "day", .agent = "pupil", .tokens = 50}};
  school.restart();
  school.tokens = 30;
  school.ask("q1");
  school.ask("q2");  // begins with 20, and takes them all
  EXPECT_THAT(school.entriesWith("\"entry\":\"begin\""), HasSubstr(R"("tokens":20)"));
  ASSERT_THAT(school.asked, SizeIs(2));
  school.ask("q3");
  EXPECT_THAT(school.asked, SizeIs(2)) << "it waits";
  EXPECT_THAT(school.entriesWith("\"entry\":\"end\""), HasSubstr("\"usage\":"));
  ASSERT_THAT(school.rig.notices, ::testing::Not(IsEmpty()));
  EXPECT_THAT(school.rig.notices.back().what, HasSubstr("is spent (tokens)"));
  school.restart();
  EXPECT_TRUE(school.rig.settle().ok());
  EXPECT_THAT(school.asked, SizeIs(2)) << "a restart gives nothing back";
  school.rig.ms += kDayMs;
  EXPECT_TRUE(school.rig.settle().ok());
  EXPECT_THAT(school.asked, SizeIs(3)) << "its wake was not lost";
  EXPECT_THAT(school.knows().spent, SizeIs(2));
}

TEST(Standing, AnotherDeviceKnowsWhatWasSpent) {
  const Pupil pupil;
  School a(pupil), b(pupil, "b");
  for (School* one : {&a, &b}) {
    one->rig.options.standing = {{.name = "day", .tokens = 30}};
    one->restart();
    one->rig.host().setDevices({"a", "b"}, {}, one->rig.now());
    one->tokens = 30;
  }
  a.ask("q1");
  replication::test::Link(a.rig.device(), b.rig.device()).run();
  b.ask("q2");
  EXPECT_THAT(b.asked, IsEmpty());
}

TEST(Standing, AProviderHasItsOwn) {
  const Pupil pupil;
  School school(pupil);
  for (ToolInfo& tool : school.rig.options.tools) tool.provider = "cheap";
  school.rig.options.tools[1].provider = "dear";
  class Open final : public episode::Gate {
   public:
    episode::GateVerdict judge(const episode::GateRequest&) const override {
      return {episode::GateKind::allow, "", "", std::nullopt, std::nullopt};
    }
    std::string epoch() const override { return "open"; }
  };
  const Open open;
  school.rig.gate = &open;
  school.rig.options.standing = {{.name = "models", .provider = "cheap", .calls = 2}};
  school.restart();
  school.down = {"fast.ask"};
  school.ask("q1");  // fast fails, slow is dear
  school.down.clear();
  EXPECT_EQ(school.knows().spent.begin()->second.at("a").at("cheap").calls, 1);
  EXPECT_EQ(school.knows().spent.begin()->second.at("a").at("dear").calls, 1);
}

TEST(Standing, TheTimeOfAnActionIsCharged) {
  class Mailer final : public Pupil {
   public:
    Turn step(const json::value&, const Input& input) const override {
      if (input.kind == InputKind::wake) return {nullptr, {}, Actions{action("mail.send", {{"to", "x"}}, {"x"})}};
      return {nullptr, {}, Finish{"sent", {}, {}, {}, false}};
    }
  };
  const Mailer mailer;
  School school(mailer);
  school.rig.tool = [&](const ToolCall&) {
    school.rig.ms += 4'200;
    return saga::Outcome{};
  };
  school.ask("q1");
  EXPECT_THAT(school.entriesWith("\"entry\":\"end\""), HasSubstr(R"("seconds":5)"));
  for (const auto& contents : school.transcripts()) EXPECT_TRUE(episode::replay(mailer, contents)->reproduced());
}

// --- the joined knowledge does not depend on who met whom first

Knowledge drawn() {
  const auto word = [] { return std::string(1, static_cast<char>('a' + *rc::gen::inRange(0, 4))); };
  const auto number = [](int most) { return static_cast<std::uint64_t>(*rc::gen::inRange(0, most)); };
  Knowledge one, sorted;
  for (auto n = number(4); n > 0; --n) one.facts.push_back({word(), decision::FactSource::kg, number(3)});
  for (auto n = number(4); n > 0; --n) one.goals[word()] = {word(), word(), {number(100), number(9)}};
  for (auto n = number(4); n > 0; --n) one.scores.push_back({word(), word(), number(1'000)});
  for (auto n = number(4); n > 0; --n) one.costs[word()] = {number(9), number(9)};
  for (auto n = number(12); n > 0; --n)
    one.spent[concat("2026-03-", 10 + number(15))][word()][word()] = {static_cast<std::int64_t>(number(9)), 2, 3};
  join(sorted, one);
  return sorted;
}

RC_GTEST_PROP(Knowledge, JoinsAlikeInAnyOrder, ()) {
  const Knowledge a = drawn(), b = drawn(), c = drawn();
  const auto joined = [](std::initializer_list<const Knowledge*> all) {
    Knowledge out;
    for (const Knowledge* one : all) join(out, *one);
    return out;
  };
  RC_ASSERT(joined({&a, &b, &c}) == joined({&c, &a, &b}));
  RC_ASSERT(joined({&a, &a, &b, &b}) == joined({&b, &a}));
  const std::string slot = slotWith(R"({"own":[1]})", a).value();
  RC_ASSERT(knowledgeIn(slot).value() == a);
  RC_ASSERT(slotWith(slot, Knowledge{}).value().find(R"("own":[1])") != std::string::npos);
}

Knowledge drawnOnce() {
  Knowledge known;
  known.facts.push_back({"it is so", decision::FactSource::kg, 80});
  return known;
}

// A mind says what is six times as long once it is written, as much of it as it may: the node lives, and counts.
TEST(Knowledge, CountersAreKeptWhateverAMindLearns) {
  const std::vector<Capability> rate{{.resource = "mail.send", .perHour = 3}};
  const auto learn = [&](const std::function<Turn(int)>& says) {
    episode::Learner learner(json::object{{"knowledge", json::object()}});
    for (int turn = 0; turn < 12; ++turn) learner.take(says(turn));
    json::object end;
    learner.tell(end);
    EXPECT_GT(end.at("learned").at("refused").to_number<int>(), 0);
    Knowledge known = learner.knowledge();
    countUses(known, "2026-03-23T10", "a", rate, "mail.send", 1);
    replication::AgentState state;
    EXPECT_TRUE(keepKnowledge(state, known, true, "w").ok());
    const auto kept = knowledgeIn(state.slot(replication::SlotName::extension).value);
    EXPECT_EQ(kept.value(), known) << "and nothing that was learned is lost";
    return known;
  };
  const Knowledge facts = learn([](int turn) {
    Turn said;
    for (int i = 0; i < 64; ++i)
      said.facts.push_back({concat(std::string(130, '\1'), turn, "/", i), decision::FactSource::llm, 50});
    return said;
  });
  EXPECT_THAT(facts.facts, ::testing::Not(IsEmpty()));
  const Knowledge goals = learn([](int turn) {
    Turn said;
    for (int i = 0; i < 30; ++i) said.goals.push_back({concat("g", turn, "-", i), "t", std::string(1'000, 'a'), 1});
    return said;
  });
  EXPECT_THAT(goals.goals, ::testing::Not(IsEmpty()));
}

TEST(Knowledge, WhatIsLearnedGivesWayToCounters) {
  const std::vector<Capability> rate{{.resource = "mail.send", .perHour = 3}};
  Knowledge known;
  countUses(known, "2026-03-23T10", "a", rate, "mail.send", 2);
  Knowledge all = known;
  for (int i = 0; i < 400; ++i)  // written by a build with other limits
    all.facts.push_back({concat(std::string(400, 'x'), i), decision::FactSource::kg, 1});
  replication::AgentState state;
  ASSERT_TRUE(keepKnowledge(state, all, true, "w").ok());
  EXPECT_EQ(knowledgeIn(state.slot(replication::SlotName::extension).value).value(), known);

  const std::string own(kMaxOwnExtensionBytes, 'o');
  EXPECT_FALSE(knowledgeIn(concat(R"({"own":")", own, R"("})")).ok()) << "no room is left";
  EXPECT_TRUE(hasRoomForCounters(known));
  for (int device = 0; device < 1'000; ++device)
    countUses(known, "2026-03-23T10", concat("device-", device), rate, "mail.send", 1);
  EXPECT_FALSE(hasRoomForCounters(known));
}

TEST(Knowledge, TheAgentsOwnPartOfTheSlotIsApart) {
  const std::string slot = slotWith(R"({"own":[1]})", drawnOnce()).value();
  const std::string set = slotWithOwn(slot, json::object{{"mine", 2}}).value();
  EXPECT_EQ(knowledgeIn(set).value(), drawnOnce());
  EXPECT_THAT(set, HasSubstr(R"("mine":2)"));
  EXPECT_THAT(set, ::testing::Not(HasSubstr("own")));
  EXPECT_FALSE(slotWithOwn(slot, json::object{{"knowledge", json::object()}}).ok());
  EXPECT_FALSE(slotWithOwn(slot, json::value(std::string(kMaxOwnExtensionBytes, 'x'))).ok());
  EXPECT_EQ(slotWithOwn("", json::value(7)).value(), "7");
}

TEST(Knowledge, IsBoundedAndKeepsWhatALaterBuildWrote) {
  Knowledge many;
  for (std::size_t i = 0; i < kMaxFacts + 50; ++i)
    many.facts.push_back({concat("fact ", i), decision::FactSource::kg, 1});
  Knowledge kept;
  join(kept, many);
  EXPECT_THAT(kept.facts, SizeIs(kMaxFacts));
  EXPECT_FALSE(knowledgeIn(R"({"knowledge":{"dreams":[]}})").ok());
  EXPECT_EQ(knowledgeIn("7").value(), Knowledge{});
  EXPECT_EQ(knowledgeIn("").value(), Knowledge{});
}

}  // namespace
}  // namespace witan::agents::learning_test
