#include "replication/records/agent_state.h"

#include "base/quote.h"

namespace witan::replication {

namespace {

constexpr std::array<const char*, 4> kLifecycles = {"created", "active", "dormant", "destroyed"};

struct SlotTraits {
  const char* name;
  std::string_view value;
};

constexpr std::array<SlotTraits, kSlots> kSlotTraits = {{{"primaryGoal", "null"},
                                                         {"activeTaskId", "null"},
                                                         {"openLoopIds", "[]"},
                                                         {"preferenceByKey", "{}"},
                                                         {"extension", "{}"}}};

}  // namespace

const char* toString(Lifecycle lifecycle) { return kLifecycles[static_cast<std::size_t>(lifecycle)]; }

Result<Lifecycle> parseLifecycle(std::string_view word) {
  for (std::size_t i = 0; i < kLifecycles.size(); ++i)
    if (word == kLifecycles[i]) return static_cast<Lifecycle>(i);
  return invalid(inQuotes(word) + " is no lifecycle", "created, active, dormant or destroyed");
}

const char* toString(SlotName name) { return kSlotTraits[static_cast<std::size_t>(name)].name; }

std::string_view defaultValue(SlotName name) { return kSlotTraits[static_cast<std::size_t>(name)].value; }

AgentState::AgentState() {
  for (std::size_t i = 0; i < kSlots; ++i) slots[i].value = kSlotTraits[i].value;
}

}  // namespace witan::replication
