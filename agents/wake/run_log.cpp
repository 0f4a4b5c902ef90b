#include "agents/wake/run_log.h"

#include "base/utf8.h"

namespace witan::agents {

using replication::Kind;
using replication::WakeStatus;

namespace {

constexpr std::size_t kMaxCauseBytes = 1000;

}  // namespace

Result<replication::WakeRunView> runView(replication::Space& space, const RunKey& key) {
  WITAN_TRY(versions, space.versions(Kind::wakeRun, key.hex()));
  return replication::wakeRunViewOf(key, versions);
}

Result<bool> hasEnded(replication::Space& space, const RunKey& key) {
  WITAN_TRY(view, runView(space, key));
  return view.run && replication::isTerminal(view.run->body.status);
}

replication::WakeRunBody runBody(const WakeJob& job, WakeStatus status, std::string_view cause,
                                 std::int64_t finishedAtMs) {
  return {job.runKey, job.agentId,     job.reason,   job.subject,
          status,     job.startedAtMs, finishedAtMs, std::string(clip(cause, kMaxCauseBytes))};
}

Result<replication::Write> runWrite(const replication::WakeRunBody& body) {
  WITAN_TRY(bytes, replication::encodeRecord(body));
  return replication::Write{Kind::wakeRun, RunKey{body.runKey}.hex(), std::move(bytes), false};
}

Result<std::vector<KnownRun>> knownRuns(replication::Space& space) {
  std::vector<KnownRun> runs;
  for (const std::string& name : space.keys(Kind::wakeRun)) {
    // A key that is no run key is another build's or a hostile one's: it names no run.
    const auto key = RunKey::parse(name);
    if (!key.ok()) continue;
    WITAN_TRY(view, runView(space, *key));
    runs.push_back({*key, std::move(view)});
  }
  return runs;
}

}  // namespace witan::agents
