// Coalescer: pending notification batches, of which only those with equal logical change key become one (seed
// 003, 3.4).
//
// Merging two different changes would give a key that no other device derives; waking once for several changes is the
// business of the wake queue, behind this. Sans-I/O: when to take is the caller's decision. Bounded: a full coalescer
// takes nothing in, and the caller must take something out first; nothing is ever dropped. Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "replication/notification.h"

namespace witan::replication {

struct CoalescerLimits {
  std::size_t batches = 4096;
  std::size_t tokens = 262'144;  // over all batches
};

enum class Coalesced { queued, merged, full };

class Coalescer {
 public:
  explicit Coalescer(CoalescerLimits limits = {}) : limits_(limits) {}

  // O(log n + tokens). `full` changes nothing.
  Coalesced offer(NotificationBatch batch);
  // The batch that has waited longest.
  std::optional<NotificationBatch> take();

  std::size_t size() const { return queue_.size(); }
  bool empty() const { return queue_.empty(); }

 private:
  bool merge(NotificationBatch& into, const NotificationBatch& from);

  CoalescerLimits limits_;
  std::size_t tokens_ = 0;
  std::deque<LogicalChangeKey> queue_;
  std::map<LogicalChangeKey, NotificationBatch> pending_;
};

// `into` also tells what `from` tells. The same result in any order of merging. Requires: equal logical change keys,
// and at most kMaxRecordList tokens together.
void mergeEqualChange(NotificationBatch& into, const NotificationBatch& from);

}  // namespace witan::replication
