#include "mcp/server.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/quote.h"

namespace witan::mcp {

namespace {

constexpr std::int64_t kListTtlMs = 300'000;

json::object serverInfo() { return {{"name", "witan"}, {"title", "Witan"}, {"version", WITAN_VERSION}}; }

Turn refused(const json::value& id, int code, std::string_view text, json::object data = {}) {
  return {{errorMessage(id, code, text, std::move(data))}, {}, code};
}

const json::value* rowNamed(const json::array& rows, std::string_view member, std::string_view name) {
  for (const json::value& row : rows)
    if (textIn(row.get_object(), member) == name) return &row;
  return nullptr;
}

// The capability that a question needs: "elicitation/create" needs elicitation.
std::string_view neededBy(const json::value& question) {
  const std::string_view method = textIn(question.get_object(), "method");
  return method.substr(0, method.find('/'));
}

// A client that was asked and failed has cancelled.
json::value answerIn(const json::object& message) {
  const json::value* result = message.if_contains("result");
  return result != nullptr && result->is_object() ? *result : json::value(json::object{{"action", "cancel"}});
}

}  // namespace

struct Server::Request {
  json::value id;
  std::string_view method;
  json::object params;
  bool modern = false;

  Turn result(json::object result) const {
    if (modern) result["resultType"] = "complete";
    return {{resultMessage(id, std::move(result))}};
  }
  Turn cacheable(json::object result) const {
    if (!modern) return this->result(std::move(result));
    if (!result.contains("ttlMs")) result["ttlMs"] = kListTtlMs;
    result["cacheScope"] = "private";
    return this->result(std::move(result));
  }
  Turn error(int code, std::string_view text, json::object data = {}) const {
    return refused(id, code, text, std::move(data));
  }
  Turn unknown() const { return error(kNoMethod, "there is no method " + inQuotes(method)); }
};

bool Server::offers(std::string_view capability, std::string_view detail) const {
  const json::object* found = objectIn(offer_.capabilities, capability);
  return found != nullptr && found->contains(detail);
}

Turn Server::receive(std::string_view message, std::int64_t nowMs) {
  const auto parsed = parseJson(message, limits_.line);
  if (!parsed.ok()) return refused(nullptr, kParseError, parsed.error().message);
  if (!parsed->is_object()) return refused(nullptr, kInvalidRequest, "a message is one JSON object");
  return receive(parsed->get_object(), nowMs);
}

Turn Server::receive(const json::object& message, std::int64_t nowMs) {
  const json::value* id = message.if_contains("id");
  const json::value* method = message.if_contains("method");
  if (method == nullptr && (message.contains("result") || message.contains("error"))) return answered(message);
  if (id != nullptr && !isId(*id)) return refused(nullptr, kInvalidRequest, "an id is a text or an integer");
  Request request{id == nullptr ? json::value() : *id, textIn(message, "method"), {}};
  if (textIn(message, "jsonrpc") != "2.0" || method == nullptr || !method->is_string())
    return request.error(kInvalidRequest, "a request has \"jsonrpc\": \"2.0\" and a method");
  if (const json::value* params = message.if_contains("params")) {
    if (!params->is_object() && id != nullptr) return request.error(kInvalidParams, "params must be an object");
    if (params->is_object()) request.params = params->get_object();
  }
  if (id != nullptr) return dispatch(std::move(request), nowMs);
  if (request.method == "notifications/cancelled")
    if (const json::value* which = request.params.if_contains("requestId")) forget(*which);
  return {};
}

void Server::forget(const json::value& id) {
  std::erase_if(listens_, [&](const Listen& one) { return one.id == id; });
  std::erase_if(asked_, [&](const Asked& asked) {
    if (asked.call.id != id) return false;
    for (const std::string& question : asked.waiting) questions_.erase(question);
    return true;
  });
}

Turn Server::dispatch(Request request, std::int64_t nowMs) {
  const json::object* meta = objectIn(request.params, "_meta");
  const json::value* version = meta == nullptr ? nullptr : meta->if_contains(kVersionKey);
  request.modern = version != nullptr;
  if (request.modern) {
    if (!version->is_string() || version->get_string() != kModern)
      return request.error(kUnsupportedVersion, "unsupported protocol version",
                           {{"supported", json::array{kModern}}, {"requested", *version}});
    if (objectIn(*meta, kCapabilitiesKey) == nullptr)
      return request.error(kInvalidParams, "_meta lacks " + std::string(kCapabilitiesKey));
  } else if (request.method == "initialize") {
    return initialize(request);
  } else if (request.method == "ping") {
    return request.result({});
  } else if (!initialized_) {
    return request.error(kInvalidParams, "_meta lacks " + std::string(kVersionKey) + ", and there was no initialize");
  }
  const auto& [name, params] = std::tie(request.method, request.params);
  if (name == "tools/list" && offers("tools")) return list(request, "tools", offer_.tools);
  if (name == "resources/list" && offers("resources")) return list(request, "resources", offer_.resources);
  if (name == "resources/templates/list" && offers("resources"))
    return list(request, "resourceTemplates", offer_.templates);
  if (name == "prompts/list" && offers("prompts")) return list(request, "prompts", offer_.prompts);
  const bool calls = (name == "tools/call" && offers("tools")) || (name == "resources/read" && offers("resources")) ||
                     (name == "prompts/get" && offers("prompts")) ||
                     (name == "completion/complete" && offers("completions"));
  if (calls) return call(request, nowMs);
  return request.modern ? modernOnly(request) : legacyOnly(request);
}

Turn Server::legacyOnly(const Request& request) {
  const bool subscribes = request.method == "resources/subscribe" || request.method == "resources/unsubscribe";
  if (subscribes && offers("resources", "subscribe")) return subscribe(request);
  if (request.method != "logging/setLevel" || !offers("logging")) return request.unknown();
  logs_ = true;
  return request.result({});
}

Turn Server::modernOnly(const Request& request) {
  if (request.method == "server/discover")
    return request.cacheable({{"supportedVersions", json::array{kModern}},
                              {"capabilities", offer_.capabilities},
                              {"_meta", json::object{{kServerInfoKey, serverInfo()}}}});
  const bool anything = offers("resources", "subscribe") || offers("resources", "listChanged") ||
                        offers("tools", "listChanged") || offers("prompts", "listChanged");
  if (request.method == "subscriptions/listen" && anything) return listen(request);
  return request.unknown();
}

Turn Server::initialize(const Request& request) {
  const std::string_view asked = textIn(request.params, "protocolVersion");
  if (asked.empty()) return request.error(kInvalidParams, "initialize needs a protocolVersion");
  initialized_ = true;
  if (const json::object* given = objectIn(request.params, "capabilities")) capabilities_ = *given;
  return request.result({{"protocolVersion", isLegacy(asked) ? asked : kLegacy[0]},
                         {"capabilities", offer_.capabilities},
                         {"serverInfo", serverInfo()}});
}

Turn Server::list(const Request& request, const char* member, const json::array& rows) const {
  std::size_t from = 0;
  if (request.params.contains("cursor")) {
    const std::string_view word = textIn(request.params, "cursor");
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), from);
    if (failure != std::errc{} || end != word.data() + word.size() || from >= rows.size())
      return request.error(kInvalidParams, "unknown cursor");
  }
  const std::size_t to = std::min(from + limits_.page, rows.size());
  json::object result{{member, json::array(rows.data() + from, rows.data() + to)}};
  if (to < rows.size()) result["nextCursor"] = std::to_string(to);
  return request.cacheable(std::move(result));
}

Turn Server::call(const Request& request, std::int64_t nowMs) {
  const std::string_view name = textIn(request.params, "name"), uri = textIn(request.params, "uri");
  if (request.method == "tools/call" && rowNamed(offer_.tools, "name", name) == nullptr)
    return request.error(kInvalidParams, "unknown tool");
  if (request.method == "prompts/get" && rowNamed(offer_.prompts, "name", name) == nullptr)
    return request.error(kInvalidParams, "unknown prompt");
  if (request.method == "resources/read" && !offer_.readable(uri))
    return request.error(request.modern ? kInvalidParams : kLegacyNoResource, "there is no such resource",
                         {{"uri", uri}});
  for (const char* member : {"arguments", "inputResponses"})
    if (request.params.contains(member) && objectIn(request.params, member) == nullptr)
      return request.error(kInvalidParams, std::string(member) + " must be an object");
  if (request.params.contains("requestState") && !request.params.at("requestState").is_string())
    return request.error(kInvalidParams, "requestState must be a text");
  if (!calls_.take(nowMs)) {
    if (request.method != "tools/call") return request.error(kTooMany, "too many calls; wait a second");
    return request.result(failedTool("too many calls; wait a second").result);
  }
  Call made{request.id, request.modern, std::string(request.method), request.params, capabilities_, {}, {}, logs_};
  if (request.modern) {
    const json::object& meta = *objectIn(request.params, "_meta");
    made.capabilities = *objectIn(meta, kCapabilitiesKey);
    made.logs = meta.contains(kLogLevelKey);
    if (const json::object* answers = objectIn(request.params, "inputResponses")) made.answers = *answers;
    made.state = textIn(request.params, "requestState");
  }
  return {{}, std::move(made)};
}

Turn Server::finish(const Call& call, const Outcome& outcome) {
  const Request request{call.id, call.method, {}, call.modern};
  if (outcome.code != kNoError) return request.error(outcome.code, outcome.text, outcome.data);
  if (!outcome.questions.empty()) return ask(call, outcome);
  json::object result = outcome.result;
  if (call.method == "resources/read" && call.modern && !result.contains("ttlMs")) result["ttlMs"] = 0;
  const Turn turn = call.method == "resources/read" ? request.cacheable(result) : request.result(result);
  if (turn.out.front().size() <= limits_.answerBytes) return turn;
  if (call.method == "tools/call") return request.result(failedTool("the answer is too large; ask for less").result);
  return request.error(kTooMany, "the answer is too large");
}

Turn Server::ask(const Call& call, const Outcome& outcome) {
  const Request request{call.id, call.method, {}, call.modern};
  for (const auto& [key, question] : outcome.questions)
    if (!call.can(neededBy(question)))
      return request.error(kMissingCapability, "the client cannot answer what must be asked",
                           {{"requiredCapabilities", json::object{{neededBy(question), json::object()}}}});
  if (call.modern) {
    json::object result{{"resultType", "input_required"}, {"inputRequests", outcome.questions}};
    if (!outcome.state.empty()) result["requestState"] = outcome.state;
    return {{resultMessage(call.id, std::move(result))}};
  }
  if (asked_.size() >= limits_.asked) return request.error(kTooMany, "too many calls wait for answers of the client");
  Turn turn{.open = true};
  Asked& asked = asked_.emplace_back(Asked{call, {}, {}, outcome.state});
  for (const auto& [key, question] : outcome.questions) {
    const std::string id = "question-" + std::to_string(++lastQuestion_);
    asked.waiting.insert(id);
    questions_[id] = key;
    const json::object* params = objectIn(question.get_object(), "params");
    turn.out.push_back(
        requestMessage(id, textIn(question.get_object(), "method"), params == nullptr ? json::object() : *params));
  }
  return turn;
}

// Of a legacy client. What nothing asked for is dropped.
Turn Server::answered(const json::object& message) {
  const std::string id(textIn(message, "id"));
  const auto key = questions_.find(id);
  if (key == questions_.end()) return {};
  const auto asked = std::find_if(asked_.begin(), asked_.end(), [&](const Asked& a) { return a.waiting.contains(id); });
  asked->answers[key->second] = answerIn(message);
  asked->waiting.erase(id);
  questions_.erase(key);
  if (!asked->waiting.empty()) return {};
  Turn turn{{}, std::move(asked->call)};
  turn.call->answers = std::move(asked->answers);
  turn.call->state = std::move(asked->state);
  asked_.erase(asked);
  return turn;
}

Turn Server::subscribe(const Request& request) {
  const std::string uri(textIn(request.params, "uri"));
  if (!offer_.readable(uri)) return request.error(kLegacyNoResource, "there is no such resource", {{"uri", uri}});
  if (request.method == "resources/unsubscribe") {
    uris_.erase(uri);
  } else {
    if (uris_.size() >= limits_.subscribed) return request.error(kTooMany, "too many subscriptions");
    uris_.insert(uri);
  }
  Turn turn = request.result({});
  turn.subscribes = true;
  return turn;
}

Turn Server::listen(const Request& request) {
  const json::object* asked = objectIn(request.params, "notifications");
  if (asked == nullptr) return request.error(kInvalidParams, "notifications must be an object");
  if (listens_.size() >= limits_.listens) return request.error(kTooMany, "too many subscriptions");
  json::object filter;
  for (const char* kind : {"tools", "prompts", "resources"}) {
    const std::string member = std::string(kind) + "ListChanged";
    const json::value* wanted = asked->if_contains(member);
    if (wanted != nullptr && wanted->is_bool() && wanted->get_bool() && offers(kind, "listChanged"))
      filter[member] = true;
  }
  const json::value* uris = asked->if_contains("resourceSubscriptions");
  if (uris != nullptr && uris->is_array() && offers("resources", "subscribe")) {
    json::array known;
    for (const json::value& uri : uris->get_array())
      if (uri.is_string() && offer_.readable(uri.get_string())) known.push_back(uri);
    if (known.size() + subscribed().size() > limits_.subscribed)
      return request.error(kTooMany, "too many subscriptions");
    filter["resourceSubscriptions"] = std::move(known);
  }
  Turn turn;
  turn.out.push_back(
      notification("notifications/subscriptions/acknowledged",
                   {{"_meta", json::object{{kSubscriptionKey, request.id}}}, {"notifications", filter}}));
  turn.open = turn.subscribes = true;
  listens_.push_back({request.id, std::move(filter)});
  return turn;
}

std::vector<std::string> Server::updated(std::string_view uri) const {
  constexpr std::string_view kMethod = "notifications/resources/updated";
  std::vector<std::string> out;
  if (uris_.contains(std::string(uri))) out.push_back(notification(kMethod, {{"uri", uri}}));
  for (const Listen& one : listens_) {
    const json::value* uris = one.filter.if_contains("resourceSubscriptions");
    if (uris == nullptr) continue;
    const json::array& known = uris->get_array();
    if (std::find(known.begin(), known.end(), json::value(uri)) != known.end())
      out.push_back(notification(kMethod, {{"uri", uri}, {"_meta", json::object{{kSubscriptionKey, one.id}}}}));
  }
  return out;
}

std::vector<std::string> Server::listChanged(Kind kind) const {
  constexpr const char* kKinds[]{"tools", "resources", "prompts"};
  const std::string name = kKinds[static_cast<int>(kind)];
  const std::string method = "notifications/" + name + "/list_changed";
  std::vector<std::string> out;
  if (initialized_ && offers(name, "listChanged")) out.push_back(notification(method));
  for (const Listen& one : listens_)
    if (one.filter.contains(name + "ListChanged"))
      out.push_back(notification(method, {{"_meta", json::object{{kSubscriptionKey, one.id}}}}));
  return out;
}

std::set<std::string> Server::subscribed() const {
  std::set<std::string> all = uris_;
  for (const Listen& one : listens_)
    if (const json::value* uris = one.filter.if_contains("resourceSubscriptions"))
      for (const json::value& uri : uris->get_array()) all.emplace(uri.get_string());
  return all;
}

}  // namespace witan::mcp
