#include "base/quote.h"

#include "base/json.h"

namespace witan {

std::string inQuotes(std::string_view text, std::size_t limit) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const unsigned char c : text.substr(0, limit)) {
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
      out += static_cast<char>(c);
    } else {
      out += "\\x";
      out += kDigits[c >> 4];
      out += kDigits[c & 15];
    }
  }
  out += '"';
  if (text.size() > limit) out += "...";
  return out;
}

std::string jsonQuoted(std::string_view text) {
  std::string out;
  appendJsonString(out, text);
  return out;
}

}  // namespace witan
