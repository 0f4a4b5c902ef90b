// Replica: everything of one device that follows rules, in one deterministic object: its replicated data and the
// sessions that carry it (replication/), its copies of the partitions (kernel/), who owns them, and the way of a
// request to its owner and of the answer back. The node drives it over sockets and disks, the simulator over virtual
// ones; both drive this very object.
//
//   Replica::open(stores, config, now)              reads everything back
//   connected / received / disconnected(peer)       what the network did; frames arrive whole and in order
//   commit / submit / found / move / seize          what people and agents on this device do
//   tick(now)                                       not before nextTick(), or whenever convenient
//   after any of these, once or for several:
//   drain(now, effects)                             makes it durable; only then hands out frames and answers
//
// An error of drain() means that a store failed: drop the object, open it again. What had been handed out stays true.
//
// Ownership here is the embedded mode: no third party. The log of a partition names its owner, epoch by epoch
// (kernel/epoch.h). A handover is the owner's last word in its own log, so the successor cannot decide before it has
// all of its predecessor's entries. A seizure is an operator's word, without asking: what the old owner decided and
// nobody had copied is set aside on every log that holds it, and reported, when it meets the new epoch. Nothing that
// was acknowledged is lost without such a report.
//
// With etcd it is etcd that names the owners and holds the tail of each log (replica/etcd_engine.h): no operator
// founds, moves or seizes, and no surplus can come into being.
//
// Sans-I/O but for the stores, which are seams; no clock, no chance, no thread inside. The stores and modules outlive
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agents/host/host_effects.h"
#include "base/now.h"
#include "replica/etcd_messages.h"
#include "replica/etcd_options.h"
#include "replica/follower_progress.h"
#include "replica/outbox.h"
#include "replica/owner_table.h"
#include "replica/partition_host.h"
#include "replication/local_replica.h"
#include "replication/sync_session.h"

namespace witan::agents {
class AgentHost;
}

namespace witan::node {

class AgentDesk;
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
  // Not null: agents work on this device (replica/replica_agents.h).
  std::shared_ptr<const AgentSetup> agents;
};

struct Outgoing {
  std::string peer;
  std::string frames;  // whole frames
  bool close = false;  // the stream ends after them
};

// The answer to a request of this device.
struct Answered {
  RequestKind kind = RequestKind::propose;
  Answer answer;
};

// Something that an operator should see, at the moment it happened; incidents are kept besides.
struct Notice {
  std::string kind;  // handover, seizure, owner, surplus, fork, wentBack, badFrame, session ends
  std::string partition;
  std::string what;
};

// How it is with the owner of a partition, as far as this device can see. lost: its device is there and decides no
// more, because its ledgers are gone or went back; an operator must seize the partition (embedded mode only).
WITAN_ENUM(OwnerState, unknown, here, reachable, away, lost)

struct Effects {
  std::vector<Outgoing> sends;
  std::vector<Answered> answers;
  std::vector<Notice> notices;
  std::vector<EtcdRequest> etcd;            // to be sent in this order
  std::vector<agents::ToolCall> toolCalls;  // of agents: answered through agents()
  void clear() { sends.clear(), answers.clear(), notices.clear(), etcd.clear(), toolCalls.clear(); }
};

// How often rare things happened since open(): metrics, and the simulator's coverage probes.
struct ReplicaCounters {
  std::uint64_t decided = 0, duplicates = 0, frozen = 0, forwarded = 0, retries = 0, redirects = 0;
  std::uint64_t boundElsewhere = 0;  // proposals rejected because their run is bound to another plan
  std::uint64_t batchesSent = 0, batchesFollowed = 0, batchesRepeated = 0, gaps = 0, resent = 0;
  std::uint64_t zombieRefused = 0;  // entries of an epoch that is over
  std::uint64_t fenced = 0;         // requests an old owner no longer decided
  std::uint64_t notAllowed = 0;     // requests of devices that may not make them
  std::uint64_t surplusEntries = 0, handovers = 0, seizures = 0, forks = 0, wentBack = 0, badFrames = 0;
  EtcdCounters etcd;
  WITAN_MEMBERS(ReplicaCounters, decided, duplicates, frozen, forwarded, retries, redirects, batchesSent,
                batchesFollowed, batchesRepeated, gaps, resent, zombieRefused, fenced, surplusEntries, handovers,
                seizures, forks, wentBack, badFrames, boundElsewhere, notAllowed)
};

class EtcdOwner;

class Replica {
 public:
  static Result<std::unique_ptr<Replica>> open(ReplicaStores stores, ReplicaConfig config, Now now);
  ~Replica();

  // ---- the network
  void connected(const std::string& peer, Now now);
  void disconnected(const std::string& peer);
  // One whole frame, header included. A bad one ends the connection: drain() says so.
  void received(const std::string& peer, std::string_view frame, Now now);
  bool isConnected(std::string_view peer) const { return peers_.contains(peer); }

  // The connection to etcd; only where a ledger replica was configured for it. `cluster`: etcd's id of itself, 0: not
  // known.
  void etcdConnected(Now now, std::uint64_t cluster = 0);
  void etcdDisconnected();
  void etcdReceived(const EtcdAnswer& answer, Now now);

  // ---- agents and people of this device
  Result<replication::Dot> commit(replication::DatabaseName database, std::string_view scope,
                                  std::span<const replication::Write> writes);
  // Hands a request to the owner of its entity, wherever that is, and keeps at it until it is answered. Ok: accepted,
  // and unless it is answered, durably so: after the next drain(), or as Keep says. Errors: malformed, unknown domain,
  // the outbox is full.
  Status submit(Request request, Keep keep, Now now);
  Status submit(Request request, Now now) { return submit(std::move(request), Keep::ifLate, now); }
  // The same, always by way of the outbox and at once durable: the request also outlasts a freeze of its entity,
  // however long a counselor takes.
  Status enqueue(Request request, Now now);
  // Whoever asked waits no more, and was told that the request waits here: it outlasts a freeze from now on.
  void outlast(std::string_view operationId);
  // This device stops: what it has accepted is durable after the next drain().
  void keepRequests() { outbox_.saveAll(pending_); }

  // ---- operators
  // Begins the first epoch of every partition, or of those that `which` takes, where nobody has yet. Once in the life
  // of a cluster.
  Status found(Now now, const std::function<bool(std::string_view partition)>& which = {});
  // Hands a partition over to a ledger replica that is connected. Errors: not the owner, not a replica, not connected.
  Status move(std::string_view partition, std::string_view device, std::string_view reason, Now now);
  // Takes a partition over without its owner. Errors: no copy here; the owner is connected (move it instead); a
  // connected replica has more of the log (seize it there).
  Status seize(std::string_view partition, std::string_view reason, Now now);

  // ---- time and effects
  void tick(Now now);
  // When tick() has something to do, by the steady clock.
  std::int64_t nextTickMs() const;
  Status drain(Now now, Effects& out);

  // ---- reading
  const std::string& device() const { return local_->device(); }
  // Its name as an owner of epochs.
  const std::string& ownerName() const { return ownerName_; }
  replication::LocalReplica& data() { return *local_; }
  const replication::LocalReplica& data() const { return *local_; }
  const std::map<std::string, std::unique_ptr<PartitionHost>, std::less<>>& hosts() const { return hosts_; }
  PartitionHost* host(std::string_view partition);
  const OwnerTable& owners() const { return owners_; }
  const Outbox& outbox() const { return outbox_; }
  // Whether this device decides for a partition now.
  bool owns(const PartitionHost& host) const;
  OwnerState ownerState(std::string_view partition) const;
  std::string partitionFor(std::string_view domain, std::string_view entity) const;
  const replication::SyncSession* session(std::string_view peer) const;
  const ReplicaCounters& counters() const { return counters_; }
  // Null: none work here.
  agents::AgentHost* agents();
  const agents::AgentHost* agents() const;
  // Devices that let something else name the owners, when they were last connected, and how that was told. Nothing but
  // that is heard of them, and their links end: two engines would have two owners.
  const std::map<std::string, std::string, std::less<>>& otherEngines() const { return otherEngines_; }
  // Members that are connected.
  std::set<std::string> connectedPeers() const;
  // Null: no such domain.
  const kernel::DomainModule* moduleOf(std::string_view domain) const;
  // Nothing waits: no request, no entry under way, sessions quiet.
  bool quiet() const;

 private:
  friend class EtcdOwner;
  // One partition, between this device and a peer.
  struct Link {
    FollowerProgress follower;  // the peer's copy, and entries to it
    bool asked = false;         // this device has asked the peer to send; only when its position is known
    bool ackDue = false;        // for entries from the peer
  };
  struct Peer {
    std::unique_ptr<replication::SyncSession> session;
    std::string owner;  // its name as an owner of epochs; empty: not heard
    bool greeted = false;
    bool told = false;    // that the session has ended
    bool cut = false;     // it sent what it may not: the connection ends
    bool keeper = true;   // of ledgers
    std::string parting;  // why the session is to end, once this side's standing is said; empty: it is not
    std::string out;
    std::map<std::string, Link, std::less<>> links;
    Standing news;  // to be sent
    bool newsDue = false;
  };

  Replica(ReplicaStores stores, ReplicaConfig config);
  Status start(Now now);
  Status openHosts();
  Status openHost(const kernel::DomainModule& module, const std::string& id);
  Status loadOwnerName();

  // replica_route.cpp: requests and answers
  void onRequest(const std::string& from, Request request, Now now);
  void onAnswer(Peer& peer, Answer answer, Now now);
  Status checkOwn(Request& request) const;
  void routeDue(Now now);
  void route(Outbox::Waiting& waiting, Now now);
  // Has it decided here. False: not now. Requires: this device owns the partition.
  bool decideHere(PartitionHost& host, const Request& request, const std::string& from, Now now);
  void give(PartitionHost::Release release, Now now, Effects& out);
  void answerPeer(Peer& peer, const Answer& answer);
  std::string ownerDevice(std::string_view partition) const;

  // replica_follow.cpp: standings and entries
  void greet(Peer& peer);
  std::string engineName() const;
  bool fitsEngine(const std::string& from, Peer& peer, const Standing& standing);
  void onStanding(const std::string& from, Peer& peer, Standing standing, Now now);
  void onPosition(const std::string& from, Peer& peer, const Position& position, Now now);
  void onEntries(const std::string& from, Peer& peer, const Entries& entries, Now now);
  void onFollowed(Peer& peer, const Followed& followed, Now now);
  bool learn(const Claim& claim);
  void announce(const Claim& claim, std::string_view from = {});
  void learnFrom(PartitionHost& host, std::size_t epochsBefore);
  bool wants(std::string_view from, const PartitionHost& host) const;
  void refreshFollowing();
  void tell(Peer& peer, PartitionHost& host, bool follow);
  Position& newsOf(Peer& peer, const std::string& partition);
  void tellMarks(Peer& peer, PartitionHost& host, std::uint64_t low, std::uint64_t high);
  void tellAll(PartitionHost& host);
  void pushEntries(Now now);
  void pushTo(Peer& peer, PartitionHost& host, FollowerProgress& follower, Now now);
  void setAside(const std::string& from, PartitionHost& host, std::uint64_t keep);
  void succeed(PartitionHost& host, Now now);
  bool hasParted(PartitionHost& host, const Entries& entries) const;
  void noteWentBack(const std::string& from, PartitionHost& host, const Lineage& theirs);
  void onParted(const std::string& from, Peer& peer, PartitionHost& host, const Position& position,
                const Parting& parting);
  void noteFork(const std::string& from, PartitionHost& host, FollowerProgress& follower);
  void stopDeciding(PartitionHost& host);
  void forgetLostTail(const std::string& partition);
  Status loadLostTails();
  void driveEtcd(Now now, Effects& out);
  Status reopenHosts();
  void payDuties();
  Status flushLedgers();
  // Makes what waits durable, or writes it and leaves the sync to a later round (syncWaitMs). Whether everything
  // written is durable.
  Result<bool> flush(Now now);
  std::int64_t syncWaitMs() const;
  void sayNews(Now now);

  // The steps of drain(), in order (replica.cpp).
  void greetPeers();
  void routeRequests(Now now);
  void stageDecisions();
  Result<bool> flushDecisions(Now now);
  Result<std::vector<PartitionHost::Release>> takeReleases(bool durable, Now now);
  void giveReleases(std::vector<PartitionHost::Release> releases, Now now, Effects& out);
  void replicateLogs(Now now);
  void sendFrames(Now now, Effects& out);
  Status writeLeftovers();
  void handOver(Now now, Effects& out);

  Status checkEmbedded() const;
  bool mayTalk(const Peer& peer) const;
  template <class T>
  void say(Peer& peer, const T& message) {
    appendFrame(peer.out, words_, message);
  }
  void cutOff(const std::string& from, Peer& peer, const Error& why);

  ReplicaStores stores_;
  ReplicaConfig config_;
  std::unique_ptr<replication::LocalReplica> local_;
  std::string ownerName_;
  std::map<std::string, std::unique_ptr<PartitionHost>, std::less<>> hosts_;
  // Hosts that are of no use until drain() has opened them again; with a value: after setting aside what is beyond
  // so many batches, which a peer's log showed to be surplus.
  struct Aside {
    std::string from;
    std::uint64_t keep = 0;
  };
  std::map<std::string, std::optional<Aside>, std::less<>> reopen_;
  // Own epochs of which others have more than this device, or another log; kept as rows "w/" too.
  std::set<std::string, std::less<>> lostTail_;
  OwnerTable owners_;
  Outbox outbox_;
  store::WriteBatch pending_;  // of the ledgers' store
  store::WriteBatch held_;     // the same; copies of what is durable elsewhere: they may wait for their sync
  bool unsynced_ = false;      // the store has some of those
  std::int64_t syncedMs_ = 0;
  std::map<std::string, Peer, std::less<>> peers_;
  std::vector<Notice> notices_;
  std::vector<Answered> answers_;  // that need no durability of their own
  ReplicaCounters counters_;
  WordWriter words_;
  std::vector<std::uint64_t> aligned_;
  std::unique_ptr<EtcdOwner> etcd_;  // null: the embedded mode
  std::uint64_t etcdCluster_ = 0;
  std::map<std::string, std::string, std::less<>> otherEngines_;
  std::unique_ptr<AgentDesk> desk_;  // null: no agents
  bool followDirty_ = true, hurry_ = false;
  std::uint64_t statementsSeen_ = 0;
  Now drained_;  // when drain() was last called
  std::int64_t nextTellMs_ = 0, nextTickMs_ = 0, nextStabiliseMs_ = 0;
};

}  // namespace witan::node
