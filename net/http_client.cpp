#include "net/http_client.h"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <list>

#include "base/utf8.h"
#include "net/http_exchange.h"
#include "net/tls_context.h"

namespace witan::net {
namespace {

using Done = std::function<void(Result<HttpResponse>)>;
using Chunk = HttpExchange::Chunk;

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
    if (!silent) done(std::move(answer));
  }

  void stream(HttpRequest what, Chunk chunk, Done done) {
    if (!ready.ok() || closed) {
      const Error why = closed ? closedError(shared->endpoint) : ready.error();
      asio::post(io, [done = std::move(done), why] { done(why); });
      return;
    }
    streams.push_back(std::make_shared<HttpExchange>(shared));
    Chunk guarded = [this, chunk = std::move(chunk)](std::string_view bytes) { return !closed && chunk(bytes); };
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
  std::list<std::shared_ptr<HttpExchange>> streams;
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
  impl_->stream(std::move(request), std::move(chunk),
                [endpoint = impl_->shared->endpoint, end = std::move(end)](Result<HttpResponse> answer) {
                  end(streamEnd(endpoint, answer));
                });
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
  client->stream(request, std::move(chunk), [&](Result<HttpResponse> got) {
    answer = std::move(got);
    loop.stop();
  });
  loop.run();
  client->close(true);
  return std::move(*answer);
}

}  // namespace witan::net
