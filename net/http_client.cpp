#include "net/http_client.h"

#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <list>
#include <optional>

#include "base/utf8.h"
#include "net/byte_stream.h"
#include "net/http_reader.h"
#include "net/sockets.h"
#include "net/tls_context.h"

namespace witan::net {
namespace {

using Done = std::function<void(Result<HttpResponse>)>;
using Chunk = std::function<bool(const HttpResponse& head, std::string_view)>;

constexpr std::size_t kMostErrorBody = 64 * 1024;

// What the server asks for in Host (RFC 9110 section 7.2).
std::string hostOf(const Address& address) { return address.host.empty() ? "localhost" : toText(address); }

Error closedError(const HttpEndpoint& endpoint) {
  return {ErrorCode::unavailable, endpoint.address + ": the client was closed", ""};
}

// A stream wants a 2xx.
Status streamEnd(const HttpEndpoint& endpoint, const Result<HttpResponse>& answer) {
  if (!answer.ok()) return answer.error();
  if (answer->status / 100 == 2) return okStatus();
  return Error{answer->status == 401 || answer->status == 403 ? ErrorCode::unauthorised : ErrorCode::unavailable,
               endpoint.address + ": " + std::to_string(answer->status) + " " +
                   std::string(httpReason(answer->status)) + ": " + std::string(clip(answer->body, 512)),
               ""};
}

// One connection: requests out, responses in, one at a time; it connects when it must and keeps what it has. Must live
// until run() has ended; cancel() makes it end.
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
    if (!opened.ok()) {
      Error why = opened.error();
      if (options().marksUnsent) why.hint = kNothingSent;
      co_return Result<HttpResponse>(std::move(why));
    }
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
    if (current->head().status / 100 == 2) return chunk(current->head(), bytes);
    if (errorBody.size() < kMostErrorBody) errorBody += clip(bytes, kMostErrorBody - errorBody.size());
    return true;
  };
  while (true) {
    HttpResponseReader reader({options().maxHeaderBytes, options().maxBodyBytes}, request.method == "HEAD",
                              chunk ? HttpResponseReader::Sink(sink) : HttpResponseReader::Sink());
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

}  // namespace

struct HttpClient::Impl : std::enable_shared_from_this<HttpClient::Impl> {
  struct Waiting {
    HttpRequest request;
    Done done;
  };
  struct Slot {
    explicit Slot(std::shared_ptr<const HttpExchange::Shared> shared) : exchange(std::move(shared)) {}
    HttpExchange exchange;
    bool busy = false;
  };

  Impl(Loop& loop, HttpEndpoint endpoint, HttpClientOptions options) : io(loop.impl().io) {
    auto made =
        std::make_shared<HttpExchange::Shared>(HttpExchange::Shared{io, std::move(endpoint), options, {}, nullptr});
    ready = prepare(*made);
    shared = std::move(made);
  }

  static Status prepare(HttpExchange::Shared& made) {
    WITAN_TRY(address, parseAddress(made.endpoint.address));
    made.address = address;
    if (!made.endpoint.tls) return okStatus();
    if (address.host.empty()) return invalid("TLS over a Unix socket is not spoken here");
    WITAN_TRY(context, clientContext(made.endpoint));
    made.context = context;
    return okStatus();
  }

  void request(HttpRequest what, Done done) {
    if (!ready.ok() || closed || waiting.size() + active >= shared->options.maxQueued) {
      Error why = closed ? closedError(shared->endpoint)
                         : Error{ErrorCode::unavailable, shared->endpoint.address + ": too many requests wait", ""};
      if (!ready.ok()) why = ready.error();
      asio::post(io, [done = std::move(done), why] { done(why); });
      return;
    }
    waiting.push_back({std::move(what), std::move(done)});
    for (const auto& slot : slots)
      if (!slot->busy) return startWork(slot);
    if (slots.size() >= std::max<std::size_t>(1, shared->options.connections)) return;
    slots.push_back(std::make_shared<Slot>(shared));
    startWork(slots.back());
  }

  void startWork(const std::shared_ptr<Slot>& slot) {
    slot->busy = true;
    spawn(io, work(shared_from_this(), slot));
  }

  asio::awaitable<void> work(std::shared_ptr<Impl>, std::shared_ptr<Slot> slot) {
    co_await asio::post(io, asio::use_awaitable);
    while (!waiting.empty() && !closed) {
      Waiting next = std::move(waiting.front());
      waiting.pop_front();
      ++active;
      Chunk none;
      Result<HttpResponse> answer = co_await slot->exchange.run(next.request, std::move(none));
      --active;
      if (!silent) next.done(std::move(answer));
    }
    slot->busy = false;
  }

  asio::awaitable<void> runStream(std::shared_ptr<Impl>, std::shared_ptr<HttpExchange> exchange, HttpRequest what,
                                  Chunk chunk, Done done) {
    co_await asio::post(io, asio::use_awaitable);
    Result<HttpResponse> answer = closedError(shared->endpoint);
    if (!closed) answer = co_await exchange->run(what, std::move(chunk));
    streams.remove(exchange);
    if (idle.size() < shared->options.connections) idle.push_back(exchange);
    if (!silent) done(std::move(answer));
  }

  void stream(HttpRequest what, Chunk chunk, Done done) {
    if (!ready.ok() || closed) {
      const Error why = closed ? closedError(shared->endpoint) : ready.error();
      asio::post(io, [done = std::move(done), why] { done(why); });
      return;
    }
    if (idle.empty()) idle.push_back(std::make_shared<HttpExchange>(shared));
    streams.splice(streams.end(), idle, std::prev(idle.end()));
    Chunk guarded = [this, chunk = std::move(chunk)](const HttpResponse& head, std::string_view bytes) {
      return !closed && chunk(head, bytes);
    };
    spawn(io, runStream(shared_from_this(), streams.back(), std::move(what), std::move(guarded), std::move(done)));
  }

  void close(bool quietly) {
    closed = true;
    silent = silent || quietly;
    for (const auto& slot : slots) slot->exchange.cancel("the client was closed");
    for (const auto& exchange : streams) exchange->cancel("the client was closed");
    if (!silent)
      for (Waiting& one : waiting)
        asio::post(io, [done = std::move(one.done), why = closedError(shared->endpoint)] { done(why); });
    waiting.clear();
  }

  asio::io_context& io;
  std::shared_ptr<const HttpExchange::Shared> shared;
  Status ready = okStatus();
  std::deque<Waiting> waiting;
  std::size_t active = 0;
  std::list<std::shared_ptr<Slot>> slots;
  std::list<std::shared_ptr<HttpExchange>> streams, idle;
  bool closed = false, silent = false;
};

HttpClient::HttpClient(Loop& loop, HttpEndpoint endpoint, HttpClientOptions options)
    : impl_(std::make_shared<Impl>(loop, std::move(endpoint), options)) {}

HttpClient::~HttpClient() { impl_->close(true); }

void HttpClient::request(HttpRequest request, std::function<void(Result<HttpResponse>)> done) {
  impl_->request(std::move(request), std::move(done));
}

void HttpClient::stream(HttpRequest request, std::function<bool(std::string_view chunk)> chunk,
                        std::function<void(Status)> end) {
  impl_->stream(
      std::move(request),
      [chunk = std::move(chunk)](const HttpResponse&, std::string_view bytes) { return chunk(bytes); },
      [endpoint = impl_->shared->endpoint, end = std::move(end)](Result<HttpResponse> answer) {
        end(streamEnd(endpoint, answer));
      });
}

void HttpClient::stream(HttpRequest request, Piece piece, std::function<void(Result<HttpResponse>)> done) {
  impl_->stream(std::move(request), std::move(piece), std::move(done));
}

void HttpClient::close() { impl_->close(false); }

Result<HttpResponse> httpCall(const HttpEndpoint& endpoint, const HttpRequest& request, std::int64_t timeoutMs) {
  Loop loop;
  HttpClientOptions options;
  options.timeoutMs = options.connectTimeoutMs = timeoutMs;
  HttpClient client(loop, endpoint, options);
  std::optional<Result<HttpResponse>> answer;
  client.request(request, [&](Result<HttpResponse> got) { answer = std::move(got); });
  if (!loop.runUntil([&] { return answer.has_value(); }, timeoutMs + 1'000))
    return Error{ErrorCode::unavailable, endpoint.address + ": no answer within " + std::to_string(timeoutMs) + " ms",
                 ""};
  return std::move(*answer);
}

Result<HttpResponse> httpStream(const HttpEndpoint& endpoint, const HttpRequest& request,
                                std::function<bool(std::string_view chunk)> chunk) {
  Loop loop;
  HttpClientOptions options;
  options.streamIdleMs = 0;
  const auto client = std::make_shared<HttpClient::Impl>(loop, endpoint, options);
  std::optional<Result<HttpResponse>> answer;
  const auto pass = [&chunk](const HttpResponse&, std::string_view bytes) { return chunk(bytes); };
  client->stream(request, pass, [&](Result<HttpResponse> got) {
    answer = std::move(got);
    loop.stop();
  });
  loop.run();
  client->close(true);
  return std::move(*answer);
}

}  // namespace witan::net
