#include "net/socket_options.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/quote.h"

namespace witan::net {

void closeOnExec(int socket) { ::fcntl(socket, F_SETFD, FD_CLOEXEC); }

void withoutDelay(Socket& socket) {
  const int on = 1;
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Result<asio::ip::tcp::endpoint> resolveHere(asio::io_context& io, const Address& address) {
  ErrorCodeOf error;
  const auto literal = asio::ip::make_address(address.host, error);
  if (!error) return asio::ip::tcp::endpoint(literal, address.port);
  asio::ip::tcp::resolver resolver(io);
  const auto found = resolver.resolve(address.host, std::to_string(address.port), error);
  if (error || found.empty())
    return invalid("the host " + inQuotes(address.host) + " is not known (" + error.message() + ")",
                   "give an address of this machine");
  return found.begin()->endpoint();
}

}  // namespace witan::net
