// Dots, vector clocks and ids in requests and responses. Pure functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/message.h"
#include "replication/vector_clock.h"

namespace witan::node::operations {

struct VersionDot {
  WITAN_FIELDS(VersionDot, (std::uint64_t, counter, "Number of the commit"),
               (std::string, host, "Writer that committed it"))

  VersionDot() = default;
  explicit VersionDot(const replication::Dot& dot) : counter(dot.counter), host(dot.host) {}
  replication::Dot dot() const { return {host, counter}; }
};

using ClockRow = std::map<std::string, std::uint64_t>;
ClockRow clockRow(const replication::VectorClock& clock);

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
