// Reads one HTTP/1.1 message out of bytes, without a stream: Beast's parser behind limits and stricter rules. Belongs
// to one thread; one object a message.
//
// Whatever two readers could take for different messages is refused (RFC 9112 section 11.2, request smuggling): a
// transfer coding other than chunked, chunked together with Content-Length, differing lengths, folded lines, a second
// Host.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_message.h"

namespace witan::net {

struct HttpLimits {
  std::size_t maxHeaderBytes = 0, maxBodyBytes = 0;
};

struct HttpFault {
  int status = 400;  // what a server answers
  std::string message;
};

class HttpRequestReader {
 public:
  explicit HttpRequestReader(const HttpLimits& limits);
  ~HttpRequestReader();

  // Takes bytes from the front and says how many; the rest is to be given again, with more behind it, unless done() or
  // fault().
  std::size_t put(std::string_view bytes);

  bool headerDone() const;
  bool done() const;
  const std::optional<HttpFault>& fault() const;
  bool keepAlive() const;        // requires headerDone()
  bool http11() const;           // likewise; else 1.0
  bool expectsContinue() const;  // likewise: the client waits for 100 before it sends the body
  HttpRequest take();            // requires done(); `remote` is left empty

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

class HttpResponseReader {
 public:
  // `toHead`: an answer to HEAD, which has no body. `body`: gets the body as it comes instead of take(); false: enough.
  HttpResponseReader(const HttpLimits& limits, bool toHead, std::function<bool(std::string_view)> body = {});
  ~HttpResponseReader();

  std::size_t put(std::string_view bytes);  // as above
  void putEnd();                            // the connection was closed by the other end

  bool headerDone() const;
  bool done() const;
  const std::optional<HttpFault>& fault() const;
  bool stopped() const;  // `body` said enough
  bool keepAlive() const;
  const HttpResponse& head() const;
  HttpResponse take();

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

// The request target's path and query, decoded. Errors: not beginning with '/', %XX of another form, a zero byte, no
// UTF-8, a key that comes twice, more than 100 keys. "http://host/path" (RFC 9112 section 3.2.2) loses its host.
std::optional<HttpFault> splitTarget(HttpRequest& request);

// As bytes: with Content-Length, or Transfer-Encoding: chunked. Line breaks in values become spaces.
std::string requestBytes(const HttpRequest& request, std::string_view host);
std::string responseHead(const HttpResponse& response, bool keepAlive, std::optional<std::size_t> contentLength,
                         bool chunked);
std::string chunkOf(std::string_view bytes);

}  // namespace witan::net
