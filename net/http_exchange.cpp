#include "net/http_exchange.h"

#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include "base/utf8.h"

namespace witan::net {
namespace {

constexpr std::size_t kMostErrorBody = 64 * 1024;

// What the server asks for in Host (RFC 9110 section 7.2).
std::string hostOf(const Address& address) { return address.host.empty() ? "localhost" : toText(address); }

}  // namespace

HttpExchange::HttpExchange(std::shared_ptr<const Shared> shared)
    : shared_(std::move(shared)),
      deadline_(shared_->io, [this] { cancel("no answer within " + std::to_string(waitedMs_) + " ms"); }) {}

Error HttpExchange::failure(const std::string& what) const {
  return {ErrorCode::unavailable, shared_->endpoint.address + ": " + (cancelled_.empty() ? what : cancelled_), ""};
}

void HttpExchange::cancel(std::string why) {
  if (cancelled_.empty()) cancelled_ = std::move(why);
  if (connecting_) connecting_->cancel();
  if (stream_) stream_->close();
}

void HttpExchange::dropConnection() {
  if (stream_) stream_->close();
  stream_.reset();
  input_.clear();
}

// A kept connection on which the server has said or closed something is of no use for the next request.
bool HttpExchange::stale() {
  char byte;
  const auto got = ::recv(stream_->socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

asio::awaitable<Status> HttpExchange::open() {
  connecting_.emplace(shared_->io);
  auto socket = co_await connecting_->run(shared_->address);
  if (!cancelled_.empty()) co_return Status(failure(""));
  if (!socket.ok()) co_return Status(socket.error());
  if (!shared_->context) {
    stream_ = plainStream(std::move(*socket));
    co_return okStatus();
  }
  auto tls = tlsStream(std::move(*socket), shared_->context);
  WITAN_CHECK(tls->expectHost(shared_->address.host), "a host can be expected");
  TlsStream* const shaking = tls.get();
  stream_ = std::move(tls);
  const ErrorCodeOf error = co_await shaking->handshake(false);
  if (!error) co_return okStatus();
  Error failed = failure(wordsOf(error));
  if (cancelled_.empty() && error.category() == asio::error::get_ssl_category()) failed.code = ErrorCode::unauthorised;
  dropConnection();
  co_return Status(std::move(failed));
}

asio::awaitable<Result<HttpResponse>> HttpExchange::run(const HttpRequest& request, Chunk chunk) {
  cancelled_.clear();
  if (stream_ && stale()) dropConnection();
  if (!stream_) {
    deadline_.within(waitedMs_ = options().connectTimeoutMs);
    Status opened = co_await open();
    deadline_.off();
    if (!opened.ok()) co_return Result<HttpResponse>(opened.error());
  }
  deadline_.within(waitedMs_ = options().timeoutMs);
  const std::string bytes = requestBytes(request, hostOf(shared_->address));
  const ErrorCodeOf unwritten = co_await stream_->writeAll(bytes);
  // A server that refuses a request early may answer before it has read all: the answer counts.
  Result<HttpResponse> answer = co_await readAnswer(request, chunk);
  deadline_.off();
  if (unwritten || !answer.ok()) dropConnection();
  co_return answer;
}

asio::awaitable<Result<HttpResponse>> HttpExchange::readAnswer(const HttpRequest& request, const Chunk& chunk) {
  std::string errorBody;
  HttpResponseReader* current = nullptr;
  const auto sink = [&](std::string_view bytes) {
    if (current->head().status / 100 == 2) return chunk(bytes);
    if (errorBody.size() < kMostErrorBody) errorBody += clip(bytes, kMostErrorBody - errorBody.size());
    return true;
  };
  while (true) {
    HttpResponseReader reader({options().maxHeaderBytes, options().maxBodyBytes}, request.method == "HEAD",
                              chunk ? Chunk(sink) : Chunk());
    current = &reader;
    Status whole = co_await readMessage(reader, chunk != nullptr);
    if (!whole.ok()) co_return Result<HttpResponse>(whole.error());
    if (!reader.stopped() && reader.head().status / 100 == 1) continue;  // 100 Continue and its like
    const bool kept = !reader.stopped() && reader.keepAlive();
    HttpResponse response = reader.take();
    if (chunk) response.body = std::move(errorBody);
    if (!kept) dropConnection();
    co_return Result<HttpResponse>(std::move(response));
  }
}

// Until the message is whole, or its reader has had enough.
asio::awaitable<Status> HttpExchange::readMessage(HttpResponseReader& reader, bool streams) {
  std::string buffer(kReadBytes, '\0');
  while (true) {
    if (!input_.empty()) input_.erase(0, reader.put(input_));
    if (reader.fault()) {
      Error failed = failure("no proper answer: " + reader.fault()->message);
      if (cancelled_.empty() && reader.fault()->status != 502) failed.code = ErrorCode::invalidInput;
      co_return Status(std::move(failed));
    }
    if (reader.done() || reader.stopped()) co_return okStatus();
    if (streams && reader.headerDone()) {
      deadline_.off();
      if (options().streamIdleMs > 0) deadline_.within(waitedMs_ = options().streamIdleMs);
    }
    const IoResult result = co_await stream_->read(buffer);
    if (!cancelled_.empty()) co_return Status(failure(""));
    if (result.error == asio::error::eof && reader.headerDone()) {
      reader.putEnd();
      continue;
    }
    if (result.error) co_return Status(failure(wordsOf(result.error)));
    input_.append(buffer, 0, result.bytes);
  }
}

}  // namespace witan::net
