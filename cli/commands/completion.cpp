#include "cli/commands/completion.h"

#include "program/command_line.h"

#include "base/words.h"

namespace witan::node {

namespace {

std::string spaced(const std::vector<std::string_view>& words) { return joined(words, "", " "); }

std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

void collect(const Command& app, const std::string& path, std::vector<CompletionPlace>& out) {
  CompletionPlace place;
  place.path = path;
  const std::vector<const Command*> children = app.commands();
  for (const Command* child : children) place.words.push_back({child->name(), firstLine(child->about()), false, false});
  for (const OptionDescription& option : app.options())
    for (const std::string& name : option.names)
      if (name.starts_with("--")) place.words.push_back({name, firstLine(option.about), true, option.takesValue});
  out.push_back(std::move(place));
  for (const Command* child : children) collect(*child, path + " " + child->name(), out);
}

// In single quotes, for bash and zsh.
std::string shellQuoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// fish knows \' and \\ inside of single quotes.
std::string fishQuoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += (c == '\'' || c == '\\') ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

// The paths that are places, as alternatives of a shell's case statement; "" is none.
std::string pathPattern(const std::vector<CompletionPlace>& places, const char* between,
                        std::string (*quote)(std::string_view)) {
  std::string out;
  for (const CompletionPlace& place : places)
    if (!place.path.empty()) out += (out.empty() ? "" : between) + quote(place.path);
  return out;
}

// Long names of the options that take a value, each once, without --domain: for them the shell offers files.
std::vector<std::string> valueOptions(const std::vector<CompletionPlace>& places) {
  std::vector<std::string> out;
  for (const CompletionPlace& place : places)
    for (const CompletionPlace::Word& word : place.words)
      if (word.takesValue && word.text != "--domain" && std::find(out.begin(), out.end(), word.text) == out.end())
        out.push_back(word.text);
  return out;
}

// " domain show", " domain lint", ...: a domain's name comes next.
bool namesDomain(const CompletionPlace& place) {
  return place.path.starts_with(" domain ") && place.path != " domain list";
}

}  // namespace

std::vector<CompletionPlace> completionPlaces(const Command& app) {
  std::vector<CompletionPlace> places;
  collect(app, "", places);
  return places;
}

std::string bashCompletion(const std::vector<CompletionPlace>& places, const std::vector<std::string_view>& domains) {
  std::string files;
  for (const std::string& name : valueOptions(places)) files += (files.empty() ? "" : "|") + name;
  std::string out =
      "# bash completion of witan; to use it: source <(witan completion bash)\n"
      "_witan() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at='' choices='' i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$at ${COMP_WORDS[i]}\" in\n"
      "      " +
      pathPattern(places, "|", shellQuoted) +
      ") at=\"$at ${COMP_WORDS[i]}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case $prev in\n"
      "    --domain) mapfile -t COMPREPLY < <(compgen -W " +
      shellQuoted(spaced(domains)) +
      " -- \"$cur\"); return ;;\n"
      "    " +
      files +
      ") mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;\n"
      "  esac\n"
      "  case $at in\n";
  for (const CompletionPlace& place : places) {
    std::string words = namesDomain(place) ? spaced(domains) : "";
    for (const CompletionPlace::Word& word : place.words) words += (words.empty() ? "" : " ") + word.text;
    out += "    " + shellQuoted(place.path) + ") choices=" + shellQuoted(words) + " ;;\n";
  }
  return out +
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$cur\")\n"
         "}\n"
         "complete -F _witan witan\n";
}

std::string zshCompletion(const std::vector<CompletionPlace>& places, const std::vector<std::string_view>& domains) {
  const auto described = [](const CompletionPlace::Word& word) {
    std::string text;
    for (char c : word.text) text += c == ':' ? std::string("\\:") : std::string(1, c);
    return shellQuoted(text + ":" + word.help);
  };
  std::string out =
      "#compdef witan\n"
      "# zsh completion of witan; to use it: source <(witan completion zsh), after compinit\n"
      "_witan() {\n"
      "  local at='' i\n"
      "  local -a commands options\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n"
      "    case \"$at $words[i]\" in\n"
      "      (" +
      pathPattern(places, "|", shellQuoted) +
      ") at=\"$at $words[i]\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case $words[CURRENT-1] in\n"
      "    (--domain) compadd " +
      spaced(domains) + "; return ;;\n";
  for (const std::string& name : valueOptions(places)) out += "    (" + name + ") _files; return ;;\n";
  out += "  esac\n  case $at in\n";
  for (const CompletionPlace& place : places) {
    std::string commands;
    std::string options;
    if (namesDomain(place))
      for (std::string_view domain : domains) commands += " " + shellQuoted(domain);
    for (const CompletionPlace::Word& word : place.words) (word.isOption ? options : commands) += " " + described(word);
    out += "    (" + shellQuoted(place.path) + ") commands=(" + commands + " ); options=(" + options + " ) ;;\n";
  }
  return out +
         "  esac\n"
         "  _describe -t commands command commands\n"
         "  _describe -o -t options option options\n"
         "}\n"
         "compdef _witan witan\n";
}

std::string fishCompletion(const std::vector<CompletionPlace>& places, const std::vector<std::string_view>& domains) {
  std::string out =
      "# fish completion of witan; to use it: witan completion fish | source\n"
      "function __witan_at\n"
      "  set -l at ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$at $word\"\n"
      "      case " +
      pathPattern(places, " ", fishQuoted) +
      "\n"
      "        set at \"$at $word\"\n"
      "    end\n"
      "  end\n"
      "  test \"$at\" = \"$argv[1]\"\n"
      "end\n"
      "complete -c witan -f\n";
  for (const CompletionPlace& place : places) {
    const std::string line = "complete -c witan -n " + fishQuoted("__witan_at '" + place.path + "'");
    if (namesDomain(place)) out += line + " -a " + fishQuoted(spaced(domains)) + "\n";
    for (const CompletionPlace::Word& word : place.words) {
      if (!word.isOption)
        out += line + " -a " + word.text;
      else if (word.text == "--domain")
        out += line + " -l domain -x -a " + fishQuoted(spaced(domains));
      else
        out += line + " -l " + word.text.substr(2) + (word.takesValue ? " -r -F" : "");
      out += " -d " + fishQuoted(word.help) + "\n";
    }
  }
  return out;
}

}  // namespace witan::node
