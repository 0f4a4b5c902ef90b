// BackupJob: a backup of stores that are in use, written by a thread of its own from snapshots, while the node goes on.
//
// Made, asked and destroyed on the loop's thread; `done` is called there, once, unless the job goes before: destroying
// it gives the backup up and waits for the thread. Stores and loop outlive it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "net/loop.h"
#include "node/backup/backup.h"

namespace witan::node {

class BackupJob {
 public:
  using Done = std::function<void(Result<BackupManifest>)>;
  BackupJob(net::Loop& loop, BackupOrder order, std::vector<StoreSnapshot> parts, Done done);
  ~BackupJob();
  BackupJob(const BackupJob&) = delete;
  bool finished() const { return finished_; }

 private:
  // What the thread and the loop share; the thread's last word may come after the job is gone.
  struct Shared {
    std::atomic<bool> giveUp{false};
    std::optional<Result<BackupManifest>> result;
    BackupJob* job = nullptr;  // loop's thread only
  };

  const Done done_;
  bool finished_ = false;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::thread thread_;
};

}  // namespace witan::node
