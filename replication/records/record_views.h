// The views of operations, approvals, wake runs, plans, summaries and privacy receipts. The view of a key says what the
// versions of the key mean together.
//
// A view is a pure function of the set of versions: their order does not matter, and nothing is written back. Each view
// lists the versions that it cannot use as `unreadable`: bodies of another key, and bodies that a newer build wrote.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replication/records/records.h"

namespace witan::replication {

class Space;

// --- operations (seed 003, 6.2 and 7)
//
// The record stands in the same commit as the operation's effect, so in each database it exists if and only if the
// effect does. Two devices that were cut off may both carry out one operation of one plan: that is one logical mutation
// with two records. Of the records that say `applied`, else of all, the one with the smallest dot is shown everywhere.

struct OperationRecord {
  Dot dot;
  OperationBody body;
  friend bool operator==(const OperationRecord&, const OperationRecord&) = default;
};

struct OperationView {
  std::optional<OperationRecord> record;
  std::vector<Dot> repeats;  // by other devices
  std::vector<Unreadable> unreadable;
  friend bool operator==(const OperationView&, const OperationView&) = default;
};

OperationView operationViewOf(const OperationId& operation, std::span<const Version> versions);

// --- approvals (seed 004, the verdict require-human)
//
// An answer counts only for the effect that the person was shown: it carries the digest of that (docs/FINDINGS.md,
// F17). Of concurrent answers a denial stands.

struct ApprovalVersion {
  Dot dot;
  ApprovalBody body;
  friend bool operator==(const ApprovalVersion&, const ApprovalVersion&) = default;
};

struct ApprovalView {
  // Denied before approved before waiting, then the smallest dot.
  std::optional<ApprovalVersion> shown;
  std::vector<Unreadable> unreadable;
  friend bool operator==(const ApprovalView&, const ApprovalView&) = default;
};

ApprovalView approvalViewOf(const OperationId& operation, std::span<const Version> versions);

// Whether it approves after the question's end. Who wrote it need not have asked answerTo().
bool isLate(const ApprovalBody& answer);
// The verdict on the effect with this digest. An answer about another effect is no answer: `waiting`; a late approval
// denies.
ApprovalVerdict verdictFor(const ApprovalView& view, const Hash& digest);

// The author of the denial of a question that got no answer in time. No person may answer under this name.
inline constexpr std::string_view kNobodyAnswered = "system";

// The body of an answer. `digest`: of what the person was shown. Errors: notFound, nothing was asked; conflict, another
// effect is asked about by now (with both digests), another answer was given, or the question has ended.
Result<ApprovalBody> answerTo(const ApprovalView& view, const Hash& digest, ApprovalVerdict verdict,
                              std::string_view by, std::string_view reason, std::int64_t atMs);

// --- wake runs
//
// Statuses form a lattice: each terminal status beats `started`; completed > failedTerminal > skippedDestroyed >
// skippedSleeping. A view is the maximum over the versions, ties by smallest dot, so a run that one device completed is
// completed on all.

bool isTerminal(WakeStatus status);
// The least upper bound.
WakeStatus join(WakeStatus a, WakeStatus b);

struct WakeRunVersion {
  Dot dot;
  WakeRunBody body;
  friend bool operator==(const WakeRunVersion&, const WakeRunVersion&) = default;
};

// The version that stands: higher status, then smaller dot. Associative, commutative, idempotent.
const WakeRunVersion& join(const WakeRunVersion& a, const WakeRunVersion& b);

struct WakeRunView {
  std::optional<WakeRunVersion> run;
  std::size_t attempts = 0;  // readable versions: more than one if devices ran it concurrently
  std::vector<Unreadable> unreadable;
  friend bool operator==(const WakeRunView&, const WakeRunView&) = default;
};

WakeRunView wakeRunViewOf(const RunKey& runKey, std::span<const Version> versions);

// Whether `next` may be written on top of the view. A run that has ended does not change any more, because a new
// version would replace what its author saw. Errors: conflict, with both statuses; invalidInput for another run.
Status mayRecord(const WakeRunView& view, const WakeRunBody& next);

// --- plans (docs/FINDINGS.md, F3)
//
// Devices that were cut off may plan the same wake differently. The actions then have different operation ids, and both
// plans could be carried out. The plan with the smallest dot (host, counter) wins everywhere. Compensations undo what a
// loser did and the winner does not do. Their ids derive from the operations, so each device compensates alike and
// once.

struct Plan {
  Dot dot;
  PlanBody body;
  std::vector<OperationId> operations;  // of its actions, in order; a repeated action has an id of its own
  PlanDigest digest;
  friend bool operator==(const Plan&, const Plan&) = default;
};

Result<std::vector<OperationId>> operationsOf(const PlanBody& body);

struct PlanView {
  std::optional<Plan> winner;
  std::vector<Plan> losers;  // with another digest than the winner's, by dot
  std::vector<Dot> repeats;  // the winner's plan again
  std::vector<Unreadable> unreadable;
  friend bool operator==(const PlanView&, const PlanView&) = default;
};

PlanView planViewOf(const RunKey& runKey, std::span<const Version> versions);
// The losers' operations that are not the winner's, each once, in the losers' order. If carried out, they are undone.
std::vector<OperationId> operationsToUndo(const PlanView& view);
// The same of the versions that a space holds. Errors: of reading.
Result<PlanView> planViewIn(Space& agents, const RunKey& runKey);

// --- summaries (docs/FINDINGS.md, F4)
//
// "First committed wins" (seed 003, section 8) would differ between replicas. Here the causally first text wins, of
// several the one with the smallest dot. The others stay as diagnostics; no pointer moves. The rank in the body says
// which text was first. Contexts do not: they get shorter at a different time on each replica.

struct SummaryVersion {
  Dot dot;
  SummaryBody body;
  friend bool operator==(const SummaryVersion&, const SummaryVersion&) = default;
};

struct SummaryView {
  std::optional<SummaryVersion> winner;
  std::vector<SummaryVersion> conflicts;  // other content than the winner's, by rank and dot
  std::vector<Dot> repeats;               // the winner's content again
  std::vector<Unreadable> unreadable;
  friend bool operator==(const SummaryView&, const SummaryView&) = default;
};

SummaryView summaryViewOf(const SummaryId& id, std::span<const Version> versions);

Result<SummaryId> summaryIdOf(const SummaryBody& body);

// The rank that a new version written on top of this view must carry.
std::uint64_t nextRank(const SummaryView& view);

// --- privacy receipts (seed 003, section 9.2)
//
// One record a use. Another confirmation of the same use replaces the one before; a tombstone revokes it.

// The key of the record, 64 hex digits: SHA-256 of what is confirmed, without the person and the time.
std::string receiptKey(const PrivacyReceipt& receipt);

// The confirmation of the smallest dot under `key`. None: there is no confirmation, or a maximal version revokes it. A
// body that belongs to another key does not count.
std::optional<PrivacyReceipt> receiptIn(std::string_view key, std::span<const Version> versions);

// All receipts that stand in a space, by key. O(records). Errors: of reading.
Result<std::vector<PrivacyReceipt>> receiptsIn(Space& agents);

}  // namespace witan::replication
