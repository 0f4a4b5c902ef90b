// What must hold of the work of agents when all is at rest, whatever happened on the way: seed 003, section 10
// (invariants 1, 2 and 6) and finding F3. Recomputed from the records that the devices agree on, not from what any part
// of them believes.
//
// Pure functions over values; agentRecordsOf() reads them. Each says "" or the first thing that is wrong.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "replication/local_replica.h"
#include "replication/records/journal_entity.h"
#include "replication/records/record_views.h"

namespace witan::sim {

struct AgentRecords {
  std::map<RunKey, replication::PlanView> plans;
  std::map<OperationId, replication::OperationView> journal, agents;  // records of operations, by database
  std::map<std::string, replication::JournalView> entries;            // all of the journal
  std::map<RunKey, std::string> completed;                            // runs, and what they say went wrong
};
Result<AgentRecords> agentRecordsOf(replication::LocalReplica& replica);

struct AgentRuleOptions {
  // No disk was lost or went back, so each device has done what it did once, and all records of it are here.
  bool wholeDisks = true;
  std::set<OperationId> deadLettered;  // by some device, for a person
  std::set<OperationId> denied;        // those that a gate may have denied: they leave no record
  std::string graph;                   // whose effects stand in its ledger and in no plan
  // Records of runs that ended earlier may be gone; entries that they wrote stay. What is dated later was written while
  // a clock was ahead.
  std::int64_t keptSinceMs = std::numeric_limits<std::int64_t>::min();
  std::int64_t keptUntilMs = std::numeric_limits<std::int64_t>::max();
  std::optional<std::set<std::string>> toolsDid;    // operations that an outside tool carried out; none: nobody looked
  std::optional<std::set<std::string>> ledgersDid;  // those that a ledger has; none: one may have lost some
  std::string shared;  // entries whose ids begin so are written by many operations, and by people
};

// Operations that call a tool, and were never heard of outside, of runs that may have been judged while a gate knew of
// no confirmation: those that began before `unconfirmedAt`, the last moment at which some device knew of none (-1:
// never), and those of which no beginning was seen.
std::set<OperationId> perhapsDenied(const AgentRecords& records, std::string_view tool,
                                    const std::map<RunKey, std::int64_t>& begun, std::int64_t unconfirmedAt,
                                    const std::map<std::string, std::uint64_t>& calls);

// Checker "operations". Each is one of a plan of its run, or undoes one; no device carried it out twice; what has an
// effect has an outcome and the other way round; a run that is completed has done what its plan says. Of what the
// entries show each piece was written by one operation, once, and of several plans for one run what the surviving one
// wanted stands, and nothing else.
std::string checkOperations(const AgentRecords& records, const AgentRuleOptions& options = {});

// Checker "operations" too: the names of a plan's operations, derived again; equal actions are told apart by a number.
std::string checkNames(const AgentRecords& records);

// What a device wrote into a shared entry, and what it had seen there by then.
struct SharedWrite {
  replication::Dot dot;
  std::set<replication::Dot> seen;
  std::string content;  // contentOf(); empty: it was removed
  std::optional<Hash> operation;
  bool kept = false;  // a person's, on a disk that was not lost
};
using SharedWrites = std::map<std::string, std::vector<SharedWrite>>;  // by entry

std::string contentOf(std::string_view type, std::string_view payload);

// Checker "effects". What an operation of a surviving plan put into the journal is there, as long as the operation
// stands; in a shared entry it may have been replaced by a person, or by another operation that stands, who had seen
// it. The same of what people wrote there. A run that is completed and says nothing of failures has done everything
// that its one plan says.
std::string checkEffects(const AgentRecords& records, const SharedWrites& writes, const AgentRuleOptions& options = {});

// Checker "effects" too: in what readers see of an entry, nothing that an operation wrote stands beside what was built
// upon the same operation's write on another device.
std::string checkRepeats(const AgentRecords& records, const std::string& id, const replication::JournalView& read,
                         const std::vector<SharedWrite>& writes);

// Checker "sagas", its part about compensation: an operation has one compensation, which no device carried out twice,
// and those that follow it (saga/operation_marks.h).
std::string checkCompensations(const AgentRecords& records, const AgentRuleOptions& options = {});

// An undoing that a device carried out, or put aside for a person (not after its last attempt).
struct Undoing {
  OperationId operation, undone;
  std::string device;
  bool aside = false;
  std::set<OperationId> had;  // of the same run, whose records the device had before; of one put aside nothing is said
};

// Checker "sagas" too: what a plan that lost wrote into one entry is undone last first, so nothing of it is in the way
// of its undoing, and no person is asked about it.
std::string checkUndoings(const AgentRecords& records, const SharedWrites& writes, std::span<const Undoing> undoings);

// Checker "agents-apart" (invariants 1 and 2): a journal holds nothing of what agents keep for themselves, their links
// among it, and what they keep holds nothing that belongs in a journal.
std::string checkApart(replication::LocalReplica& replica);

// ---- checker "need-to-know" (seed 003, section 9.1 and section 10, invariant 7): what the simulated agents send
// outside has the fields of the allowlist of its operation, and no others; and nothing of what is marked as not to be
// told is in it, in whatever field. Written from the policy's intent (sim/sim_agents.h), not from the policy.

// What may not leave the devices: fields of requests begin with it.
inline constexpr std::string_view kNeedToKnow = "need-to-know-";

// Checker "operations" too: what people are told of effects outside that they did not want. `denied`: operations that a
// person has denied; with those of plans that did not survive they are all that may be counted.
std::string checkUnwanted(const AgentRecords& records, const std::set<OperationId>& denied, std::uint64_t unwanted);

// Checker "runs": how many runs lie behind what an agent did, where all that wakes it is of one kind.
std::string checkHops(const AgentRecords& records, std::string_view agent, std::uint64_t hops);

// Of a question: whether a denial by a person, or as its agent is destroyed, is among the answers that nobody replaced.
bool isDenied(std::span<const replication::Version> versions);

// Whether a confirmation stands: somebody's, and of those that nobody replaced none takes it back (seed 003, section
// 9.2). What it says is not looked at.
bool isConfirmed(std::span<const replication::Version> versions);

// "" or what is wrong.
std::string checkNeedToKnow(std::string_view tool, const json::object& arguments);

}  // namespace witan::sim
