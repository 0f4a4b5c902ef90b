// FollowerProgress: this device's view of one peer's copy of one partition, and how far the peer has the entries that
// this device sends to it.
//
//   unknown      The peer has not reported its position.
//   probing      The position is known, and no entries are sent: the peer did not ask, or its log is no prefix.
//   replicating  The peer's log is a prefix of this one, the peer asked, and entries are sent.
//   diverged     The two logs differ within one epoch; neither side sends (a fork). Entries alone may show that, before
//                the peer has reported its position.
//
// The transition table stands at the top of follower_progress.cpp. The invariants stand at the fields below and are
// asserted after each change. The caller compares logs; the class holds the result. Not thread-safe. The replicator of
// a connection owns one for each partition and drops it with the connection.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/reflect.h"
#include "kernel/epoch.h"

namespace witan::node {

WITAN_ENUM(FollowerState, unknown, probing, replicating, diverged)

class FollowerProgress {
 public:
  // ---- events
  // The peer reported its position; sending stops until replicate(). `follow`: it asks for entries.
  void report(bool follow, std::uint64_t batches, const kernel::Epoch& epoch);
  // The compared part of the logs agrees, or their epochs differ: a fork is over. Requires: reported.
  void agree();
  // Entries go out from batch `next` on, unless the logs have diverged. Requires: probing or diverged; the peer has
  // exactly the batches before `next` and asked for more.
  void replicate(std::uint64_t next, std::int64_t nowMs);
  // The logs differ within one epoch. Whether that is news.
  bool diverge();
  // What is known of the log does not hold any more, such as after the copy was opened again.
  void pause();

  // ---- entries
  // The peer sent batches and has at least so many, as this device does.
  void onBatchFrom(std::uint64_t batches);
  // The peer acknowledged the batches before `batches`.
  void acknowledge(std::uint64_t batches, std::int64_t nowMs);
  // After `timeoutMs` without an acknowledgement the unacknowledged batches are to be sent again. Whether that is now.
  // Requires: replicating.
  bool resendIfStalled(std::int64_t nowMs, std::int64_t timeoutMs);
  // Batch next() went out. Requires: replicating.
  void sent();

  // ---- reading
  FollowerState state() const { return state_; }
  // The peer has reported its position: it keeps a copy.
  bool known() const { return known_; }
  bool replicating() const { return state_ == FollowerState::replicating; }
  bool diverged() const { return state_ == FollowerState::diverged; }
  bool follows() const { return follows_; }
  // The peer has said that it has nothing of the log: its copy is new, lost or damaged.
  bool hasNothing() const { return known_ && batches_ == 0 && epoch_.number == 0; }
  std::uint64_t batches() const { return batches_; }
  const kernel::Epoch& epoch() const { return epoch_; }
  std::uint64_t acked() const { return acked_; }
  std::uint64_t next() const { return next_; }
  std::size_t inFlight() const { return next_ - acked_; }

 private:
  enum class Event : std::uint8_t { report, agree, replicate, diverge, pause };
  struct Transitions;
  void on(Event event);
  void checkInvariants() const;

  FollowerState state_ = FollowerState::unknown;
  bool known_ = false;           // The peer has reported its position.
  bool follows_ = false;         // The peer asks for entries: it does not own the partition. Not unless known.
  std::uint64_t batches_ = 0;    // The least length of the peer's log; acked_ <= batches_.
  kernel::Epoch epoch_;          // The last epoch of the peer's log, as reported; number 0 unless known.
  std::uint64_t next_ = 0;       // The batch to send next; acked_ <= next_. 0 unless replicating.
  std::uint64_t acked_ = 0;      // Batches that the peer has acknowledged. 0 unless replicating.
  std::int64_t progressMs_ = 0;  // The time of the last acknowledgement, or the last with nothing in flight.
};

}  // namespace witan::node
