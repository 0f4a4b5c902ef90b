// Any bytes as an events file, against every domain. Each line has an answer that is JSON, one entry is made per
// decision, and what was written folds back into the same ledger.
#pragma once

#include "kernel/record/entry.h"
#include "node/events/event_runner.h"
#include "tests/fuzz/domains.h"

namespace witan::fuzz {

inline void fuzzEventLine(std::string_view bytes) {
  for (const auto& module : allDomains()) {
    kernel::Partition partition(*module, {.pendingTtlMicros = 7 * kMicrosPerDay});
    node::EventRunner runner(partition, true, [](const std::string&) {});
    std::uint64_t number = 0;
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      const std::string answer = runner.feed(++number, line);
      if (!answer.empty()) checkShown(answer);
    }
    partition.checkInvariants();
    if (!partition.hasOpenBatch()) continue;
    checkFolds(partition, partition.takeBatch().value);
  }
}

}  // namespace witan::fuzz
