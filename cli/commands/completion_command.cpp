// `witan completion bash|zsh|fish|words`.
#include <algorithm>
#include <set>

#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "cli/commands/completion.h"
#include "domains/registry.h"

namespace witan::node {

namespace {

constexpr std::size_t kMostValues = 1'000;

// A line ":" means that the word may be a file.
constexpr const char* kBash =
    R"sh(# bash completion of witan; to use it: source <(witan completion bash)
_witan() {
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
  [[ ${COMPREPLY[0]} == : ]] && mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
  # Others choose the names of devices and entities: what a shell would act on is quoted.
  (( ${#COMPREPLY[@]} )) && mapfile -t COMPREPLY < <(printf '%q\n' "${COMPREPLY[@]}")
  return 0
}
complete -F _witan witan
)sh";
constexpr const char* kZsh =
    R"sh(#compdef witan
# zsh completion of witan; to use it: source <(witan completion zsh), after compinit
_witan() {
  local -a lines described
  lines=(${(f)"$($words[1] completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if [[ $lines[1] == : ]]; then _files; return; fi
  described=(${${lines//:/\\:}//$'\t'/:})
  _describe -t words word described
}
compdef _witan witan
)sh";
constexpr const char* kFish =
    R"sh(# fish completion of witan; to use it: witan completion fish | source
function __witan_words
  witan completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null
end
complete -c witan -f -n 'not __witan_words | string match -q :' -a '(__witan_words)'
complete -c witan -F -n '__witan_words | string match -q :'
)sh";

// The kind of names that an option or a positional of this name takes; "": a file or a text.
std::string kindOf(const std::string& name) {
  static constexpr std::pair<std::string_view, const char*> kinds[]{
      {"--domain", "domains"}, {"DOMAIN", "domains"},    {"name", "domains"},   {"--device", "devices"},
      {"DEVICE", "devices"},   {"--entity", "entities"}, {"ENTITY", "entities"}};
  for (const auto& [known, kind] : kinds)
    if (known == name) return kind;
  return "";
}

std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

struct CompletionArguments : LiveArguments {
  std::vector<std::string> words;
};

// A shell has no use for an error: without a node there are no names.
std::set<std::string> namesOf(const std::string& kind, const std::string& given) {
  std::set<std::string> names;
  if (kind == "domains")
    for (const std::string_view name : domains::domainNames()) names.emplace(name);
  if (kind != "devices" && kind != "entities") return names;
  const bool devices = kind == "devices";
  const auto dir = replicaDirPath(given);
  const auto client = dir.ok() ? ControlClient::open(*dir) : Result<ControlClient>(dir.error());
  const auto answer = client.ok() ? client->get(devices ? "/v1/devices" : "/v1/ledger?limit=1000")
                                  : Result<json::value>(client.error());
  if (!answer.ok()) return names;
  for (const json::value& row : rowsOf(*answer, devices ? "devices" : "entries"))
    names.insert(devices ? shown(row, "name") : shown(row.at("entry"), "entity"));
  return names;
}

// Those that begin with what was typed, one a line, a tab before what it means.
int printWords(const Command& app, const CompletionArguments& a) {
  const Completions completions = completionsOf(app, a.words);
  const std::string typed = a.words.empty() ? "" : a.words.back();
  std::string dir;
  for (std::size_t i = 0; i + 2 < a.words.size(); ++i)
    if (a.words[i] == "--dir") dir = a.words[i + 1];
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : namesOf(completions.values, dir))
    if (name.starts_with(typed) && name != "-" && ++count <= kMostValues) text += name + "\n";
  for (const auto& [word, about] : completions.words)
    if (word.starts_with(typed)) text += word + "\t" + about + "\n";
  putWords(text.empty() && completions.files ? ":\n" : text);
  return kExitOk;
}

}  // namespace

Completions completionsOf(const Command& app, const std::vector<std::string>& words) {
  const Command* at = &app;
  std::size_t positionals = 0;  // words of them so far
  std::string option;           // the one whose value the next word is
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!std::exchange(option, "").empty()) continue;
    const auto below = at->commands();
    const auto child = std::ranges::find_if(below, [&](const Command* one) { return one->name() == words[i]; });
    if (child != below.end())
      at = *child;
    else if (!words[i].starts_with("-"))
      ++positionals;
    for (const OptionDescription& one : at->options())
      if (one.takesValue && std::ranges::find(one.names, words[i]) != one.names.end()) option = words[i];
  }
  Completions out;
  out.values = kindOf(option);
  out.files = !option.empty() && out.values.empty();
  if (!option.empty()) return out;
  for (const Command* child : at->commands()) out.words.push_back({child->name(), firstLine(child->about())});
  for (const OptionDescription& one : at->options()) {
    if (one.positional && positionals-- == 0) {
      out.values = kindOf(one.names.front());
      out.files = out.values.empty();
    }
    for (const std::string& name : one.names)
      if (name.starts_with("--")) out.words.push_back({name, firstLine(one.about)});
  }
  return out;
}

void addCompletionCommand(Command& app) {
  Command* completion =
      app.noun("completion", "Print a completion script for a shell", "source <(witan completion bash)");
  const auto shell = [&](const char* name, const char* example, const char* script) {
    Command* command = completion->command(name, concat("Print the completion script for ", name));
    command->footer(concat("Example: ", example));
    command->callback([script] { return putOut(script), kExitOk; });
  };
  shell("bash", "source <(witan completion bash)", kBash);
  shell("zsh", "source <(witan completion zsh)", kZsh);
  shell("fish", "witan completion fish | source", kFish);
  const auto a = std::make_shared<CompletionArguments>();
  Command* words = completion->command("words", "Print what the last word may become; the scripts call it");
  words->option("WORD", a->words, "The words after witan, the last one as far as it is typed");
  words->footer("Example: witan completion words -- ledger t");
  words->callback([&app, a] { return printWords(app, *a); });
}

}  // namespace witan::node
