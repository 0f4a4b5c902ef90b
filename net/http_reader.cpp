#include "net/http_reader.h"

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <locale>

#include "base/check.h"

namespace witan::net {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kMostHeaders = 100;
constexpr std::size_t kLastChunkBytes = 5;  // "0\r\n\r\n"

HttpFault faultOf(const boost::beast::error_code& error, const HttpLimits& limits) {
  if (error == http::error::header_limit)
    return {431, "a header of more than " + std::to_string(limits.maxHeaderBytes) + " bytes"};
  if (error == http::error::body_limit)
    return {413, "a body of more than " + std::to_string(limits.maxBodyBytes) + " bytes"};
  return {400, "no HTTP/1.1 (" + error.message() + ")"};
}

}  // namespace

template <bool isRequest>
HttpReader<isRequest>::HttpReader(const HttpLimits& limits) : limits_(limits) {
  this->header_limit(static_cast<std::uint32_t>(limits.maxHeaderBytes));
  this->body_limit(static_cast<std::uint64_t>(limits.maxBodyBytes));
  this->eager(true);
}

template <bool isRequest>
std::size_t HttpReader<isRequest>::put(std::string_view bytes) {
  std::size_t skipped = 0;
  if (!started_)  // RFC 9112 section 2.2: empty lines before a message are passed over
    skipped = std::min(bytes.find_first_not_of("\r\n"), bytes.size());
  bytes.remove_prefix(skipped);
  if (bytes.empty() || fault_ || this->is_done()) return skipped;
  // Beast asserts that a last chunk that it has seen the beginning of comes back with five bytes at least. Every
  // chunked message has as many left at that place.
  if (wantsMore_ && this->chunked() && headerDone() && bytes.size() < kLastChunkBytes) return skipped;
  started_ = true;
  Failure error;
  const std::size_t taken = Parser::put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  wantsMore_ = error == http::error::need_more;
  if (wantsMore_) {
    // A chunk's header, or trailers, that never end.
    if (bytes.size() - taken > limits_.maxHeaderBytes) fault_ = faultOf(http::error::header_limit, limits_);
  } else if (error && !fault_ && !stopped_) {
    fault_ = faultOf(error, limits_);
  }
  return skipped + taken;
}

template <bool isRequest>
void HttpReader<isRequest>::refuse(int status, std::string message, Failure& error) {
  fault_ = HttpFault{status, std::move(message)};
  error = http::error::bad_field;
}

template <bool isRequest>
void HttpReader<isRequest>::on_field_impl(http::field, View name, View value, Failure& error) {
  if (headerDone()) return;  // a trailer changes nothing
  if (value.find_first_of(View("\r\n\0", 3)) != View::npos)
    return refuse(400, "a header with a line break in its value", error);
  if (headers_.size() >= kMostHeaders) return refuse(431, "more than 100 headers", error);
  const auto [at, fresh] =
      headers_.emplace(boost::to_lower_copy(std::string(name), std::locale::classic()), std::string(value));
  if (fresh) return;
  if (at->first == "host" || at->first == "content-length" || at->first == "transfer-encoding")
    return refuse(400, "the header " + at->first + " comes twice", error);
  at->second.append(", ").append(value.data(), value.size());
}

template <bool isRequest>
void HttpReader<isRequest>::on_header_impl(Failure& error) {
  const auto coding = headers_.find("transfer-encoding");
  if (coding != headers_.end() && !boost::beast::iequals(coding->second, "chunked"))
    return refuse(501, "no transfer coding but chunked is known", error);
  const auto length = headers_.find("content-length");
  if (length != headers_.end() && length->second.find_first_not_of("0123456789") != std::string::npos)
    return refuse(400, "a Content-Length that is no number", error);
}

template <bool isRequest>
std::size_t HttpReader<isRequest>::on_body_impl(View bytes, Failure& error) {
  if (!takeBody({bytes.data(), bytes.size()})) {
    stopped_ = true;
    error = http::error::end_of_stream;
  }
  return bytes.size();
}

template class HttpReader<true>;
template class HttpReader<false>;

void HttpRequestReader::on_request_impl(Verb, View method, View target, int version, Failure& error) {
  version_ = version;
  request_.method.assign(method.data(), method.size());
  request_.target.assign(target.data(), target.size());
  if (version != 10 && version != 11) refuse(400, "neither HTTP/1.1 nor HTTP/1.0", error);
}

void HttpRequestReader::on_header_impl(Failure& error) {
  HttpReader::on_header_impl(error);
  if (error) return;
  if (request_.method == "CONNECT") return refuse(501, "CONNECT is not served", error);
  if (http11() && !headers_.contains("host")) return refuse(400, "HTTP/1.1 without Host", error);
  if (auto bad = splitTarget(request_)) refuse(bad->status, bad->message, error);
}

bool HttpRequestReader::expectsContinue() const {
  const auto expect = headers_.find("expect");
  return expect != headers_.end() && boost::beast::iequals(expect->second, "100-continue");
}

HttpRequest HttpRequestReader::head() const {
  HttpRequest head = request_;
  head.headers = headers_;
  return head;
}

HttpRequest HttpRequestReader::take() {
  WITAN_CHECK(done(), "the request is whole");
  request_.headers = std::move(headers_);
  request_.body = std::move(body_);
  return std::move(request_);
}

HttpResponseReader::HttpResponseReader(const HttpLimits& limits, bool toHead, Sink body)
    : HttpReader(limits), sink_(std::move(body)) {
  if (toHead) this->skip(true);
  if (sink_) this->body_limit(boost::none);  // given away as it comes
}

void HttpResponseReader::on_header_impl(Failure& error) {
  HttpReader::on_header_impl(error);
  response_.headers = headers_;
  const auto type = headers_.find("content-type");
  response_.contentType = type == headers_.end() ? "" : type->second;
}

void HttpResponseReader::putEnd() {
  Failure error;
  if (!is_done()) put_eof(error);
  if (!fault_ && (error || !is_done()))
    fault_ = HttpFault{502, "the connection was closed before the end of the answer"};
}

HttpResponse HttpResponseReader::take() {
  response_.body = std::move(body_);
  return std::move(response_);
}

}  // namespace witan::net
