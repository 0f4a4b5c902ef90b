// One client connection: requests out, responses in, one at a time; it connects when it must and keeps what it has. For
// net/http_client.cpp. Must live until run() has ended; cancel() makes it end.
#pragma once

#include <optional>

#include "net/byte_stream.h"
#include "net/http_client.h"
#include "net/http_reader.h"
#include "net/sockets.h"

namespace witan::net {

class HttpExchange {
 public:
  // What all connections of a client share.
  struct Shared {
    asio::io_context& io;
    HttpEndpoint endpoint;
    HttpClientOptions options;
    Address address;
    std::shared_ptr<asio::ssl::context> context;  // nullptr: no TLS
  };
  using Chunk = std::function<bool(std::string_view)>;

  explicit HttpExchange(std::shared_ptr<const Shared> shared);

  // With `chunk`, the body of a 2xx answer goes there, and the time is limited between two pieces instead of in all.
  asio::awaitable<Result<HttpResponse>> run(const HttpRequest& request, Chunk chunk);
  void cancel(std::string why);

 private:
  asio::awaitable<Status> open();
  asio::awaitable<Result<HttpResponse>> readAnswer(const HttpRequest& request, const Chunk& chunk);
  asio::awaitable<Status> readMessage(HttpResponseReader& reader, bool streams);
  bool stale();
  void dropConnection();
  Error failure(const std::string& what) const;
  const HttpClientOptions& options() const { return shared_->options; }

  std::shared_ptr<const Shared> shared_;
  std::optional<Connecting> connecting_;  // of the latest attempt
  std::unique_ptr<ByteStream> stream_;
  std::string input_;
  std::string cancelled_;  // why; empty: not
  Deadline deadline_;
  std::int64_t waitedMs_ = 0;
};

}  // namespace witan::net
