// The bodies of the replicated records, apart from an agent's state (replication/records/agent_state.h).
//
// replication/records/records.capnp describes every member and holds the layout; a test compares the two. The views say
// what the versions of a key mean together: record_views, notification, message_graph, journal_entity. Values and pure
// functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/identity.h"
#include "base/reflect.h"
#include "base/result.h"
#include "replication/records/record_schemas.h"
#include "replication/vector_clock.h"

namespace witan {

// The numbers that identity.h's enumerations have on the wire.
constexpr auto witanEnumNames(ChangeOrigin) { return std::array{std::string_view("local"), std::string_view("sync")}; }
constexpr auto witanEnumNames(TokenClass) {
  return std::array{std::string_view("semanticKey"), std::string_view("subtypeToken"), std::string_view("entityId")};
}

}  // namespace witan

namespace witan::replication {

inline constexpr std::size_t kMaxRecordBytes = 1024 * 1024;
inline constexpr std::size_t kMaxRecordList = 65'536;

struct DotEntry {
  WITAN_DECLARED(DotEntry, (std::string, host), (std::uint64_t, counter))
  friend auto operator<=>(const DotEntry&, const DotEntry&) = default;
};

struct BatchChange {
  WITAN_DECLARED(BatchChange, (std::string, payloadType), (std::string, payloadId),
                 (ChangeOrigin, origin, ChangeOrigin::local))
  friend auto operator<=>(const BatchChange&, const BatchChange&) = default;
};

struct BatchToken {
  WITAN_DECLARED(BatchToken, (TokenClass, tokenClass, TokenClass::entityId),
                 (std::optional<std::string>, tokenNamespace), (std::string, value))
};

struct BatchBody {
  static constexpr Kind recordKind = Kind::batch;
  WITAN_DECLARED(BatchBody, (std::string, localBatchId), (std::vector<BatchChange>, changes),
                 (std::vector<BatchToken>, tokens), (std::vector<DotEntry>, deps), (std::string, sourceCursor))
};

WITAN_ENUM(MessageKind, user, thought, action, toolResult, summary, system)

struct MessageBody {
  static constexpr Kind recordKind = Kind::message;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  WITAN_DECLARED(MessageBody, (std::string, id), (std::string, agentId), (std::string, threadId),
                 (MessageKind, kind, MessageKind::user), (std::vector<std::string>, parents), (std::string, content),
                 (std::int64_t, createdAtMs), (std::optional<Hash>, operationId))
};

struct LinkBody {
  static constexpr Kind recordKind = Kind::link;
  WITAN_DECLARED(LinkBody, (std::string, id), (std::string, agentId), (std::string, from), (std::string, to),
                 (std::string, relation))
};

WITAN_ENUM(WakeReason, subscription, timer, user, graph)
// In the order of the lattice: the later of two statuses stands (replication/records/record_views.h).
WITAN_ENUM(WakeStatus, started, skippedSleeping, skippedDestroyed, failedTerminal, completed)

struct WakeRunBody {
  static constexpr Kind recordKind = Kind::wakeRun;
  WITAN_DECLARED(WakeRunBody, (Hash, runKey), (std::string, agentId), (WakeReason, reason, WakeReason::subscription),
                 (std::string, subject), (WakeStatus, status, WakeStatus::started), (std::int64_t, startedAtMs),
                 (std::int64_t, finishedAtMs), (std::string, cause), (std::uint64_t, hops))
};

struct PlanAction {
  static constexpr std::size_t textMax = kMaxRecordBytes;
  WITAN_DECLARED(PlanAction, (std::string, toolName), (std::string, arguments), (std::vector<std::string>, scope),
                 (std::vector<std::string>, targets))
};

struct PlanBody {
  static constexpr Kind recordKind = Kind::plan;
  WITAN_DECLARED(PlanBody, (Hash, runKey), (std::string, agentId), (std::vector<PlanAction>, actions))
};

struct SummaryBody {
  static constexpr Kind recordKind = Kind::summary;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  WITAN_DECLARED(SummaryBody, (std::string, agentId), (std::string, threadId), (std::string, startMessageId),
                 (std::string, endMessageId), (std::string, summarizerContractVersion), (std::string, text),
                 (std::uint64_t, rank))
};

struct JournalBody {
  static constexpr Kind recordKind = Kind::journal;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  WITAN_DECLARED(JournalBody, (std::string, type), (std::string, payload), (std::uint64_t, lamport),
                 (std::string, author), (std::int64_t, editedAtMs), (std::optional<Hash>, operationId),
                 (std::vector<DotEntry>, resolves), (std::uint64_t, hops))
};

WITAN_ENUM(OperationOutcome, applied, denied, failed)

struct UndoStep {
  static constexpr std::size_t textMax = kMaxRecordBytes;
  WITAN_DECLARED(UndoStep, (std::string, scope), (std::string, key), (std::string, type), (std::string, payload),
                 (std::optional<Hash>, writtenBy))
};

struct OperationBody {
  static constexpr Kind recordKind = Kind::operation;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  WITAN_DECLARED(OperationBody, (Hash, operationId), (Hash, runKey), (std::string, agentId), (std::string, toolName),
                 (OperationOutcome, outcome, OperationOutcome::applied), (std::string, result),
                 (std::vector<UndoStep>, undo), (std::optional<Hash>, compensates), (std::uint64_t, hops))
};

WITAN_ENUM(ApprovalVerdict, waiting, approved, denied)

struct ApprovalBody {
  static constexpr Kind recordKind = Kind::approval;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  WITAN_DECLARED(ApprovalBody, (Hash, operationId), (Hash, digest), (Hash, runKey), (std::string, agentId),
                 (std::string, what), (ApprovalVerdict, verdict, ApprovalVerdict::waiting), (std::string, by),
                 (std::string, reason), (std::int64_t, atMs), (std::int64_t, untilMs))
};

WITAN_ENUM(DocumentKind, policy, roster)

struct SignedDocumentBody {
  static constexpr Kind recordKind = Kind::policy;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  WITAN_DECLARED(SignedDocumentBody, (DocumentKind, kind, DocumentKind::policy), (std::string, name),
                 (std::uint64_t, version), (std::string, content), (std::vector<std::uint8_t>, signature))
};

// A person's confirmation that an agent may use a model across a boundary under one version of the policy. It does not
// count for the next version (seed 003, section 9.2). It holds names and digests only, and no secret. The layout is in
// replication/records/receipt.capnp.
struct PrivacyReceipt {
  static constexpr Kind recordKind = Kind::receipt;
  static constexpr std::size_t recordMax = 16 * 1024;
  std::string agentId;
  std::string provider;  // empty, with `model`: the operation asks no model
  std::string model;
  std::string boundary;
  std::string policyName;
  std::uint64_t policyVersion = 0;
  Hash policyDigest{};
  std::string confirmedBy;
  std::int64_t confirmedAtMs = 0;
  WITAN_MEMBERS(PrivacyReceipt, agentId, provider, model, boundary, policyName, policyVersion, policyDigest,
                confirmedBy, confirmedAtMs)
  friend bool operator==(const PrivacyReceipt&, const PrivacyReceipt&) = default;
};

// The body of a graph's message, or the document of a graph. Key: SHA-256 of the content, which the reader checks.
struct GraphMessageBody {
  static constexpr Kind recordKind = Kind::graphMessage;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  WITAN_DECLARED(GraphMessageBody, (std::string, content))
};

// What an agent is woken for by a graph, until its owner has what came of it. Key: the run key, which follows from
// agent, span and attempt.
struct ActivationBody {
  static constexpr Kind recordKind = Kind::activation;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  WITAN_DECLARED(ActivationBody, (std::string, agentId), (std::string, graph), (std::string, span),
                 (std::uint64_t, attempt), (std::string, input), (std::uint64_t, hops))
};

// What was validated, by whom (docs/graphs.md, registry). Key: "{kind}:{id}:{version}"; readers check the signature.
struct ArtefactBody {
  static constexpr Kind recordKind = Kind::artefact;
  static constexpr std::size_t recordMax = 64 * 1024;
  WITAN_DECLARED(ArtefactBody, (std::string, envelope))
};

// A part of an encrypted copy of a space, or its header (replica/sealed_copies.h). Key: "{writer}:{number}:{part}".
struct SealedCopyBody {
  static constexpr Kind recordKind = Kind::sealedCopy;
  WITAN_DECLARED(SealedCopyBody, (std::string, key), (std::vector<std::uint8_t>, sealed))
};

// Checks the promises of records.capnp for each body: ids, limits, required parts. The error names the member.
Status checkRecord(const BatchBody& body);
Status checkRecord(const MessageBody& body);
Status checkRecord(const LinkBody& body);
Status checkRecord(const WakeRunBody& body);
Status checkRecord(const PlanBody& body);
Status checkRecord(const SummaryBody& body);
Status checkRecord(const JournalBody& body);
Status checkRecord(const OperationBody& body);
Status checkRecord(const ApprovalBody& body);
Status checkRecord(const SignedDocumentBody& body);
Status checkRecord(const PrivacyReceipt& body);
Status checkRecord(const GraphMessageBody& body);
Status checkRecord(const ArtefactBody& body);
Status checkRecord(const ActivationBody& body);
Status checkRecord(const SealedCopyBody& body);

// The canonical bytes. Errors: those of checkRecord; more than Body::recordMax, else kMaxRecordBytes. O(bytes).
template <class Body>
Result<std::string> encodeRecord(const Body& body);

// Reads bytes from anywhere. Errors: too long; unreadable; those of checkRecord. O(bytes).
template <class Body>
Result<Body> decodeRecord(std::string_view bytes);

// The bodies above, and no others.
#define WITAN_RECORD_BODIES(X) \
  X(BatchBody)                 \
  X(MessageBody)               \
  X(LinkBody)                  \
  X(WakeRunBody)               \
  X(PlanBody)                  \
  X(SummaryBody)               \
  X(JournalBody)               \
  X(OperationBody)             \
  X(ApprovalBody)              \
  X(SignedDocumentBody)        \
  X(PrivacyReceipt)            \
  X(GraphMessageBody)          \
  X(ArtefactBody)              \
  X(ActivationBody)            \
  X(SealedCopyBody)

#define WITAN_RECORD_EXTERN(Body)                                \
  extern template Result<std::string> encodeRecord(const Body&); \
  extern template Result<Body> decodeRecord<Body>(std::string_view);
WITAN_RECORD_BODIES(WITAN_RECORD_EXTERN)
#undef WITAN_RECORD_EXTERN

// A version that a view cannot read, and why. It stays in the replica: a newer build may read it.
struct Unreadable {
  Dot dot;
  std::string why;
  friend bool operator==(const Unreadable&, const Unreadable&) = default;
};

// Each version once, by dot; of two contents under one dot (equivocation, which storage reports) the smaller body.
std::vector<const Version*> versionsByDot(std::span<const Version> versions);

// The versions that no other of them had seen, by dot. O(n^2) in the number of versions of one key.
std::vector<const Version*> maximalVersions(std::span<const Version> versions);

}  // namespace witan::replication
