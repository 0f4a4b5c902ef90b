#include "replication/records/approval.h"

#include <tuple>

#include "base/bytes.h"

namespace witan::replication {

namespace {

Result<ApprovalVersion> read(const OperationId& operation, const Version& version) {
  if (version.tombstone) return invalid("it was taken away");
  WITAN_TRY(body, decodeRecord<ApprovalBody>(version.body));
  if (body.operationId != operation.value) return invalid("it is of operation " + OperationId{body.operationId}.hex());
  return ApprovalVersion{version.dot, std::move(body)};
}

// Larger: it stands.
auto rankOf(const ApprovalVersion& version) { return static_cast<int>(version.body.verdict); }

}  // namespace

ApprovalView approvalViewOf(const OperationId& operation, std::span<const Version> versions) {
  ApprovalView view;
  for (const Version* version : maximalVersions(versions)) {
    auto read_ = read(operation, *version);
    if (!read_.ok())
      view.unreadable.push_back({version->dot, read_.error().message});
    else if (!view.shown || rankOf(*read_) > rankOf(*view.shown))
      view.shown = *std::move(read_);
  }
  return view;
}

ApprovalVerdict verdictFor(const ApprovalView& view, const Hash& digest) {
  return view.shown && view.shown->body.digest == digest ? view.shown->body.verdict : ApprovalVerdict::waiting;
}

Result<ApprovalBody> answerTo(const ApprovalView& view, const Hash& digest, ApprovalVerdict verdict,
                              std::string_view by, std::string_view reason, std::int64_t atMs) {
  if (verdict == ApprovalVerdict::waiting) return invalid("an answer approves or denies");
  if (!view.shown) return Error{ErrorCode::notFound, "no effect with this operation id waits for a person", ""};
  const ApprovalBody& asked = view.shown->body;
  if (asked.digest != digest)
    return Error{ErrorCode::conflict,
                 "the effect that waits is another one by now (" + toHex(asked.digest) + ", the answer is about " +
                     toHex(digest) + ")",
                 "look at it again"};
  if (asked.verdict != ApprovalVerdict::waiting)
    return Error{ErrorCode::conflict,
                 "it has been " + std::string(enumName(asked.verdict)) + " by " + asked.by + " already", ""};
  ApprovalBody answer = asked;
  answer.verdict = verdict;
  answer.by = by;
  answer.reason = reason;
  answer.atMs = atMs;
  WITAN_DO(checkRecord(answer));
  return answer;
}

}  // namespace witan::replication
