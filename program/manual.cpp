#include "program/manual.h"

#include <algorithm>

namespace witan::node {

namespace {

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

}  // namespace

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

}  // namespace witan::node
