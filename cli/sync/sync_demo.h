// `witan sync demo`: three replicas in one process, joined by a transport in memory: edits while they are cut off, the
// heal, equal digests.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace witan::node {

struct DemoReport {
  bool equal = false;
  std::string story;  // for people, several lines
  std::string json;   // one line
};

// The same seed gives the same report. Errors: none that the replicas do not have (a bug).
Result<DemoReport> syncDemo(std::uint64_t seed);

}  // namespace witan::node
