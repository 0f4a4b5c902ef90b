#include "replication/records/agent_state.h"

#include "base/quote.h"

namespace witan::replication {

Result<Lifecycle> parseLifecycle(std::string_view word) {
  if (const auto lifecycle = parseEnum<Lifecycle>(word)) return *lifecycle;
  return invalid(inQuotes(word) + " is no lifecycle", "created, active, dormant or destroyed");
}

std::string_view defaultValue(SlotName name) {
  constexpr std::array<std::string_view, kSlots> kValues{"null", "null", "[]", "{}", "{}"};
  return kValues[static_cast<std::size_t>(name)];
}

AgentState::AgentState() {
  for (std::size_t i = 0; i < kSlots; ++i) slots[i].value = defaultValue(static_cast<SlotName>(i));
}

}  // namespace witan::replication
