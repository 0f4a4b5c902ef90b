// `witan completion bash|zsh|fish`.
#include <cstdio>
#include "program/command_line.h"

#include "cli/commands/commands.h"
#include "cli/commands/completion.h"
#include "domains/registry.h"

namespace witan::node {

void addCompletionCommand(Command& app, int& exitCode) {
  Command* completion = app.command("completion", "Print a completion script for a shell");
  completion->requireCommand();
  completion->footer("Example: source <(witan completion bash)");
  const auto shell = [&](const char* name, const char* example, auto script) {
    Command* command = completion->command(name, std::string("Print the completion script for ") + name);
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
