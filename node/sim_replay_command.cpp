// `witan sim replay`: one run again, told.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "node/sim_command.h"
#include "node/sim_failure.h"
#include "node/sim_mutant.h"
#include "sim/jobs.h"
#include "sim/run_result_text.h"

namespace witan::node {

namespace {

struct ReplayArguments {
  SimSource source;
  bool json = false;
};

Result<int> replay(const ReplayArguments& a) {
  WITAN_DO(becomeMutant(a.source.mutant));
  WITAN_TRY(plan, loadPlan(a.source));
  WITAN_TRY(result, sim::runIsolated([&] { return sim::run(plan); }));
  if (a.json) {
    std::printf("%s\n", sim::writeRunResult(result).c_str());
  } else {
    std::printf("seed %llu %s\n", static_cast<unsigned long long>(plan.options.seed),
                result.failure ? "failed" : "passed");
    if (result.failure) std::fputs(failureText(*result.failure, a.source, plan.options.seed).c_str(), stdout);
  }
  return result.failure ? kExitFailed : kExitOk;
}

}  // namespace

void addSimReplay(CLI::App& sim, int& exitCode) {
  const auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* command = sim.add_subcommand("replay", "Run one seed or plan again, and tell what happens");
  addSourceOptions(*command, arguments->source);
  command->add_flag("--json", arguments->json, "JSON output");
  command->footer("Example: witan sim replay split-brain --seed 7");
  command->callback([arguments, &exitCode] {
    const auto code = replay(*arguments);
    exitCode = code.ok() ? *code : reportSimError(code.error(), arguments->json);
  });
}

}  // namespace witan::node
