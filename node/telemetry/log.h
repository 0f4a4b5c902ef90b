// Log: events for the operator, one line an event, on stderr: text for people, or JSON Lines for machines. Text from
// outside is escaped, so no peer can forge a line.
//
// Main thread only.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/reflect.h"
#include "base/time.h"

namespace witan::node {

WITAN_ENUM(LogLevel, debug, info, warn, error)

using LogField = std::pair<std::string_view, std::string>;

class Log {
 public:
  // `write` gets whole lines. `clock` stamps them.
  Log(LogLevel least, bool json, std::function<Time()> clock, std::function<void(std::string_view)> write);

  void line(LogLevel level, std::string_view component, std::string_view message,
            std::initializer_list<LogField> fields);
  void debug(std::string_view component, std::string_view message, std::initializer_list<LogField> fields = {}) {
    line(LogLevel::debug, component, message, fields);
  }
  void info(std::string_view component, std::string_view message, std::initializer_list<LogField> fields = {}) {
    line(LogLevel::info, component, message, fields);
  }
  void warn(std::string_view component, std::string_view message, std::initializer_list<LogField> fields = {}) {
    line(LogLevel::warn, component, message, fields);
  }
  void error(std::string_view component, std::string_view message, std::initializer_list<LogField> fields = {}) {
    line(LogLevel::error, component, message, fields);
  }

  void setLevel(LogLevel least) { least_ = least; }
  LogLevel level() const { return least_; }
  // Warnings and errors since the start.
  std::uint64_t warnings() const { return warnings_; }
  std::uint64_t errors() const { return errors_; }

 private:
  LogLevel least_;
  bool json_;
  std::function<Time()> clock_;
  std::function<void(std::string_view)> write_;
  std::uint64_t warnings_ = 0, errors_ = 0;
};

// debug, info, warn, error; anything else is info.
inline LogLevel logLevelOf(std::string_view word) { return parseEnum<LogLevel>(word).value_or(LogLevel::info); }

}  // namespace witan::node
