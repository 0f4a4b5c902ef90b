// LinkHistory: how and when the last link with each device ended, and how long to wait before the next dial.
//
// No I/O. Belongs to PeerManager.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace witan::node {

class LinkHistory {
 public:
  struct Past {
    std::string reason;
    std::int64_t endedMs = 0;
    unsigned shortLived = 0;  // links in a row that ended within a second
  };

  // Returns how long to wait before dialling again; 0: dial at once. Two devices that cannot talk to each other would
  // otherwise try ten times a second.
  std::int64_t recordEnd(const std::string& device, std::string reason, std::int64_t sinceMs, std::int64_t nowMs);
  // Null: there was no link.
  const Past* of(const std::string& device) const;

 private:
  std::map<std::string, Past> past_;
};

}  // namespace witan::node
