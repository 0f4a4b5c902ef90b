// Deliberately broken variants of the cores, to show that the tests and the simulator notice. Compiled in only where
// WITAN_MUTANTS is defined (the program witan-sim, the libraries of the mutant tests); everywhere else mutated() is
// a constant false and costs nothing. At most one is active, for the whole process.
//
// What each one breaks stands at the place that asks for it, and in sim/mutants.cpp with the checker that must notice.
// Ask only in .cpp files: an inline function compiled with and without WITAN_MUTANTS would be two under one name.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/reflect.h"

namespace witan {

// An enum of more than the 64 words that WITAN_ENUM's preprocessor takes: its names are cut out of the list's text.
template <std::size_t N>
constexpr std::array<std::string_view, N> listedWords(std::string_view text) {
  std::array<std::string_view, N> words;
  for (std::string_view& word : words) {
    word = text.substr(0, text.find(','));
    text.remove_prefix(word.size() < text.size() ? word.size() + 2 : word.size());  // and ", "
  }
  return words;
}
#define WITAN_LIST(Type, ...)                                                \
  enum class Type : std::uint8_t { __VA_ARGS__ };                            \
  constexpr auto witanEnumNames(Type) {                                      \
    constexpr std::string_view text = #__VA_ARGS__;                          \
    return listedWords<std::count(text.begin(), text.end(), ',') + 1>(text); \
  }

WITAN_LIST(Mutant, none,
           // --- replication (docs/replication.md has the numbered rules)
           advanceEarly,       // rule 1: the vector rises with every row, not at the commit
           orderByArrival,     // rule 2: what arrives below the walk's position counts as sent
           noGate,             // rule 3: a covered dot that is not held is taken in again
           stripUnstable,      // rule 4: contexts shrink as soon as this device itself has everything in them
           commitEarly,        // every segment commits, also before the walk is complete
           trustOldToken,      // a walk is resumed where it broke although something has come in below that place
           keepVoidToken,      // what to resume from is kept from an attempt that a RETRY voids
           ignoreMissingBase,  // a field delta without its base is taken for applied
           forgetTombstones,   // a tombstone goes as soon as this device itself has everything in it
           ackUnheard,         // a peer's acknowledgements count before its statements are here
           swapDominance,      // rule 3 of arrival the wrong way round: the newer version is dropped
           keepSuperseded,     // what a new version's author had seen stays beside it
           reuseCounters,      // a device whose store went back goes on under its old writer
           ignoreScopes,       // every peer may have every space
           // --- durability
           sendBeforeFlush,    // frames leave before what they rest on is durable
           answerBeforeFlush,  // a proposer is told before the decision is durable
           skipLedgerSync,     // the log is written but not synced
           // --- partitions and owners
           ignoreEpoch,          // an owner goes on although it has heard of a later epoch
           acceptOldEpoch,       // a replica gives way to an epoch that is over: its claims, its entries, its log
           seizeSameEpoch,       // a seizure does not begin a new epoch
           serveOn,              // an owner goes on deciding after it has handed the partition over
           decideUnowned,        // any ledger replica decides
           skipBatch,            // a replica takes a batch that is not the next
           keepSurplus,          // surplus entries of an epoch that is over stay in the log
           dropSurplusSilently,  // they go without a report
           forgetOwnerName,      // a device's name as an owner is not durable when others hear it
           forgetClaims,         // the later epochs that a device has heard of are not durable
           followOldEpoch,       // a follower takes entries of an epoch of which it has heard that it is over
           succeedAnyway,        // a successor begins its epoch although somebody has seized the partition
           goOnBehind,           // an owner whose disk went back goes on although others know more of its epoch
           ignoreFork,           // two logs of one epoch are not told apart by their roots
           neverParted,          // a batch is taken although it was written on top of another log
           shallowChain,         // the digest of a log holds how long its batches are, and not what is in them
           // --- decisions
           noDedupe,          // a repeated operation id is decided again
           noFreeze,          // proposals are decided while one waits for the counselor
           skipRecheck,       // an invariant that does not pass is not looked at again (F8)
           escalateAsPass,    // an escalation is committed
           staleDecision,     // a counselor may decide about something else than what was shown (F17)
           clockGoesBack,     // a partition's time follows the wall clock back
           bindNothing,       // a run acts by several plans (F3)
           forgetNotPassing,  // a copy does not know which invariants an unsafe commit left violated
           anyCounselor,      // whoever says so is an authorised counselor
           // --- routing
           forgetOutbox,      // the outbox is not durable
           forgetWhenSent,    // a proposal leaves the outbox when it is sent, not when it is answered
           neverRetry,        // an unanswered proposal is not sent again
           freshOperationId,  // a retry goes out under a new operation id
           neverForget,       // answered proposals stay in the outbox
           dropFrozen,        // a request that was taken on ends when its entity is found frozen
           // --- owners by etcd
           noEtcdCompare,    // a batch is put without comparing owner and place
           trustUnknown,     // a transaction without an answer counts as done
           answerBeforeTxn,  // proposers are told before etcd has the batch
           noPredecessor,    // a batch is put without comparing that the one before it is there
           passOver,         // a batch that was refused behind another counts as done
           forgetAhead,      // what is under way cannot be read until it is in the log
           letGoEarly,       // etcd lets go of a batch as soon as one device has it on its disk
           trimTooFar,       // etcd lets go of all but the newest batches, whoever has them
           // --- wakes
           dropRunLog,        // the end of a run is not recorded
           wakeTwice,         // a run that has ended runs again
           noGrace,           // every device that hosts an agent runs its wakes at once
           lostWake,          // the wake queue is not durable
           ignorePause,       // an agent that is paused is woken
           graceFromArrival,  // what waits behind an earlier wake is taken over as if nobody had it
           onlyApproved,      // what a counselor commits wakes nobody who watches the ledger
           // --- episodes
           replanOnRetry,     // a run that has a plan goes by the agent's new one
           effectBeforePlan,  // effects are permitted before the plan and their announcements are durable
           widenFork,         // a sub-episode gets what its parent does not hold
           forgetSpent,       // what is spent does not count
           // --- boundaries
           overshare,      // what the policy does not let out is not taken out
           keepReceipt,    // a confirmation that was taken back counts
           linkInJournal,  // a link of an agent stands beside its effect, and no device minds
           denyConfirmed,  // what a person confirmed is denied all the same
           // --- sagas
           skipMarkerCheck,    // an operation whose record is there is carried out again
           recordBeforeApply,  // recovery records the outcome of an effect without looking for it
           compensateTwice,    // each device compensates under an id of its own
           undoOnce,           // what arrives of an operation after its undoing stays
           ackBeforeRow,       // the effect is made before the saga's row is durable
           endlessPoison,      // attempts are never given up
           retryRefused,       // what was refused for good is tried again
           // --- domains
           earlyDisclosure,  // an embargo holds nobody back
           oneRunSuffices,   // a finding is verified by one reproduction
           noStatement,      // who is punished need not be told why
           tieBreak)         // of actions that collide the first executes, and nobody audits the epoch

#ifdef WITAN_MUTANTS
inline namespace with_mutants {
inline Mutant activeMutant = Mutant::none;
inline bool mutated(Mutant mutant) { return activeMutant == mutant; }
}  // namespace with_mutants
#else
constexpr bool mutated(Mutant) { return false; }
#endif

}  // namespace witan
