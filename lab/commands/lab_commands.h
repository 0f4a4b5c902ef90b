// The commands of witan-lab. `app` and `exitCode` must outlive the parse.
#pragma once

#include "program/command_line.h"
#include "program/error_report.h"

namespace witan::node {

void addConformanceCommand(Command& app, int& exitCode);
void addOntologyCommand(Command& app, int& exitCode);

}  // namespace witan::node
