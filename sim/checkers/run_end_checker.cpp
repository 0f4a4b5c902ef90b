// Checker "runs", what the end of a run changes in its agent (seed 003, 2.1 and 6.1): by the wake that waited there and
// the record of its end, of one commit with the agent's state.
#include "agents/host/agent_host.h"
#include "agents/wake/wake_checks.h"
#include "replication/records/record_views.h"
#include "sim/checkers/checker.h"

namespace witan::sim {

using namespace replication;

namespace {

class RunEndChecker final : public Checker {
 public:
  explicit RunEndChecker(Cluster& cluster) : Checker(cluster) {}
  void onStopped(Seat& at) override { waiting_[at].clear(); }

  void onDurable(Seat& at) override {
    const agents::AgentHost* host = std::as_const(at.replica()).agents();
    if (host == nullptr) return;
    const auto& jobs = host->wakes().queue().all();
    std::map<RunKey, Wake>& waiting = waiting_[at];
    for (auto one = waiting.begin(); one != waiting.end() && !c_.hasFailed();) {
      if (jobs.contains(one->first)) {
        ++one;
        continue;
      }
      if (const Status read = judge(at, one->first, one->second); !read.ok())
        return c_.failed("store", at.name() + ": " + read.error().message);
      one = waiting.erase(one);
    }
    for (const auto& [run, entry] : jobs)
      if (!waiting.contains(run)) waiting.emplace(run, wakeOf(entry.job));
  }

 private:
  struct Wake {
    std::string agent;
    WakeReason reason = WakeReason::subscription;
    std::string subject, batchHost;
    std::uint64_t batchCounter = 0, scheduledAtMs = 0;
  };

  static Wake wakeOf(const agents::WakeJob& job) {
    return {job.agentId,   job.reason,       job.subject,
            job.batchHost, job.batchCounter, static_cast<std::uint64_t>(std::max<std::int64_t>(0, job.scheduledAtMs))};
  }

  Status judge(Seat& at, const RunKey& run, const Wake& wake) {
    LocalReplica& data = at.replica().data();
    WITAN_TRY(space, data.database(DatabaseName::agents).space("main"));
    WITAN_TRY(ends, space->versions(Kind::wakeRun, run.hex()));
    WITAN_TRY(states, space->versions(Kind::agentState, wake.agent));
    for (const Version& end : ends) {
      if (end.tombstone || end.dot.host != data.writer()) continue;
      WITAN_TRY(body, decodeRecord<WakeRunBody>(end.body));
      if (!isTerminal(body.status) || body.status == WakeStatus::skippedDestroyed) continue;
      for (const Version& version : states) {
        if (version.tombstone || version.dot != end.dot) continue;  // it has been written over since
        WITAN_TRY(state, decodeAgentState(version.body, version.dot.host));
        if (const std::string wrong = checkState(state, wake, body.status); !wrong.empty())
          c_.failed("runs", concat(at.name(), " ends run ", run.hex().substr(0, 16), " of ", wake.agent, " as ",
                                   enumName(body.status), ", and ", wrong));
        c_.probe("state at the end of a run");
      }
    }
    return okStatus();
  }

  static std::string checkState(const AgentState& state, const Wake& wake, WakeStatus status) {
    if (status == WakeStatus::completed && state.consecutiveFailureCount > 0)
      return concat("counts ", state.consecutiveFailureCount, " failures in a row");
    if (status == WakeStatus::failedTerminal && state.consecutiveFailureCount == 0) return "counts no failure";
    if (!wake.batchHost.empty() && state.processedCounterByHost.at(wake.batchHost) < wake.batchCounter)
      return concat("the batch ", wake.batchHost, ":", wake.batchCounter, " is not among those that it has seen");
    const Schedule& schedule = state.schedule;
    if (wake.reason != WakeReason::timer) return {};
    if (wake.subject != agents::kSelfTimer) {
      const auto timer = schedule.timers.find(wake.subject);
      return timer != schedule.timers.end() && timer->second.firedThrough < wake.scheduledAtMs
                 ? concat("its timer ", wake.subject, " is not through with that time")
                 : std::string();
    }
    if (schedule.firedThrough < wake.scheduledAtMs) return "its own timer is not through with that time";
    if (schedule.nextWakeAt && *schedule.nextWakeAt <= wake.scheduledAtMs) return "its own timer stands as it stood";
    return {};
  }

  PerDevice<std::map<RunKey, Wake>> waiting_;
};

}  // namespace

std::unique_ptr<Checker> makeRunEndChecker(Cluster& cluster) { return std::make_unique<RunEndChecker>(cluster); }

}  // namespace witan::sim
