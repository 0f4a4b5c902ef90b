#include "node/ledgers/ledger_readers.h"

#include "replica/core/partition_host.h"

namespace witan::node {

namespace {

constexpr std::int64_t kNoteMs = 1'000;

}  // namespace

LedgerReaders::~LedgerReaders() {
  for (const Reader& reader : waiting_) loop_.cancel(reader.timer);
}

// Whether that was all.
bool LedgerReaders::show(Reader& reader) {
  std::erase_if(reader.partitions, [&](const std::string& id) {
    const PartitionHost* host = replica_.host(id);
    if (host != nullptr && !host->showsLog()) return false;
    if (host != nullptr) reader.visit(*host);
    return true;
  });
  return reader.partitions.empty();
}

void LedgerReaders::read(std::set<std::string> partitions, Visit visit, Done done) {
  Reader reader{std::move(partitions), std::move(visit), std::move(done)};
  if (show(reader)) return reader.done(okStatus());
  if (waiting_.size() >= kMaxReaders) return reader.done(unavailable("too many wait to read the ledgers", "try again"));
  const auto at = waiting_.insert(waiting_.end(), std::move(reader));
  at->timer = loop_.after(kReaderPatienceMs, [this, at] { showStored(at); });
}

void LedgerReaders::poll() {
  const std::int64_t nowMs = net::Loop::nowMs();
  for (const auto& [id, host] : replica_.hosts()) {
    const auto noted = noted_.find(id);
    const bool known = noted != noted_.end() && noted->second.census.entries == host->partition().size();
    if (!known && host->showsLog() && (noted == noted_.end() || nowMs - noted->second.ms >= kNoteMs))
      note(*host, nowMs);
  }
  for (Reader& reader : waiting_) (void)show(reader);
  tellServed();
}

// Its patience is at an end. Opening a copy folds the whole log, on the thread of the loop: all others that wait for
// one of these partitions see the same.
void LedgerReaders::showStored(std::list<Reader>::iterator at) {
  for (const std::string& id : std::set(at->partitions)) {
    PartitionHost* host = replica_.host(id);
    Result<std::unique_ptr<PartitionHost>> copy = std::unique_ptr<PartitionHost>();
    if (host != nullptr) copy = storedCopyOf(*host);
    if (!copy.ok()) {
      const Reader reader = std::move(*at);
      waiting_.erase(at);
      reader.done(copy.error());
      break;
    }
    for (Reader& reader : waiting_)
      if (reader.partitions.erase(id) > 0 && *copy != nullptr) reader.visit(**copy);
  }
  tellServed();
}

// Those that have seen all. What they are told may bring new ones.
void LedgerReaders::tellServed() {
  std::list<Reader> served;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto one = at++;
    if (one->partitions.empty()) served.splice(served.end(), waiting_, one);
  }
  for (const Reader& reader : served) {
    loop_.cancel(reader.timer);
    reader.done(okStatus());
  }
}

Result<std::unique_ptr<PartitionHost>> LedgerReaders::storedCopyOf(PartitionHost& host) const {
  return PartitionHost::open(ledgers_, host.module(), {host.id(), host.ledger().format().origin, pendingTtlMicros_});
}

void LedgerReaders::note(const PartitionHost& host, std::int64_t nowMs) {
  const kernel::Partition& partition = host.partition();
  const std::vector<kernel::PendingView> queue = partition.queue();
  Noted& noted = noted_[host.id()];
  noted = {{partition.size(), partition.entityCount(), queue.size(), std::nullopt}, nowMs};
  if (!queue.empty()) noted.census.oldestPending = queue.front().at;
}

LedgerReaders::Census LedgerReaders::censusOf(const PartitionHost& host) {
  if (host.showsLog()) note(host, net::Loop::nowMs());
  Census census = noted_[host.id()].census;
  census.entries = host.showsLog() ? host.partition().size() : host.position().entries;
  return census;
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
    for (seen = std::max(std::min(seen, durable), host->first()); seen < durable; ++seen)
      WITAN_DO(visitBatch(host->rows(), seen, [&, at = host.get()](const StoredEntry& entry) { visit(*at, entry); }));
  }
  return okStatus();
}

}  // namespace witan::node
