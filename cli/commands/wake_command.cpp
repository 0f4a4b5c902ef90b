// `witan wake list`: wakes that wait or run on this device, and with --all every run that is known, with its end, or
// with --failed those that failed.
#include <algorithm>

#include "agents/wake/run_log.h"
#include "agents/wake/wake_queue.h"
#include "base/json.h"
#include "base/time.h"
#include "cli/client/replica_verb.h"
#include "cli/commands/commands.h"

namespace witan::node {

using namespace replication;

namespace {

struct WakeArguments : ReplicaArguments {
  std::string agent;
  bool all = false, failed = false;
};

struct Line {
  std::string runKey, agentId, reason, subject, status, cause;
  std::int64_t atMs = 0;
};

std::string printed(const Line& line, bool asJson) {
  if (asJson)
    return canonicalJson(json::object{{"run", line.runKey},
                                      {"agentId", line.agentId},
                                      {"reason", line.reason},
                                      {"subject", line.subject},
                                      {"status", line.status},
                                      {"cause", line.cause},
                                      {"atMs", line.atMs}}) +
           "\n";
  return formatTime(Time{line.atMs * 1000}) + "  " + line.status + "  " + line.agentId + "  " + line.reason + " " +
         line.subject + "  " + line.runKey + (line.cause.empty() ? "" : "\n  " + line.cause) + "\n";
}

Result<Printed> list(ReplicaDir& dir, const WakeArguments& a) {
  Printed answer;
  Database& agents = dir.replica().database(DatabaseName::agents);
  std::map<std::string, Line> lines;
  WITAN_DO(agents.scanMeta("wake/", [&](std::string_view name, std::string_view bytes) {
    auto job = agents::decodeJob(name, bytes);
    if (job.ok())
      lines[job->key().hex()] = {job->key().hex(),
                                 job->agentId,
                                 std::string(enumName(job->reason)),
                                 job->subject,
                                 std::string(enumName(job->state)),
                                 "",
                                 job->enqueuedAtMs};
    return true;
  }));
  if (Space* space = agents.find(a.scope); space != nullptr && (a.all || a.failed)) {
    WITAN_TRY(runs, agents::knownRuns(*space));
    for (const agents::KnownRun& run : runs) {
      if (!run.view.run) continue;
      const WakeRunBody& body = run.view.run->body;
      lines[run.key.hex()] = {
          run.key.hex(), body.agentId, std::string(enumName(body.reason)), body.subject,
          // of another device, which has it and has not begun
          body.status == WakeStatus::started && !body.cause.empty() ? body.cause : std::string(enumName(body.status)),
          body.status == WakeStatus::started ? "" : body.cause, body.startedAtMs};
    }
  }
  std::vector<Line> ordered;
  for (auto& [key, line] : lines)
    if ((a.agent.empty() || line.agentId == a.agent) &&
        (!a.failed || line.status == enumName(WakeStatus::failedTerminal)))
      ordered.push_back(std::move(line));
  std::stable_sort(ordered.begin(), ordered.end(), [](const Line& x, const Line& y) { return x.atMs < y.atMs; });
  for (const Line& line : ordered) answer.text += printed(line, a.json);
  if (answer.text.empty() && !a.json)
    answer.text = a.failed ? "no run failed\n" : a.all ? "no runs\n" : "no wake waits\n";
  return answer;
}

}  // namespace

void addWakeCommand(Command& app, int& exitCode) {
  Command* noun = app.command("wake", "Wakes of agents and their runs");
  noun->requireCommand();
  noun->footer("Example: witan wake list --all");
  const auto arguments = std::make_shared<WakeArguments>();
  Command* command = addReplicaVerb(*noun, "list", "Wakes that wait or run here", "witan wake list --all", arguments,
                                    Missing::refuse, list, exitCode);
  addScopeOption(command, *arguments);
  command->option("--agent", arguments->agent, "Only this agent's");
  command->flag("--failed", arguments->failed, "Only runs that failed, with their causes");
  command->flag("--all", arguments->all, "Also every run that is known, with its end");
}

}  // namespace witan::node
