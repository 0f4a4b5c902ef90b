#include "node/replica/outbox.h"

#include <algorithm>

#include "base/mutant.h"

namespace witan::node {

namespace {

constexpr std::string_view kRows = "o/";

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
  WITAN_DO(store.scan(kRows, {}, [&](std::string_view key, std::string_view value) {
    Waiting waiting;
    status = readMessage(value, waiting.request, "request");
    if (status.ok() && key.substr(kRows.size()) != waiting.request.operationId)
      status = corrupt("a request of the outbox stands under another id");
    if (status.ok()) waiting_.emplace(std::string(key.substr(kRows.size())), std::move(waiting));
    return status.ok();
  }));
  return status;
}

Status Outbox::accept(const Request& request, std::int64_t nowMs, store::WriteBatch& out) {
  if (Waiting* known = find(request.operationId)) {
    if (known->request == request) return okStatus();
    return Error{ErrorCode::conflict, "operation id " + request.operationId + " names another request that waits", ""};
  }
  if (waiting_.size() >= kMaxOutbox)
    return Error{ErrorCode::unavailable, "the outbox is full (" + std::to_string(kMaxOutbox) + " requests wait)",
                 "try again when their owners are back"};
  if (!mutated(Mutant::forgetOutbox)) {
    WordWriter words;
    out.put(std::string(kRows) + request.operationId, words.message(request));
  }
  waiting_.emplace(request.operationId, Waiting{request, nowMs, 0});
  return okStatus();
}

bool Outbox::settle(std::string_view operationId, store::WriteBatch& out) {
  const auto at = waiting_.find(operationId);
  if (at == waiting_.end()) return false;
  if (mutated(Mutant::neverForget)) return true;
  out.erase(std::string(kRows) + at->first);
  waiting_.erase(at);
  return true;
}

Outbox::Waiting* Outbox::find(std::string_view operationId) {
  const auto at = waiting_.find(operationId);
  return at == waiting_.end() ? nullptr : &at->second;
}

void Outbox::tried(Waiting& waiting, std::int64_t nowMs) {
  waiting.dueMs = nowMs + backoffMs(waiting.request.operationId, waiting.tries);
  ++waiting.tries;
  if (mutated(Mutant::neverRetry)) waiting.dueMs = std::numeric_limits<std::int64_t>::max();
}

void Outbox::hurry(std::int64_t nowMs) {
  for (auto& [id, waiting] : waiting_)
    if (!mutated(Mutant::neverRetry) || waiting.tries == 0) waiting.dueMs = std::min(waiting.dueMs, nowMs);
}

std::optional<std::int64_t> Outbox::dueMs() const {
  std::optional<std::int64_t> due;
  for (const auto& [id, waiting] : waiting_) due = std::min(due.value_or(waiting.dueMs), waiting.dueMs);
  return due;
}

}  // namespace witan::node
