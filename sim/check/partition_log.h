// PartitionLog: the log of one partition, read back as values, for the checkers of this folder. Values.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "kernel/epoch.h"
#include "kernel/record/entry.h"

namespace witan::sim {

struct LedgerLine {
  kernel::Entry entry;
  Hash leaf{};
};

struct PartitionLog {
  std::vector<LedgerLine> lines;
  std::vector<kernel::EpochRecord> epochs;
  std::map<std::string, std::string, std::less<>> beginnings;  // of entities: canonical JSON
};

// The values of a log (kernel/record/log_batch.h), in order. Errors: as readLogBatch; what a record is that can't be
// read; a batch that is torn, or an entity that begins twice.
Result<PartitionLog> readLog(std::span<const std::string> batches);

// Was the proposal rejected because its run is bound to another plan (F3)?
bool isTurnedAway(const kernel::Entry& entry);

// "entry 7 (approved, op-3)"
std::string nameOf(const kernel::Entry& entry);
std::string nameOf(const kernel::Epoch& epoch);

}  // namespace witan::sim
