// WakeCenter: timers, of the agent's specification and of the schedule that all devices share.
#include <algorithm>

#include "agents/wake/wake_center.h"
#include "agents/wake/wake_job.h"
#include "base/mutant.h"

namespace witan::agents {

namespace {

void sooner(std::optional<std::int64_t>& into, std::int64_t ms) { into = into ? std::min(*into, ms) : ms; }

}  // namespace

std::map<std::string, std::int64_t> WakeCenter::timersOf(const Registered& agent) {
  std::map<std::string, std::int64_t> out;
  if (agent.asleep) return out;
  for (const TimerSpec& timer : agent.spec->timers) out.emplace(timer.id, timer.everyMs);
  for (const auto& [id, timer] : agent.timers) {
    if (timer.version == 0 || id == kSelfTimer || mutated("ownTimers")) continue;
    const auto every = static_cast<std::int64_t>(std::min(timer.everyMs, replication::kMaxStateCounter / 2));
    if (checkTimer(every).ok())
      out.insert_or_assign(id, every);
    else
      out.erase(id);
  }
  return out;
}

void WakeCenter::file(const std::string& agentId, Registered& agent, Now now) {
  if (agent.dueMs) due_.erase({*agent.dueMs, agentId});
  agent.dueMs.reset();
  const std::int64_t wallMs = now.wallMs();
  for (const auto& [id, everyMs] : timersOf(agent)) {
    const std::int64_t owed = owedAt(everyMs, wallMs);
    const auto seen = agent.seen.find(id);
    sooner(agent.dueMs, seen != agent.seen.end() && seen->second == owed ? owed + everyMs : owed);
  }
  if (agent.nextWakeAt) {
    const auto due = static_cast<std::int64_t>(std::min(*agent.nextWakeAt, replication::kMaxStateCounter / 2));
    // An agent that always asks for the next moment does not keep the device busy.
    const std::int64_t pause = agent.lastSelfMs ? *agent.lastSelfMs + options_.selfTimerMs - now.ms : 0;
    sooner(agent.dueMs, pause > 0 ? std::max(due, wallMs + pause) : due);
  }
  if (agent.dueMs) due_.emplace(*agent.dueMs, agentId);
}

Status WakeCenter::tickTimers(const std::string& agentId, Registered& agent, Now now) {
  const std::int64_t wallMs = now.wallMs();
  if (wallMs < 0) return okStatus();
  for (const auto& [id, everyMs] : timersOf(agent)) {
    std::int64_t& seen = agent.seen.try_emplace(id, -1).first->second;
    const std::int64_t owed = owedAt(everyMs, wallMs);
    if (owed == seen) continue;
    // It may have fired where nothing else is left of that.
    const auto known = agent.timers.find(id);
    const bool fired = known != agent.timers.end() && known->second.firedThrough == static_cast<std::uint64_t>(owed);
    WITAN_TRY(done, fired ? Result<bool>(true) : fireTimer(agentId, id, owed, now));
    if (done) seen = owed;
  }
  const bool paused = agent.lastSelfMs && now.ms < *agent.lastSelfMs + options_.selfTimerMs;
  if (agent.nextWakeAt && *agent.nextWakeAt <= static_cast<std::uint64_t>(wallMs) && !paused) {
    WITAN_TRY(done, fireTimer(agentId, kSelfTimer, static_cast<std::int64_t>(*agent.nextWakeAt), now));
    if (done) agent.lastSelfMs = now.ms, agent.nextWakeAt.reset();
  }
  file(agentId, agent, now);
  return okStatus();
}

Result<bool> WakeCenter::fireTimer(std::string_view agentId, std::string_view timerId, std::int64_t scheduledAtMs,
                                   Now now) {
  // Of several missed wakes only the last one runs.
  for (const RunKey& older : queue_.olderTimers(agentId, timerId, scheduledAtMs)) queue_.remove(older);
  WITAN_TRY(job, timerJob(agentId, timerId, scheduledAtMs));
  return offer(std::move(job), now);
}

}  // namespace witan::agents
