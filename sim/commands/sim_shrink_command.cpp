// `witan sim shrink`: from a run that fails, the smallest plan that fails in the same way.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include "program/command_line.h"

#include "base/json.h"
#include "program/option_checks.h"
#include "program/output.h"
#include "sim/commands/sim_command.h"
#include "sim/commands/sim_report.h"
#include "sim/duration.h"
#include "sim/jobs.h"
#include "sim/mutants.h"
#include "sim/shrink.h"

namespace witan::node {

namespace {

using Steady = std::chrono::steady_clock;

struct ShrinkArguments {
  SimSource source;
  std::string out;
  std::string budget = "10m";
  std::uint64_t runs = 10'000;
  bool json = false;
};

double secondsSince(Steady::time_point from) { return std::chrono::duration<double>(Steady::now() - from).count(); }

// A line on a terminal that is written over.
void tell(const sim::ShrinkProgress& progress, double seconds) {
  static double shown = 0;
  if (::isatty(STDERR_FILENO) != 1 || seconds - shown < 0.1) return;
  shown = seconds;
  std::fprintf(stderr, "\r%zu events, %llu runs: %.*s\033[K", progress.events,
               static_cast<unsigned long long>(progress.runs), static_cast<int>(progress.doing.size()),
               progress.doing.data());
  std::fflush(stderr);
}

// A plan that kills its process is run in one of its own; so is every one after it, because its descendants do too.
sim::PlanRunner isolatedRunner(Status& trouble, const std::string& mutant) {
  return [&trouble, mutant](const sim::Plan& plan) {
    auto result = sim::runIsolated(
        [&] {
          const Status active = sim::activateMutant(mutant);
          WITAN_CHECK(active.ok(), "it was possible before");
          return sim::run(plan);
        },
        60);
    if (result.ok()) return *std::move(result);
    if (trouble.ok()) trouble = result.error();
    return sim::RunResult{};
  };
}

std::string summary(const sim::Shrunk& shrunk, const sim::Plan& from, double seconds) {
  const std::size_t left = shrunk.plan.events.size();
  char text[256];
  std::snprintf(text, sizeof text, "%zu events of %zu left after %llu runs in %.1f s%s\n", left, from.events.size(),
                static_cast<unsigned long long>(shrunk.runs), seconds,
                !shrunk.minimal ? "; the search was cut short"
                : left == 0     ? "; it fails without any, by its options alone"
                                : "; each of them is needed");
  std::string out = text;
  if (shrunk.failure.reason != shrunk.first.reason)
    out += "  the same checker says it in other words than at first: " + failureLine(shrunk.first) + "\n";
  return out;
}

Result<int> shrinkPlan(const ShrinkArguments& a) {
  WITAN_DO(sim::activateMutant(a.source.mutant));
  WITAN_TRY(budget, sim::parseDuration(a.budget));
  WITAN_TRY(plan, loadPlan(a.source));
  if (!a.out.empty()) WITAN_DO(canSavePlan(a.out));
  const auto from = Steady::now();
  const double most = static_cast<double>(budget) / 1e6;
  Status trouble = okStatus();
  sim::ShrinkLimits limits;
  limits.runs = a.runs;
  limits.goOn = [&](const sim::ShrinkProgress& progress) {
    tell(progress, secondsSince(from));
    return trouble.ok() && secondsSince(from) < most;
  };
  if (a.source.mutant != sim::kNoMutant) limits.sound = isolatedRunner(trouble, std::string(sim::kNoMutant));
  auto shrunk = sim::shrink(plan, isolatedRunner(trouble, a.source.mutant), limits);
  if (::isatty(STDERR_FILENO) == 1) std::fputs("\r\033[K", stderr);
  WITAN_DO(trouble);
  if (!shrunk) return shrunk.error();
  const std::string text = sim::writePlan(shrunk->plan);
  SimSource again{.planFile = a.out, .mutant = a.source.mutant};
  if (!a.out.empty()) WITAN_DO(savePlan(a.out, shrunk->plan));
  if (a.json) {
    std::string out =
        concat("{\"events\":", shrunk->plan.events.size(), ",\"from\":", plan.events.size(), ",\"runs\":", shrunk->runs,
               ",\"minimal\":", shrunk->minimal ? "true" : "false", ",\"checker\":");
    appendJsonString(out, shrunk->failure.checker);
    out += ",\"reason\":";
    appendJsonString(out, shrunk->failure.reason);
    out += ",\"firstReason\":";
    appendJsonString(out, shrunk->first.reason);
    out += ",\"plan\":";
    appendJsonString(out, text);
    std::printf("%s}\n", out.c_str());
    return kExitOk;
  }
  if (a.out.empty()) {
    std::fputs(text.c_str(), stdout);
    putErr(summary(*shrunk, plan, secondsSince(from)));
    return kExitOk;
  }
  putWords(summary(*shrunk, plan, secondsSince(from)) + "  " + failureLine(shrunk->failure) +
           "\n  see it: " + simCommandLine(again, "replay", std::nullopt) + " --text\n");
  return kExitOk;
}

}  // namespace

void addSimShrink(Command& sim) {
  const auto arguments = std::make_shared<ShrinkArguments>();
  Command* command = sim.command("shrink", "From a run that fails, the smallest plan that fails the same way");
  addSourceOptions(*command, arguments->source);
  command->option("--out", arguments->out, "Write the plan into this file; default: print it")->typeName("FILE");
  command->option("--budget", arguments->budget, "Stop after so long with what was reached")->showDefault();
  command->option("--runs", arguments->runs, "Stop after so many runs")->check(wholeNumber(1))->showDefault();
  command->flag("--json", arguments->json, "JSON output");
  command->footer("Example: witan sim shrink everything --seed 1 --mutant noDedupe --out smallest.plan");
  runs(command, arguments, shrinkPlan, reportSimError);
}

}  // namespace witan::node
