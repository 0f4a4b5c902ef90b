#include "replication/records/summary.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace witan::replication {

namespace {

Result<SummaryBody> read(const SummaryId& id, const Version& version) {
  if (version.tombstone) return invalid("a summary cannot be deleted");
  WITAN_TRY(body, decodeRecord<SummaryBody>(version.body));
  WITAN_TRY(derived, summaryIdOf(body));
  if (derived != id) return invalid("it is of the summary " + derived.hex());
  return body;
}

bool firstOf(const SummaryVersion& a, const SummaryVersion& b) {
  return std::tie(a.body.rank, a.dot) < std::tie(b.body.rank, b.dot);
}

}  // namespace

Result<SummaryId> summaryIdOf(const SummaryBody& body) {
  return summaryId(
      {body.agentId, body.threadId, body.startMessageId, body.endMessageId, body.summarizerContractVersion});
}

SummaryView summaryViewOf(const SummaryId& id, std::span<const Version> versions) {
  std::vector<SummaryVersion> all;
  SummaryView view;
  for (const Version* v : versionsByDot(versions)) {
    auto body = read(id, *v);
    if (body.ok())
      all.push_back({v->dot, *std::move(body)});
    else
      view.unreadable.push_back({v->dot, body.error().message});
  }
  std::sort(all.begin(), all.end(), firstOf);
  for (SummaryVersion& v : all) {
    if (!view.winner)
      view.winner = std::move(v);
    else if (v.body.text == view.winner->body.text)
      view.repeats.push_back(v.dot);
    else
      view.conflicts.push_back(std::move(v));
  }
  return view;
}

std::uint64_t nextRank(const SummaryView& view) {
  std::uint64_t most = view.winner ? view.winner->body.rank : 0;
  for (const SummaryVersion& v : view.conflicts) most = std::max(most, v.body.rank);
  return most + 1;
}

}  // namespace witan::replication
