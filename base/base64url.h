// Base64url (RFC 4648 section 5) without padding: survives URLs, shells and double clicks. Pure functions, any thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace witan {

inline std::string toBase64Url(std::string_view bytes) {
  std::string text = toBase64(bytes);
  while (!text.empty() && text.back() == '=') text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

// Errors: another letter, padding, bits that no byte has.
inline Result<std::string> fromBase64Url(std::string text) {
  if (text.find_first_of("+/=") != std::string::npos) return invalid("not base64url");
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  while (text.size() % 4 != 0) text += '=';
  return fromBase64(text);
}

}  // namespace witan
