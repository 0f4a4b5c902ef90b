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
    Sibling{"compare", "witan-lab",
            "One domain under four architectures: violations, denials, questions, time (witan-lab)"},
    Sibling{"conformance", "witan-lab", "Hold this build against a published statement, row by row (witan-lab)"},
    Sibling{"ontology", "witan-lab", "Domain ontologies in Turtle: check, derive roles, scaffold (witan-lab)"},
};

const Sibling* siblingFor(int argc, char** argv) {
  if (argc < 2) return nullptr;
  const auto found = std::ranges::find_if(kSiblings, [&](const Sibling& s) { return s.noun == argv[1]; });
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
  app.versionFlag("witan " WITAN_VERSION);
  app.requireCommand();
  app.footer("Example: witan run --domain udt --events docs/examples/david.jsonl\nMore: witan <command> --help");
  for (const auto add :
       {addInitCommands,      addUpCommand,       addConsoleCommand,    addStatusCommands,  addBackupCommands,
        addDoctorCommands,    addRunCommand,      addLedgerCommand,     addIncidentCommand, addSuffixCommand,
        addQueueCommand,      addAdminCommand,    addPersonCommand,     addPublishCommand,  addDomainCommand,
        addMcpCommand,        addIdCommand,       addAgentCommand,      addEpisodeCommand,  addStateCommand,
        addSagaCommand,       addWakeCommand,     addMemoryCommand,     addApprovalCommand, addReceiptCommand,
        addJournalCommand,    addSyncCommand,     addDeviceCommand,     addToolCommand,     addModelStubCommand,
        addPolicyCommand,     addSecretCommand,   addCoordinateCommand, addGraphCommand,    addInboxCommand,
        addWhyCommand,        addMarketCommand,   addRuleCommand,       addWitnessCommand,  addTokenCommand,
        addCompletionCommand, addStandardCommands})
    add(app);
  for (const Sibling& sibling : kSiblings) app.command(std::string(sibling.noun), sibling.about);
  return parseAndReport(app, argc, argv);
}

}  // namespace
}  // namespace witan::node

int main(int argc, char** argv) {
  witan::node::prepareProcess();
  return witan::node::finishOutput(witan::node::runCli(argc, argv));
}
