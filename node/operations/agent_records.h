// Operations on the records that agents' work leaves on a device: approvals, episodes, receipts, sagas, wakes.
#pragma once

#include "base/identity.h"
#include "base/json_codec.h"
#include "node/inbox/inbox_answers.h"
#include "node/operations/operation.h"
#include "replication/database.h"
#include "replication/space.h"

namespace witan::node::operations {

inline constexpr const char* kSignatureNote =
    "Key and signature of the person, in hex; needed of a person with a key (witan person add)";

// The person's answer that a request to this path is, with its signature checked. Errors: unauthorised.
template <class Request>
Result<InboxAnswer> personsAnswer(const OperationContext& context, std::string_view path, const Request& request) {
  WITAN_TRY(body, parseJson(toJson(request), kOwnJson));
  WITAN_TRY(answer, inboxAnswerOf(path, body.get_object()));
  WITAN_TRY(roster, rosterOfDirectory(context.dir));
  if (roster) answer.cluster = roster->cluster;
  answer.at = context.now;
  WITAN_DO(checkInboxAnswer(roster ? &*roster : nullptr, answer));
  return answer;
}

// --- approvals: effects of agents that wait for a person

WITAN_STRUCT(ApprovalListRequest, (Omittable<bool>, all, "true: answered ones too"),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(ApprovalRow, (std::string, operation, "Operation id of the effect"),
             (std::string, digest, "Digest of what was shown"), (std::string, agentId, "Agent that asks"),
             (std::string, run, "Key of its run"), (json::value, what, "The effect, any JSON"),
             (std::string, verdict, "waiting, approved or denied"), (std::string, by, "Who answered"),
             (std::string, reason, "Reason of the answer"), (std::int64_t, atMs, "When, in milliseconds since 1970"),
             (std::int64_t, untilMs, "When it is denied if there is no answer, likewise; 0: it does not say"))

WITAN_STRUCT(Approvals, (std::vector<ApprovalRow>, approvals, "Effects, by operation id"))

WITAN_STRUCT(ApprovalAnswerRequest, (std::string, operation, "Operation id, or its first digits", 1),
             (std::string, digest, "Digest of what was shown", 1),
             (std::string, by, "Name of the person who answers", 1),
             (Omittable<std::string>, reason, "Kept with the answer"), (Omittable<std::string>, scope, kScopeNote),
             (Omittable<std::string>, signature, kSignatureNote))

// 64 hex digits. Errors: invalid, quoting the text.
Result<OperationId> approvalDigest(const std::string& text);

// The effect with this operation id, as it is shown. None: nobody was asked.
Result<std::optional<ApprovalRow>> approvalOf(replication::Space& space, const std::string& operation);

Result<Approvals> listApprovals(OperationContext& context, const ApprovalListRequest& request);
Result<ApprovalRow> approve(OperationContext& context, const ApprovalAnswerRequest& request);
Result<ApprovalRow> deny(OperationContext& context, const ApprovalAnswerRequest& request);

inline constexpr Operation kApprovalList{"GET", "/v1/approval/list", listApprovals};
inline constexpr Operation kApprovalApprove{"POST", "/v1/approval/approve", approve};
inline constexpr Operation kApprovalDeny{"POST", "/v1/approval/deny", deny};

// --- episodes: transcripts of agents' runs

WITAN_STRUCT(EpisodeRow, (std::string, run, "Key of the run"), (std::string, device, "Device that ran it"),
             (std::string, agent, "Agent"), (std::string, version, "Version of the agent"),
             (std::string, status, "How the run ended"), (std::string, cause, "Cause of the end"),
             (std::uint64_t, entries, "Number of entries held"))

WITAN_STRUCT(Episodes, (std::vector<EpisodeRow>, episodes, "Transcripts"))

WITAN_STRUCT(EpisodeRequest, (std::string, run, "Key of the run, or its first digits", 1),
             (Omittable<std::string>, device, "Device whose transcript is meant"),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(Transcript, (std::vector<json::value>, entries, "Entries, any JSON"),
             (Omittable<std::vector<InboxAnswer>>, answers,
              "What people answered in this run to its tools, and what they signed; absent: nothing"))

WITAN_STRUCT(EpisodeDifference, (std::uint64_t, entry, "Number of the entry"), (std::string, why, "How it differs"),
             (json::value, recorded, "Recorded entry, as JSON text; empty: none"),
             (json::value, derived, "Derived entry, as JSON text; empty: none"))

WITAN_STRUCT(EpisodeReplay, (std::string, run, "Key of the run"), (std::string, device, "Device that ran it"),
             (std::uint64_t, entries, "Number of recorded entries"),
             (bool, ended, "Whether the last entry ends the run"), (bool, reproduced, "Whether no entry differs"),
             (Omittable<EpisodeDifference>, difference, "The first difference"))

Result<Episodes> listEpisodes(OperationContext& context, const ScopeRequest& request);
Result<Transcript> showEpisode(OperationContext& context, const EpisodeRequest& request);
Result<EpisodeReplay> replayEpisode(OperationContext& context, const EpisodeRequest& request);

inline constexpr Operation kEpisodeList{"GET", "/v1/episode/list", listEpisodes};
inline constexpr Operation kEpisodeShow{"GET", "/v1/episode/show", showEpisode};
inline constexpr Operation kEpisodeReplay{"GET", "/v1/episode/replay", replayEpisode};

// --- receipts: confirmations of agents' use of models and boundaries

WITAN_STRUCT(ReceiptRow, (std::string, key, "Key of the receipt"), (std::string, agent, "Agent"),
             (std::string, boundary, "Boundary of the policy"),
             (std::string, provider, "Provider of the model; empty: none is asked"),
             (std::string, model, "Model; empty: none is asked"), (std::string, policy, "Name of the policy"),
             (std::uint64_t, version, "Version of the policy"), (std::string, digest, "Digest of the policy"),
             (std::string, by, "Who confirmed"), (std::int64_t, atMs, "When, in milliseconds since 1970"))

WITAN_STRUCT(Receipts, (std::vector<ReceiptRow>, receipts, "Receipts, by key"))

WITAN_STRUCT(ReceiptRequest, (std::string, key, "Key of the receipt, or its first digits", 1),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(ReceiptConfirmRequest, (std::string, agent, "Agent", 1),
             (std::string, boundary, "Boundary of the policy", 1), (std::string, by, "Who confirms", 1),
             (Omittable<std::string>, provider, "Provider of the model that is asked"),
             (Omittable<std::string>, model, "Model that is asked"),
             (Omittable<std::string>, policy, "First digits, at least 8, of the digest of the policy that was read"),
             (Omittable<std::string>, scope, kScopeNote))

Result<Receipts> listReceipts(OperationContext& context, const ScopeRequest& request);
Result<ReceiptRow> showReceipt(OperationContext& context, const ReceiptRequest& request);
Result<ReceiptRow> confirmReceipt(OperationContext& context, const ReceiptConfirmRequest& request);
Result<ReceiptRow> withdrawReceipt(OperationContext& context, const ReceiptRequest& request);

inline constexpr Operation kReceiptList{"GET", "/v1/receipt/list", listReceipts};
inline constexpr Operation kReceiptShow{"GET", "/v1/receipt/show", showReceipt};
inline constexpr Operation kReceiptConfirm{"POST", "/v1/receipt/confirm", confirmReceipt};
inline constexpr Operation kReceiptWithdraw{"POST", "/v1/receipt/withdraw", withdrawReceipt};

// --- sagas: what agents have under way on this device

WITAN_STRUCT(SagaListRequest, (Omittable<bool>, all, "true: those that ended lately too"))

WITAN_ENUM(RepairKind, retry, compensate)

// What a person said about a saga that had stopped, or had ended.
WITAN_STRUCT(SagaRepair, (RepairKind, kind, "What was asked for"), (std::string, by, "Name of the person"),
             (std::int64_t, atMs, "When, in milliseconds since 1970"),
             (std::string, before, "Why it had stopped; begins with uncertain if an attempt may have had its effect"))

WITAN_STRUCT(SagaLine, (std::string, agentId, "Agent"), (json::value, arguments, "Arguments of the tool, any JSON"),
             (std::uint64_t, attempts, "Number of attempts"),
             (Omittable<std::string>, compensates, "Operation that this one compensates"),
             (std::int64_t, createdAtMs, "In milliseconds since 1970"),
             (std::string, kind, "journal, proposal or tool"),
             (Omittable<std::string>, lastError, "Why the last attempt failed"),
             (Omittable<std::int64_t>, nextAttemptAtMs, "In milliseconds since 1970"),
             (std::string, operation, "Operation id"), (Omittable<std::string>, outcome, "Outcome of the effect"),
             (std::string, phase, "Phase"), (Omittable<json::value>, result, "Result of the effect, any JSON"),
             (std::string, run, "Key of the run"), (std::string, scope, "Scope of the database"),
             (Omittable<std::vector<SagaRepair>>, repairs,
              "What people said when it had stopped, oldest first; absent: there was nothing to say"),
             (std::string, status, "Status"), (bool, superseded, "Whether a later plan replaced it"),
             (std::vector<std::string>, targets, "Entities that it changes"), (std::string, tool, "Tool"),
             (std::int64_t, updatedAtMs, "In milliseconds since 1970"))

WITAN_STRUCT(Sagas, (std::vector<SagaLine>, sagas, "Those that wait for a person, those under way, those that ended"))

WITAN_STRUCT(SagaRequest, (std::string, operation, "Operation id, or its first digits", 1))

WITAN_STRUCT(SagaRepairRequest, (std::string, operation, "Operation id, or its first digits", 1),
             (std::string, by, "Name of the person who says it", 1),
             (Omittable<std::int64_t>, updatedAtMs, "As it was shown; refused if it has changed since"),
             (Omittable<std::string>, signature, kSignatureNote))

WITAN_STRUCT(SagaBegun, (std::string, begun, "retry or compensate"), (std::string, operation, "Operation id"))

Result<Sagas> listSagas(OperationContext& context, const SagaListRequest& request);
Result<SagaLine> showSaga(OperationContext& context, const SagaRequest& request);
Result<SagaBegun> retrySaga(OperationContext& context, const SagaRepairRequest& request);
Result<SagaBegun> compensateSaga(OperationContext& context, const SagaRepairRequest& request);

inline constexpr std::size_t kMaxRepaired = 1'000;   // operations that keep what people said
inline constexpr std::size_t kMaxRepairsOfOne = 16;  // the newest

// Of this device, also of sagas that have ended; oldest first. Errors: corrupt.
Result<std::vector<SagaRepair>> repairsOf(const replication::Database& agents, const OperationId& operation);
// Also what they said to other devices. `run`: its run, in hex.
Result<std::vector<SagaRepair>> repairsEverywhere(OperationContext& context, std::string_view scope,
                                                  const std::string& run, const OperationId& operation);
// "tried again by ann at 2026-...; before: uncertain: ..."
std::string repairWords(const SagaRepair& repair);

inline constexpr Operation kSagaList{"GET", "/v1/saga/list", listSagas};
inline constexpr Operation kSagaShow{"GET", "/v1/saga/show", showSaga};
inline constexpr Operation kSagaRetry{"POST", "/v1/saga/retry", retrySaga};
inline constexpr Operation kSagaCompensate{"POST", "/v1/saga/compensate", compensateSaga};

// --- wakes of agents and their runs

WITAN_STRUCT(WakeListRequest, (Omittable<std::string>, agent, "Wakes of this agent only"),
             (Omittable<bool>, all, "true: every known run too"), (Omittable<bool>, failed, "true: failed runs only"),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(WakeRow, (std::string, run, "Key of the run"), (std::string, agentId, "Agent"),
             (std::string, reason, "Why it wakes"), (std::string, subject, "What it wakes for"),
             (std::string, status, "State of the wake or its run"), (std::string, cause, "Cause of the end"),
             (std::int64_t, atMs, "When, in milliseconds since 1970"))

WITAN_STRUCT(Wakes, (std::vector<WakeRow>, wakes, "Wakes and runs, oldest first"))

Result<Wakes> listWakes(OperationContext& context, const WakeListRequest& request);

inline constexpr Operation kWakeList{"GET", "/v1/wake/list", listWakes};

}  // namespace witan::node::operations
