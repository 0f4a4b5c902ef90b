#include "node/cluster/device_names.h"

#include "node/cluster/device_key.h"

namespace witan::node {

namespace {

constexpr std::size_t kShortDigits = 8;
constexpr std::size_t kTagDigits = 8;  // replication/writer.h

bool isHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

std::size_t hexDigitsAt(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && isHex(text[end])) ++end;
  return end - at;
}

}  // namespace

std::string DeviceNames::in(std::string_view text) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t digits = hexDigitsAt(text, at);
    const auto known = digits == kDeviceIdDigits ? names_.find(text.substr(at, digits)) : names_.end();
    if (known == names_.end()) {
      const std::size_t length = digits == 0 ? 1 : digits;
      out += text.substr(at, length), at += length;
      continue;
    }
    out += known->second + " (" + std::string(text.substr(at, kShortDigits));
    at += kDeviceIdDigits;
    if (at < text.size() && text[at] == '@' && hexDigitsAt(text, at + 1) == kTagDigits)
      out += text.substr(at, 1 + kTagDigits), at += 1 + kTagDigits;
    out += ")";
  }
  return out;
}

}  // namespace witan::node
