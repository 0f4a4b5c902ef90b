#include "net/http_connection.h"

#include <boost/asio/post.hpp>

#include "base/json.h"
#include "net/loop_impl.h"
#include "net/sockets.h"

namespace witan::net {
namespace {

constexpr std::int64_t kLingerMs = 2'000;
constexpr std::int64_t kHeaderGraceMs = 500;  // after that, a connection whose header is not whole counts as idle
constexpr std::int64_t kBodyGraceMs = 5'000;  // the same of the whole request

HttpResponse faultAnswer(const HttpFault& fault) {
  HttpResponse response;
  response.status = fault.status;
  const json::object error{{"code", fault.status == 503 ? "unavailable" : "invalidInput"}, {"message", fault.message}};
  response.body = json::serialize(json::object{{"error", error}}) + "\n";
  return response;
}

}  // namespace

bool HttpStream::send(std::string_view event, std::string_view data, std::string_view id) {
  std::string bytes;
  const auto field = [&](std::string_view name, std::string_view value) {
    bytes.append(name).append(": ").append(value).append("\n");
  };
  if (!id.empty()) field("id", id.substr(0, id.find_first_of("\r\n")));
  if (!event.empty()) field("event", event.substr(0, event.find_first_of("\r\n")));
  for (std::size_t at = 0; at <= data.size();) {  // a lone CR ends a line too
    const std::size_t end = std::min(data.find_first_of("\r\n", at), data.size());
    field("data", data.substr(at, end - at));
    at = end + (data.substr(end, 2) == "\r\n" ? 2 : 1);
  }
  return write(bytes + "\n");
}

bool HttpStream::write(std::string_view raw) {
  const auto connection = connection_.lock();
  return connection && connection->push(std::string(raw));
}

void HttpStream::close() {
  if (const auto connection = connection_.lock()) connection->closeStream();
}

bool HttpStream::open() const {
  const auto connection = connection_.lock();
  return connection && !connection->ended_ && !connection->streamClosing_;
}

std::size_t HttpStream::waiting() const {
  const auto connection = connection_.lock();
  return connection ? connection->pending_.size() + connection->writingBytes_ : 0;
}

void HttpStream::onGone(std::function<void()> work) {
  const auto connection = connection_.lock();
  if (connection && !connection->ended_) {
    connection->gone_.push_back(std::move(work));
  } else if (connection) {
    asio::post(connection->shared_->io, std::move(work));
  } else {
    work();  // the connection's memory is gone too, and with it the way to the loop
  }
}

HttpReply::~HttpReply() {
  if (!used_) answer(faultAnswer({500, "the request was dropped without an answer"}));
}

void HttpReply::answer(HttpResponse response) {
  const auto connection = connection_.lock();
  if (!std::exchange(used_, true) && connection) connection->answered(std::move(response));
}

std::shared_ptr<HttpStream> HttpReply::stream(HttpResponse head) {
  const auto connection = connection_.lock();
  if (std::exchange(used_, true) || !connection) return std::make_shared<HttpStream>(std::weak_ptr<HttpConnection>());
  connection->asStream_ = true;
  connection->answered(std::move(head));
  return std::make_shared<HttpStream>(connection_);
}

HttpConnection::HttpConnection(std::shared_ptr<Shared> shared, std::uint64_t id, Socket socket)
    : shared_(std::move(shared)),
      id_(id),
      remote_(remoteAddress(socket)),
      stream_(plainStream(std::move(socket))),
      deadline_(shared_->io, [this] { onTime(); }),
      wake_(shared_->io, asio::steady_timer::time_point::max()) {}

void HttpConnection::start() { spawn(shared_->io, serve(shared_from_this())); }

void HttpConnection::turnAway() {
  spawn(shared_->io, refuse(shared_from_this(), {503, "too many connections, try again"}));
}

void HttpConnection::end() {
  if (std::exchange(ended_, true)) return;
  deadline_.off();
  stream_->close();
  wake_.cancel();
  for (auto& work : std::exchange(gone_, {})) asio::post(shared_->io, std::move(work));
  asio::post(shared_->io, [shared = shared_, id = id_] {
    if (shared->onEnd) shared->onEnd(id);
  });
}

bool HttpConnection::idle() const {
  if (idle_) return true;
  const std::int64_t waits = Loop::nowMs() - idleSince_;
  if (waiting_ == Waiting::body) return waits >= kBodyGraceMs;
  return (waiting_ == Waiting::firstByte || waiting_ == Waiting::header) && waits >= kHeaderGraceMs;
}

void HttpConnection::finish() {
  keepAlive_ = false;
  if (idle_ || waiting_ == Waiting::firstByte) end();
  if (asStream_) closeStream();
}

asio::awaitable<void> HttpConnection::refuse(Self, HttpFault fault) {
  HttpResponse answer = faultAnswer(fault);
  co_await refuseWith(std::move(answer));
}

// A temporary with a destructor inside a co_await expression is destroyed twice by g++ 12 when it is an aggregate; so
// what is awaited here gets named things only.
asio::awaitable<void> HttpConnection::serve(Self) {
  keepAlive_ = true;
  while (keepAlive_ && !ended_ && !shared_->closing) {
    std::optional<HttpRequest> request = co_await readRequest();
    if (!request || ended_) break;
    const bool written = co_await answerOne(std::move(*request));
    if (!written) break;
  }
  if (!ended_ && waiting_ != Waiting::lingering) co_await lingerAndEnd();
  end();
}

// nullopt: the connection ended, or was told why there is no answer.
asio::awaitable<std::optional<HttpRequest>> HttpConnection::readRequest() {
  const HttpServerOptions& options = shared_->options;
  HttpRequestReader reader({options.maxHeaderBytes, options.maxBodyBytes});
  idleSince_ = Loop::nowMs();
  if (input_.empty()) {
    wait(Waiting::firstByte, served_ ? options.idleTimeoutMs : options.headerTimeoutMs);
    idle_ = served_;
  } else {
    wait(Waiting::header, options.headerTimeoutMs);
  }
  char buffer[kReadBytes];
  while (true) {
    if (!input_.empty()) input_.erase(0, reader.put(input_));
    if (reader.fault()) {
      HttpResponse answer = faultAnswer(*reader.fault());
      co_await refuseWith(std::move(answer));
      co_return std::nullopt;
    }
    if (reader.done()) break;
    if (reader.headerDone() && waiting_ != Waiting::body) {
      if (options.refuseBody) {
        HttpRequest head = reader.head();
        head.remote = remote_;
        std::optional<HttpResponse> refusal = options.refuseBody(head);
        if (refusal) {
          HttpResponse answer = *std::move(refusal);
          co_await refuseWith(std::move(answer));
          co_return std::nullopt;
        }
      }
      if (reader.expectsContinue() && input_.empty()) {
        std::string goOn = "HTTP/1.1 100 Continue\r\n\r\n";
        const bool written = co_await writeOut(std::move(goOn));
        if (!written) co_return std::nullopt;
      }
      wait(Waiting::body, options.bodyTimeoutMs);
    }
    const IoResult result = co_await stream_->read(buffer);
    if (timedOut_ && !ended_) {
      HttpResponse slow = faultAnswer({408, "the request came too slowly"});
      co_await refuseWith(std::move(slow));
    }
    if (ended_ || timedOut_ || result.error) co_return std::nullopt;
    if (waiting_ == Waiting::firstByte) wait(Waiting::header, options.headerTimeoutMs);
    idle_ = false;
    input_.append(buffer, result.bytes);
  }
  deadline_.off();
  waiting_ = Waiting::nothing;
  idle_ = false;
  served_ = true;
  http11_ = reader.http11();
  keepAlive_ = reader.keepAlive() && !shared_->closing;
  HttpRequest request = reader.take();
  request.remote = remote_;
  co_return request;
}

asio::awaitable<void> HttpConnection::refuseWith(HttpResponse response) {
  keepAlive_ = false;
  std::string bytes = responseHead(response, false, response.body.size(), false) + response.body;
  const bool written = co_await writeOut(std::move(bytes));
  if (written) co_await lingerAndEnd();
  end();
}

asio::awaitable<void> HttpConnection::lingerAndEnd() {
  wait(Waiting::lingering, kLingerMs);
  co_await stream_->linger();
  end();
}

asio::awaitable<bool> HttpConnection::writeOut(std::string bytes) {
  std::string_view rest = bytes;
  while (!rest.empty() && !ended_) {
    wait(Waiting::writing, shared_->options.writeTimeoutMs);
    const IoResult result = co_await stream_->write(rest);
    if (result.error) end();
    rest.remove_prefix(result.bytes);
    writingBytes_ = rest.size();
  }
  deadline_.off();
  waiting_ = Waiting::nothing;
  co_return !ended_;
}

asio::awaitable<bool> HttpConnection::answerOne(HttpRequest request) {
  head_ = request.method == "HEAD";
  answer_.reset();
  asStream_ = false;
  {
    const auto reply = std::make_shared<HttpReply>(weak_from_this());
    const HttpHandler handler = shared_->handler;
    handler(request, reply);
  }
  while (!answer_ && !ended_) co_await wake_.async_wait(kAwait);
  if (ended_) co_return false;
  HttpResponse response = std::move(*answer_);
  answer_.reset();
  if (asStream_) {
    co_await streamOut(std::move(response), !head_);
    co_return false;
  }
  if (shared_->closing) keepAlive_ = false;
  const bool bodiless = head_ || response.status == 204 || response.status == 304;
  std::string bytes = responseHead(response, keepAlive_, response.body.size(), false);
  if (!bodiless) bytes += response.body;
  const bool written = co_await writeOut(std::move(bytes));
  co_return written;
}

void HttpConnection::answered(HttpResponse response) {
  if (ended_ || answer_) return;
  if (asStream_ && response.contentType == "application/json") response.contentType = "text/event-stream";
  events_ = response.contentType.starts_with("text/event-stream");
  answer_ = std::move(response);
  wake_.cancel();
}

// The head, then whatever is pushed, until closeStream() or the client has gone. Never again a request after it.
asio::awaitable<void> HttpConnection::streamOut(HttpResponse head, bool withBody) {
  chunked_ = withBody && http11_;
  if (events_) head.headers.emplace("cache-control", "no-store");
  std::string headBytes = responseHead(head, false, std::nullopt, chunked_);
  const bool written = co_await writeOut(std::move(headBytes));
  if (!written) co_return;
  spawn(shared_->io, watchForEnd(shared_from_this()));
  while (withBody && !ended_) {
    if (!pending_.empty()) {
      std::string bytes = chunked_ ? chunkOf(pending_) : pending_;
      pending_.clear();
      writingBytes_ = bytes.size();
      const bool sent = co_await writeOut(std::move(bytes));
      if (!sent) co_return;
    } else if (streamClosing_) {
      std::string last = chunked_ ? "0\r\n\r\n" : "";
      co_await writeOut(std::move(last));
      break;
    } else {
      wait(Waiting::streaming, shared_->options.streamHeartbeatMs);
      co_await wake_.async_wait(kAwait);
    }
  }
  if (ended_) co_return;
  // The second coroutine reads; it ends the connection when the client has closed too, or the time is up.
  ErrorCodeOf ignored;
  stream_->socket().shutdown(Socket::shutdown_send, ignored);
  wait(Waiting::lingering, kLingerMs);
}

asio::awaitable<void> HttpConnection::watchForEnd(Self) {
  char buffer[4096];
  while (!ended_) {
    const IoResult result = co_await stream_->read(buffer);
    if (result.error) end();
  }
}

bool HttpConnection::push(std::string bytes) {
  if (ended_ || streamClosing_) return false;
  if (bytes.empty()) return true;
  if (pending_.size() + writingBytes_ + bytes.size() > shared_->options.maxStreamBytes) {
    end();  // a slow reader
    return false;
  }
  pending_ += bytes;
  wake_.cancel();
  return true;
}

void HttpConnection::closeStream() {
  streamClosing_ = true;
  wake_.cancel();
}

void HttpConnection::wait(Waiting what, std::int64_t ms) {
  waiting_ = what;
  deadline_.within(ms);
}

void HttpConnection::onTime() {
  switch (waiting_) {
    case Waiting::header:
    case Waiting::body: {  // the reading ends, the socket stays for the answer
      timedOut_ = true;
      ErrorCodeOf ignored;
      stream_->socket().cancel(ignored);
      return;
    }
    case Waiting::streaming:
      if (events_) push(": still here\n\n");
      return;
    case Waiting::nothing: return;
    case Waiting::firstByte:
    case Waiting::writing:
    case Waiting::lingering: return end();
  }
}

}  // namespace witan::net
