// Listeners: accepting, and the limits for those who have not proven yet who they are.
#include <netinet/in.h>

#include <boost/asio/ip/v6_only.hpp>

#include "net/peer_network_impl.h"
#include "net/pipe_impl.h"
#include "net/socket_options.h"

namespace witan::net {
namespace {

using asio::ip::tcp;

constexpr std::int64_t kAcceptPauseMs = 100;  // when the process has no more file descriptors

Error noListener(const std::string& address, const ErrorCodeOf& error) {
  ErrorCode code = ErrorCode::ioFailed;
  if (error == asio::error::address_in_use) code = ErrorCode::conflict;
  if (error == asio::error::access_denied) code = ErrorCode::unauthorised;
  return {code, "cannot listen on " + address + " (" + error.message() + ")",
          code == ErrorCode::conflict ? "end the program that has this port, or choose another" : ""};
}

}  // namespace

Result<std::string> PeerNetwork::Impl::listen(const std::string& address) {
  WITAN_TRY(parsed, parseAddress(address));
  if (parsed.host.empty()) return invalid("devices listen on HOST:PORT, not on " + address);
  ErrorCodeOf error;
  WITAN_TRY(endpoint, resolveHere(io, parsed));
  tcp::acceptor acceptor(io);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(false), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error) return noListener(address, error);
  closeOnExec(acceptor.native_handle());
  const auto bound = acceptor.local_endpoint(error);
  acceptors.push_back(std::move(acceptor));
  acceptNext(acceptors.back());
  return toText(Address{bound.address().to_string(), bound.port(), ""});
}

void PeerNetwork::Impl::acceptNext(tcp::acceptor& acceptor) {
  acceptor.async_accept([this, &acceptor, weak = std::weak_ptr(self)](const ErrorCodeOf& error, tcp::socket socket) {
    if (weak.expired() || closed || error == asio::error::operation_aborted) return;
    if (!error) {
      accepted(std::move(socket));
      return acceptNext(acceptor);
    }
    log.say("warning", "accepting failed (" + error.message() + ")");
    auto pause = std::make_shared<asio::steady_timer>(io, std::chrono::milliseconds(kAcceptPauseMs));
    pause->async_wait([this, &acceptor, weak, pause](const ErrorCodeOf&) {
      if (!weak.expired() && !closed) acceptNext(acceptor);
    });
  });
}

void PeerNetwork::Impl::accepted(tcp::socket socket) {
  if (closed) return;
  Socket any(std::move(socket));
  closeOnExec(any.native_handle());
  withoutDelay(any);
  makeRoomFor(limitedBy(any));
  const auto link = newLink();
  link->accept(std::move(any));
  handshakes[link->info().id] = link->limitedBy();
}

// Bytes that others carry are a connection like any other, and who carries them has no more of them at a time than an
// address.
Result<std::unique_ptr<Pipe>> PeerNetwork::Impl::carry(const CarriedLink& carried, PipeEvents pipeEvents) {
  if (closed) return Error{ErrorCode::unavailable, "shutting down", ""};
  WITAN_TRY(sockets, connectedSockets(io));
  const bool accepts = carried.name.empty();
  if (accepts) makeRoomFor("via " + carried.via);
  const auto link = newLink();
  link->carry(std::move(sockets.links), carried);
  if (accepts) handshakes[link->info().id] = link->limitedBy();
  return makePipe(std::move(sockets.ours), std::move(pipeEvents));
}

// One more would be too many: the oldest of that address goes, or of the address that has most. So whoever opens
// connections and says nothing stands in his own way, and a good one, done in milliseconds, comes through.
void PeerNetwork::Impl::makeRoomFor(const std::string& address) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [id, from] : handshakes) ++counts[from];
  std::string fullest;
  if (counts[address] >= options->maxHandshakesPerAddress) {
    fullest = address;
  } else if (handshakes.size() >= options->maxHandshakes) {
    for (const auto& [from, count] : counts)
      if (fullest.empty() || count > counts[fullest]) fullest = from;
  }
  if (fullest.empty()) return;
  for (const auto& [id, from] : handshakes) {
    if (from != fullest) continue;
    const LinkId oldest = id;
    handshakes.erase(oldest);
    if (Link* link = find(oldest)) link->end("too many handshakes from " + fullest + " at a time");
    return;
  }
}

}  // namespace witan::net
