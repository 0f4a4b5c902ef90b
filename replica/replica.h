// Replica: everything of one device that follows rules, in one deterministic object: its replicated data and the
// sessions that carry it (replication/), its copies of the partitions (kernel/), who owns them, and the way of a
// request to its owner and of the answer back. The node drives it over sockets and disks, the simulator over virtual
// ones; both drive this very object.
//
//   Replica::open(stores, config, now)              reads everything back
//   connected / received / disconnected(peer)       what the network did; frames arrive whole and in order
//   commit / submit / bootstrap / transferOwnership / forceTakeover   what people and agents on this device do
//   tick(now)                                       not before nextTick(), or whenever convenient
//   after any of these, once or for several:
//   drain(now, effects)                             makes it durable; only then hands out frames and answers
//
// An error of drain() means that a store failed: drop the object, open it again. What had been handed out stays true.
//
// Ownership here is the embedded mode: no third party. The log of a partition names its owner, epoch by epoch
// (kernel/epoch.h). A handover is the owner's last word in its own log, so the successor cannot decide before it has
// all of its predecessor's entries. A seizure is an operator's word, without asking: decisions of the old
// owner that no device had copied are truncated from every log that holds them, and reported, when it meets the new
// epoch. Nothing that
// was acknowledged is lost without such a report.
//
// With etcd, etcd names the owners and holds the tail of each log (replica/ownership/etcd_engine.h): no operator
// begins, moves or seizes partitions, and no log diverges.
//
// Sans-I/O but for the stores, which are seams; no clock, no chance, no thread inside. The stores and modules outlive
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/result.h"
#include "base/time.h"

namespace witan::kernel {
class DomainModule;
}

namespace witan::replication {
class LocalReplica;
class SyncSession;
struct Dot;
struct Write;
enum class DatabaseName : std::uint8_t;
}  // namespace witan::replication

namespace witan::agents {
class AgentHost;
}

namespace witan::store {
class Store;
}

namespace witan::node {

class AgentRuntime;
class GraphRuntime;
class HeadExchange;
class Outbox;
class OwnerTable;
class PartitionHost;
class Placement;
struct Effects;
struct EtcdAnswer;
struct ReplicaConfig;
struct ReplicaCounters;
struct ReplicaState;
struct ReplicaStores;
struct Request;
enum class Keep : std::uint8_t;
enum class OwnerState : std::uint8_t;

class Replica {
 public:
  static Result<std::unique_ptr<Replica>> open(ReplicaStores stores, ReplicaConfig config, Now now);
  // For a ledgers' store that went back in time (a backup): the next open() takes another name as an owner, so that
  // this device cannot go on with its epochs differently from the copies of the others. Durable. Errors: of the store.
  static Status forgetOwnerName(store::Store& ledgers);
  ~Replica();

  // ---- the network
  void connected(const std::string& peer, Now now);
  void disconnected(const std::string& peer);
  // One whole frame, header included. A bad one ends the connection: drain() says so.
  void received(const std::string& peer, std::string_view frame, Now now);
  bool isConnected(std::string_view peer) const;
  // The devices that requests of this one wait for, connected or not.
  std::set<std::string, std::less<>> neededPeers() const;

  // The connection to etcd; only where a ledger replica was configured for it. `cluster`: etcd's id of itself, 0: not
  // known.
  void etcdConnected(Now now, std::uint64_t cluster = 0);
  void etcdDisconnected();
  void etcdReceived(const EtcdAnswer& answer, Now now);

  // Who may take partitions over, a device's keys (ReplicaConfig::heads), or who keeps which copies may have changed.
  void rosterChanged();

  // ---- agents and people of this device
  Result<replication::Dot> commit(replication::DatabaseName database, std::string_view scope,
                                  std::span<const replication::Write> writes);
  // Hands a request to the owner of its entity, wherever that is, and keeps at it until it is answered. Ok: accepted,
  // and unless it is answered, durably so: after the next drain(), or as Keep says. Errors: malformed, unknown domain,
  // the outbox is full.
  Status submit(Request request, Keep keep, Now now);
  Status submit(Request request, Now now);  // Keep::ifLate
  // The same, always by way of the outbox and at once durable: the request also outlasts a freeze of its entity,
  // however long a counselor takes.
  Status enqueue(Request request, Now now);
  // The caller waits no more, and was told that the request waits here: it outlasts a freeze from now on.
  void retainAcrossFreeze(std::string_view operationId);
  // Signs requests that this device decides itself, if it has a key.
  void sign(std::span<Request> requests);
  // This device stops: what it has accepted is durable after the next drain().
  void keepRequests();

  // ---- operators
  // Begins the first epoch of every partition, or of those that `which` takes, where nobody has yet. Once in the life
  // of a cluster.
  Status bootstrap(Now now, const std::function<bool(std::string_view partition)>& which = {});
  // Hands a partition over to a ledger replica that is connected. Errors: not the owner, not a replica, not connected.
  Status transferOwnership(std::string_view partition, std::string_view device, std::string_view reason, Now now);
  // Takes a partition over without its owner. Errors: no copy here; the owner is connected (move it instead); a
  // connected replica has more of the log (seize it there).
  Status forceTakeover(std::string_view partition, std::string_view reason, Now now);
  // Others, whom the operator trusts, have this device's word for more of its own log than stands here: it decides
  // nothing there until the partition is seized.
  void stopDeciding(std::string_view partition, std::string_view why);

  // ---- time and effects
  void tick(Now now);
  // When tick() has something to do, by the steady clock.
  std::int64_t nextTickMs() const;
  Status drain(Now now, Effects& out);

  // ---- reading
  const std::string& device() const;
  // Its name as an owner of epochs.
  const std::string& ownerName() const;
  // What its signatures of entries and batches say now (ReplicaState::run).
  std::uint64_t run() const;
  replication::LocalReplica& data();
  const replication::LocalReplica& data() const;
  const std::map<std::string, std::unique_ptr<PartitionHost>, std::less<>>& hosts() const;
  PartitionHost* host(std::string_view partition);
  // Who is to keep copies of what.
  const Placement& placement() const;
  // Copies that could not be read at the start, and why: nothing is decided, taken or shown of them here.
  const std::map<std::string, Error, std::less<>>& damagedPartitions() const;
  const OwnerTable& owners() const;
  const Outbox& outbox() const;
  // Whether this device decides for a partition now.
  bool owns(const PartitionHost& host) const;
  OwnerState ownerState(std::string_view partition) const;
  // Whether the owner recorded a decision that the rules of this device do not give; nothing more of it is taken.
  bool refusesOwner(std::string_view partition) const;
  std::string partitionFor(std::string_view domain, std::string_view entity) const;
  const replication::SyncSession* session(std::string_view peer) const;
  const ReplicaCounters& counters() const;
  const HeadExchange& heads() const;
  // All that a device has had, as far as they are known here.
  std::vector<PublicKey> keysOf(std::string_view device) const;
  // Files that prove what an incident says (replica/core/entry_evidence.h), by that.
  const std::map<std::string, std::string, std::less<>>& evidence() const;
  // Null: none work here.
  agents::AgentHost* agents();
  const agents::AgentHost* agents() const;
  // Null: this device runs no graphs.
  const GraphRuntime* graphs() const { return graphs_.get(); }
  // Devices that let something else name the owners, when they were last connected, and how that was told. Nothing but
  // that is heard of them, and their links end: two engines would have two owners.
  const std::map<std::string, std::string, std::less<>>& otherEngines() const;
  // Members that are connected.
  std::set<std::string> connectedPeers() const;
  const std::vector<const kernel::DomainModule*>& domains() const;
  // Null: no such domain.
  const kernel::DomainModule* moduleOf(std::string_view domain) const;
  // Nothing waits: no request, no entry under way, sessions quiet.
  bool quiet() const;

 private:
  struct Parts;
  Replica(ReplicaStores stores, ReplicaConfig config);
  Status start(Now now);
  Status loadOwnerName();
  // The steps of drain() that follow each other (replica.cpp).
  Status takeReleases(bool durable, Now now);
  void place();
  Status makeCopies(Now now);
  Status reopenCopies(Now now);
  Status pruneCopies(Now now);
  void giveReleases(Effects& out);
  void finishOwnership(Now now, Effects& out);
  void replicateLogs(Now now);
  void handOver(Now now, Effects& out);

  std::unique_ptr<Parts> parts_;
  ReplicaState& state_;                   // of the parts
  std::unique_ptr<AgentRuntime> agents_;  // null: no agents
  std::unique_ptr<GraphRuntime> graphs_;  // null: no graphs
  Now drained_;                           // when drain() was last called
  std::int64_t nextAdvertiseMs_ = 0, nextTickMs_ = 0, nextStabiliseMs_ = 0;
};

}  // namespace witan::node
