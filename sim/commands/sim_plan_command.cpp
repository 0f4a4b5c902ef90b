// `witan sim plan`: what a seed will do, as JSON Lines that can be kept, edited and replayed.
#include <cstdio>
#include <memory>
#include "program/command_line.h"

#include "sim/commands/sim_command.h"
#include "sim/commands/sim_source.h"

namespace witan::node {

namespace {

struct PlanArguments {
  SimSource source;
  std::string out;
  bool json = false;
};

Status plan(const PlanArguments& a) {
  WITAN_TRY(drawn, loadPlan(a.source));
  if (a.out.empty()) {
    const std::string text = sim::writePlan(drawn);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return okStatus();
  }
  WITAN_DO(savePlan(a.out, drawn));
  std::fprintf(stderr, "%zu events in %s\n", drawn.events.size(), a.out.c_str());
  return okStatus();
}

}  // namespace

void addSimPlan(Command& sim) {
  const auto arguments = std::make_shared<PlanArguments>();
  Command* command = sim.command("plan", "Print what a seed does: options and events, as JSON Lines");
  addSourceOptions(*command, arguments->source);
  command->option("--out", arguments->out, "Write it into this file")->typeName("FILE");
  command->flag("--json", arguments->json, "Errors as JSON too (a plan always is)");
  command->footer("Example: witan sim plan split-brain --seed 7 --out seven.plan");
  runs(command, arguments, plan, reportSimError);
}

}  // namespace witan::node
