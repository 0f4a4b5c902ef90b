// A counselor's queue in one partition: what waits, and what a commit would write and violate. For the control API and
// for commands on a ledger of `witan run`. Pure functions; the partition is only read.
#pragma once

#include "kernel/partition.h"
#include "node/api/control_routes.h"

namespace witan::node::api {

WITAN_STRUCT(Resolution, (std::uint64_t, ledgerSeq, "Number of the ledger entry that resolved the escalation"),
             (kernel::Outcome, outcome, "cCommitted or cRejected"), (std::string, counselor, "Who decided"),
             (std::string, reason, "Reason of the decision"), (bool, safe, "Whether every invariant passes after it"))

WITAN_STRUCT(DecisionMade, (std::string, operationId, "Id of the operation"),
             (kernel::Outcome, outcome, "What was decided"),
             (bool, duplicate, "Whether the operation was decided before"),
             (std::optional<std::uint64_t>, ledgerSeq, "Number of the ledger entry; null: the request has none"),
             (std::optional<std::string>, invariant, "Invariant that did not pass; null: none"),
             (std::optional<std::string>, message, "Message of that invariant, or why the request was refused"),
             (Omittable<bool>, safe, "Of a counselor's commit: whether every invariant passes"),
             (Omittable<Resolution>, resolved,
              "Of a repeated operation that had escalated: the counselor's decision, where this device has it"))

WITAN_STRUCT(QueueRow, (std::string, domain, "Name of the domain"), (std::string, partition, "DOMAIN/NUMBER"),
             (std::string, entity, "Id of the entity"), (std::uint64_t, seq, "Number of the escalation's ledger entry"),
             (std::string, digest, "Digest of what is shown; decideQueued takes it"),
             (Time, at, "When the proposal was escalated"), (std::string, role, "Role of the proposer"),
             (std::string, device, "Id of the proposer's device"),
             (std::string, agent, "Id of the proposing agent; empty: a person"),
             (json::value, action, "The proposed action"), (std::string, invariant, "Invariant that escalated"),
             (std::string, message, "Message of that invariant"),
             (std::vector<FindingRow>, findings, "Every invariant that did not pass"),
             (std::vector<std::string>, counselors, "Counselors who may decide"),
             (json::value, state, "State of the entity"),
             (Omittable<Time>, expires, "When the proposal is rejected unless a counselor decides"))

WITAN_STRUCT(Queue, (std::vector<QueueRow>, queue, "Proposals that wait for a counselor, by partition"))

WITAN_ENUM(CounselorDecision, commit, reject)

WITAN_STRUCT(
    DecideRequest, (std::string, domain, "Name of the domain", 1), (std::string, entity, "Id of the entity", 1),
    (std::string, counselor, "Name of the counselor who decides", 1), (CounselorDecision, decision, "The decision"),
    (std::string, digest, "Digest from the queue: the decision is on exactly what was shown", 1),
    (Omittable<kernel::CommitBase>, base, "State from which a commit starts; default: candidate"),
    (Omittable<json::object>, edit, "Fields that a commit sets, by name"),
    (Omittable<std::string>, reason, "Reason, for the ledger"),
    (Omittable<std::string>, operationId, "A repeated id is answered from the ledger; default: derived from the digest",
     1),
    (Omittable<std::string>, signature,
     "The counselor's key and signature of this answer, in hex (docs/ledger-format.md, section 10)", 1),
    (Omittable<std::uint64_t>, waitMs, "Milliseconds to wait for the decision, at most 120000; default: 10000"))

WITAN_STRUCT(CommitPreview, (bool, safe, "Whether every invariant would pass"),
             (std::vector<FindingRow>, findings, "Every invariant that would not pass"),
             (json::value, writes, "Fields that the commit would write"))

// The decision that resolved entry `escalation` of `entity`. None: there is none yet, as far as this copy goes.
// O(entries behind the escalation).
Result<Omittable<Resolution>> resolutionOf(const PartitionHost& host, std::string_view entity,
                                           std::uint64_t escalation);

// By sequence number. `id`: the partition's, for the rows.
std::vector<QueueRow> queueOf(const kernel::Partition& partition, const std::string& id);

// What this commit would do at time `at`. Errors: notFound, nothing is pending for the entity; conflict, the digest is
// of something else; of the edit.
Result<CommitPreview> previewCommit(const kernel::Partition& partition, const DecideRequest& asked, Time at);

}  // namespace witan::node::api
