// Slices: what the roles of a device see of each entity, and not a field more (Def. A.7: confinement is enforced where
// the state is, not where it is shown). A device with ledgers sends them (SliceServer) to devices without (SliceStore).
//
// Main thread only. The replica and the store outlive them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/cluster/messages.h"
#include "node/cluster/roster.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"
#include "store/store.h"

namespace witan::node {

inline constexpr std::size_t kSliceBudget = 256 * 1024;  // of one step to one device

// A device says how far it is, partition by partition; from there on it is sent, batch by batch of the log, the present
// slices of the entities that the batch changed. So what changes often is sent as it is, never every step of it, and a
// device that was away for long is caught up by the same means. Where the batches were pruned here, it is sent the
// slices of all entities.
class SliceServer {
 public:
  explicit SliceServer(Replica& replica) : replica_(replica) {}

  // A device that keeps no ledgers is there: what it may act as decides what it gets.
  void connected(const RosterDevice& device);
  void disconnected(std::string_view device) { peers_.erase(std::string(device)); }
  Status onHave(const std::string& device, const SliceHave& have);

  // Frames for a device: at most about kSliceBudget bytes, and whether there is more. O(what it sends).
  // Errors: of reading the ledgers.
  Result<bool> produce(const std::string& device, std::string& out);
  // Devices for which there may be something.
  std::set<std::string> waiting() const;

 private:
  struct Peer {
    RosterDevice rights;
    bool asked = false;
    std::map<std::string, std::uint64_t, std::less<>> sent;  // batches, by partition
    // Of partitions whose batches were pruned: the entities that are to be sent, the next one last, and the batches
    // that there were when that began.
    struct All {
      std::vector<std::string> entities;
      std::uint64_t batches = 0;
    };
    std::map<std::string, All, std::less<>> due;
  };

  // What stands for batches that were pruned. Whether all is sent.
  static bool sendAll(Peer& peer, const PartitionHost& host, std::string& out);
  static void sendEntity(const Peer& peer, const PartitionHost& host, const std::string& entity, Time time,
                         std::string& out);
  static Status sendBatch(const Peer& peer, const PartitionHost& host, std::uint64_t number, std::string& out);

  Replica& replica_;
  std::map<std::string, Peer, std::less<>> peers_;
};

// SliceStore: the slices that this device was given, in its ledgers' store under "s/", and how far they go, under "t/".
// Derived: what is lost is sent again.
class SliceStore {
 public:
  explicit SliceStore(store::Store& store) : store_(store) {}

  // What this device says on connecting.
  Result<SliceHave> have() const;
  // `rights`: of this device. A slice of a role that it does not have is refused; an older one than is held is dropped.
  Status take(const Slice& slice, const RosterDevice& rights);
  Status upTo(const SliceUpTo& upTo);
  // None: nothing was received.
  Result<std::optional<Slice>> find(std::string_view domain, std::string_view entity, std::string_view role) const;
  // All of a domain, or all.
  Status each(std::string_view domain, const std::function<bool(const Slice&)>& visit) const;
  // Forgets what this device may see no more, and how far it was, so that new roles are sent from the beginning.
  Status applyRights(const RosterDevice& rights);

 private:
  store::Store& store_;
};

}  // namespace witan::node
