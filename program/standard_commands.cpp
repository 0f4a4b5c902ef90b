#include "program/standard_commands.h"

#include <algorithm>

#include "base/json.h"
#include "base/quote.h"
#include "program/durable_file.h"
#include "program/error_report.h"
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

// One page for the program and one for each of its nouns, with the noun's verbs in it. Made from the declaration of the
// command line, so that they cannot lag behind it.
struct ManualPage {
  std::string name;  // "witan-ledger": the file is NAME.1
  std::string text;  // roff, for man(1)
};

// Text that roff leaves alone: no escapes, no requests, and hyphens that can be copied.
std::string escaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool lineBegins = i == 0 || text[i - 1] == '\n';
    if (lineBegins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

// "witan sim" is one page, witan-sim.
std::string pageName(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string section(const std::string& title) { return ".SH " + title + "\n"; }

// Text whose line breaks stay.
std::string verbatim(const std::string& text) { return ".nf\n" + escaped(text) + "\n.fi\n"; }

std::string namesOf(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + name;
  if (option.takesValue && !option.positional) names += " " + (option.type.empty() ? "VALUE" : option.type);
  return names;
}

std::string optionList(const Command& command) {
  std::string out;
  for (const OptionDescription& option : command.options()) {
    out += ".TP\n.B " + escaped(namesOf(option)) + "\n" + escaped(option.about);
    if (option.required) out += " (required)";
    if (!option.defaultText.empty()) out += " (default: " + escaped(option.defaultText) + ")";
    out += "\n";
  }
  return out;
}

std::string head(const std::string& name, const std::string& version, const std::string& about) {
  return ".TH " + escaped(name) + " 1 \"\" \"" + escaped(version) + "\" \"Witan\"\n" + section("NAME") + escaped(name) +
         " \\- " + escaped(about.substr(0, about.find('\n'))) + "\n";
}

std::string tail(const Command& command) {
  const std::string footer = command.footerText();
  return footer.empty() ? "" : section("EXAMPLES") + verbatim(footer);
}

ManualPage pageOf(const Command& noun, const std::string& program, const std::string& version) {
  const std::string words = program + " " + noun.name();
  const auto verbs = noun.commands();
  std::string text = head(pageName(program + "-" + noun.name()), version, noun.about());
  text +=
      section("SYNOPSIS") + ".B " + escaped(words) + (verbs.empty() ? "" : " \\fIVERB\\fP") + " [\\fIOPTIONS\\fP]\n";
  if (noun.about().find('\n') != std::string::npos) text += section("DESCRIPTION") + verbatim(noun.about());
  if (!verbs.empty()) text += section("VERBS");
  for (const Command* verb : verbs) {
    text += ".SS " + escaped(words + " " + verb->name()) + "\n" + escaped(verb->about()) + "\n" + optionList(*verb);
    for (const Command* below : verb->commands())
      text += ".PP\n.B " + escaped(words + " " + verb->name() + " " + below->name()) + "\n.br\n" +
              escaped(below->about()) + "\n" + optionList(*below);
    if (!verb->footerText().empty()) text += ".PP\n" + verbatim(verb->footerText());
  }
  if (const std::string options = optionList(noun); !options.empty()) text += section("OPTIONS") + options;
  return {pageName(program + "-" + noun.name()), text + tail(noun)};
}

std::vector<ManualPage> manualPages(const Command& program, const std::string& version) {
  std::string text = head(pageName(program.name()), version, program.about());
  text += section("SYNOPSIS") + ".B " + escaped(program.name()) + " \\fICOMMAND\\fP [\\fIVERB\\fP] [\\fIOPTIONS\\fP]\n";
  text += section("COMMANDS");
  std::vector<ManualPage> pages;
  for (const Command* noun : program.commands()) {
    text += ".TP\n.BR " + escaped(program.name() + "-" + noun->name()) + " (1)\n" + escaped(noun->about()) + "\n";
    pages.push_back(pageOf(*noun, program.name(), version));
  }
  text += section("OPTIONS") + optionList(program) + section("EXIT STATUS") +
          verbatim("0  done\n1  failed\n2  wrong usage\n3  done, but some inputs were refused\n4  not reachable") +
          tail(program);
  pages.insert(pages.begin(), {pageName(program.name()), std::move(text)});
  return pages;
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

void addStandardCommands(Command& app) {
  const auto a = std::make_shared<StandardArguments>();
  Command* version = app.command("version", "Print the version of this build");
  version->flag("--json", a->json, "JSON output");
  version->footer("Example: " + app.name() + " version --json");
  version->callback([&app, a] { return printVersion(app, a->json); });
  Command* help = app.command("help", "Print the help of a command");
  help->option("COMMAND", a->words, "A command and its verb; none: the program itself");
  help->footer("Example: " + app.name() + " help version");
  help->callback([&app, a] { return printHelp(app, a->words); });
  Command* manual = app.command("manual", "Write the manual pages of this build into a folder");
  manual->option("FOLDER", a->folder, "An existing folder; the pages are NAME.1")->required();
  manual->footer("Example: mkdir man1 && " + app.name() + " manual man1");
  manual->callback([&app, a] { return writeManual(app, a->folder); });
}

}  // namespace witan::node
