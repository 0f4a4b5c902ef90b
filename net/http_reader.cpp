// The one unit that includes Beast.
#include "net/http_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/check.h"

namespace witan::net {
namespace {

namespace http = boost::beast::http;
using Failure = boost::beast::error_code;
using View = boost::beast::string_view;

constexpr std::size_t kMostHeaders = 100;
constexpr std::size_t kLastChunkBytes = 5;  // "0\r\n\r\n"

std::string lower(View text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

HttpFault faultOf(const Failure& error, const HttpLimits& limits) {
  if (error == http::error::header_limit)
    return {431, "a header of more than " + std::to_string(limits.maxHeaderBytes) + " bytes"};
  if (error == http::error::body_limit)
    return {413, "a body of more than " + std::to_string(limits.maxBodyBytes) + " bytes"};
  return {400, "no HTTP/1.1 (" + error.message() + ")"};
}

// What requests and responses have in common. The messages' own parts are the derived classes'.
template <bool isRequest>
class Common : public http::basic_parser<isRequest> {
 public:
  using Base = http::basic_parser<isRequest>;

  explicit Common(const HttpLimits& limits) : limits_(limits) {
    this->header_limit(static_cast<std::uint32_t>(limits.maxHeaderBytes));
    this->body_limit(static_cast<std::uint64_t>(limits.maxBodyBytes));
    this->eager(true);
  }

  std::size_t feed(std::string_view bytes) {
    std::size_t skipped = 0;
    if (!started_)  // RFC 9112 section 2.2: empty lines before a message are passed over
      while (skipped < bytes.size() && (bytes[skipped] == '\r' || bytes[skipped] == '\n')) ++skipped;
    bytes.remove_prefix(skipped);
    if (bytes.empty() || fault || this->is_done()) return skipped;
    // Beast asserts that a last chunk that it has seen the beginning of comes back with five bytes at least. Every
    // chunked message has as many left at that place.
    if (wantsMore_ && this->chunked() && this->is_header_done() && bytes.size() < kLastChunkBytes) return skipped;
    started_ = true;
    Failure error;
    const std::size_t taken = this->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    wantsMore_ = error == http::error::need_more;
    if (wantsMore_) {
      // A chunk's header, or trailers, that never end.
      if (bytes.size() - taken > limits_.maxHeaderBytes) fault = faultOf(http::error::header_limit, limits_);
    } else if (error && !fault && !stopped) {
      fault = faultOf(error, limits_);
    }
    return skipped + taken;
  }

  std::optional<HttpFault> fault;
  bool stopped = false;
  HttpHeaders headers;
  std::string body;

 protected:
  // Ends the parsing with this fault.
  void refuse(int status, std::string message, Failure& error) {
    fault = HttpFault{status, std::move(message)};
    error = http::error::bad_field;
  }
  virtual bool takeBody(View bytes) {
    body.append(bytes.data(), bytes.size());
    return true;
  }

  void on_field_impl(http::field, View name, View value, Failure& error) override {
    if (this->is_header_done()) return;  // a trailer changes nothing
    if (value.find('\r') != View::npos || value.find('\n') != View::npos || value.find('\0') != View::npos)
      return refuse(400, "a header with a line break in its value", error);
    if (headers.size() >= kMostHeaders) return refuse(431, "more than 100 headers", error);
    const auto [at, fresh] = headers.emplace(lower(name), std::string(value));
    if (fresh) return;
    if (at->first == "host" || at->first == "content-length" || at->first == "transfer-encoding")
      return refuse(400, "the header " + at->first + " comes twice", error);
    at->second.append(", ").append(value.data(), value.size());
  }
  void on_header_impl(Failure& error) override {
    const auto coding = headers.find("transfer-encoding");
    if (coding != headers.end() && !boost::beast::iequals(coding->second, "chunked"))
      return refuse(501, "no transfer coding but chunked is known", error);
    const auto length = headers.find("content-length");
    if (length != headers.end() && length->second.find_first_not_of("0123456789") != std::string::npos)
      return refuse(400, "a Content-Length that is no number", error);
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Failure&) override {}
  std::size_t on_body_impl(View bytes, Failure& error) override { return given(bytes, error); }
  void on_chunk_header_impl(std::uint64_t, View, Failure&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, View bytes, Failure& error) override { return given(bytes, error); }
  void on_finish_impl(Failure&) override {}

 private:
  std::size_t given(View bytes, Failure& error) {
    if (!takeBody(bytes)) {
      stopped = true;
      error = http::error::end_of_stream;
    }
    return bytes.size();
  }

  HttpLimits limits_;
  bool started_ = false;
  bool wantsMore_ = false;
};

}  // namespace

class HttpRequestReader::Parser final : public Common<true> {
 public:
  using Common::Common;
  HttpRequest request;
  int version = 11;

 private:
  void on_request_impl(http::verb, View method, View target, int spoken, Failure& error) override {
    version = spoken;
    request.method.assign(method.data(), method.size());
    request.target.assign(target.data(), target.size());
    if (version != 10 && version != 11) refuse(400, "neither HTTP/1.1 nor HTTP/1.0", error);
  }
  void on_response_impl(int, View, int, Failure&) override {}
  void on_header_impl(Failure& error) override {
    Common::on_header_impl(error);
    if (error) return;
    if (request.method == "CONNECT") return refuse(501, "CONNECT is not served", error);
    if (version == 11 && headers.count("host") == 0) return refuse(400, "HTTP/1.1 without Host", error);
    if (auto bad = splitTarget(request)) refuse(bad->status, bad->message, error);
  }
};

HttpRequestReader::HttpRequestReader(const HttpLimits& limits) : parser_(std::make_unique<Parser>(limits)) {}
HttpRequestReader::~HttpRequestReader() = default;
std::size_t HttpRequestReader::put(std::string_view bytes) { return parser_->feed(bytes); }
bool HttpRequestReader::headerDone() const { return parser_->is_header_done(); }
bool HttpRequestReader::done() const { return !parser_->fault && parser_->is_done(); }
const std::optional<HttpFault>& HttpRequestReader::fault() const { return parser_->fault; }
bool HttpRequestReader::keepAlive() const { return parser_->keep_alive(); }

bool HttpRequestReader::http11() const { return parser_->version == 11; }

bool HttpRequestReader::expectsContinue() const {
  const auto expect = parser_->headers.find("expect");
  return expect != parser_->headers.end() && boost::beast::iequals(expect->second, "100-continue");
}

HttpRequest HttpRequestReader::take() {
  WITAN_CHECK(done(), "the request is whole");
  parser_->request.headers = std::move(parser_->headers);
  parser_->request.body = std::move(parser_->body);
  return std::move(parser_->request);
}

class HttpResponseReader::Parser final : public Common<false> {
 public:
  Parser(const HttpLimits& limits, bool toHead, std::function<bool(std::string_view)> sink)
      : Common(limits), sink_(std::move(sink)) {
    if (toHead) skip(true);
    if (sink_) body_limit(boost::none);  // given away as it comes
  }
  HttpResponse response;

 private:
  void on_request_impl(http::verb, View, View, int, Failure&) override {}
  void on_response_impl(int code, View, int, Failure&) override { response.status = code; }
  void on_header_impl(Failure& error) override {
    Common::on_header_impl(error);
    response.headers = headers;
    const auto type = headers.find("content-type");
    response.contentType = type == headers.end() ? "" : type->second;
  }
  bool takeBody(View bytes) override {
    if (sink_) return sink_({bytes.data(), bytes.size()});
    return Common::takeBody(bytes);
  }

  std::function<bool(std::string_view)> sink_;
};

HttpResponseReader::HttpResponseReader(const HttpLimits& limits, bool toHead,
                                       std::function<bool(std::string_view)> body)
    : parser_(std::make_unique<Parser>(limits, toHead, std::move(body))) {}
HttpResponseReader::~HttpResponseReader() = default;
std::size_t HttpResponseReader::put(std::string_view bytes) { return parser_->feed(bytes); }

void HttpResponseReader::putEnd() {
  Failure error;
  if (!parser_->is_done()) parser_->put_eof(error);
  if (!parser_->fault && (error || !parser_->is_done()))
    parser_->fault = HttpFault{502, "the connection was closed before the end of the answer"};
}

bool HttpResponseReader::headerDone() const { return parser_->is_header_done(); }
bool HttpResponseReader::done() const { return !parser_->fault && parser_->is_done(); }
const std::optional<HttpFault>& HttpResponseReader::fault() const { return parser_->fault; }
bool HttpResponseReader::stopped() const { return parser_->stopped; }
bool HttpResponseReader::keepAlive() const { return parser_->keep_alive(); }
const HttpResponse& HttpResponseReader::head() const { return parser_->response; }

HttpResponse HttpResponseReader::take() {
  parser_->response.body = std::move(parser_->body);
  return std::move(parser_->response);
}

}  // namespace witan::net
