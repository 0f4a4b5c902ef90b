// `witan sync status|pipe|demo`.
#include <cstdio>

#include "node/commands/option_checks.h"
#include "node/commands/replica_command.h"
#include "node/sync/sync_demo.h"
#include "node/sync/sync_pipe.h"
#include "node/sync/sync_status.h"

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

void addDemo(CLI::App& sync, int& exitCode) {
  const auto arguments = std::make_shared<DemoArguments>();
  CLI::App* command = sync.add_subcommand("demo", "Three replicas in one process: a cut, edits on all sides, the heal");
  command->add_option("--seed", arguments->seed, "What is edited, and where the line drops")
      ->capture_default_str()
      ->check(wholeNumber());
  command->add_flag("--json", arguments->json, "JSON output");
  command->footer("Example: witan sync demo --seed 7");
  command->callback([arguments, &exitCode] { exitCode = demo(*arguments); });
}

}  // namespace

void addSyncCommand(CLI::App& app, int& exitCode) {
  CLI::App* sync = app.add_subcommand("sync", "Exchange what devices have; see who has what");
  sync->require_subcommand(1);
  sync->footer("Example: witan sync status");
  addReplicaVerb(*sync, "status", "What this device holds, what the others have, and what went wrong",
                 "witan sync status --json", std::make_shared<ReplicaArguments>(), Missing::refuse, syncStatus,
                 exitCode);
  const auto arguments = std::make_shared<PipeArguments>();
  CLI::App* pipe =
      addReplicaVerb(*sync, "pipe", "One session over standard input and output; ends when both sides have everything",
                     "mkfifo back; witan sync pipe <back | ssh phone witan sync pipe >back", arguments, Missing::refuse,
                     syncPipe, exitCode);
  pipe->add_option("--peer", arguments->peer, "The other device's id; default: believe what it says");
  pipe->add_option("--scope", arguments->scopes, "What the other side may have; may be repeated; default: everything")
      ->allow_extra_args(false);
  addDemo(*sync, exitCode);
}

}  // namespace witan::node
