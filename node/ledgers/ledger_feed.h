// LedgerFeed: entries as they become durable in this device's copies of the ledgers, each once, for whoever follows
// along: streams, slices, traces. What is set aside after a seizure is not taken back; what replaces it comes.
//
// Main thread only. The replica outlives it.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "node/ledgers/ledger_reader.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"

namespace witan::node {

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

// The entries of one batch of a log.
Status visitBatch(PartitionHost& host, std::uint64_t number, const std::function<void(const StoredEntry&)>& visit);

}  // namespace witan::node
