// The command line: `witan <noun> <verb>`. node/main.cpp calls runCli; each command has a file of its own.
//
// Conventions of all commands: data on stdout, words on stderr; errors as `witan: <what>: <what to do>`, with --json as
// {"error":{"code","message","hint"}}; exit codes below.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace witan::node {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitSomeRefused = 3;
inline constexpr int kExitUnreachable = 4;

int runCli(int argc, char** argv);
// The same for a command line that came otherwise (a running node carries it out for a client).
int runCommandLine(int argc, char** argv);
// The words of the process's own, without the program's name.
const std::vector<std::string>& commandLine();

// Prints an error in the agreed form; kExitFailed, or kExitUnreachable. Wrong usage: node/commands/option_checks.h.
int reportError(const Error& error, bool json);

// init, join
void addInitCommands(CLI::App& app, int& exitCode);
void addUpCommand(CLI::App& app, int& exitCode);
// status, peers, partition, propose, feed: of a running node
void addStatusCommands(CLI::App& app, int& exitCode);
// invite, pending, approve, deny, revoke, roles: of a running node
void addEnrolmentCommands(CLI::App& device, int& exitCode);
void addRunCommand(CLI::App& app, int& exitCode);
void addLedgerCommand(CLI::App& app, int& exitCode);
void addQueueCommand(CLI::App& app, int& exitCode);
void addDomainCommand(CLI::App& app, int& exitCode);
// The part of it about public records (node/commands/domain_records_command.cpp).
void addDomainRecordCommands(CLI::App& noun, int& exitCode);
void addStateCommand(CLI::App& app, int& exitCode);
// The part of it about agents at work (node/commands/agent_run_command.cpp).
void addAgentRunCommands(CLI::App& noun, int& exitCode);
void addAgentCommand(CLI::App& app, int& exitCode);
void addApprovalCommand(CLI::App& app, int& exitCode);
void addReceiptCommand(CLI::App& app, int& exitCode);
void addSagaCommand(CLI::App& app, int& exitCode);
void addWakeCommand(CLI::App& app, int& exitCode);
void addEpisodeCommand(CLI::App& app, int& exitCode);
void addJournalCommand(CLI::App& app, int& exitCode);
void addSyncCommand(CLI::App& app, int& exitCode);
void addDeviceCommand(CLI::App& app, int& exitCode);
void addPolicyCommand(CLI::App& app, int& exitCode);
void addSecretCommand(CLI::App& app, int& exitCode);
void addSimCommand(CLI::App& app, int& exitCode);
void addCoordinateCommand(CLI::App& app, int& exitCode);
void addConformanceCommand(CLI::App& app, int& exitCode);
void addOntologyCommand(CLI::App& app, int& exitCode);
void addCompletionCommand(CLI::App& app, int& exitCode);

}  // namespace witan::node
