// Seeds of a scenario under a broken variant, until a checker that must notice it does.
#include <algorithm>

#include "sim/active_mutant.h"
#include "sim/jobs.h"
#include "sim/mutants.h"
#include "sim/scenario.h"

namespace witan::sim {

namespace {

// A variant that always fails otherwise would make for as many pools of workers as its budget has seeds.
constexpr unsigned kMostOthers = 8;

bool isListed(std::string_view words, std::string_view word) {
  return (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

class Hunt {
 public:
  Hunt(const MutantCase& mutant, Scenario scenario, const HuntOptions& options)
      : scenario_(std::move(scenario)), options_(options) {
    out_.mutant = mutant;
    if (options.budget != 0) out_.mutant.budget = options.budget;
    if (!options.scenario.empty()) out_.mutant.scenario = options.scenario;
  }

  Result<MutantRun> run() {
    SeedRange range{1, out_.mutant.budget};
    for (unsigned others = 0; range.first <= range.last && others < kMostOthers; ++others) {
      JobsOptions jobs;
      jobs.jobs = options_.jobs;
      jobs.secondsPerSeed = 60;
      jobs.stopAtFailure = true;
      WITAN_TRY(result, runSeeds(
                            range, [this](std::uint64_t seed) { return broken(seed); }, jobs));
      const auto failed = std::find_if(result.seeds.begin(), result.seeds.end(),
                                       [](const SeedResult& seed) { return seed.failure.has_value(); });
      if (failed == result.seeds.end()) break;
      WITAN_TRY(counts, judge(*failed));
      if (counts) break;
      range.first = failed->seed + 1;
    }
    return std::move(out_);
  }

 private:
  // In a worker: what it sets is lost with it.
  RunResult broken(std::uint64_t seed) const {
    const Status active = activateMutant(out_.mutant.name);
    WITAN_CHECK(active.ok(), "the variants are compiled in");
    return sound(seed);
  }
  RunResult sound(std::uint64_t seed) const {
    auto plan = drawPlan(scenario_, seed);
    WITAN_CHECK(plan.ok(), "a built-in scenario's plans can be drawn: " + plan.error().message);
    return sim::run(*plan);
  }

  Result<bool> judge(const SeedResult& failed) {
    const std::string& checker = failed.failure->checker;
    const bool first = out_.checker.empty();
    if (first) out_.checker = checker, out_.failure = *failed.failure;
    const std::string seed = "seed " + std::to_string(failed.seed);
    if (!isListed(out_.mutant.checkers, checker)) {
      if (first) out_.note = seed + " fails with " + checker + ": " + failed.failure->reason;
      return false;
    }
    WITAN_TRY(without, runIsolated([&] { return sound(failed.seed); }, 60));
    if (without.failure) {
      if (first) out_.note = seed + " fails without it too: " + without.failure->reason;
      return false;
    }
    out_.checker = checker;
    out_.failure = *failed.failure;
    out_.caughtAtSeed = failed.seed;
    return true;
  }

  Scenario scenario_;
  const HuntOptions& options_;
  MutantRun out_;
};

}  // namespace

Result<std::vector<MutantRun>> huntMutants(std::span<const MutantCase> cases, const HuntOptions& options) {
  std::vector<MutantRun> runs;
  for (const MutantCase& one : cases) {
    if (!mutantsCompiledIn()) WITAN_DO(activateMutant(one.name));
    WITAN_TRY(scenario, builtinScenario(options.scenario.empty() ? one.scenario : options.scenario));
    WITAN_TRY(run, Hunt(one, std::move(scenario), options).run());
    if (options.finished) options.finished(run);
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace witan::sim
