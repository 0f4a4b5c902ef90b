#include "net/sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstring>

#include "base/quote.h"
#include "net/loop_impl.h"

namespace witan::net {
namespace {

using asio::ip::tcp;

// nullopt: a Unix socket.
std::optional<tcp::endpoint> remoteOf(const Socket& socket) {
  ErrorCodeOf error;
  const auto any = socket.remote_endpoint(error);
  const int family = any.data()->sa_family;
  if (error || (family != AF_INET && family != AF_INET6)) return std::nullopt;
  tcp::endpoint remote;
  if (any.size() > remote.capacity()) return std::nullopt;
  std::memcpy(remote.data(), any.data(), any.size());
  remote.resize(any.size());
  const auto address = remote.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return tcp::endpoint(asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()), remote.port());
  return remote;
}

// Where to listen: a literal address, or the first one of a name.
Result<tcp::endpoint> resolveHere(asio::io_context& io, const Address& address) {
  ErrorCodeOf error;
  const auto literal = asio::ip::make_address(address.host, error);
  if (!error) return tcp::endpoint(literal, address.port);
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(address.host, std::to_string(address.port), error);
  if (error || found.empty())
    return invalid("the host " + inQuotes(address.host) + " is not known (" + error.message() + ")",
                   "give an address of this machine");
  return found.begin()->endpoint();
}

}  // namespace

void closeOnExec(int socket) { ::fcntl(socket, F_SETFD, FD_CLOEXEC); }

void withoutDelay(Socket& socket) {
  const int on = 1;
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Error noListener(const std::string& address, const ErrorCodeOf& error) {
  const std::string what = "cannot listen on " + address + " (" + error.message() + ")";
  if (error == asio::error::address_in_use)
    return {ErrorCode::conflict, what, "end the program that serves there, or choose another address"};
  return {error == asio::error::access_denied ? ErrorCode::unauthorised : ErrorCode::ioFailed, what, ""};
}

Result<tcp::acceptor> listenTcp(asio::io_context& io, const Address& address, bool dual) {
  WITAN_TRY(endpoint, resolveHere(io, address));
  ErrorCodeOf error;
  tcp::acceptor acceptor(io);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && dual && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(false), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error) return noListener(toText(address), error);
  closeOnExec(acceptor.native_handle());
  return acceptor;
}

std::string boundAddress(const tcp::acceptor& acceptor) {
  ErrorCodeOf ignored;
  const auto bound = acceptor.local_endpoint(ignored);
  return toText(Address{bound.address().to_string(), bound.port(), ""});
}

asio::awaitable<ErrorCodeOf> Connecting::tryAll(const Address& address) {
  ErrorCodeOf error;
  const auto literal = asio::ip::make_address(address.host, error);
  std::vector<tcp::endpoint> endpoints;
  if (!error) {
    endpoints.emplace_back(literal, address.port);  // without the resolver, which has a thread of its own
  } else {
    const auto [failed, found] = co_await resolver_.async_resolve(address.host, std::to_string(address.port), kAwait);
    error = failed;
    if (!error)
      for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  }
  for (const tcp::endpoint& endpoint : endpoints) {
    if (cancelled_) break;
    tcp::socket socket(io_);
    socket.open(endpoint.protocol(), error);
    if (error) continue;
    closeOnExec(socket.native_handle());
    socket_ = std::move(socket);
    const auto [failed] = co_await socket_.async_connect(endpoint, kAwait);
    error = failed;
    if (!error) break;
  }
  co_return error;
}

asio::awaitable<Result<Socket>> Connecting::run(Address address) {
  ErrorCodeOf error;
  if (address.host.empty()) {
    asio::local::stream_protocol::socket socket(io_);
    socket.open({}, error);
    if (!error) closeOnExec(socket.native_handle());
    const asio::local::stream_protocol::endpoint endpoint(address.path);
    socket_ = std::move(socket);
    const auto [failed] = co_await socket_.async_connect(endpoint, kAwait);
    error = failed;
  } else {
    error = co_await tryAll(address);
    if (!error) withoutDelay(socket_);
  }
  if (cancelled_) error = asio::error::timed_out;
  if (error) {
    Error failure{ErrorCode::unavailable, "nobody answers at " + toText(address) + " (" + error.message() + ")", ""};
    co_return Result<Socket>(std::move(failure));
  }
  co_return Result<Socket>(std::move(socket_));
}

void Connecting::cancel() {
  cancelled_ = true;
  resolver_.cancel();
  ErrorCodeOf ignored;
  socket_.close(ignored);
}

std::string remoteAddress(const Socket& socket) {
  const auto remote = remoteOf(socket);
  return remote ? toText({remote->address().to_string(), remote->port(), ""}) : "unix";
}

std::string limitedBy(const Socket& socket) {
  const auto remote = remoteOf(socket);
  if (!remote) return "unix";
  if (remote->address().is_v4()) return remote->address().to_string();
  auto bytes = remote->address().to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  return asio::ip::address_v6(bytes).to_string() + "/64";
}

}  // namespace witan::net
