// Entries of the ledgers of a Replica as rows of JSON, for the control API of a running node and for commands on a data
// directory that no node has open.
//
//   {"partition", "seq", "leafHash", "story", "entry"}
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/json.h"
#include "node/data_dir/node_dir.h"
#include "node/ledgers/ledger_readers.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"

namespace witan::node {

struct RowFilter {
  std::string domain, partition, entity;  // empty: any
  bool takes(const PartitionHost& host) const;
  bool takes(const StoredEntry& entry) const { return entity.empty() || entry.entry.entity == entity; }
};

// `bytes`: with the member "bytes", the entry's bytes in base64, as an export has them.
json::object entryRow(const PartitionHost& host, const StoredEntry& entry, bool bytes = false);

// The newest `most` of each ledger, then of all of them by time, oldest first. Errors: of reading the ledgers.
Result<json::array> newestRows(const Replica& replica, const RowFilter& filter, std::size_t most);
// Of one ledger, the oldest `most` of those after entry `after`. O(log batches + entries read). Errors: notFound, there
// is no copy of it here; of reading it.
Result<json::array> rowsAfter(Replica& replica, const RowFilter& filter, std::uint64_t after, std::size_t most,
                              bool bytes = false);

// How to open a data directory of a cluster, or one that `witan agent run` made: all domains, the cluster's number of
// partitions, no agents. Errors: of cluster.json.
Result<NodeSetup> setupOf(const std::filesystem::path& dir);

// A data directory that no node has open, whether it is of a cluster or `witan agent run` made it, with all domains and
// without agents. Errors: notFound; conflict, a process has it open; of its files.
Result<std::unique_ptr<NodeDir>> openAtRest(const std::filesystem::path& dir);

// Whether every ledger that a replica keeps is what it claims to be, as one JSON object:
// {"ok","entries","root","ledgers":[{"partition","entries","root","signedEntries","cosignedEntries","problem"}]}.
// signedEntries and cosignedEntries: how many the newest head that is known here covers, and the newest that a device
// other than the owner signed. `root` is one hash over all of them:
// two devices with the same have the same entries. O(entries), with `replay` every decision is made again. `progress`
// is called with the entries verified so far; it may be empty.
Result<json::value> verifyHosts(const Replica& replica, const store::Store& ledgers, bool replay,
                                const std::function<void(std::uint64_t entries)>& progress = {});

}  // namespace witan::node
