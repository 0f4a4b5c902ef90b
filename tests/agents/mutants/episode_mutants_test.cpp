// Broken variants of episodes (base/mutant.h), each noticed by the law that it breaks, on the toys.
#include <gtest/gtest.h>

#include "agents/episode/context.h"
#include "agents/episode/transcript.h"
#include "lab/conformance/laws.h"
#include "tests/with_mutant.h"

namespace witan::agents::conformance::episode_mutants_test {
namespace {

using witan::tests::WithMutant;

constexpr std::uint64_t kSeeds = 60;

// d1 dies at the n-th boundary, d2 goes on with what d1 left.
ToyDisk relay(std::uint64_t seed, std::uint64_t boundary) {
  const ToyAgent agent(seed);
  const ToyGate gate(seed);
  ToyDisk disk;
  EXPECT_TRUE(ToyHost(agent, gate, {"d1", {boundary}, seed, seed, true}, disk).live().ok());
  EXPECT_TRUE(ToyHost(agent, gate, {"d2", {}, seed, seed + 1000, true}, disk).run().ok());
  return disk;
}

// Whether `law` finds something against some relay of the toys.
bool noticed(std::string_view mutant, Status (*law)(const ToyDisk&)) {
  const WithMutant with(mutant);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
    for (std::uint64_t boundary = 0; boundary < 40; boundary += 4)
      if (!law(relay(seed, boundary)).ok()) return true;
  return false;
}

// The plan that stands is the one that every transcript goes by (003, 6.2; F3).
Status onePlan(const ToyDisk& disk) {
  if (!disk.plan) return okStatus();
  for (const auto& [device, transcript] : disk.transcripts)
    for (const std::string& content : transcript) {
      WITAN_TRY(entry, episode::parseEntry(content));
      if (entry.kind != episode::EntryKind::plan) continue;
      const json::array& actions = entry.body.at("actions").get_array();
      if (actions.size() != disk.plan->actions.size()) return invalid(device + " planned anew");
      for (std::size_t i = 0; i < actions.size(); ++i)
        if (canonicalJson(actions[i].get_object().at("arguments")) != disk.plan->actions[i].arguments)
          return invalid(device + " planned anew");
    }
  return okStatus();
}

TEST(EpisodeMutants, NoneIsNoticedWithoutOne) {
  EXPECT_FALSE(noticed("none", onePlan));
  EXPECT_FALSE(noticed("none", auditedBeforeMutation));
  EXPECT_FALSE(noticed("none", quotaIsMonotone));
  EXPECT_FALSE(noticed("none", effectsAreContained));
  EXPECT_FALSE(noticed("none", localeOnlyNarrows));
}

TEST(EpisodeMutants, ReplanOnRetryIsNoticed) { EXPECT_TRUE(noticed("replanOnRetry", onePlan)); }

TEST(EpisodeMutants, EffectBeforePlanIsNoticed) { EXPECT_TRUE(noticed("effectBeforePlan", auditedBeforeMutation)); }

TEST(EpisodeMutants, ForgetSpentIsNoticed) { EXPECT_TRUE(noticed("forgetSpent", quotaIsMonotone)); }

TEST(EpisodeMutants, WidenForkIsNoticed) {
  const auto widened = [] {
    episode::Context parent({{{"look.*", 3, {}, {}}}, {"us"}, {5, 5, 5}});
    return parent.fork({{{"*", 9, {}, {}}}, {"eu", "us"}, {1, 1, 1}}).ok();
  };
  EXPECT_FALSE(widened());
  const WithMutant with("widenFork");
  EXPECT_TRUE(widened());
}

}  // namespace
}  // namespace witan::agents::conformance::episode_mutants_test
