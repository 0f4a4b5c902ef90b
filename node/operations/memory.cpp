#include "node/operations/memory.h"

#include <algorithm>

#include "agents/host/agent_host.h"
#include "base/bytes.h"
#include "node/operations/versions.h"
#include "replication/records/record_views.h"

namespace witan::node::operations {

using namespace replication;
using agents::Compactor;
using agents::FoldStatus;

namespace {

constexpr const char* kDivergent = "divergent";

// The host's, or of a stopped node what its store says.
class FoldJobs {
 public:
  static Result<std::unique_ptr<FoldJobs>> of(OperationContext& context, const Omittable<std::string>& scope) {
    auto jobs = std::make_unique<FoldJobs>();
    if (context.agents != nullptr && scope.value_or(kDefaultScope) == kDefaultScope) {
      jobs->shown_ = &context.agents->memory();
      return jobs;
    }
    jobs->own_.emplace(context.replica, agents::CompactionOptions{.scope = scope.value_or(kDefaultScope)});
    jobs->shown_ = &*jobs->own_;
    WITAN_DO(jobs->own_->load({context.now, context.nowMs()}));
    return jobs;
  }
  Compactor& operator*() { return *shown_; }
  Compactor* operator->() { return shown_; }

 private:
  std::optional<Compactor> own_;
  Compactor* shown_ = nullptr;
};

FoldRow rowOf(const agents::FoldJob& job) {
  return {toHex(job.summaryId),
          job.agentId,
          std::string(enumName(job.status)),
          job.contractVersion,
          job.startMessageId,
          job.endMessageId,
          job.attempts,
          0,
          job.lastError};
}

FoldRow rowOf(const SummaryId& id, const SummaryView& view) {
  const SummaryBody& body = view.winner->body;
  return {id.hex(),
          body.agentId,
          kDivergent,
          body.summarizerContractVersion,
          body.startMessageId,
          body.endMessageId,
          0,
          view.conflicts.size() + 1,
          ""};
}

Result<SummaryView> summaryAt(Space& space, const SummaryId& id) {
  WITAN_TRY(versions, space.versions(Kind::summary, id.hex()));
  return summaryViewOf(id, versions);
}

}  // namespace

Result<Folds> listFolds(OperationContext& context, const FoldListRequest& request) {
  Folds list;
  WITAN_TRY(jobs, FoldJobs::of(context, request.scope));
  for (const auto& [id, waiting] : (*jobs)->jobs())
    if (waiting.job.status == FoldStatus::failed || request.all.value_or(false))
      list.folds.push_back(rowOf(waiting.job));
  if (Space* space = context.space(DatabaseName::agents, request.scope))
    for (const std::string& key : space->keys(Kind::summary)) {
      const auto id = SummaryId::parse(key);
      if (!id.ok()) continue;
      WITAN_TRY(view, summaryAt(*space, *id));
      if (view.winner && !view.conflicts.empty() && !(*jobs)->jobs().contains(*id))  // one of this device is made first
        list.folds.push_back(rowOf(*id, view));
    }
  std::ranges::sort(list.folds, {}, &FoldRow::id);
  return list;
}

Result<std::optional<FoldRow>> foldOf(OperationContext& context, const FoldRequest& request) {
  WITAN_TRY(id, SummaryId::parse(request.id));
  WITAN_TRY(jobs, FoldJobs::of(context, request.scope));
  if (const auto found = (*jobs)->jobs().find(id);
      found != (*jobs)->jobs().end() && found->second.job.status == FoldStatus::failed)
    return std::optional(rowOf(found->second.job));
  Space* space = context.space(DatabaseName::agents, request.scope);
  if (space == nullptr) return std::optional<FoldRow>();
  WITAN_TRY(view, summaryAt(*space, id));
  return view.conflicts.empty() ? std::nullopt : std::optional(rowOf(id, view));
}

Result<FoldRow> retryFold(OperationContext& context, const FoldRequest& request) {
  WITAN_TRY(list, listFolds(context, {true, request.scope}));
  std::vector<std::string> ids;
  for (const FoldRow& row : list.folds) ids.push_back(row.id);
  WITAN_TRY(chosen, chosenByPrefix(request.id, ids, "fold", "see: witan memory list"));
  WITAN_TRY(id, SummaryId::parse(chosen));
  FoldRow row = *std::ranges::find(list.folds, chosen, &FoldRow::id);
  if (row.status == kDivergent)
    return conflict("devices wrote different texts of summary " + chosen + ", and the first one counts on all of them",
                    "nothing is to be done: witan memory list shows how many there are");
  WITAN_TRY(jobs, FoldJobs::of(context, request.scope));
  WITAN_DO((*jobs)->retry(id, {context.now, context.nowMs()}));
  row.status = std::string(enumName(FoldStatus::waiting)), row.attempts = 0;
  return row;
}

}  // namespace witan::node::operations
