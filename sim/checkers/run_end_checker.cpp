// Checker "runs", what the end of a run changes in its agent (seed 003, 2.1 and 6.1): by the wake that waited there and
// the record of its end, of one commit with the agent's state. And of "operations": a run whose plan a device knows
// before it begins there carries that out, whatever its model says now.
#include "agents/episode/transcript.h"
#include "agents/host/agent_host.h"
#include "agents/wake/wake_checks.h"
#include "replication/records/record_views.h"
#include "sim/checkers/checker.h"
#include "sim/sim_agents.h"

namespace witan::sim {

using namespace replication;

namespace {

class RunEndChecker final : public Checker {
 public:
  explicit RunEndChecker(Cluster& cluster) : Checker(cluster) {}
  void beforeDrain(Seat& at) override {
    const agents::AgentHost* host = std::as_const(at.replica()).agents();
    Space* space = at.replica().data().findSpace("agents/main");
    if (host == nullptr || space == nullptr) return;
    const auto& jobs = host->wakes().queue().all();
    if (const std::pair now(space->changes(), jobs.size()); std::exchange(looked_[at], now) == now) return;
    for (const auto& [run, entry] : jobs) {
      if (entry.job.attempts > 0 || planned_[at].contains(run)) continue;
      if (space->table().find(Kind::plan, run.hex()) == nullptr) continue;
      const auto view = planViewIn(*space, run);
      const auto begun = agents::episode::readTranscript(*space, run, at.name());
      if (view.ok() && view->winner && begun.ok() && begun->empty())
        planned_[at].insert(run), c_.probe("plan known before its run");
    }
  }
  void onStopped(Seat& at) override {
    waiting_[at].clear();
    planned_[at].clear();
    looked_[at] = {};
    untold_[at].clear();
  }
  void onNotice(Seat& at, const node::Notice& notice) override {
    if (notice.kind != "agent unheard") return;
    if (const auto one = untold_[at].find(notice.what.substr(0, notice.what.find(' '))); one != untold_[at].end())
      untold_[at].erase(one);
  }

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
      planned_[at].erase(one->first);
      one = waiting.erase(one);
    }
    for (const auto& [run, entry] : jobs)
      if (!waiting.contains(run)) waiting.emplace(run, wakeOf(at, entry.job));
  }

  // A person is told that an agent did not hear, in the life in which the turn was passed over.
  void atEnd() override {
    for (const auto& at : c_.seats())
      for (const auto& [agent, run] : untold_[*at])
        return c_.failed("runs", concat(at->name(), " passes over the turn ", run.hex().substr(0, 16), " of ", agent,
                                        ", and tells nobody"));
  }

 private:
  struct Wake {
    std::string agent;
    WakeReason reason = WakeReason::subscription;
    std::string subject, batchHost;
    std::uint64_t batchCounter = 0, scheduledAtMs = 0;
    bool wasOver = false;  // before it waited here
  };

  static Wake wakeOf(Seat& at, const agents::WakeJob& job) {
    Space* space = at.replica().data().findSpace("agents/main");
    const auto scheduledAtMs = static_cast<std::uint64_t>(std::max<std::int64_t>(0, job.scheduledAtMs));
    return {job.agentId,
            job.reason,
            job.subject,
            job.batchHost,
            job.batchCounter,
            scheduledAtMs,
            space != nullptr && isEnded(*space, job.key())};
  }

  static bool isEnded(Space& space, const RunKey& run) {
    const auto ended = agents::hasEnded(space, run);
    return ended.ok() && *ended;
  }

  Status judge(Seat& at, const RunKey& run, const Wake& wake) {
    LocalReplica& data = at.replica().data();
    WITAN_TRY(space, data.database(DatabaseName::agents).space("main"));
    WITAN_TRY(ends, space->versions(Kind::wakeRun, run.hex()));
    WITAN_TRY(states, space->versions(Kind::agentState, wake.agent));
    for (const Version& end : ends) {
      if (end.tombstone || end.dot.host != data.writer()) continue;
      WITAN_TRY(body, decodeRecord<WakeRunBody>(end.body));
      if (planned_[at].contains(run) && body.cause.find(kSimSilent) != std::string::npos)
        c_.failed("operations", concat(at.name(), " gives run ", run.hex().substr(0, 16), " of ", wake.agent,
                                       " up, whose plan it knew before: ", body.cause));
      const bool passedOver = body.status == WakeStatus::skippedSleeping || body.status == WakeStatus::skippedDestroyed;
      if (passedOver && wake.reason == WakeReason::user && !wake.wasOver) untold_[at].emplace(wake.agent, run);
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
  PerDevice<std::set<RunKey>> planned_;  // runs that wait, and whose plan is known
  PerDevice<std::pair<std::uint64_t, std::size_t>> looked_;
  PerDevice<std::multimap<std::string, RunKey>> untold_;  // by agent: what a person said, and it was passed over
};

}  // namespace

std::unique_ptr<Checker> makeRunEndChecker(Cluster& cluster) { return std::make_unique<RunEndChecker>(cluster); }

}  // namespace witan::sim
