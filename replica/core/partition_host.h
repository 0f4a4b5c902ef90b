// PartitionHost: this device's copy of one partition: its log, what the log adds up to, and what may be done with it.
//
// One on every ledger replica for every partition. The owner decides on it, the others follow. Which of the two it is
// follows from the log alone: the last epoch names the owner. Sans-I/O but for the store, a seam; not thread-safe. The
// store and the module outlive it.
//
// Everything decided or followed waits in the open batch or in `staged` until the driver has made it durable and says
// confirmed(); answers are released then, in order.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/ledger/ledger.h"
#include "replica/core/log_hash_chain.h"
#include "store/prefix_store.h"
#include "store/store.h"

namespace witan::node {

// UncommittedOverlay: the rows of a partition as its ledger sees them: what is in the store, and the batches of the log
// that come into it later: with the end of the round, or when they are committed elsewhere.
//
// Only get() knows of those: the log is scanned when it is opened, and nothing is under way then. The store below
// outlives it.
class UncommittedOverlay final : public store::Store {
 public:
  explicit UncommittedOverlay(store::Store& below) : below_(below) {}

  void add(std::string key, std::string value) { ahead_.insert_or_assign(std::move(key), std::move(value)); }
  // Those are in the store by now.
  void forgetBefore(const std::string& key) { ahead_.erase(ahead_.begin(), ahead_.lower_bound(key)); }

  Result<std::optional<std::string>> get(std::string_view key) const override {
    const auto at = ahead_.find(key);
    return at == ahead_.end() ? below_.get(key) : std::optional(at->second);
  }
  Status scan(std::string_view prefix, std::string_view from, const store::Visitor& visit) const override {
    return below_.scan(prefix, from, visit);
  }
  Result<std::optional<store::KeyValue>> last(std::string_view prefix) const override { return below_.last(prefix); }
  std::unique_ptr<store::Snapshot> snapshot() const override { return below_.snapshot(); }
  Status write(const store::WriteBatch& batch) override { return below_.write(batch); }
  Status sync() override { return below_.sync(); }
  Status writeSynced(const store::WriteBatch& batch) override { return below_.writeSynced(batch); }

 private:
  store::Store& below_;
  std::map<std::string, std::string, std::less<>> ahead_;
};

inline constexpr std::size_t kRecentRoots = 512;

struct HostOptions {
  std::string id;      // "{domain}/{number}"
  std::string origin;  // name of the log in checkpoints
  std::int64_t pendingTtlMicros = 0;
  bool isSigned = false;     // epochs that begin here have entries and beginnings with proofs
  std::string place = "p/";  // of its rows: "p/" + id + "/"
};

class PartitionHost {
 public:
  // An answer that waits for its decision to be durable; `to` is a device, empty: a client of this one.
  struct Release {
    std::string to;
    RequestKind kind = RequestKind::propose;
    Answer answer;
    bool boundElsewhere = false;  // as kernel::Decision
    std::string partition = {};   // of an answer that holds its entry
  };

  static Result<std::unique_ptr<PartitionHost>> open(store::Store& ledgers, const kernel::DomainModule& module,
                                                     HostOptions options);

  const std::string& id() const { return options_.id; }
  const kernel::DomainModule& module() const { return module_; }
  kernel::Ledger& ledger() { return *ledger_; }
  const kernel::Ledger& ledger() const { return *ledger_; }
  const kernel::Partition& partition() const { return ledger_->partition(); }
  // Its rows, for whoever verifies the log (kernel/ledger/ledger_verify.h).
  const store::Reader& rows() const { return rows_; }

  // ---- standing
  EpochHistory lineage() const;
  // The last of its lineage. O(1).
  kernel::Epoch epoch() const;
  LogPosition position() const;
  OwnershipRecord claim() const;  // of the last epoch. Requires: there is one.
  // The same for an epoch of the log.
  OwnershipRecord recordOf(std::size_t epochIndex) const;
  // Its first batch, and its first entry: those before were pruned here.
  std::uint64_t first() const { return ledger_->prunedBatches(); }
  std::uint64_t firstEntry() const { return ledger_->prunedEntries() + 1; }
  // Entries of its batches, those under way among them.
  std::uint64_t entries() const { return entries_; }
  // Of the tree over the first `size` entries. None: none of the last kRecentRoots batches ends there.
  std::optional<Hash> recentRoot(std::uint64_t size) const;

  // ---- the owner's part
  // Decides, now or at the partition's clock, whichever is later. The answer waits; see confirmed(). `stuck`: why the
  // expiry of what is pending on the entity cannot be recorded, if so. What was done already is answered then too;
  // everything else is refused with that.
  void decide(const Request& request, Time wall, std::string to, std::string_view stuck = {});
  // Decides on `step` as the answer to `asked`: to a request that is no proposal itself, or a step of a graph's
  // runtime.
  kernel::Decision decideAs(const Request& step, const Request& asked, Time wall, std::string to);
  // Rejects pending proposals whose time is up, at most so many. Whether there were any.
  bool expire(Time wall, std::size_t most = ~std::size_t{0});
  // Of an owner whose batches are committed elsewhere (replica/ownership/etcd_engine.h): takes what is open out for
  // that. Several may be under way. Until settle() was called for each, in order, the copy is ahead of the log: it
  // tells nobody of what is not settled, and must be opened again if a commit fails.
  struct Ahead {
    std::uint64_t number = 0;  // of the batch
    std::string value;         // empty: nothing was written, answers alone wait
    store::WriteBatch rows;
  };
  Ahead takeAhead();
  void settle();
  bool ahead() const { return told_.has_value(); }
  // Whether the state of the copy may be shown (docs/etcd.md, rule 7): it is the state of the log, without decisions
  // that may yet come to nothing. With the embedded engine that holds between two rounds; with etcd a copy may be ahead
  // for long.
  bool showsLog() const { return !ahead() && !partition().hasOpenBatch(); }
  // What was decided since takeAhead() is to be undone, by opening the copy again: nobody hears of it.
  void dropOpen();
  // The answers of what is settled, or of everything.
  void answered(std::vector<Release>& out, bool all = false);
  // Begins an epoch in the open batch. Requires: nothing is open.
  void openEpoch(const kernel::Epoch& epoch, kernel::EpochCause cause, Time wall, std::string_view reason);
  // Begins an epoch of `owner`. What is open goes into `out` first.
  void beginEpoch(const kernel::Epoch& epoch, kernel::EpochCause cause, Time wall, std::string_view reason,
                  store::WriteBatch& out, std::string_view successor = {});
  // Whom the owner has named to succeed it; empty: nobody. Then nobody decides.
  std::string successor() const;

  // ---- the follower's part
  // Takes the next batch, if `accept` accepts what it made of the copy. After an error it must be opened again.
  Status follow(std::string_view value, store::WriteBatch& out, const std::function<Status()>& accept = {});
  // Takes everything from batch `from` on out of the log and keeps it aside: never merged, never lost
  // (replica/core/divergent_suffixes.h). Must be opened again afterwards.
  struct Truncated {
    std::uint64_t entries = 0;
    std::vector<std::string> operations;  // ids of the first few
  };
  Result<Truncated> truncateDivergent(std::uint64_t from, store::WriteBatch& out);

  // The last batch had been torn by a crash and was cut. Its owner may keep what is left of its own batch, which nobody
  // else has seen; a copy must not.
  bool keepsPartOfBatch() const { return ledger_->recovery().cutTornTail && ledger_->recovery().recordsKept > 0; }
  // Takes it out of the store. Must be opened again afterwards.
  Status dropLastBatch();

  // ---- durability
  // Moves what is open into `out`; true if there was anything.
  bool stage(store::WriteBatch& out);
  // Everything staged is durable (and what is not settled is not staged): batches up to here may be sent on, answers be
  // given.
  void confirmed(std::vector<Release>& out);
  // Writes a snapshot if it is due and the copy is not ahead; not synced.
  Status snapshotIfDue(std::uint64_t every);
  bool snapshotDue(std::uint64_t every) const { return partition().size() - snapshotAt_ >= every; }
  // Batches known to be durable here.
  std::uint64_t durableBatches() const { return durable_; }
  // What tells this log from another.
  const LogHashChain& chain() const { return *chain_; }
  // Answers that rest on nothing new (duplicates of durable decisions wait like the others).
  std::size_t waiting() const { return waiting_.size(); }

 private:
  PartitionHost(store::Store& ledgers, const kernel::DomainModule& module, HostOptions options);
  void wait(const Request& request, const kernel::Decision& decision, std::string to);
  kernel::Decision decisionOn(const Request& request, Time at, std::string_view stuck);
  kernel::Decision propose(const Request& request, Time at);
  kernel::Decision counselor(const Request& request, Time at);
  std::uint16_t format() const { return options_.isSigned ? kernel::kSignedBeginnings : std::uint16_t{0}; }
  Answer answerOf(const Request& request, const kernel::Decision& decision) const;
  Time clock(Time wall) const;
  void noteRoot();
  EpochHistory wholeHistory() const;
  LogPosition reached() const;
  const kernel::DomainModule& module_;
  const HostOptions options_;
  store::PrefixStore rows_;
  UncommittedOverlay seen_{rows_};  // with the batches that are not settled or not written: the ledger reads them
  std::unique_ptr<kernel::Ledger> ledger_;
  std::deque<Release> waiting_;
  std::uint64_t durable_ = 0;
  std::uint64_t entries_ = 0;  // in the batches of the log; decisions in the open one count later
  Hash root_{};                // of the tree over them
  std::deque<std::pair<std::uint64_t, Hash>> recent_;  // entries_ and root_ after the last batches
  std::uint64_t snapshotAt_ = 0;                       // entries
  // While the copy is ahead of the log: where the log is, and where each batch under way will take it.
  struct Step {
    LogPosition after;
    std::size_t releases = 0;  // answers that wait for it
  };
  std::optional<LogPosition> told_;
  std::deque<Step> steps_;
  std::size_t settled_ = 0, promised_ = 0;  // of waiting_: with a settled batch; with any
  store::Store& ledgers_;
  std::optional<LogHashChain> chain_;
};

// Of an entity, among `partitions` of its domain: SHA-256, so that every device agrees.
std::string partitionOf(std::string_view domain, std::string_view entity, std::uint32_t partitions);
std::string partitionId(std::string_view domain, std::uint32_t number);

}  // namespace witan::node
