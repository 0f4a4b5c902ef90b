#include "sim/mutants.h"

namespace witan::sim {

namespace {

constexpr MutantCase kCases[] = {
    {Mutant::advanceEarly, "convergence no-write-lost", "lossy", 2000,
     "a version vector rises with every row, not at the commit"},
    {Mutant::orderByArrival, "convergence no-write-lost", "lossy", 2000,
     "what arrives below the walk's position counts as sent"},
    {Mutant::noGate, "convergence no-write-lost", "lossy", 2000, "a covered dot that is not held is taken in again"},
    {Mutant::stripUnstable, "convergence no-write-lost", "lossy", 2000,
     "contexts shrink as soon as one device has everything in them"},
    {Mutant::commitEarly, "convergence no-write-lost", "lossy", 2000,
     "every segment commits, also before the walk is complete"},
    {Mutant::trustOldToken, "convergence no-write-lost", "lossy", 2000,
     "a walk is resumed although something came in below that place"},
    {Mutant::keepVoidToken, "convergence no-write-lost", "lossy", 2000,
     "what to resume from is kept from an attempt that a RETRY voids"},
    {Mutant::ignoreMissingBase, "convergence no-write-lost", "lossy", 2000,
     "a field delta without its base is taken for applied"},
    {Mutant::forgetTombstones, "convergence no-write-lost", "lossy", 2000,
     "a tombstone goes before every device has it"},
    {Mutant::ackUnheard, "convergence no-write-lost", "lossy", 2000,
     "acknowledgements count before the statements they rest on are here"},
    {Mutant::swapDominance, "convergence no-write-lost", "calm", 2000, "of two versions the newer one is dropped"},
    {Mutant::keepSuperseded, "convergence no-write-lost", "calm", 2000,
     "what a new version's author had seen stays beside it"},
    {Mutant::reuseCounters, "convergence no-write-lost", "disk-lost", 2000,
     "a device whose store went back goes on under its old writer"},
    {Mutant::ignoreScopes, "confinement", "calm", 2000, "every peer may have every space"},
    {Mutant::sendBeforeFlush, "convergence no-write-lost", "owner-dies", 2000,
     "frames leave before what they rest on is durable"},
    {Mutant::answerBeforeFlush, "no-decision-lost linearizability liveness", "owner-dies", 2000,
     "a proposer is told before the decision is durable"},
    {Mutant::skipLedgerSync, "no-decision-lost linearizability no-request-lost liveness", "owner-dies", 2000,
     "the log is written but not synced"},
    {Mutant::ignoreEpoch, "fences no-decision-lost liveness", "split-brain", 2000,
     "an owner goes on although it has heard of a later epoch"},
    {Mutant::acceptOldEpoch, "fences no-decision-lost ledger-rules liveness", "split-brain", 2000,
     "a replica follows entries of an epoch that is over"},
    {Mutant::seizeSameEpoch, "fences no-decision-lost ledger-rules liveness", "split-brain", 2000,
     "a seizure does not begin a new epoch"},
    {Mutant::serveOn, "answers fences ledger-rules liveness", "split-brain", 2000,
     "an owner goes on deciding after it has handed the partition over"},
    {Mutant::decideUnowned, "liveness", "calm", 2000, "any ledger replica decides"},
    {Mutant::skipBatch, "liveness", "lossy", 2000, "a replica takes a batch that is not the next"},
    {Mutant::keepSurplus, "liveness", "split-brain", 2000, "surplus entries of an epoch that is over stay in the log"},
    {Mutant::dropSurplusSilently, "surplus", "split-brain", 2000, "they go without a report"},
    {Mutant::noDedupe, "ledger-rules", "lossy", 2000, "a repeated operation id is decided again"},
    {Mutant::noFreeze, "ledger-rules liveness crash", "calm", 2000,
     "proposals are decided while one waits for the counselor"},
    {Mutant::skipRecheck, "ledger-rules", "split-brain", 2000,
     "an invariant that does not pass is not looked at again"},
    {Mutant::escalateAsPass, "ledger-rules", "calm", 2000, "an escalation is committed"},
    {Mutant::staleDecision, "linearizability", "split-brain", 2000,
     "a counselor decides about something else than what was shown"},
    {Mutant::clockGoesBack, "linearizability ledger-rules", "clock-chaos", 2000,
     "a partition's time follows the wall clock back"},
    {Mutant::forgetOutbox, "no-request-lost", "owner-dies", 2000, "the outbox is not durable"},
    {Mutant::forgetWhenSent, "no-request-lost", "lossy", 2000, "a proposal leaves the outbox when it is sent"},
    {Mutant::neverRetry, "liveness", "lossy", 2000, "an unanswered proposal is not sent again"},
    {Mutant::freshOperationId, "liveness", "lossy", 2000, "a retry goes out under a new operation id"},
    {Mutant::neverForget, "liveness", "calm", 2000, "answered proposals stay in the outbox"},
};

// Every variant stands here, in its place.
constexpr bool inOrder() {
  for (std::size_t i = 0; i < std::size(kCases); ++i)
    if (static_cast<std::size_t>(kCases[i].mutant) != i + 1) return false;
  return std::size(kCases) + 1 == enumNames<Mutant>().size();
}
static_assert(inOrder());

}  // namespace

std::span<const MutantCase> mutantCases() { return kCases; }

const MutantCase* findMutantCase(std::string_view name) {
  for (const MutantCase& one : kCases)
    if (enumName(one.mutant) == name) return &one;
  return nullptr;
}

}  // namespace witan::sim
