#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace witan {

namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Bytes of the character at the front of `text`, 0 if there is none (RFC 3629 section 4, the table of byte ranges).
std::size_t characterBytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if (!continues(text[i])) return 0;
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) > 0x9f;
  const bool beyond = first == 0xf4 && byte(1) > 0x8f;
  return overlong || surrogate || beyond ? 0 : size;
}

}  // namespace

bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    std::uint64_t eight = 0x80;
    if (text.size() >= 8) std::memcpy(&eight, text.data(), 8);
    if ((eight & 0x8080808080808080u) == 0) {
      text.remove_prefix(8);
      continue;
    }
    const std::size_t size = characterBytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string_view clip(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && continues(text[limit])) --limit;
  return text.substr(0, limit);
}

}  // namespace witan
