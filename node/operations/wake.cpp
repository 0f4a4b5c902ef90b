#include "node/operations/wake.h"

#include <algorithm>

#include "agents/wake/wake_job.h"
#include "agents/wake/wake_queue.h"

namespace witan::node::operations {

using namespace replication;

namespace {

WakeRow rowOf(const agents::WakeJob& job) {
  return {job.key().hex(),
          job.agentId,
          std::string(enumName(job.reason)),
          job.subject,
          std::string(enumName(job.state)),
          "",
          job.enqueuedAtMs};
}

WakeRow rowOf(const agents::KnownRun& run) {
  const WakeRunBody& body = run.view.run->body;
  const bool started = body.status == WakeStatus::started;
  // A started run with a cause is another device's, which has not begun.
  return {run.key.hex(),
          body.agentId,
          std::string(enumName(body.reason)),
          body.subject,
          started && !body.cause.empty() ? body.cause : std::string(enumName(body.status)),
          started ? "" : body.cause,
          body.startedAtMs};
}

}  // namespace

Result<Wakes> listWakes(OperationContext& context, const WakeListRequest& request) {
  std::map<std::string, WakeRow> rows;
  Database& database = context.replica.database(DatabaseName::agents);
  WITAN_DO(database.scanMeta("wake/", [&](std::string_view name, std::string_view bytes) {
    if (auto job = agents::decodeJob(name, bytes); job.ok()) rows[job->key().hex()] = rowOf(*job);
    return true;
  }));
  const bool failed = request.failed.value_or(false);
  if (Space* space = context.space(DatabaseName::agents, request.scope);
      space != nullptr && (request.all.value_or(false) || failed)) {
    WITAN_TRY(runs, agents::knownRuns(*space));
    for (const agents::KnownRun& run : runs)
      if (run.view.run) rows[run.key.hex()] = rowOf(run);
  }
  Wakes list;
  for (auto& [key, row] : rows)
    if ((!request.agent || row.agentId == *request.agent) &&
        (!failed || row.status == enumName(WakeStatus::failedTerminal)))
      list.wakes.push_back(std::move(row));
  std::stable_sort(list.wakes.begin(), list.wakes.end(),
                   [](const WakeRow& a, const WakeRow& b) { return a.atMs < b.atMs; });
  return list;
}

}  // namespace witan::node::operations
