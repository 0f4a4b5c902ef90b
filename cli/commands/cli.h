// The command line of `witan`: `witan <noun> <verb>`. cli/main.cpp calls runCli(); each command has a file in
// cli/commands/.
//
// Conventions of all commands: data on stdout, messages on stderr, exit codes and errors as in program/error_report.h.
#pragma once

namespace witan::node {

int runCli(int argc, char** argv);

}  // namespace witan::node
