// Addresses as people write them: "10.0.0.7:7600", "[::1]:7600", "clinic.example:7600", "unix:/run/witan.sock". Pure
// functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan::net {

struct Address {
  std::string host;  // a name or an IP address, without brackets; empty: a Unix socket
  std::uint16_t port = 0;
  std::string path;  // of a Unix socket
};

// Errors name the text and the place: no port, a port above 65535, no host, an IPv6 address without brackets, a path
// that is empty, not absolute or longer than a socket's may be (107 bytes).
Result<Address> parseAddress(std::string_view text);

std::string toText(const Address& address);

}  // namespace witan::net
