#include "node/backup/backup_job.h"

namespace witan::node {

BackupJob::BackupJob(net::Loop& loop, BackupOrder order, std::vector<StoreSnapshot> parts, Done done)
    : done_(std::move(done)) {
  shared_->job = this;
  thread_ = std::thread([&loop, order = std::move(order), parts = std::move(parts), shared = shared_]() mutable {
    shared->result = writeBackup(order, parts, [&] { return !shared->giveUp.load(); });
    parts.clear();  // snapshots, before anybody may close their stores
    loop.post([shared] {
      if (shared->job == nullptr) return;
      shared->job->finished_ = true;
      shared->job->done_(std::move(*shared->result));
    });
  });
}

BackupJob::~BackupJob() {
  shared_->giveUp = true;
  shared_->job = nullptr;
  thread_.join();
}

}  // namespace witan::node
