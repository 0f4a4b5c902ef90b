// Operations on effects of agents that wait for a person.
#pragma once

#include "base/identity.h"
#include "node/operations/operation.h"

namespace witan::node::operations {

struct ApprovalListRequest {
  Omittable<bool> all;
  Omittable<std::string> scope;
  WITAN_MEMBERS(ApprovalListRequest, all, scope)
  static constexpr std::array notes{MemberNote{"all", "true: answered ones too"},
                                    MemberNote{"scope", "Scope of the database; default: main"}};
};

struct ApprovalRow {
  std::string operation;
  std::string digest;
  std::string agentId;
  std::string run;
  json::value what;
  std::string verdict;
  std::string by;
  std::string reason;
  std::int64_t atMs = 0;
  WITAN_MEMBERS(ApprovalRow, operation, digest, agentId, run, what, verdict, by, reason, atMs)
  static constexpr std::array notes{MemberNote{"operation", "Operation id of the effect"},
                                    MemberNote{"digest", "Digest of what was shown"},
                                    MemberNote{"agentId", "Agent that asks"},
                                    MemberNote{"run", "Key of its run"},
                                    MemberNote{"what", "The effect, any JSON"},
                                    MemberNote{"verdict", "waiting, approved or denied"},
                                    MemberNote{"by", "Who answered"},
                                    MemberNote{"reason", "Reason of the answer"},
                                    MemberNote{"atMs", "When, in milliseconds since 1970"}};
};

struct Approvals {
  std::vector<ApprovalRow> approvals;
  WITAN_MEMBERS(Approvals, approvals)
  static constexpr std::array notes{MemberNote{"approvals", "Effects, by operation id"}};
};

struct ApprovalAnswerRequest {
  std::string operation;
  std::string digest;
  Omittable<std::string> by;
  Omittable<std::string> reason;
  Omittable<std::string> scope;
  WITAN_MEMBERS(ApprovalAnswerRequest, operation, digest, by, reason, scope)
  static constexpr std::array notes{
      MemberNote{"operation", "Operation id, or its first digits", 1},
      MemberNote{"digest", "Digest of what was shown", 1}, MemberNote{"by", "Who answers; default: the device"},
      MemberNote{"reason", "Kept with the answer"}, MemberNote{"scope", "Scope of the database; default: main"}};
};

// 64 hex digits. Errors: invalid, quoting the text.
Result<OperationId> approvalDigest(const std::string& text);

Result<Approvals> listApprovals(OperationContext& context, const ApprovalListRequest& request);
Result<ApprovalRow> approve(OperationContext& context, const ApprovalAnswerRequest& request);
Result<ApprovalRow> deny(OperationContext& context, const ApprovalAnswerRequest& request);

inline constexpr Operation kApprovalList{"GET", "/v1/approval/list", listApprovals};
inline constexpr Operation kApprovalApprove{"POST", "/v1/approval/approve", approve};
inline constexpr Operation kApprovalDeny{"POST", "/v1/approval/deny", deny};

}  // namespace witan::node::operations
