// `witan completion bash|zsh|fish`.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "domains/registry.h"
#include "node/commands/cli.h"
#include "node/commands/completion.h"

namespace witan::node {

void addCompletionCommand(CLI::App& app, int& exitCode) {
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  completion->require_subcommand(1);
  completion->footer("Example: source <(witan completion bash)");
  const auto shell = [&](const char* name, const char* example, auto script) {
    CLI::App* command = completion->add_subcommand(name, std::string("Print the completion script for ") + name);
    command->footer(std::string("Example: ") + example);
    command->callback([&app, &exitCode, script] {
      std::fputs(script(completionPlaces(app), domains::domainNames()).c_str(), stdout);
      exitCode = kExitOk;
    });
  };
  shell("bash", "source <(witan completion bash)", bashCompletion);
  shell("zsh", "source <(witan completion zsh)", zshCompletion);
  shell("fish", "witan completion fish | source", fishCompletion);
}

}  // namespace witan::node
