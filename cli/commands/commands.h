// The commands of `witan`, a file each in cli/commands/. Each function declares its command and the verbs below it.
// `app` and `exitCode` must outlive the parse.
#pragma once

#include "program/command_line.h"
#include "program/error_report.h"

namespace witan::node {

// init, join
void addInitCommands(Command& app, int& exitCode);
void addUpCommand(Command& app, int& exitCode);
void addConsoleCommand(Command& app, int& exitCode);
// status, peers, partition, propose, feed: of a running node
void addStatusCommands(Command& app, int& exitCode);
// invite, pending, approve, deny, revoke, roles: of a running node
void addEnrolmentCommands(Command& device, int& exitCode);
void addRunCommand(Command& app, int& exitCode);
void addLedgerCommand(Command& app, int& exitCode);
void addQueueCommand(Command& app, int& exitCode);
void addDomainCommand(Command& app, int& exitCode);
// The part of it about public records (cli/commands/domain_records_command.cpp).
void addDomainRecordCommands(Command& noun, int& exitCode);
void addStateCommand(Command& app, int& exitCode);
// The part of it about agents at work (cli/commands/agent_run_command.cpp).
void addAgentRunCommands(Command& noun, int& exitCode);
void addAgentCommand(Command& app, int& exitCode);
void addApprovalCommand(Command& app, int& exitCode);
void addReceiptCommand(Command& app, int& exitCode);
void addSagaCommand(Command& app, int& exitCode);
void addWakeCommand(Command& app, int& exitCode);
void addEpisodeCommand(Command& app, int& exitCode);
void addJournalCommand(Command& app, int& exitCode);
void addSyncCommand(Command& app, int& exitCode);
void addDeviceCommand(Command& app, int& exitCode);
void addPolicyCommand(Command& app, int& exitCode);
void addSecretCommand(Command& app, int& exitCode);
// backup, restore: of a running node, or a directory
void addBackupCommands(Command& app, int& exitCode);
// doctor, support-bundle: likewise
void addDoctorCommands(Command& app, int& exitCode);
// The Model Context Protocol, of a running node.
void addMcpCommand(Command& app, int& exitCode);
void addIdCommand(Command& app, int& exitCode);
void addCoordinateCommand(Command& app, int& exitCode);
void addGraphCommand(Command& app, int& exitCode);
void addCompletionCommand(Command& app, int& exitCode);

}  // namespace witan::node
