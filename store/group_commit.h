// GroupCommit: many threads hand in items, one thread makes them durable, many per sync.
//
//   submit(item)  ->  queue  ->  commit thread:  work(items, batch)      decides everything queued, in order
//                                                store.writeSynced(batch) one write, one sync
//                                                done(items, status)      the durability notice
//
// While the disk is busy with one batch the next one queues up, so a slower disk only makes larger batches. Items are
// worked on and answered in the order in which submit() accepted them, each exactly once, and ok only when durable.
//
// The first failure, of the work or of the disk, ends it: that batch, everything queued and everything later is
// answered with that error. What a failed fsync left behind is known only after reopening (Rebello et al., "Can
// Applications Recover from fsync Failures?", USENIX ATC 2020), and `work` may be ahead of the disk by then.
//
// Threads: submit, trySubmit, drain and stats from any thread; also submit and trySubmit from `done`, which is how a
// closed loop of proposers fills the next batch completely. `work` and `done` run on the commit thread only; they must
// not throw. Lifetime: the store, and what `work` and `done` refer to, outlive this object. Destruction stops.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/short_slice.h"
#include "store/store.h"

namespace witan::store {

struct GroupCommitLimits {
  // Items that wait while a batch is being committed; also the largest batch. Beyond it submit() blocks.
  std::size_t maxQueued = 16 * 1024;
};

struct GroupCommitStats {
  std::uint64_t items = 0;    // durable
  std::uint64_t batches = 0;  // that needed the disk
  std::size_t largestBatch = 0;
};

template <class Item>
class GroupCommit {
 public:
  // Decides `items` in order and fills `out`, which arrives empty. An `out` left empty needs no disk: what the answers
  // rest on is durable already. An error ends the committer.
  using Work = std::function<Status(std::vector<Item>& items, WriteBatch& out)>;
  // ok: all items are durable, with everything before them. An error: none of them may be acknowledged; whether they
  // are on the disk is known after reopening. `work` has not seen the items that were still queued then.
  using Done = std::function<void(std::vector<Item>& items, const Status& durable)>;

  GroupCommit(Store& store, Work work, Done done, GroupCommitLimits limits = {})
      : store_(store), work_(std::move(work)), done_(std::move(done)), limits_(limits) {
    WITAN_CHECK(limits_.maxQueued > 0, "a queue holds at least one item");
    thread_ = std::thread([this] { run(); });
    commitThread_ = thread_.get_id();
  }
  ~GroupCommit() { stop(); }
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Accepts the item, blocking while the queue is full. On an error (stopped, failed; or full, when called from
  // `done`, where waiting would wait for itself) the item was not accepted and is not answered.
  Status submit(Item item) {
    std::unique_lock lock(mutex_);
    if (!onCommitThread()) {
      ++waitingForSpace_;
      space_.wait(lock, [&] { return stopping_ || failure_ || queue_.size() < limits_.maxQueued; });
      --waitingForSpace_;
    }
    return accept(lock, item);
  }

  // Never blocks: unavailable when the queue is full. The item is moved from only when the result is ok.
  Status trySubmit(Item& item) {
    std::unique_lock lock(mutex_);
    return accept(lock, item);
  }

  // Waits until every item accepted before this call has been answered.
  void drain() {
    std::unique_lock lock(mutex_);
    WITAN_CHECK(!onCommitThread(), "the commit thread does not wait for itself");
    const std::uint64_t target = accepted_;
    answeredMore_.wait(lock, [&] { return answered_ >= target; });
  }

  // Accepts nothing more, commits and answers what was accepted, ends the thread. From one thread, not from `done`.
  void stop() {
    WITAN_CHECK(!onCommitThread(), "the commit thread does not end itself");
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    queued_.notify_all();
    space_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  GroupCommitStats stats() const {
    std::lock_guard lock(mutex_);
    return stats_;
  }

  // The failure that ended it, if one did.
  std::optional<Error> failure() const {
    std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  bool onCommitThread() const { return std::this_thread::get_id() == commitThread_; }

  Status accept(std::unique_lock<std::mutex>& lock, Item& item) {
    if (failure_) return *failure_;
    if (stopping_) return Error{ErrorCode::unavailable, "the commit queue is closed (the node is stopping)", ""};
    if (queue_.size() >= limits_.maxQueued) {
      return Error{ErrorCode::unavailable,
                   "the commit queue is full (" + std::to_string(limits_.maxQueued) + " items wait for the disk)",
                   "try again later"};
    }
    queue_.push_back(std::move(item));
    ++accepted_;
    const bool wake = idle_;
    lock.unlock();
    if (wake) queued_.notify_one();
    return okStatus();
  }

  void run() {
    requestShortSlice();  // best effort
    std::vector<Item> items;
    WriteBatch batch;
    while (takeQueued(items)) {
      const std::size_t count = items.size();  // `done` may take the items
      const Status status = commit(items, batch);
      done_(items, status);
      noteAnswered(count, status, !batch.empty());
      items.clear();
    }
  }

  // Swaps out everything queued; false when stopped and nothing is left. Requires: items is empty.
  bool takeQueued(std::vector<Item>& items) {
    std::unique_lock lock(mutex_);
    idle_ = true;
    queued_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    idle_ = false;
    items.swap(queue_);
    if (waitingForSpace_ > 0) space_.notify_all();
    return !items.empty();
  }

  Status commit(std::vector<Item>& items, WriteBatch& batch) {
    batch.clear();
    if (std::optional<Error> failed = failure()) return *failed;
    Status status = work_(items, batch);
    if (status.ok() && !batch.empty()) status = store_.writeSynced(batch);
    if (!status.ok()) fail(status.error());
    return status;
  }

  // Before `done` hears of it, so that nothing is accepted after a failure was announced.
  void fail(const Error& error) {
    std::lock_guard lock(mutex_);
    failure_ = error;
    space_.notify_all();
  }

  void noteAnswered(std::size_t count, const Status& status, bool usedDisk) {
    std::lock_guard lock(mutex_);
    answered_ += count;
    if (status.ok()) {
      stats_.items += count;
      stats_.batches += usedDisk ? 1 : 0;
      stats_.largestBatch = std::max(stats_.largestBatch, count);
    }
    answeredMore_.notify_all();
  }

  Store& store_;
  const Work work_;
  const Done done_;
  const GroupCommitLimits limits_;

  mutable std::mutex mutex_;  // guards everything down to thread_
  std::condition_variable queued_, space_, answeredMore_;
  std::vector<Item> queue_;
  std::uint64_t accepted_ = 0, answered_ = 0;
  std::size_t waitingForSpace_ = 0;
  bool idle_ = false, stopping_ = false;
  std::optional<Error> failure_;
  GroupCommitStats stats_;
  std::thread thread_;
  std::thread::id commitThread_;  // set before the first item can arrive, then constant
};

}  // namespace witan::store
