// `witan sim`: a whole cluster under virtual time, from a seed. docs/SIMULATION.md.
#include "node/simulator/sim_command.h"

#include <CLI/CLI.hpp>

namespace witan::node {

void addSimCommand(CLI::App& app, int& exitCode) {
  CLI::App* sim = app.add_subcommand("sim", "Break a simulated cluster on purpose: seeds, faults, checkers, replay");
  sim->require_subcommand(1);
  sim->footer("Example: witan sim run canary --seeds 1..100");
  addSimRun(*sim, exitCode);
  addSimList(*sim, exitCode);
  addSimPlan(*sim, exitCode);
  addSimReplay(*sim, exitCode);
  addSimShrink(*sim, exitCode);
  addSimMutants(*sim, exitCode);
  addSimExplore(*sim, exitCode);
}

}  // namespace witan::node
