#include "net/http_server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <list>

#include "base/quote.h"
#include "net/http_connection.h"
#include "net/sockets.h"

namespace witan::net {
namespace {

using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

// A socket file of a server that is gone is removed. Anything else that stands there is somebody's.
Status clearStale(asio::io_context& io, const std::string& path) {
  struct stat found;
  if (::lstat(path.c_str(), &found) != 0) return okStatus();
  if (!S_ISSOCK(found.st_mode))
    return Error{ErrorCode::conflict, inQuotes(path, 128) + " exists and is no socket", "choose another path"};
  asio::local::stream_protocol::socket probe(io);
  ErrorCodeOf error;
  probe.connect(path, error);
  if (!error)
    return Error{ErrorCode::conflict, "somebody serves on " + inQuotes(path, 128) + " already",
                 "end that program, or choose another path"};
  if (error != asio::error::connection_refused) return noListener(inQuotes("unix:" + path, 128), error);
  if (::unlink(path.c_str()) != 0)
    return noListener(inQuotes("unix:" + path, 128), {errno, boost::system::system_category()});
  return okStatus();
}

}  // namespace

struct HttpServer::Impl {
  struct Listener {
    Acceptor acceptor;
    std::string path;  // of a Unix socket
    ino_t inode = 0;
  };

  Impl(Loop& loop, HttpServerOptions options, HttpHandler handler)
      : io(loop.impl().io),
        shared(std::make_shared<HttpConnection::Shared>(
            HttpConnection::Shared{io, options, std::move(handler), false, {}})) {
    shared->onEnd = [this](std::uint64_t id) { connections.erase(id); };
  }
  ~Impl() {
    shared->onEnd = nullptr;
    shared->closing = true;
    stopListening();
    for (auto& [id, connection] : connections) connection->end();
  }

  Result<std::string> listenTcp(const Address& address);
  Result<std::string> listenUnix(const std::string& text, const Address& address);
  void acceptNext(Listener& listener);
  void accepted(Socket socket);
  std::size_t connectionsOf(bool unixSockets) const;
  // Whether one connection more has a place.
  bool makeRoom(bool ofUnixSocket);
  bool evictIdle(bool ofUnixSocket);
  void stopListening();

  asio::io_context& io;
  std::shared_ptr<HttpConnection::Shared> shared;
  std::list<Listener> listeners;
  std::map<std::uint64_t, std::shared_ptr<HttpConnection>> connections;
  std::uint64_t lastId = 0;
};

Result<std::string> HttpServer::Impl::listenTcp(const Address& address) {
  WITAN_TRY(acceptor, net::listenTcp(io, address, false));
  const std::string bound = boundAddress(acceptor);
  listeners.push_back({Acceptor(std::move(acceptor)), "", 0});
  acceptNext(listeners.back());
  return bound;
}

// Mode 0600 from its first moment: nobody else may get in between bind and chmod.
Result<std::string> HttpServer::Impl::listenUnix(const std::string& text, const Address& address) {
  WITAN_DO(clearStale(io, address.path));
  ErrorCodeOf error;
  asio::local::stream_protocol::acceptor acceptor(io);
  acceptor.open({}, error);
  const mode_t before = ::umask(0177);
  if (!error) acceptor.bind(address.path, error);
  ::umask(before);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  struct stat made {};
  if (!error && ::stat(address.path.c_str(), &made) != 0) error = {errno, boost::system::system_category()};
  if (error) return noListener(inQuotes(text, 128), error);
  closeOnExec(acceptor.native_handle());
  listeners.push_back({Acceptor(std::move(acceptor)), address.path, made.st_ino});
  acceptNext(listeners.back());
  return text;
}

void HttpServer::Impl::acceptNext(Listener& listener) {
  listener.acceptor.async_accept(
      [this, &listener, weak = std::weak_ptr(shared)](const ErrorCodeOf& error, Socket socket) {
        const auto held = weak.lock();
        if (!held || held->closing || error == asio::error::operation_aborted) return;
        if (!error) {
          accepted(std::move(socket));
          return acceptNext(listener);
        }
        auto pause = std::make_shared<asio::steady_timer>(held->io, std::chrono::milliseconds(kAcceptPauseMs));
        pause->async_wait([this, &listener, weak, pause](const ErrorCodeOf&) {
          if (const auto still = weak.lock(); still && !still->closing) acceptNext(listener);
        });
      });
}

void HttpServer::Impl::accepted(Socket socket) {
  closeOnExec(socket.native_handle());
  withoutDelay(socket);
  const bool ofUnixSocket = remoteAddress(socket) == "unix";
  const bool fits = makeRoom(ofUnixSocket);
  // Those who are turned away are few at a time too; beyond that they are just closed.
  if (!fits && connectionsOf(ofUnixSocket) >= shared->options.maxConnections + 16) return;
  const std::uint64_t id = ++lastId;
  const auto connection = std::make_shared<HttpConnection>(shared, id, std::move(socket));
  connections[id] = connection;
  if (fits)
    connection->start();
  else
    connection->turnAway();
}

std::size_t HttpServer::Impl::connectionsOf(bool unixSockets) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(connections, [&](const auto& one) { return one.second->ofUnixSocket() == unixSockets; }));
}

bool HttpServer::Impl::makeRoom(bool ofUnixSocket) {
  const HttpServerOptions& options = shared->options;
  const std::size_t mine = connectionsOf(ofUnixSocket);
  const bool free = ofUnixSocket ? mine < options.keptForUnix || connections.size() < options.maxConnections
                                 : mine < options.maxConnections - options.keptForUnix;
  return free || evictIdle(ofUnixSocket);
}

// A place that is kept for Unix sockets is no other's.
bool HttpServer::Impl::evictIdle(bool ofUnixSocket) {
  HttpConnection* longest = nullptr;
  for (const auto& [id, connection] : connections)
    if (connection->idle() && (ofUnixSocket || !connection->ofUnixSocket()) &&
        (longest == nullptr || connection->idleSince() < longest->idleSince()))
      longest = connection.get();
  if (longest != nullptr) longest->end();
  return longest != nullptr;
}

void HttpServer::Impl::stopListening() {
  for (Listener& listener : listeners) {
    struct stat found;
    if (!listener.path.empty() && ::lstat(listener.path.c_str(), &found) == 0 && found.st_ino == listener.inode)
      ::unlink(listener.path.c_str());
  }
  listeners.clear();
}

HttpServer::HttpServer(Loop& loop, HttpServerOptions options, HttpHandler handler)
    : impl_(std::make_shared<Impl>(loop, options, std::move(handler))) {}

HttpServer::~HttpServer() = default;

Result<std::string> HttpServer::listen(const std::string& address) {
  WITAN_TRY(parsed, parseAddress(address));
  return parsed.host.empty() ? impl_->listenUnix(address, parsed) : impl_->listenTcp(parsed);
}

void HttpServer::close() {
  impl_->shared->closing = true;
  impl_->stopListening();
  const auto connections = impl_->connections;
  for (const auto& [id, connection] : connections) connection->finish();
}

std::size_t HttpServer::connections() const { return impl_->connections.size(); }

}  // namespace witan::net
