#include "replica/core/partition_table.h"

#include "replication/space_rows.h"

namespace witan::node {

namespace {
constexpr std::string_view kStoppedRow = "w/";  // + partition -> "{number} {owner}" of its epoch
constexpr std::string_view kRefusedRow =
    "u/";  // + partition -> two big-endian numbers (epoch, batch), owner, newline, batch

std::string epochText(const kernel::Epoch& epoch) { return std::to_string(epoch.number) + " " + epoch.owner; }
}  // namespace

Status PartitionTable::open(const ReplicaConfig& config, store::Store& ledgers, const std::string& ownerName) {
  if (config.ledgerReplica)
    for (const kernel::DomainModule* module : config.domains)
      for (std::uint32_t n = 0; n < config.partitions; ++n) {
        const std::string id = partitionId(module->signature().domain, n);
        const Status opened = openHost(config, ledgers, ownerName, *module, id);
        if (!opened.ok() && opened.error().code != ErrorCode::corrupt) return opened;
        if (!opened.ok()) damaged_.emplace(id, opened.error());
      }
  WITAN_DO(loadStopped(ledgers));
  return loadRefused(ledgers);
}

Status PartitionTable::openHost(const ReplicaConfig& config, store::Store& ledgers, const std::string& ownerName,
                                const kernel::DomainModule& module, const std::string& id) {
  HostOptions options{id, config.replication.cluster + "/" + id, config.pendingTtlMicros, config.heads != nullptr};
  auto opened = PartitionHost::open(ledgers, module, options);
  if (!opened.ok() && opened.error().code == ErrorCode::corrupt)
    return corrupt(concat("ledgers, partition ", id, ": ", opened.error().message),
                   concat("restore the folder ledgers from a backup, or move it away: copies of other devices come "
                          "back; what this device owned, another one seizes (witan partition seize ",
                          id, ")"));
  if (!opened.ok()) return opened.error();
  std::unique_ptr<PartitionHost> host = *std::move(opened);
  if (host->keepsPartOfBatch() && (config.etcd || host->epoch().owner != ownerName)) {
    WITAN_DO(host->dropLastBatch());
    WITAN_TRY(whole, PartitionHost::open(ledgers, module, options));
    host = std::move(whole);
  }
  hosts_[id] = std::move(host);
  return okStatus();
}

PartitionHost* PartitionTable::find(std::string_view id) {
  const auto at = hosts_.find(id);
  return at == hosts_.end() ? nullptr : at->second.get();
}

const PartitionHost* PartitionTable::find(std::string_view id) const {
  const auto at = hosts_.find(id);
  return at == hosts_.end() ? nullptr : at->second.get();
}

bool PartitionTable::stopDeciding(const PartitionHost& host, store::WriteBatch& out) {
  if (!stopped_.insert(host.id()).second) return false;
  out.put(std::string(kStoppedRow) + host.id(), epochText(host.epoch()));
  return true;
}

void PartitionTable::permitDeciding(const std::string& id, store::WriteBatch& out) {
  if (stopped_.erase(id) > 0) out.erase(std::string(kStoppedRow) + id);
}

// A row of an epoch that is over says nothing.
Status PartitionTable::loadStopped(const store::Store& ledgers) {
  return ledgers.scan(kStoppedRow, {}, [&](std::string_view row, std::string_view value) {
    const PartitionHost* mine = find(row.substr(kStoppedRow.size()));
    if (mine != nullptr && value == epochText(mine->epoch())) stopped_.insert(mine->id());
    return true;
  });
}

void PartitionTable::refuse(const std::string& id, const RefusedEpoch& refused, std::string_view batch,
                            store::WriteBatch& out) {
  refused_[id] = refused;
  std::string row = bigEndian(refused.epoch.number) + bigEndian(refused.batch) + refused.epoch.owner + "\n";
  out.put(std::string(kRefusedRow) + id, row.append(batch));
}

bool PartitionTable::refuses(std::string_view id, const kernel::Epoch& epoch) const {
  const RefusedEpoch* known = refused(id);
  return known != nullptr && epoch <= known->epoch;
}

const PartitionTable::RefusedEpoch* PartitionTable::refused(std::string_view id) const {
  const auto at = refused_.find(id);
  return at == refused_.end() ? nullptr : &at->second;
}

Status PartitionTable::loadRefused(const store::Store& ledgers) {
  return ledgers.scan(kRefusedRow, {}, [&](std::string_view row, std::string_view value) {
    const std::string id(row.substr(kRefusedRow.size()));
    const std::size_t end = value.find('\n', 16);
    if (value.size() < 16 || end == std::string_view::npos) {  // whose log must not be taken is not known any more
      hosts_.erase(id);
      damaged_.emplace(id, corrupt(concat("ledgers, partition ", id, ": the row of its refused epoch is damaged"),
                                   "restore the folder ledgers from a backup"));
    } else {
      refused_[id] = {{replication::rows::bigEndian(value.substr(0, 8)), std::string(value.substr(16, end - 16))},
                      replication::rows::bigEndian(value.substr(8, 8))};
    }
    return true;
  });
}

}  // namespace witan::node
