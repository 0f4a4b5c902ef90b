// The commands of `witan`, a file each in cli/commands/. Each function declares its command and the verbs below it.
// `app` must outlive the parse.
#pragma once

#include "program/command_line.h"
#include "program/error_report.h"

namespace witan::node {

// init, join
void addInitCommands(Command& app);
void addUpCommand(Command& app);
void addConsoleCommand(Command& app);
// status, peers, partition, propose, feed: of a running node
void addStatusCommands(Command& app);
// invite, pending, approve, deny, revoke, roles: of a running node
void addEnrolmentCommands(Command& device);
void addRunCommand(Command& app);
void addLedgerCommand(Command& app);
void addIncidentCommand(Command& app);
// list, export, propose: of divergent suffixes
void addSuffixCommand(Command& app);
void addQueueCommand(Command& app);
void addAdminCommand(Command& app);
void addPersonCommand(Command& app);
void addPublishCommand(Command& app);
void addInboxCommand(Command& app);
void addWhyCommand(Command& app);
void addDomainCommand(Command& app);
// The part of it about public records (cli/commands/domain_records_command.cpp).
void addDomainRecordCommands(Command& noun);
void addRuleCommand(Command& app);
void addStateCommand(Command& app);
// The part of it about agents at work (cli/commands/agent_run_command.cpp).
void addAgentRunCommands(Command& noun);
void addAgentServeCommand(Command& noun);
void addAgentCommand(Command& app);
void addApprovalCommand(Command& app);
void addReceiptCommand(Command& app);
void addSagaCommand(Command& app);
void addWakeCommand(Command& app);
void addMemoryCommand(Command& app);
void addEpisodeCommand(Command& app);
void addJournalCommand(Command& app);
void addSyncCommand(Command& app);
void addDeviceCommand(Command& app);
void addToolCommand(Command& app);
void addModelStubCommand(Command& app);
void addPolicyCommand(Command& app);
void addSecretCommand(Command& app);
// backup, restore: of a running node, or a directory
void addBackupCommands(Command& app);
// doctor, support-bundle: likewise
void addDoctorCommands(Command& app);
// The Model Context Protocol, of a running node.
void addMcpCommand(Command& app);
void addIdCommand(Command& app);
void addCoordinateCommand(Command& app);
void addGraphCommand(Command& app);
void addMarketCommand(Command& app);
void addWitnessCommand(Command& app);
// add, list, revoke: of programs, on a running node
void addTokenCommand(Command& app);
void addCompletionCommand(Command& app);

}  // namespace witan::node
