// Any bytes as a value of the log. Torn values are cut to whole ones; a value that passes its own checks is folded into
// a partition, which refuses it or stands. Since no mutation survives the record checks, the same bytes are tried again
// with those checks made right: then the decoding behind them is what is tested.
#pragma once

#include <cstring>

#include "kernel/record/entry.h"
#include "kernel/record/log_batch.h"
#include "kernel/record/merkle.h"
#include "tests/fuzz/domains.h"

namespace witan::fuzz {

inline std::string mended(std::string_view value) {
  kernel::LogBatch batch(1);
  for (std::size_t at = kernel::kBatchHeader; value.size() >= at + kernel::kRecordHeader;) {
    std::uint32_t length = 0;
    std::memcpy(&length, value.data() + at, 4);
    const auto kind = static_cast<kernel::RecordKind>(1 + static_cast<unsigned char>(value[at + 4]) % 3);
    const std::string_view payload = value.substr(at + kernel::kRecordHeader).substr(0, length);
    batch.add(kind, payload, kernel::leafHash(payload));
    at += kernel::kRecordHeader + ((std::size_t{length} + 7) & ~std::size_t{7});
  }
  return batch.take();
}

inline void foldEverywhere(std::string_view value) {
  for (const auto& module : allDomains()) {
    kernel::Partition partition(*module, {.pendingTtlMicros = kMicrosPerDay});
    if (!partition.fold(value).ok()) continue;
    partition.checkInvariants();
    (void)partition.queue();
    for (const std::string& entity : partition.entities()) {
      std::string state;
      module->writeState(state, *partition.state(entity));
      checkShown(state);
    }
    (void)partition.expire(kLastTime);
    partition.checkInvariants();
  }
}

inline void fuzzLogBatch(std::string_view value) {
  const auto nothing = [](const kernel::LogRecord&) { return okStatus(); };
  for (const std::string& candidate : {std::string(value), mended(value)}) {
    const auto info = kernel::readLogBatch(candidate, nothing);
    if (!info.ok()) continue;
    if (info->torn && info->records > 0) {
      const std::string cut = kernel::cutTornBatch(candidate, *info);
      const auto whole = kernel::readLogBatch(cut, nothing);
      WITAN_CHECK(whole.ok() && !whole->torn && whole->records == info->records, "a torn value is cut to a whole one");
    }
    foldEverywhere(candidate);
  }
}

}  // namespace witan::fuzz
