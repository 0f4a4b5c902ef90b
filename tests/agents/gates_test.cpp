// The gates beside the one on calls: what answers may tell an agent, what must hold of them, how often a capability is
// used in an hour, and what may wake an agent at all.
#include <gmock/gmock.h>

#include "agents/data/agent_file.h"
#include "agents/host/device_gate.h"
#include "agents/host/standing.h"
#include "tests/agents/episode_kit.h"
#include "tests/agents/host_rig.h"

namespace witan::agents::gates_test {
namespace {

using namespace test;
using episode::contentsOf;
using episode::EntryKind;
using episode::Episode;
using episode::lastOf;
using episode::looking;
using episode::planning;
using episode::ScriptAgent;
using episode::ToolInfo;
using episode::ToolKind;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

std::string policyWith(const std::string& rule, const std::string& grant = {}) {
  return R"(
name = "lab"
version = 1
[[boundary]]
name = "lab"
locales = ["us"]
[[boundary.operation]]
name = "ask"
allow = ["q"]
)" + rule +
         R"(
[[boundary.operation]]
name = "put"
allow = ["id", "n"]
)" + rule +
         R"(
[[grant]]
agent = "script"
category = "toys"
locales = ["us"]
tools = ["look.ask", "act.put"]
boundaries = ["lab"]
)" + grant;
}

DeviceGate gateOf(const std::string& text) {
  auto policy = parsePolicyToml(text, "p.toml");
  EXPECT_TRUE(policy.ok()) << (policy.ok() ? "" : policy.error().message);
  return DeviceGate(Monitor::compile(*policy).value());
}

episode::ToolTable labTools() {
  episode::ToolTable table;
  const auto add = [&](ToolInfo tool) { EXPECT_TRUE(table.add(std::move(tool)).ok()); };
  add({.name = "look.ask", .kind = ToolKind::look, .boundary = "lab", .operation = "ask"});
  add({.name = "act.put", .kind = ToolKind::action, .targetArgument = "id", .boundary = "lab", .operation = "put"});
  return table;
}

struct Laboratory {
  Laboratory(const std::string& rule, std::vector<Turn> script) : gate(gateOf(policyWith(rule))), agent(script) {
    auto beginning =
        episode::beginningOf(agent.spec(), labTools(), episode::toyRun(1), "d1", {{"reason", "subscription"}});
    run = Episode::begin(agent, gate, *std::move(beginning)).value();
    episode::settle(*run);
  }
  // Answers the look that is under way.
  json::object hear(const json::value& content) {
    const auto effects = run->takeEffects();
    EXPECT_THAT(effects, SizeIs(1));
    EXPECT_TRUE(run->observed(effects.at(0).span(), {true, content, "", 0, 0}).ok());
    return agent.told.back().content.at(0).get_object();
  }
  void expectReproduced() const {
    const auto again = episode::replay(agent, contentsOf(*run));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_TRUE(again->reproduced()) << (again->difference ? again->difference->why : "");
  }
  DeviceGate gate;
  ScriptAgent agent;
  std::optional<Episode> run;
};

const Turn kAsk = looking({{"look.ask", {{"q", 1}}}});

TEST(AnswerGate, AnAgentSeesOfAnAnswerWhatThePolicyLetsItSee) {
  Laboratory lab("answer = [\"value\"]\nexcess = \"redact\"", {kAsk});
  const json::object heard = lab.hear({{"value", 7}, {"patient", "David"}});
  EXPECT_EQ(canonicalJson(heard.at("content")), R"({"value":7})");
  for (const std::string& content : contentsOf(*lab.run)) EXPECT_EQ(content.find("David"), std::string::npos);
  EXPECT_THAT(canonicalJson(lastOf(*lab.run, EntryKind::observation).body), HasSubstr("left out: patient"));
  lab.expectReproduced();
}

TEST(AnswerGate, AnAnswerWithMoreIsNoAnswerWhereExcessIsBlocked) {
  Laboratory lab("answer = [\"value\"]", {kAsk});
  const json::object heard = lab.hear({{"value", 7}, {"patient", "David"}});
  EXPECT_FALSE(heard.at("ok").as_bool());
  EXPECT_THAT(std::string(heard.at("error").as_string()), HasSubstr("answer_blocked"));
  for (const std::string& content : contentsOf(*lab.run)) EXPECT_EQ(content.find("David"), std::string::npos);
  ASSERT_NE(lab.run->ended(), nullptr);
  lab.expectReproduced();
}

// Of what the tool said, not of what the policy leaves of it.
TEST(AnswerGate, AnAnswerBeyondTheLimitIsAFailureOfTheTool) {
  const std::size_t around = canonicalJson(json::object{{"more", ""}, {"value", 7}}).size();
  for (const std::size_t bytes : {episode::kMaxObservationBytes, episode::kMaxObservationBytes + 1}) {
    Laboratory lab("answer = [\"value\"]\nexcess = \"redact\"", {kAsk});
    const json::object heard = lab.hear({{"more", std::string(bytes - around, 'x')}, {"value", 7}});
    EXPECT_EQ(heard.at("ok").as_bool(), bytes == episode::kMaxObservationBytes);
    EXPECT_EQ(heard.contains("error"), bytes > episode::kMaxObservationBytes);
    lab.expectReproduced();
  }
}

const std::string kPositive =
    R"(ensure = '{"type":"object","properties":{"value":{"type":"integer","minimum":0}},"required":["value"]}')";

TEST(AnswerGate, AnAnswerThatBreaksItsPostConditionIsAFailureOfTheTool) {
  Laboratory good(kPositive, {kAsk});
  EXPECT_TRUE(good.hear({{"value", 7}}).at("ok").as_bool());
  good.expectReproduced();
  Laboratory bad(kPositive, {kAsk});
  const json::object heard = bad.hear({{"value", -7}});
  EXPECT_FALSE(heard.at("ok").as_bool());
  EXPECT_THAT(std::string(heard.at("error").as_string()), HasSubstr("postcondition_failed"));
  bad.expectReproduced();
}

// It has happened, and what came of it is wrong: no silent success, and nothing is built upon it.
TEST(AnswerGate, AResultThatBreaksItsPostConditionFailsTheActionAndWhatBuildsOnIt) {
  Laboratory lab(kPositive, {planning({episode::put("a", 1), episode::put("a", 2)})});
  ASSERT_TRUE(lab.run->planned(*lab.run->wantsPlan()).ok());
  episode::settle(*lab.run);
  const auto effects = lab.run->takeEffects();
  ASSERT_THAT(effects, SizeIs(2));
  ASSERT_TRUE(lab.run->outcome(*effects[0].operation(), OperationOutcome::applied, json::object{{"value", -1}}).ok());
  const json::array& results = lab.agent.told.back().content.get_array();
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results[0].at("outcome").as_string(), "failed");
  EXPECT_EQ(results[0].at("result").at("applied").as_bool(), true);
  EXPECT_EQ(results[1].at("result").at("token").as_string(), "after_failure");
  ASSERT_NE(lab.run->ended(), nullptr);
  EXPECT_EQ(lab.run->ended()->status, WakeStatus::failedTerminal);
  EXPECT_THAT(lab.run->ended()->cause, HasSubstr("postcondition_failed"));
  lab.expectReproduced();
}

TEST(AnswerGate, APolicyThatCannotBeCheckedIsRefused) {
  for (const char* rule : {"ensure = '{'", R"(ensure = '{"type":"nonsense"}')", "answer = [\"a\", \"a\"]"})
    EXPECT_FALSE(parsePolicyToml(policyWith(rule), "p.toml").ok()) << rule;
  const auto wakes = parsePolicyToml(policyWith("", "wakes = [\"dreams\"]"), "p.toml");
  ASSERT_FALSE(wakes.ok());
  EXPECT_THAT(wakes.error().message, HasSubstr("wakes"));
}

// --- rates

// Sends as many letters as it is woken for.
class Postman final : public Agent {
 public:
  Postman() {
    spec_ = {.id = "postman",
             .version = "1",
             .what = "sends",
             .category = "post",
             .subscriptions = {onEntries("letter")},
             .capabilities = {{"mail.send"}}};
    spec_.capabilities[0].perHour = 2;
    spec_.capabilities[0].perDay = 3;
  }
  const AgentSpec& spec() const override { return spec_; }
  AgentSpec& edit() { return spec_; }
  Turn step(const json::value&, const Input& input) const override {
    if (input.kind == InputKind::results) return {nullptr, {}, Finish{"sent", {}, {}, {}, false}};
    return planning({{"mail.send", "{}", {}, {}}});
  }

 private:
  AgentSpec spec_;
};

struct PostOffice {
  explicit PostOffice(const std::string& name = "a", const Postman& of = postman()) : rig(name, {&of}) {
    rig.options.tools = {ToolInfo{.name = "mail.send", .kind = ToolKind::action}};
    start();
  }
  static const Postman& postman() {
    static const Postman one;
    return one;
  }
  void start() {
    EXPECT_TRUE(rig.open().ok());
    rig.host().setDevices({rig.device().name()}, {}, rig.now());
  }
  std::size_t send(int letters, std::int64_t withinMs = 1'000) {
    for (int i = 0; i < letters; ++i) EXPECT_TRUE(rig.enter(concat("l", ++written), "letter", "{}").ok());
    EXPECT_TRUE(rig.settle(withinMs).ok());
    return rig.calls.size();
  }
  HostRig rig;
  int written = 0;
};

constexpr std::int64_t kHourMs = 3'600'000;

TEST(Rates, WhatIsBeyondTheHourWaitsForTheNextOneAlsoAfterARestart) {
  PostOffice post;
  EXPECT_EQ(post.send(4), 2u) << "two an hour";
  EXPECT_THAT(post.rig.notices, ::testing::Contains(::testing::Field(&HostNotice::what, HasSubstr("mail.send"))));
  post.rig.crash(1'000);
  post.start();
  EXPECT_EQ(post.send(0), 2u) << "it is kept";
  post.rig.ms += kHourMs;
  EXPECT_EQ(post.send(0, 10), 3u) << "three a day";
  post.rig.ms += 23 * kHourMs;
  EXPECT_EQ(post.send(0), 4u);
  EXPECT_THAT(post.rig.runs(), SizeIs(4));
  EXPECT_THAT(post.rig.runs(), Each(Pair(::testing::_, WakeStatus::completed))) << "nothing is lost";
}

// It waited for an hour by a clock that was wrong, however long that was then.
TEST(Rates, WhatWaitsGoesByTheClockAsItIsNow) {
  PostOffice post;
  post.rig.aheadMs = -5 * kHourMs;
  ASSERT_EQ(post.send(3), 2u);
  const auto waiting = [&] {
    std::vector<std::string> causes;
    for (const std::string& key : post.rig.device().agents().keys(Kind::wakeRun)) {
      const auto view = runView(post.rig.device().agents(), *RunKey::parse(key));
      if (!replication::isTerminal(view->run->body.status)) causes.push_back(view->run->body.cause);
    }
    return causes;
  };
  EXPECT_THAT(waiting(), ::testing::ElementsAre(HasSubstr("the rate of mail.send is used up")));
  post.rig.aheadMs = 0;
  EXPECT_EQ(post.send(0), 3u);
  EXPECT_THAT(waiting(), ::testing::IsEmpty());
}

TEST(Rates, DevicesShareThem) {
  PostOffice a("a"), b("b");
  EXPECT_EQ(a.send(2), 2u);
  replication::test::sync(a.rig.device(), b.rig.device());
  b.rig.host().setDevices({"b"}, {}, b.rig.now());
  EXPECT_EQ(b.send(1), 0u) << "the other device has used them up";
}

TEST(Rates, WhatCannotBeCountedIsNotBegun) {
  PostOffice post;
  AgentState state;
  state.slot(SlotName::extension) = {R"({"knowledge":{"laterBuild":1}})", 1, "w"};
  const Write later{Kind::agentState, "postman", encodeAgentState(state, post.rig.device().replica().writer()), false};
  ASSERT_TRUE(post.rig.device().replica().commit(DatabaseName::agents, "main", {&later, 1}).ok());
  EXPECT_EQ(post.send(4), 0u);
  EXPECT_THAT(post.rig.notices,
              ::testing::Contains(::testing::Field(&HostNotice::what, HasSubstr("cannot be counted"))));
}

TEST(Rates, AreCountedByResourceHourAndDay) {
  const std::vector<Capability> declared{{.resource = "mail.*", .perHour = 5, .perDay = 6}, {"journal.*"}};
  Knowledge known;
  countUses(known, "2026-03-23T10", "a", declared, "mail.send", 4);
  countUses(known, "2026-03-23T10", "b", declared, "mail.draft", 1);
  countUses(known, "2026-03-23T10", "a", declared, "journal.put", 9);
  EXPECT_THAT(ratesLeft(declared, known, "2026-03-23T10"), ElementsAre(Pair("mail.*", 0)));
  EXPECT_THAT(ratesLeft(declared, known, "2026-03-23T11"), ElementsAre(Pair("mail.*", 1))) << "of the day";
  EXPECT_THAT(ratesLeft(declared, known, "2026-03-24T00"), ElementsAre(Pair("mail.*", 5)));
  std::vector<Capability> granted{{"mail.send", 3}, {"mail.draft", 3}, {"journal.put", 7}};
  narrowToRates(granted, {{"mail.*", 4}});
  EXPECT_EQ(granted[0].uses, 3);
  EXPECT_EQ(granted[1].uses, 1);
  EXPECT_EQ(granted[2].uses, 7);
  Knowledge other = known, joined;
  countUses(other, "2026-03-23T10", "a", declared, "mail.send", 1);
  join(joined, other), join(joined, known), join(joined, other);
  EXPECT_EQ(joined.used->at("2026-03-23T10").at("a").at("mail.*"), 5) << "the most that is known of a device";
  for (int day = 1; day <= 28; ++day)
    countUses(joined, concat("2027-02-", day < 10 ? "0" : "", day, "T00"), "a", declared, "mail.send", 1);
  join(joined, known);
  EXPECT_LE(joined.used->size(), kMaxHours);
  EXPECT_FALSE(episode::within({"mail.send"}, declared[0])) << "a fork may not be faster";
  EXPECT_TRUE(episode::within({.resource = "mail.send", .perHour = 1, .perDay = 6}, declared[0]));
  EXPECT_FALSE(episode::checkCapabilities(std::vector<Capability>{{.resource = "a", .perHour = -1}}).ok());
}

TEST(Rates, StandInAgentFiles) {
  const std::string head =
      "id = \"clerk\"\nwhat = \"works\"\nmind = \"m.step\"\nentries = [\"note\"]\nauthors = \"people\"\n";
  const auto file = readAgentFile(head + "[[tools]]\nname = \"mail.send\"\nperHour = 2\n", "clerk.agent.toml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->tools[0].perHour, 2);
  EXPECT_EQ(file->authors, Authors::people);
  EXPECT_FALSE(readAgentFile(head + "[[tools]]\nname = \"mail.send\"\nperDay = 0\n", "clerk.agent.toml").ok());
  EXPECT_FALSE(readAgentFile("id = \"c\"\nwhat = \"w\"\nmind = \"m.step\"\nauthors = \"cats\"\n", "c.agent.toml").ok());
}

// --- what may wake an agent (seed 003, 3.5)

TEST(Eligibility, APolicyMayLetPeopleOnlyWakeAnAgent) {
  const std::string policy = R"(
name = "post"
version = 4
[[boundary]]
name = "post"
locales = ["device"]
[[grant]]
agent = "postman"
category = "post"
locales = ["device"]
tools = []
wakes = ["user"]
)";
  const DeviceGate gate = gateOf(policy);
  PostOffice post;
  post.rig.crash(1'000);
  post.rig.gate = &gate;
  post.start();
  EXPECT_EQ(post.send(1), 0u);
  EXPECT_THAT(post.rig.runs(), ElementsAre(Pair(::testing::_, WakeStatus::skippedSleeping)));
  ASSERT_TRUE(post.rig.host().userTurn("postman", "s", "1", "send", post.rig.now()).ok());
  ASSERT_TRUE(post.rig.settle(1'000).ok());
  EXPECT_THAT(post.rig.runs(), SizeIs(2));
  EXPECT_THAT(post.rig.runs(), ::testing::Contains(Pair(::testing::_, WakeStatus::failedTerminal)))
      << "it ran, and was denied what the policy does not grant";
}

}  // namespace
}  // namespace witan::agents::gates_test
