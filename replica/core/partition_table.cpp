#include "replica/core/partition_table.h"

#include "base/concat.h"
#include "base/mutant.h"
#include "replica/core/owner_proofs.h"
#include "replication/space_rows.h"
#include "store/prefix_store.h"

namespace witan::node {

namespace {
constexpr std::string_view kStoppedRow = "w/";   // + partition -> "{number} {owner}" of its epoch
constexpr std::string_view kReleasedRow = "q/";  // + partition -> its batches, big-endian; and "-" until all is out
constexpr std::string_view kRefusedRow =
    "u/";  // + partition -> two big-endian numbers (epoch, batch), owner, newline, batch

std::string epochText(const kernel::Epoch& epoch) { return std::to_string(epoch.number) + " " + epoch.owner; }
}  // namespace

Status PartitionTable::open(const ReplicaConfig& config, store::Store& ledgers, const std::string& ownerName,
                            const Wanted& wanted) {
  WITAN_DO(loadReleased(ledgers));
  const auto held = [](std::string_view) { return true; };
  if (config.ledgerReplica) WITAN_DO(openMissing(config, ledgers, ownerName, held));
  std::erase_if(hosts_, [&](const auto& one) { return one.second->ledger().batches() == 0 && !wanted(one.first); });
  WITAN_DO(loadStopped(ledgers));
  return loadRefused(ledgers);
}

Result<std::vector<std::string>> PartitionTable::openMissing(const ReplicaConfig& config, store::Store& ledgers,
                                                             const std::string& ownerName, const Wanted& wanted) {
  std::vector<std::string> opened;
  for (const kernel::DomainModule* module : config.domains)
    for (std::uint32_t n = 0; n < config.partitions; ++n) {
      const std::string id = partitionId(module->signature().domain, n);
      if (hosts_.contains(id) || damaged_.contains(id) || !wanted(id)) continue;
      const Status made = openHost(config, ledgers, ownerName, *module, id);
      if (!made.ok() && made.error().code != ErrorCode::corrupt) return made.error();
      if (made.ok())
        opened.push_back(id);
      else
        damaged_.emplace(id, made.error());
    }
  return opened;
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

Status PartitionTable::release(const std::string& id, store::Store& ledgers) {
  store::WriteBatch mark;
  mark.put(std::string(kReleasedRow) + id, bigEndian(find(id)->ledger().batches()) + "-");
  WITAN_DO(ledgers.writeSynced(mark));
  hosts_.erase(id);
  return loadReleased(ledgers);
}

std::uint64_t PartitionTable::released(std::string_view id) const {
  const auto at = released_.find(id);
  return at == released_.end() ? 0 : at->second;
}

void PartitionTable::forgetRelease(const std::string& id, store::WriteBatch& out) {
  if (released_.erase(id) > 0) out.erase(std::string(kReleasedRow) + id);
}

// Takes out what is left of those that are being released.
Status PartitionTable::loadReleased(store::Store& ledgers) {
  std::vector<std::string> begun;
  WITAN_DO(ledgers.scan(kReleasedRow, {}, [&](std::string_view row, std::string_view value) {
    const std::string id(row.substr(kReleasedRow.size()));
    if (value.size() >= 8) released_[id] = replication::rows::bigEndian(value.substr(0, 8));
    if (value.size() > 8) begun.push_back(id);
    return true;
  }));
  for (const std::string& id : begun) {
    WITAN_DO(store::eraseUnder(ledgers, concat("p/", id, "/")));
    WITAN_DO(store::eraseUnder(ledgers, sealRowsOf(id)));
    store::WriteBatch done;
    done.put(std::string(kReleasedRow) + id, bigEndian(released_[id]));
    WITAN_DO(ledgers.writeSynced(done));
  }
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
  if (!mutated("forgetStop")) out.put(std::string(kStoppedRow) + host.id(), epochText(host.epoch()));
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
