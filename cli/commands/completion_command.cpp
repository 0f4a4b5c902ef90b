// `witan completion bash|zsh|fish|values`.
#include "cli/client/live.h"
#include "cli/commands/commands.h"
#include "cli/commands/completion.h"
#include "domains/registry.h"

namespace witan::node {

namespace {

constexpr std::size_t kMostValues = 1'000;

struct ValueArguments : LiveArguments {
  std::string kind;
};

// One value a line. A shell has no use for an error, so a missing node prints nothing.
int printValues(const ValueArguments& a) {
  std::set<std::string> values;
  if (a.kind == "domains") {
    for (const std::string_view name : domains::domainNames()) values.emplace(name);
  } else {
    const bool devices = a.kind == "devices";
    const auto dir = replicaDirPath(a.dir);
    const auto client = dir.ok() ? ControlClient::open(*dir) : Result<ControlClient>(dir.error());
    const auto answer = client.ok() ? client->get(devices ? "/v1/devices" : "/v1/ledger?limit=1000")
                                    : Result<json::value>(client.error());
    if (!answer.ok()) return kExitUnreachable;
    for (const json::value& row : rowsOf(*answer, devices ? "devices" : "entries"))
      values.insert(shown(row, devices ? "name" : "entity"));
  }
  std::size_t count = 0;
  for (const std::string& value : values)
    if (++count <= kMostValues && value != "-") putWords(value + "\n");
  return kExitOk;
}

}  // namespace

void addCompletionCommand(Command& app, int& exitCode) {
  Command* completion = app.command("completion", "Print a completion script for a shell");
  completion->requireCommand();
  completion->footer("Example: source <(witan completion bash)");
  const auto shell = [&](const char* name, const char* example, auto script) {
    Command* command = completion->command(name, std::string("Print the completion script for ") + name);
    command->footer(std::string("Example: ") + example);
    command->callback([&app, &exitCode, script] {
      putOut(script(completionPlaces(app)));
      exitCode = kExitOk;
    });
  };
  shell("bash", "source <(witan completion bash)", bashCompletion);
  shell("zsh", "source <(witan completion zsh)", zshCompletion);
  shell("fish", "witan completion fish | source", fishCompletion);
  const auto a = std::make_shared<ValueArguments>();
  Command* values = completion->command("values", "Print what a word may be, one value a line; the scripts call it");
  values->option("KIND", a->kind, "domains, devices or entities")
      ->required()
      ->oneOf({"domains", "devices", "entities"});
  addLiveOptions(values, *a, "witan completion values domains");
  values->callback([a, &exitCode] { exitCode = printValues(*a); });
}

}  // namespace witan::node
