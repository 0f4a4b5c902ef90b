#include "node/operations/agent_retention.h"

#include <algorithm>

#include "agents/host/run_retention.h"
#include "agents/memory/retention.h"
#include "agents/wake/wake_job.h"
#include "base/quote.h"
#include "domains/agents.h"
#include "replication/records/record_views.h"

namespace witan::node::operations {

using namespace replication;

namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::size_t kRemovalsAtOnce = 1'000;

bool isTranscript(const MessageBody& message) { return message.threadId.find("/run/") != std::string::npos; }

bool comesAgain(const WakeRunBody& run) {
  const agents::Agent* agent = domains::findAgent(run.agentId);
  if (agent == nullptr || run.reason == WakeReason::graph) return true;
  const auto& ledgers = agent->spec().ledgers;
  return std::ranges::any_of(ledgers, [&](const agents::LedgerSpec& one) { return one.id == run.subject; });
}

// Calls visit(body, bytes, key) for each record of the kind that can be read.
template <class Body, class Visit>
Status forEach(Space& space, Visit visit) {
  for (const std::string& key : space.keys(Body::recordKind)) {
    WITAN_TRY(versions, space.versions(Body::recordKind, key));
    for (const Version& version : versions) {
      if (version.tombstone) continue;
      if (const auto body = decodeRecord<Body>(version.body); body.ok()) visit(*body, version.body.size(), key);
    }
  }
  return okStatus();
}

}  // namespace

Result<AgentUsage> agentUsage(OperationContext& context, const ScopeRequest& request) {
  std::map<std::string, AgentUsageRow> rows;
  AgentUsage usage;
  const auto of = [&](const std::string& agent, std::size_t bytes) -> AgentUsageRow& {
    AgentUsageRow& row = rows[agent];
    row.agent = agent;
    row.bytes += bytes;
    return row;
  };
  for (const DatabaseName name : {DatabaseName::agents, DatabaseName::journal}) {
    Space* space = context.space(name, request.scope);
    if (space == nullptr) continue;
    usage.batches += space->keys(Kind::batch).size();
    WITAN_DO(forEach<OperationBody>(*space, [&](const OperationBody& body, std::size_t bytes, const std::string&) {
      ++of(body.agentId, bytes).operations;
    }));
    if (name == DatabaseName::journal) continue;
    WITAN_DO(forEach<MessageBody>(*space, [&](const MessageBody& body, std::size_t bytes, const std::string&) {
      AgentUsageRow& row = of(body.agentId, bytes);
      ++(isTranscript(body) ? row.entries : row.messages);
      const Time at{body.createdAtMs * 1000};
      if (!row.oldest || at < *row.oldest) row.oldest = at;
    }));
    WITAN_DO(forEach<PlanBody>(
        *space, [&](const PlanBody& body, std::size_t bytes, const std::string&) { ++of(body.agentId, bytes).plans; }));
    WITAN_DO(forEach<WakeRunBody>(*space, [&](const WakeRunBody& body, std::size_t bytes, const std::string&) {
      ++of(body.agentId, bytes).runs;
    }));
  }
  for (auto& [agent, row] : rows) usage.agents.push_back(std::move(row));
  std::ranges::stable_sort(usage.agents, std::greater{}, &AgentUsageRow::bytes);
  return usage;
}

Result<AgentPruned> pruneAgents(OperationContext& context, const AgentPruneRequest& request) {
  if (request.days < 1 || request.days > 36'500) return invalid("days: from 1 to 36500");
  agents::RunRetention retention(context.replica,
                                 {.scope = request.scope.value_or(kDefaultScope),
                                  .horizonMs = static_cast<std::int64_t>(request.days) * kDayMs,
                                  .furtherMs = 0},
                                 comesAgain);
  const Now now{context.now, context.nowMs()};
  do {
    WITAN_DO(retention.step(true, now));
  } while (retention.underWay());
  const std::string scope = request.scope.value_or(kDefaultScope);
  for (const agents::Agent* agent : domains::builtinAgents())
    if (!agent->spec().remembers)
      WITAN_DO(agents::forgetSaid(context.replica, scope, agent->spec().id,
                                  context.nowMs() - static_cast<std::int64_t>(request.days) * kDayMs));
  const agents::Pruned& gone = retention.pruned();
  AgentPruned done{gone.runs, gone.entries, gone.plans, gone.operations, gone.approvals, {}};
  if (!retention.held().empty()) done.held = retention.held();
  return done;
}

Result<AgentResetDone> resetAgent(OperationContext& context, const AgentResetRequest& request) {
  Space* space = context.space(DatabaseName::agents, request.scope);
  if (space == nullptr || space->table().find(Kind::agentState, request.id) == nullptr)
    return notFound("no agent " + inQuotes(request.id) + " has a state", "see: witan agent list");
  WITAN_TRY(versions, space->versions(Kind::agentState, request.id));
  for (const Version& version : versions) {
    if (version.tombstone) continue;
    WITAN_TRY(snapshot, toSnapshot(request.id, version));
    if (snapshot.state.lifecycle == Lifecycle::destroyed)
      return conflict("agent " + request.id + " is destroyed and does not begin anew");
  }
  bool waits = false;
  WITAN_DO(context.replica.database(DatabaseName::agents)
               .scanMeta("wake/", [&](std::string_view name, std::string_view bytes) {
                 const auto job = agents::decodeJob(name, bytes);
                 waits = waits || (job.ok() && job->agentId == request.id);
                 return !waits;
               }));
  if (waits) return conflict("a wake of " + inQuotes(request.id) + " waits or runs here", "see: witan wake list");
  std::vector<Write> writes;
  WITAN_DO(forEach<MessageBody>(*space, [&](const MessageBody& body, std::size_t, const std::string& key) {
    if (body.agentId == request.id && !isTranscript(body)) writes.push_back({Kind::message, key, {}, true});
  }));
  WITAN_DO(forEach<SummaryBody>(*space, [&](const SummaryBody& body, std::size_t, const std::string& key) {
    if (body.agentId == request.id) writes.push_back({Kind::summary, key, {}, true});
  }));
  const std::uint64_t messages = writes.size();
  writes.push_back({Kind::agentState, request.id, {}, true});
  for (std::size_t from = 0; from < writes.size(); from += kRemovalsAtOnce) {
    const std::size_t n = std::min(kRemovalsAtOnce, writes.size() - from);
    WITAN_DO(context.replica.commit(DatabaseName::agents, request.scope.value_or(kDefaultScope),
                                    std::span(writes).subspan(from, n)));
  }
  return AgentResetDone{request.id, messages};
}

}  // namespace witan::node::operations
