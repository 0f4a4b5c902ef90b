#include "node/ledgers/ledger_heads.h"

#include "base/bytes.h"
#include "base/quote.h"
#include "kernel/record/merkle.h"
#include "node/ledgers/ledger_reader.h"
#include "replica/core/partition_host.h"
#include "replica/head_exchange.h"

namespace witan::node {

namespace {

std::vector<std::string> hexOf(const std::vector<Hash>& hashes) {
  std::vector<std::string> list;
  for (const Hash& hash : hashes) list.push_back(toHex(hash));
  return list;
}

Error noPartition(std::string_view partition) {
  return {ErrorCode::notFound, "this device keeps no partition " + inQuotes(partition), "see: witan partition list"};
}

}  // namespace

Result<LedgerHead> headOf(const Replica& replica, std::string_view partition, bool signedOnly) {
  const auto host = replica.hosts().find(partition);
  if (host == replica.hosts().end()) return noPartition(partition);
  const HeadExchange::Heads* known = replica.heads().find(partition);
  if (known == nullptr)
    return notFound(concat("no signed head of ", partition, " is known here"),
                    "its owner signs one soon after an entry came");
  const LogHead& head = signedOnly || !known->witnessed ? *known->latest : *known->witnessed;
  return LedgerHead{host->first,
                    host->second->entries(),
                    head.checkpoint.size,
                    toHex(head.checkpoint.root),
                    head.note,
                    {head.cosigners.begin(), head.cosigners.end()},
                    replica.heads().verifierKeysOf(head),
                    {}};
}

Result<InclusionProof> proveEntry(Replica& replica, std::string_view partition, std::uint64_t seq, std::uint64_t size,
                                  std::uint64_t since) {
  PartitionHost* host = replica.host(partition);
  if (host == nullptr) return noPartition(partition);
  WITAN_TRY(tree, readTree(host->rows()));
  if (size == 0) size = tree.size();
  if (size > tree.size()) return notFound(concat(partition, " has ", tree.size(), " entries here, not ", size));
  if (seq == 0 || seq > size)
    return Error{ErrorCode::notFound, concat("there is no entry ", seq, " in ", partition), ""};
  InclusionProof proof{host->id(), seq};
  if (seq >= host->firstEntry()) {
    WITAN_TRY(found,
              visitEntry(host->rows(), seq, [&](const StoredEntry& entry) { proof.bytes = toBase64(entry.bytes); }));
    (void)found;
  }
  WITAN_TRY(leaf, tree.subtree(0, seq - 1));
  proof.leafHash = toHex(leaf);
  proof.index = seq - 1;
  proof.size = size;
  WITAN_TRY(root, kernel::rootAt(size, tree));
  proof.root = toHex(root);
  WITAN_TRY(path, kernel::inclusionProof(proof.index, size, tree));
  proof.path = hexOf(path);
  if (since == 0 || since > size) return proof;
  WITAN_TRY(first, kernel::rootAt(since, tree));
  proof.firstRoot = toHex(first);
  WITAN_TRY(consistency, kernel::consistencyProof(since, size, tree));
  proof.consistency = hexOf(consistency);
  return proof;
}

}  // namespace witan::node
