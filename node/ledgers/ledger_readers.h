// Readers of the ledgers of a running node: LedgerReaders shows states, LedgerFeed new entries.
//
// Both belong to a Daemon, on its loop's thread. Loop, replica and store outlive them.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "net/loop.h"
#include "node/ledgers/ledger_reader.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"

namespace witan::node {

inline constexpr std::int64_t kReaderPatienceMs = 1'000;
inline constexpr std::size_t kMaxReaders = 1'000;

// LedgerReaders shows the state of a partition as its log has it for good, without decisions that may yet come to
// nothing (docs/etcd.md, rule 7).
//
// While a copy has more than that, its readers wait for the end of a round at which it has not: at once with the
// embedded engine; with etcd for as long as batches are under way, and an owner under load pauses for that every
// 100 ms. If etcd is away and that takes more than a second, the reader sees another copy, opened from the store, and
// so do all that wait for the same partition by then.
class LedgerReaders {
 public:
  // `ledgers`: the replica's.
  LedgerReaders(net::Loop& loop, Replica& replica, store::Store& ledgers, std::int64_t pendingTtlMicros)
      : loop_(loop), replica_(replica), ledgers_(ledgers), pendingTtlMicros_(pendingTtlMicros) {}
  ~LedgerReaders();
  LedgerReaders(const LedgerReaders&) = delete;

  // `visit` is shown each of these partitions that is kept here, in any order, then `done` is called; either may be at
  // once. What is visited is good until the visit returns. Errors: too many wait; of the store.
  using Visit = std::function<void(const PartitionHost&)>;
  using Done = std::function<void(const Status&)>;
  void read(std::set<std::string> partitions, Visit visit, Done done);
  // How much a partition holds; while its copy has more than its log, entities and pending proposals are those of the
  // last time that it had not, about a second ago under load.
  struct Census {
    std::uint64_t entries = 0, entities = 0, pending = 0;
    std::optional<Time> oldestPending;
  };
  Census censusOf(const PartitionHost& host);
  // A round has ended.
  void poll();

 private:
  struct Reader {
    std::set<std::string> partitions;
    Visit visit;
    Done done;
    net::Loop::TimerId timer = 0;
  };
  struct Noted {
    Census census;
    std::int64_t ms = 0;
  };
  bool show(Reader& reader);
  void showStored(std::list<Reader>::iterator at);
  void tellServed();
  Result<std::unique_ptr<PartitionHost>> storedCopyOf(PartitionHost& host) const;
  void note(const PartitionHost& host, std::int64_t nowMs);

  net::Loop& loop_;
  Replica& replica_;
  store::Store& ledgers_;
  const std::int64_t pendingTtlMicros_;
  std::list<Reader> waiting_;
  std::map<std::string, Noted, std::less<>> noted_;
};

// LedgerFeed: entries as they become durable in this device's copies of the ledgers, each once, for streams and traces.
// Entries that are truncated after a takeover are not taken back; their replacements come. The replica outlives it.
class LedgerFeed {
 public:
  // Begins at the end of every log.
  explicit LedgerFeed(Replica& replica);

  using Visit = std::function<void(PartitionHost&, const StoredEntry&)>;
  // What came since the last call. O(new entries + partitions). Errors: of reading the store.
  Status poll(const Visit& visit);
  // Nobody wants what came since. O(partitions).
  void skip();

 private:
  Replica& replica_;
  std::map<std::string, std::uint64_t, std::less<>> seen_;  // batches
};

}  // namespace witan::node
