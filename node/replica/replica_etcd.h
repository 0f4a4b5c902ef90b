// EtcdOwner: what a replica does about its partitions when etcd gives them their owners (node/replica/etcd_engine.h).
//
// Requests for partitions that this device owns wait here until the batch before theirs is committed; then all of them
// are decided together. Belongs to one Replica, which it refers to and which drives it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/now.h"
#include "node/replica/etcd_engine.h"
#include "node/replica/partition_host.h"

namespace witan::node {

class Replica;

// An owner that has not heard from etcd for so long turns requests away.
inline constexpr std::int64_t kEtcdSilenceMs = 10'000;

class EtcdOwner final : EtcdCopies {
 public:
  EtcdOwner(Replica& replica, EtcdOptions options, const std::string& cluster,
            const std::vector<std::string>& partitions);

  EtcdEngine& engine() { return engine_; }
  const EtcdEngine& engine() const { return engine_; }

  // A request for a partition that this device owns; from a device, or empty: of this one. False: not now (etcd has
  // been out of reach for too long, or too many wait).
  bool offer(const std::string& partition, const Request& request, const std::string& from, std::int64_t nowMs);
  // After what was committed is durable: decides what waits, and begins epochs.
  void decide(Now now);
  // Requests of other devices that will not be decided here: they are to be told so.
  struct Turned {
    std::string to;
    std::string operationId;
    std::uint64_t asked = 0;  // its fingerprint
  };
  std::vector<Turned> takeTurned() { return std::exchange(turned_, {}); }
  bool quiet() const;

 private:
  struct Waiting {
    Request request;
    std::string from;
  };
  struct Owned {
    bool granted = false;  // the epoch is to begin
    std::vector<Waiting> queue;
    store::WriteBatch rows;  // of the batch that is being committed
  };

  std::uint64_t batches(const std::string& partition) const override;
  std::uint64_t durableBatches(const std::string& partition) const override;
  bool follow(const std::string& partition, const std::string& value) override;
  void onGranted(const std::string& partition) override;
  void onCommitted(const std::string& partition) override;
  void onLost(const std::string& partition, bool discard) override;
  void decideQueue(PartitionHost& host, Owned& owned, Now now);
  void commit(PartitionHost& host, Owned& owned, Now now);
  void turnAway(Owned& owned);

  Replica& replica_;
  EtcdEngine engine_;
  std::map<std::string, Owned, std::less<>> owned_;
  std::vector<Turned> turned_;
};

}  // namespace witan::node
