// `witan wake list`: wakes that wait or run on this device, and with --all every run that is known, with its end, or
// with --failed those that failed.
#include "base/time.h"
#include "cli/client/operation_verb.h"
#include "cli/commands/commands.h"
#include "node/operations/wake.h"

namespace witan::node {

using namespace operations;

namespace {

struct WakeArguments : ReplicaArguments {
  std::string agent;
  bool all = false, failed = false;
};

Result<WakeListRequest> requestOf(const WakeArguments& a) {
  return WakeListRequest{given(a.agent), a.all, a.failed, given(a.scope)};
}

Printed listAnswer(const Wakes& list, const WakeArguments& a) {
  if (a.json) return {jsonLines(list.wakes)};
  if (list.wakes.empty()) return {a.failed ? "no run failed\n" : a.all ? "no runs\n" : "no wake waits\n"};
  Printed answer;
  for (const WakeRow& row : list.wakes)
    answer.text += formatTime(Time{row.atMs * 1000}) + "  " + row.status + "  " + row.agentId + "  " + row.reason +
                   " " + row.subject + "  " + row.run + (row.cause.empty() ? "" : "\n  " + row.cause) + "\n";
  return answer;
}

}  // namespace

void addWakeCommand(Command& app, int& exitCode) {
  Command* noun = app.command("wake", "Wakes of agents and their runs");
  noun->requireCommand();
  noun->footer("Example: witan wake list --all");
  const auto arguments = std::make_shared<WakeArguments>();
  Command* command = addOperationVerb(*noun, "list", "Wakes that wait or run here", "witan wake list --all", arguments,
                                      Missing::refuse, kWakeList, requestOf, listAnswer, exitCode);
  addScopeOption(command, *arguments);
  command->option("--agent", arguments->agent, "Only this agent's");
  command->flag("--failed", arguments->failed, "Only runs that failed, with their causes");
  command->flag("--all", arguments->all, "Also every run that is known, with its end");
}

}  // namespace witan::node
