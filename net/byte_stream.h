// A connection that can be read and written: plain TCP, a Unix socket, or TLS over one of them. For the units of net/.
//
// One read and one write may be under way at a time. The object must live until both have ended; close() makes them
// end.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/crypto.h"
#include "net/loop_impl.h"

namespace witan::net {

using Socket = asio::generic::stream_protocol::socket;
using ErrorCodeOf = boost::system::error_code;

struct IoResult {
  ErrorCodeOf error;
  std::size_t bytes = 0;
};

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual asio::awaitable<IoResult> read(std::span<char> into) = 0;    // some
  virtual asio::awaitable<IoResult> write(std::string_view from) = 0;  // some
  virtual Socket& socket() = 0;

  // All of it.
  asio::awaitable<ErrorCodeOf> writeAll(std::string_view from);
  // Says that nothing more comes, and reads whatever still comes until the other end has closed too (or close()): a
  // socket closed over unread bytes takes back what was said last.
  asio::awaitable<void> linger();
  void close();
};

std::unique_ptr<ByteStream> plainStream(Socket socket);

class TlsStream : public ByteStream {
 public:
  virtual asio::awaitable<ErrorCodeOf> handshake(bool asServer) = 0;
  virtual void offerProtocol(std::string_view alpn) = 0;  // before the handshake, as client
  virtual bool expectHost(const std::string& host) = 0;   // likewise: name or address of the certificate
  virtual std::string protocol() const = 0;               // agreed on; empty: none
  virtual Result<PublicKey> peerKey() const = 0;          // after the handshake
};

std::unique_ptr<TlsStream> tlsStream(Socket socket, std::shared_ptr<asio::ssl::context> context);

// Why a handshake or a stream failed, in words for the one who reads the log. `shaken`: after the handshake, so that
// the other end does speak TLS.
std::string wordsOf(const ErrorCodeOf& error, bool shaken = false);

}  // namespace witan::net
