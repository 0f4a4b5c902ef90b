// SagaEngine: carries out the actions of persisted plans across a device's two databases, each once (seed 003,
// section 7, Theorems 2 and 3; docs/FINDINGS.md, F3). saga/transitions.h is what it does, this is how:
//
//   row durable -> journal commit {effect, record of the operation} durable
//               -> agents' commit {record of the operation, transcript, end of the row} durable -> finished()
//
// Nothing is done before what it rests on is durable, so at every instant a crash leaves a row whose effect is missing,
// or whose outcome is missing, and load() goes on from there. Whoever finds the record of an operation, in whichever
// way it came, does not carry it out again. Effects outside of the databases (the meta-agent, tools) may be begun
// several times, always under the same operation id, which their receivers must treat as one.
//
// The composition drives it, and shares three syncs among all sagas of a round:
//
//   begin(intents, now)            beside the plan's commit, so that plan and rows are durable together
//   flush journal -> journalDurable(now) -> flush agents -> agentsDurable(now) -> hand out effects -> again
//   answered(operation, ...)       what came of call()
//   tick(now)                      not before nextTickMs()
//
// An attempt that fails is repeated with exponential backoff, whose jitter derives from operation and attempt; after
// `maxAttempts` the saga is put aside for a person. Attempts that are due get a fixed share of a round, fresh sagas
// never wait for them.
//
// Sans-I/O: the databases are seams and time is an argument. Not thread-safe. Replica and environment outlive it.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "replication/records/record_views.h"
#include "saga/journal_effect.h"
#include "saga/operation_marks.h"
#include "saga/saga_rows.h"
#include "saga/transitions.h"

namespace witan::saga {

inline constexpr std::size_t kMaxOpenSagas = 250'000;

// The world that sagas act on. Errors: unavailable, ioFailed and corrupt are tried again; unauthorised is the outcome
// denied, any other the outcome failed.
class SagaEnvironment {
 public:
  virtual ~SagaEnvironment() = default;

  // For kind journal, unless it is a compensation: what the operation does now. Must depend on nothing but the row and
  // what the journal holds.
  virtual Result<JournalEffect> journalEffect(const SagaRow& row) = 0;

  // For the other kinds: begins the effect under the row's operation id. Ok: answered() will be called, now or later.
  // May be called again for the same operation, also in another life of the process.
  virtual Status call(const SagaRow& row, Now now) = 0;

  // Why it must not be called, or not again: nobody can say whether its effect was made, and the receiver would make
  // another. The saga is put aside. Empty: it may be. `before`: a call may have left before, in this life or another.
  virtual std::string uncertain(const SagaRow&, bool /*before*/) const { return {}; }

  // Whether another device can be heard now, and how long its answers may be under way; 0: no other one is there.
  virtual bool hears(std::string_view /*device*/) const { return false; }
  virtual std::int64_t hearingMs() const { return 0; }

  // The writes to the agents' database with the outcome, beside the record of the operation. May be asked again if
  // the process died before that was durable; a message or link that is there already is left out.
  virtual Result<std::vector<replication::Write>> record(const SagaRow& row, const Outcome& outcome) = 0;

  // Both databases have it, durably. The row's `outcome` and `result` say what came of it.
  virtual void finished(const SagaRow& row) = 0;
  // It was put aside for a person; lastError says why.
  virtual void parked(const SagaRow&) {}

  // How an effect outside of the journal is undone: tool, arguments, targets of the compensation. Errors: it cannot be.
  virtual Result<Intent> compensation(const replication::OperationBody&) {
    return conflict("what has left this device cannot be called back");
  }
};

struct SagaOptions {
  std::uint32_t maxAttempts = 10;
  std::int64_t firstBackoffMs = 1'000;
  std::int64_t lastBackoffMs = 10 * 60'000;
  std::uint32_t keepDone = 1'000;     // of those that ended, for people to look at
  std::int64_t retryMs = 0;           // an older one is not tried again: its record may be gone; 0: any is
  std::size_t maxInFlight = 4'096;    // commits under way, so that a batch stays small
  std::size_t retriesPerRound = 256;  // attempts that are due and get into one tick()
};

struct SagaCounters {
  std::uint64_t begun = 0, repeated = 0, completed = 0, denied = 0, failed = 0, retries = 0, parked = 0;
  std::uint64_t found = 0;  // effects that were there already
  std::uint64_t recovered = 0, withdrawn = 0, compensations = 0;
  WITAN_MEMBERS(SagaCounters, begun, repeated, completed, denied, failed, retries, parked, found, recovered, withdrawn,
                compensations)
};

class SagaEngine {
 public:
  SagaEngine(replication::LocalReplica& replica, SagaEnvironment& environment, SagaOptions options = {});

  // The recovery scan: reads the open rows, and no others. Without it only what begins here is carried out. Errors:
  // corrupt, naming the row. O(open rows).
  Status load(Now now);

  // All of them or none; one that is known already changes nothing. Errors: an intent that is none; unavailable, too
  // many are open.
  Status begin(std::span<const Intent> intents, Now now);

  void journalDurable(Now now);
  void agentsDurable(Now now);
  // The outcome of a call. An error as in SagaEnvironment. Ignored if no saga waits for it any more.
  void answered(const OperationId& operation, const Result<Outcome>& outcome, Now now);
  // Nobody can say what came of a call: put aside for a person, who may retry it. Ignored likewise.
  void doubted(const OperationId& operation, const Error& why, Now now);
  // A person has to decide something else first: the row says so. Ignored likewise.
  void waits(const OperationId& operation, std::string_view why);
  void tick(Now now);
  // By the steady clock; the largest number: never.
  std::int64_t nextTickMs() const;

  // --- people
  // Where other devices are heard, the call waits for what people say there at the same time: of several that have it
  // tried again, the first by name does. Errors: notFound; conflict, it is under way or has ended, here or elsewhere,
  // or a device that is heard was told.
  Status retry(const OperationId& operation, Now now);
  // Undoes what was carried out, by a saga of its own; or ends one that was put aside before it had an effect. Errors:
  // notFound; conflict, saying why it cannot be.
  Status compensate(const OperationId& operation, Now now);
  // One that was put aside here and has an outcome by another device ends with that. Nothing of any other.
  Status settleHeld(const OperationId& operation, Now now);
  // Undoes what has arrived of an operation since it was undone (saga/operation_marks.h). Nothing if it was not undone,
  // or nothing of it shows. Repeating it changes nothing. Errors: of reading.
  Status undoAgain(std::string_view scope, const OperationId& operation, Now now);

  // --- several plans for one run (F3)
  // Ends or undoes what only losing plans have, also what has arrived of it since it was undone, and redoes what had
  // been undone before a plan with it won. What a later operation of the plan wrote over waits for the undoing of that
  // one, if it is on its way here. Call it whenever a plan, or an operation of a run with several plans, has
  // arrived. Repeating it changes nothing. What cannot be undone becomes an incident. O(operations of the plans).
  Status reconcile(std::string_view scope, const replication::PlanView& view, Now now);
  // The same for every run with several plans: after load(). O(records).
  Status reconcileAll(Now now);

  // --- reading
  // Null: not under way here. Until the next change.
  const SagaRow* find(const OperationId& operation) const;
  std::size_t open() const { return sagas_.size(); }
  // No saga can go on without an answer, a due time or a person.
  bool quiet() const { return ready_.empty() && intended_.empty() && applied_.empty() && recorded_.empty(); }
  SagaRows& rows() { return rows_; }
  const SagaRows& rows() const { return rows_; }
  const SagaCounters& counters() const { return counters_; }

 private:
  struct Saga {
    SagaRow row;
    std::string hex;             // of the operation
    std::int64_t dueMs = 0;      // while in backoff, by the steady clock
    bool effectPending = false;  // its journal commit waits for a flush
    bool mayHaveActed = false;   // something outside may have been called
    bool ending = false;         // its outcome and its row's end are in the pending batch
    bool called = false;         // and nobody said that nothing came of it
    bool insisted = false;       // a person says: call it, whatever may have happened
    bool again = false;          // and it was
  };
  struct Mark {
    std::uint64_t mark;  // of the database
    Hash operation;
  };

  replication::Database& journal() { return replica_.database(replication::DatabaseName::journal); }
  replication::Database& agents() { return replica_.database(replication::DatabaseName::agents); }

  Saga* at(const Hash& operation);
  Saga* calledNow(const OperationId& operation);
  Result<bool> known(const Intent& intent, Now now);
  void start(const Intent& intent, Now now);
  void startReady(Now now);
  bool step(Saga& saga, SagaEvent event, Now now);
  void enter(Saga& saga, const Transition& to, Now now);

  void apply(Saga& saga, Now now);
  void applyToJournal(Saga& saga, Now now);
  void awaitJournal(Saga& saga, Outcome outcome);
  Result<JournalCommit> journalCommitOf(const Saga& saga, Now now);
  void call(Saga& saga, Now now);
  void record(Saga& saga, Now now);
  Status commitOutcome(Saga& saga, Now now);
  Result<std::vector<replication::Write>> outcomeWrites(const Saga& saga, const Outcome& outcome);
  void finish(Saga& saga, Now now);
  void park(Saga& saga, Now now);
  void wait(Saga& saga, Now now);

  void carriedOut(Saga& saga, Outcome outcome, Now now);
  // An attempt ended with an error: tried again, refused for good, or put aside.
  void ended(Saga& saga, const Error& error, Now now);
  void failed(Saga& saga, const Error& error, bool forGood, Now now);
  void forget(const Hash& operation);

  // The operation that undoes `operation`.
  OperationId compensationOf(const OperationId& operation) const;
  Result<Intent> compensationIntent(std::string_view scope, const OperationId& operation);
  // Begins the compensation of what was carried out, unless it is known.
  Status undo(std::string_view scope, const OperationId& operation, Now now);
  // A further compensation after the last of `compensations`, if something shows that none of them was shown.
  Status undoFurther(std::string_view scope, const OperationId& undone, std::span<const OperationId> compensations,
                     Now now);
  Status undoOrNote(std::string_view scope, const OperationId& operation, Now now);
  // The operation, its compensations, those of the compensations, and so on, as far as they are known: each with those
  // that follow it (saga/operation_marks.h).
  Result<std::vector<std::vector<OperationId>>> compensationsOf(std::string_view scope, const OperationId& operation);
  Result<bool> isKnown(std::string_view scope, const OperationId& operation);
  Result<bool> isOver(std::string_view scope, const OperationId& operation, bool superseded, Now now);
  Status settle(std::string_view scope, const OperationId& operation, bool wanted, Now now);
  Result<std::vector<std::string>> touchedBy(std::string_view scope, const OperationId& operation);
  Result<bool> undoingComes(std::string_view scope, const OperationId& operation);
  bool withdraw(Saga& saga, Now now);
  Status setSuperseded(const OperationId& operation, bool superseded);
  void noteCannotUndo(const OperationId& operation, const Error& why);
  Status giveUp(SagaRow row, Now now);
  // Conflict: another device has ended what waits here, or was told and is at it.
  Status mayAnswer(const SagaRow& held);
  // Who has it tried again on a device that goes first; empty: no person.
  Result<std::string> goesFirst(const Intent& intent);
  Saga& takeUp(SagaRow row);
  std::int64_t backoffMs(const SagaRow& row) const;

  replication::LocalReplica& replica_;
  SagaEnvironment& environment_;
  const SagaOptions options_;
  SagaRows rows_;
  std::map<Hash, Saga> sagas_;
  std::deque<Mark> intended_;                    // rows that are not durable
  std::deque<Mark> applied_;                     // effects that are not
  std::deque<Mark> recorded_;                    // outcomes that are not
  std::deque<Hash> ready_;                       // may go on at once
  std::set<std::pair<std::int64_t, Hash>> due_;  // by time
  SagaCounters counters_;
};

}  // namespace witan::saga
