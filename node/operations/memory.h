// Operations on what agents' memories are folded to (agents/memory/compactor.h): folds that wait, that failed, and
// those of which devices wrote different texts.
#pragma once

#include "node/operations/operation.h"

namespace witan::node::operations {

WITAN_STRUCT(FoldListRequest, (Omittable<bool>, all, "true: also those that wait for their next attempt"),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(FoldRow, (std::string, id, "Id of the summary, 64 hexadecimal digits"), (std::string, agentId, "Agent"),
             (std::string, status,
              "failed, divergent (devices wrote different texts; the first one counts) or waiting"),
             (std::string, contract, "Who sums up, and by which rules"), (std::string, from, "First message"),
             (std::string, to, "Last message"), (std::uint64_t, attempts, "Number of attempts"),
             (std::uint64_t, texts, "Number of texts"), (std::string, error, "Why the last attempt failed"))

WITAN_STRUCT(Folds, (std::vector<FoldRow>, folds, "Folds, by id"))

WITAN_STRUCT(FoldRequest, (std::string, id, "Id of the summary, or its first digits", 1),
             (Omittable<std::string>, scope, kScopeNote))

// O(summaries).
Result<Folds> listFolds(OperationContext& context, const FoldListRequest& request);
// One that failed or is divergent, by its whole id. None: there is none. Without agents at work O(folds of this
// device).
Result<std::optional<FoldRow>> foldOf(OperationContext& context, const FoldRequest& request);
// One that failed is tried again when agents run. Errors: notFound; conflict, several ids begin so, or a divergent one:
// no summary changes (docs/FINDINGS.md, F4).
Result<FoldRow> retryFold(OperationContext& context, const FoldRequest& request);

inline constexpr Operation kFoldList{"GET", "/v1/memory/list", listFolds};
inline constexpr Operation kFoldRetry{"POST", "/v1/memory/retry", retryFold};

}  // namespace witan::node::operations
