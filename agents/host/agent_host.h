// AgentHost: the agents of one device at work. It puts the parts together: wakes (agents/wake/), episodes
// (agents/episode/), memory (agents/memory/), sagas (saga/), and decides nothing of its own.
//
//   load(agents, now)                 once; what a crash interrupted goes on
//   work(now)                         takes events, starts and pushes episodes: everything lands in pending batches
//   flush the journal, journalDurable(now)
//   flush the agents' database, agentsDurable(now, effects)     only now may the effects leave
//   answered / observed               what came of them
//
// The order of the two flushes, and work() before both, is what the sagas' promise rests on: a row before its effect,
// an effect before its outcome (seed 003, section 7).
//
// Sans-I/O, deterministic, not thread-safe. The replica, the gate and the agents outlive it. An error means that a
// store failed or holds what nobody wrote: drop it and open again.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "agents/episode/episode.h"
#include "agents/host/host_effects.h"
#include "agents/host/record_audit.h"
#include "agents/host/run_retention.h"
#include "agents/host/standing.h"
#include "agents/memory/compactor.h"
#include "agents/wake/wake_center.h"
#include "base/time.h"
#include "replication/arrivals.h"
#include "replication/local_replica.h"
#include "saga/saga_engine.h"

namespace witan::agents {

struct HostOptions {
  WakeOptions wake;
  saga::SagaOptions saga;
  std::vector<episode::ToolInfo> tools;          // beside the built-in ones (agents/host/builtin_tools.h)
  std::set<std::string, std::less<>> onceTools;  // that do not honour an operation id: called at most once
  std::int64_t approvalTtlMs = 24 * 3'600'000;   // a question that nobody answers is denied then
  std::int64_t callTimeoutMs = 5 * 60'000;       // of a tool outside: then the call counts as failed
  std::int64_t compensateGraceMs = 5'000;        // between the devices that may undo what a losing plan did
  std::int64_t retentionMs = 0;                  // what runs left that ended longer ago goes; 0: everything stays
  std::int64_t settleGraceMs = 5'000;            // before an entry in conflict wakes the agent that settles it
  std::vector<StandingLimit> standing = {};      // of each day; a run waits for the next one when nothing is left
};

// How often things happened since load().
struct HostCounters {
  std::uint64_t started = 0, resumed = 0, completed = 0, failed = 0, plans = 0, foreignPlans = 0;
  std::uint64_t looks = 0, actions = 0, proposals = 0, calls = 0, questions = 0, contested = 0, compensated = 0;
  WITAN_MEMBERS(HostCounters, started, resumed, completed, failed, plans, foreignPlans, looks, actions, proposals,
                calls, questions, contested, compensated)
};

class AgentHost final : saga::SagaEnvironment {
 public:
  AgentHost(replication::LocalReplica& replica, const episode::Gate& gate, HostOptions options);
  ~AgentHost() override;

  // The agents that this device runs. Announces them to the other devices. Errors: checkSpec; corrupt rows.
  Status load(std::span<const Agent* const> agents, Now now);
  // All members of the cluster, and those that can be reached.
  void setDevices(std::vector<std::string> members, std::set<std::string> live, Now now);
  // Something that a person said to an agent of this device.
  Result<RunKey> userTurn(std::string_view agentId, std::string_view session, std::string_view turn,
                          std::string_view text, Now now);

  // A fact of a ledger of this device, for an agent's LedgerSpec; durable with the next flush of the agents' database,
  // and the same fact again wakes no agent. False: there is no room, offer it again later.
  Result<bool> ledgerFact(std::string_view agentId, std::string_view subscriptionId, const LedgerFact& fact, Now now);

  // An effect of a graph, outside of any run: its operation is the span. Told once by takeEffectOutcomes(), now or
  // later; the same effect again is fine. Errors: of the intent.
  Status graphEffect(saga::Intent intent, Now now);
  // Undoes what such an effect did in the journal. Errors: as SagaEngine::compensate.
  Status undoGraphEffect(const OperationId& operation, Now now) { return sagas_.compensate(operation, now); }
  struct EffectOutcome {
    OperationId operation;
    saga::Outcome outcome;
    bool found = false;  // it had been carried out before
  };
  std::vector<EffectOutcome> takeEffectOutcomes() { return std::exchange(effectOutcomes_, {}); }

  Status work(Now now);
  void journalDurable(Now now);
  Status agentsDurable(Now now, HostEffects& out);

  // The process is about to end in an orderly way: what runs has not failed. Durable with the next flush of the agents'
  // database.
  void stopping();

  // The outcome of an effect. A repeated outcome, or one that no run waits for, changes nothing.
  void answered(const OperationId& operation, const saga::Outcome& outcome, Now now);
  // It could not be done now: again after a while, or a person's business after too many times.
  void failed(const OperationId& operation, const Error& why, Now now);
  // Nobody can say whether it was done: as failed(), or, of a tool that would do it again, a person's business at once.
  void doubted(const OperationId& operation, const Error& why, Now now);
  // A person has to decide something else first; it will be answered after that. Its run does not wait for it.
  void waits(const OperationId& operation, std::string_view why);
  Status observed(const RunKey& run, std::string_view span, episode::Observation observation);

  // When work() has something to do, by the steady clock; none: only if something comes.
  std::optional<std::int64_t> nextMs(Now now) const;
  // No wake of an agent here waits, nothing runs, no saga is under way but those that wait for a person.
  bool quiet() const;
  // How many these are.
  std::size_t waitingForPeople() const { return waiting_.size(); }
  // As quiet(), but for runs that go on when a person has answered, and wakes of their agents that wait behind them.
  bool onlyPeopleLeft() const;
  // The last run that failed here since load().
  struct Failure {
    std::string agentId, cause;
    std::int64_t atMs = 0;
  };
  const std::optional<Failure>& lastFailure() const { return lastFailure_; }
  // Names the policy in force.
  std::string policyEpoch() const { return gate_.epoch(); }

  saga::SagaEngine& sagas() { return sagas_; }
  Compactor& memory() { return memory_; }
  std::uint64_t heldChanges() const { return sagas_.rows().heldChanges(); }
  const WakeCenter& wakes() const { return wakes_; }
  const HostCounters& counters() const { return counters_; }
  const RunRetention& retention() const { return retention_; }

 private:
  struct Running {
    WakeJob job;
    const Agent* agent = nullptr;
    episode::Episode episode;
    std::uint64_t written = 0;              // entries that were committed
    std::uint64_t mark = 0;                 // of the agents' database, after them
    std::optional<std::uint64_t> planMark;  // likewise of the plan
    std::deque<episode::Effect> actions;    // permitted; carried out one after the other, as the plan has them
    std::optional<OperationId> acting;      // under way
    bool forgiven = false;                  // this start of it cannot fail any more
    bool overtaken = false;                 // its transcript is there already: see commitEntries()
  };

  // saga::SagaEnvironment
  Result<saga::JournalEffect> journalEffect(const saga::SagaRow& row) override;
  Status call(const saga::SagaRow& row, Now now) override;
  std::string uncertain(const saga::SagaRow& row, bool before) const override;
  bool hears(std::string_view device) const override { return live_.contains(std::string(device)); }
  std::int64_t hearingMs() const override;
  Result<std::vector<replication::Write>> record(const saga::SagaRow& row, const saga::Outcome& outcome) override;
  void finished(const saga::SagaRow& row) override;
  void parked(const saga::SagaRow& row) override;
  void tellRun(const RunKey& run, const OperationId& operation, replication::OperationOutcome outcome,
               const json::value& result);
  Result<PlanDigest> planWith(const saga::SagaRow& row);
  Status takeActivations(Now now);
  void toldGraph(const saga::SagaRow& row, replication::OperationOutcome outcome, std::string result);
  bool plannedHere(const saga::SagaRow& row) const;
  Status noticeContested(Now now);
  Status settleParked(Now now);
  Status reconcileDue(Now now);
  Status noticeConflicts(Now now);
  Status settleDue(Now now);
  Status keepHouse(Now now);
  // --- memory that has grown too long (agents/host/host_memory.cpp)
  Status planFold(const AgentSpec& spec, Now now);
  Status foldDue(Now now);
  Status foldByFirstWords(const SummaryId& id, const std::string& agentId, std::string_view why, Now now);
  Status endFold(const WakeJob& job, const episode::Ending& ending, Now now);
  std::optional<SummaryId> foldOf(const WakeJob& job) const;
  bool comesAgain(const replication::WakeRunBody& run) const;
  Status watch(Now now);
  void noteUndone(const saga::SagaRow& row);
  std::uint64_t recordChanges() const;
  bool watchIsDue() const;

  // --- one run
  Status startRun(WakeJob job, Now now);
  Result<episode::Episode> episodeFor(const Agent& agent, const WakeJob& job, Now now, bool& resumed);
  Result<json::object> inputFor(const Agent& agent, const WakeJob& job, Now now);
  Status push(Running& run, Now now);
  Status startOver(Running& run, Now now);
  Status commitEntries(Running& run, Now now);
  Status commitPlan(Running& run);
  Status bindPlan(Running& run);
  void forgive(Running& run);
  Status endRun(Running& run, Now now);
  void releaseHeld(Now now);
  Result<bool> waitsForBudget(const WakeJob& job, const AgentSpec& spec, Now now);
  Result<Knowledge> knownBy(std::string_view agentId);
  Result<std::optional<Knowledge>> knownAfter(const Running& run, Now now);
  void noteFailure(const std::string& agentId, const std::string& cause, Now now);
  Result<std::vector<replication::Write>> lastWords(const Running& run, Now now, std::optional<std::string>& head);
  Status askPeople(Running& run, Now now);
  Status carryOut(Running& run, Now now, HostEffects& out);
  void noteCalls(const HostEffects& effects, std::size_t from, Now now);
  Status giveUpCalls(Now now);
  void answeredCall(const OperationId& operation, Now now);
  Status look(Running& run, const episode::Effect& effect, HostEffects& out);
  Status act(Running& run, const episode::Effect& effect, Now now);

  // As they arrived, and not by their keys, which derive from the device's id.
  std::vector<RunKey> inOrder() const;
  Result<replication::Space*> space();
  replication::Database& agentsDatabase() { return replica_.database(replication::DatabaseName::agents); }

  replication::LocalReplica& replica_;
  const episode::Gate& gate_;
  const HostOptions options_;
  episode::ToolTable tools_;
  std::map<std::string, const Agent*, std::less<>> agents_;
  WakeCenter wakes_;
  saga::SagaEngine sagas_;
  Compactor memory_;
  ExtractSummariser summariser_;
  RunRetention retention_;
  std::map<RunKey, Running> running_;
  std::map<RunKey, std::int64_t> contested_;  // runs whose losing plans are to be undone: when this device does it
  std::set<OperationId> waiting_;             // for a person's decision
  std::map<std::string, replication::Arrivals, std::less<>> edits_;       // by scope of the journal
  std::map<std::pair<std::string, std::string>, std::int64_t> settleAt_;  // entries that agents left in conflict
  // Looked at again when something has arrived, but only so often: records may come late.
  std::set<RunKey> watched_;        // runs whose plans were settled once
  std::deque<OperationId> undone_;  // the last operations that were undone here
  EffectWatch lostEffects_;
  replication::Arrivals outcomes_{replication::Kind::operation};
  std::vector<OperationId> parked_;         // since the last look for outcomes of other devices
  std::optional<std::uint64_t> watchedAt_;  // the changes of the records when they were looked at
  std::int64_t nextWatchMs_ = 0;            // not before
  std::vector<std::string> members_;
  std::set<std::string> live_;
  // Calls of tools outside that have not been answered: when they went out.
  struct Call {
    std::optional<OperationId> operation;
    std::int64_t sinceMs = 0;
  };
  std::map<std::pair<RunKey, std::string>, Call> calls_;  // by run and span
  std::map<OperationId, std::int64_t> tookMs_;            // what its calls took so far
  std::map<std::string, std::string> spentOn_;            // agents that wait for the next day or hour: since which
  std::set<RunKey> held_;                                 // wakes that wait for it
  std::int64_t heldIn_ = 0;                               // the hour by the wall clock, since 1970
  std::map<std::string, std::size_t> leftOut_;            // of agents: what found no room in the last run's questions
  std::map<OperationId, bool> graphEffects_;              // under way: whether each had been carried out before
  std::vector<EffectOutcome> effectOutcomes_;
  replication::Arrivals activations_{replication::Kind::activation};
  bool activationsLeft_ = true;  // some were not looked at, or found no room
  std::int64_t nextFoldMs_ = 0;  // when threads of memory are looked at again
  HostEffects out_;
  HostCounters counters_;
  std::optional<Failure> lastFailure_;
  bool again_ = false;  // something became durable that work() can go on with
};

}  // namespace witan::agents
