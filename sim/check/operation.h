// Operation: one act of a client on a partition, as the client saw it: when it asked, what it was told and when. The
// checkers of this folder judge lists of them; the simulator keeps the books.
//
// Every attempt is an operation of its own: a proposal that is sent again under its operation id makes a second one,
// and the first stays without an answer for ever. Values; no clock: times are simulated microseconds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/epoch.h"
#include "kernel/partition.h"
#include "kernel/record/entry.h"

namespace witan::sim {

using kernel::Epoch;

// ---- the log of one partition, read back as values

struct LedgerLine {
  kernel::Entry entry;
  Hash leaf{};
};

struct PartitionLog {
  std::vector<LedgerLine> lines;
  std::vector<kernel::EpochRecord> epochs;
  std::map<std::string, std::string, std::less<>> beginnings;  // of entities: canonical JSON
};

// The values of a log (kernel/record/log_batch.h), in order. Errors: as readLogBatch; what a record is that can't be
// read; a batch that is torn, or an entity that begins twice.
Result<PartitionLog> readLog(std::span<const std::string> batches);

// Was the proposal rejected because its run is bound to another plan (F3)?
bool isTurnedAway(const kernel::Entry& entry);

// "entry 7 (approved, op-3)"
std::string nameOf(const kernel::Entry& entry);
std::string nameOf(const kernel::Epoch& epoch);

// ---- operations

// What the log held in an epoch from this number on, and an operator gave up by seizing the partition.
struct LostRange {
  Epoch epoch;
  std::uint64_t fromSeq = 0;
};
bool isLost(std::span<const LostRange> lost, const Epoch& epoch, std::uint64_t seq);
bool hasLosses(std::span<const LostRange> lost, const Epoch& epoch);

WITAN_ENUM(OperationKind, init, propose, decide, expire)

// The log's word on an operation: the entry that has its id (for an init: its entity's beginning).
struct Stamp {
  Time at;
  std::uint64_t seq = 0;  // 0: not known
  Hash leaf{};            // zeros: not known
};

struct Answer {
  kernel::Decision decision;
  Epoch epoch;  // in which it was given
};

struct Operation {
  std::uint32_t client = 0;
  std::int64_t invoked = 0;
  std::optional<std::int64_t> returned;  // none: no answer came, it may yet take effect
  OperationKind kind = OperationKind::propose;
  std::string entity;
  std::string operationId;
  bool remember = false;  // as kernel::Proposal
  // propose
  std::string role, device, agent;
  std::string action;     // JSON; canonical if it is an action of the domain
  std::string run, plan;  // the bytes of the digests; empty: neither
  // decide
  std::string counselor, reason;
  bool commit = false;
  kernel::CommitBase base = kernel::CommitBase::candidate;
  std::optional<std::uint64_t> escalation;
  std::optional<Hash> pendingDigest;
  std::string fields = "{}";  // JSON; init: the fields, decide: the edit

  Answer answer;               // if `returned`
  std::optional<Stamp> stamp;  // none: it left nothing in the log
};

// "propose op-7 of client 3"
std::string nameOf(const Operation& operation);

// Is the entry of the act that the operation asked for (one id, one act)?
bool isActOf(const kernel::Entry& entry, const Operation& operation);

// Was the entry asked for in the operation's run, by its plan (neither, if it has none)?
bool isOfPlan(const kernel::Entry& entry, const Operation& operation);

// Of the entries with the operation's id the one that it asked for: of two, that of its own plan (F3). Requires: any.
const LedgerLine& lineFor(const Operation& operation, std::span<const LedgerLine* const> ofItsId);

// Joins what the log that is left in the end knows: stamps; an `expire` for each expiry; and, for an entry or a
// beginning of which nobody was told that made it (a frame that was delivered once more), a copy of the first operation
// that asked for it (an entry: by its plan), without an answer. From then on an operation without a stamp is one that
// left nothing.
void stampFromLog(std::vector<Operation>& operations, const PartitionLog& log);

}  // namespace witan::sim
