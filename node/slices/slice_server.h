// SliceServer: gives devices that keep no ledgers what their roles see of each entity, and not a field more (Def. A.7:
// confinement is enforced where the state is, not where it is shown).
//
// A device says how far it is, partition by partition; from there on it is sent, batch by batch of the log, the present
// slices of the entities that the batch changed. So what changes often is sent as it is, never every step of it, and a
// device that was away for long is caught up by the same means.
//
// Main thread only. Sans-I/O but for reading the ledgers. The replica outlives it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "node/cluster/messages.h"
#include "node/cluster/roster.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"

namespace witan::node {

inline constexpr std::size_t kSliceBudget = 256 * 1024;  // of one step to one device

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
  };

  Status sendBatch(const Peer& peer, PartitionHost& host, std::uint64_t number, std::string& out) const;

  Replica& replica_;
  std::map<std::string, Peer, std::less<>> peers_;
};

}  // namespace witan::node
