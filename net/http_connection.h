// One connection of the HTTP server: requests read, answered and written one after the other; at the end perhaps a
// stream. For net/http_server.cpp.
//
// One coroutine serves; a second one notices, while a stream is open, that the client has gone. Each holds the
// connection alive, and so do replies and streams that the handler keeps only weakly. Belongs to the loop's thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/byte_stream.h"
#include "net/http_reader.h"
#include "net/http_server.h"

namespace witan::net {

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // What all connections of a server share.
  struct Shared {
    asio::io_context& io;
    HttpServerOptions options;
    HttpHandler handler;
    bool closing = false;
    std::function<void(std::uint64_t)> onEnd;  // from the loop; empty: the server has gone
  };

  HttpConnection(std::shared_ptr<Shared> shared, std::uint64_t id, Socket socket);

  void start();
  void turnAway();  // 503, and the end
  void end();       // at once
  void finish();    // after what is under way
  // It may make room for another connection: it is between requests, or does not come to the end of a request.
  bool idle() const;
  bool ofUnixSocket() const { return remote_ == "unix"; }
  std::int64_t idleSince() const { return idleSince_; }

 private:
  friend class HttpReply;
  friend class HttpStream;
  using Self = std::shared_ptr<HttpConnection>;
  enum class Waiting { nothing, firstByte, header, body, writing, streaming, lingering };

  asio::awaitable<void> serve(Self self);
  asio::awaitable<void> refuse(Self self, HttpFault fault);
  asio::awaitable<std::optional<HttpRequest>> readRequest();
  asio::awaitable<void> refuseWith(HttpResponse response);
  asio::awaitable<bool> writeOut(std::string bytes);
  asio::awaitable<bool> answerOne(HttpRequest request);
  asio::awaitable<void> streamOut(HttpResponse head, bool withBody);
  asio::awaitable<void> watchForEnd(Self self);
  asio::awaitable<void> lingerAndEnd();
  void wait(Waiting what, std::int64_t ms);
  void onTime();

  void answered(HttpResponse response);
  bool push(std::string bytes);
  void closeStream();

  std::shared_ptr<Shared> shared_;
  std::uint64_t id_;
  std::string remote_;
  std::unique_ptr<ByteStream> stream_;
  Deadline deadline_;
  asio::steady_timer wake_;  // never due; cancelled to wake the coroutine that waits for an answer or for output
  std::string input_;
  Waiting waiting_ = Waiting::nothing;
  bool ended_ = false, timedOut_ = false, idle_ = false, served_ = false;
  std::int64_t idleSince_ = 0;

  std::optional<HttpResponse> answer_;
  bool asStream_ = false;
  bool keepAlive_ = false, head_ = false, http11_ = true;

  // of a stream
  bool chunked_ = false, events_ = false, streamClosing_ = false;
  std::string pending_;
  std::size_t writingBytes_ = 0;
  std::vector<std::function<void()>> gone_;
};

}  // namespace witan::net
