// `witan sim coverage`: which rare things runs reach, how often, and which ones never.
#include <cstdio>
#include <memory>
#include <thread>

#include "program/option_checks.h"
#include "program/output.h"
#include "sim/catalog.h"
#include "sim/commands/sim_command.h"
#include "sim/commands/sim_report.h"
#include "sim/jobs.h"

namespace witan::node {

namespace {

struct CoverageArguments {
  SimSource source;
  std::uint64_t seeds = 2'000;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  bool json = false;
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

void printJson(const std::vector<Reached>& all, std::uint64_t seeds, std::size_t failed) {
  std::string out = concat("{\"seeds\":", seeds, ",\"failed\":", failed, ",\"probes\":[");
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

Result<int> coverage(const CoverageArguments& a) {
  WITAN_TRY(scenario, loadScenario(a.source));
  sim::JobsOptions jobs{.jobs = a.jobs};
  WITAN_TRY(result, sim::runSeeds(
                        {1, a.seeds},
                        [&](std::uint64_t seed) {
                          const auto plan = sim::drawPlan(scenario, seed);
                          if (plan.ok()) return sim::run(*plan);
                          sim::RunResult wrong;
                          wrong.failure = sim::Failure{"scenario", plan.error().message, 0};
                          return wrong;
                        },
                        jobs));
  const std::vector<Reached> all = reachedIn(result, a.seeds);
  const auto failed = static_cast<std::size_t>(
      std::ranges::count_if(result.seeds, [](const sim::SeedResult& seed) { return seed.failure.has_value(); }));
  const auto missed = static_cast<std::size_t>(std::ranges::count_if(all, isMissed));
  if (a.json) {
    printJson(all, a.seeds, failed);
  } else {
    for (const Reached& one : all)
      std::printf("%10.2f  %s%s%s\n", one.perThousand, std::string(one.probe).c_str(),
                  isMissed(one)        ? "  NEVER REACHED"
                  : one.reason.empty() ? ""
                                       : "  ",
                  std::string(one.reason).c_str());
    std::printf(
        "%zu probes over %llu seeds (%zu of which failed), hits per 1,000 seeds; %zu never reached without a "
        "reason\n",
        all.size(), static_cast<unsigned long long>(a.seeds), failed, missed);
  }
  return missed == 0 && failed == 0 ? kExitOk : kExitFailed;
}

}  // namespace

void addSimCoverage(Command& sim) {
  const auto arguments = std::make_shared<CoverageArguments>();
  Command* command = sim.command("coverage", "Which rare things the runs of a scenario reach, and which ones never");
  addSourceOptions(*command, arguments->source);
  command->option("--seeds", arguments->seeds, "So many, from 1 on")->check(wholeNumber(1, 1'000'000))->showDefault();
  command->option("--jobs", arguments->jobs, "Worker processes; default: one a core")->check(wholeNumber(1, 256));
  command->flag("--json", arguments->json, "JSON output");
  command->footer(
      "Exit code 1: a probe was never reached, and sim/catalog.cpp gives no reason.\n"
      "Example: witan sim coverage everything --seeds 400");
  runs(command, arguments, coverage, reportSimError);
}

}  // namespace witan::node
