// Reaching out: names resolved, addresses tried one after the other. For the units of net/.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "net/address.h"
#include "net/byte_stream.h"

namespace witan::net {

// One attempt to connect. Belongs to whoever awaits run(), and must live until that has ended; cancel() makes it end.
class Connecting {
 public:
  explicit Connecting(asio::io_context& io) : io_(io), resolver_(io), socket_(io) {}

  // A Unix socket, or TCP without Nagle's delay. The error (unavailable) names the address and the last cause.
  asio::awaitable<Result<Socket>> run(Address address);
  void cancel();

 private:
  asio::awaitable<ErrorCodeOf> tryAll(const Address& address);

  asio::io_context& io_;
  asio::ip::tcp::resolver resolver_;
  Socket socket_;
  bool cancelled_ = false;
};

// "10.0.0.7:41520", "[::1]:7600"; an IPv4 address inside IPv6 as IPv4; "unix".
std::string remoteAddress(const Socket& socket);

// The address without the port, and of IPv6 the /64 that one customer has: whom a limit per address is for.
std::string limitedBy(const Socket& socket);

}  // namespace witan::net
