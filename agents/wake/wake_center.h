// WakeCenter: from changes, timers and people to wakes that run once.
//
//   notification batch --match--> job (durable) --due, this device's turn, gates--> started --episode--> ended
//
// Seed 003, sections 0.2 to 0.4, 3 and 6.1. What is promised:
//   a wake is known by its run key only, on every device (F15); one that has ended anywhere is not run again, but for
//   what is left of a plan that stands and that the device which made it had begun (F3);
//   among the devices that host the agent and are reachable, one runs it; the others hold it for a grace time and run
//   it only if no end has come (when the network was cut both may: F3 settles what they did); where it waits behind
//   others for long, its device says before the grace is over that it has it, and the others hold it while that device
//   can be reached; what such a device has put off keeps no later wake from running;
//   a run whose end this device wrote and lost, as its store had gone back and others know its counters for something
//   else, runs again if what woke it stands;
//   a run that was marked started reaches an end, also after crashes (invariant 5), or is given up after some starts
//   (one that came to wait for a person, or that was stopped in an orderly way, has not failed);
//   loops end (agents/wake/wake_job.h), storms wait outside (agents/wake/wake_queue.h).
//
// Everything it changes stands in the pending batch of the agent database. The caller flushes before anything leaves
// the process, calls durable() afterwards, and starts no effect of a run before that. Sans-I/O, not thread-safe; the
// replica and the agents' specifications outlive it. After an error of the stores: open again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/agent.h"
#include "agents/wake/wake_queue.h"
#include "base/time.h"
#include "replication/arrivals.h"
#include "replication/local_replica.h"
#include "replication/records/record_views.h"
#include "replication/records/subscription_index.h"

namespace witan::agents {

struct WakeOptions {
  std::string scope = "main";  // of the agent database: runs, states and hosting stand there
  QueueLimits limits;
  std::size_t running = 8;     // at once, on this device
  std::uint64_t attempts = 5;  // starts of one run that came to nothing
  std::uint64_t hops = 8;      // runs in one chain of cause and effect
  std::int64_t graceMs = 5'000;
  std::int64_t abandonMs = 24 * 3'600'000;  // a run whose device is gone and that nobody took over
  std::int64_t selfTimerMs = 1'000;         // an agent's own timer wakes are at least so far apart
  // Whether the agent can think now; its wakes wait until then. Empty: always.
  std::function<bool(std::string_view agentId)> attended = {};
  // Why the agent may not be woken for this reason, in words; empty: it may. Without it nothing bars.
  std::function<std::string(const AgentSpec& spec, replication::WakeReason reason)> barred = {};
};

// The changes of an agent's state at the end of a run, beside those of WakeCenter itself (counters, schedule).
using StateChange = std::function<void(replication::AgentState&, std::string_view writer)>;

class WakeCenter {
 public:
  WakeCenter(replication::LocalReplica& replica, WakeOptions options);

  // An agent that this device can run. First of all. Errors: ids, limits, one with this id.
  Status add(const AgentSpec& spec);
  // Reads the queue back: what ran when the process ended waits again. Batches that an agent missed while this device
  // ran without it are taken again, for it alone. Errors: corrupt.
  Status load(Now now);
  // All members of the cluster, and those that can be reached now; this device may be missing in both. Nothing runs
  // before the first call.
  void setDevices(std::vector<std::string> members, std::set<std::string> live, Now now);

  // Takes the batches that have become deliverable in any space, as far as the queue has room.
  Status takeEvents(Now now);
  // Events of one space ("{database}/{scope}"), which the caller has marked or will mark consumed itself.
  Status batchEvents(std::string_view space, const std::vector<replication::BatchEvent>& events, Now now);
  // A fact of a ledger for one of an agent's subscriptions to ledgers. False: the queue is full, offer it again.
  Result<bool> ledgerFact(std::string_view agentId, std::string_view subscriptionId, const LedgerFact& fact, Now now);
  // What a graph waits for. False: the queue is full, offer it again.
  Result<bool> activation(const replication::ActivationBody& activation, Now now);
  // Any other wake. False likewise.
  Result<bool> offer(WakeJob job, Now now);
  // After a flush: batches whose wakes are durable now will not come again.
  void durable();

  // Something that a person said to an agent: this device runs it. The same turn again is fine. Errors: the agent is
  // not here; ids; the queue is full.
  Result<RunKey> userTurn(std::string_view agentId, std::string_view sessionId, std::string_view turnId,
                          std::string_view text, Now now);

  // Timers; ends that came from other devices; runs that nobody will finish.
  Status tick(Now now);
  // When tick() or takeRunnable() has something to do at the latest, in steady time; none: nothing waits.
  std::optional<std::int64_t> nextMs(Now now) const;

  // Marks what may run now as started and hands it out; what may not run at all gets its end here.
  Result<std::vector<WakeJob>> takeRunnable(Now now);
  // The users' turns that no run will answer, because the agent may not be woken. Each is reported once.
  struct Unheard {
    std::string agentId;
    std::string why;
  };
  std::vector<Unheard> takeUnheard() { return std::exchange(unheard_, {}); }
  // The run has ended: its record, the agent's state and `also` in one commit. A run that has ended elsewhere meanwhile
  // keeps that end, and the state stays as it is. Errors: not here; limits.
  Status ended(const RunKey& key, replication::WakeStatus status, std::string_view cause, Now now,
               const StateChange& change = {}, std::vector<replication::Write> also = {});
  // It could not go on for now: again after a while. As ended(failedTerminal) once it was started too often.
  // Its record says why meanwhile.
  Status postpone(const RunKey& key, std::int64_t afterMs, std::string_view cause, Now now);
  // One that was postponed waits no longer. Nothing if it is not here.
  void release(const RunKey& key, Now now);

  // This start of it is no failure, should the process end: the run waits for a person, or the end is an orderly one.
  // Nothing if it is not here.
  void forgive(const RunKey& key) {
    if (const auto* entry = queue_.find(key); entry != nullptr && entry->job.attempts > 0) queue_.forgive(key);
  }

  // Whether an agent of this device has ended for good, as of the last tick().
  bool isDestroyed(std::string_view agentId) const {
    const auto agent = agents_.find(agentId);
    return agent != agents_.end() && agent->second.asleep;
  }

  // How often runs that had ended were run again, as their ends were lost.
  std::uint64_t lookedAgain() const { return lookedAgain_; }

  const WakeQueue& queue() const { return queue_; }
  std::size_t backlog() const;  // batches taken that found no room yet

 private:
  struct Registered {
    const AgentSpec* spec = nullptr;
    std::map<std::string, std::int64_t> seen;                            // timers: the multiple that was seen to last
    std::map<std::string, replication::TimerState, std::less<>> timers;  // of its state
    std::optional<std::int64_t> dueMs;                                   // its next timer, as it stands in due_
    bool asleep = false;                                                 // for good: no timer wakes it
    std::optional<std::uint64_t> nextWakeAt;
    std::optional<std::int64_t> lastSelfMs;
    std::set<std::string, std::less<>> ownChanges;        // subscriptions that want the agent's own changes
    std::map<std::string, Authors, std::less<>> authors;  // of subscriptions that do not want everyone's
    std::vector<std::string> hosts;                       // ranked; empty: whoever can
  };
  struct Intake {  // one space
    std::vector<replication::BatchEvent> waiting;
    std::size_t next = 0;
    replication::VersionVector upTo;
    bool taken = false;
    std::uint64_t mark = 0;  // of the agent database
  };
  struct Missed {                                                         // one agent
    std::vector<std::pair<std::string, replication::BatchEvent>> events;  // with their spaces
    std::size_t next = 0;
  };
  enum class Taken { yes, full };
  struct Turn {
    bool never = false;  // another device's
    std::int64_t atMs = 0;
  };

  Result<replication::Space*> space();
  bool attended(std::string_view agentId) const { return !options_.attended || options_.attended(agentId); }
  // `only`: of the agents; empty: all. `among`: of the runs; null: all.
  Result<Taken> wakeBy(std::string_view space, const replication::BatchEvent& event, Now now,
                       std::string_view only = {}, const std::set<RunKey>* among = nullptr);
  Status noteWhoIsHere();
  Status noteTakenBack();
  Status takeAgain(Now now);
  Status findMissed(const std::string& agentId, std::string_view row);
  Status takeMissed(Now now);
  Result<Enqueued> enqueue(WakeJob job, Now now);
  Result<replication::AgentState> stateOf(std::string_view agentId);
  Status noticeChanges(Now now);
  // The timers that it has now, with their intervals: its state's before its specification's.
  static std::map<std::string, std::int64_t> timersOf(const Registered& agent);
  // Puts it into due_, by the first of its timers that was not seen to.
  void file(const std::string& agentId, Registered& agent, Now now);
  Status tickTimers(const std::string& agentId, Registered& agent, Now now);
  // Whether it is dealt with: no room otherwise.
  Result<bool> fireTimer(std::string_view agentId, std::string_view timerId, std::int64_t scheduledAtMs, Now now);
  Status sweepEnded(Now now);
  void mayClaim(const RunKey& key, std::int64_t sinceMs);
  Status claimDue(Now now);
  // Whether this device is the first of those that host the agent and can be reached, and not the only one.
  bool firstOfSeveral(const Registered& agent) const;
  Status giveUpAbandoned(Now now);
  // When this device may run the job, or that it may not. The others' grace begins when no earlier wake of the agent is
  // in its way.
  Turn turnOf(const WakeQueue::Entry& entry, const replication::WakeRunView& run) const;
  // Whether a run that has ended elsewhere leaves work here: it was begun here, and this device's plan, which stands,
  // has operations of which nothing is known (docs/FINDINGS.md, F3: another device has ended it by a plan that lost).
  Result<bool> leavesWork(const WakeJob& job);
  void noteSaid(const RunKey& key, const replication::WakeRunView& run, Now now);
  bool waitsElsewhere(const replication::WakeRunBody& run, std::string_view device) const;
  std::string barredBy(const replication::AgentState& state, const WakeJob& job) const;
  // None: it is held back, or has got its end and left the queue.
  Result<std::optional<WakeJob>> tryStart(const RunKey& key, Now now);
  Status finish(const WakeJob& job, replication::WakeStatus status, std::string_view cause, Now now,
                const StateChange& change, std::vector<replication::Write> also);

  replication::LocalReplica& replica_;
  const WakeOptions options_;
  WakeQueue queue_;
  replication::SubscriptionIndex index_;
  std::map<std::string, Registered, std::less<>> agents_;
  std::vector<std::string> members_;  // this device among them
  std::set<std::string> live_;
  bool devicesKnown_ = false;
  struct First {
    RunKey key;
    std::int64_t sinceMs = 0;
  };
  std::map<std::string, First, std::less<>> first_;  // by agent: the wake that comes next, and since when it does
  std::set<RunKey> aside_;                           // wakes that wait elsewhere: later ones go before them
  std::optional<std::int64_t> nextTurnMs_;           // of what the last takeRunnable() held back
  std::map<std::string, std::int64_t> leftMs_;       // when a device was last reachable
  std::int64_t bootMs_ = 0;
  std::map<std::string, Intake> intake_;
  std::map<std::string, Missed, std::less<>> missed_;  // by agent
  replication::Arrivals states_{replication::Kind::agentState}, links_{replication::Kind::link};
  struct TakenBack {                      // runs that a repair took a record from
    std::optional<std::uint64_t> losses;  // of the space, when that was read
    std::vector<std::string> rows;
    std::set<RunKey> runs;
    std::set<std::string, std::less<>> looked;  // spaces whose batches were looked at
  } takenBack_;
  std::uint64_t lookedAgain_ = 0;
  bool allChanged_ = true;                              // of every agent its hosts and its state
  std::set<std::pair<std::int64_t, std::string>> due_;  // agents with timers, by wall time
  std::int64_t tickedMs_ = 0;                           // wall time of the last tick
  std::optional<RunKey> sweptTo_;
  std::set<std::pair<std::int64_t, RunKey>> unclaimed_;  // wakes that wait here: when it is to be said that they do
  std::map<RunKey, std::int64_t> orphans_;               // started, without a job here: since when
  std::int64_t nextOrphanScanMs_ = 0;
  std::vector<Unheard> unheard_;
};

}  // namespace witan::agents
