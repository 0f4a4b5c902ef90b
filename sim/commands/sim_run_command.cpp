// `witan sim run`: a scenario, or a plan, over many seeds in worker processes.
#include <charconv>
#include <cstdio>
#include <memory>
#include <thread>
#include "program/command_line.h"

#include "base/quote.h"
#include "program/option_checks.h"
#include "program/output.h"
#include "sim/commands/sim_command.h"
#include "sim/commands/sim_report.h"
#include "sim/duration.h"
#include "sim/mutants.h"
#include "sim/run.h"

namespace witan::node {

namespace {

constexpr std::uint64_t kMaxSeeds = 1'000'000;
constexpr std::uint64_t kTryFirst = 1'000;     // seeds whose options are drawn before anything runs
constexpr std::size_t kExpectProbesFrom = 20;  // seeds; fewer prove nothing
constexpr std::int64_t kTwicePerMillion = 50'000;
constexpr std::size_t kMostKept = 100;  // plans of failed seeds

struct RunArguments {
  SimSource source;
  std::string seeds;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  std::string limit = "10m";
  std::string keep;
  bool allTwice = false;
  bool failFast = false;
  bool json = false;
};

Result<sim::SeedRange> seedRange(const RunArguments& a) {
  if (a.source.seed && !a.seeds.empty()) return invalid("--seed and --seeds together", "give one of them");
  if (a.source.seed) return sim::SeedRange{*a.source.seed, *a.source.seed};
  if (a.seeds.empty()) return sim::SeedRange{1, 20};
  sim::SeedRange range;
  const char *text = a.seeds.data(), *end = text + a.seeds.size();
  const auto first = std::from_chars(text, end, range.first);
  const bool dots = first.ec == std::errc{} && std::string_view(first.ptr, end).starts_with("..");
  const auto last = dots ? std::from_chars(first.ptr + 2, end, range.last) : first;
  if (!dots || last.ec != std::errc{} || last.ptr != end)
    return invalid("--seeds " + inQuotes(a.seeds) + " is no range of seeds", "as in --seeds 1..1000");
  if (range.first > range.last) return invalid("--seeds " + a.seeds + " begins above its end");
  if (range.last - range.first >= kMaxSeeds)
    return invalid("--seeds " + a.seeds + " is too many at once", concat("at most ", kMaxSeeds));
  return range;
}

// What runs for a seed: a plan that is there, or one that is drawn.
using PlanOf = std::function<Result<sim::Plan>(std::uint64_t seed)>;

sim::SeedRunner runnerOf(PlanOf planOf, std::int64_t twicePerMillion) {
  return [planOf = std::move(planOf), twicePerMillion](std::uint64_t seed) {
    const auto plan = planOf(seed);
    if (!plan) {
      sim::RunResult result;
      result.failure = sim::Failure{"scenario", plan.error().message, 0};
      return result;
    }
    const auto runPlan = [](const sim::Plan& what, const sim::RunOptions& how) { return sim::run(what, how); };
    return sim::chosenForTwice(seed, twicePerMillion) ? sim::runTwice(*plan, runPlan) : sim::run(*plan);
  };
}

// The plans of the seeds that failed: they outlive the code that drew them.
Status keepPlans(const RunArguments& a, const SimReport& report, const PlanOf& planOf) {
  if (a.keep.empty()) return okStatus();
  WITAN_DO(makeFolder(a.keep));
  std::size_t kept = 0;
  for (const sim::SeedResult& seed : report.result.seeds) {
    if (!seed.failure || kept == kMostKept) continue;
    const auto plan = planOf(seed.seed);
    if (!plan) continue;
    const std::string path = concat(a.keep, "/seed-", seed.seed, ".plan");
    WITAN_DO(savePlan(path, *plan));
    std::fprintf(stderr, "kept %s\n", path.c_str());
    ++kept;
  }
  return okStatus();
}

Result<int> runSeeds(const RunArguments& a) {
  WITAN_DO(sim::activateMutant(a.source.mutant));
  const auto limit = sim::parseDuration(a.limit);
  if (!limit.ok()) return invalid("--limit: " + limit.error().message, limit.error().hint);
  if (*limit % 1'000'000 != 0)
    return invalid("--limit " + a.limit + " is no whole number of seconds", "as in 30s or 10m; 0s: no limit");
  SimReport report;
  report.source = a.source;
  PlanOf planOf;
  std::vector<std::string> expected;
  if (!a.source.planFile.empty()) {
    if (!a.seeds.empty()) return invalid("a plan has its seed within", "give --plan without --seeds");
    WITAN_TRY(plan, loadPlan(a.source));
    report.range = {plan.options.seed, plan.options.seed};
    report.scenario = plan.options.scenario;
    planOf = [plan = std::make_shared<sim::Plan>(std::move(plan))](std::uint64_t) { return Result<sim::Plan>(*plan); };
  } else {
    WITAN_TRY(range, seedRange(a));
    WITAN_TRY(scenario, loadScenario(a.source));
    for (std::uint64_t n = 0; n <= range.last - range.first && n < kTryFirst; ++n)
      if (auto drawn = sim::drawOptions(scenario, range.first + n); !drawn) return drawn.error();
    report.range = range;
    report.scenario = scenario.name;
    expected = scenario.expectedProbes;
    planOf = [scenario](std::uint64_t seed) { return sim::drawPlan(scenario, seed); };
  }
  const std::int64_t twicePerMillion = a.allTwice ? 1'000'000 : kTwicePerMillion;
  {
    SimProgressBar bar;
    sim::JobsOptions options{
        .jobs = a.jobs,
        .secondsPerSeed = static_cast<unsigned>(std::min<std::int64_t>(*limit / 1'000'000, 1'000'000)),
        .stopAtFailure = a.failFast};
    options.progress = [&bar](const sim::JobsProgress& progress) { bar.show(progress); };
    WITAN_SET(report.result, sim::runSeeds(report.range, runnerOf(planOf, twicePerMillion), options));
    report.wallSeconds = bar.seconds();
  }
  for (const sim::SeedResult& seed : report.result.seeds) {
    if (sim::chosenForTwice(seed.seed, twicePerMillion)) ++report.twice;
    if (seed.failure && !report.options)
      if (auto plan = planOf(seed.seed); plan.ok()) report.options = plan->options;
  }
  if (report.result.seeds.size() >= kExpectProbesFrom)
    for (const std::string& probe : expected)
      if (const auto at = report.result.probes.find(probe); at == report.result.probes.end() || at->second == 0)
        report.missedProbes.push_back(probe);
  WITAN_DO(keepPlans(a, report, planOf));
  putWords(a.json ? reportJson(report) : reportText(report));
  return report.failed() > 0 || !report.missedProbes.empty() ? kExitFailed : kExitOk;
}

}  // namespace

void addSimRun(Command& sim) {
  const auto arguments = std::make_shared<RunArguments>();
  Command* command = sim.command("run", "Run a scenario for many seeds, and check everything");
  addSourceOptions(*command, arguments->source);
  command->option("--seeds", arguments->seeds, "A range of seeds, both included; default 1..20")->typeName("A..B");
  command->option("--jobs", arguments->jobs, "Worker processes; default: one a processor")->check(wholeNumber(1, 256));
  command->option("--limit", arguments->limit, "A seed that takes longer than this has failed; 0s: no limit")
      ->showDefault();
  command->option("--keep", arguments->keep, "Write the plans of failed seeds into this folder")->typeName("DIR");
  command->flag("--twice", arguments->allTwice, "Run every seed twice and compare, not one of twenty");
  command->flag("--fail-fast", arguments->failFast, "Stop at the first failure");
  command->flag("--json", arguments->json, "JSON output");
  command->footer("Example: witan sim run everything --seeds 1..1000 --jobs 2 --set faults.crashes=120");
  runs(command, arguments, runSeeds, reportSimError);
}

}  // namespace witan::node
