// An agent as data, as a function: what its file does not grant, its mind cannot have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/data/data_agent.h"

namespace witan::agents::data_agent_test {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<DataAgent> reader(const std::string& role) {
  const std::string text = concat("id = \"leak\"\nwhat = \"reads\"\nserved = true\nentries = [\"note\"]\n", role,
                                  "[[tools]]\nname = \"slice.read\"\n");
  auto file = readAgentFile(text, "leak.agent.toml");
  EXPECT_TRUE(file.ok()) << file.error().message;
  return DataAgent::make(*std::move(file), agentFileVersion(text)).value();
}

// What its mind is asked next, or the tool that it looks with.
std::string next(const DataAgent& agent, const char* domain, const char* role) {
  Turn turn = agent.step(nullptr, {InputKind::wake, json::object{{"reason", "timer"}}});
  const json::object thought{
      {"looks", json::array{json::object{
                    {"tool", "slice.read"},
                    {"arguments", json::object{{"domain", domain}, {"entity", "c"}, {"key", "N1"}, {"role", role}}}}}}};
  turn =
      agent.step(turn.sigma, {InputKind::observation, json::array{json::object{{"ok", true}, {"content", thought}}}});
  const auto* looks = std::get_if<Looks>(&turn.output);
  if (looks == nullptr || looks->size() != 1) return "no look";
  return concat(looks->front().tool, " ", canonicalJson(looks->front().arguments));
}

TEST(DataAgent, ReadsTheSlicesOfItsRoleAndNoOthers) {
  const auto triage = reader("role = \"moderation.SignalTriage\"\n");
  EXPECT_THAT(next(*triage, "moderation", "SignalTriage"), ::testing::StartsWith("slice.read "));
  for (const auto& [domain, role] :
       {std::pair("moderation", "UserNotice"), {"budget", "A"}, {"budget", "SignalTriage"}})
    EXPECT_THAT(next(*triage, domain, role),
                HasSubstr("this agent reads as moderation.SignalTriage and as nobody else"));
  EXPECT_THAT(next(*reader(""), "moderation", "SignalTriage"), HasSubstr("this agent has no role, and reads no slice"));
}

TEST(DataAgent, NumbersBeyondTheirRangeAreRefused) {
  const auto reads = [](const std::string& line) {
    const std::string text = concat("id = \"leak\"\nwhat = \"reads\"\nform = \"program\"\nmind = \"own.mind\"\n", line);
    return readAgentFile(text, "leak.agent.toml").ok();
  };
  ASSERT_TRUE(reads(""));
  for (const auto& [name, least, most] :
       {std::tuple("timeoutMs", 10, 240'000), {"memoryMb", 0, 1 << 20}, {"rounds", 1, 64}, {"enough", 0, 100}}) {
    EXPECT_TRUE(reads(concat(name, " = ", least, "\n"))) << name;
    EXPECT_TRUE(reads(concat(name, " = ", most, "\n"))) << name;
    EXPECT_FALSE(reads(concat(name, " = ", least - 1, "\n"))) << name;
    EXPECT_FALSE(reads(concat(name, " = ", most + 1, "\n"))) << name;
  }
}

// A model's calls are told what they gave, each under its id, and of what is no call nothing is made up.
TEST(DataAgent, AModelIsToldWhatItsCallsGave) {
  const std::string text =
      "id = \"leak\"\nwhat = \"reads\"\nentries = [\"note\"]\nform = \"model\"\nmind = \"model.ask\"\n[[tools]]\nname "
      "= \"journal.read\"\n";
  const auto agent = DataAgent::make(readAgentFile(text, "leak.agent.toml").value(), agentFileVersion(text)).value();
  const auto seen = [&](const Turn& turn, json::object answer) {
    return agent->step(turn.sigma, {InputKind::observation, json::array{std::move(answer)}});
  };
  const json::array calls{
      json::object{{"arguments", json::object{{"id", "n"}}}, {"id", "c1"}, {"name", "journal.read"}}};
  Turn turn = agent->step(nullptr, {InputKind::wake, json::object{{"reason", "timer"}}});
  turn = seen(turn, {{"ok", true}, {"content", json::object{{"calls", calls}, {"text", ""}}}});
  ASSERT_TRUE(std::holds_alternative<Looks>(turn.output));
  turn = seen(turn, {{"ok", true}, {"content", "a note"}});
  const auto* looks = std::get_if<Looks>(&turn.output);
  ASSERT_TRUE(looks != nullptr && looks->size() == 1);
  const json::array& messages = looks->front().arguments.at("messages").as_array();
  ASSERT_EQ(messages.size(), 3u) << canonicalJson(messages);
  EXPECT_EQ(messages[1].at("role").as_string(), "assistant");
  EXPECT_EQ(messages[2].at("role").as_string(), "tool");
  EXPECT_EQ(messages[2].at("id").as_string(), "c1");
  EXPECT_THAT(std::string(messages[2].at("text").as_string()), HasSubstr("a note"));
}

TEST(DataAgent, AMindIsToldWhyItsAnswerCannotBeUsed) {
  const auto agent = reader("");
  Turn turn = agent->step(nullptr, {InputKind::wake, json::object{{"reason", "timer"}}});
  const json::value unusable{{kUnusable, "the result has 70000 bytes: at most 61440"}};
  turn =
      agent->step(turn.sigma, {InputKind::observation, json::array{json::object{{"ok", true}, {"content", unusable}}}});
  const auto* looks = std::get_if<Looks>(&turn.output);
  ASSERT_TRUE(looks != nullptr && looks->size() == 1);
  EXPECT_THAT(canonicalJson(looks->front().arguments), HasSubstr("70000 bytes: at most 61440"));
}

}  // namespace
}  // namespace witan::agents::data_agent_test
