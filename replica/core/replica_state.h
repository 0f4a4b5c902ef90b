// ReplicaState: the data that the parts of one Replica share (replica/replica.h), and small questions about it.
//
// The parts are the ownership engine (replica/ownership), AdvertisementExchange, EntryReplicator and RequestRouter.
// Each changes what its header names; Replica drives them, one after the other. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replica/core/evidence_book.h"
#include "replica/core/follower_progress.h"
#include "replica/core/ledger_writes.h"
#include "replica/core/log_head.h"
#include "replica/core/messages.h"
#include "replica/core/outbox.h"
#include "replica/core/owner_proofs.h"
#include "replica/core/owner_table.h"
#include "replica/core/partition_table.h"
#include "replica/core/placement.h"
#include "replica/core/replica_config.h"
#include "replica/core/request_proofs.h"
#include "replication/sync_session.h"

namespace witan::node {

// One partition, between this device and a peer.
struct PeerPartition {
  FollowerProgress follower;  // the peer's copy, and entries to it
  bool asked = false;         // this device has asked the peer to send; only when its position is known
  bool ackDue = false;        // for entries from the peer
  bool accused = false;       // a position that it cannot prove was reported
  // Of its batches this one waits for a claim or a key that is not known here: those behind it show no gap.
  std::optional<std::uint64_t> putOff;
  bool unproven = false;  // its next batch waits for a key that is not known here, and that was noticed
  // The version of the placement by which the peer keeps its copy, all of it durable (0: it does not say so), and how
  // many batches of this log it was seen to have.
  std::uint64_t keeps = 0, shares = 0;
  std::uint64_t first = 0;  // batch of its copy: those before are pruned there
};

// What this device has asked a peer, the owner of some partitions.
struct Asking {
  std::size_t open = 0;           // requests that it has not answered
  std::int64_t sinceMs = 0;       // when the latest of them left
  std::vector<std::string> held;  // operation ids of those that wait for its answers
};

// A connected device: its session, its copies of the partitions as far as they are known, and the frames for it.
struct Peer {
  std::string device;
  std::unique_ptr<replication::SyncSession> session;
  std::int64_t sinceMs = 0;       // when it was connected
  std::int64_t claimsToldMs = 0;  // when it was last told all claims
  std::string owner;              // its name as an owner of epochs; empty: not known
  bool greeted = false;
  bool endReported = false;  // the end of the session was reported
  bool cut = false;          // it sent what it may not: the connection ends
  bool keeper = true;        // of ledgers
  bool copies = false;       // it or this device keeps encrypted copies only: sessions are all that they share
  std::string farewell;      // why the session is to end, once this side's standing is sent; empty: it is not
  std::string out;           // frames for the end of the round
  std::map<std::string, PeerPartition, std::less<>> partitions;
  PeerAdvertisement news;  // to be sent
  bool newsDue = false;
  Asking asking;

  // Whether it is a member, with which more than membership is shared.
  bool full() const { return !cut && session->full(); }
  // Unknown if the peer has reported nothing of the partition.
  const FollowerProgress& follower(std::string_view partition) const;
};

using Peers = std::map<std::string, Peer, std::less<>>;

struct ReplicaState {
  ReplicaState(ReplicaStores s, ReplicaConfig c)
      : stores(s), config(std::move(c)), writes(s.ledgers), seals(s.ledgers) {}

  ReplicaStores stores;
  ReplicaConfig config;
  std::unique_ptr<replication::LocalReplica> local;
  std::string ownerName;  // of this device, as an owner of epochs
  // Names a time in which what this device says of its logs does not change: from a start to the next one, or to where
  // a log of its own parts. What two of them say may differ because a disk went back, and is no lie. 0: without keys.
  std::uint64_t run = 0;
  LedgerWrites writes;
  PartitionTable partitions;
  Placement placement;                           // ReplicaConfig::placement
  bool placed = true;                            // the copies that this device is to have are here, or were begun
  std::set<std::string, std::less<>> leaving;    // copies that take nothing more: CopyRelease gives them up
  std::set<std::string, std::less<>> beginning;  // copies that take nothing yet: BaseTransfer begins them
  bool keepsAll = false;  // agents of this device read ledgers: it keeps copies beside those of the placement
  OwnerTable owners;
  SealBook seals;
  kernel::SignatureMemo signatures;
  EvidenceBook evidence;
  // By partition: HeadExchange::noteRules(); and to which version of a rule file its log came, by the log's chain.
  std::map<std::string, LogHead, std::less<>> namedRules;
  std::map<std::string, std::pair<Hash, std::int64_t>, std::less<>> versionsReached;
  std::map<std::string, EntryEvidence, std::less<>> unlawful;  // by what its incident says: it waits for a head
  ToldAnswers told;
  Outbox outbox;
  Peers peers;
  std::vector<Notice> notices;
  ReplicaCounters counters;
  bool followDirty = true;  // which peers this device follows is to be looked at again
  bool expedite = false;    // requests that wait are to be tried with the next round

  const std::string& device() const { return local->device(); }
  // Whether owners prove what they say (replica/core/owner_proofs.h). With etcd, etcd is believed.
  bool provesOwners() const { return config.heads != nullptr && !config.etcd; }
  void beginRun();
  // Null: no such domain.
  const kernel::DomainModule* moduleOf(std::string_view domain) const;
  std::string partitionFor(std::string_view domain, std::string_view entity) const;
  // Whether this device is to keep a copy.
  bool isKeeper(std::string_view partition) const;
  // Whether the owner has named this device to be the next one.
  bool isSuccessor(std::string_view partition) const;
  // Whether the placement names it among those that keep a copy, where others do not, or do not keep all of it.
  bool isPlaced(std::string_view partition) const;
  // The device that owns a partition; empty: not known.
  std::string ownerDevice(std::string_view partition) const;

  template <class T>
  void say(Peer& peer, const T& message) {
    appendFrame(peer.out, words_, message);
  }
  // A connected member. Null: it is none, or is not connected.
  Peer* member(std::string_view device);
  // Ends the connection to a peer that broke the protocol.
  void cutOff(const std::string& from, Peer& peer, const Error& why);
  // The log of the owner of epoch `last` holds a decision that the rules do not give, in the batch that `host` failed
  // to follow. Takes nothing more of that log, keeps the batch, and reports an incident that names who sent it.
  // `kind`: of the incident. `file`: what proves it, without the key; empty kind: nothing does.
  void refuseLog(PartitionHost& host, const kernel::Epoch& last, const std::string& from, std::string_view batch,
                 const Error& why, const std::string& kind = "unlawful", EntryEvidence file = {});

  // ---- evidence
  ModuleOf rules() const {
    return [this](const kernel::LedgerFormat& format) { return moduleOf(format.domain); };
  }
  // The file, with the key of the device under which it proves something. Empty: with none.
  std::string provenBy(std::string_view device, EntryEvidence file) const;
  // A file that proves `proven` of a device of this cluster: keeps it, reports it and tells it to all, if it is news.
  // `what`: of an incident that is reported already, else empty.
  void takeEvidence(const ProvenOffence& proven, std::string_view file, const std::string& what = {});
  // Whether the owner, as far as it is known, has such a log.
  bool refusesOwner(std::string_view partition) const;
  void notice(std::string kind, const std::string& partition, std::string what) {
    notices.push_back({std::move(kind), partition, std::move(what)});
  }

 private:
  WordWriter words_;
};

}  // namespace witan::node
