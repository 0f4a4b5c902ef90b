// Operations on effects of agents that wait for a person.
#pragma once

#include "base/identity.h"
#include "node/operations/operation.h"

namespace witan::node::operations {

WITAN_STRUCT(ApprovalListRequest, (Omittable<bool>, all, "true: answered ones too"),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(ApprovalRow, (std::string, operation, "Operation id of the effect"),
             (std::string, digest, "Digest of what was shown"), (std::string, agentId, "Agent that asks"),
             (std::string, run, "Key of its run"), (json::value, what, "The effect, any JSON"),
             (std::string, verdict, "waiting, approved or denied"), (std::string, by, "Who answered"),
             (std::string, reason, "Reason of the answer"), (std::int64_t, atMs, "When, in milliseconds since 1970"))

WITAN_STRUCT(Approvals, (std::vector<ApprovalRow>, approvals, "Effects, by operation id"))

WITAN_STRUCT(ApprovalAnswerRequest, (std::string, operation, "Operation id, or its first digits", 1),
             (std::string, digest, "Digest of what was shown", 1),
             (Omittable<std::string>, by, "Who answers; default: the device"),
             (Omittable<std::string>, reason, "Kept with the answer"), (Omittable<std::string>, scope, kScopeNote))

// 64 hex digits. Errors: invalid, quoting the text.
Result<OperationId> approvalDigest(const std::string& text);

Result<Approvals> listApprovals(OperationContext& context, const ApprovalListRequest& request);
Result<ApprovalRow> approve(OperationContext& context, const ApprovalAnswerRequest& request);
Result<ApprovalRow> deny(OperationContext& context, const ApprovalAnswerRequest& request);

inline constexpr Operation kApprovalList{"GET", "/v1/approval/list", listApprovals};
inline constexpr Operation kApprovalApprove{"POST", "/v1/approval/approve", approve};
inline constexpr Operation kApprovalDeny{"POST", "/v1/approval/deny", deny};

}  // namespace witan::node::operations
