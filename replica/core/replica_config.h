// The stores and the configuration of a Replica (replica/replica.h). The stores, the modules and what the callbacks
// capture outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kernel/ledger/ledger.h"
#include "replica/core/etcd_options.h"
#include "replica/core/messages.h"
#include "replication/local_replica.h"
#include "replication/sync_session.h"

namespace witan::node {

struct AgentSetup;

struct ReplicaStores {
  store::Store& journal;
  store::Store& agents;
  store::Store& ledgers;
};

struct ReplicaConfig {
  replication::ReplicaOptions replication;
  std::vector<const kernel::DomainModule*> domains;
  std::uint32_t partitions = 64;  // of each domain; fixed when the cluster is founded
  bool ledgerReplica = true;      // keeps a copy of every partition
  std::int64_t pendingTtlMicros = 0;
  replication::SessionOptions session;  // `peer` and `mayHave` are filled in
  // Whether a device may have a space. Default: every one.
  std::function<bool(std::string_view device, replication::DatabaseName, std::string_view scope)> mayHave;
  // Whether a device keeps copies of the ledgers. Of one that does not, no log and no claim is believed, and it is told
  // of claims alone. Asked when it connects. Default: every one.
  std::function<bool(std::string_view device)> keepsLedgers;
  // Whether a device may make such a request; the error says why not. Default: every one. This device is asked too.
  std::function<Status(std::string_view device, const Request& request)> mayAsk;
  std::uint64_t snapshotEvery = kernel::kSnapshotEvery;  // entries of a partition
  // With a value: etcd names the owners.
  std::optional<EtcdOptions> etcd;
  std::size_t followWindow = 32;  // batches under way to one follower of one partition
  // Not null: agents work on this device (replica/agent_runtime.h).
  std::shared_ptr<const AgentSetup> agents;
};

}  // namespace witan::node
