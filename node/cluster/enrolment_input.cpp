#include "node/cluster/enrolment_input.h"

#include <cctype>

#include "base/quote.h"

namespace witan::node {

namespace {

constexpr std::size_t kFingerprintDigits = 64;  // SHA-256
constexpr std::size_t kGroup = 4;

}  // namespace

Result<std::string> parseFingerprint(std::string_view text) {
  const auto wrong = [](const std::string& why) {
    return invalid("fingerprint: " + why + "; expected " + std::to_string(kFingerprintDigits) + " hex digits",
                   "copy all of what witan status shows on that device");
  };
  std::string out;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == ' ' || c == ':') continue;
    if (std::isxdigit(c) == 0)
      return wrong("character " + std::to_string(i + 1) + " is " + inQuotes(text.substr(i, 1)));
    if (digits > 0 && digits % kGroup == 0) out += ' ';
    out += static_cast<char>(std::tolower(c));
    ++digits;
  }
  if (digits != kFingerprintDigits) return wrong("it has " + std::to_string(digits) + " digits");
  return out;
}

std::vector<std::string> dialable(std::vector<std::string> addresses) {
  std::erase_if(addresses, [](const std::string& address) {
    return address.ends_with(":0") || address.starts_with("0.0.0.0:") || address.starts_with("[::]:");
  });
  return addresses;
}

}  // namespace witan::node
