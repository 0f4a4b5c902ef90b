// The view of an approval: what a person has said about an effect that needs one (seed 004, the verdict require-human).
//
// An answer counts only for what was shown: it carries the digest of that (docs/FINDINGS.md, F17). Of answers that were
// given side by side a denial stands. Pure functions of the set of versions, in any order.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "replication/records/records.h"

namespace witan::replication {

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

// What the view says of an effect with this digest: an answer about anything else is no answer.
ApprovalVerdict verdictFor(const ApprovalView& view, const Hash& digest);

// The body of an answer. `digest`: of what the person was shown. Errors: notFound, nothing was asked; conflict, another
// effect is asked about by now (with both digests), or it has been answered otherwise.
Result<ApprovalBody> answerTo(const ApprovalView& view, const Hash& digest, ApprovalVerdict verdict,
                              std::string_view by, std::string_view reason, std::int64_t atMs);

}  // namespace witan::replication
