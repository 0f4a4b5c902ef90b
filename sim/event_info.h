// What each kind of event does, in a line: for `witan sim list`, docs/SIMULATION.md and traces.
#pragma once

#include <string>
#include <string_view>

#include "sim/plan.h"

namespace witan::sim {

struct EventInfo {
  EventKind kind;
  std::string_view does;     // after the kind's name
  std::string_view members;  // of the event that it looks at, beside `at` and `device`
};

const EventInfo& eventInfo(EventKind kind);

// What a trace says beside the kind: "device-1 | device-0", "back by 12s". May be empty.
std::string faultWords(const Event& fault);

}  // namespace witan::sim
