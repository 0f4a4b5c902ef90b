#include "mcp/call.h"

#include <algorithm>

namespace witan::mcp {

bool Offer::readable(std::string_view uri) const {
  if (knows) return knows(uri);
  return std::any_of(resources.begin(), resources.end(),
                     [&](const json::value& row) { return textIn(row.get_object(), "uri") == uri; });
}

Outcome failedTool(std::string_view text) {
  return {{{"content", json::array{json::object{{"type", "text"}, {"text", text}}}}, {"isError", true}}};
}

Outcome protocolError(int code, std::string_view text, json::object data) {
  return {{}, code, std::string(text), std::move(data)};
}

bool RateLimit::take(std::int64_t nowMs) {
  const std::int64_t passed = std::clamp<std::int64_t>(nowMs - lastMs_, 0, 3'600'000);
  lastMs_ = nowMs;
  left_ = std::min(left_ + passed * perSecond_, burst_ * 1000);
  if (left_ < 1000) return false;
  left_ -= 1000;
  return true;
}

}  // namespace witan::mcp
