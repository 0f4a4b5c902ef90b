#include "cli/commands/completion.h"

#include "program/command_line.h"

namespace witan::node {

namespace {

std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// The kind of value that an option or a positional of this name takes; "": a file or a text.
std::string valuesOf(std::string_view name) {
  struct Kind {
    std::string_view name;
    const char* values;
  };
  static constexpr Kind kinds[]{{"--domain", "domains"},  {"DOMAIN", "domains"}, {"name", "domains"},
                                {"--device", "devices"},  {"DEVICE", "devices"}, {"--to", "devices"},
                                {"--entity", "entities"}, {"ENTITY", "entities"}};
  for (const Kind& kind : kinds)
    if (kind.name == name) return kind.values;
  return "";
}

void collect(const Command& app, const std::string& path, std::vector<CompletionPlace>& out) {
  CompletionPlace place;
  place.path = path;
  const std::vector<const Command*> children = app.commands();
  for (const Command* child : children) place.words.push_back({child->name(), firstLine(child->about()), false, false});
  for (const OptionDescription& option : app.options()) {
    if (option.positional && place.values.empty()) place.values = valuesOf(option.names.front());
    for (const std::string& name : option.names)
      if (name.starts_with("--")) place.words.push_back({name, firstLine(option.about), true, option.takesValue});
  }
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

// Long names of the options that take a value of this kind, each once. "": those for which the shell offers files.
std::vector<std::string> valueOptions(const std::vector<CompletionPlace>& places, std::string_view kind) {
  std::vector<std::string> out;
  for (const CompletionPlace& place : places)
    for (const CompletionPlace::Word& word : place.words)
      if (word.takesValue && valuesOf(word.text) == kind && std::find(out.begin(), out.end(), word.text) == out.end())
        out.push_back(word.text);
  return out;
}

std::string alternatives(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : "|") + name;
  return out;
}

constexpr const char* kKinds[]{"domains", "devices", "entities"};

std::string askFor(const std::string& kind) { return "witan completion values " + kind + " 2>/dev/null"; }

}  // namespace

std::vector<CompletionPlace> completionPlaces(const Command& app) {
  std::vector<CompletionPlace> places;
  collect(app, "", places);
  return places;
}

std::string bashCompletion(const std::vector<CompletionPlace>& places) {
  std::string out =
      "# bash completion of witan; to use it: source <(witan completion bash)\n"
      "_witan() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at='' choices='' i\n"
      "  local witan=${COMP_WORDS[0]}\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$at ${COMP_WORDS[i]}\" in\n"
      "      " +
      pathPattern(places, "|", shellQuoted) +
      ") at=\"$at ${COMP_WORDS[i]}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case $prev in\n";
  for (const char* kind : kKinds)
    if (const auto names = valueOptions(places, kind); !names.empty())
      out += "    " + alternatives(names) + ") mapfile -t COMPREPLY < <(compgen -W \"$(\"$witan\" completion values " +
             kind + " 2>/dev/null)\" -- \"$cur\"); return ;;\n";
  out += "    " + alternatives(valueOptions(places, "")) +
         ") mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;\n"
         "  esac\n"
         "  case $at in\n";
  for (const CompletionPlace& place : places) {
    std::string words;
    for (const CompletionPlace::Word& word : place.words) words += (words.empty() ? "" : " ") + word.text;
    out += "    " + shellQuoted(place.path) + ") choices=" + shellQuoted(words);
    if (!place.values.empty())
      out += "; [[ $cur == -* ]] || choices+=\" $(\"$witan\" completion values " + place.values + " 2>/dev/null)\"";
    out += " ;;\n";
  }
  return out +
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$cur\")\n"
         "}\n"
         "complete -F _witan witan\n";
}

std::string zshCompletion(const std::vector<CompletionPlace>& places) {
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
      "  case $words[CURRENT-1] in\n";
  for (const char* kind : kKinds)
    if (const auto names = valueOptions(places, kind); !names.empty())
      out += "    (" + alternatives(names) + ") compadd -- ${(f)\"$(" + askFor(kind) + ")\"}; return ;;\n";
  out += "    (" + alternatives(valueOptions(places, "")) + ") _files; return ;;\n  esac\n  case $at in\n";
  for (const CompletionPlace& place : places) {
    std::string commands;
    std::string options;
    for (const CompletionPlace::Word& word : place.words) (word.isOption ? options : commands) += " " + described(word);
    if (!place.values.empty()) commands += " ${(f)\"$(" + askFor(place.values) + ")\"}";
    out += "    (" + shellQuoted(place.path) + ") commands=(" + commands + " ); options=(" + options + " ) ;;\n";
  }
  return out +
         "  esac\n"
         "  _describe -t commands command commands\n"
         "  _describe -o -t options option options\n"
         "}\n"
         "compdef _witan witan\n";
}

std::string fishCompletion(const std::vector<CompletionPlace>& places) {
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
    if (!place.values.empty()) out += line + " -a " + fishQuoted("(" + askFor(place.values) + ")") + "\n";
    for (const CompletionPlace::Word& word : place.words) {
      const std::string values = word.isOption ? valuesOf(word.text) : "";
      if (!word.isOption)
        out += line + " -a " + word.text;
      else if (!values.empty())
        out += line + " -l " + word.text.substr(2) + " -x -a " + fishQuoted("(" + askFor(values) + ")");
      else
        out += line + " -l " + word.text.substr(2) + (word.takesValue ? " -r -F" : "");
      out += " -d " + fishQuoted(word.help) + "\n";
    }
  }
  return out;
}

}  // namespace witan::node
