#include "agents/wake/wake_checks.h"

#include <algorithm>

#include "agents/wake/provenance.h"
#include "base/quote.h"

namespace witan::agents {

using replication::Kind;
using replication::NotificationBatch;

namespace {

std::string nameOf(const replication::Dot& dot) { return dot.host + ":" + std::to_string(dot.counter); }

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
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.dot < b.dot; });
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

Findings runsOfNoChange(std::span<const KnownRun> runs, std::span<const NotificationBatch> batches) {
  std::set<LogicalChangeKey> changes;
  for (const NotificationBatch& batch : batches)
    if (const auto key = logicalChangeKey(batch.changeUnitKeys); key.ok()) changes.insert(*key);
  Findings out;
  for (const KnownRun& run : runs) {
    if (!run.view.run || run.view.run->body.reason != replication::WakeReason::subscription) continue;
    const auto& body = run.view.run->body;
    const bool known = std::any_of(changes.begin(), changes.end(), [&](const LogicalChangeKey& change) {
      const auto key = subscriptionRunKey(body.agentId, body.subject, change);
      return key.ok() && *key == run.key;
    });
    if (!known) out.push_back(nameOf(run) + " follows from no change that is known");
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
  for (const AgentSpec* spec : specs)
    for (const SubscriptionSpec& one : spec->subscriptions) {
      if (one.entities) continue;
      WITAN_DO(index.add({one.id, spec->id, one.scope, one.tokens, {}}));
      if (one.ownChanges) ownChanges.emplace(spec->id, one.id);
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

Status RunWatch::observe(std::string_view device, replication::Space& runs) {
  WITAN_TRY(known, knownRuns(runs));
  for (const KnownRun& run : known)
    if (run.view.run && replication::isTerminal(run.view.run->body.status)) ended_.emplace(device, run.key);
  return okStatus();
}

void RunWatch::started(std::string_view device, const RunKey& key) {
  ++starts_[key];
  if (ended_.contains({std::string(device), key}))
    findings_.push_back("device " + std::string(device) + " starts run " + key.hex().substr(0, 12) +
                        " although it knows of its end");
}

std::size_t RunWatch::starts(const RunKey& key) const {
  const auto found = starts_.find(key);
  return found == starts_.end() ? 0 : found->second;
}

}  // namespace witan::agents
