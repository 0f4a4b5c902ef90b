// Reads server-sent events out of a stream's bytes (HTML Living Standard, section 9.2.6), without a stream: pieces in,
// in any cut, events out. The counterpart of HttpStream::send. Belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan::net {

struct ServerEvent {
  std::string name = "message";
  std::string data;  // its lines joined with '\n'
  std::string id;    // of this event or the latest that had one
};

class EventParser {
 public:
  // An event with more bytes than this is an error.
  explicit EventParser(std::size_t maxEventBytes = 4 * 1024 * 1024) : maxEventBytes_(maxEventBytes) {}

  // `event` is called for each that is complete; false: no more. Errors: an event that is too long.
  Status feed(std::string_view bytes, const std::function<bool(const ServerEvent&)>& event);

  // Where a reader that comes back begins, and when it may: the latest the stream has said; empty, none: nothing.
  const std::string& lastId() const { return event_.id; }
  std::optional<std::int64_t> retryMs() const { return retryMs_; }

 private:
  bool takeLine(const std::function<bool(const ServerEvent&)>& event);

  std::size_t maxEventBytes_;
  std::string line_;
  bool sawCarriageReturn_ = false, first_ = true, stopped_ = false, hasData_ = false;
  ServerEvent event_;
  std::optional<std::int64_t> retryMs_;
};

}  // namespace witan::net
