// Reads one HTTP/1.1 message out of bytes, without a stream: Beast's parser behind limits and stricter rules. For the
// units of net/. Belongs to one thread; one object a message.
//
// Whatever two readers could take for different messages is refused (RFC 9112 section 11.2, request smuggling): a
// transfer coding other than chunked, chunked together with Content-Length, differing lengths, folded lines, a second
// Host.
//
// Beast's own loop (http::async_read) cannot stand around these rules: it feeds a last chunk that arrives byte by byte
// to an assertion of its parser, knows no limit for the header of a chunk, and does not pass over the empty lines
// before a request. So the connections feed this reader. Tests cut messages at each byte without a socket.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_message.h"

namespace witan::net {

struct HttpLimits {
  std::size_t maxHeaderBytes = 0, maxBodyBytes = 0;
};

inline constexpr std::size_t kReadBytes = 16 * 1024;  // of a connection at a time

struct HttpFault {
  int status = 400;  // what a server answers
  std::string message;
};

// The part that requests and responses have in common.
template <bool isRequest>
class HttpReader : protected boost::beast::http::basic_parser<isRequest> {
 public:
  // Takes bytes from the front and says how many; the rest is to be given again, with more behind it, unless done() or
  // fault().
  std::size_t put(std::string_view bytes);

  bool headerDone() const { return this->is_header_done(); }
  bool done() const { return !fault_ && this->is_done(); }
  const std::optional<HttpFault>& fault() const { return fault_; }
  bool keepAlive() const { return this->keep_alive(); }  // requires headerDone()

 protected:
  using Parser = boost::beast::http::basic_parser<isRequest>;
  using Failure = boost::beast::error_code;
  using View = boost::beast::string_view;
  using Verb = boost::beast::http::verb;

  explicit HttpReader(const HttpLimits& limits);

  // Ends the parsing with this fault.
  void refuse(int status, std::string message, Failure& error);
  // Gets the body as it comes; false: enough.
  virtual bool takeBody(std::string_view bytes) { return body_.append(bytes), true; }

  void on_request_impl(Verb, View, View, int, Failure&) override {}
  void on_response_impl(int, View, int, Failure&) override {}
  void on_header_impl(Failure& error) override;

  std::optional<HttpFault> fault_;
  bool stopped_ = false;  // takeBody() said enough
  HttpHeaders headers_;
  std::string body_;

 private:
  void on_field_impl(boost::beast::http::field, View name, View value, Failure& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Failure&) override {}
  std::size_t on_body_impl(View bytes, Failure& error) override;
  void on_chunk_header_impl(std::uint64_t, View, Failure&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, View bytes, Failure& error) override {
    return on_body_impl(bytes, error);
  }
  void on_finish_impl(Failure&) override {}

  HttpLimits limits_;
  bool started_ = false, wantsMore_ = false;
};

class HttpRequestReader final : public HttpReader<true> {
 public:
  explicit HttpRequestReader(const HttpLimits& limits) : HttpReader(limits) {}

  bool http11() const { return version_ == 11; }  // else 1.0; requires headerDone()
  bool expectsContinue() const;                   // likewise: the client waits for 100 before it sends the body
  HttpRequest head() const;                       // likewise; without a body
  HttpRequest take();                             // requires done(); `remote` is left empty

 private:
  void on_request_impl(Verb, View method, View target, int version, Failure& error) override;
  void on_header_impl(Failure& error) override;

  HttpRequest request_;
  int version_ = 11;
};

class HttpResponseReader final : public HttpReader<false> {
 public:
  using Sink = std::function<bool(std::string_view)>;
  // `toHead`: an answer to HEAD, which has no body. `body`: gets the body as it comes instead of take(); false: enough.
  HttpResponseReader(const HttpLimits& limits, bool toHead, Sink body = {});

  void putEnd();                             // the connection was closed by the other end
  bool stopped() const { return stopped_; }  // `body` said enough
  const HttpResponse& head() const { return response_; }
  HttpResponse take();

 private:
  void on_response_impl(int status, View, int, Failure&) override { response_.status = status; }
  void on_header_impl(Failure& error) override;
  bool takeBody(std::string_view bytes) override { return sink_ ? sink_(bytes) : HttpReader::takeBody(bytes); }

  Sink sink_;
  HttpResponse response_;
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
