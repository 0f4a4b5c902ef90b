#include "sim/mutants.h"

#include <algorithm>
#include <iterator>

#include "base/mutant.h"
#include "base/quote.h"
#include "sim/jobs.h"
#include "sim/scenario.h"

namespace witan::sim {

namespace {

// The checkers of replication, of which one fires.
constexpr std::string_view kReplication = "convergence no-write-lost no-write-back alarms";

constexpr MutantCase kCases[] = {
    {"advanceEarly", kReplication, "lossy", 10, "a version vector rises with every row, not at the commit"},
    {"orderByArrival", kReplication, "gossip", 200, "what arrives below the walk's position counts as sent"},
    {"noGate", kReplication, "gossip", 50, "a covered dot that is not held is taken in again"},
    {"stripUnstable", kReplication, "gossip", 20, "contexts shrink as soon as one device has everything in them"},
    {"commitEarly", kReplication, "gossip", 20, "every segment commits, also before the walk is complete"},
    {"ignoreMissingBase", kReplication, "gossip", 20, "a field delta without its base is taken for applied"},
    {"forgetTombstones", kReplication, "gossip", 500, "a tombstone goes before every device has it"},
    {"lazyForEver", "liveness convergence no-write-lost", "many", 10,
     "a lazy link neither tells what it has nor sends it when it is late"},
    {"neverGraft", "liveness", "many", 100,
     "a lazy link is not made eager for what its digests show and does not come"},
    {"ignoreGraft", "liveness", "many", 100, "who is asked over a lazy link for what its digests show stays lazy"},
    {"neverTell", "liveness", "many", 100, "a lazy link does not say what is there"},
    {"neverHeal", "liveness", "mesh", 20, "a link that has ended is not looked for again, nor another one"},
    {"passOverNobody", "liveness", "overlay", 20, "a neighbour that does not answer has none in its place"},
    {"chooseNobody", "liveness", "overlay", 5, "a device has no neighbours that it chose itself"},
    {"chooseOnce", "liveness", "overlay", 20, "a device never makes other choices of its own"},
    {"noRemaking", "keepers", "keepers", 20, "no copy is made again when the device that had one has left"},
    {"releaseEarly", "keepers", "keepers", 20, "a copy goes before those that keep the partition have all of it"},
    {"pruneAlone", "keepers", "pruned", 40, "a copy is pruned before those that keep every entry have what goes"},
    {"anyBase", "keepers", "pruned", 200, "a new copy begins with a base that is not what the owner says"},
    {"neverFetch", "keepers liveness", "pruned", 40,
     "a copy that is to have every entry does not ask for what it pruned"},
    {"ignoreSites", "keepers", "keepers", 20, "copies are placed without a look at their sites"},
    {"swapDominance", kReplication, "calm", 5, "of two versions the newer one is dropped"},
    {"keepSuperseded", kReplication, "calm", 5, "what a new version's author had seen stays beside it"},
    {"reuseCounters", "alarms", "rollback", 50, "a device whose store went back goes on under its old writer"},
    {"ignoreScopes", "confinement", "calm", 10, "every peer may have every space"},
    {"sealNothing", "confinement liveness convergence", "keeper", 10,
     "what a device keeps that may not read it is not sealed"},
    {"sendBeforeFlush", kReplication, "gossip", 100, "frames leave before what they rest on is durable"},
    {"answerBeforeFlush", "no-decision-lost linearizability liveness answers", "owner-dies", 50,
     "a proposer is told before the decision is durable"},
    {"skipLedgerSync", "no-decision-lost linearizability no-request-lost liveness answers restart", "owner-dies", 20,
     "the log is written but not synced"},
    {"ignoreEpoch", "fences", "split-brain", 30, "an owner goes on although it has heard of a later epoch"},
    {"acceptOldEpoch", "liveness fences no-decision-lost", "split-brain", 10,
     "a replica gives way to an epoch that is over"},
    {"seizeSameEpoch", "fences no-decision-lost ledger-rules liveness", "split-brain", 50,
     "a seizure does not begin a new epoch"},
    {"serveOn", "answers fences ledger-rules liveness", "split-brain", 100,
     "an owner goes on deciding after it has handed the partition over"},
    {"decideUnowned", "liveness", "calm", 5, "any ledger replica decides"},
    {"skipBatch", "liveness fences", "lossy", 50, "a replica takes a batch that is not the next"},
    {"keepSurplus", "liveness", "split-brain", 20, "surplus entries of an epoch that is over stay in the log"},
    {"dropSurplusSilently", "no-decision-lost", "split-brain", 50, "they go without a report"},
    {"forgetOwnerName", "restart", "owner-dies", 20, "a device's name as an owner is not durable when others hear it"},
    {"forgetClaims", "restart", "handovers", 10, "the later epochs that a device has heard of are not durable"},
    {"followOldEpoch", "fences", "handovers", 200,
     "a follower takes entries of an epoch of which it has heard that it is over"},
    {"succeedAnyway", "fences", "handovers", 50,
     "a successor begins its epoch although somebody has seized the partition"},
    {"goOnBehind", "fences", "rollback", 20,
     "an owner whose disk went back goes on although others know more of its epoch"},
    {"ignoreFork", "liveness ledger-rules fences", "rollback", 20,
     "two logs of one epoch are not told apart by their roots"},
    {"neverParted", "liveness ledger-rules fences", "rollback", 20,
     "a batch is taken although it was written on top of another log"},
    {"shallowChain", "liveness ledger-rules fences", "rollback", 20,
     "logs of one length are taken for one log, whatever is in them"},
    {"noDedupe", "ledger-rules", "lossy", 5, "a repeated operation id is decided again"},
    {"noFreeze", "ledger-rules liveness crash", "calm", 20, "proposals are decided while one waits for the counselor"},
    {"skipRecheck", "ledger-rules", "split-brain", 300, "an invariant that does not pass is not looked at again"},
    {"escalateAsPass", "ledger-rules", "calm", 10, "an escalation is committed"},
    {"staleDecision", "linearizability", "split-brain", 100,
     "a counselor decides about something else than what was shown"},
    {"clockGoesBack", "linearizability ledger-rules", "clock-chaos", 300,
     "a partition's time follows the wall clock back"},
    {"bindNothing", "ledger-rules liveness", "calm", 10, "a run acts by several plans"},
    {"forgetNotPassing", "copies ledger-rules", "handovers", 100,
     "a copy does not know which invariants an unsafe commit left violated"},
    {"anyCounselor", "ledger-rules", "handovers", 50, "whoever says so is an authorised counselor"},
    {"forgetOutbox", "no-request-lost", "owner-dies", 20, "the outbox is not durable"},
    {"forgetWhenSent", "no-request-lost", "lossy", 5, "a proposal leaves the outbox when it is sent"},
    {"neverRetry", "liveness", "lossy", 5, "an unanswered proposal is not sent again"},
    {"freshOperationId", "liveness answers", "lossy", 5, "a retry goes out under a new operation id"},
    {"neverForget", "liveness", "calm", 5, "answered proposals stay in the outbox"},
    {"dropFrozen", "no-request-lost", "handovers", 100,
     "a request that was taken on ends when its entity is found frozen"},
    {"acceptUnseen", "market", "market", 60, "a buyer accepts without looking which statement the holder has"},
    {"acceptUnverified", "market", "market", 60, "a buyer takes evidence that fails a check"},
    {"forgetSteps", "market liveness", "market", 40, "what a buyer does next is not durable"},
    {"freezeCalls", "market", "market", 60, "a holder lets a ruling freeze calls whose time runs"},
    {"ignoreSecondOrder", "market", "market", 60, "a second order of a call goes unnoticed"},
    {"neverWatch", "market liveness", "market", 400,
     "a buyer never asks whether something was delivered behind its back"},
    {"runLate", "market", "market", 400, "a seller runs an order when its time is nearly over"},
    {"runUnpaid", "market", "market", 60, "a seller runs an order before the money is held"},
    {"showUnrecorded", "market", "market", 60, "a seller shows what it made before the delivery is on record"},
    {"noEtcdCompare", "ledger-rules fences no-decision-lost liveness", "etcd", 20,
     "a batch is put into etcd without comparing its owner and its place"},
    {"trustUnknown", "fences no-decision-lost liveness", "etcd", 20,
     "a transaction that etcd did not answer counts as done"},
    {"answerBeforeTxn", "no-decision-lost", "etcd", 20, "proposers are told before etcd has the batch"},
    {"noPredecessor", "no-decision-lost ledger-rules fences liveness", "etcd-busy", 20,
     "a batch is put into etcd without comparing that the one before it is there"},
    {"passOver", "no-decision-lost ledger-rules fences liveness", "etcd-busy", 20,
     "a batch that etcd refused behind another counts as done"},
    {"forgetAhead", "answers", "etcd-small", 10, "what is under way to etcd cannot be read until it is in the log"},
    {"letGoEarly", "no-decision-lost", "etcd", 60, "etcd lets go of a batch as soon as one device has it on its disk"},
    {"trimTooFar", "no-decision-lost", "etcd", 60, "etcd lets go of all but the newest batches, whoever has them"},
    {"dropRunLog", "runs", "agents", 5, "the end of a run is not recorded"},
    {"wakeTwice", "runs operations liveness", "agents", 50, "a run that has ended runs again"},
    {"noGrace", "runs", "agents", 40, "every device that hosts an agent runs its wakes at once"},
    {"lostWake", "runs", "agents", 20, "the wake queue is not durable"},
    {"ignorePause", "runs", "agents", 10, "an agent that is paused is woken"},
    {"graceFromArrival", "runs", "agents", 100,
     "what waits behind an earlier wake is not claimed, and taken over as if nobody had it"},
    {"onlyApproved", "runs", "watchers", 10, "what a counselor commits wakes nobody who watches the ledger"},
    {"overshare", "need-to-know", "agents", 5, "what the policy does not let out is not taken out of a payload"},
    {"keepReceipt", "need-to-know", "agents", 20, "a confirmation that was taken back counts"},
    {"linkInJournal", "agents-apart", "agents", 5, "a link of an agent stands in the journal beside its effect"},
    {"denyConfirmed", "episodes", "agents", 20, "what a person confirmed is denied all the same"},
    {"skipMarkerCheck", "operations", "agents", 20, "an operation whose record is there is carried out again"},
    {"recordBeforeApply", "operations", "agents", 50,
     "recovery records the outcome of an effect without looking for it"},
    {"compensateTwice", "sagas operations", "agents", 50, "each device compensates under an id of its own"},
    {"undoOnce", "operations", "everything", 100, "what arrives of an operation after its compensation stays"},
    {"endlessPoison", "liveness sagas", "agents", 5, "attempts are never given up"},
    {"retryRefused", "operations", "agents", 5, "what was refused for good is tried again"},
    {"earlyDisclosure", "ledger-rules", "domains", 20, "an embargo holds nobody back"},
    {"oneRunSuffices", "ledger-rules", "domains", 20, "a finding is verified by one reproduction"},
    {"noStatement", "ledger-rules", "domains", 20, "who is punished need not be told why"},
    {"lateCounselor", "ledger-rules", "everything", 400, "a counselor decides at the very end of the time"},
    {"decideExpired", "ledger-rules linearizability", "everything", 400,
     "a counselor decides what should have expired"},
    {"numberSuffices", "linearizability", "everything", 100,
     "a counselor's decision counts for another proposal that has the number of the one that was shown"},
    {"writeOnce", "effects", "undone", 20, "an agent does not write where it has written before"},
    {"digestWithoutPolicy", "need-to-know", "undone", 100, "a question does not say under which policy it was asked"},
    {"forgetLookCost", "operations", "agents", 50, "what a look cost beyond its estimate is not counted"},
    {"actByEntity", "no-decision-lost no-request-lost linearizability", "everything", 100,
     "a request is answered with another act under its id"},
    {"anyDecision", "no-decision-lost no-request-lost linearizability", "handovers", 100,
     "a counselor's decision is answered with another one under its id"},
    {"turnsOfAll", "runs", "agents", 10, "turns of all sessions with an agent count as one session's"},
    {"factWithoutKey", "runs", "watchers", 10, "facts of a ledger about different things wake one run"},
    {"slowRows", "liveness", "calm", 10, "new records are sent in one of twelve seconds"},
    {"anyDigest", "need-to-know", "agents", 10, "an answer counts whichever question it was given to"},
    {"approveLate", "need-to-know", "agents", 10, "an answer counts after its time"},
    {"openForEver", "liveness", "undone", 40, "a question stays open although its time is over"},
    {"keepLeftRow", "rows", "agents", 10, "where an agent left off is kept although all that came since was found"},
    {"consumeEarly", "runs", "agents", 40, "entries count as looked at before the wakes by them are durable"},
    {"ignoreStarter", "runs", "agents", 20, "a device does not wait for the one that has begun a run"},
    {"dropSecondTurn", "runs", "agents", 10, "a turn is not heard while the agent has another wake to come"},
    {"stopAtSame", "settled effects operations", "agents", 100,
     "what an operation writes after something that stands already is left out"},
    {"seizeBesideCopy", "no-decision-lost", "handovers", 40, "a partition is seized beside a copy that has more"},
    {"cutTooDeep", "no-decision-lost", "split-brain", 10, "a copy takes one batch more out of its log than it has to"},
    {"laterExpiry", "ledger-rules liveness", "everything", 200,
     "where an entry was copied from elsewhere a counselor has twice the time"},
    {"firstWakeOnly", "runs", "weeks", 10, "of several agents that one batch wakes only the first is woken"},
    {"firstSpaceOnly", "alarms no-write-lost convergence restart", "backup", 40,
     "of several spaces that went back with a disk only the first is noticed"},
    {"keepRestoredRow", "rows", "keeper", 40, "a space that was compared counts as restored after the next start"},
    {"ignoreUnheard", "convergence no-write-back", "everything", 40,
     "who has never acknowledged anything does not count when deletions are forgotten"},
    {"slowPush", "liveness", "calm", 10, "an owner sends new batches in one of twelve seconds"},
    {"keepOldAcks", "rows", "everything", 50, "what a former member acknowledged is kept"},
    {"ignoreSleep", "runs", "agents", 20, "an agent that sleeps is woken"},
    {"graphLaterGoOn", "graphs", "graphs", 100, "what comes after a span that died in its lane goes on"},
    {"graphAllGood", "graphs", "graphs", 20, "a run with dead letters ends as completed"},
    {"graphUnredacted", "graphs", "graphs", 100, "what leaves is what came, not what the verdict left of it"},
    {"pruneOneMore", "keepers", "pruned", 40, "a pruned copy keeps one entry fewer than it is to"},
    {"keepTookBack", "rows", "everything", 400, "what a repair took stays noted when it was looked at"},
    {"shownSpaceOnly", "restart", "everything", 200,
     "a device that a peer shows an older space takes the others for whole"},
    {"retiredIsWhole", "restart", "everything", 200,
     "a device that hears of its own retirement takes its spaces for whole"},
    {"keepInputs", "market", "market", 60, "a seller keeps what an order discloses that it declines"},
    {"payLateDispute", "market", "market", 200, "a dispute late in its window does not hold the payment up"},
    {"overrulePerson", "market", "market", 200, "a bundle that comes ends a person's dispute"},
    {"askAgain", "market", "market", 500,
     "a person's dispute that the holder finds too late or too early ends in an acceptance"},
    {"believeDecline", "market", "market", 200, "a seller is accused of what its holder alone has said"},
    {"accuseAnyway", "market", "market", 200, "a statement of another call counts as proof against its seller"},
    {"anyHold", "market", "market", 200, "a seller runs when money is held for another order"},
    {"anyAmount", "market", "market", 200, "a seller runs when less money is held than its order says"},
    {"blameSelf", "market", "market", 200, "a seller takes it upon itself that the holder refuses what verifies"},
    {"anyClock", "market", "market", 200, "a seller runs for a holder whose clock is another"},
    {"failFree", "graphs", "graphs", 60, "what attempts that fail spend does not count against the budget of the run"},
    {"redrivenStaysFailed", "graphs", "graphs", 200, "a lane whose dead message is sent again stays failed"},
    {"keepBegun", "rows", "pruned", 60, "what a copy began with stays when it has begun"},
    {"blamePerson", "episodes", "agents", 100, "a late answer, and one of a destroyed agent, is a person's refusal"},
    {"actPaused", "need-to-know", "agents", 100, "an agent that is paused does what was approved meanwhile"},
    {"forgetExcess", "runs", "weeks", 20,
     "what a look took beyond its estimate does not count against the day's budget"},
    {"keepFoldRow", "rows", "agents", 60, "the row of a fold stays when it is over"},
    {"forgetCursor", "rows", "watchers", 20, "how far a ledger was read is not kept"},
    {"countOnce", "runs", "weeks", 20, "of several uses of a capability in a run one counts against its rate"},
    {"backoffByClock", "liveness", "agents", 500,
     "an operation in backoff waits by the wall clock, however far that was set back while its device was off"},
    {"countFirst", "runs", "weeks", 20, "of several capabilities that share a rate the uses of the first count"},
    {"rateEach", "runs", "weeks", 20, "each of several capabilities that share a rate has all that is left of it"},
    {"waitForMarks", "retention", "weeks", 40, "marks of a clock that was ahead hold up the new ones until then"},
    {"ownLedgerAnywhere", "graphs", "heralds", 40,
     "what an entity of another domain that is called as the graph says begins no run"},
    {"keepDeadSeals", "rows", "everything", 100, "the row of a seal that proves nothing any more stays on the disk"},
    {"retiredKeepsName", "restart", "everything", 200, "a device that knows that it was retired goes on as it was"},
    {"anyContext", "absurd", "hostile-peer", 40, "what a version says to have seen is taken in, however much that is"},
    {"denyAllAfter", "episodes", "agents", 40, "after an action that failed all later ones are left out"},
    {"thinkAgain", "operations", "rivals", 60, "a run whose plan is known asks its model all the same"},
    {"abandonWaiting", "runs", "weeks", 60, "a run that waits for its budget on another device is begun here too"},
    {"unheardUntold", "runs", "agents", 60, "a person is not told that an agent did not hear"},
    {"doneUndone", "sagas", "agents", 60, "an operation that was undone is listed as completed"},
    {"keepFailures", "runs", "agents", 20, "a run that is completed ends no row of failures"},
    {"keepActivations", "graphs", "graphs", 20, "what agents were asked for stays when no span waits for it"},
    {"keepSealedParts", "rows", "keeper", 20, "of an encrypted copy that was replaced only the end goes"},
    {"entryToAll", "confinement", "everything", 100, "a device without ledgers gets whole entries with its answers"},
    {"keepHeldRow", "sagas rows", "agents", 60, "the row of what was put aside stays when a person has given it up"},
    {"seizeBesideOneMore", "no-decision-lost", "handovers", 60,
     "a partition is seized beside a copy that has one batch more"},
    {"seizeUnheard", "no-decision-lost", "handovers", 200,
     "a partition is seized beside a peer that was connected just now and has not said what it has"},
    {"cutCoarse", "no-decision-lost", "watchers", 200,
     "a log is cut up to three batches before the place where it parts"},
    {"restoredOwnOnly", "restart", "backup", 20,
     "of a disk that went back the spaces in which its device wrote nothing count as known to others"},
    {"ackBeyond", "liveness", "hostile-peer", 100, "an acknowledgement of more than there is counts"},
    {"anyPosition", "absurd", "hostile-peer", 10, "a peer's position of any epoch is believed"},
    {"anyYes", "need-to-know", "agents", 40, "an approval outweighs a denial"},
    {"keepSession", "confinement", "everything", 200, "a session goes on with a device that is retired"},
    {"keepRequestRow", "rows", "everything", 50, "the row of an answered request stays on the disk"},
    {"keepWakeRow", "rows runs", "everything", 50, "the row of a wake that has ended stays on the disk"},
    {"keepSagaRow", "rows sagas", "everything", 50, "the row of a saga that has ended stays on the disk"},
    {"keyFromWords", "runs", "everything", 50, "a run's key is made of what was said, not of when it was"},
    {"planAgain", "operations liveness", "everything", 400, "a run is planned although another device's plan is there"},
    {"claimNothing", "effects settled", "undone", 100,
     "what an operation found as it wanted it goes with the operation that wrote it"},
    {"undoToNothing", "effects operations", "undone", 200, "what stood before an undone operation does not come back"},
    {"forgetStop", "fences", "everything", 60,
     "that it was shown more of its epoch than it has does not survive a restart"},
    {"offerAgain", "rows", "agents", 40, "batches of the journal never count as delivered"},
    {"retiredOnce", "restart", "drawer", 100,
     "a device that was retired and admitted again is retired once more, and goes on as it was"},
    {"undoShared", "operations", "rivals", 60, "what a plan that lost shares with the one that survives is undone"},
    {"settleOnce", "settled", "contrary", 40, "what agents contradict each other about is settled once, and not again"},
    {"leaveConflicts", "settled", "undone", 100, "nobody is woken by a conflict of entries that agents wrote"},
    {"forgetAttempts", "sagas", "agents", 200, "a restart begins to count attempts again"},
    {"assumeCalled", "operations", "agents", 50, "a start takes a call that was under way for done"},
    {"parkSilently", "sagas", "agents", 200, "nobody is told of what is put aside"},
    {"keepRepeats", "effects", "undone", 400,
     "what one operation wrote on another device stands beside what was built upon it"},
    {"countRepeats", "operations", "undone", 100,
     "an agent check complains of what two devices that were cut off did once each"},
    {"forgetMissed", "runs", "agents", 200, "an agent never hears of what came while its device ran without it"},
    {"believeAnswers", "need-to-know", "agents", 50,
     "an answer reaches its agent although the policy's conditions refuse it"},
    {"anyAuthor", "runs", "agents", 50, "people's changes wake an agent that is for what agents write"},
    {"anyRate", "runs", "weeks", 3, "an agent uses a capability more often in an hour than it may"},
    {"ownTimers", "runs", "weeks", 3, "a timer goes by its description, whatever people set for all devices"},
    {"forgetEarly", "retention runs", "weeks", 3, "runs are forgotten before the horizon"},
    {"keepRuns", "retention", "weeks", 3, "no run is ever forgotten"},
    {"keepReplaced", "retention", "weeks", 3, "the transcript of a device stays whose run another one began anew"},
    {"expireWhenAsked", "liveness", "deadlines", 20,
     "what waits too long for a counselor expires only when somebody asks about it"},
    {"ignoreWinner", "operations", "rivals", 200,
     "a run goes on by its own plan although another device's is known to stand"},
    {"beginAgain", "sagas rows", "rivals", 40, "what was put aside begins again at a start"},
    {"beginAnew", "runs operations", "rivals", 40, "a run that is resumed begins from its beginning"},
    {"undoInOrder", "sagas", "rivals", 100, "what a plan did is undone first to last"},
    {"undoBelow", "sagas", "rivals", 200,
     "a write is undone although what the undoing of a later one did has not come"},
    {"forgetFolds", "memory liveness", "agents", 20,
     "a fold of memory that failed, or whose run gave nothing, is not tried again"},
    {"tellSuccess", "effects", "everything", 200, "a run is told that all of it was done"},
    {"approvedBefore", "need-to-know", "undone", 100, "what was approved under another policy counts"},
    {"seizeBesideMore", "no-decision-lost", "everything", 200,
     "a partition is seized beside its owner, or beside a copy that has more"},
    {"anyAct", "no-request-lost", "everything", 400, "an answer to another act under the same id counts"},
    {"anyMask", "need-to-know episodes", "agents", 40, "what is to be masked goes outside as it is"},
    {"anyFirstEpoch", "absurd", "hostile-peer", 100,
     "the first claim of a partition that is heard may be of any epoch"},
    {"anyEpoch", "absurd liveness fences assertion crash", "everything", 200, "a claim of any epoch is believed"},
    {"welcomeRetired", "confinement", "everything", 400, "a retired device that comes back is taken in"},
    {"waitBehind", "liveness", "weeks", 20, "what another device has put off keeps the wakes behind it from running"},
    {"graphValueAnywhere", "graphs", "graphs", 150, "a value is a duplicate of one in another lane"},
    {"graphKeepsDeadline", "graphs", "graphs", 150, "a run that goes on is stopped for the time it took before"},
    {"graphUndoesFirst", "graphs", "graphs", 150, "effects of a stopped run are undone first to last"},
    {"keepLate", "no-request-lost", "everything", 100, "a request that is to be kept at once is kept later"},
    {"fullDropsFacts", "runs", "watchers", 150, "a fact for which there is no room wakes nobody"},
    {"fullDropsWakes", "runs", "agents", 100, "a batch for which there is no room wakes nobody"},
    {"callAgain", "operations", "agents", 150, "a tool that would act again is called again after a stop"},
    {"recordBeforeBatch", "runs", "weeks", 20, "a run is forgotten while a device has the batch that woke it"},
    {"graphEndless", "graphs", "graphs", 20, "no bound holds a guarded edge back"},
    {"graphEcho", "graphs", "graphs", 20, "what a graph puts begins runs of it"},
    {"graphUnlocked", "graphs", "graphs", 20, "a lane delivers while a span of it is open"},
    {"graphUnheeded", "graphs", "graphs", 20, "what the monitor denies goes on all the same"},
    {"graphOpenGate", "graphs", "graphs", 20, "a denial is entered as an allowance"},
    {"graphFreshEffect", "graphs operations", "graphs", 20, "an effect has an operation of its own at each attempt"},
    {"graphForgetBody", "graphs liveness", "graphs", 300, "bodies are not durable before the entries that name them"},
    {"graphTwice", "graphs", "graphs", 20, "a message that comes again begins another run"},
    {"graphNewest", "graphs", "graphs", 20, "a lane delivers its newest message first"},
    {"graphAnyAnswer", "graphs", "graphs", 20, "a person's no counts as a yes"},
    {"graphUnchecked", "graphs", "graphs", 20, "an owner takes a deployment whose document lint refuses"},
    {"graphOldVersion", "graphs", "graphs", 200, "a run begins under a version that another has replaced"},
    {"graphWiden", "graphs", "graphs", 20, "an agent in a graph holds what its node does not grant"},
    {"claimUnsigned", "lies fences liveness", "liar", 400, "a claim counts without its owner's signature"},
    {"anyTaker", "lies fences liveness", "liar", 400, "whoever signs for it may take a partition over"},
    {"oldClaim", "lies restart", "liar", 400, "a claim of an earlier epoch counts when somebody repeats it"},
    {"anySeal", "lies", "liar", 400, "a batch counts although its owner did not seal it"},
    {"followBlindly", "lies ledger-rules", "liar", 400, "a copy does not make an owner's decisions again"},
    {"anyProposer", "lies", "liar", 400, "a copy does not look who signed the requests of entries"},
    {"requestUnsigned", "lies liveness", "liar", 400, "an owner decides what nobody has signed"},
    {"answerUnasked", "answers no-decision-lost no-request-lost", "liar", 400,
     "an answer of a device that was not asked counts"},
    {"answerWithoutEntry", "lies answers no-decision-lost", "liar", 400,
     "an answer counts without the entry that it is of"},
    {"anyHolder", "lies answers no-decision-lost", "liar", 400,
     "an answer counts whoever signed that the log has its entry"},
    {"ignoreHeads", "lies", "liar", 400, "a head that contradicts the copy goes unnoticed"},
    {"anyHead", "lies", "liar", 400, "a head counts whoever signed it"},
    {"anyProof", "lies liveness", "liar", 400, "two heads prove a lie whoever signed them"},
    {"truncateUnproven", "no-decision-lost ledger-rules lies fences", "liar", 400,
     "a copy gives up what a peer's position says is over, although no claim does"},
    {"positionUnsealed", "liveness lies", "liar", 400, "an owner stops when a peer says that it has more of its log"},
    {"accuseOwner", "lies", "liar", 400, "who sends a bad batch is not told from who owns the log"},
    {"anyCounter", "lies alarms convergence no-write-lost liveness", "liar", 400,
     "a counter is believed without its writer's seal"},
    {"trustNewcomers", "no-write-lost no-write-back convergence", "backup", 400,
     "nobody compares what a device got from an older copy"},
    {"tieBreak", "ledger-rules", "domains", 20,
     "of actions that collide the first executes, and nobody audits the epoch"},
};

constexpr StoryMutant kStories[] = {
    {"trustOldToken", "tests/replication/mutants",
     "a walk is resumed where it broke although something has come in below that place"},
    {"keepVoidToken", "tests/replication/mutants",
     "the place to resume from is kept from an attempt that a RETRY voids"},
    {"neverRegraft", "tests/replication/mutants", "who loses a link of the tree asks no other one at once"},
    {"ackUnheard", "tests/replication/mutants", "a peer's acknowledgements count before its statements are here"},
    {"replanOnRetry", "tests/agents/mutants", "a run that has a plan goes by the agent's new one"},
    {"effectBeforePlan", "tests/agents/mutants",
     "effects are permitted before the plan and their announcements are durable"},
    {"widenFork", "tests/agents/mutants", "a sub-episode gets what its parent does not hold"},
    {"forgetSpent", "tests/agents/mutants", "what is spent does not count"},
    {"anyRowSeal", "tests/node/cluster/mutants", "a row counts without the seal of the device that wrote it"},
    {"anyBeginner", "tests/node/cluster/mutants", "a copy does not look who signed the beginnings of entities"},
    {"anyBeginning", "tests/node/cluster/mutants", "nor whether they are of the fields that were asked for"},
    {"oneRun", "tests/node/cluster/mutants", "a device whose disk went back speaks as if it had not"},
    {"oneAdminSuffices", "tests/node/cluster/mutants", "one admin of several acts alone"},
    {"keepScopeKey", "tests/node/cluster/mutants", "a revocation begins no other key of a scope"},
    {"ackBeforeRow", "tests/saga/mutants", "the effect is made before the saga's row is durable"},
};

}  // namespace

std::span<const MutantCase> mutantCases() { return kCases; }

std::span<const StoryMutant> storyMutants() { return kStories; }

bool isMutant(std::string_view name) {
  return findMutantCase(name) != nullptr || std::any_of(std::begin(kStories), std::end(kStories),
                                                        [&](const StoryMutant& one) { return one.name == name; });
}

const MutantCase* findMutantCase(std::string_view name) {
  for (const MutantCase& one : kCases)
    if (one.name == name) return &one;
  return nullptr;
}

#ifdef WITAN_MUTANTS
bool mutantsCompiledIn() { return true; }
#else
bool mutantsCompiledIn() { return false; }
#endif

Status activateMutant(std::string_view name) {
  if (name == kNoMutant) {
#ifdef WITAN_MUTANTS
    activeMutant = MutantId();
#endif
    return okStatus();
  }
  if (!isMutant(name)) return invalid("there is no mutant " + inQuotes(name), "witan sim mutants --list names them");
#ifdef WITAN_MUTANTS
  activeMutant = MutantId(name);
  return okStatus();
#else
  return unavailable("this program has no broken variants", "use witan-sim");
#endif
}

// ---- the hunt: seeds of a scenario under a broken variant, until a checker that must notice it does

namespace {

// A variant that always fails otherwise would make for as many pools of workers as its budget has seeds.
constexpr unsigned kMostOthers = 8;

bool isListed(std::string_view words, std::string_view word) {
  return (concat(" ", words, " ")).find(concat(" ", word, " ")) != std::string::npos;
}

class Hunt {
 public:
  Hunt(const MutantCase& mutant, Scenario scenario, const HuntOptions& options)
      : scenario_(std::move(scenario)), options_(options) {
    out_.mutant = mutant;
    if (options.budget != 0) out_.mutant.budget = options.budget;
    if (!options.scenario.empty()) out_.mutant.scenario = options.scenario;
  }

  Result<MutantRun> run() {
    SeedRange range{1, out_.mutant.budget};
    for (unsigned others = 0; range.first <= range.last && others < kMostOthers; ++others) {
      JobsOptions jobs;
      jobs.jobs = options_.jobs;
      jobs.secondsPerSeed = 60;
      jobs.stopAtFailure = true;
      WITAN_TRY(result, runSeeds(
                            range, [this](std::uint64_t seed) { return broken(seed); }, jobs));
      const auto failed =
          std::ranges::find_if(result.seeds, [](const SeedResult& seed) { return seed.failure.has_value(); });
      if (failed == result.seeds.end()) break;
      WITAN_TRY(counts, judge(*failed));
      if (counts) break;
      range.first = failed->seed + 1;
    }
    return std::move(out_);
  }

 private:
  // In a worker: what it sets is lost with it.
  RunResult broken(std::uint64_t seed) const {
    const Status active = activateMutant(out_.mutant.name);
    WITAN_CHECK(active.ok(), "the variants are compiled in");
    return sound(seed);
  }
  RunResult sound(std::uint64_t seed) const {
    auto plan = drawPlan(scenario_, seed);
    WITAN_CHECK(plan.ok(), "a built-in scenario's plans can be drawn: " + plan.error().message);
    return sim::run(*plan);
  }

  Result<bool> judge(const SeedResult& failed) {
    const std::string& checker = failed.failure->checker;
    const bool first = out_.checker.empty();
    if (first) out_.checker = checker, out_.failure = *failed.failure;
    const std::string seed = concat("seed ", failed.seed);
    if (!isListed(out_.mutant.checkers, checker)) {
      if (first) out_.note = seed + " fails with " + checker + ": " + failed.failure->reason;
      return false;
    }
    WITAN_TRY(without, runIsolated([&] { return sound(failed.seed); }, 60));
    if (without.failure) {
      if (first) out_.note = seed + " fails without it too: " + without.failure->reason;
      return false;
    }
    out_.checker = checker;
    out_.failure = *failed.failure;
    out_.caughtAtSeed = failed.seed;
    return true;
  }

  Scenario scenario_;
  const HuntOptions& options_;
  MutantRun out_;
};

}  // namespace

Result<std::vector<MutantRun>> huntMutants(std::span<const MutantCase> cases, const HuntOptions& options) {
  std::vector<MutantRun> runs;
  for (const MutantCase& one : cases) {
    if (!mutantsCompiledIn()) WITAN_DO(activateMutant(one.name));
    WITAN_TRY(scenario, builtinScenario(options.scenario.empty() ? one.scenario : options.scenario));
    WITAN_TRY(run, Hunt(one, std::move(scenario), options).run());
    if (options.finished) options.finished(run);
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace witan::sim
