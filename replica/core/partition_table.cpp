#include "replica/core/partition_table.h"

namespace witan::node {

namespace {
constexpr std::string_view kStoppedRow = "w/";  // + partition -> "{number} {owner}" of its epoch

std::string epochText(const kernel::Epoch& epoch) { return std::to_string(epoch.number) + " " + epoch.owner; }
}  // namespace

Status PartitionTable::open(const ReplicaConfig& config, store::Store& ledgers, const std::string& ownerName) {
  if (config.ledgerReplica)
    for (const kernel::DomainModule* module : config.domains)
      for (std::uint32_t n = 0; n < config.partitions; ++n)
        WITAN_DO(openHost(config, ledgers, ownerName, *module, partitionId(module->signature().domain, n)));
  return loadStopped(ledgers);
}

Status PartitionTable::openHost(const ReplicaConfig& config, store::Store& ledgers, const std::string& ownerName,
                                const kernel::DomainModule& module, const std::string& id) {
  HostOptions options{id, config.replication.cluster + "/" + id, config.pendingTtlMicros};
  WITAN_TRY(host, PartitionHost::open(ledgers, module, options));
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

}  // namespace witan::node
