#include "node/ledgers/ledger_feed.h"

#include "kernel/record/log_batch.h"

namespace witan::node {

Status visitBatch(PartitionHost& host, std::uint64_t number, const std::function<void(const StoredEntry&)>& visit) {
  WITAN_TRY(value, host.ledger().batch(number));  // a string's heap bytes are aligned
  auto info = kernel::readLogBatch(value, [&](const kernel::LogRecord& record) -> Status {
    if (record.kind != kernel::RecordKind::entry) return okStatus();
    WITAN_TRY(entry, kernel::readEntryView(record.payload));
    visit({entry.seq, record.payload, record.leaf, entry});
    return okStatus();
  });
  return info.ok() ? okStatus() : Status(info.error());
}

LedgerFeed::LedgerFeed(Replica& replica) : replica_(replica) { skip(); }

void LedgerFeed::skip() {
  for (const auto& [id, host] : replica_.hosts()) seen_[id] = host->durableBatches();
}

Status LedgerFeed::poll(const Visit& visit) {
  for (const auto& [id, host] : replica_.hosts()) {
    std::uint64_t& seen = seen_[id];
    const std::uint64_t durable = host->durableBatches();
    if (seen == durable) continue;
    for (seen = std::min(seen, durable); seen < durable; ++seen)
      WITAN_DO(visitBatch(*host, seen, [&, at = host.get()](const StoredEntry& entry) { visit(*at, entry); }));
  }
  return okStatus();
}

}  // namespace witan::node
