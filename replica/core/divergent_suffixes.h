// Divergent suffixes: what PartitionHost::truncateDivergent() took out of this device's logs, whole batches of epochs
// that are over. Rows "x/" of the ledgers' store. They are read here, and never changed.
//
// Functions on a store; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/epoch.h"
#include "kernel/record/log_batch.h"
#include "store/store.h"

namespace witan::node {

struct DivergentSuffix {
  std::string id;  // "{partition}/{epoch number}/{epoch owner}", and "~{n}" of a second one
  std::string partition;
  kernel::Epoch epoch;  // that was the log's last
  std::uint64_t batches = 0;
  std::uint64_t entries = 0;
  std::uint64_t beginnings = 0;  // of entities
};

// The prefix of a new one's rows.
Result<std::string> freshSuffix(const store::Store& ledgers, std::string_view partition, const kernel::Epoch& epoch);

// All of them, by partition and epoch. O(their bytes). Errors: of the store; a row that is damaged, named.
Result<std::vector<DivergentSuffix>> divergentSuffixes(const store::Reader& ledgers);

// The entries and beginnings of a suffix in the order of their log. O(bytes of all suffixes of its partition). Errors:
// notFound; as above; the visitor's own.
Status visitSuffix(const store::Reader& ledgers, std::string_view id,
                   const std::function<Status(const kernel::LogRecord&)>& visit);

}  // namespace witan::node
