// The commands of `witan sim`, a file each. `sim` must outlive the parse.
#pragma once

#include "program/command_line.h"
#include "program/error_report.h"

namespace witan::node {

void addSimRun(Command& sim);
void addSimList(Command& sim);
void addSimPlan(Command& sim);
void addSimReplay(Command& sim);
void addSimShrink(Command& sim);
void addSimMutants(Command& sim);
void addSimCoverage(Command& sim);
void addSimExplore(Command& sim);

}  // namespace witan::node
