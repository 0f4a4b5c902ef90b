#include "node/telemetry/log.h"

#include "base/json.h"
#include "base/utf8.h"

namespace witan::node {

namespace {

constexpr std::size_t kMaxValue = 2048;

std::string quotedValue(std::string_view value) {
  std::string out;
  appendJsonString(out, isUtf8(value) ? clip(value, kMaxValue) : std::string_view("(not UTF-8)"));
  return out;
}

// Bare where that cannot be misread.
std::string forPeople(std::string_view value) {
  const auto plain = [](unsigned char c) { return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\'; };
  if (value.empty() || value.size() > kMaxValue) return quotedValue(value);
  for (const char c : value)
    if (!plain(static_cast<unsigned char>(c))) return quotedValue(value);
  return std::string(value);
}

}  // namespace

Log::Log(LogLevel least, bool json, std::function<Time()> clock, std::function<void(std::string_view)> write)
    : least_(least), json_(json), clock_(std::move(clock)), write_(std::move(write)) {}

void Log::line(LogLevel level, std::string_view component, std::string_view message,
               std::initializer_list<LogField> fields) {
  if (level == LogLevel::warn) ++warnings_;
  if (level == LogLevel::error) ++errors_;
  if (level < least_) return;
  std::string out;
  if (json_) {
    out = concat("{\"ts\":\"", formatTime(clock_()), "\",\"level\":\"", enumName(level),
                 "\",\"component\":", quotedValue(component), ",\"msg\":", quotedValue(message));
    for (const auto& [name, value] : fields) out += "," + quotedValue(name) + ":" + quotedValue(value);
    out += "}\n";
  } else {
    // The message is ours up to here; what it quotes from outside is escaped like a field.
    const std::string words = quotedValue(message);
    out = concat(formatTime(clock_()), " ", enumName(level), " ", component, ": ", words.substr(1, words.size() - 2));
    for (const auto& [name, value] : fields) out += concat(" ", name, "=", forPeople(value));
    out += "\n";
  }
  write_(out);
}

}  // namespace witan::node
