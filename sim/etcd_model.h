// EtcdModel: what etcd promises about its data, and nothing about its machines: one history of revisions, leases,
// transactions that compare and then act at one revision, ranges, and the changes of any range of keys from a revision
// on, as far back as it has not been compacted. sim/etcd_service.h puts members and a network in front of it.
//
// Time comes from outside. A lease never runs out early. Deterministic, not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replica/ownership/etcd_messages.h"
#include "sim/plan.h"

namespace witan::sim {

class EtcdModel {
 public:
  // Grants, keep-alives and transactions. A watch is no state of the store: see changes().
  node::EtcdAnswer apply(const node::EtcdRequest& request, Micros now);

  // The keys of leases whose time is up go.
  void expire(Micros now);
  // A new leader gives every lease its whole time again.
  void renewLeases(Micros now);
  // Forgets changes up to and with this revision.
  void compact(std::uint64_t revision);

  std::uint64_t revision() const { return revision_; }
  // What happened to these keys since `from`, in order; nothing: that is compacted away.
  std::optional<std::vector<node::EtcdChange>> changes(const node::EtcdKeys& keys, std::uint64_t from) const;
  std::vector<node::EtcdKeyValue> range(const node::EtcdKeys& keys, std::size_t limit = 0) const;
  std::size_t leases() const { return leases_.size(); }

 private:
  struct Lease {
    Micros ttl = 0, until = 0;
  };
  bool holds(const node::EtcdCompare& compare) const;
  void put(const node::EtcdOp& op);
  void remove(const node::EtcdKeys& keys);

  std::map<std::string, node::EtcdKeyValue> keys_;
  std::map<std::uint64_t, Lease> leases_;
  std::vector<node::EtcdChange> changes_;  // since compacted_
  std::uint64_t revision_ = 1, compacted_ = 0, nextLease_ = 1;
};

// Whether the key is that of a batch of a log (replica/ownership/etcd_engine.h) and the one before it is neither there
// nor trimmed: what is missing, in words; else "".
std::string gapBefore(const EtcdModel& etcd, std::string_view key);

// Whether it says of a log that etcd lets go of batches which fewer than `copies` of the disks hold: `held` says how
// many batches of a partition each disk has. What is wrong, in words; else "".
std::string letsGoTooEarly(const node::EtcdOp& op, std::size_t copies,
                           const std::function<std::vector<std::uint64_t>(const std::string& partition)>& held);

}  // namespace witan::sim
