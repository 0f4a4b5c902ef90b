// Sockets: reaching out, listening, and the options that each socket of the program gets. For the units of net/.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "net/address.h"
#include "net/byte_stream.h"

namespace witan::net {

// How long a listener waits after a failure, as when the process has no more file descriptors.
inline constexpr std::int64_t kAcceptPauseMs = 100;

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

// A program started by this one does not inherit it (Asio leaves sockets open to it).
void closeOnExec(int socket);

// Small frames leave at once. No effect on Unix sockets.
void withoutDelay(Socket& socket);

// Listens on a literal address, or on the first one of a name; an IPv6 address takes IPv4 too if `dual`. Blocks for a
// name. Errors: noListener, and an unknown host.
Result<asio::ip::tcp::acceptor> listenTcp(asio::io_context& io, const Address& address, bool dual);
// The bound address, with the port that was chosen for 0.
std::string boundAddress(const asio::ip::tcp::acceptor& acceptor);
Error noListener(const std::string& address, const boost::system::error_code& error);

// "10.0.0.7:41520", "[::1]:7600"; an IPv4 address inside IPv6 as IPv4; "unix".
std::string remoteAddress(const Socket& socket);

// The address without the port, and of IPv6 the /64 that one customer has: whom a limit per address is for.
std::string limitedBy(const Socket& socket);

}  // namespace witan::net
