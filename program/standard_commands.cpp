#include "program/standard_commands.h"

#include "base/json.h"
#include "base/quote.h"
#include "program/durable_file.h"
#include "program/error_report.h"
#include "program/manual.h"
#include "program/output.h"

namespace witan::node {

namespace {

struct StandardArguments {
  std::vector<std::string> words;
  std::string folder;
  bool json = false;
};

int printVersion(const Command& app, bool json) {
  const std::string compiler = "g++ " __VERSION__;
  if (json)
    putOut(canonicalJson(json::object{{"program", app.name()}, {"version", WITAN_VERSION}, {"compiler", compiler}}) +
           "\n");
  else
    putOut(app.name() + " " WITAN_VERSION " (" + compiler + ")\n");
  return kExitOk;
}

int printHelp(Command& app, const std::vector<std::string>& words) {
  Command* at = &app;
  std::string path = app.name();
  for (const std::string& word : words) {
    Command* const below = at->find(word);
    if (below == nullptr)
      return reportUsage(invalid(path + " has no command " + inQuotes(word), "see " + path + " --help"), false);
    at = below;
    path += " " + word;
  }
  putOut(at->helpText());
  return kExitOk;
}

int writeManual(const Command& app, const std::string& folder) {
  for (const ManualPage& page : manualPages(app, WITAN_VERSION)) {
    const std::string path = folder + "/" + page.name + ".1";
    if (const Status written = replaceFile(path, page.text, 0644); !written.ok())
      return reportError(written.error(), false);
  }
  return kExitOk;
}

}  // namespace

void addStandardCommands(Command& app, int& exitCode) {
  const auto a = std::make_shared<StandardArguments>();
  Command* version = app.command("version", "Print the version of this build");
  version->flag("--json", a->json, "JSON output");
  version->footer("Example: " + app.name() + " version --json");
  version->callback([&app, a, &exitCode] { exitCode = printVersion(app, a->json); });
  Command* help = app.command("help", "Print the help of a command");
  help->option("COMMAND", a->words, "A command and its verb; none: the program itself");
  help->footer("Example: " + app.name() + " help version");
  help->callback([&app, a, &exitCode] { exitCode = printHelp(app, a->words); });
  Command* manual = app.command("manual", "Write the manual pages of this build into a folder");
  manual->option("FOLDER", a->folder, "An existing folder; the pages are NAME.1")->required();
  manual->footer("Example: mkdir man1 && " + app.name() + " manual man1");
  manual->callback([&app, a, &exitCode] { exitCode = writeManual(app, a->folder); });
}

}  // namespace witan::node
