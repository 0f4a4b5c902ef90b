// SimDevice: one device of the simulated cluster: three disks, two clocks, and the Replica that runs on them while it
// is switched on. Knows nothing of the other devices; the cluster (sim/cluster/cluster.h) carries frames between them.
//
// Disks: journal, agents, ledgers, each a CrashableStore, and the small file beside them that remembers high-water
// marks. A sync takes time in which the device does nothing else, and nothing leaves it before.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "base/seams.h"
#include "replica/core/placement.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"
#include "sim/agenda.h"
#include "sim/options.h"
#include "sim/sim_agents.h"
#include "store/crashable_store.h"

namespace witan::agents {
class DeviceGate;
}

namespace witan::sim {

inline constexpr std::uint32_t kMostDevices = 24;  // of a simulated cluster, with those that join
inline constexpr std::size_t kStores = 3;
inline constexpr std::array<std::string_view, kStores> kStoreNames{"journal", "agents", "ledgers"};

// What all devices of a cluster have in common.
struct ClusterSetup {
  Options options;
  std::vector<const kernel::DomainModule*> domains;
  // Whether a device keeps encrypted copies, and nothing else.
  bool copiesOnly(std::string_view device) const;
  // Whether a device may have a scope of the cluster.
  bool mayHave(std::string_view device, std::string_view scope) const;
  // Where the copies of the ledgers are, as the roster says since `since`. None: the roster has no word about that.
  bool places() const { return options.cluster.ledgerCopies > 0 || options.cluster.keepEntries > 0; }
  node::Placement placement(Micros since) const;
  // With each device that leaves others are neighbours, so that copies are made and given up.
  std::int64_t siteOf(std::uint32_t device, Micros since) const;
  std::map<std::uint32_t, Micros> left = {};  // devices that the roster calls revoked, and since when
  // Disks that must hold a batch before etcd forgets it.
  std::size_t etcdCopies() const { return static_cast<std::size_t>(options.cluster.ledgerReplicas / 2 + 1); }
  static std::string deviceName(std::uint32_t index);
  static std::uint32_t deviceIndex(std::string_view name);
  static std::string scopeName(std::uint64_t n);
  static constexpr std::string_view kCluster = "simulated";
  // Of a device of a cluster with a liar; the same at each start.
  static const SigningKey& keyOf(std::uint32_t device);
};

class SimDevice {
 public:
  SimDevice(const ClusterSetup& setup, std::uint32_t index);

  std::uint32_t index() const { return index_; }
  const std::string& name() const { return name_; }
  // Whether it has heard all that the roster says.
  bool knowsRoster() const { return !setup_.places() || heardOf_ == setup_.left.size(); }
  bool isLedgerReplica() const { return static_cast<std::int64_t>(index_) < setup_.options.cluster.ledgerReplicas; }

  // ---- power
  // Opens the stores' contents. Errors: a store that fails, or holds what cannot be read.
  Status start(Micros now);
  // What was in memory is gone; the disks stay as they are.
  void stop();
  // The power goes: what was not synced is lost from the end, as the options' chances say.
  void losePower();
  // The disks are new, and empty.
  void wipe();
  // Copies of the disks, and back to them. With `sidecarToo` the file beside the stores goes back as well.
  void keepImage();
  bool restoreImage(bool sidecarToo);
  // The same of the ledgers' store alone.
  void keepLedgersImage() { ledgersImage_ = stores_[kStores - 1]->image(); }
  bool hasLedgersImage() const { return ledgersImage_ != nullptr; }
  void restoreLedgersImage() { stores_[kStores - 1]->restoreImage(*ledgersImage_); }
  bool running() const { return replica_ != nullptr; }
  node::Replica& replica() { return *replica_; }
  const node::Replica& replica() const { return *replica_; }
  // Grows with every start: what was meant for an earlier life is stale.
  std::uint64_t life() const { return life_; }

  store::CrashableStore& disk(std::size_t n) { return *stores_[n]; }
  const store::CrashableStore& disk(std::size_t n) const { return *stores_[n]; }

  // A replica on a copy of what is durable, as it would start now. Agents as here. Errors: as start().
  struct Copy {
    std::array<std::unique_ptr<store::CrashableStore>, kStores> stores;
    std::unique_ptr<std::string> signedHeads;
    std::unique_ptr<node::Replica> replica;
  };
  Result<Copy> openCopy(Micros at) const;

  // Whether it started without one of its agents, as every third start is, until callAgents(); the next one has all.
  bool lacksAgents() const { return lacksAgents_; }
  void callAgents() { allAgents_ = true; }

  // The version of the policy over payments that its agents are under; outlasts a restart.
  void usePolicy(std::uint64_t version);
  std::uint64_t policy() const { return policy_; }

  // ---- time
  Now now(Micros at) const;
  void jumpClock(Micros by) { wallOffset_ += by; }
  void setSlowDisk(bool slow) { slow_ = slow; }
  bool slow() const { return slow_; }
  void setFullDisk(bool full) {
    for (const auto& store : stores_) store->setFull(full);
  }

  // ---- effects
  // Drains the replica, and keeps the file beside the stores up to date. `cost`: how long the disks took.
  Status drain(Micros at, node::Effects& out, Micros& cost);
  // Of all lives together.
  node::ReplicaCounters counters() const;

  // ---- what the world keeps here
  Micros busyUntil = 0;
  Micros tickAt = -1;  // when the timer is set to, by the agenda; -1: not
  bool paused = false;

 private:
  std::unique_ptr<store::CrashableStore> makeStore() const;
  node::ReplicaConfig config(std::string& signedHeads) const;
  void hearRoster(Micros at);

  const ClusterSetup& setup_;
  const std::uint32_t index_;
  const std::string name_;
  SeededRandom random_;
  std::array<std::unique_ptr<store::CrashableStore>, kStores> stores_;
  std::optional<replication::HighWater> sidecar_;
  std::string signed_;  // what it remembers of the heads that it signed, beside the stores
  struct Image {
    std::array<std::shared_ptr<const store::DiskImage>, kStores> disks;
    std::optional<replication::HighWater> sidecar;
    std::string signedHeads;
  };
  std::optional<Image> image_;
  std::shared_ptr<const store::DiskImage> ledgersImage_;
  std::shared_ptr<agents::DeviceGate> till_;  // of the agents; null: none work here
  SimAgentsOptions agentsOptions() const;
  std::uint64_t policy_ = 1;
  bool allAgents_ = false, lacksAgents_ = false;
  std::unique_ptr<node::Replica> replica_;
  std::uint64_t life_ = 0;
  std::uint64_t flushed_ = 0;
  node::ReplicaCounters before_;  // of earlier lives
  Micros wallOffset_ = 0;
  std::int64_t driftPpm_ = 0;
  bool slow_ = false;
  Micros roster_ = -1;       // of when the roster is that it has
  std::size_t heardOf_ = 0;  // of ClusterSetup::left
};

}  // namespace witan::sim
