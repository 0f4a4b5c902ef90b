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
// else the event needs. All choices are taken modulo what there is to choose from.
WITAN_ENUM(EventKind,
           // --- work
           agentWrite,   // of agent n: change number m
           journalEdit,  // of entity n
           message,      // of agent n
           batch,        // an edit of entity n with a notification batch
           record,       // the other kinds: summary, plan, wake run, policy, by n
           removal,      // of agent or entity n
           scopedWrite,  // in private scope n
           propose,      // for entity n of domain m
           repeat,       // the n-th last proposal of this device again, under its id
           misuse,       // the n-th kind of misuse
           decide,       // a counselor about the n-th pending proposal that this device knows
           request,      // an entry that wakes an agent; about entity n of domain m
           turn,         // something said to an agent of this device
           agentPause,   // agent n is paused; m odd: woken again
           confirm,      // a person lets the clerk mail; n odd: takes that back
           // --- network; ends after `lasts`
           cut,        // device | other
           oneWayCut,  // device -> other
           split,      // devices whose bit is set in n | the others
           isolate,    // device | everybody else
           flap,       // device | other, up and down every m milliseconds
           clog,       // device | other
           offline,    // as isolate, for long
           // --- devices
           crash,           // power loss; starts again after `lasts`
           writeCrash,      // power loss at the n-th next write step of store m; starts again after `lasts`
           pause,           // goes on after `lasts`
           loseDisk,        // power loss, and the disk is gone; starts again after `lasts`
           restore,         // stops; its disks go back to the copy; m = 1, or none was made yet: makes it
           restoreLedgers,  // the same of the ledgers' store alone
           // --- disk
           ioError,   // the n-th next write step of store m fails
           fullDisk,  // every write fails for `lasts`
           slowDisk,  // for `lasts`
           bitRot,    // one byte of one record of store m
           // --- time
           clockJump,  // by n milliseconds, m = 1: back
           // --- operators
           movePartition,   // n of domain m to `other`
           seizePartition,  // n of domain m, by `device`
           retire,          // `other`, by `device`
           join,            // a new device, admitted by `device`
           // --- the rest
           hostile,       // `device` says absurd things to `other` for `lasts`
           sagaCrash,     // power loss at the n-th next write step of store m while a saga is under way; starts again
           toolOutage,    // no tool outside answers the agents of `device` for `lasts`
           engineOutage)  // n members of etcd are gone for `lasts`

inline constexpr EventKind kFirstFault = EventKind::cut;
inline bool isFault(EventKind kind) { return kind >= kFirstFault; }

struct Event {
  Micros at = 0;
  EventKind kind = EventKind::agentWrite;
  std::uint32_t device = 0;
  std::uint32_t other = 0;
  std::uint64_t n = 0;
  std::uint64_t m = 0;
  Micros lasts = 0;
  std::uint64_t seed = 0;
  WITAN_MEMBERS(Event, at, kind, device, other, n, m, lasts, seed)
  friend bool operator==(const Event&, const Event&) = default;
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

// JSON Lines: {"plan":1,"options":{...}}, then one event a line (members that are zero are left out; empty lines are
// skipped). Errors name the line and the member. Events may stand in any order; they are sorted by time.
std::string writePlan(const Plan& plan);
Result<Plan> readPlan(std::string_view text);
void appendEvent(std::string& out, const Event& event);  // its line, without the end of line

}  // namespace witan::sim
