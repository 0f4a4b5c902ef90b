#include "replica/core/outbox.h"

#include <algorithm>

#include "base/mutant.h"

namespace witan::node {

namespace {

constexpr std::string_view kRequestRows = "o/";

// Full jitter over the upper half of the backoff: devices that lost the owner together do not come back together.
std::int64_t backoffMs(std::string_view operationId, unsigned tries) {
  const std::int64_t whole = std::min(kLastRetryMs, kFirstRetryMs << std::min(tries, 10u));
  const Hash hash = sha256(std::string(operationId) + "|" + std::to_string(tries));
  const std::int64_t jitter = (hash[0] << 8 | hash[1]) * (whole / 2) / 65'536;
  return whole / 2 + jitter;
}

}  // namespace

Status Outbox::load(const store::Reader& store) {
  Status status = okStatus();
  WITAN_DO(store.scan(kRequestRows, {}, [&](std::string_view key, std::string_view value) {
    Waiting waiting;
    status = readMessage(value, waiting.request, "request");
    if (status.ok() && key.substr(kRequestRows.size()) != waiting.request.operationId)
      status = corrupt("a request of the outbox stands under another id");
    if (!status.ok()) return false;
    waiting.place = nextPlace_++;
    waiting.saved = true;
    Waiting& kept = waiting_.emplace(key.substr(kRequestRows.size()), std::move(waiting)).first->second;
    due_.emplace(Due(kept.dueMs, kept.place), &kept);
    return status.ok();
  }));
  return status;
}

void Outbox::save(Waiting& waiting, store::WriteBatch& out) {
  if (std::exchange(waiting.saved, true) || mutated("forgetOutbox")) return;
  WordWriter words;
  out.put(std::string(kRequestRows) + waiting.request.operationId, words.message(waiting.request));
}

Result<Outbox::Waiting*> Outbox::accept(const Request& request, Keep keep, std::int64_t nowMs, store::WriteBatch& out) {
  if (Waiting* known = find(request.operationId)) {
    const bool same = sameRequest(known->request, request);
    if (same && keep == Keep::now) save(*known, out);
    if (same) return known;
    return Error{ErrorCode::conflict, "operation id " + request.operationId + " names another request that waits", ""};
  }
  if (waiting_.size() >= kMaxOutbox)
    return Error{ErrorCode::unavailable, "the outbox is full (" + std::to_string(kMaxOutbox) + " requests wait)",
                 "try again when their owners are back"};
  Waiting& waiting = waiting_.emplace(request.operationId, Waiting{request, nowMs, 0, nextPlace_++}).first->second;
  due_.emplace(Due(waiting.dueMs, waiting.place), &waiting);
  if (keep == Keep::now && !mutated("keepLate"))
    save(waiting, out);
  else
    late_.emplace_back(nowMs + kUnsavedMs, request.operationId);
  return &waiting;
}

// (An id that was answered and came again meanwhile is saved early: no harm.)
void Outbox::saveLate(std::int64_t nowMs, store::WriteBatch& out) {
  for (; !late_.empty(); late_.pop_front()) {
    Waiting* waiting = find(late_.front().second);
    if (waiting == nullptr || waiting->saved) continue;
    if (late_.front().first > nowMs) return;
    save(*waiting, out);
  }
}

bool Outbox::settle(std::string_view operationId, store::WriteBatch& out) {
  const auto at = waiting_.find(operationId);
  if (at == waiting_.end()) return false;
  if (mutated("neverForget")) return true;
  if (at->second.saved && !mutated("keepRequestRow")) out.erase(std::string(kRequestRows) + at->first);
  due_.erase({at->second.dueMs, at->second.place});
  waiting_.erase(at);
  return true;
}

Outbox::Waiting* Outbox::find(std::string_view operationId) {
  const auto at = waiting_.find(operationId);
  return at == waiting_.end() ? nullptr : &at->second;
}

void Outbox::tryAt(Waiting& waiting, std::int64_t ms) {
  auto node = due_.extract({waiting.dueMs, waiting.place});
  node.key().first = waiting.dueMs = ms;
  due_.insert(std::move(node));
}

void Outbox::tried(Waiting& waiting, std::int64_t nowMs) {
  const std::int64_t next = nowMs + backoffMs(waiting.request.operationId, waiting.tries);
  ++waiting.tries;
  tryAt(waiting, mutated("neverRetry") ? std::numeric_limits<std::int64_t>::max() : next);
}

void Outbox::sentTo(Waiting& waiting, const std::string& device) {
  std::erase(waiting.asked, device);
  if (waiting.asked.size() == kMaxAsked) waiting.asked.erase(waiting.asked.begin());
  waiting.asked.push_back(device);
}

// All at the same moments: who has hundreds of them is woken for all at once.
void Outbox::park(Waiting& waiting, std::int64_t nowMs) { tryAt(waiting, (nowMs / kParkMs + 1) * kParkMs); }

void Outbox::expedite(std::int64_t nowMs) {
  for (auto& [id, waiting] : waiting_)
    if (waiting.dueMs > nowMs && (!mutated("neverRetry") || waiting.tries == 0)) tryAt(waiting, nowMs);
}

void Outbox::visitDue(std::int64_t nowMs, const std::function<void(Waiting&)>& visit) {
  std::vector<Due> now;
  for (const auto& [due, waiting] : due_) {
    if (due.first > nowMs) break;
    now.push_back(due);
  }
  for (const Due& due : now)
    if (const auto at = due_.find(due); at != due_.end()) visit(*at->second);
}

std::optional<std::int64_t> Outbox::dueMs() const {
  if (due_.empty()) return std::nullopt;
  const std::int64_t due = due_.begin()->first.first;
  return late_.empty() ? due : std::min(due, late_.front().first);
}

}  // namespace witan::node
