// Plan: what will happen in a run, as a list that can be kept, edited, shrunk and replayed. A seed alone dies with the
// next change of the code; a plan does not.
//
// Everything that chance decides outside of this list (a delay, which frame is lost) is drawn from streams of its own
// (per link, per store), so that taking one event out leaves the others as they are. Events that no longer make sense
// (a restart of a device that runs) do nothing: every subset of a plan is a plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/options.h"

namespace witan::sim {

// Micros of simulated time, from the start of the run.
using Micros = std::int64_t;

// `device` acts or suffers, `other` is the second one, `lasts` is how long; `n` and `m` choose, `seed` feeds whatever
// else the event needs. All choices are taken modulo what there is to choose from. sim/catalog.cpp says what each kind
// does and which members it looks at: work first; then faults, of the network, devices, disks and clocks, and
// operators.
WITAN_ENUM(EventKind, agentWrite, journalEdit, message, batch, record, removal, scopedWrite, propose, repeat, misuse,
           decide, request, turn, agentPause, confirm, approve, policyChange, deskEdit, clearUp, remark, slip,
           contradiction, marketOrder, graphSend, graphAct, graphDeploy, cut, oneWayCut, split, isolate, flap, clog,
           offline, crash, writeCrash, pause, loseDisk, restore, restoreLedgers, ioError, fullDisk, slowDisk, bitRot,
           clockJump, movePartition, seizePartition, retire, comeback, readmit, join, hostile, sagaCrash, toolOutage,
           engineOutage, marketDeath, marketSilence, marketClock, marketLie, lie)

inline constexpr EventKind kFirstFault = EventKind::cut;
inline bool isFault(EventKind kind) { return kind >= kFirstFault; }

// Kinds of lies (`n` of EventKind::lie). From kFirstOwnerLie on they are those of an owner.
WITAN_ENUM(Lie, claim, position, answer, acknowledgement, batch, replay, head, request, flood, proof, row, revocation,
           commits, unlawfulEntry, unsignedEntry, forgedEntry, secondHead, secondBatch, falseAnswer)
inline constexpr Lie kFirstOwnerLie = Lie::unlawfulEntry;

struct Event {
  WITAN_DECLARED(Event, (Micros, at), (EventKind, kind, EventKind::agentWrite), (std::uint32_t, device),
                 (std::uint32_t, other), (std::uint64_t, n), (std::uint64_t, m), (Micros, lasts), (std::uint64_t, seed))
};

struct Plan {
  Options options;
  std::vector<Event> events;  // by time
};

// More events than these are refused: about 200 MB of text.
inline constexpr std::size_t kMaxEvents = 4'000'000;

// The plan of options and their seed: events drawn at the rates of the options, each kind from a stream of its own, so
// that a rate which changes leaves the events of the other kinds as they were. Faults begin and heal within the safety
// phase, but for those that last: a lost disk, a disk that went back, a rotten byte, a retirement, a device more. Drawn
// faults stay within the budget (sim/plan_budget.h); `fixed` ones are taken as they are. Requires: checkOptions().
Plan makePlan(const Options& options, const std::vector<Event>& fixed = {});

// An event that a scenario repeats: `first`, and again each `every` after it until the run ends. What it does not say
// (what is 0) is drawn anew each time.
std::vector<Event> repeated(const Options& options, const Event& first, Micros every);

// With the end of the run nothing later is looked at. Errors: the event comes after it; with both times.
Status checkWithinRun(const Event& event, const Options& options);

// JSON Lines: {"plan":1,"options":{...}}, then one event a line (members that are zero are left out; empty lines are
// skipped). Errors name the line and the member. Events may stand in any order; they are sorted by time.
std::string writePlan(const Plan& plan);
Result<Plan> readPlan(std::string_view text);
void appendEvent(std::string& out, const Event& event);  // its line, without the end of line

}  // namespace witan::sim
