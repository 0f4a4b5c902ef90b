// LedgerWrites: the rows of a round that wait for their write to the ledgers' store, one write and one sync for all
// partitions.
//
// Two kinds: `pending` rows are synced with the round, because answers rest on them; `copies` are durable elsewhere
// (etcd, the owner), so their sync may wait. Not thread-safe. The store outlives it.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "store/store.h"

namespace witan::node {

class LedgerWrites {
 public:
  explicit LedgerWrites(store::Store& store) : store_(store) {}

  store::WriteBatch& pending() { return pending_; }
  store::WriteBatch& copies() { return copies_; }
  const store::WriteBatch& copies() const { return copies_; }
  // A batch that a follower took: it is synced with the round if there is something to sync in any case.
  store::WriteBatch& forFollowed() { return pending_.empty() ? copies_ : pending_; }

  // Writes everything; syncs if `pending` rows are among it, or if copies have waited for `waitMs`. Whether everything
  // written is durable.
  Result<bool> flush(Now now, std::int64_t waitMs);
  // Writes and syncs everything.
  Status flushAll();
  // Writes `pending` without a sync: nothing rests on it.
  Status writePending();

  // Everything written is durable.
  bool synced() const { return !unsynced_; }
  // When the sync of written copies is due. Requires: !synced().
  std::int64_t syncDueMs(std::int64_t waitMs) const { return syncedMs_ + waitMs; }
  bool quiet() const { return pending_.empty() && copies_.empty() && !unsynced_; }

 private:
  Status writeCopies();
  Status syncPending();

  store::Store& store_;
  store::WriteBatch pending_, copies_;
  bool unsynced_ = false;  // the store has copies that were written without a sync
  std::int64_t syncedMs_ = 0;
};

}  // namespace witan::node
