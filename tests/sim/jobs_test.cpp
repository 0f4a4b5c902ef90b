// Seeds over worker processes: order, totals, and workers that die.
#include "sim/jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/check.h"
#include "sim/run.h"

namespace witan::sim::jobs_test {
namespace {

using ::testing::HasSubstr;

RunResult fake(std::uint64_t seed) {
  RunResult result;
  result.digest = seed * 0x9e3779b97f4a7c15;
  result.statistics = {.steps = seed % 1'000, .frames = 2, .simulated = 1'000'000};
  result.probes["even"] = seed % 2 == 0 ? 1 : 0;
  if (seed % 10 == 7) result.failure = Failure{"fencing", "seed " + std::to_string(seed) + " has \"two\"\n owners", 5};
  return result;
}

TEST(RunResultText, ReadsBack) {
  RunResult result = fake(27);
  result.digest = ~std::uint64_t{0};
  const auto read = readRunResult(writeRunResult(result));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->digest, result.digest);
  EXPECT_EQ(read->failure->reason, result.failure->reason);
  EXPECT_EQ(read->failure->at, 5);
  EXPECT_EQ(read->probes, result.probes);
  EXPECT_EQ(read->statistics.steps, 27U);
  EXPECT_EQ(read->statistics.simulated, 1'000'000);
  result.failure->reason = "bytes \xff\xfe of a peer" + std::string(100'000, 'x');
  EXPECT_EQ(readRunResult(writeRunResult(result))->failure->reason.substr(0, 18), "bytes ?? of a peer");
  EXPECT_FALSE(readRunResult("{}").ok());
}

TEST(Jobs, InTheOrderOfTheSeedsWhateverTheNumberOfWorkers) {
  std::string digest;
  for (const unsigned jobs : {1U, 2U, 7U}) {
    std::uint64_t called = 0;
    const auto result = runSeeds({100, 199}, fake, {.jobs = jobs, .progress = [&](const JobsProgress& p) {
                                                      EXPECT_EQ(p.done, ++called);
                                                      EXPECT_EQ(p.of, 100U);
                                                    }});
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(called, 100U);
    ASSERT_EQ(result->seeds.size(), 100U);
    for (std::uint64_t i = 0; i < 100; ++i) {
      EXPECT_EQ(result->seeds[i].seed, 100 + i);
      EXPECT_EQ(result->seeds[i].digest, fake(100 + i).digest);
      EXPECT_EQ(result->seeds[i].failure.has_value(), i % 10 == 7);
    }
    EXPECT_EQ(result->probes.at("even"), 50U);
    EXPECT_EQ(result->total.frames, 200U);
    EXPECT_EQ(result->total.simulated, 100'000'000);
    EXPECT_EQ(result->digest.size(), 64U);
    if (digest.empty()) digest = result->digest;
    EXPECT_EQ(result->digest, digest);
  }
  EXPECT_NE(runSeeds({100, 198}, fake, {})->digest, digest);
}

TEST(Jobs, TheLastSeedOfAll) {
  const std::uint64_t last = ~std::uint64_t{0};
  EXPECT_EQ(runSeeds({last - 1, last}, fake, {.jobs = 2})->seeds.size(), 2U);
}

TEST(Jobs, AFailedCheckIsAFailureOfItsSeedOnly) {
  const SeedRunner run = [](std::uint64_t seed) {
    WITAN_CHECK(seed != 13, "thirteen does not happen");
    if (seed == 14) {
      const rlimit none{0, 0};
      setrlimit(RLIMIT_CORE, &none);
      ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would write a report
      raise(SIGSEGV);
    }
    if (seed == 15) _exit(9);
    return fake(seed);
  };
  const auto result = runSeeds({11, 16}, run, {.jobs = 2});
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->seeds.size(), 6U);
  EXPECT_FALSE(result->seeds[0].failure);
  ASSERT_TRUE(result->seeds[2].failure);
  EXPECT_EQ(result->seeds[2].failure->checker, "assertion");
  EXPECT_THAT(result->seeds[2].failure->reason, HasSubstr("thirteen does not happen"));
  ASSERT_TRUE(result->seeds[3].failure);
  EXPECT_EQ(result->seeds[3].failure->checker, "crash");
  EXPECT_THAT(result->seeds[3].failure->reason, HasSubstr("egmentation"));
  ASSERT_TRUE(result->seeds[4].failure);
  EXPECT_EQ(result->seeds[4].failure->reason, "ended with code 9");
  EXPECT_FALSE(result->seeds[5].failure);
}

TEST(Jobs, ARunWithoutEndIsAHang) {
  const SeedRunner run = [](std::uint64_t seed) {
    while (seed == 2) pause();
    return fake(seed);
  };
  const auto result = runSeeds({1, 3}, run, {.jobs = 1, .secondsPerSeed = 1});
  ASSERT_EQ(result->seeds.size(), 3U);
  EXPECT_EQ(result->seeds[1].failure->checker, "hang");
  EXPECT_FALSE(result->seeds[2].failure);
}

TEST(Jobs, ManyWordsOnStderrBlockNobody) {
  const SeedRunner run = [](std::uint64_t seed) {
    const std::string line(1'000, 'x');
    for (int i = 0; i < 1'000; ++i) EXPECT_GT(write(STDERR_FILENO, line.data(), line.size()), 0);
    WITAN_CHECK(seed != 2, "not two");
    return fake(seed);
  };
  const auto result = runSeeds({1, 3}, run, {.jobs = 3});
  EXPECT_EQ(result->seeds[1].failure->checker, "assertion");
}

TEST(Jobs, StopsAtTheLowestFailure) {
  for (const unsigned jobs : {1U, 4U}) {
    const auto result = runSeeds({1, 100'000}, fake, {.jobs = jobs, .stopAtFailure = true});
    EXPECT_LT(result->seeds.size(), 1'000U);
    const auto failed =
        std::find_if(result->seeds.begin(), result->seeds.end(), [](const auto& s) { return s.failure.has_value(); });
    ASSERT_NE(failed, result->seeds.end());
    EXPECT_EQ(failed->seed, 7U);
  }
}

TEST(RunIsolated, GivesTheResultOrWhatKilledIt) {
  EXPECT_EQ(runIsolated([] { return fake(8); })->digest, fake(8).digest);
  const auto died = runIsolated([]() -> RunResult {
    WITAN_CHECK(false, "it cannot be");
    return {};
  });
  EXPECT_EQ(died->failure->checker, "assertion");
  EXPECT_THAT(died->failure->reason, HasSubstr("it cannot be"));
}

// A world of ten steps whose step `differs` depends on how often it was run.
RunResult flaky(const RunOptions& options, int& runs, std::size_t differs) {
  RunResult result;
  ++runs;
  for (std::size_t step = 0; step < 10; ++step) {
    if (options.trace) options.trace({.at = static_cast<Micros>(step), .what = "step", .detail = std::to_string(step)});
    result.digest = result.digest * 31 + step + (step == differs ? static_cast<std::uint64_t>(runs) : 0);
    if (options.digests) options.digests->push_back(result.digest);
  }
  return result;
}

TEST(Twice, NamesTheFirstStepThatDiffers) {
  int runs = 0;
  const Runner run = [&](const Plan&, const RunOptions& o) { return flaky(o, runs, 6); };
  const RunResult result = runTwice({}, run);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->checker, "determinism");
  EXPECT_EQ(result.failure->reason,
            "two runs of one plan differ from step 6 on (of 10 and 10); about there: 6 us: step 6");
}

TEST(Twice, SaysNothingWhereNothingDiffers) {
  int runs = 0;
  const Runner run = [&](const Plan&, const RunOptions& o) { return flaky(o, runs, 99); };
  EXPECT_FALSE(runTwice({}, run).failure);
  EXPECT_EQ(runs, 2);
}

TEST(Twice, TheShareIsAShare) {
  int chosen = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) chosen += chosenForTwice(seed, 100'000) ? 1 : 0;
  EXPECT_GT(chosen, 140);
  EXPECT_LT(chosen, 260);
  EXPECT_TRUE(chosenForTwice(5, 1'000'000));
  EXPECT_FALSE(chosenForTwice(5, 0));
}

}  // namespace
}  // namespace witan::sim::jobs_test
