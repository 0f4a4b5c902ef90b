// The stores, configuration, notices and counters of a Replica (replica/replica.h). The stores, the modules and what
// the callbacks capture outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/reflect.h"
#include "kernel/ledger/ledger.h"
#include "replica/core/messages.h"
#include "replica/core/placement.h"
#include "replication/local_replica.h"
#include "replication/sync_session.h"

namespace witan::node {

struct AgentSetup;
class HeadKeys;
class CopyKeys;

struct ReplicaStores {
  store::Store& journal;
  store::Store& agents;
  store::Store& ledgers;
};

// How a replica uses etcd (replica/ownership/etcd_engine.h).
struct EtcdOptions {
  std::int64_t ttlMs = 10'000;     // of the lease: how long a silent owner keeps its partitions
  std::int64_t answerMs = 2'000;   // without an answer for so long, a request is made again
  std::size_t copies = 2;          // disks that must hold a batch before etcd forgets it
  std::uint64_t keepBatches = 64;  // that etcd holds in any case
  std::size_t pipeline = 2;        // batches under way for a partition, and shares of the work
  std::size_t transactions = 2;    // that carry batches, under way at a time
  std::size_t leastShare = 32;     // requests; fewer are not worth a transaction of their own
  // Etcd's --max-request-bytes by default, less what a transaction has around a batch.
  std::size_t maxBatchBytes = 1536 * 1024 - 4096;
};

struct ReplicaConfig {
  replication::ReplicaOptions replication;
  std::vector<const kernel::DomainModule*> domains;
  std::uint32_t partitions = 64;  // of each domain; fixed when the cluster is founded
  bool ledgerReplica = true;      // keeps copies of partitions, as `placement` says
  std::int64_t pendingTtlMicros = 0;
  replication::SessionOptions session;  // `peer` and `mayHave` are filled in
  // Whether a device may have a space. Default: every one.
  std::function<bool(std::string_view device, replication::DatabaseName, std::string_view scope)> mayHave;
  // Whether a device keeps copies of the ledgers. Of one that does not, no log and no claim is believed, and it is told
  // of claims alone. Asked when it connects. Default: every one.
  std::function<bool(std::string_view device)> keepsLedgers;
  // Who keeps copies of what, by the roster that this device has. Asked at the start and by Replica::rosterChanged().
  // Default: who keeps ledgers keeps all; with etcd that is always so. What a device has a copy of it goes on keeping.
  std::function<Placement()> placement;
  // Whether a device keeps encrypted copies only: of it nothing but these is taken, and it is told nothing else.
  // Default: none.
  std::function<bool(std::string_view device)> copiesOnly;
  // Whether some device keeps encrypted copies of a scope. Default: none does.
  std::function<bool(std::string_view scope)> copied;
  // Null: this device neither seals copies nor opens them (replica/sealed_copies.h).
  std::shared_ptr<CopyKeys> copyKeys;
  // Whether a device may make such a request; the error says why not. Default: every one. This device is asked too.
  std::function<Status(std::string_view device, const Request& request)> mayAsk;
  std::uint64_t snapshotEvery = kernel::kSnapshotEvery;  // entries of a partition
  std::uint64_t pruneEvery = kernel::kSnapshotEvery;     // a copy is pruned once so many entries may go
  // With a value: etcd names the owners.
  std::optional<EtcdOptions> etcd;
  std::size_t followWindow = 32;  // batches under way to one follower of one partition
  // No counselor's answer counts without a person's signature: the same on all devices, since copies refuse others.
  bool signedAnswers = false;
  // Not null: this device signs its requests and answers, and asks others to prove theirs
  // (replica/core/request_proofs.h), it signs and cosigns heads of logs (replica/head_exchange.h), and without etcd its
  // claims and batches, too (replica/core/owner_proofs.h).
  std::shared_ptr<HeadKeys> heads;
  // Not null: agents work on this device (replica/agent_runtime.h).
  std::shared_ptr<const AgentSetup> agents;
};

// Counters are metrics, and the coverage probes of the simulator.
struct EtcdCounters {
  std::uint64_t granted = 0, lost = 0, discarded = 0, askedAgain = 0, foundCommitted = 0, leasesLost = 0;
  std::uint64_t outOfOrder = 0;  // batches that came to etcd before their predecessors
  std::uint64_t tooLarge = 0;    // batches that etcd does not take
  std::uint64_t batchesRead = 0, gaps = 0, trims = 0, connections = 0, compacted = 0;
  WITAN_MEMBERS(EtcdCounters, granted, lost, discarded, askedAgain, foundCommitted, leasesLost, batchesRead, gaps,
                trims, connections, compacted, outOfOrder, tooLarge)
};

// Something that an operator should see, at the moment it happened; incidents are kept besides.
struct Notice {
  std::string kind;  // handover, seizure, owner, surplus, fork, wentBack, unlawful, headDiffers, forkProven, badFrame,
                     // session ends
  std::string partition;
  std::string what;
};

// How often rare things happened since open().
struct ReplicaCounters {
  std::uint64_t decided = 0, duplicates = 0, frozen = 0, forwarded = 0, retries = 0, redirects = 0;
  std::uint64_t boundElsewhere = 0;  // proposals rejected because their run is bound to another plan
  std::uint64_t batchesSent = 0, batchesFollowed = 0, batchesRepeated = 0, gaps = 0, resent = 0;
  std::uint64_t zombieRefused = 0;   // entries of an epoch that is over
  std::uint64_t fenced = 0;          // requests an old owner no longer decided
  std::uint64_t notAllowed = 0;      // requests of devices that may not make them
  std::uint64_t answersUnasked = 0;  // answers of devices that were not asked; they count for nothing
  std::uint64_t logsRefused = 0;     // logs with a decision that the rules do not give
  std::uint64_t headsSigned = 0, headsCosigned = 0;
  std::uint64_t headsRefused = 0;  // heads that contradict this device's copy
  std::uint64_t forksProven = 0;   // owners that signed two heads which contradict each other
  std::uint64_t claimsRefused = 0, positionsRefused = 0, batchesUnsealed = 0;  // that nothing proves
  std::uint64_t requestsUnproven = 0;  // of others, that no key which is known signed
  std::uint64_t answersUnproven = 0;   // that their entry does not prove; they count for nothing
  std::uint64_t surplusEntries = 0, handovers = 0, seizures = 0, forks = 0, wentBack = 0, badFrames = 0;
  std::uint64_t copiesMade = 0, copiesReleased = 0;  // because the placement changed
  std::uint64_t copiesPruned = 0;                    // how often
  std::uint64_t pastRefused = 0;                     // batches for a pruned copy that are not those that it had
  std::uint64_t copiesBegun = 0;                     // by the base of another copy
  std::uint64_t basesRefused = 0;                    // that are not what was signed
  EtcdCounters etcd;
  WITAN_MEMBERS(ReplicaCounters, decided, duplicates, frozen, forwarded, retries, redirects, batchesSent,
                batchesFollowed, batchesRepeated, gaps, resent, zombieRefused, fenced, surplusEntries, handovers,
                seizures, forks, wentBack, badFrames, boundElsewhere, notAllowed, answersUnasked, logsRefused,
                headsSigned, headsCosigned, headsRefused, forksProven, claimsRefused, positionsRefused, batchesUnsealed,
                requestsUnproven, answersUnproven, copiesMade, copiesReleased, copiesPruned, pastRefused, copiesBegun,
                basesRefused)
};

}  // namespace witan::node
