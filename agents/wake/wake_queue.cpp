#include "agents/wake/wake_queue.h"

#include <algorithm>

#include "base/mutant.h"

namespace witan::agents {

Status WakeQueue::load(std::int64_t nowMs) {
  Status status = okStatus();
  std::vector<WakeJob> jobs;
  WITAN_DO(agents_.scanMeta("wake/", [&](std::string_view name, std::string_view bytes) {
    auto job = decodeJob(name, bytes);
    if (!job.ok()) return status = job.error(), false;
    jobs.push_back(*std::move(job));
    return true;
  }));
  WITAN_DO(status);
  std::ranges::sort(jobs, [](const WakeJob& a, const WakeJob& b) { return a.sequence < b.sequence; });
  for (WakeJob& job : jobs) {
    nextSequence_ = std::max(nextSequence_, job.sequence + 1);
    // It ran when the process ended: again, under the same run key.
    job.state = JobState::queued;
    const auto lane = lanes_.try_emplace(job.agentId).first;
    const Entry& entry = entries_.emplace(job.key(), Entry{std::move(job), nowMs, nowMs}).first->second;
    lane->second.waiting.insert(placeOf(entry));
    refresh(lane);
  }
  return okStatus();
}

bool WakeQueue::fits(std::string_view agentId) const {
  if (entries_.size() >= limits_.jobs) return false;
  const auto lane = lanes_.find(agentId);
  return lane == lanes_.end() || lane->second.size() < limits_.perAgent;
}

Enqueued WakeQueue::enqueue(WakeJob job, std::int64_t nowMs) {
  if (entries_.contains(job.key())) return Enqueued::duplicate;
  if (!fits(job.agentId)) return Enqueued::full;
  job.sequence = nextSequence_++;
  if (!mutated("lostWake")) put(job);
  const auto lane = lanes_.try_emplace(job.agentId).first;
  const Entry& entry = entries_.emplace(job.key(), Entry{std::move(job), nowMs, nowMs}).first->second;
  lane->second.waiting.insert(placeOf(entry));
  refresh(lane);
  return Enqueued::queued;
}

const WakeQueue::Entry* WakeQueue::find(const RunKey& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

WakeQueue::Entry& WakeQueue::at(const RunKey& key) {
  const auto found = entries_.find(key);
  WITAN_CHECK(found != entries_.end(), "the wake is in the queue");
  return found->second;
}

const WakeJob& WakeQueue::start(const RunKey& key, std::int64_t wallMs) {
  Entry& entry = at(key);
  const auto lane = lanes_.find(entry.job.agentId);
  WITAN_CHECK(!lane->second.running, "an agent runs one wake at a time");
  lane->second.waiting.erase(placeOf(entry));
  lane->second.running = key;
  ++running_;
  entry.job.state = JobState::running;
  if (entry.job.attempts++ == 0) entry.job.startedAtMs = wallMs;
  put(entry.job);
  refresh(lane);
  return entry.job;
}

void WakeQueue::requeue(const RunKey& key, std::int64_t dueMs) {
  Entry& entry = at(key);
  const auto lane = lanes_.find(entry.job.agentId);
  lane->second.waiting.erase(placeOf(entry));
  if (lane->second.running == key) lane->second.running.reset(), --running_;
  entry.job.state = JobState::queued;
  entry.dueMs = dueMs;
  put(entry.job);
  lane->second.waiting.insert(placeOf(entry));
  refresh(lane);
}

void WakeQueue::says(const RunKey& key, const replication::Dot& said, std::int64_t nowMs) {
  Entry& entry = at(key);
  if (entry.said != said) entry.said = said, entry.saidMs = nowMs;
}

void WakeQueue::forgive(const RunKey& key) {
  WakeJob& job = at(key).job;
  WITAN_CHECK(job.attempts > 0, "the wake was started");
  if (job.attempts == 1) return;  // 0 would be a wake that never started
  --job.attempts;
  put(job);
}

bool WakeQueue::remove(const RunKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  const auto lane = lanes_.find(found->second.job.agentId);
  lane->second.waiting.erase(placeOf(found->second));
  if (lane->second.running == key) lane->second.running.reset(), --running_;
  if (!mutated("keepWakeRow")) agents_.eraseMeta(jobRowName(key));
  entries_.erase(found);
  refresh(lane);
  return true;
}

void WakeQueue::refresh(Lanes::iterator at) {
  Lane& lane = at->second;
  if (lane.head) heads_.erase(*lane.head);
  lane.head.reset();
  if (!lane.running && !lane.waiting.empty()) {
    lane.head = *lane.waiting.begin();
    heads_.insert(*lane.head);
  }
  if (lane.size() == 0) lanes_.erase(at);
}

std::vector<RunKey> WakeQueue::heads(std::int64_t nowMs) const {
  std::vector<RunKey> out;
  for (const Place& place : heads_) {
    if (place.dueMs > nowMs) break;
    out.push_back(place.key);
  }
  return out;
}

const WakeQueue::Entry* WakeQueue::head(std::string_view agentId) const {
  const auto lane = lanes_.find(agentId);
  return lane == lanes_.end() || !lane->second.head ? nullptr : find(lane->second.head->key);
}

std::optional<std::int64_t> WakeQueue::nextDueMs(std::int64_t nowMs) const {
  const auto next = heads_.lower_bound(Place{nowMs + 1, 0, {}});
  return next == heads_.end() ? std::nullopt : std::optional(next->dueMs);
}

std::vector<RunKey> WakeQueue::olderTimers(std::string_view agentId, std::string_view timerId, std::int64_t ms) const {
  std::vector<RunKey> out;
  const auto lane = lanes_.find(agentId);
  if (lane == lanes_.end()) return out;
  for (const Place& place : lane->second.waiting) {
    const WakeJob& job = find(place.key)->job;
    if (job.reason == replication::WakeReason::timer && job.subject == timerId && job.attempts == 0 &&
        job.scheduledAtMs < ms)
      out.push_back(place.key);
  }
  return out;
}

}  // namespace witan::agents
