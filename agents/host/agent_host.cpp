#include "agents/host/agent_host.h"

#include <algorithm>

#include "agents/host/builtin_tools.h"
#include "agents/spec_check.h"
#include "agents/wake/host_choice.h"

namespace witan::agents {

using namespace replication;

AgentHost::AgentHost(LocalReplica& replica, const episode::Gate& gate, HostOptions options)
    : replica_(replica),
      gate_(gate),
      options_(std::move(options)),
      wakes_(replica, options_.wake),
      sagas_(replica, *this, options_.saga),
      memory_(replica, {.scope = options_.wake.scope}) {}

AgentHost::~AgentHost() = default;

Result<Space*> AgentHost::space() { return agentsDatabase().space(options_.wake.scope); }

Status AgentHost::load(std::span<const Agent* const> agents, Now now) {
  for (episode::ToolInfo& tool : builtinTools()) WITAN_DO(tools_.add(std::move(tool)));
  for (const episode::ToolInfo& tool : options_.tools) WITAN_DO(tools_.add(tool));
  WITAN_TRY(records, space());
  std::set<std::string, std::less<>> here;
  for (const Agent* agent : agents) {
    const AgentSpec& spec = agent->spec();
    WITAN_DO(checkSpec(spec));
    agents_.emplace(spec.id, agent);
    here.insert(spec.id);
    WITAN_DO(wakes_.add(spec));
    WITAN_TRY(writes, hostingWrites(*records, spec.id, replica_.device()));
    if (!writes.empty()) WITAN_DO(replica_.commit(DatabaseName::agents, options_.wake.scope, writes));
  }
  WITAN_TRY(gone, unhostingAllBut(*records, replica_.device(), here));
  if (!gone.empty()) WITAN_DO(replica_.commit(DatabaseName::agents, options_.wake.scope, gone));
  WITAN_DO(wakes_.load(now));
  WITAN_DO(sagas_.load(now));
  WITAN_DO(sagas_.rows().visitDone([&](saga::SagaRow&& row) { noteUndone(row); }));
  WITAN_DO(memory_.load(now));
  setDevices({replica_.device()}, {}, now);
  return noticeContested(now);
}

void AgentHost::setDevices(std::vector<std::string> members, std::set<std::string> live, Now now) {
  members_ = members;
  live_ = live;
  wakes_.setDevices(std::move(members), std::move(live), now);
  again_ = true;
}

Result<RunKey> AgentHost::userTurn(std::string_view agentId, std::string_view session, std::string_view turn,
                                   std::string_view text, Now now) {
  return wakes_.userTurn(agentId, session, turn, text, now);
}

Result<bool> AgentHost::ledgerFact(std::string_view agentId, std::string_view subscriptionId, const LedgerFact& fact,
                                   Now now) {
  return wakes_.ledgerFact(agentId, subscriptionId, fact, now);
}

Status AgentHost::work(Now now) {
  again_ = false;
  WITAN_DO(wakes_.takeEvents(now));
  WITAN_DO(wakes_.tick(now));
  WITAN_DO(noticeContested(now));
  WITAN_DO(reconcileDue(now));
  WITAN_DO(giveUpCalls(now));
  WITAN_TRY(jobs, wakes_.takeRunnable(now));
  for (WakeCenter::Unheard& turn : wakes_.takeUnheard())
    out_.notices.push_back({"unheard", turn.agentId + " does not hear what was said: " + turn.why});
  for (WakeJob& job : jobs) WITAN_DO(startRun(std::move(job), now));
  sagas_.tick(now);
  for (const RunKey& key : inOrder()) WITAN_DO(push(running_.find(key)->second, now));  // it may end, and no other
  return okStatus();
}

std::vector<RunKey> AgentHost::inOrder() const {
  std::vector<std::pair<std::uint64_t, RunKey>> runs;
  for (const auto& [key, run] : running_) runs.emplace_back(run.job.sequence, key);
  std::sort(runs.begin(), runs.end());
  std::vector<RunKey> keys;
  for (const auto& [sequence, key] : runs) keys.push_back(key);
  return keys;
}

void AgentHost::stopping() {
  for (auto& [key, run] : running_) forgive(run);
}

void AgentHost::journalDurable(Now now) { sagas_.journalDurable(now); }

Status AgentHost::agentsDurable(Now now, HostEffects& out) {
  const std::size_t known = out.calls.size();
  wakes_.durable();
  sagas_.agentsDurable(now);
  const std::uint64_t durable = agentsDatabase().durable();
  for (const RunKey& key : inOrder()) {
    Running& run = running_.find(key)->second;
    if (run.mark <= durable) run.episode.durable(run.written);
    if (run.planMark && *run.planMark <= durable) {
      run.planMark.reset();
      WITAN_DO(bindPlan(run));
    }
    WITAN_DO(carryOut(run, now, out));
  }
  std::move(out_.proposals.begin(), out_.proposals.end(), std::back_inserter(out.proposals));
  std::move(out_.calls.begin(), out_.calls.end(), std::back_inserter(out.calls));
  std::move(out_.notices.begin(), out_.notices.end(), std::back_inserter(out.notices));
  out_.clear();
  noteCalls(out, known, now);
  return okStatus();
}

void AgentHost::noteCalls(const HostEffects& effects, std::size_t from, Now now) {
  for (std::size_t i = from; i < effects.calls.size(); ++i) {
    const ToolCall& call = effects.calls[i];
    calls_[{call.run, call.span}] = {call.operation, now.ms};
  }
}

// A tool that never answers would hold up its run, and every other wake of its agent.
Status AgentHost::giveUpCalls(Now now) {
  const std::string why = "the tool did not answer in time";
  for (auto at = calls_.begin(); at != calls_.end();) {
    const auto [key, call] = *at;
    if (now.ms - call.sinceMs < options_.callTimeoutMs) {
      ++at;
      continue;
    }
    at = calls_.erase(at);
    if (call.operation)
      failed(*call.operation, Error{ErrorCode::unavailable, why, ""}, now);
    else
      WITAN_DO(observed(key.first, key.second, {false, nullptr, why, 0, 0}));
  }
  return okStatus();
}

void AgentHost::answered(const OperationId& operation, const saga::Outcome& outcome, Now now) {
  answeredCall(operation);
  sagas_.answered(operation, outcome, now);
  again_ = true;
}

void AgentHost::failed(const OperationId& operation, const Error& why, Now now) {
  answeredCall(operation);
  sagas_.answered(operation, why, now);
  again_ = true;
}

void AgentHost::answeredCall(const OperationId& operation) {
  std::erase_if(calls_, [&](const auto& call) { return call.second.operation == operation; });
}

Status AgentHost::observed(const RunKey& run, std::string_view span, episode::Observation observation) {
  calls_.erase({run, std::string(span)});
  const auto at = running_.find(run);
  if (at == running_.end()) return okStatus();
  again_ = true;
  const Status heard = at->second.episode.observed(span, std::move(observation));
  // The run was started over meanwhile, and does not ask for that, or not yet.
  return !heard.ok() && heard.error().code == ErrorCode::notFound ? okStatus() : heard;
}

std::optional<std::int64_t> AgentHost::nextMs(Now now) const {
  if (again_ || !sagas_.quiet()) return now.ms;
  std::optional<std::int64_t> next = wakes_.nextMs(now);
  const auto atLatest = [&](std::int64_t ms) { next = std::min(next.value_or(ms), ms); };
  if (const std::int64_t due = sagas_.nextTickMs(); due != std::numeric_limits<std::int64_t>::max()) atLatest(due);
  for (const auto& [run, due] : contested_) atLatest(due);
  if (watchIsDue()) atLatest(std::max(now.ms, nextWatchMs_));
  for (const auto& [key, call] : calls_) atLatest(call.sinceMs + options_.callTimeoutMs);
  return next;
}

bool AgentHost::quiet() const {
  const auto& waiting = wakes_.queue().all();
  return running_.empty() && onlyPeopleLeft() && std::none_of(waiting.begin(), waiting.end(), [&](const auto& entry) {
           return agents_.contains(entry.second.job.agentId);
         });
}

bool AgentHost::onlyPeopleLeft() const {
  if (again_ || !contested_.empty() || !sagas_.quiet() || sagas_.open() != waiting_.size() || wakes_.backlog() > 0 ||
      watchIsDue())
    return false;
  std::set<std::string_view> asking;  // agents: each has one run at a time
  for (const auto& [key, run] : running_) {
    if (run.acting || !run.actions.empty() || run.episode.questions().empty()) return false;
    asking.insert(run.job.agentId);
  }
  return std::all_of(wakes_.queue().all().begin(), wakes_.queue().all().end(), [&](const auto& entry) {
    return asking.contains(entry.second.job.agentId) || !agents_.contains(entry.second.job.agentId);
  });
}

}  // namespace witan::agents
