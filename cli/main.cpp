// The program `witan`: `witan <noun> <verb>`. Each command has a file in cli/commands/.
//
// Conventions of all commands: data on stdout, messages on stderr, exit codes and errors as in program/error_report.h.
#include <algorithm>
#include <array>
#include <string_view>

#include "cli/commands/commands.h"
#include "node/config/daemon_config.h"
#include "program/error_report.h"
#include "program/process.h"
#include "program/standard_commands.h"

namespace witan::node {

namespace {

// Commands that another program of this build carries out.
struct Sibling {
  std::string_view noun, program;
  const char* about;
};
constexpr std::array kSiblings{
    Sibling{"sim", "witan-sim", "Break a simulated cluster on purpose: seeds, faults, checkers, replay (witan-sim)"},
    Sibling{"conformance", "witan-lab", "Hold this build against a published statement, row by row (witan-lab)"},
    Sibling{"ontology", "witan-lab", "Domain ontologies in Turtle: check, derive roles, scaffold (witan-lab)"},
};

const Sibling* siblingFor(int argc, char** argv) {
  if (argc < 2) return nullptr;
  const auto found =
      std::find_if(kSiblings.begin(), kSiblings.end(), [&](const Sibling& s) { return s.noun == argv[1]; });
  return found == kSiblings.end() ? nullptr : found;
}

int runCli(int argc, char** argv) {
  if (const Status known = checkEnvironment(); !known.ok())
    return reportError(known.error(), std::find(argv, argv + argc, std::string_view("--json")) != argv + argc);
  if (const Sibling* sibling = siblingFor(argc, argv)) {
    const int skipped = sibling->program == "witan-sim" ? 2 : 1;  // witan-sim has one noun, witan-lab several
    return runSibling(std::string(sibling->program), {argv + skipped, argv + argc});
  }
  Command app("witan", "Witan: a local-first agent cluster");
  app.versionFlag(std::string("witan ") + WITAN_VERSION);
  app.requireCommand();
  app.footer("Example: witan run --domain udt --events docs/examples/david.jsonl\nMore: witan <command> --help");
  int exitCode = kExitOk;
  addInitCommands(app, exitCode);
  addUpCommand(app, exitCode);
  addConsoleCommand(app, exitCode);
  addStatusCommands(app, exitCode);
  addBackupCommands(app, exitCode);
  addDoctorCommands(app, exitCode);
  addRunCommand(app, exitCode);
  addLedgerCommand(app, exitCode);
  addQueueCommand(app, exitCode);
  addDomainCommand(app, exitCode);
  addMcpCommand(app, exitCode);
  addIdCommand(app, exitCode);
  addAgentCommand(app, exitCode);
  addEpisodeCommand(app, exitCode);
  addStateCommand(app, exitCode);
  addSagaCommand(app, exitCode);
  addWakeCommand(app, exitCode);
  addApprovalCommand(app, exitCode);
  addReceiptCommand(app, exitCode);
  addJournalCommand(app, exitCode);
  addSyncCommand(app, exitCode);
  addDeviceCommand(app, exitCode);
  addPolicyCommand(app, exitCode);
  addSecretCommand(app, exitCode);
  addCoordinateCommand(app, exitCode);
  addGraphCommand(app, exitCode);
  addCompletionCommand(app, exitCode);
  addStandardCommands(app, exitCode);
  for (const Sibling& sibling : kSiblings) app.command(std::string(sibling.noun), sibling.about);
  return parseAndReport(app, argc, argv, exitCode);
}

}  // namespace
}  // namespace witan::node

int main(int argc, char** argv) {
  witan::node::prepareProcess();
  return witan::node::finishOutput(witan::node::runCli(argc, argv));
}
