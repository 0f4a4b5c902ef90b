// `witan sync status|pipe|demo`.
#include <cstdio>

#include "cli/client/replica_verb.h"
#include "cli/commands/commands.h"
#include "cli/sync/sync_demo.h"
#include "cli/sync/sync_pipe.h"
#include "cli/sync/sync_status.h"
#include "program/option_checks.h"

namespace witan::node {

namespace {

struct DemoArguments {
  std::uint64_t seed = 1;
  bool json = false;
};

int demo(const DemoArguments& arguments) {
  const auto report = syncDemo(arguments.seed);
  if (!report.ok()) return reportError(report.error(), arguments.json);
  std::fputs((arguments.json ? report->json : report->story).c_str(), stdout);
  return report->equal ? kExitOk : kExitFailed;
}

void addDemo(Command& sync, int& exitCode) {
  const auto arguments = std::make_shared<DemoArguments>();
  Command* command = sync.command("demo", "Three replicas in one process: a cut, edits on all sides, the heal");
  command->option("--seed", arguments->seed, "What is edited, and where the line drops")
      ->showDefault()
      ->check(wholeNumber());
  command->flag("--json", arguments->json, "JSON output");
  command->footer("Example: witan sync demo --seed 7");
  command->callback([arguments, &exitCode] { exitCode = demo(*arguments); });
}

}  // namespace

void addSyncCommand(Command& app, int& exitCode) {
  Command* sync = app.command("sync", "Exchange what devices have; see who has what");
  sync->requireCommand();
  sync->footer("Example: witan sync status");
  addReplicaVerb(*sync, "status", "What this device holds, what the others have, and what went wrong",
                 "witan sync status --json", std::make_shared<ReplicaArguments>(), Missing::refuse, syncStatus,
                 exitCode);
  const auto arguments = std::make_shared<PipeArguments>();
  Command* pipe =
      addReplicaVerb(*sync, "pipe", "One session over standard input and output; ends when both sides have everything",
                     "mkfifo back; witan sync pipe <back | ssh phone witan sync pipe >back", arguments, Missing::refuse,
                     syncPipe, exitCode);
  pipe->option("--peer", arguments->peer, "The other device's id; default: believe what it says");
  pipe->option("--scope", arguments->scopes, "What the other side may have; may be repeated; default: everything")
      ->oneWordEach();
  addDemo(*sync, exitCode);
}

}  // namespace witan::node
