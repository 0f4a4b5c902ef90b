#include "node/operations/approval.h"

#include "base/bytes.h"
#include "base/quote.h"
#include "node/operations/versions.h"
#include "replication/records/record_views.h"
#include "replication/records/record_write.h"

namespace witan::node::operations {

using namespace replication;

namespace {

ApprovalRow rowOf(const std::string& operation, const ApprovalBody& body) {
  auto what = parseJson(body.what);
  return {operation,
          toHex(body.digest),
          body.agentId,
          toHex(body.runKey),
          what.ok() ? *what : json::value(),
          std::string(enumName(body.verdict)),
          body.by,
          body.reason,
          body.atMs};
}

Result<ApprovalRow> answer(OperationContext& context, const ApprovalAnswerRequest& request, ApprovalVerdict verdict) {
  const std::string by = request.by.value_or(context.replica.device());
  if (by == kNobodyAnswered)
    return invalid("by: " + inQuotes(by) + " stands for questions that got no answer", "give a person's name");
  Space* space = context.space(DatabaseName::agents, request.scope);
  const std::vector<std::string> ids = space == nullptr ? std::vector<std::string>{} : space->keys(Kind::approval);
  WITAN_TRY(id, chosenByPrefix(request.operation, ids, "operation id", "see: witan approval list"));
  WITAN_TRY(operation, OperationId::parse(id));
  WITAN_TRY(digest, approvalDigest(request.digest));
  WITAN_TRY(versions, space->versions(Kind::approval, id));
  WITAN_TRY(body, answerTo(approvalViewOf(operation, versions), digest.value, verdict, by, request.reason.value_or(""),
                           context.nowMs()));
  WITAN_TRY(write, recordWrite(id, body));
  WITAN_DO(context.replica.commit(DatabaseName::agents, request.scope.value_or(kDefaultScope), {&write, 1}));
  return rowOf(id, body);
}

}  // namespace

Result<OperationId> approvalDigest(const std::string& text) {
  if (auto digest = OperationId::parse(text); digest.ok()) return digest;
  return invalid(inQuotes(text) + " is no digest", "take it from: witan approval list");
}

Result<Approvals> listApprovals(OperationContext& context, const ApprovalListRequest& request) {
  Approvals list;
  Space* space = context.space(DatabaseName::agents, request.scope);
  if (space == nullptr) return list;
  for (const std::string& key : space->keys(Kind::approval)) {
    WITAN_TRY(operation, OperationId::parse(key));
    WITAN_TRY(versions, space->versions(Kind::approval, key));
    const ApprovalView view = approvalViewOf(operation, versions);
    if (view.shown && (request.all.value_or(false) || view.shown->body.verdict == ApprovalVerdict::waiting))
      list.approvals.push_back(rowOf(key, view.shown->body));
  }
  return list;
}

Result<ApprovalRow> approve(OperationContext& context, const ApprovalAnswerRequest& request) {
  return answer(context, request, ApprovalVerdict::approved);
}

Result<ApprovalRow> deny(OperationContext& context, const ApprovalAnswerRequest& request) {
  return answer(context, request, ApprovalVerdict::denied);
}

}  // namespace witan::node::operations
