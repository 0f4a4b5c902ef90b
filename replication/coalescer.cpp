#include "replication/coalescer.h"

#include <algorithm>

namespace witan::replication {

namespace {

// Both sorted by key and unique: the union.
void unite(NotificationBatch& into, const NotificationBatch& from) {
  std::vector<NotificationToken> tokens;
  std::vector<TokenKey> keys;
  std::size_t a = 0, b = 0;
  while (a < into.tokens.size() || b < from.tokens.size()) {
    const bool left = b == from.tokens.size() || (a < into.tokens.size() && into.tokenKeys[a] <= from.tokenKeys[b]);
    if (left && b < from.tokens.size() && into.tokenKeys[a] == from.tokenKeys[b]) ++b;
    keys.push_back(left ? std::move(into.tokenKeys[a]) : from.tokenKeys[b]);
    tokens.push_back(left ? std::move(into.tokens[a]) : from.tokens[b]);
    ++(left ? a : b);
  }
  into.tokens = std::move(tokens);
  into.tokenKeys = std::move(keys);
}

}  // namespace

void mergeEqualChange(NotificationBatch& into, const NotificationBatch& from) {
  WITAN_CHECK(into.logicalChangeKey == from.logicalChangeKey, "only equal changes are merged (003, 3.4)");
  unite(into, from);
  into.deps.join(from.deps);
  // Names for people only; the smaller one, so that the order of merging does not show.
  into.dot = std::min(into.dot, from.dot);
  into.localBatchId = std::min(into.localBatchId, from.localBatchId);
  into.sourceCursor = std::max(into.sourceCursor, from.sourceCursor);
}

Coalesced Coalescer::offer(NotificationBatch batch) {
  const auto found = pending_.find(batch.logicalChangeKey);
  if (found != pending_.end()) return merge(found->second, batch) ? Coalesced::merged : Coalesced::full;
  // One batch always fits in, or it never would.
  if (queue_.size() >= limits_.batches) return Coalesced::full;
  if (!queue_.empty() && tokens_ + batch.tokens.size() > limits_.tokens) return Coalesced::full;
  tokens_ += batch.tokens.size();
  queue_.push_back(batch.logicalChangeKey);
  const LogicalChangeKey key = batch.logicalChangeKey;
  pending_.emplace(key, std::move(batch));
  return Coalesced::queued;
}

bool Coalescer::merge(NotificationBatch& into, const NotificationBatch& from) {
  const auto shared =
      static_cast<std::size_t>(std::count_if(from.tokenKeys.begin(), from.tokenKeys.end(), [&](const TokenKey& key) {
        return std::binary_search(into.tokenKeys.begin(), into.tokenKeys.end(), key);
      }));
  const std::size_t added = from.tokenKeys.size() - shared;
  if (added > 0 && (tokens_ + added > limits_.tokens || into.tokens.size() + added > kMaxRecordList)) return false;
  mergeEqualChange(into, from);
  tokens_ += added;
  return true;
}

std::optional<NotificationBatch> Coalescer::take() {
  if (queue_.empty()) return std::nullopt;
  auto node = pending_.extract(queue_.front());
  queue_.pop_front();
  WITAN_CHECK(!node.empty(), "a queued key has its batch");
  tokens_ -= node.mapped().tokens.size();
  return std::move(node.mapped());
}

}  // namespace witan::replication
