// PeerClocks: how far this device's clock is from those of its peers, by what their frames say. No clock of its own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace witan::node {

class PeerClocks {
 public:
  // A member's frame says when it was sent, by the member's clock. Returns what an operator must know from now on;
  // empty: both agree. None: nothing has changed since its last frame.
  std::optional<std::string> heard(std::string_view device, Time sent, Time now);
  void forget(std::string_view device) { apart_.erase(std::string(device)); }

  // Of the clock that is farthest from this one: "the clock of this device is ..."; empty: all agree.
  std::string words() const;
  // The same where this one is ahead of it.
  std::string ahead() const;

 private:
  std::map<std::string, std::int64_t, std::less<>> apart_;  // microseconds
};

}  // namespace witan::node
