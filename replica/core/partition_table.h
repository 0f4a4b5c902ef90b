// PartitionTable: this device's copies of the partitions, those that must be opened again, those that are damaged,
// those that it must not decide any more, and those whose owner it refuses. Not thread-safe. The stores and modules
// outlive it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "replica/core/partition_host.h"
#include "replica/core/replica_config.h"

namespace witan::node {

class PartitionTable {
 public:
  using Hosts = std::map<std::string, std::unique_ptr<PartitionHost>, std::less<>>;
  // The divergent suffix of a log, which a peer's log showed: everything beyond `keep` batches.
  struct Suffix {
    std::string from;
    std::uint64_t keep = 0;
  };

  using Wanted = std::function<bool(std::string_view partition)>;

  // Opens every copy that is wanted or has something, and reads back which are not decided here any more. A damaged
  // copy is left alone: it is no host, and the others serve.
  Status open(const ReplicaConfig& config, store::Store& ledgers, const std::string& ownerName, const Wanted& wanted);
  // Opens each copy that is wanted and is not here. Returns their partitions.
  Result<std::vector<std::string>> openMissing(const ReplicaConfig& config, store::Store& ledgers,
                                               const std::string& ownerName, const Wanted& wanted);
  // Opens one copy, for the first time or again.
  Status openHost(const ReplicaConfig& config, store::Store& ledgers, const std::string& ownerName,
                  const kernel::DomainModule& module, const std::string& id);

  const Hosts& hosts() const { return hosts_; }
  // Null: no copy of it here.
  PartitionHost* find(std::string_view id);
  const PartitionHost* find(std::string_view id) const;

  // Copies that could not be read when this table was opened, and why.
  const std::map<std::string, Error, std::less<>>& damaged() const { return damaged_; }

  // ---- copies that this device gave up, since others keep them; rows "q/" + partition
  // Takes every row of the copy out of the store. It is no host any more. What a crash leaves of it the next open()
  // takes out.
  Status release(const std::string& id, store::Store& ledgers);
  // Batches that it had then; 0: it gave up none. That it lacks them is no sign of a disk that went back.
  std::uint64_t released(std::string_view id) const;
  // Of a log that stays here again as long as it was.
  void forgetRelease(const std::string& id, store::WriteBatch& out);

  // ---- copies that are of no use until they are opened again, at the end of the round
  void reopen(const std::string& id) { reopen_[id] = std::nullopt; }
  // Without its divergent suffix.
  void truncate(const std::string& id, Suffix suffix) { reopen_[id] = std::move(suffix); }
  bool usable(std::string_view id) const { return !reopen_.contains(id); }
  const std::map<std::string, std::optional<Suffix>, std::less<>>& reopening() const { return reopen_; }
  void reopened() { reopen_.clear(); }

  // ---- epochs of this device of which others have more, or another log; rows "w/" + partition
  // Decides nothing more in the last epoch, also not after a restart. Whether that is news.
  bool stopDeciding(const PartitionHost& host, store::WriteBatch& out);
  void permitDeciding(const std::string& id, store::WriteBatch& out);
  bool stopped(std::string_view id) const { return stopped_.contains(id); }

  // ---- epochs in which a log holds a decision that the rules do not give; rows "u/" + partition
  // Such a log's last epoch, and its first batch that this device refused.
  struct RefusedEpoch {
    kernel::Epoch epoch;
    std::uint64_t batch = 0;
  };
  // This device takes no entries of logs whose last epoch is this one or an earlier one, also not after a restart. The
  // batch is kept as evidence.
  void refuse(const std::string& id, const RefusedEpoch& refused, std::string_view batch, store::WriteBatch& out);
  bool refuses(std::string_view id, const kernel::Epoch& epoch) const;
  // Null: this device has refused no epoch of the partition.
  const RefusedEpoch* refused(std::string_view id) const;

 private:
  Status loadReleased(store::Store& ledgers);
  Status loadStopped(const store::Store& ledgers);
  Status loadRefused(const store::Store& ledgers);

  Hosts hosts_;
  std::map<std::string, std::optional<Suffix>, std::less<>> reopen_;
  std::set<std::string, std::less<>> stopped_;
  std::map<std::string, RefusedEpoch, std::less<>> refused_;
  std::map<std::string, Error, std::less<>> damaged_;
  std::map<std::string, std::uint64_t, std::less<>> released_;  // batches
};

}  // namespace witan::node
