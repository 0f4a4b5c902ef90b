// The view of an agent's state: a symmetric pure function of the snapshots that no other one supersedes.
//
// Seed 003 merges two snapshots at a time and keeps the result. That is not associative, and two replicas that got the
// same snapshots in another order differ for ever under equal clocks (docs/FINDINGS.md, F1). So a replica keeps the
// snapshots themselves, only the maximal ones, and folds all of them at once whenever somebody looks. For two
// concurrent snapshots the fold is 003's section 4.2. Never write a view back by itself: only an agent's own change
// supersedes what it saw.
//
// Pure functions, no clock (F2), any thread; arguments are borrowed for the call.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replication/records/agent_state.h"
#include "replication/vector_clock.h"

namespace witan::replication {

// The known messages that pointers refer to. Replicas that have received the same messages answer alike.
class MessageAncestry {
 public:
  struct Message {
    std::uint64_t counter = 0;
    std::string host;
  };

  virtual ~MessageAncestry() = default;
  // The counter and host of the commit that wrote a message; none if it has not arrived.
  virtual std::optional<Message> find(std::string_view id) const = 0;
  // Whether `ancestor` comes before `descendant` by the parent links. Asked of two different messages that arrived.
  virtual bool isAncestor(std::string_view ancestor, std::string_view descendant) const = 0;
};

struct AgentView {
  VectorClock vc;  // the join
  AgentState state;

  friend bool operator==(const AgentView&, const AgentView&) = default;
};

// The versions that no other one's context strictly dominates (003, section 1.2), by dot, each once. Whatever the
// order of the argument. Errors: conflict, naming the smallest dot that was used for two contents (equivocation).
// O(n log n) and, for each version, the maximal ones that cover its dot: of honest writers there is at most one a
// writer.
Result<std::vector<Version>> maximal(std::vector<Version> versions);

// The view of an antichain, in any order:
//   vc, processed counters, failures, sleepUntil, firedThrough: the maximum (003, section 4.2, rules 1, 4 and 6);
//   lifecycle: the highest precedence (rule 2);
//   slot: the highest version, then the larger host, then the larger value (rule 5; no two honest writers get there);
//   mode: interactive before autonomous; of each timer the highest firedThrough, and of its settings as of a slot's;
//   nextWakeAt: the smallest above the joined firedThrough, else none (rule 6, with F2 for "future");
//   pointer: among the messages that arrived and are no ancestor of another candidate, the only one, else the largest
//   (counter, host, id); if none has arrived, the largest id (rule 3).
// Without `ancestry` no message has arrived. O(n log n), and n^2 questions of ancestry for n different pointers.
// Requires: not empty.
AgentView viewOf(std::span<const AgentSnapshot> antichain, const MessageAncestry* ancestry);

// The same of the versions a space holds of an agent. A tombstone counts with its context only; none if there is
// nothing else. Errors: invalid, a body that replication/records/agent_state.h does not read.
Result<std::optional<AgentView>> viewOf(std::span<const Version> versions, const MessageAncestry* ancestry);

}  // namespace witan::replication
