// Memory that a model sums up: a run like any other, and the first words of each message where it gives no summary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/data/data_agent.h"
#include "agents/episode/transcript.h"
#include "tests/agents/host_rig.h"

namespace witan::agents::fold_run_test {
namespace {

using test::HostRig;
using namespace replication;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kKeeper = R"(id = "keeper"
what = "remembers"
mind = "llm.chat"
form = "model"
entries = ["note"]
remembers = true
summaries = "llm.chat"
)";

std::unique_ptr<DataAgent> keeper() {
  auto file = readAgentFile(kKeeper, "keeper.agent.toml");
  EXPECT_TRUE(file.ok()) << file.error().message;
  return DataAgent::make(*std::move(file), agentFileVersion(kKeeper)).value();
}

episode::Observation said(std::string text, std::string stop = "stop", json::array calls = {}) {
  episode::Observation seen;
  seen.ok = true;
  seen.content = json::object{{"text", std::move(text)}, {"stop", std::move(stop)}, {"calls", std::move(calls)}};
  return seen;
}

struct Desk {
  Desk() {
    rig_.options.tools = {{.name = "llm.chat"}};
    rig_.looker = [this](const ToolCall& call) {
      const bool folds = std::string_view(call.arguments.at("system").as_string()).starts_with("You keep the memory");
      if (!folds) {
        lastQuestion_ = canonicalJson(call.arguments);
        return said("noted");
      }
      foldQuestions_.push_back(call);
      return model_(foldQuestions_.size());
    };
    EXPECT_TRUE(rig_.open().ok());
  }
  void turn(int number) {
    const std::string text = concat("TURN-", number, " ", std::string(20'000, 'w'));
    ASSERT_TRUE(rig_.host().userTurn("keeper", "s", std::to_string(number), text, rig_.now()).ok());
    ASSERT_TRUE(rig_.settle().ok());
  }
  void turns() {
    for (int number = 1; number <= 4; ++number) turn(number);
  }
  std::vector<SummaryBody> summaries() {
    std::vector<SummaryBody> all;
    for (const std::string& key : rig_.device().agents().keys(Kind::summary)) {
      const auto versions = rig_.device().agents().versions(Kind::summary, key).value();
      for (const Version& one : versions) all.push_back(decodeRecord<SummaryBody>(one.body).value());
    }
    return all;
  }
  std::vector<std::string> told(std::string_view kind) {
    std::vector<std::string> words;
    for (const HostNotice& notice : rig_.notices)
      if (notice.kind == kind) words.push_back(notice.what);
    return words;
  }

  std::unique_ptr<DataAgent> agent_ = keeper();
  HostRig rig_{"a", {agent_.get()}};
  std::function<episode::Observation(std::size_t)> model_ = [](std::size_t) { return said("four turns of w"); };
  std::vector<ToolCall> foldQuestions_;
  std::string lastQuestion_;
};
struct Folds : Desk, ::testing::Test {};

TEST_F(Folds, AModelSumsUpInARunOfItsOwn) {
  turns();
  ASSERT_THAT(foldQuestions_, SizeIs(1));
  const ToolCall& asked = foldQuestions_[0];
  EXPECT_EQ(asked.arguments.at("tools"), json::array());
  EXPECT_THAT(canonicalJson(asked.arguments), HasSubstr("TURN-1"));
  const auto all = summaries();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].text, "four turns of w");
  EXPECT_THAT(all[0].summarizerContractVersion, StartsWith("model-1/llm.chat/file-"));
  EXPECT_TRUE(told("folded").empty());
  // The next wake is given it, and the fold said nothing into the thread.
  turn(5);
  EXPECT_THAT(lastQuestion_, HasSubstr("four turns of w"));
  EXPECT_THAT(lastQuestion_, ::testing::Not(HasSubstr("TURN-1 ")));
  for (const auto& [run, end] : rig_.runs()) EXPECT_EQ(end, WakeStatus::completed) << run;
  // Its transcript gives the same summary without a model.
  const auto rows = episode::readTranscript(rig_.device().agents(), asked.run, "a");
  ASSERT_TRUE(rows.ok());
  std::vector<std::string> contents;
  for (const episode::TranscriptRow& row : *rows) contents.push_back(row.message.content);
  const episode::LocalGate gate;
  const auto again = episode::Episode::resume(*agent_, gate, contents);
  ASSERT_TRUE(again.ok()) << again.error().message;
  ASSERT_NE(again->ended(), nullptr);
  EXPECT_EQ(again->ended()->finish.answer, "four turns of w");
}

TEST_F(Folds, WhatIsNoSummaryIsAskedForAgainAndThenTheFirstWordsStand) {
  const json::array calls{json::object{{"id", "1"}, {"name", "propose"}, {"arguments", json::object()}}};
  const std::vector<std::pair<const char*, episode::Observation>> rubbish{
      {"a call", said("I shall propose", "calls", calls)},
      {"nothing", said(" \n")},
      {"too much", said(std::string(9'000, 'x'))},
      {"half of it", said("and then", "length")},
      {"no object", episode::Observation{true, json::value("text"), "", 0, 0}},
      {"an error", episode::Observation{false, nullptr, "429 for ever", 0, 0}}};
  for (const auto& [what, seen] : rubbish) {
    Desk fresh;
    fresh.model_ = [seen = seen](std::size_t) { return seen; };
    fresh.turns();
    EXPECT_LE(fresh.foldQuestions_.size(), 8u) << what;
    const auto all = fresh.summaries();
    ASSERT_THAT(all, SizeIs(1)) << what;
    EXPECT_EQ(all[0].summarizerContractVersion, "extract-1/4096") << what;
    EXPECT_THAT(all[0].text, HasSubstr("TURN-1")) << what;
    ASSERT_THAT(fresh.told("folded"), SizeIs(1)) << what;
    EXPECT_THAT(fresh.told("folded")[0], HasSubstr("the first words of each message stand")) << what;
    EXPECT_TRUE(fresh.rig_.proposals.empty()) << what;
  }
}

TEST_F(Folds, OneThatIsMendedInTimeCounts) {
  model_ = [](std::size_t time) { return time == 1 ? said("") : said("better now"); };
  turns();
  ASSERT_THAT(foldQuestions_, SizeIs(2));
  EXPECT_THAT(canonicalJson(foldQuestions_[1].arguments), HasSubstr("the summary is empty"));
  ASSERT_THAT(summaries(), SizeIs(1));
  EXPECT_EQ(summaries()[0].text, "better now");
}

TEST_F(Folds, ACallOfItIsChargedToTheRunsBudget) {
  model_ = [](std::size_t) {
    episode::Observation seen = said("");
    seen.tokens = 6'000;  // of 10,000
    return seen;
  };
  turns();
  EXPECT_LE(foldQuestions_.size(), 2u);
  EXPECT_EQ(summaries().at(0).summarizerContractVersion, "extract-1/4096");
}

TEST_F(Folds, ADeathAmidItLosesNothing) {
  for (int number = 1; number <= 3; ++number) turn(number);
  // The turn is answered, and its fold is not.
  const auto looker = rig_.looker;
  rig_.looker = [&](const ToolCall& call) {
    rig_.mute = true;
    return looker(call);
  };
  ASSERT_TRUE(rig_.host().userTurn("keeper", "s", "4", std::string(20'000, 'w'), rig_.now()).ok());
  ASSERT_TRUE(rig_.settle(60'000).ok());
  ASSERT_THAT(std::string(rig_.calls.back().arguments.at("system").as_string()), StartsWith("You keep the memory"));
  ASSERT_TRUE(summaries().empty());
  rig_.crash();
  rig_.looker = looker, rig_.mute = false;
  ASSERT_TRUE(rig_.open().ok());
  ASSERT_TRUE(rig_.settle().ok());
  ASSERT_THAT(summaries(), SizeIs(1));
  EXPECT_EQ(summaries()[0].text, "four turns of w");
  EXPECT_TRUE(told("folded").empty());
}

}  // namespace
}  // namespace witan::agents::fold_run_test
