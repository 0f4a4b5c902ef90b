#include "sim/catalog.h"

#include <algorithm>

#include "base/check.h"
#include "market/testing/market_world.h"
#include "replica/core/replica_config.h"
#include "sim/sim_agents.h"

namespace witan::sim {

namespace {

constexpr EventInfo kEvents[] = {
    {EventKind::agentWrite, &WorkOptions::agentWrites, "changes one slot of agent n's state", "n, m"},
    {EventKind::journalEdit, &WorkOptions::journalEdits, "edits journal entity n", "n"},
    {EventKind::message, &WorkOptions::messages, "says something in the name of agent n", "n"},
    {EventKind::batch, &WorkOptions::batches, "an edit together with a notification batch", "n, m"},
    {EventKind::record, &WorkOptions::summaries, "a summary, a wake run or a link, by n", "n"},
    {EventKind::removal, &WorkOptions::removals, "removes agent n's state", "n"},
    {EventKind::scopedWrite, &WorkOptions::scopedWrites, "writes into private scope n, if the device may have it", "n"},
    {EventKind::propose, &WorkOptions::proposals, "proposes a plausible act for entity n of domain m", "n, m"},
    {EventKind::repeat, &WorkOptions::repeats, "the n-th last proposal of this device again, under its operation id",
     "n"},
    {EventKind::misuse, &WorkOptions::misuses, "what a buggy agent would send: the n-th kind of it", "n"},
    {EventKind::decide, &WorkOptions::decisions, "a counselor decides about the n-th pending proposal", "n"},
    {EventKind::request, &WorkOptions::requests,
     "an entry that wakes an agent, often with a proposal for entity n of domain m", "n, m"},
    {EventKind::turn, &WorkOptions::turns, "something said to an agent of this device", ""},
    {EventKind::agentPause, &WorkOptions::agentPauses, "agent n is paused everywhere; woken again if m is odd", "n, m"},
    {EventKind::confirm, &WorkOptions::confirmations,
     "a person confirms that the clerk may mail, or takes that back if n is odd", "n"},
    {EventKind::approve, &WorkOptions::approvals,
     "a person answers the n-th question of an agent; if m is 0 modulo 6 about something else", "n, m"},
    {EventKind::policyChange, &WorkOptions::policyChanges,
     "another version of the policy over payments, on this device", ""},
    {EventKind::deskEdit, &WorkOptions::deskEdits,
     "a person edits, settles or removes entry n of those that agents write too", "n, m"},
    {EventKind::clearUp, &WorkOptions::clearUps,
     "people take away entries older than the horizon and a week, and give up what agents put aside", ""},
    {EventKind::remark, &WorkOptions::remarks, "something told to the agent of this device that remembers", ""},
    {EventKind::slip, &WorkOptions::slips,
     "a request on which an agent writes one entry twice, and mails or pays in between", ""},
    {EventKind::contradiction, &WorkOptions::contradictions,
     "a request on which an agent writes entry n of three that only agents write", "n"},
    {EventKind::marketOrder, &WorkOptions::marketOrders, "the buyer of the market orders a call", ""},
    {EventKind::graphSend, &WorkOptions::graphSends, "a message at the ingress of the graph; if n is 0 modulo 6 again",
     "n, m"},
    {EventKind::graphAct, &WorkOptions::graphActs,
     "a person answers what a run of the graph asks, by n; or cancels a run, or sends a dead letter again", "n, m"},
    {EventKind::graphDeploy, &WorkOptions::graphDeploys, "the next version of the graph", ""},
    {EventKind::cut, &FaultOptions::cuts, "nothing passes between device and other", "other, lasts", true},
    {EventKind::oneWayCut, &FaultOptions::oneWayCuts, "nothing passes from device to other; the way back is open",
     "other, lasts", true},
    {EventKind::split, &FaultOptions::splits,
     "the devices whose bit is set in n (or the list devices) are cut off from the rest", "n, lasts", true},
    {EventKind::isolate, &FaultOptions::isolations, "nothing passes between device and anybody", "lasts", true},
    {EventKind::flap, &FaultOptions::flaps, "the link to other goes down and up every m milliseconds",
     "other, m, lasts", true},
    {EventKind::clog, &FaultOptions::clogs, "the link to other holds everything back, then lets it through at once",
     "other, lasts", true},
    {EventKind::offline, &FaultOptions::offlines, "as isolate, for hours, days or months", "lasts", true},
    {EventKind::crash, &FaultOptions::crashes, "power loss: what was not synced is lost, or some of it", "lasts"},
    {EventKind::writeCrash, &FaultOptions::writeCrashes,
     "power loss in the middle of one of the next writes of store m", "n, m, lasts"},
    {EventKind::pause, &FaultOptions::pauses, "frozen with all it holds, then goes on as if nothing had happened",
     "lasts"},
    {EventKind::loseDisk, &FaultOptions::diskLosses, "power loss, and the disk is gone: it comes back empty", "lasts"},
    {EventKind::restore, &FaultOptions::restores,
     "its disk goes back to the copy; if m is 1, or there is none, makes it", "m, lasts, seed"},
    {EventKind::restoreLedgers, &FaultOptions::ledgerRestores,
     "its store of the ledgers alone goes back to the copy; if m is 1, makes it", "m, lasts"},
    {EventKind::ioError, &FaultOptions::ioErrors,
     "one of the next writes of store m fails, and the device must start again", "n, m"},
    {EventKind::fullDisk, &FaultOptions::fullDisks, "every write fails", "lasts", true},
    {EventKind::slowDisk, &FaultOptions::slowDisks, "a sync takes a hundred times as long", "lasts", true},
    {EventKind::bitRot, &FaultOptions::bitRots, "one bit of one stored record of the ledgers flips", "n, seed"},
    {EventKind::clockJump, &FaultOptions::clockJumps, "its wall clock jumps by n milliseconds; back if m is 1", "n, m"},
    {EventKind::movePartition, &FaultOptions::moves, "an operator hands partition n of domain m over to other",
     "other, n, m"},
    {EventKind::seizePartition, &FaultOptions::seizures, "an operator at device takes partition n of domain m", "n, m"},
    {EventKind::retire, &FaultOptions::retirements, "an operator at device retires other", "other"},
    {EventKind::comeback, &FaultOptions::comebacks,
     "the n-th retired device is switched on again until the run settles; only once all know that it is retired", "n"},
    {EventKind::readmit, &FaultOptions::readmissions,
     "an operator at device admits the n-th retired device again that is switched on and has heard that it is retired",
     "n"},
    {EventKind::join, &FaultOptions::joins, "a new device, admitted by device", ""},
    {EventKind::hostile, &FaultOptions::hostiles, "device sends other garbage, repeated and cut frames",
     "other, lasts"},
    {EventKind::sagaCrash, &FaultOptions::sagaCrashes,
     "power loss at one of the next writes of store m (0, 1) while a saga is under way", "n, m, lasts"},
    {EventKind::toolOutage, &FaultOptions::toolOutages, "no tool outside answers the agents of device", "lasts", true},
    {EventKind::engineOutage, &FaultOptions::engineOutages, "n members of etcd are gone", "n, lasts", true},
    {EventKind::marketDeath, &FaultOptions::marketDeaths, "the process of organisation n ends at the m-th next write",
     "n, m"},
    {EventKind::marketSilence, &FaultOptions::marketSilences, "organisation n hears and does nothing", "n, lasts",
     true},
    {EventKind::marketClock, &FaultOptions::marketClocks, "the clock of organisation n is m seconds off", "n, m"},
    {EventKind::marketLie, &FaultOptions::marketLies, "who lies in the market tells the n-th lie of that party", "n"},
    {EventKind::lie, &FaultOptions::lies, "the device that lies tells the n-th kind of lie (sim/run/liar.h)",
     "n, seed"},
};
static_assert(std::size(kEvents) == enumNames<EventKind>().size());

constexpr CheckerInfo kCheckers[] = {
    // --- at every moment
    {"confinement", "No byte of a scope, or of a ledger, reaches a device that may not have it."},
    {"bounded-memory", "A device holds back only so much: its inbox, its queues and its buffers stay within bounds."},
    {"store", "What a device wrote it can read again, until its disk fails."},
    {"bit-rot", "A device whose log has a changed bit notices when it starts, or when it verifies the ledger."},
    {"restart",
     "A device whose disk is whole starts as the one it was: its name as an owner, the later epochs it had heard of."},
    {"copies",
     "A copy of a ledger, decided, followed or read, holds the state of each entity that the others hold, and knows "
     "which invariants are violated in it."},
    {"need-to-know",
     "What agents send outside holds nothing but what the policy lets out, where somebody has confirmed that it may; "
     "and "
     "nothing comes back to them that its conditions refuse."},
    // --- when everything has come to rest
    {"liveness",
     "Once faults have ended, everything that is pending is done within settleSeconds; and who owns a partition never "
     "puts off what its own people ask of it. No run waits for an answer whose time is over."},
    {"convergence", "Devices that share a scope hold the same versions of the same records."},
    {"no-write-lost",
     "What was durable on a disk that was not lost is still there, or was overwritten by somebody who had seen it."},
    {"no-write-back", "What somebody had seen and wrote over, or removed, is nowhere any more."},
    {"absurd", "Who is told of an epoch that cannot be ends the connection."},
    {"alarms",
     "While all disks are whole no device notices equal vectors with unequal contents, one dot with two bodies, or a "
     "counter used twice."},
    {"no-request-lost", "What a device took on durably was answered, or is refused for a reason that is told."},
    {"rows",
     "A device that starts from its disks knows what it knows now: nothing is missing there, nothing left over."},
    {"settled", "No entry that only agents wrote stays in conflict once the devices have met."},
    {"memory",
     "An agent that remembers holds what it was told once, in its summary or beside it; a fold that came to nothing "
     "has "
     "a next attempt, and none is asked for again that was answered."},
    {"effects",
     "What stands of a run's work is there, or was replaced by somebody who had seen it; a run that says it did all of "
     "it "
     "did."},
    {"graphs",
     "Each run of a graph ends or waits for a person, its guards hold, lanes keep their order, nothing crosses a "
     "boundary unjudged, each effect is there once, and no agent calls what its node does not grant."},
    {"retention",
     "Where runs are forgotten after a horizon, none is earlier; and no device keeps more of them from week to week."},
    {"agents-apart", "The journal holds nothing of what agents keep for themselves."},
    {"runs",
     "What should wake an agent does, once among devices that see each other, and nothing else does; no run begins "
     "after its end or while the agent is paused, each that began ends, and none goes beyond a rate."},
    {"operations",
     "Each is one of its run's plan, is carried out once by a device, and has an effect if and only if it has an "
     "outcome; of several plans for a run one stands."},
    {"episodes",
     "A run was let do what its agent is meant to do, and no more; it heard what tools said, was charged what that "
     "cost, and came to nothing only where something was in its way."},
    {"sagas", "Each ends, or is put aside for a person; what is undone is undone once."},
    {"ledger-rules",
     "Every ledger, decided again from its beginning, gives what was recorded; all copies are one log."},
    {"lies",
     "Where a device lies, nobody honest takes in what it may not say, or accuses anybody else; what came of a lie "
     "left "
     "evidence against it."},
    {"market",
     "Money between organisations is conserved; a call is settled once, and paid for what its seller has signed and "
     "its "
     "buyer has not refused; each lie leaves proof against the liar, and nobody else is accused."},
    {"fences",
     "No epoch has two owners, nothing of an epoch that was over stands in the log, a log in etcd never has a gap, and "
     "who knows that an epoch is over neither decides nor takes anything more in it."},
    {"keepers",
     "Each partition has as many copies as it should, each with the whole log, at as many sites as there can be."},
    {"no-decision-lost",
     "What somebody was told is decided stands in the log, or was set aside and reported; etcd lets go of nothing that "
     "too few disks hold."},
    {"answers", "What clients were told is what stands in the ledger, in an order that fits who asked when."},
    {"linearizability", "One order of all operations, which real time allows, explains every answer."},
    // --- about the run itself
    {"determinism", "The same plan gives the same run, step by step."},
    {"assertion", "No assertion of the code that is simulated fails."},
    {"crash", "The code that is simulated does not crash."},
    {"hang", "A run ends."},
    {"scenario", "Every seed of a scenario draws options that can be simulated."},
};

// Counted by the cluster, its workloads, faults and checkers, the network and etcd.
constexpr const char* kCounted[] = {"absurd context",
                                    "absurd frame",
                                    "absurd frame heard",
                                    "acknowledged beyond the log",
                                    "admitted again",
                                    "another decision under its name",
                                    "another digest with the right number",
                                    "answer about something else",
                                    "answer after its time",
                                    "answer of another act",
                                    "answer that is refused",
                                    "answer without ledgers",
                                    "approved",
                                    "approved and denied at once",
                                    "bit rot beside the log",
                                    "bit rot found",
                                    "budget of a run spent",
                                    "call of a tool that is called once",
                                    "call of a tool that is called once, by two that are cut off",
                                    "clock set ahead while off",
                                    "clock set back while off",
                                    "commit refused",
                                    "conflict for a person at the end",
                                    "conflict of agents at the end",
                                    "connection dies",
                                    "contradiction of agents",
                                    "contradiction of agents settled",
                                    "copy given up",
                                    "copy pruned",
                                    "copy pruned at the end",
                                    "counselor at the time limit",
                                    "decision by no counselor",
                                    "decision lost with its disk",
                                    "denial on record",
                                    "desk edited",
                                    "desk in conflict",
                                    "desk settled",
                                    "disk given up",
                                    "effect claimed by several operations",
                                    "entry by a person that wakes no agent",
                                    "entry written twice by a plan",
                                    "etcd applied without an answer",
                                    "etcd connection dies",
                                    "etcd has a leader",
                                    "etcd lets go of batches",
                                    "etcd without a leader",
                                    "fact of a ledger",
                                    "frame lost",
                                    "frame overtaken",
                                    "frame repeated",
                                    "graph: after_failure",
                                    "graph: answer that does not count",
                                    "graph: attempts_exhausted",
                                    "graph: begun by a ledger",
                                    "graph: broken version",
                                    "graph: cancelled",
                                    "graph: collect_incomplete",
                                    "graph: dead letter sent again",
                                    "graph: denied",
                                    "graph: effect",
                                    "graph: effect undone",
                                    "graph: guard_bound",
                                    "graph: guard_measure",
                                    "graph: human_denied",
                                    "graph: human_timeout",
                                    "graph: max_out",
                                    "graph: message refused",
                                    "graph: message repeated",
                                    "graph: new version",
                                    "graph: run",
                                    "graph: run_bound",
                                    "graph: schema",
                                    "graph: terminal_failure",
                                    "graph: timed_out",
                                    "level of a week",
                                    "linearizability undecided",
                                    "looked for a late update",
                                    "looked for what is late",
                                    "mail goes out",
                                    "mails not confirmed",
                                    "market call refunded",
                                    "market call released",
                                    "market person says: accept",
                                    "market person says: dispute",
                                    "market ruling for a part",
                                    "market ruling for nothing",
                                    "member of etcd gone",
                                    "memory folded",
                                    "nobody works any more",
                                    "not admitted again",
                                    "not seized while another tells of more",
                                    "one operation of two plans",
                                    "operation carried out by several devices",
                                    "operation undone",
                                    "liar: base told",
                                    "liar: entries refused",
                                    "liar: log cut",
                                    "liar: second batch taken",
                                    "old entry taken away",
                                    "orphan not seized",
                                    "orphan seized",
                                    "pardoned",
                                    "paused amid a run and resumed",
                                    "partition handed to the liar",
                                    "partition not handed to the liar",
                                    "plan of another device arrives",
                                    "policy changed",
                                    "power fails after something was put aside",
                                    "power fails in a saga",
                                    "question asked",
                                    "put aside and given up",
                                    "rate of an hour",
                                    "request refused at the door",
                                    "request repeated",
                                    "request repeated elsewhere",
                                    "retired device lingers",
                                    "retired device returns",
                                    "retirement of a device that lingers is known",
                                    "run begins with a plan",
                                    "run begun in a step that broke off",
                                    "run started",
                                    "run within the horizon",
                                    "run started by several devices",
                                    "run with several plans",
                                    "saga put aside",
                                    "seized while another tells of more",
                                    "seizure judged",
                                    "start refused",
                                    "start without an agent",
                                    "state at the end of a run",
                                    "started from an older copy",
                                    "seizure beside a device that has said nothing",
                                    "cut judged",
                                    "plan known before its run",
                                    "first run of the day",
                                    "another run of the day",
                                    "approved while its agent is paused",
                                    "hears of its own retirement",
                                    "is shown that its disk went back",
                                    "store failed",
                                    "surplus tail",
                                    "transcript read",
                                    "turn repeated",
                                    "turn that the policy bars",
                                    "violated after an unsafe commit"};

// Kinds of replication::Incident and node::Notice. Both are open: texts of their reporters.
constexpr const char* kIncidents[] = {
    "badBatch",      "badCopy",        "baseDiffers",  "badEntries",     "cannotUndo",    "contradiction",
    "damagedLedger", "digestAlarm",    "equivocation", "falseAnswer",    "falsePosition", "forgedName",
    "forgedRow",     "fork",           "forkProven",   "graph",          "graphBody",     "graphLoop",
    "headDiffers",   "newIncarnation", "olderCopy",    "otherRules",     "quarantine",    "rolledBack",
    "surplus",       "unlawful",       "unsigned",     "unsignedAnswer", "wentBack"};
constexpr const char* kNotices[] = {"agent answer",   "agent failed",  "agent folded",   "agent needsAttention",
                                    "agent question", "agent unheard", "badFrame",       "baseRefused",
                                    "claimRefused",   "contradiction", "copyBegun",      "damagedLedger",
                                    "evidence",       "falseAnswer",   "falsePosition",  "forgedName",
                                    "fork",           "forkProven",    "graph",          "graphBody",
                                    "handover",       "headDiffers",   "headsNotSigned", "notAllowed",
                                    "otherEngine",    "otherRules",    "owner",          "proposerUnknown",
                                    "pruned",         "released",      "seizure",        "session ends",
                                    "surplus",        "tooLarge",      "unlawful",       "unsigned",
                                    "wentBack",       "wholeAgain"};

std::vector<std::string> allNames() {
  std::vector<std::string> names(std::begin(kCounted), std::end(kCounted));
  for (const char* kind : kIncidents) names.push_back(concat("incident: ", kind));
  for (const char* kind : kNotices) names.push_back(concat("notice: ", kind));
  for (const char* kind : {"falseAnswer", "forgedName", "forgedRow", "fork", "unlawful", "unsigned"})
    names.push_back(concat("evidence: ", kind));
  for (const std::string_view says : enumNames<ToolSays>()) names.push_back(concat("tool: ", says));
  for (const std::string_view lie : enumNames<Lie>()) names.push_back(concat("lie: ", lie));
  for (const std::string_view lie : enumNames<market::MarketLie>()) names.push_back(concat("market lie: ", lie));
  for (const char* kind : {"clock", "equivocation", "evidence", "flood", "silent", "wider"})
    names.push_back(concat("market incident: ", kind));
  for (const std::string_view name : enumNames<EventKind>())
    if (isFault(*parseEnum<EventKind>(name))) names.push_back(concat("fault: ", name));
  for (const EventKind kind :
       {EventKind::movePartition, EventKind::seizePartition, EventKind::retire, EventKind::readmit, EventKind::join})
    for (const char* how : {" done", " refused"}) names.push_back(concat(enumName(kind), how));
  forEachMember<node::ReplicaCounters>([&](auto member, auto) { names.emplace_back(member.name); });
  forEachMember<node::EtcdCounters>([&](auto member, auto) { names.push_back(concat("etcd ", member.name)); });
  std::ranges::sort(names);
  return names;
}

// By how their names begin.
struct Unreached {
  std::string_view probes, why;
};
constexpr Unreached kUnreached[] = {
    {"level of a week", "ten minutes have no week; the scenarios weeks and year"},
    {"old entry taken away", "ten minutes have no week; the scenarios weeks and year"},
    {"put aside and given up", "ten minutes have no week; the scenarios weeks and year"},
    {"rate of an hour", "ten minutes have no week; the scenarios weeks and year"},
    {"run within the horizon", "ten minutes have no week; the scenarios weeks and year"},
    {"graph: begun by a ledger", "its ledgers are not among those of everything; the scenario heralds"},
    {"contradiction of agents", "no request of everything asks for one; the scenario contrary"},
    {"fault: readmit", "who is retired stays so; the scenario drawer"},
    {"readmit ", "likewise"},
    {"etcd ", "operators name the owners here; the scenarios etcd, etcd-busy and etcd-small reach it"},
    {"fault: engineOutage", "there is no etcd; the scenarios of etcd reach it"},
    {"member of etcd gone", "there is no etcd; the scenarios of etcd reach it"},
    {"request repeated elsewhere", "only where copies are ahead of their logs; the scenarios of etcd reach it"},
    {"notice: otherEngine", "all devices have one engine; tests/replica has two"},
    {"market incident: flood", "no desk asks so often; tests/market floods one"},
    {"notice: otherRules", "no run has a rule file; tests/replica has two versions of one"},
    {"incident: otherRules", "no run has a rule file; tests/replica has two versions of one"},
    {"fault: offline", "hours are too long for ten minutes; month-offline reaches it"},
    {"notice: proposerUnknown", "all devices of a run know all keys; tests/replica/names_test.cpp"},
    {"notice: headsNotSigned", "what a device of a run signed it can always note; tests/replica/heads_test.cpp"},
    {"copiesMade", "all ledger replicas of a run keep all; tests/replica/keepers_histories_test.cpp"},
    {"copiesReleased", "likewise"},
    {"copy given up", "likewise"},
    {"notice: released", "likewise"},
    {"copiesPruned", "no copy of a run prunes; the scenario pruned reaches it"},
    {"copy pruned", "likewise"},
    {"notice: pruned", "likewise"},
    {"notice: wholeAgain", "likewise"},
    {"copiesBegun", "likewise"},
    {"notice: copyBegun", "likewise"},
    {"basesRefused", "likewise"},
    {"notice: baseRefused", "likewise"},
    {"incident: baseDiffers", "likewise"},
    {"liar: base told", "likewise"},
    {"pastRefused", "who gives old batches back is honest; tests/replica/pruning_test.cpp"},
    {"memory folded", "nobody tells an agent anything to remember; the scenario agents reaches it"},
    {"notice: agent folded", "nobody tells an agent anything to remember; the scenario agents reaches it"},
    {"notice: graph", "no runtime makes a step that its ledger rejects"},
    {"incident: graph", "likewise; tests/replica"},
    {"incident: graphLoop", "a chain of eight runs; tests/replica"},
    {"graph: effect undone", "a run of the graph ends with its effect, before anybody can cancel it; tests/replica"},
    {"graph: run_bound", "a loop of the graph ends before its deliveries do; tests/graph"},
    {"graph: terminal_failure", "the agent of the graph plans nothing that fails for good; tests/replica"},
    {"notAllowed", "who may ask what is the daemon's rule, which is not simulated; tests/node"},
    {"notice: notAllowed", "who may ask what is the daemon's rule, which is not simulated; tests/node"},
    {"notice: tooLarge", "no simulated action is so large; tests/replica"},
    {"incident: cannotUndo",
     "two cut-off devices must be answered yes and no on one effect: one in some hundred seeds"},
    {"incident: badBatch", "nobody forges batches that can be read; tests/agents"},
    {"incident: equivocation", "nobody forges versions; tests/replication"},
    {"commit refused", "what is written is well formed; a defence of the workloads"},
    {"linearizability undecided", "no history has been too long for the search; a defence of the checker"},
    {"orphan not seized", "operators seize where most of a log is; a defence of the settling phase"},
    {"admitted again", "power must fail within a moment of a join: one in some thousand seeds"},
    {"not admitted again", "power must fail within a moment of a join, twice"},
    {"incident: damagedLedger", "rot is found before the next start; tests/node damages one ledger"},
    {"notice: damagedLedger", "likewise"},
    {"disk given up", "rot is found before the next start; a torn log of RocksDB reaches it"},
    {"start refused", "a disk must fail while a device starts: one in some thousand seeds"},
    {"surplus tail", "one epoch must be truncated twice on a device: one in some thousand seeds"},
};

}  // namespace

const EventInfo& eventInfo(EventKind kind) {
  const EventInfo& info = kEvents[static_cast<std::size_t>(kind)];
  WITAN_CHECK(info.kind == kind, "the list is in the order of EventKind");
  return info;
}

std::span<const CheckerInfo> checkers() { return kCheckers; }

std::string_view checkerPromise(std::string_view name) {
  for (const CheckerInfo& checker : kCheckers)
    if (checker.name == name) return checker.promise;
  return {};
}

std::string_view whyNever(std::string_view probe) {
  for (const Unreached& one : kUnreached)
    if (probe.starts_with(one.probes)) return one.why;
  return {};
}

const std::vector<std::string>& probeNames() {
  static const std::vector<std::string> names = allNames();
  return names;
}

}  // namespace witan::sim
