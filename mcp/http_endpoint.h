// HttpEndpoint: the Model Context Protocol over HTTP ("streamable HTTP") for those who hold one token, without input or
// output: a request in, effects and calls out. Host and token are checked before; Origin, headers, sessions and sizes
// here.
//
// A request of the modern era stands alone. A legacy client gets a session with initialize; the session's messages that
// answer nothing go to its open GET. An answer is plain JSON unless something comes before it; then it is a stream.
//
// Not thread-safe. Offer, limit and random source outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/seams.h"
#include "mcp/server.h"

namespace witan::mcp {

struct HttpAsk {
  std::string_view method;
  const std::map<std::string, std::string>& headers;  // names in lower case
  std::string_view body;
};

using ExchangeId = std::uint64_t;  // of a request and its answer; the caller gives it

struct HttpEffect {
  enum class Kind { answer, open, send, close };
  ExchangeId exchange;
  Kind kind;
  int status = 200;    // of an answer
  std::string text{};  // an answer's body, JSON or empty; a message of the stream
  std::map<std::string, std::string> headers{};
};

struct HttpCall {
  ExchangeId exchange;
  Call call;
};

struct HttpTurn {
  std::vector<HttpEffect> effects;
  std::vector<HttpCall> calls;  // finish() makes their answers
  bool subscribes = false;      // there may be more to watch
};

struct HttpLimits {
  ServerLimits server{};
  std::size_t sessions = 64;
  std::size_t exchanges = 128;  // requests without an answer, and streams
  std::int64_t idleMs = 3'600'000;
};

class HttpEndpoint {
 public:
  HttpEndpoint(const Offer& offer, RateLimit& calls, Random& random, HttpLimits limits = {})
      : offer_(offer), calls_(calls), random_(random), limits_(limits) {}

  HttpTurn receive(ExchangeId exchange, const HttpAsk& ask, std::int64_t nowMs);
  // An exchange that has gone gets nothing.
  HttpTurn finish(ExchangeId exchange, const Call& call, const Outcome& outcome);
  HttpTurn note(ExchangeId exchange, std::string message);  // before the answer
  HttpTurn updated(std::string_view uri);
  HttpTurn listChanged(Kind kind);
  void gone(ExchangeId exchange);  // the client has closed it

  std::set<std::string> subscribed() const;
  std::size_t sessions() const { return sessions_.size(); }

 private:
  struct Session {
    Server server;
    std::int64_t usedMs = 0;
    ExchangeId stream = 0;  // its GET; 0: none
  };
  using SessionPtr = std::shared_ptr<Session>;
  struct Exchange {
    SessionPtr session;
    json::value id{};  // of the request
    bool modern = false, streaming = false;
  };

  HttpTurn post(ExchangeId exchange, const HttpAsk& ask, std::int64_t nowMs);
  HttpTurn modernPost(ExchangeId exchange, const HttpAsk& ask, const json::object& message, std::int64_t nowMs);
  HttpTurn legacyPost(ExchangeId exchange, const HttpAsk& ask, const json::object& message, std::int64_t nowMs);
  HttpTurn initialize(ExchangeId exchange, const json::object& message, std::int64_t nowMs);
  HttpTurn openStream(ExchangeId exchange, const HttpAsk& ask, std::int64_t nowMs);
  HttpTurn endSession(ExchangeId exchange, const HttpAsk& ask, std::int64_t nowMs);
  void put(HttpTurn& out, ExchangeId exchange, Turn turn);
  void send(HttpTurn& out, ExchangeId exchange, std::string message);
  HttpTurn toSubscribers(const std::function<std::vector<std::string>(const Server&)>& messages);
  SessionPtr sessionOf(const HttpAsk& ask, std::int64_t nowMs);
  bool makeRoom(std::int64_t nowMs);

  const Offer& offer_;
  RateLimit& calls_;
  Random& random_;
  const HttpLimits limits_;
  std::map<std::string, SessionPtr, std::less<>> sessions_;
  std::map<ExchangeId, Exchange> exchanges_;
};

}  // namespace witan::mcp
