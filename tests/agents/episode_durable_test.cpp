// Durable execution by replay: an episode that is cut anywhere goes on to the same whole (seed 004, section 3.4; the
// paper's experiments 1 and 5).
#include "replication/records/record_views.h"
#include "tests/agents/episode_kit.h"

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace witan::agents::episode::episode_durable_test {
namespace {

struct Lived {
  ToyDisk disk;
  std::uint64_t boundaries = 0;
};

Lived lived(const Agent& agent, const Gate& gate, std::uint64_t world, std::set<std::uint64_t> crashAt = {}) {
  Lived out;
  ToyHost host(agent, gate, {"d1", std::move(crashAt), world, world, true}, out.disk);
  const Status status = host.run();
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  out.boundaries = host.boundaries();
  return out;
}

void expectLawful(const ToyDisk& disk) {
  for (const auto law :
       {effectsAreContained, auditedBeforeMutation, quotaIsMonotone, localeOnlyNarrows, appliedExactlyOnce}) {
    const Status held = law(disk);
    EXPECT_TRUE(held.ok()) << held.error().message;
  }
}

void expectReproduced(const Agent& agent, const ToyDisk& disk) {
  for (const auto& [device, transcript] : disk.transcripts) {
    const auto result = replay(agent, transcript);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_TRUE(result->reproduced()) << device << ", entry " << (result->difference ? result->difference->entry : 0)
                                      << ": "
                                      << (result->difference
                                              ? result->difference->why + "\nrecorded " + result->difference->recorded +
                                                    "\nderived  " + result->difference->derived
                                              : "not ended");
  }
}

// Experiment 1, replay determinism: random agents, tools and policies.
RC_GTEST_PROP(Episode, EveryRunIsReproducedByteForByte, (std::uint64_t seed)) {
  const ToyAgent agent(seed, {seed % 3 == 0, seed % 5 == 0, true});
  const ToyGate gate(seed / 2);
  const Lived run = lived(agent, gate, seed % 1000);
  expectLawful(run.disk);
  expectReproduced(agent, run.disk);
}

// Experiments 1 and 5: killed at every boundary there is. What was written before stands, and the laws hold over the
// whole history; each operation changes the world once.
TEST(Episode, SurvivesADeathAtEveryBoundary) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const ToyAgent agent(seed, {seed % 3 == 0, seed % 5 == 0, true});
    const ToyGate gate(seed);
    const Lived whole = lived(agent, gate, seed);
    for (std::uint64_t at = 0; at < whole.boundaries; ++at) {
      const Lived cut = lived(agent, gate, seed, {at});
      expectLawful(cut.disk);
      expectReproduced(agent, cut.disk);
      EXPECT_EQ(std::count_if(cut.disk.history.begin(), cut.disk.history.end(),
                              [](const Step& s) { return s.kind == StepKind::planWritten; }) > 1,
                false)
          << "a plan that exists is never made again";
      if (testing::Test::HasFailure()) {
        ADD_FAILURE() << "seed " << seed << ", death at " << at;
        return;
      }
    }
  }
}

RC_GTEST_PROP(Episode, SurvivesManyDeaths, (std::uint64_t seed, std::set<std::uint8_t> deaths)) {
  const ToyAgent agent(seed);
  const ToyGate gate(seed);
  const Lived run = lived(agent, gate, seed % 1000, {deaths.begin(), deaths.end()});
  expectLawful(run.disk);
  expectReproduced(agent, run.disk);
}

// Where nothing but the transcript tells, a cut at any entry and the same answers give the uninterrupted run.
TEST(Episode, ResumedAtEveryEntryIsTheUninterruptedRun) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const ToyAgent agent(seed, {seed % 3 == 0, seed % 5 == 0, true});
    const ToyGate gate(seed);
    const Lived whole = lived(agent, gate, seed);
    const std::vector<std::string>& transcript = whole.disk.transcripts.at("d1");
    for (std::size_t cut = 1; cut <= transcript.size(); ++cut) {
      const auto resumed = Episode::resume(agent, gate, std::span(transcript).first(cut));
      ASSERT_TRUE(resumed.ok()) << "seed " << seed << ", cut " << cut << ": " << resumed.error().message;
      const std::vector<std::string> contents = contentsOf(*resumed);
      ASSERT_GE(contents.size(), cut);
      for (std::size_t i = 0; i < contents.size(); ++i) ASSERT_EQ(contents[i], transcript[i]) << "seed " << seed;
      const auto cutReplay = replay(agent, std::span(transcript).first(cut));
      ASSERT_TRUE(cutReplay.ok());
      EXPECT_FALSE(cutReplay->difference);
      EXPECT_EQ(cutReplay->ended, cut == transcript.size());
    }
  }
}

// Every single altered entry is noticed, at that entry or, if the agent does not mind, at the end's digest at the
// latest.
TEST(Episode, ReplayNamesTheFirstDifferenceOfAnAlteredTranscript) {
  std::size_t alterations = 0;
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const ToyAgent agent(seed);
    const ToyGate gate(seed);
    const Lived run = lived(agent, gate, seed);
    const std::vector<std::string>& transcript = run.disk.transcripts.at("d1");
    for (std::size_t i = 1; i < transcript.size(); ++i) {
      std::vector<std::string> altered = transcript;
      auto entry = parseEntry(altered[i]);
      ASSERT_TRUE(entry.ok());
      json::object body = entry->body;
      for (auto& member : body)
        if (member.value().is_int64())
          member.value() = member.value().get_int64() + 1;
        else if (member.value().is_object())
          member.value().get_object()["x"] = 1;
      altered[i] = makeEntry(entry->kind, std::move(body)).content;
      if (altered[i] == transcript[i]) continue;
      ++alterations;
      const auto result = replay(agent, altered);
      ASSERT_TRUE(result.ok());
      ASSERT_TRUE(result->difference) << "seed " << seed << ", entry " << i << "\n"
                                      << transcript[i] << "\n"
                                      << altered[i];
      EXPECT_GE(result->difference->entry, i);
      EXPECT_FALSE(result->difference->why.empty());
      EXPECT_FALSE(Episode::resume(agent, gate, altered).ok());
    }
  }
  EXPECT_GT(alterations, 100u);
}

TEST(Episode, ReplayNoticesAnImpureAgent) {
  const ImpureAgent agent(7);
  const ToyGate gate(7);
  ToyDisk disk;
  ASSERT_TRUE(ToyHost(agent, gate, {"d1", {}, 7, 7, true}, disk).run().ok());
  const auto result = replay(agent, disk.transcripts.at("d1"));
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE(result->difference);
  EXPECT_NE(result->difference->recorded, result->difference->derived);
}

TEST(Episode, ReplayRefusesAnotherVersionOfTheAgent) {
  const ToyAgent agent(3), other(4);
  const ToyGate gate(3);
  const Lived run = lived(agent, gate, 3);
  const auto result = replay(other, run.disk.transcripts.at("d1"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::conflict);
  EXPECT_EQ(replay(agent, {}).error().code, ErrorCode::notFound);
}

// Those of the first build name no rules, and are replayed all the same.
TEST(Episode, ATranscriptOfTheFirstRulesNamesNone) {
  const ScriptAgent agent({});
  const LocalGate gate;
  Beginning beginning = beginningFor(agent);
  for (const std::int64_t rules : {0, 1, 2}) {
    beginning.rules = rules;
    auto episode = Episode::begin(agent, gate, beginning);
    ASSERT_EQ(episode.ok(), rules > 0) << rules;
    if (!episode.ok()) continue;
    EXPECT_EQ(episode->entries().front().body.contains("rules"), rules == 2);
    EXPECT_TRUE(replay(agent, contentsOf(*episode))->reproduced()) << rules;
  }
}

// To the byte; and what an agent keeps stands in its transcript.
TEST(Episode, SlotsAreKeptUpToTheLimit) {
  using replication::SlotName;
  const SlotName first = static_cast<SlotName>(0), second = static_cast<SlotName>(1), third = static_cast<SlotName>(2);
  const std::string whole(50 * 1024, 'x');
  const std::size_t quotes = 3 * 2, rest = kMaxKeptBytes - 2 * whole.size() - quotes;
  for (const std::size_t bytes : {rest, rest + 1}) {
    const json::value kept(std::string(bytes, 'y'));
    const ScriptAgent agent({Turn{nullptr, {}, Finish{"kept", {{third, kept}}, {}, {}, false}}});
    const LocalGate gate;
    Beginning beginning = beginningFor(agent);
    beginning.input["slots"] = {{toString(first), whole}, {toString(second), whole}};
    auto episode = Episode::begin(agent, gate, beginning);
    ASSERT_TRUE(episode.ok()) << episode.error().message;
    const json::object& end = lastOf(*episode, EntryKind::end).body;
    EXPECT_EQ(end.at("status").as_string(), bytes == rest ? "completed" : "failedTerminal") << end.at("cause");
    const json::array slots = bytes == rest ? json::array{json::array{toString(third), kept}} : json::array();
    EXPECT_EQ(end.at("slots"), json::value(slots));
  }
}

TEST(Episode, TruncatedSwappedAndRepeatedEntriesAreDifferences) {
  const ToyAgent agent(11);
  const ToyGate gate(11);
  std::vector<std::string> transcript = lived(agent, gate, 11).disk.transcripts.at("d1");
  ASSERT_GE(transcript.size(), 4u);
  std::vector<std::string> swapped = transcript;
  std::swap(swapped[1], swapped[2]);
  EXPECT_EQ(replay(agent, swapped)->difference.has_value(), swapped != transcript);
  std::vector<std::string> repeated = transcript;
  repeated.push_back(repeated.back());
  ASSERT_TRUE(replay(agent, repeated)->difference);
  EXPECT_EQ(replay(agent, repeated)->difference->entry, transcript.size());
  std::vector<std::string> spaced = transcript;
  spaced[1].insert(1, " ");
  ASSERT_TRUE(replay(agent, spaced)->difference);
  EXPECT_EQ(replay(agent, spaced)->difference->entry, 1u);
}

// F3, on one device after the other: the second finds the first one's plan and goes by it, whatever it would have
// planned itself, and what the first one did it does not do again.
TEST(Episode, APlanThatExistsIsNeverMadeAgain) {
  std::size_t adopted = 0, shared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const ToyAgent agent(seed);
    const ToyGate gate(seed);
    const std::uint64_t boundaries = lived(agent, gate, seed).boundaries;
    for (std::uint64_t at = 0; at < boundaries; at += 2) {
      ToyDisk disk;
      const auto first = ToyHost(agent, gate, {"d1", {at}, seed, seed, true}, disk).live();
      ASSERT_TRUE(first.ok()) << first.error().message;
      EXPECT_FALSE(*first);
      const std::optional<PlanBody> plan = disk.plan;
      shared += disk.mutations.empty() ? 0 : 1;
      const Status second = ToyHost(agent, gate, {"d2", {}, seed, seed + 1000, true}, disk).run();
      ASSERT_TRUE(second.ok()) << second.error().message;
      expectLawful(disk);
      expectReproduced(agent, {{{"d2", disk.transcripts.at("d2")}}, {}, {}, {}, {}});
      if (!plan) continue;
      EXPECT_EQ(disk.plan, plan);
      bool bound = false;
      for (const std::string& content : disk.transcripts.at("d2")) {
        auto entry = parseEntry(content);
        ASSERT_TRUE(entry.ok());
        if (entry->kind != EntryKind::plan) continue;
        bound = true;
        auto operations = replication::operationsOf(*plan);
        ASSERT_TRUE(operations.ok());
        EXPECT_EQ(entry->body.at("digest").as_string(), planDigest(*operations).hex());
      }
      adopted += bound ? 1 : 0;
    }
  }
  EXPECT_GT(adopted, 20u);
  EXPECT_GT(shared, 5u);
}

}  // namespace
}  // namespace witan::agents::episode::episode_durable_test
