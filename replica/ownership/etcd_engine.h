// EtcdEngine: who owns a partition when etcd says so, and the tail of each partition's log in etcd.
//
//   {cluster}/owner/{partition}       its owner, under the lease of its device; the create revision is the token
//   {cluster}/log/{partition}/{n}     batch n of its log
//   {cluster}/trim/{partition}        batches below this number are no longer there: replicas have them
//   {cluster}/held/{partition}/{dev}  how many batches a device has on its disk
//
// A batch is committed by one transaction: if my owner key still has my token, there is no batch n, and batch n-1 is
// there, put batch n. So a batch is in the log or it is not, whatever the owner believes of its lease; the lease only
// decides when others may try. Several batches of a partition are under way at a time: the third comparison keeps their
// order whichever arrives first, and what follows a batch that is refused is refused too. Batches of several partitions
// that are due together share a transaction; if it does not hold, its answer says for each of them why.
//
// An answer may leave when the transactions of its batch and of those before it have succeeded; one that wrote nothing
// waits for a transaction that compares the token alone. An outcome that is unknown is asked for again with the very
// same comparisons and the very same batch, until it is known.
//
// A new owner reads the log to its end after it has its token, and its first batch begins an epoch. A replica that
// lacks batches which etcd no longer holds leaves the partition to others until its peers have given them to it.
//
// Sans-I/O, deterministic, not thread-safe: events in, requests out (take()). The copies outlive it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replica/core/replica_config.h"
#include "replica/ownership/etcd_messages.h"

namespace witan::node {

// The device's copies of the partitions, as the engine needs them.
class EtcdCopies {
 public:
  virtual ~EtcdCopies() = default;
  // Batches of the log, without those that are being committed.
  virtual std::uint64_t batches(const std::string& partition) const = 0;
  // Of those, on the disk.
  virtual std::uint64_t durableBatches(const std::string& partition) const = 0;
  // The next batch. False: not now.
  virtual bool follow(const std::string& partition, const std::string& value) = 0;
  // This device has the key and the whole log: it may commit() the beginning of an epoch.
  virtual void onGranted(const std::string& partition) = 0;
  // The first of the batches that are being committed is in the log.
  virtual void onCommitted(const std::string& partition) = 0;
  // The key is gone. `discard`: what was being committed is not in the log and never will be.
  virtual void onLost(const std::string& partition, bool discard) = 0;
  // Etcd takes no batch of so many bytes: what was being committed is not in the log and never will be. The partition
  // stays with this device.
  virtual void onTooLarge(const std::string& partition, std::size_t bytes) = 0;
};

class EtcdEngine {
 public:
  EtcdEngine(EtcdOptions options, std::string cluster, std::string owner, std::string device,
             const std::vector<std::string>& partitions, EtcdCopies& copies);

  // ---- events
  void connected(std::int64_t nowMs);
  void disconnected();
  void received(const EtcdAnswer& answer, std::int64_t nowMs);
  void tick(std::int64_t nowMs);
  std::int64_t nextTickMs() const;

  // ---- the owner's part
  // Whether this device holds the key and began the epoch that it serves, as far as it knows.
  bool serves(std::string_view partition) const;
  // Commits batch `n`, or with an empty value: makes sure that this device owns the partition still. Then, in the order
  // of the calls, onCommitted for each, or once onLost or onTooLarge for all that are left. Requires: onGranted, and
  // then the batches of that epoch in a row.
  void commit(const std::string& partition, std::uint64_t n, std::string value, std::int64_t nowMs);
  // Commits under way.
  std::size_t committing(std::string_view partition) const;
  // Transactions under way that carry batches of any partition.
  std::size_t transactions() const;

  // ---- the follower's part
  // Whether peers should send this partition's batches: etcd is out of reach, or does not have them any more.
  bool needsPeers(std::string_view partition) const;

  // ---- effects
  // O(partitions), and the bytes of what is sent.
  std::vector<EtcdRequest> take(std::int64_t nowMs);

  bool reachable() const { return watching_; }
  std::int64_t lastHeardMs() const { return heardMs_; }
  const EtcdCounters& counters() const { return counters_; }
  // Nothing is being committed, read or waited for.
  bool quiet() const;

 private:
  enum class Stage : std::uint8_t { following, campaigning, recovering, beginning, serving };
  struct Commit {
    std::uint64_t n = 0;
    std::string value;
    std::uint64_t asked = 0;  // the request that is under way; 0: none
    bool there = false;       // in the log, for certain
    bool refused = false;     // it did not hold, for want of its predecessor, it seems: it waits to be the first
    bool alone = false;       // it shares no transaction
  };
  struct Partition {
    Stage stage = Stage::following;
    std::string holder;               // as last heard; empty: nobody
    std::uint64_t holderCreated = 0;  // of its key
    std::uint64_t holderAt = 0;       // revision at which that was so
    std::uint64_t holderLease = 0;
    std::uint64_t token = 0;  // of this device's key
    std::uint64_t spent = 0;  // one under which discarded batches may still be under way: it is given back
    bool gone = false;        // the key, while commits are under way
    bool behind = true;       // the log may have more than the copy
    std::uint64_t seen = 0;   // batches that the log has for certain
    std::uint64_t trimmed = 0;
    std::int64_t notBeforeMs = 0;  // for whatever it tries next
    std::deque<Commit> commits;    // in the order of the log
    std::size_t tooLarge = 0;      // bytes of one that was behind them, which etcd does not take; 0: none
    std::map<std::string, std::uint64_t, std::less<>> held;
  };
  enum class Purpose : std::uint8_t { sync, watch, grant, keepAlive, campaign, read, commit, release, held, trim };
  struct Asked {
    Purpose purpose = Purpose::sync;
    std::string partition;
    std::int64_t byMs = 0;            // then it counts as unanswered; the watch has no such time
    std::uint64_t token = 0;          // of the partition when it was asked
    std::uint64_t id = 0;             // of the request
    std::vector<std::string> commit;  // the partitions whose batches it carries
  };
  using Partitions = std::map<std::string, Partition, std::less<>>;

  std::string ownerKey(const std::string& partition) const { return cluster_ + "/owner/" + partition; }
  std::string trimKey(const std::string& partition) const { return cluster_ + "/trim/" + partition; }
  std::string logKey(const std::string& partition, std::uint64_t n) const;
  std::uint64_t ask(Purpose purpose, const std::string& partition, EtcdRequest request, std::int64_t nowMs);
  bool asking(Purpose purpose, std::string_view partition = {}) const;

  void sync(std::int64_t nowMs);
  void advance(const std::string& id, Partition& partition, std::int64_t nowMs);
  void campaign(const std::string& id, Partition& partition, std::int64_t nowMs);
  void read(const std::string& id, std::int64_t nowMs);
  void sendCommits(std::int64_t nowMs);
  static std::size_t nextToSend(const Partition& partition);
  void addCommit(const std::string& id, const Partition& partition, const Commit& commit, EtcdRequest& request) const;
  void giveBack(const std::string& id, std::uint64_t created, std::int64_t nowMs);
  void report(std::int64_t nowMs);
  void trim(const std::string& id, Partition& partition, std::int64_t nowMs);

  void onSync(const EtcdAnswer& answer, std::int64_t nowMs);
  void onChanges(const EtcdAnswer& answer, std::int64_t nowMs);
  void onKey(const EtcdKeyValue& at, bool removed, std::uint64_t revision, std::int64_t nowMs);
  void onHolder(const std::string& id, Partition& partition, const EtcdKeyValue* key, std::uint64_t revision,
                std::int64_t nowMs);
  void onCampaign(const std::string& id, Partition& partition, const EtcdAnswer& answer, std::int64_t nowMs);
  void onRead(const std::string& id, Partition& partition, const EtcdAnswer& answer, std::uint64_t token,
              std::int64_t nowMs);
  void onBatch(const std::string& id, Partition& partition, std::uint64_t n, const std::string& value,
               std::int64_t nowMs);
  void onCommit(const Asked& asked, const EtcdAnswer& answer, std::int64_t nowMs);
  void onHeld(Partition& partition, std::size_t upTo);
  bool onNotHeld(Partition& partition, std::size_t which, const EtcdKeyValue* owner, const EtcdKeyValue* batch);
  void tooLarge(Partition& partition, std::size_t which, bool shared);
  void settle(const std::string& id, Partition& partition, std::int64_t nowMs);
  void done(const std::string& id, Partition& partition);
  void lose(const std::string& id, Partition& partition, bool discard, std::int64_t nowMs);
  void onUnanswered(const Asked& asked, std::int64_t nowMs);
  void onSilence(const Asked& asked, std::int64_t nowMs);
  void advanceAll(std::int64_t nowMs);
  void setTimer(std::int64_t nowMs);
  bool waits(const std::string& id, const Partition& partition) const;
  std::int64_t patience(const std::string& partition) const;

  const EtcdOptions options_;
  const std::string cluster_, owner_, device_;
  EtcdCopies& copies_;
  Partitions partitions_;
  std::vector<EtcdRequest> out_;
  std::map<std::uint64_t, Asked> asked_;
  std::uint64_t nextId_ = 1;
  bool connected_ = false, watching_ = false;
  std::uint64_t watch_ = 0;  // its id
  std::uint64_t lease_ = 0;
  std::int64_t keepAliveMs_ = 0, heldMs_ = 0, heardMs_ = 0, nextMs_ = 0, againMs_ = 0;
  EtcdCounters counters_;
};

}  // namespace witan::node
