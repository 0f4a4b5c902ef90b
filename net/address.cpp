#include "net/address.h"

#include <charconv>

#include "base/quote.h"

namespace witan::net {
namespace {

constexpr std::size_t kMaxHostBytes = 253;  // RFC 1035 2.3.4, as text
constexpr std::size_t kMaxPathBytes = 107;  // sockaddr_un, with its final zero
constexpr const char* kForms = "write HOST:PORT, [IPV6]:PORT or unix:/PATH";

Error refused(std::string_view text, const std::string& why) {
  return invalid("the address " + inQuotes(text) + " " + why, kForms);
}

Result<Address> unixAddress(std::string_view text, std::string_view path) {
  if (path.empty() || path[0] != '/') return refused(text, "has no absolute path");
  if (path.size() > kMaxPathBytes)
    return refused(text, "has a path of " + std::to_string(path.size()) + " bytes, a socket's has at most 107");
  if (path.find('\0') != std::string_view::npos) return refused(text, "has a zero byte");
  return Address{"", 0, std::string(path)};
}

bool isHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
         c == '_' || c == ':' || c == '%';
}

}  // namespace

Result<Address> parseAddress(std::string_view text) {
  if (text.starts_with("unix:")) return unixAddress(text, text.substr(5));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return refused(text, "has no port");
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty()) return refused(text, "has no host");
  if (!bracketed && host.find(':') != std::string_view::npos) return refused(text, "has an IPv6 host without brackets");
  if (host.size() > kMaxHostBytes) return refused(text, "has a host of more than 253 bytes");
  for (const char c : host)
    if (!isHostCharacter(c)) return refused(text, "has " + inQuotes({&c, 1}) + " in its host");
  Address address{std::string(host), 0, ""};
  const std::string_view port = text.substr(colon + 1);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (read.ec != std::errc() || read.ptr != port.data() + port.size())
    return refused(text, "has no port from 0 to 65535");
  return address;
}

std::string toText(const Address& address) {
  if (address.host.empty()) return "unix:" + address.path;
  const bool brackets = address.host.find(':') != std::string::npos;
  return (brackets ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

}  // namespace witan::net
