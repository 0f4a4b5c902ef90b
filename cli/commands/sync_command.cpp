// `witan sync status|pipe|demo`.
#include <cstdio>

#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "cli/sync/sync_demo.h"
#include "cli/sync/sync_pipe.h"
#include "node/cluster/roster.h"
#include "node/operations/sync.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace operations;

namespace {

std::string spaceWords(const SyncSpace& space) {
  std::string out = concat(space.space, "\n  vector   ", clockWords(space.vector), "\n  digest   ", space.digest,
                           "  of ", space.count, " versions; ", space.records, " records held\n");
  for (const SyncPeer& peer : space.peers)
    out += "  " + peer.device + "  " +
           (peer.lacks == 0 ? "has all of it" : concat("lacks ", peer.lacks, " commits, as far as known here")) + "\n";
  if (!space.settled) out += "  half of a peer's round has arrived: digests compare after the next sync\n";
  if (space.restored) out += "  RESTORED: this copy may be old; what the others outlived leaves with the next sync\n";
  return out;
}

Printed statusAnswer(const SyncStatus& status, const LiveArguments&) {
  std::string out = "device " + status.device + " of cluster " + status.cluster + ", writer " + status.writer + "\n";
  for (const SyncSpace& space : status.spaces) out += spaceWords(space);
  for (const SyncHoldup& holdup : status.holdups) out += (holdup.alarm ? "ALARM: " : "") + holdup.text + "\n";
  for (const auto& [device, why] : status.quarantined) out += "QUARANTINED " + device + ": " + why + "\n";
  for (const IncidentRow& i : status.incidents)
    out += "incident " + i.kind + (i.peer.empty() ? "" : " (" + i.peer + ")") + ": " + i.what + "\n";
  DeviceNames names;
  for (const auto& [id, name] : status.names) names.add(id, name);
  out = names.in(out);
  for (const auto& [device, why] : status.quarantined)
    out += "lift the quarantine with: witan device recover " + device + "\n";
  return {out};
}

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

void addDemo(Command& sync) {
  const auto arguments = std::make_shared<DemoArguments>();
  Command* command = sync.command("demo", "Three replicas in one process: a cut, edits on all sides, the heal");
  command->option("--seed", arguments->seed, "What is edited, and where the line drops")
      ->showDefault()
      ->check(wholeNumber());
  command->flag("--json", arguments->json, "JSON output");
  command->footer("Example: witan sync demo --seed 7");
  command->callback([arguments] { return demo(*arguments); });
}

}  // namespace

void addSyncCommand(Command& app) {
  Command* sync = app.noun("sync", "Exchange what devices have; see who has what", "witan sync status");
  addOperationVerb<LiveArguments>(
      *sync, "status", "What this device holds, what the others have, and what went wrong", "witan sync status --json",
      Missing::refuse, kSyncStatus, [](const LiveArguments&) { return Result(Nothing{}); }, statusAnswer);
  const auto [pipe, arguments] = addReplicaVerb<PipeArguments>(
      *sync, "pipe", "One session over standard input and output; ends when both sides have everything",
      "mkfifo back; witan sync pipe <back | ssh phone witan sync pipe >back", Missing::refuse, syncPipe);
  pipe->option("--peer", arguments->peer, "The other device's id; default: believe what it says");
  pipe->option("--scope", arguments->scopes, "What the other side may have; may be repeated; default: everything")
      ->oneWordEach();
  addDemo(*sync);
}

}  // namespace witan::node
