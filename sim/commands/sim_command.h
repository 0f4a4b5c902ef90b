// The commands of `witan sim`, a file each. `sim` and `exitCode` must outlive the parse.
#pragma once

#include "program/command_line.h"
#include "program/error_report.h"

namespace witan::node {

void addSimRun(Command& sim, int& exitCode);
void addSimList(Command& sim, int& exitCode);
void addSimPlan(Command& sim, int& exitCode);
void addSimReplay(Command& sim, int& exitCode);
void addSimShrink(Command& sim, int& exitCode);
void addSimMutants(Command& sim, int& exitCode);
void addSimExplore(Command& sim, int& exitCode);

}  // namespace witan::node
