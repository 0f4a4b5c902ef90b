// ReplicaState: the data that the parts of one Replica share (replica/replica.h), and small questions about it.
//
// The parts are the ownership engine (replica/ownership), AdvertisementExchange, EntryReplicator and RequestRouter.
// Each changes what its header names; Replica drives them, one after the other. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replica/core/ledger_writes.h"
#include "replica/core/outbox.h"
#include "replica/core/owner_table.h"
#include "replica/core/partition_table.h"
#include "replica/core/peer.h"
#include "replica/core/replica_counters.h"

namespace witan::node {

struct ReplicaState {
  ReplicaState(ReplicaStores s, ReplicaConfig c) : stores(s), config(std::move(c)), writes(s.ledgers) {}

  ReplicaStores stores;
  ReplicaConfig config;
  std::unique_ptr<replication::LocalReplica> local;
  std::string ownerName;  // of this device, as an owner of epochs
  LedgerWrites writes;
  PartitionTable partitions;
  OwnerTable owners;
  Outbox outbox;
  Peers peers;
  std::vector<Notice> notices;
  ReplicaCounters counters;
  bool followDirty = true;  // which peers this device follows is to be looked at again
  bool expedite = false;    // requests that wait are to be tried with the next round

  const std::string& device() const { return local->device(); }
  // Null: no such domain.
  const kernel::DomainModule* moduleOf(std::string_view domain) const;
  std::string partitionFor(std::string_view domain, std::string_view entity) const;
  // The device that owns a partition; empty: not known.
  std::string ownerDevice(std::string_view partition) const;

  template <class T>
  void say(Peer& peer, const T& message) {
    appendFrame(peer.out, words_, message);
  }
  // Ends the connection to a peer that broke the protocol.
  void cutOff(const std::string& from, Peer& peer, const Error& why);
  void notice(std::string kind, const std::string& partition, std::string what) {
    notices.push_back({std::move(kind), partition, std::move(what)});
  }

 private:
  WordWriter words_;
};

}  // namespace witan::node
