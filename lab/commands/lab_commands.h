// The commands of witan-lab. `app` and `exitCode` must outlive the parse.
#pragma once

#include "program/command_line.h"
#include "program/error_report.h"

namespace witan::node {

void addConformanceCommand(Command& app, int& exitCode);
void addOntologyCommand(Command& app, int& exitCode);

// The whole command line. Returns the exit code.
int runLaboratory(int argc, char** argv);

}  // namespace witan::node
