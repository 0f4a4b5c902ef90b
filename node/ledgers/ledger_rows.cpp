#include "node/ledgers/ledger_rows.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/quote.h"
#include "base/seams.h"
#include "base/sha256.h"
#include "kernel/ledger/ledger_verify.h"
#include "node/cluster/device_heads.h"
#include "node/cluster/device_key.h"
#include "node/data_dir/replica_dir.h"
#include "replica/core/owner_proofs.h"
#include "replica/head_exchange.h"

namespace witan::node {

namespace {

std::vector<std::string> invariantsOf(const kernel::DomainModule& module) {
  std::vector<std::string> ids{std::string(kernel::kKernelIntegrity)};
  for (const kernel::InvariantInfo& invariant : module.signature().invariants) ids.push_back(invariant.id);
  return ids;
}

// Those of the log's present epoch: a seizure may have parted from an earlier one.
std::vector<kernel::SignedHead> keptHeads(const Replica& replica, const std::string& partition) {
  std::vector<kernel::SignedHead> kept;
  const HeadExchange::Heads* known = replica.heads().find(partition);
  if (known == nullptr) return kept;
  const kernel::Epoch epoch = replica.hosts().find(partition)->second->epoch();
  for (const auto* head : {&known->latest, &known->witnessed})
    if (*head && (*head)->log.epoch == epoch) kept.push_back({(*head)->checkpoint, "the head that its owner signed"});
  return kept;
}

std::uint64_t cosignedEntries(const Replica& replica, const std::string& partition) {
  const HeadExchange::Heads* known = replica.heads().find(partition);
  return known == nullptr || !known->witnessed ? 0 : known->witnessed->checkpoint.size;
}

// The file stands outside of the database, so who cuts or deletes the database does not take it along.
std::string missedBySigned(const Replica& replica, const PartitionHost& host) {
  const auto last = replica.heads().contradicted(host);
  if (!last) return "";
  return concat("the file ", kSignedHeadsFile, " says that this device signed ", last->size, " entries in epoch ",
                last->epoch.number, " of ", last->epoch.owner, "; the log here has ", host.entries(),
                host.entries() < last->size ? "" : ", and another root",
                ": restore the folder ledgers from a backup, or connect the device that has the longest copy and run "
                "there witan partition seize ",
                host.id());
}

using Dated = std::pair<std::int64_t, json::object>;

Status collect(const PartitionHost& host, const RowFilter& filter, std::size_t most, std::vector<Dated>& rows) {
  std::size_t found = 0;
  for (std::uint64_t n = host.durableBatches(); n > host.first() && found < most; --n)
    WITAN_DO(visitBatch(host.rows(), n - 1, [&](const StoredEntry& entry) {
      if (!filter.takes(entry)) return;
      rows.emplace_back(entry.entry.time.micros, entryRow(host, entry));
      ++found;
    }));
  return okStatus();
}

}  // namespace

bool RowFilter::takes(const PartitionHost& host) const {
  return (domain.empty() || host.module().signature().domain == domain) &&
         (partition.empty() || host.id() == partition);
}

json::object entryRow(const PartitionHost& host, const StoredEntry& entry, bool bytes) {
  json::object row{{"partition", host.id()},
                   {"seq", entry.seq},
                   {"leafHash", toHex(entry.leaf)},
                   {"story", entryStory(entry.entry)}};
  auto parsed = parseJson(kernel::entryJson(entry.entry, invariantsOf(host.module())), kOwnJson);
  if (bytes) row["bytes"] = toBase64(entry.bytes);
  row["entry"] = parsed.ok() ? std::move(*parsed) : json::value(nullptr);
  return row;
}

Result<json::array> newestRows(const Replica& replica, const RowFilter& filter, std::size_t most) {
  std::vector<Dated> rows;
  std::size_t taken = 0;
  for (const auto& [id, host] : replica.hosts())
    if (filter.takes(*host)) {
      ++taken;
      WITAN_DO(collect(*host, filter, most, rows));
    }
  if (const auto damaged = replica.damagedPartitions().find(filter.partition);
      damaged != replica.damagedPartitions().end())
    return damaged->second;
  if (taken == 0 && !(filter.domain.empty() && filter.partition.empty()))
    return notFound("there is no " + (filter.partition.empty() ? "domain " + inQuotes(filter.domain)
                                                               : "partition " + inQuotes(filter.partition)),
                    "see: witan partition list");
  std::ranges::stable_sort(rows, [](const Dated& a, const Dated& b) {
    return std::pair(a.first, a.second.at("seq").as_uint64()) < std::pair(b.first, b.second.at("seq").as_uint64());
  });
  json::array list;
  for (std::size_t i = rows.size() > most ? rows.size() - most : 0; i < rows.size(); ++i)
    list.push_back(std::move(rows[i].second));
  return list;
}

Result<json::array> rowsAfter(Replica& replica, const RowFilter& filter, std::uint64_t after, std::size_t most,
                              bool bytes) {
  PartitionHost* host = replica.host(filter.partition);
  const auto damaged = replica.damagedPartitions().find(filter.partition);
  if (damaged != replica.damagedPartitions().end()) return damaged->second;
  if (host == nullptr)
    return notFound("this device keeps no partition " + inQuotes(filter.partition), "see: witan partition list");
  json::array list;
  WITAN_TRY(n, batchWith(host->rows(), host->durableBatches(), after + 1));
  for (; n < host->durableBatches() && list.size() < most; ++n)
    WITAN_DO(visitBatch(host->rows(), n, [&](const StoredEntry& entry) {
      if (entry.seq > after && list.size() < most && filter.takes(entry)) list.push_back(entryRow(*host, entry, bytes));
    }));
  return list;
}

Result<NodeSetup> setupOf(const std::filesystem::path& dir) {
  NodeSetup setup;
  std::error_code ec;
  if (std::filesystem::exists(dir / "cluster.json", ec)) {
    WITAN_TRY(cluster, readClusterFile(dir));
    setup.partitions = static_cast<std::uint32_t>(cluster.partitions);
    WITAN_SET(setup.heads, headKeysAtRest(dir));
  }
  return setup;
}

Result<std::unique_ptr<NodeDir>> openAtRest(const std::filesystem::path& dir) {
  if (!ReplicaDir::exists(dir)) return notFound("no device lives in " + dir.string(), "give the directory with --dir");
  WITAN_TRY(setup, setupOf(dir));
  const Time wall = SystemClock().now();
  return NodeDir::open(dir, std::move(setup), {wall, wall.micros / 1000});
}

Result<json::value> verifyHosts(const Replica& replica, const store::Store& ledgers, bool replay,
                                const std::function<void(std::uint64_t entries)>& progress) {
  json::array list;
  std::uint64_t entries = 0;
  bool good = true;
  std::string roots;
  for (const auto& [id, host] : replica.hosts()) {
    kernel::VerifyOptions options{replay ? &host->module() : nullptr, std::nullopt, keptHeads(replica, id), true};
    const auto keysOf = [&replica](std::string_view device) { return replica.keysOf(device); };
    options.keysOf = keysOf;
    options.copyKeys = replica.keysOf(replica.device());
    if (progress) options.progress = [&progress, before = entries](std::uint64_t some) { progress(before + some); };
    WITAN_TRY(report, kernel::verifyLedger(host->rows(), options));
    if (report.ok()) report.problem = alteredSince(SealBook(ledgers), *host, replica.data().cluster(), keysOf);
    if (report.ok()) report.problem = missedBySigned(replica, *host);
    entries += report.entries;
    good = good && report.ok();
    roots += concat(id, " ", report.entries, " ", toHex(report.root), "\n");
    if (report.entries == 0 && report.ok()) continue;
    list.push_back({{"partition", id},
                    {"entries", report.entries},
                    {"root", toHex(report.root)},
                    {"signedEntries", report.signedEntries},
                    {"cosignedEntries", cosignedEntries(replica, id)},
                    {"problem", report.ok() ? json::value(nullptr) : json::value(report.problem)}});
    if (report.prunedEntries > 0) list.back().as_object()["prunedEntries"] = report.prunedEntries;
  }
  for (const auto& [id, why] : replica.damagedPartitions()) {
    good = false;
    list.push_back({{"partition", id},
                    {"entries", 0},
                    {"root", ""},
                    {"signedEntries", 0},
                    {"cosignedEntries", 0},
                    {"problem", concat(why.message, "; ", why.hint)}});
  }
  return json::value{{"ok", good}, {"entries", entries}, {"root", toHex(sha256(roots))}, {"ledgers", std::move(list)}};
}

}  // namespace witan::node
