#include "replica/core/ledger_writes.h"

#include <utility>

#include "base/mutant.h"

namespace witan::node {

Status LedgerWrites::writeCopies() {
  if (copies_.empty()) return okStatus();
  WITAN_DO(store_.write(copies_));
  copies_.clear();
  unsynced_ = true;
  return okStatus();
}

Status LedgerWrites::syncPending() {
  if (pending_.empty()) return okStatus();
  WITAN_DO(mutated("skipLedgerSync") ? store_.write(pending_) : store_.writeSynced(pending_));
  pending_.clear();
  return okStatus();
}

Result<bool> LedgerWrites::flush(Now now, std::int64_t waitMs) {
  WITAN_DO(writeCopies());
  const bool alone = pending_.empty();
  WITAN_DO(syncPending());
  if (!unsynced_) return true;
  if (alone && now.ms - syncedMs_ < waitMs) return false;
  if (alone) WITAN_DO(store_.sync());  // else syncPending() has
  unsynced_ = false;
  syncedMs_ = now.ms;
  return true;
}

Status LedgerWrites::flushAll() {
  WITAN_DO(writeCopies());
  WITAN_DO(syncPending());
  return std::exchange(unsynced_, false) ? store_.sync() : okStatus();
}

Status LedgerWrites::writePending() {
  if (pending_.empty()) return okStatus();
  WITAN_DO(store_.write(pending_));
  pending_.clear();
  return okStatus();
}

}  // namespace witan::node
