// Watch: notices that a resource is not as it was when it was last read. A client hears of a change of what it sees,
// and of nothing else: another role's work on the same entity is not told.
//
// Not thread-safe.
#pragma once

#include <map>
#include <set>
#include <string>

#include "mcp/call.h"

namespace witan::mcp {

class Watch {
 public:
  // Forgets what nothing subscribes to any more.
  void keep(const std::set<std::string>& uris);
  // `outcome`: of reading it. True: it has changed since the last time; the first time it has not.
  bool changed(const std::string& uri, const Outcome& outcome);
  bool knows(const std::string& uri) const { return seen_.contains(uri); }

 private:
  std::map<std::string, std::string> seen_;  // digests
};

// The call that reads it, for an Act.
Call readingOf(std::string_view uri);

}  // namespace witan::mcp
