// EmbeddedOwnership: owners without a third party. The log of a partition names its owner, epoch by epoch
// (kernel/epoch.h). A handover is the owner's last entry in its own log, so the successor cannot decide before it has
// all of its predecessor's entries. A seizure is an operator's decision without the owner; the divergent suffix of the
// old owner's log is truncated and reported when it meets the new epoch.
//
// Of a device that keeps no ledgers it has no partitions to decide. See ownership_engine.h for who drives it.
#pragma once

#include "replica/ownership/ownership_engine.h"

namespace witan::node {

class EmbeddedOwnership final : public OwnershipEngine {
 public:
  using OwnershipEngine::OwnershipEngine;

  std::string_view name() const override { return state_.config.ledgerReplica ? "embedded" : ""; }
  bool ownerHoldsLog() const override { return true; }
  bool needsPeers(std::string_view) const override { return true; }
  void onEpochs(PartitionHost& host, std::size_t first) override;
  void onFollowed(PartitionHost& host, Now now) override;
  Status checkSize(const Request&) const override { return okStatus(); }
  bool decide(PartitionHost& host, const Request& request, const std::string& from, Now now) override;
  bool decidesAtOnce() const override { return true; }
  void expirePending(Now now) override;
  void stage() override;
  std::int64_t syncWaitMs() const override;
  Status bootstrap(Now now, const std::function<bool(std::string_view partition)>& which) override;
  Status transferOwnership(std::string_view partition, std::string_view to, std::string_view reason, Now now) override;
  Status forceTakeover(std::string_view partition, std::string_view reason, Now now) override;

 private:
  bool serves(std::string_view) const override { return true; }
  // A device without ledgers may belong to a cluster whose owners etcd names.
  Status checkEmbedded() const;
  Status checkMayTakeOver() const;
  // Who has copies, where not all have; for people.
  std::string keepersHint(std::string_view partition) const;
  // `name`: the peer's, for people.
  static Status checkHeardFrom(const Peer& peer, std::string_view name, std::string_view partition, Now now);
  Status checkHeard(const PartitionHost& host, Now now) const;
  Status checkTakeover(const PartitionHost& host, const kernel::Epoch& last) const;
};

}  // namespace witan::node
