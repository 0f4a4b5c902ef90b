#include "sim/cluster/decision_trace.h"

#include "sim/decision_format.h"

namespace witan::sim {

void DecisionTrace::onStarted(Seat& at) {
  for (const auto& [id, host] : at.device->replica().hosts()) told_[at][id] = host->position().entries;
}

void DecisionTrace::onDurable(Seat& at) {
  if (!c_.tracing()) return;
  for (const auto& [id, host] : at.device->replica().hosts()) {
    const std::uint64_t entries = host->position().entries;
    std::uint64_t& told = told_[at][id];
    if (host->epoch().owner != at.device->replica().ownerName()) told = entries;
    told = std::min(told, entries);  // it may have gone back
    while (told < entries) {
      const auto bytes = host->ledger().entryBytes(++told);
      const auto entry = bytes.ok() ? kernel::readEntry(*bytes) : Result<kernel::Entry>(bytes.error());
      c_.trace(at.device->index(), "ledger", "decides",
               id + " " + (entry.ok() ? formatEntry(*entry) : entry.error().message));
    }
  }
}

}  // namespace witan::sim
