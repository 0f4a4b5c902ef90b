// `witan sim coverage`: which rare things runs reach, how often, and which ones never.
#include <cstdio>
#include <memory>
#include <thread>

#include "base/json.h"
#include "program/option_checks.h"
#include "program/output.h"
#include "sim/catalog.h"
#include "sim/commands/sim_command.h"
#include "sim/commands/sim_report.h"
#include "sim/guide.h"
#include "sim/jobs.h"
#include "sim/mutants.h"

namespace witan::node {

namespace {

constexpr std::uint64_t kAtOnce = 50;  // seeds of which none knows what came of the others

struct CoverageArguments {
  SimSource source;
  std::uint64_t seeds = 2'000;
  unsigned guided = 0;
  std::string keep;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  bool json = false;
};

// The seeds of a scenario, and what they reached; of those that failed the plans, because a guided one has no other
// name.
struct Covered {
  sim::JobsResult all;
  std::uint64_t guided = 0;
};

struct Reached {
  std::string_view probe;
  double perThousand = 0;
  std::string_view reason;  // why no run reaches it; empty: none is written
};

std::vector<Reached> reachedIn(const sim::JobsResult& result, std::uint64_t seeds) {
  std::vector<Reached> all;
  for (const std::string& name : sim::probeNames()) {
    const auto found = result.probes.find(name);
    const std::uint64_t hits = found == result.probes.end() ? 0 : found->second;
    all.push_back({name, 1000.0 * static_cast<double>(hits) / static_cast<double>(seeds),
                   hits > 0 ? std::string_view() : sim::whyNever(name)});
  }
  std::ranges::stable_sort(all, {}, &Reached::perThousand);
  return all;
}

bool isMissed(const Reached& one) { return one.perThousand == 0 && one.reason.empty(); }

void printJson(const std::vector<Reached>& all, const Covered& covered, std::size_t failed) {
  std::string out = concat("{\"seeds\":", covered.all.seeds.size(), ",\"guided\":", covered.guided,
                           ",\"steps\":", covered.all.total.steps, ",\"failed\":", failed, ",\"probes\":[");
  for (const Reached& one : all) {
    if (out.back() != '[') out += ',';
    out += "{\"probe\":";
    appendJsonString(out, one.probe);
    char number[32];
    std::snprintf(number, sizeof number, "%.2f", one.perThousand);
    out += concat(",\"perThousand\":", number);
    if (!one.reason.empty()) out += ",\"reason\":", appendJsonString(out, one.reason);
    out += '}';
  }
  std::printf("%s]}\n", out.c_str());
}

Status keepFailed(const std::string& folder, std::uint64_t seed, const sim::Plan& plan, const sim::Failure& failure) {
  std::fprintf(stderr, "seed %llu fails: %s: %s\n", static_cast<unsigned long long>(seed), failure.checker.c_str(),
               failure.reason.c_str());
  return folder.empty() ? okStatus() : savePlan(concat(folder, "/seed-", seed, ".plan"), plan);
}

// A part of the seeds after the other: the next ones go by what the last ones reached.
Result<Covered> cover(const CoverageArguments& a, sim::Guide& guide) {
  Covered out;
  for (std::uint64_t first = 1; first <= a.seeds; first += kAtOnce) {
    const sim::SeedRange range{first, std::min(first + kAtOnce - 1, a.seeds)};
    std::map<std::uint64_t, std::pair<sim::Plan, sim::RunResult>> runs;
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
      WITAN_TRY(plan, guide.planOf(seed));
      out.guided += guide.guides(seed);
      runs[seed].first = std::move(plan);
    }
    sim::JobsOptions jobs{.jobs = a.jobs};
    jobs.arrived = [&](std::uint64_t seed, const sim::RunResult& result) { runs[seed].second = result; };
    WITAN_TRY(result, sim::runSeeds(
                          range, [&](std::uint64_t seed) { return sim::run(runs.at(seed).first); }, jobs));
    out.all.seeds.insert(out.all.seeds.end(), result.seeds.begin(), result.seeds.end());
    out.all.total.steps += result.total.steps;
    for (const auto& [probe, hits] : result.probes) out.all.probes[probe] += hits;
    for (const auto& [seed, run] : runs) {
      guide.learn(run.first, run.second);
      if (run.second.failure) WITAN_DO(keepFailed(a.keep, seed, run.first, *run.second.failure));
    }
  }
  return out;
}

Result<int> coverage(const CoverageArguments& a) {
  WITAN_DO(sim::activateMutant(a.source.mutant));
  WITAN_TRY(scenario, loadScenario(a.source));
  if (!a.keep.empty()) WITAN_DO(makeFolder(a.keep));
  sim::Guide guide(std::move(scenario), a.guided);
  WITAN_TRY(covered, cover(a, guide));
  const std::vector<Reached> all = reachedIn(covered.all, a.seeds);
  const auto failed = static_cast<std::size_t>(
      std::ranges::count_if(covered.all.seeds, [](const sim::SeedResult& seed) { return seed.failure.has_value(); }));
  const auto missed = static_cast<std::size_t>(std::ranges::count_if(all, isMissed));
  if (a.json) {
    printJson(all, covered, failed);
  } else {
    for (const Reached& one : all)
      std::printf("%10.2f  %s%s%s\n", one.perThousand, std::string(one.probe).c_str(),
                  isMissed(one)        ? "  NEVER REACHED"
                  : one.reason.empty() ? ""
                                       : "  ",
                  std::string(one.reason).c_str());
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf(
        "%zu probes over %llu seeds (%llu guided, %zu failed) of %llu steps, hits per 1,000 seeds; %zu never reached "
        "without a reason\n",
        all.size(), number(a.seeds), number(covered.guided), failed, number(covered.all.total.steps), missed);
  }
  return missed == 0 && failed == 0 ? kExitOk : kExitFailed;
}

}  // namespace

void addSimCoverage(Command& sim) {
  const auto arguments = std::make_shared<CoverageArguments>();
  Command* command = sim.command("coverage", "Which rare things the runs of a scenario reach, and which ones never");
  addSourceOptions(*command, arguments->source);
  command->option("--seeds", arguments->seeds, "So many, from 1 on")->check(wholeNumber(1, 1'000'000))->showDefault();
  command->option("--guided", arguments->guided, "So many percent: changed plans of those that reached what is rare")
      ->check(wholeNumber(0, 90))
      ->showDefault();
  command->option("--keep", arguments->keep, "Write the plans of failed seeds into this folder")->typeName("DIR");
  command->option("--jobs", arguments->jobs, "Worker processes; default: one a core")->check(wholeNumber(1, 256));
  command->flag("--json", arguments->json, "JSON output");
  command->footer(
      "Exit code 1: a probe was never reached, and sim/catalog.cpp gives no reason.\n"
      "Example: witan sim coverage everything --seeds 400 --guided 50");
  runs(command, arguments, coverage, reportSimError);
}

}  // namespace witan::node
