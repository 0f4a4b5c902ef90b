#include "sim/check/partition_log.h"

#include "base/bytes.h"
#include "kernel/domain_module.h"
#include "kernel/record/log_batch.h"

namespace witan::sim {

namespace {

Status readRecord(const kernel::LogRecord& record, PartitionLog& log) {
  if (record.kind == kernel::RecordKind::entry) {
    WITAN_TRY(entry, kernel::readEntry(record.payload));
    log.lines.push_back({std::move(entry), record.leaf});
  } else if (record.kind == kernel::RecordKind::genesis) {
    kernel::BasicGenesis<std::string> genesis;
    WITAN_DO(readMessage(record.payload, genesis, "genesis"));
    if (!log.beginnings.emplace(genesis.entity, std::move(genesis.genesis)).second)
      return corrupt("entity \"" + genesis.entity + "\" begins twice");
  } else if (record.kind == kernel::RecordKind::epoch) {
    kernel::EpochRecord epoch;
    WITAN_DO(readMessage(record.payload, epoch, "epoch"));
    log.epochs.push_back(std::move(epoch));
  }
  return okStatus();
}

}  // namespace

Result<PartitionLog> readLog(std::span<const std::string> batches) {
  PartitionLog log;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    WITAN_TRY(info, kernel::readLogBatch(batches[i], [&](const auto& record) { return readRecord(record, log); }));
    if (info.torn) return corrupt("batch " + std::to_string(i) + " of the log is torn");
  }
  return log;
}

bool isTurnedAway(const kernel::Entry& entry) {
  return entry.tag == kernel::Tag::rejected && entry.invariant == kernel::kKernelIntegrity && !entry.runKey.empty() &&
         entry.message.starts_with("run " + toHex(entry.runKey) + " is bound to the plan ");
}

std::string nameOf(const kernel::Entry& entry) {
  return "entry " + std::to_string(entry.seq) + " (" + std::string(enumName(entry.tag)) + ", " + entry.operationId +
         ")";
}

std::string nameOf(const kernel::Epoch& epoch) {
  return "epoch " + std::to_string(epoch.number) + " of " + epoch.owner;
}

}  // namespace witan::sim
