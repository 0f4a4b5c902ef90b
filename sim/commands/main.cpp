// witan-sim: a whole cluster under virtual time, from a seed. `witan sim` starts it. docs/SIMULATION.md.
#include "program/process.h"
#include "program/standard_commands.h"
#include "sim/commands/sim_command.h"

int main(int argc, char** argv) {
  using namespace witan::node;
  prepareProcess();
  Command app("witan sim", "Break a simulated cluster on purpose: seeds, faults, checkers, replay");
  app.versionFlag("witan-sim " WITAN_VERSION);
  app.requireCommand();
  app.footer("Example: witan sim run canary --seeds 1..100");
  for (const auto add : {addSimRun, addSimList, addSimPlan, addSimReplay, addSimShrink, addSimMutants, addSimExplore,
                         addSimCoverage, addStandardCommands})
    add(app);
  return finishOutput(parseAndReport(app, argc, argv));
}
