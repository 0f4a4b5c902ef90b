// HTTP/1.1 towards one endpoint: asynchronous with keep-alive for the daemon (the etcd gateway, OTLP, models), blocking
// on a short-lived loop of its own for the command line.
//
// Errors: unavailable (nobody answers, the connection broke, too slow: the request may or may not have been carried
// out), unauthorised (TLS: the server's certificate, or ours), invalidInput (endpoint, files, a response beyond the
// limits or of no form). A response with any status is a value. HttpClient belongs to its loop's thread; the loop must
// outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http_message.h"
#include "net/loop.h"

namespace witan::net {

struct HttpEndpoint {
  std::string address;            // "host:port" or "unix:/path"
  bool tls = false;               // 1.2 or later; the name or address is checked against the certificate
  std::string caFile;             // PEM; empty: the system's authorities
  std::string certFile, keyFile;  // PEM, for servers that ask for one; both or none
};

struct HttpClientOptions {
  std::size_t maxBodyBytes = 64 * 1024 * 1024;
  std::size_t maxHeaderBytes = 64 * 1024;
  std::size_t maxQueued = 1024;  // requests that wait or are under way; more are refused as unavailable
  std::size_t connections = 1;   // at a time, streams not counted; with 1 requests go and are answered in order
  std::int64_t connectTimeoutMs = 5'000;
  std::int64_t timeoutMs = 30'000;      // of one request, from its turn to the end of the answer
  bool marksUnsent = false;             // an error after which nothing was sent has the hint kNothingSent
  std::int64_t streamIdleMs = 120'000;  // a stream that says nothing for so long has ended; 0: never
};

inline constexpr std::string_view kNothingSent = "nothing was sent";

// `headers` may have anything but Host (set it to override), Content-Length and Transfer-Encoding.
class HttpClient {
 public:
  HttpClient(Loop& loop, HttpEndpoint endpoint, HttpClientOptions options = {});
  ~HttpClient();  // like close(), without calling anybody
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // `done` is called once, from the loop.
  void request(HttpRequest request, std::function<void(Result<HttpResponse>)> done);

  // On a connection that has no other request at the time. `chunk` gets the body of a 2xx answer as it comes and
  // returns whether to go on; `end` is called once: ok when the server ended it or `chunk` said so, else an error, also
  // for any status but 2xx (its message has the beginning of the body). close() and the destructor end it too.
  void stream(HttpRequest request, std::function<bool(std::string_view chunk)> chunk, std::function<void(Status)> end);
  // The same, with the head of the answer beside each piece. `done` gets any answer: without the body of a 2xx, with
  // the beginning of any other's.
  using Piece = std::function<bool(const HttpResponse& head, std::string_view piece)>;
  void stream(HttpRequest request, Piece piece, std::function<void(Result<HttpResponse>)> done);

  void close();  // whatever waits fails as unavailable

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

// Blocking; runs a loop of its own. `timeoutMs` is for everything, connecting included.
Result<HttpResponse> httpCall(const HttpEndpoint& endpoint, const HttpRequest& request, std::int64_t timeoutMs);

// Blocking until the server ends it or `chunk` says false: for `witan ledger tail -f`. The value has status and
// headers; with any status but 2xx the body too, and `chunk` is never called.
Result<HttpResponse> httpStream(const HttpEndpoint& endpoint, const HttpRequest& request,
                                std::function<bool(std::string_view chunk)> chunk);

}  // namespace witan::net
