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
  std::string host;
  std::uint64_t counter = 0;
  WITAN_MEMBERS(DotEntry, host, counter)
  friend auto operator<=>(const DotEntry&, const DotEntry&) = default;
};

struct BatchChange {
  std::string payloadType;
  std::string payloadId;
  ChangeOrigin origin = ChangeOrigin::local;
  WITAN_MEMBERS(BatchChange, payloadType, payloadId, origin)
  friend auto operator<=>(const BatchChange&, const BatchChange&) = default;
};

struct BatchToken {
  TokenClass tokenClass = TokenClass::entityId;
  std::optional<std::string> tokenNamespace;
  std::string value;
  WITAN_MEMBERS(BatchToken, tokenClass, tokenNamespace, value)
  friend bool operator==(const BatchToken&, const BatchToken&) = default;
};

struct BatchBody {
  static constexpr Kind recordKind = Kind::batch;
  std::string localBatchId;
  std::vector<BatchChange> changes;
  std::vector<BatchToken> tokens;
  std::vector<DotEntry> deps;
  std::string sourceCursor;
  WITAN_MEMBERS(BatchBody, localBatchId, changes, tokens, deps, sourceCursor)
  friend bool operator==(const BatchBody&, const BatchBody&) = default;
};

WITAN_ENUM(MessageKind, user, thought, action, toolResult, summary, system)

struct MessageBody {
  static constexpr Kind recordKind = Kind::message;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  std::string id;
  std::string agentId;
  std::string threadId;
  MessageKind kind = MessageKind::user;
  std::vector<std::string> parents;
  std::string content;
  std::int64_t createdAtMs = 0;
  std::optional<Hash> operationId;
  WITAN_MEMBERS(MessageBody, id, agentId, threadId, kind, parents, content, createdAtMs, operationId)
  friend bool operator==(const MessageBody&, const MessageBody&) = default;
};

struct LinkBody {
  static constexpr Kind recordKind = Kind::link;
  std::string id;
  std::string agentId;
  std::string from;
  std::string to;
  std::string relation;
  WITAN_MEMBERS(LinkBody, id, agentId, from, to, relation)
  friend bool operator==(const LinkBody&, const LinkBody&) = default;
};

WITAN_ENUM(WakeReason, subscription, timer, user)
// In the order of the lattice: the later of two statuses stands (replication/records/record_views.h).
WITAN_ENUM(WakeStatus, started, skippedSleeping, skippedDestroyed, failedTerminal, completed)

struct WakeRunBody {
  static constexpr Kind recordKind = Kind::wakeRun;
  Hash runKey{};
  std::string agentId;
  WakeReason reason = WakeReason::subscription;
  std::string subject;
  WakeStatus status = WakeStatus::started;
  std::int64_t startedAtMs = 0;
  std::int64_t finishedAtMs = 0;
  std::string cause;
  WITAN_MEMBERS(WakeRunBody, runKey, agentId, reason, subject, status, startedAtMs, finishedAtMs, cause)
  friend bool operator==(const WakeRunBody&, const WakeRunBody&) = default;
};

struct PlanAction {
  static constexpr std::size_t textMax = kMaxRecordBytes;
  std::string toolName;
  std::string arguments;
  std::vector<std::string> scope;
  std::vector<std::string> targets;
  WITAN_MEMBERS(PlanAction, toolName, arguments, scope, targets)
  friend bool operator==(const PlanAction&, const PlanAction&) = default;
};

struct PlanBody {
  static constexpr Kind recordKind = Kind::plan;
  Hash runKey{};
  std::string agentId;
  std::vector<PlanAction> actions;
  WITAN_MEMBERS(PlanBody, runKey, agentId, actions)
  friend bool operator==(const PlanBody&, const PlanBody&) = default;
};

struct SummaryBody {
  static constexpr Kind recordKind = Kind::summary;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  std::string agentId;
  std::string threadId;
  std::string startMessageId;
  std::string endMessageId;
  std::string summarizerContractVersion;
  std::string text;
  std::uint64_t rank = 0;
  WITAN_MEMBERS(SummaryBody, agentId, threadId, startMessageId, endMessageId, summarizerContractVersion, text, rank)
  friend bool operator==(const SummaryBody&, const SummaryBody&) = default;
};

struct JournalBody {
  static constexpr Kind recordKind = Kind::journal;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  std::string type;
  std::string payload;
  std::uint64_t lamport = 0;
  std::string author;
  std::int64_t editedAtMs = 0;
  std::optional<Hash> operationId;
  std::vector<DotEntry> resolves;
  WITAN_MEMBERS(JournalBody, type, payload, lamport, author, editedAtMs, operationId, resolves)
  friend bool operator==(const JournalBody&, const JournalBody&) = default;
};

WITAN_ENUM(OperationOutcome, applied, denied, failed)

struct UndoStep {
  static constexpr std::size_t textMax = kMaxRecordBytes;
  std::string scope;
  std::string key;
  std::string type;
  std::string payload;
  std::optional<Hash> writtenBy;
  WITAN_MEMBERS(UndoStep, scope, key, type, payload, writtenBy)
  friend bool operator==(const UndoStep&, const UndoStep&) = default;
};

struct OperationBody {
  static constexpr Kind recordKind = Kind::operation;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  Hash operationId{};
  Hash runKey{};
  std::string agentId;
  std::string toolName;
  OperationOutcome outcome = OperationOutcome::applied;
  std::string result;
  std::vector<UndoStep> undo;
  std::optional<Hash> compensates;
  WITAN_MEMBERS(OperationBody, operationId, runKey, agentId, toolName, outcome, result, undo, compensates)
  friend bool operator==(const OperationBody&, const OperationBody&) = default;
};

WITAN_ENUM(ApprovalVerdict, waiting, approved, denied)

struct ApprovalBody {
  static constexpr Kind recordKind = Kind::approval;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  Hash operationId{};
  Hash digest{};
  Hash runKey{};
  std::string agentId;
  std::string what;
  ApprovalVerdict verdict = ApprovalVerdict::waiting;
  std::string by;
  std::string reason;
  std::int64_t atMs = 0;
  WITAN_MEMBERS(ApprovalBody, operationId, digest, runKey, agentId, what, verdict, by, reason, atMs)
  friend bool operator==(const ApprovalBody&, const ApprovalBody&) = default;
};

WITAN_ENUM(DocumentKind, policy, roster)

struct SignedDocumentBody {
  static constexpr Kind recordKind = Kind::policy;
  static constexpr std::size_t textMax = kMaxRecordBytes;
  DocumentKind kind = DocumentKind::policy;
  std::string name;
  std::uint64_t version = 0;
  std::string content;
  std::vector<std::uint8_t> signature;
  WITAN_MEMBERS(SignedDocumentBody, kind, name, version, content, signature)
  friend bool operator==(const SignedDocumentBody&, const SignedDocumentBody&) = default;
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
  X(PrivacyReceipt)

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
