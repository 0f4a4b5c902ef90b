// The commands of `witan sim`, a file each. Called once while the command line is declared; `sim` and `exitCode` must
// outlive the parse.
#pragma once

#include "node/commands/cli.h"

namespace witan::node {

void addSimRun(CLI::App& sim, int& exitCode);
void addSimList(CLI::App& sim, int& exitCode);
void addSimPlan(CLI::App& sim, int& exitCode);
void addSimReplay(CLI::App& sim, int& exitCode);
void addSimShrink(CLI::App& sim, int& exitCode);
void addSimMutants(CLI::App& sim, int& exitCode);
void addSimExplore(CLI::App& sim, int& exitCode);

}  // namespace witan::node
