// witan-sim: a whole cluster under virtual time, from a seed. `witan sim` starts it. docs/SIMULATION.md.
#include "program/process.h"
#include "program/standard_commands.h"
#include "sim/commands/sim_command.h"

int main(int argc, char** argv) {
  using namespace witan::node;
  prepareProcess();
  Command app("witan sim", "Break a simulated cluster on purpose: seeds, faults, checkers, replay");
  app.versionFlag(std::string("witan-sim ") + WITAN_VERSION);
  app.requireCommand();
  app.footer("Example: witan sim run canary --seeds 1..100");
  int exitCode = kExitOk;
  addSimRun(app, exitCode);
  addSimList(app, exitCode);
  addSimPlan(app, exitCode);
  addSimReplay(app, exitCode);
  addSimShrink(app, exitCode);
  addSimMutants(app, exitCode);
  addSimExplore(app, exitCode);
  addStandardCommands(app, exitCode);
  return finishOutput(parseAndReport(app, argc, argv, exitCode));
}
