#include "sim/mutants.h"

namespace witan::sim {

namespace {

constexpr MutantCase kCases[] = {
    {Mutant::advanceEarly, "convergence no-write-lost no-write-back alarms", "lossy", 10,
     "a version vector rises with every row, not at the commit"},
    {Mutant::orderByArrival, "convergence no-write-lost no-write-back alarms", "gossip", 200,
     "what arrives below the walk's position counts as sent"},
    {Mutant::noGate, "convergence no-write-lost no-write-back alarms", "gossip", 50,
     "a covered dot that is not held is taken in again"},
    {Mutant::stripUnstable, "convergence no-write-lost no-write-back alarms", "gossip", 20,
     "contexts shrink as soon as one device has everything in them"},
    {Mutant::commitEarly, "convergence no-write-lost no-write-back alarms", "gossip", 20,
     "every segment commits, also before the walk is complete"},
    {Mutant::ignoreMissingBase, "convergence no-write-lost no-write-back alarms", "gossip", 20,
     "a field delta without its base is taken for applied"},
    {Mutant::forgetTombstones, "convergence no-write-lost no-write-back alarms", "gossip", 500,
     "a tombstone goes before every device has it"},
    {Mutant::swapDominance, "convergence no-write-lost no-write-back alarms", "calm", 5,
     "of two versions the newer one is dropped"},
    {Mutant::keepSuperseded, "convergence no-write-lost no-write-back alarms", "calm", 5,
     "what a new version's author had seen stays beside it"},
    {Mutant::reuseCounters, "alarms", "rollback", 50, "a device whose store went back goes on under its old writer"},
    {Mutant::ignoreScopes, "confinement", "calm", 10, "every peer may have every space"},
    {Mutant::sendBeforeFlush, "convergence no-write-lost no-write-back alarms", "gossip", 100,
     "frames leave before what they rest on is durable"},
    {Mutant::answerBeforeFlush, "no-decision-lost linearizability liveness answers", "owner-dies", 50,
     "a proposer is told before the decision is durable"},
    {Mutant::skipLedgerSync, "no-decision-lost linearizability no-request-lost liveness answers restart", "owner-dies",
     20, "the log is written but not synced"},
    {Mutant::ignoreEpoch, "fences", "split-brain", 30, "an owner goes on although it has heard of a later epoch"},
    {Mutant::acceptOldEpoch, "liveness fences no-decision-lost", "split-brain", 10,
     "a replica gives way to an epoch that is over"},
    {Mutant::seizeSameEpoch, "fences no-decision-lost ledger-rules liveness", "split-brain", 50,
     "a seizure does not begin a new epoch"},
    {Mutant::serveOn, "answers fences ledger-rules liveness", "split-brain", 100,
     "an owner goes on deciding after it has handed the partition over"},
    {Mutant::decideUnowned, "liveness", "calm", 5, "any ledger replica decides"},
    {Mutant::skipBatch, "liveness fences", "lossy", 50, "a replica takes a batch that is not the next"},
    {Mutant::keepSurplus, "liveness", "split-brain", 20, "surplus entries of an epoch that is over stay in the log"},
    {Mutant::dropSurplusSilently, "no-decision-lost", "split-brain", 50, "they go without a report"},
    {Mutant::forgetOwnerName, "restart", "owner-dies", 20,
     "a device's name as an owner is not durable when others hear it"},
    {Mutant::forgetClaims, "restart", "handovers", 10, "the later epochs that a device has heard of are not durable"},
    {Mutant::followOldEpoch, "fences", "handovers", 200,
     "a follower takes entries of an epoch of which it has heard that it is over"},
    {Mutant::succeedAnyway, "fences", "handovers", 50,
     "a successor begins its epoch although somebody has seized the partition"},
    {Mutant::goOnBehind, "fences", "rollback", 20,
     "an owner whose disk went back goes on although others know more of its epoch"},
    {Mutant::ignoreFork, "liveness ledger-rules fences", "rollback", 20,
     "two logs of one epoch are not told apart by their roots"},
    {Mutant::neverParted, "liveness ledger-rules fences", "rollback", 20,
     "a batch is taken although it was written on top of another log"},
    {Mutant::shallowChain, "liveness ledger-rules fences", "rollback", 20,
     "logs of one length are taken for one log, whatever is in them"},
    {Mutant::noDedupe, "ledger-rules", "lossy", 5, "a repeated operation id is decided again"},
    {Mutant::noFreeze, "ledger-rules liveness crash", "calm", 20,
     "proposals are decided while one waits for the counselor"},
    {Mutant::skipRecheck, "ledger-rules", "split-brain", 300, "an invariant that does not pass is not looked at again"},
    {Mutant::escalateAsPass, "ledger-rules", "calm", 10, "an escalation is committed"},
    {Mutant::staleDecision, "linearizability", "split-brain", 100,
     "a counselor decides about something else than what was shown"},
    {Mutant::clockGoesBack, "linearizability ledger-rules", "clock-chaos", 300,
     "a partition's time follows the wall clock back"},
    {Mutant::bindNothing, "ledger-rules liveness", "calm", 10, "a run acts by several plans"},
    {Mutant::forgetNotPassing, "copies ledger-rules", "handovers", 100,
     "a copy does not know which invariants an unsafe commit left violated"},
    {Mutant::anyCounselor, "ledger-rules", "handovers", 50, "whoever says so is an authorised counselor"},
    {Mutant::forgetOutbox, "no-request-lost", "owner-dies", 20, "the outbox is not durable"},
    {Mutant::forgetWhenSent, "no-request-lost", "lossy", 5, "a proposal leaves the outbox when it is sent"},
    {Mutant::neverRetry, "liveness", "lossy", 5, "an unanswered proposal is not sent again"},
    {Mutant::freshOperationId, "liveness answers", "lossy", 5, "a retry goes out under a new operation id"},
    {Mutant::neverForget, "liveness", "calm", 5, "answered proposals stay in the outbox"},
    {Mutant::dropFrozen, "no-request-lost", "handovers", 100,
     "a request that was taken on ends when its entity is found frozen"},
    {Mutant::noEtcdCompare, "ledger-rules fences no-decision-lost liveness", "etcd", 20,
     "a batch is put into etcd without comparing its owner and its place"},
    {Mutant::trustUnknown, "fences no-decision-lost liveness", "etcd", 20,
     "a transaction that etcd did not answer counts as done"},
    {Mutant::answerBeforeTxn, "no-decision-lost", "etcd", 20, "proposers are told before etcd has the batch"},
    {Mutant::noPredecessor, "no-decision-lost ledger-rules fences liveness", "etcd-busy", 20,
     "a batch is put into etcd without comparing that the one before it is there"},
    {Mutant::passOver, "no-decision-lost ledger-rules fences liveness", "etcd-busy", 20,
     "a batch that etcd refused behind another counts as done"},
    {Mutant::forgetAhead, "answers", "etcd-small", 10,
     "what is under way to etcd cannot be read until it is in the log"},
    {Mutant::letGoEarly, "no-decision-lost", "etcd", 60,
     "etcd lets go of a batch as soon as one device has it on its disk"},
    {Mutant::trimTooFar, "no-decision-lost", "etcd", 60,
     "etcd lets go of all but the newest batches, whoever has them"},
    {Mutant::dropRunLog, "runs", "agents", 5, "the end of a run is not recorded"},
    {Mutant::wakeTwice, "runs operations liveness", "agents", 50, "a run that has ended runs again"},
    {Mutant::noGrace, "runs", "agents", 10, "every device that hosts an agent runs its wakes at once"},
    {Mutant::lostWake, "runs", "agents", 20, "the wake queue is not durable"},
    {Mutant::ignorePause, "runs", "agents", 10, "an agent that is paused is woken"},
    {Mutant::graceFromArrival, "runs", "agents", 100,
     "what waits behind an earlier wake is not claimed, and taken over as if nobody had it"},
    {Mutant::onlyApproved, "runs", "watchers", 10, "what a counselor commits wakes nobody who watches the ledger"},
    {Mutant::overshare, "need-to-know", "agents", 5, "what the policy does not let out is not taken out of a payload"},
    {Mutant::keepReceipt, "need-to-know", "agents", 20, "a confirmation that was taken back counts"},
    {Mutant::linkInJournal, "agents-apart", "agents", 5, "a link of an agent stands in the journal beside its effect"},
    {Mutant::denyConfirmed, "operations", "agents", 100, "what a person confirmed is denied all the same"},
    {Mutant::skipMarkerCheck, "operations", "agents", 20, "an operation whose record is there is carried out again"},
    {Mutant::recordBeforeApply, "operations", "agents", 50,
     "recovery records the outcome of an effect without looking for it"},
    {Mutant::compensateTwice, "sagas operations", "agents", 50, "each device compensates under an id of its own"},
    {Mutant::undoOnce, "operations", "everything", 100, "what arrives of an operation after its undoing stays"},
    {Mutant::endlessPoison, "liveness", "agents", 5, "attempts are never given up"},
    {Mutant::retryRefused, "operations", "agents", 5, "what was refused for good is tried again"},
    {Mutant::earlyDisclosure, "ledger-rules", "domains", 20, "an embargo holds nobody back"},
    {Mutant::oneRunSuffices, "ledger-rules", "domains", 20, "a finding is verified by one reproduction"},
    {Mutant::noStatement, "ledger-rules", "domains", 20, "who is punished need not be told why"},
    {Mutant::tieBreak, "ledger-rules", "domains", 20,
     "of actions that collide the first executes, and nobody audits the epoch"},
};

constexpr Mutant kStories[] = {Mutant::trustOldToken, Mutant::keepVoidToken,    Mutant::ackUnheard,
                               Mutant::replanOnRetry, Mutant::effectBeforePlan, Mutant::widenFork,
                               Mutant::forgetSpent,   Mutant::ackBeforeRow};

// Every variant stands in one of the two.
constexpr bool isComplete() {
  std::size_t next = 1;
  for (const MutantCase& one : kCases) {
    for (const Mutant story : kStories) next += static_cast<std::size_t>(story) == next ? 1 : 0;
    if (static_cast<std::size_t>(one.mutant) != next++) return false;
  }
  for (const Mutant story : kStories) next += static_cast<std::size_t>(story) == next ? 1 : 0;
  return next == enumNames<Mutant>().size();
}
static_assert(isComplete());

}  // namespace

std::span<const MutantCase> mutantCases() { return kCases; }

std::span<const Mutant> storyMutants() { return kStories; }

const MutantCase* findMutantCase(std::string_view name) {
  for (const MutantCase& one : kCases)
    if (enumName(one.mutant) == name) return &one;
  return nullptr;
}

}  // namespace witan::sim
