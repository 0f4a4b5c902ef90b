// The commands for whoever operates nodes; node/commands/cli.cpp adds them. A header apart: theirs are few and change
// together.
#pragma once

namespace CLI {
class App;
}

namespace witan::node {

// backup, restore: of a running node, or a directory
void addBackupCommands(CLI::App& app, int& exitCode);
// doctor, support-bundle: likewise
void addDoctorCommands(CLI::App& app, int& exitCode);

}  // namespace witan::node
