// Dots, vector clocks and ids in requests and responses, as words. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "replication/records/agent_state_json.h"

namespace witan::node::operations {

using replication::ClockRow;
using replication::clockRow;
using replication::VersionDot;

// a@00000001:7
std::string dotWords(const replication::Dot& dot);
inline std::string dotWords(const VersionDot& dot) { return dotWords(dot.dot()); }
// "a@00000001:7 b@00000002:1" ("-" if empty).
std::string clockWords(const ClockRow& clock);
// The inverse of dotWords. Errors: invalid, quoting it.
Result<replication::Dot> parseDot(const std::string& text);

// The one of `ids` (64 hexadecimal digits each) that begins with `given`, in a form that firstDigits() takes. `what`:
// "operation id". Errors: notFound; conflict, if several do.
Result<std::string> chosenByPrefix(std::string_view given, const std::vector<std::string>& ids, const std::string& what,
                                   const std::string& hint);

}  // namespace witan::node::operations
