// An HTTP/1.1 server on loopback TCP or a Unix socket. Without TLS: it is for this machine.
//
// What is not a request is answered by the server itself, with JSON {"error": {"code": ..., "message": ...}}, and ends
// the connection: 400 (form), 408 (too slow), 413 (body), 431 (header), 501 (transfer coding, CONNECT), 503
// (connections). Bodies, chunked ones too, are read whole and bounded before the handler is called. Requests of one
// connection are handled one after the other, pipelined or not. HEAD is answered like GET, without the body.
//
// All of it belongs to the loop's thread. The loop must outlive the server; replies and streams may outlive both server
// and connection, and do nothing then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http_message.h"
#include "net/loop.h"

namespace witan::net {

class HttpConnection;

// A server-sent-events answer that stays open (HTML Living Standard, section 9.2).
class HttpStream {
 public:
  explicit HttpStream(std::weak_ptr<HttpConnection> connection) : connection_(std::move(connection)) {}

  // One event; `data` may have several lines. Empty `event`: the default type. False: gone. The server drops a reader
  // for whom more than maxStreamBytes wait.
  bool send(std::string_view event, std::string_view data, std::string_view id = {});
  bool write(std::string_view raw);  // other content types: bytes as they are, same bound
  void close();                      // after what waits has been sent
  bool open() const;
  std::size_t waiting() const;  // bytes that the reader has yet to take
  // The loop calls `work` once when the stream has ended, for any reason; also if it has ended already.
  void onGone(std::function<void()> work);

 private:
  std::weak_ptr<HttpConnection> connection_;
};

// Answers one request, now or later, once; a second answer is ignored. Dropped without an answer: 500.
class HttpReply {
 public:
  explicit HttpReply(std::weak_ptr<HttpConnection> connection) : connection_(std::move(connection)) {}
  ~HttpReply();
  HttpReply(const HttpReply&) = delete;
  HttpReply& operator=(const HttpReply&) = delete;

  void answer(HttpResponse response);
  // Sends the head (its body is ignored; "application/json" stands for "text/event-stream" here) and keeps the answer
  // open. Comments keep it alive while nothing is sent.
  std::shared_ptr<HttpStream> stream(HttpResponse head);

 private:
  std::weak_ptr<HttpConnection> connection_;
  bool used_ = false;
};

using HttpHandler = std::function<void(const HttpRequest&, std::shared_ptr<HttpReply>)>;

struct HttpServerOptions {
  std::size_t maxHeaderBytes = 16 * 1024;
  std::size_t maxBodyBytes = 4 * 1024 * 1024;
  std::size_t maxConnections = 256;  // one more takes the place of the longest idle one, or gets 503
  std::size_t keptForUnix = 0;       // of these, for connections of Unix sockets alone
  std::size_t maxStreamBytes = 1024 * 1024;
  std::int64_t headerTimeoutMs = 10'000;  // from the first byte of a request, and for the first byte of the first one
  std::int64_t bodyTimeoutMs = 30'000;
  std::int64_t idleTimeoutMs = 60'000;   // between requests
  std::int64_t writeTimeoutMs = 30'000;  // without progress, while an answer waits to be taken
  std::int64_t streamHeartbeatMs = 15'000;
  // Asked when the head of a request with a body has come, and before the body is read. An answer refuses the request
  // and ends the connection. Empty: every body is read.
  std::function<std::optional<HttpResponse>(const HttpRequest& head)> refuseBody = {};
};

class HttpServer {
 public:
  HttpServer(Loop& loop, HttpServerOptions options, HttpHandler handler);
  ~HttpServer();  // ends everything at once
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // "127.0.0.1:0" or "unix:/path" (mode 0600; a stale socket file is replaced, a live one is a conflict). Gives the
  // bound address, in the form that HttpEndpoint takes. May be called for several.
  Result<std::string> listen(const std::string& address);

  // Accepts no more, ends idle connections and streams; requests under way are still answered. Removes its socket
  // files.
  void close();

  std::size_t connections() const;

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace witan::net
