// `witan sim`: a whole cluster under virtual time, from a seed. docs/SIMULATION.md.
#include "sim/commands/sim_command.h"

#include "program/standard_commands.h"

namespace witan::node {

int runSimulator(int argc, char** argv) {
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
  return parseAndReport(app, argc, argv, exitCode);
}

}  // namespace witan::node
