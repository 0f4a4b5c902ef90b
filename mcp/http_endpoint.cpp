#include "mcp/http_endpoint.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"

namespace witan::mcp {

namespace {

constexpr const char* kSessionHeader = "mcp-session-id";
constexpr const char* kVersionHeader = "mcp-protocol-version";

std::string_view headerIn(const HttpAsk& ask, const char* name) {
  const auto at = ask.headers.find(name);
  return at == ask.headers.end() ? std::string_view() : std::string_view(at->second);
}

// Nothing, or a colon and a number: no name of another host after it.
bool isPort(std::string_view rest) {
  constexpr std::size_t kMost = 6;
  return rest.empty() || (rest.front() == ':' && rest.size() > 1 && rest.size() <= kMost &&
                          rest.find_first_not_of("0123456789", 1) == rest.npos);
}

// A page of another site must not speak to this machine by way of its visitor's browser (DNS rebinding).
bool fromHere(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!origin.starts_with(scheme)) continue;
    std::string_view host = origin.substr(scheme.size());
    for (const std::string_view known : {"127.0.0.1", "localhost", "[::1]"})
      if (host.starts_with(known) && isPort(host.substr(known.size()))) return true;
  }
  return false;
}

bool takes(std::string_view accept, std::string_view type) {
  const std::string_view family = type.substr(0, type.find('/'));
  return accept.empty() || accept.find(type) != std::string_view::npos ||
         accept.find("*/*") != std::string_view::npos ||
         accept.find(std::string(family) + "/*") != std::string_view::npos;
}

HttpTurn answer(ExchangeId exchange, int status, std::string text = {},
                std::map<std::string, std::string> headers = {}) {
  return {{{exchange, HttpEffect::Kind::answer, status, std::move(text), std::move(headers)}}, {}};
}
HttpTurn refuse(ExchangeId exchange, int status, int code, std::string_view text, const json::value& id = nullptr) {
  return answer(exchange, status, errorMessage(id, code, text));
}

// A legacy client expects 200 with a JSON-RPC error, unless the message was none.
int statusOf(int code, bool modern) {
  switch (code) {
    case kNoError: return 200;
    case kParseError:
    case kInvalidRequest: return 400;
    case kTooMany: return 429;
    case kNoMethod: return modern ? 404 : 200;
    default: return modern ? 400 : 200;
  }
}

// A header's value, which may be =?base64?TEXT?=.
std::string decoded(std::string_view value) {
  constexpr std::string_view kBegin = "=?base64?", kEnd = "?=";
  if (value.size() < kBegin.size() + kEnd.size() || !value.starts_with(kBegin) || !value.ends_with(kEnd))
    return std::string(value);
  value.remove_prefix(kBegin.size());
  value.remove_suffix(kEnd.size());
  const auto plain = fromBase64(value);
  return plain.ok() ? *plain : std::string();
}

// What contradicts the message; empty: nothing.
std::string mismatch(const HttpAsk& ask, const json::object& message) {
  const std::string_view method = textIn(message, "method");
  if (headerIn(ask, kVersionHeader) != versionIn(message)) return "MCP-Protocol-Version is not the version in _meta";
  if (headerIn(ask, "mcp-method") != method) return "Mcp-Method is not the method of the message";
  const bool named = method == "tools/call" || method == "prompts/get" || method == "resources/read";
  if (!named) return "";
  const json::object* params = objectIn(message, "params");
  const std::string_view name =
      params == nullptr ? std::string_view() : textIn(*params, method == "resources/read" ? "uri" : "name");
  return decoded(headerIn(ask, "mcp-name")) == name ? "" : "Mcp-Name is not the name in the message";
}

}  // namespace

HttpTurn HttpEndpoint::receive(ExchangeId exchange, const HttpAsk& ask, std::int64_t nowMs) {
  const std::string_view origin = headerIn(ask, "origin");
  if (!origin.empty() && !fromHere(origin))
    return refuse(exchange, 403, kInvalidRequest, "pages of another site may not speak to this node");
  if (exchanges_.size() >= limits_.exchanges) return refuse(exchange, 429, kTooMany, "too many requests at once");
  if (ask.method == "POST") return post(exchange, ask, nowMs);
  const bool session = headerIn(ask, kVersionHeader) != kModern && !headerIn(ask, kSessionHeader).empty();
  if (ask.method == "GET" && session) return openStream(exchange, ask, nowMs);
  if (ask.method == "DELETE" && session) return endSession(exchange, ask, nowMs);
  return answer(exchange, 405, errorMessage(nullptr, kInvalidRequest, "send messages with POST"), {{"allow", "POST"}});
}

HttpTurn HttpEndpoint::post(ExchangeId exchange, const HttpAsk& ask, std::int64_t nowMs) {
  const std::string_view type = headerIn(ask, "content-type");
  if (type.substr(0, type.find(';')) != "application/json")
    return refuse(exchange, 415, kInvalidRequest, "a message is application/json");
  if (!takes(headerIn(ask, "accept"), "application/json"))
    return refuse(exchange, 406, kInvalidRequest, "the answer is application/json or text/event-stream");
  const auto parsed = parseJson(ask.body, limits_.server.line);
  if (!parsed.ok()) return refuse(exchange, 400, kParseError, parsed.error().message);
  if (!parsed->is_object()) return refuse(exchange, 400, kInvalidRequest, "a message is one JSON object");
  const json::object& message = parsed->get_object();
  const json::value* id = message.if_contains("id");
  if (id != nullptr && !isId(*id)) return refuse(exchange, 400, kInvalidRequest, "an id is a text or an integer");
  const std::string_view version = headerIn(ask, kVersionHeader);
  const bool legacyHeader = version.empty() || isLegacy(version);
  const bool modern = !versionIn(message).empty() || !legacyHeader;
  return modern ? modernPost(exchange, ask, message, nowMs) : legacyPost(exchange, ask, message, nowMs);
}

HttpTurn HttpEndpoint::modernPost(ExchangeId exchange, const HttpAsk& ask, const json::object& message,
                                  std::int64_t nowMs) {
  const json::value* id = message.if_contains("id");
  if (id == nullptr) return answer(exchange, 202);  // closing the connection cancels; nothing else is to be told
  if (!versionIn(message).empty())
    if (const std::string wrong = mismatch(ask, message); !wrong.empty())
      return refuse(exchange, 400, kHeaderMismatch, wrong, *id);
  const auto session = std::make_shared<Session>(Session{Server(offer_, calls_, limits_.server)});
  exchanges_[exchange] = {session, *id, true};
  HttpTurn out;
  put(out, exchange, session->server.receive(message, nowMs));
  return out;
}

HttpTurn HttpEndpoint::legacyPost(ExchangeId exchange, const HttpAsk& ask, const json::object& message,
                                  std::int64_t nowMs) {
  if (textIn(message, "method") == "initialize") return initialize(exchange, message, nowMs);
  const json::value* id = message.if_contains("id");
  const json::value known = id == nullptr ? json::value() : *id;
  if (headerIn(ask, kSessionHeader).empty())
    return refuse(exchange, 400, kInvalidRequest, "there is no session: begin with initialize", known);
  const SessionPtr session = sessionOf(ask, nowMs);
  if (session == nullptr) return refuse(exchange, 404, kInvalidRequest, "the session has ended", known);
  const bool asks = id != nullptr && message.contains("method");
  if (asks) {
    for (const auto& [other, open] : exchanges_)
      if (open.session == session && open.id == known)
        return refuse(exchange, 400, kInvalidRequest, "the id is in use", known);
    exchanges_[exchange] = {session, known};
  }
  Turn turn = session->server.receive(message, nowMs);
  HttpTurn out;
  if (asks) {
    put(out, exchange, std::move(turn));
    return out;
  }
  out = answer(exchange, turn.code == kNoError ? 202 : 400, turn.out.empty() ? "" : turn.out.front());
  if (!turn.call) return out;
  for (const auto& [other, open] : exchanges_)  // the answers were complete: the call goes on
    if (open.session == session && open.id == turn.call->id) {
      out.calls.push_back({other, std::move(*turn.call)});
      break;
    }
  return out;
}

HttpTurn HttpEndpoint::initialize(ExchangeId exchange, const json::object& message, std::int64_t nowMs) {
  if (!makeRoom(nowMs)) return refuse(exchange, 429, kTooMany, "too many sessions");
  const auto session = std::make_shared<Session>(Session{Server(offer_, calls_, limits_.server), nowMs});
  const Turn turn = session->server.receive(message, nowMs);
  if (turn.code != kNoError || turn.out.empty())
    return answer(exchange, turn.out.empty() ? 202 : statusOf(turn.code, false),
                  turn.out.empty() ? "" : turn.out.front());
  std::array<std::uint8_t, 16> bits{};
  random_.fill(bits);
  const std::string name = toHex(bits);
  sessions_[name] = session;
  return answer(exchange, 200, turn.out.front(), {{kSessionHeader, name}});
}

HttpTurn HttpEndpoint::openStream(ExchangeId exchange, const HttpAsk& ask, std::int64_t nowMs) {
  const SessionPtr session = sessionOf(ask, nowMs);
  if (session == nullptr) return refuse(exchange, 404, kInvalidRequest, "the session has ended");
  if (!takes(headerIn(ask, "accept"), "text/event-stream"))
    return refuse(exchange, 406, kInvalidRequest, "the answer is text/event-stream");
  HttpTurn out;
  if (session->stream != 0 && exchanges_.erase(session->stream) > 0)
    out.effects.push_back({session->stream, HttpEffect::Kind::close});
  session->stream = exchange;
  exchanges_[exchange] = {session, nullptr, false, true};
  out.effects.push_back({exchange, HttpEffect::Kind::open});
  return out;
}

HttpTurn HttpEndpoint::endSession(ExchangeId exchange, const HttpAsk& ask, std::int64_t nowMs) {
  const SessionPtr session = sessionOf(ask, nowMs);
  if (session == nullptr) return refuse(exchange, 404, kInvalidRequest, "the session has ended");
  sessions_.erase(sessions_.find(headerIn(ask, kSessionHeader)));
  HttpTurn out = answer(exchange, 200);
  if (session->stream != 0 && exchanges_.erase(session->stream) > 0)
    out.effects.push_back({session->stream, HttpEffect::Kind::close});
  return out;
}

HttpTurn HttpEndpoint::finish(ExchangeId exchange, const Call& call, const Outcome& outcome) {
  HttpTurn out;
  const auto at = exchanges_.find(exchange);
  if (at != exchanges_.end()) put(out, exchange, at->second.session->server.finish(call, outcome));
  return out;
}

HttpTurn HttpEndpoint::note(ExchangeId exchange, std::string message) {
  HttpTurn out;
  send(out, exchange, std::move(message));
  return out;
}

// An answer ends the exchange.
void HttpEndpoint::put(HttpTurn& out, ExchangeId exchange, Turn turn) {
  out.subscribes = turn.subscribes;
  if (turn.call) {
    out.calls.push_back({exchange, std::move(*turn.call)});
    return;
  }
  const Exchange& open = exchanges_.at(exchange);
  if (turn.out.empty()) {  // it was no request after all
    out.effects.push_back({exchange, HttpEffect::Kind::answer, 202});
  } else if (turn.open || open.streaming) {
    for (std::string& message : turn.out) send(out, exchange, std::move(message));
    if (turn.open) return;
    out.effects.push_back({exchange, HttpEffect::Kind::close});
  } else {
    out.effects.push_back(
        {exchange, HttpEffect::Kind::answer, statusOf(turn.code, open.modern), std::move(turn.out.front())});
  }
  exchanges_.erase(exchange);
}

void HttpEndpoint::send(HttpTurn& out, ExchangeId exchange, std::string message) {
  const auto at = exchanges_.find(exchange);
  if (at == exchanges_.end()) return;
  if (!std::exchange(at->second.streaming, true)) out.effects.push_back({exchange, HttpEffect::Kind::open});
  out.effects.push_back({exchange, HttpEffect::Kind::send, 200, std::move(message)});
}

HttpTurn HttpEndpoint::toSubscribers(const std::function<std::vector<std::string>(const Server&)>& messages) {
  HttpTurn out;
  for (const auto& [exchange, open] : exchanges_) {
    const bool listens = open.modern ? open.streaming : open.session->stream == exchange;
    if (!listens) continue;
    for (std::string& message : messages(open.session->server))
      out.effects.push_back({exchange, HttpEffect::Kind::send, 200, std::move(message)});
  }
  return out;
}

HttpTurn HttpEndpoint::updated(std::string_view uri) {
  return toSubscribers([&](const Server& server) { return server.updated(uri); });
}
HttpTurn HttpEndpoint::listChanged(Kind kind) {
  return toSubscribers([&](const Server& server) { return server.listChanged(kind); });
}

void HttpEndpoint::gone(ExchangeId exchange) {
  const auto at = exchanges_.find(exchange);
  if (at == exchanges_.end()) return;
  Session& session = *at->second.session;
  if (session.stream == exchange) session.stream = 0;
  session.server.forget(at->second.id);
  exchanges_.erase(at);
}

std::set<std::string> HttpEndpoint::subscribed() const {
  std::set<std::string> all;
  for (const auto& [name, session] : sessions_) all.merge(session->server.subscribed());
  for (const auto& [exchange, open] : exchanges_)
    if (open.modern) all.merge(open.session->server.subscribed());
  return all;
}

HttpEndpoint::SessionPtr HttpEndpoint::sessionOf(const HttpAsk& ask, std::int64_t nowMs) {
  const auto at = sessions_.find(headerIn(ask, kSessionHeader));
  if (at == sessions_.end()) return nullptr;
  at->second->usedMs = nowMs;
  return at->second;
}

// Sessions without an open exchange end when they are idle for long, or are the longest idle one when there are many.
bool HttpEndpoint::makeRoom(std::int64_t nowMs) {
  const auto busy = [&](const SessionPtr& session) {
    return std::any_of(exchanges_.begin(), exchanges_.end(),
                       [&](const auto& open) { return open.second.session == session; });
  };
  std::erase_if(sessions_,
                [&](const auto& one) { return nowMs - one.second->usedMs > limits_.idleMs && !busy(one.second); });
  if (sessions_.size() < limits_.sessions) return true;
  auto longest = sessions_.end();
  for (auto at = sessions_.begin(); at != sessions_.end(); ++at)
    if (!busy(at->second) && (longest == sessions_.end() || at->second->usedMs < longest->second->usedMs)) longest = at;
  if (longest == sessions_.end()) return false;
  sessions_.erase(longest);
  return true;
}

}  // namespace witan::mcp
