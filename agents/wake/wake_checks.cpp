#include "agents/wake/wake_checks.h"

#include <algorithm>
#include <map>
#include <set>

#include "agents/wake/wake_job.h"
#include "base/quote.h"

namespace witan::agents {

using replication::Kind;
using replication::NotificationBatch;

namespace {

std::string nameOf(const replication::Dot& dot) { return concat(dot.host, ":", dot.counter); }

std::string nameOf(const KnownRun& run) {
  return "run " + run.key.hex().substr(0, 12) + " of " + run.view.run->body.agentId;
}

}  // namespace

Result<std::vector<NotificationBatch>> batchesOf(replication::Space& space) {
  std::vector<NotificationBatch> out;
  for (const std::string& key : space.keys(Kind::batch)) {
    WITAN_TRY(versions, space.versions(Kind::batch, key));
    for (const replication::Version& version : versions)
      if (auto batch = replication::batchOf(version); batch.ok()) out.push_back(*std::move(batch));
  }
  std::ranges::sort(out, [](const auto& a, const auto& b) { return a.dot < b.dot; });
  return out;
}

Findings untypedTokens(std::span<const NotificationBatch> batches) {
  Findings out;
  for (const NotificationBatch& batch : batches) {
    if (batch.tokens.size() != batch.tokenKeys.size())
      out.push_back("batch " + nameOf(batch.dot) + ": a key for each token");
    for (std::size_t i = 0; i < std::min(batch.tokens.size(), batch.tokenKeys.size()); ++i) {
      const auto key = tokenKey(batch.tokens[i]);
      if (!key.ok())
        out.push_back("batch " + nameOf(batch.dot) + ": " + key.error().message);
      else if (*key != batch.tokenKeys[i])
        out.push_back("batch " + nameOf(batch.dot) + ": token " + inQuotes(batch.tokenKeys[i].str()) + " is " +
                      inQuotes(key->str()));
    }
  }
  return out;
}

Findings runsWithoutEnd(std::span<const KnownRun> runs) {
  Findings out;
  for (const KnownRun& run : runs)
    if (run.view.run && !replication::isTerminal(run.view.run->body.status))
      out.push_back(nameOf(run) + " was started by " + run.view.run->dot.host + " and has not ended");
  return out;
}

Result<Findings> wakesWithoutEnd(replication::LocalReplica& replica, std::string_view runsScope,
                                 std::span<const AgentSpec* const> specs) {
  Findings out;
  replication::SubscriptionIndex index;
  std::set<std::pair<std::string, std::string>> ownChanges;
  std::map<std::pair<std::string, std::string>, Authors> authors;
  for (const AgentSpec* spec : specs)
    for (const SubscriptionSpec& one : spec->subscriptions) {
      if (one.entities) continue;
      WITAN_DO(index.add({one.id, spec->id, one.scope, one.tokens, {}}));
      if (one.ownChanges) ownChanges.emplace(spec->id, one.id);
      authors.emplace(std::pair(spec->id, one.id), one.authors);
    }
  WITAN_TRY(runs, replica.database(replication::DatabaseName::agents).space(runsScope));
  const auto noFetch = [](const std::string&) -> Result<std::optional<replication::Entity>> {
    return std::optional<replication::Entity>();
  };
  for (const std::string& id : replica.spaceIds()) {
    const std::string scope = id.substr(id.find('/') + 1);
    WITAN_TRY(batches, batchesOf(*replica.findSpace(id)));
    for (const NotificationBatch& batch : batches) {
      const auto from = provenanceOf(batch);
      const auto eligible = [&](const replication::Subscription& s) {
        const Authors whose = authors.at({s.agentId, s.id});
        if (whose != Authors::anyone && (whose == Authors::agents) != from.has_value()) return false;
        return !from || from->agentId != s.agentId || ownChanges.contains({s.agentId, s.id});
      };
      WITAN_TRY(wakes, index.match(batch, scope, noFetch, eligible));
      for (const replication::Wake& wake : wakes) {
        WITAN_TRY(ended, hasEnded(*runs, wake.runKey));
        if (!ended)
          out.push_back("batch " + nameOf(batch.dot) + " of " + id + " woke " + wake.agentId + " by " +
                        wake.subscriptionId + ", and that run has not ended");
      }
    }
  }
  return out;
}

}  // namespace witan::agents
