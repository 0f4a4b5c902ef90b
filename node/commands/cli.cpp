#include "node/commands/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/json.h"
#include "base/quote.h"
#include "node/commands/id_command.h"
#include "node/commands/operate.h"
#include "node/commands/option_checks.h"
#include "node/output.h"

namespace witan::node {

int reportError(const Error& error, bool json) {
  if (json) {
    std::string out = "{\"error\":{\"code\":";
    appendJsonString(out, toString(error.code));
    out += ",\"message\":";
    appendJsonString(out, error.message);
    out += ",\"hint\":";
    appendJsonString(out, error.hint);
    out += "}}\n";
    putErr(out);
  } else {
    putErr("witan: " + error.message + (error.hint.empty() ? "" : ": ") + error.hint + "\n");
  }
  return error.code == ErrorCode::unavailable ? kExitUnreachable : kExitFailed;
}

int reportUsage(const Error& error, bool json) {
  (void)reportError(error, json);
  return kExitUsage;
}

namespace {

std::vector<std::string> given;  // of the process

// The words of the innermost command that the line got to.
std::string commandOf(const CLI::App& app) {
  const auto below = app.get_subcommands();
  return app.get_name() + (below.empty() ? "" : " " + commandOf(*below.front()));
}

// The library asks for a command before it looks at the words that it did not take.
std::string problemOf(const CLI::App& app, const CLI::ParseError& e) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  const std::vector<std::string> rest = at->remaining();
  const bool needsCommand =
      at->get_require_subcommand_min() > 0 && dynamic_cast<const CLI::RequiredError*>(&e) != nullptr;
  if (!needsCommand || rest.empty() || rest.front().starts_with("-")) return e.what();
  return "unknown command " + inQuotes(rest.front());
}

}  // namespace

const std::vector<std::string>& commandLine() { return given; }

int runCli(int argc, char** argv) {
  given.assign(argv + 1, argv + argc);
  return runCommandLine(argc, argv);
}

int runCommandLine(int argc, char** argv) {
  CLI::App app("Witan: a local-first agent cluster", "witan");
  app.set_version_flag("--version", std::string("witan ") + WITAN_VERSION);
  app.require_subcommand(1);
  app.footer("Example: witan run --domain udt --events examples.jsonl\nMore: witan <command> --help");
  int exitCode = kExitOk;
  addInitCommands(app, exitCode);
  addUpCommand(app, exitCode);
  addStatusCommands(app, exitCode);
  addBackupCommands(app, exitCode);
  addDoctorCommands(app, exitCode);
  addRunCommand(app, exitCode);
  addLedgerCommand(app, exitCode);
  addQueueCommand(app, exitCode);
  addDomainCommand(app, exitCode);
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
  addSimCommand(app, exitCode);
  addCoordinateCommand(app, exitCode);
  addConformanceCommand(app, exitCode);
  addOntologyCommand(app, exitCode);
  addCompletionCommand(app, exitCode);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    const bool json = std::find(argv + 1, argv + argc, std::string_view("--json")) != argv + argc;
    return reportUsage(invalid(problemOf(app, e), "see " + commandOf(app) + " --help"), json);
  }
  return exitCode;
}

}  // namespace witan::node
