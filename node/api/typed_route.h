// Typed routes of the control API: a request and a response are reflected structs (base/reflect.h) with notes
// (base/json_schema.h). The request is decoded and checked before the work sees it, the response is written canonical,
// and the OpenAPI document takes both schemas from the same structs.
//
//   WITAN_STRUCT(CutRequest, (std::string, device, "Id or name of the peer", 1))
//   Result<CutResponse> cutPeer(const ApiContext& context, const CutRequest& request);
//   post("/v1/peers/cut", "cutPeer", "peers", operator_, "Drops the link to a peer", cutPeer, {404, 409})
//
// Every member of a request that is not Omittable is required. GET takes them from the query, and those that stand as
// {name} in the path from there; POST takes them from a JSON body. Main thread only.
#pragma once

#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/message.h"
#include "net/http_server.h"
#include "node/api/console_sessions.h"
#include "node/api/control_tokens.h"
#include "node/api/inbox_claims.h"
#include "node/api/program_tokens.h"
#include "node/api/stream_places.h"
#include "node/daemon/daemon.h"

namespace witan::node {

namespace api {
class InboxWatch;
}

// HTTP status of an error of this API.
int statusOf(ErrorCode code);
// {"error":{"code","message","hint"}}
net::HttpResponse errorResponse(const Error& error, int status);
// `text` is canonical JSON; a line's end is added.
net::HttpResponse jsonResponse(std::string text, int status = 200);

// Where the answer to one request goes. Copies answer the same request; the first answer counts. May outlive the
// request.
struct Responder {
  Daemon& daemon;
  std::shared_ptr<net::HttpReply> reply;          // null with a sink
  std::function<void(net::HttpResponse)> sink{};  // of a caller in this program, who takes the first answer

  void send(net::HttpResponse response) const { sink ? sink(std::move(response)) : reply->answer(std::move(response)); }
  // Ids of devices become names.
  void refuse(const Error& error) const;
};

// The web console's door: who is signed in, what they look at, and where it is.
struct ConsoleDoor {
  ConsoleSessions sessions;
  // HOST:PORT on loopback, from the first call on. Errors: as HttpServer::listen.
  std::function<Result<std::string>()> address;
  InboxClaims claims{};
  std::weak_ptr<void> trial{};  // of a domain, under way (control_rules.cpp)
  std::weak_ptr<api::InboxWatch> inboxWatch{};
};

// The work of a route gets the node, the request, and the place for its answer. The daemon outlives it.
struct ApiContext {
  Daemon& daemon;
  const net::HttpRequest& request;  // until the work returns
  ControlRole role;                 // of the caller's token
  Responder responder;
  ConsoleDoor& console;
  StreamPlaces& streams;
  ProgramTokens& programs;
  std::optional<ConsoleSessions::Held> session;  // none: the caller has a token of the node
};

// Errors: notFound.
Result<const kernel::DomainModule*> moduleNamed(Daemon& daemon, const std::string& domain);
// Errors: unavailable, on a device that keeps no ledgers.
Status needsLedgers(Daemon& daemon);
// Errors: unavailable, other devices keep the copies of it.
Status needsCopy(Daemon& daemon, const std::string& partition);

struct RouteInfo {
  const char* method;
  const char* path;         // a segment {name} is a member of the request
  const char* operationId;  // camelCase; the document takes examples by it (node/api/examples.json)
  const char* tag;
  std::optional<ControlRole> role;  // none: without a token
  const char* summary;
  std::vector<int> errors{};  // statuses beside those that every route of its method and role has
  const char* mediaType = "application/json";
  int textStatus = 0;  // another status with an answer of the media type; 0: none
};

// A request before it is decoded.
struct RouteInput {
  std::map<std::string, std::string> words;  // of the query and the path
  json::object body;
};

struct ControlRoute {
  using Schema = json::object (*)(JsonSchemas&);
  RouteInfo info;
  std::function<void(const ApiContext&, RouteInput)> serve;
  Schema request;
  bool needsRequest;  // some member is required
  Schema response;
  Schema accepted = nullptr;  // of status 202; null: there is none

  bool reads() const { return info.method == std::string_view("GET"); }
};

namespace routes {

// A word of the query in the form of a member of type T; in another form it stays a text, which the codec refuses.
template <class T>
json::value fromWord(const std::string& word) {
  if constexpr (std::is_same_v<T, bool>) {
    if (word == "true" || word == "false") return word == "true";
  } else if constexpr (std::is_integral_v<T>) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (failure == std::errc{} && end == word.data() + word.size()) return number;
  }
  return json::value(word);
}
template <class T>
struct Bare {
  using Type = T;
};
template <class T>
struct Bare<Omittable<T>> {
  using Type = T;
};

template <Reflected Request>
Result<Request> decoded(RouteInput input, bool reads) {
  for (const auto& [name, word] : input.words) input.body[name] = word;
  forEachMember<Request>([&](auto member, auto) {
    if (const auto at = input.words.find(std::string(member.name)); at != input.words.end())
      input.body[member.name] = fromWord<typename Bare<typename decltype(member)::Type>::Type>(at->second);
  });
  const char* const place = reads ? "query" : "body";
  Request request;
  WITAN_DO(readJson(json::value(std::move(input.body)), request, place));
  WITAN_DO(checkNotes(request, place));
  return request;
}

template <class T>
json::object bodySchema(JsonSchemas& schemas) {
  return schemas.of<T>(JsonSchemas::Unknown::refused);
}
// Parameters stand one by one in the document: their struct is no component of it.
template <class T>
json::object querySchema(JsonSchemas& schemas) {
  return schemas.inlined<T>(JsonSchemas::Unknown::refused);
}
template <Reflected T>
constexpr bool anyRequired() {
  bool any = false;
  forEachMember<T>([&](auto member, auto) { any = any || !isOmittable<typename decltype(member)::Type>; });
  return any;
}
// A node of a later version may answer with more members.
template <class T>
json::object responseSchema(JsonSchemas& schemas) {
  return schemas.of<T>(JsonSchemas::Unknown::allowed);
}

// Decodes, then calls work(context, request) -> void.
template <Reflected Request, class Work>
ControlRoute make(RouteInfo info, ControlRoute::Schema response, Work work) {
  const bool reads = info.method == std::string_view("GET");
  const std::string hint = std::string("see ") + info.operationId + " in /v1/openapi.json";
  const auto serve = [work, reads, hint](const ApiContext& context, RouteInput input) {
    auto request = decoded<Request>(std::move(input), reads);
    if (request.ok()) return work(context, *request);
    Error error = request.error();
    if (error.hint.empty()) error.hint = hint;
    context.responder.refuse(error);
  };
  return {std::move(info), serve, reads ? querySchema<Request> : bodySchema<Request>, anyRequired<Request>(), response};
}

}  // namespace routes

// The route whose work answers at once.
template <Reflected Request, class Response>
ControlRoute route(RouteInfo info, Result<Response> (*work)(const ApiContext&, const Request&)) {
  return routes::make<Request>(std::move(info), routes::responseSchema<Response>,
                               [work](const ApiContext& context, const Request& request) {
                                 const Result<Response> made = work(context, request);
                                 if (!made.ok()) return context.responder.refuse(made.error());
                                 context.responder.send(jsonResponse(toJson(*made)));
                               });
}

// An answer that comes later: a Response, with status 202 an Accepted, or an error. Copyable.
template <class Response, class Accepted = Nothing>
struct Later {
  Responder responder;
  void answer(const Response& response, net::HttpHeaders headers = {}) const { send(toJson(response), 200, headers); }
  void accept(const Accepted& accepted, net::HttpHeaders headers = {}) const { send(toJson(accepted), 202, headers); }
  void refuse(const Error& error) const { responder.refuse(error); }
  void answer(const Result<Response>& made) const { made.ok() ? answer(*made) : refuse(made.error()); }

 private:
  void send(std::string text, int status, net::HttpHeaders& headers) const {
    net::HttpResponse response = jsonResponse(std::move(text), status);
    response.headers = std::move(headers);
    responder.send(std::move(response));
  }
};

template <Reflected Request, class Response, class Accepted>
ControlRoute route(RouteInfo info, void (*work)(const ApiContext&, const Request&, Later<Response, Accepted>)) {
  ControlRoute made = routes::make<Request>(
      std::move(info), routes::responseSchema<Response>,
      [work](const ApiContext& context, const Request& request) { work(context, request, {context.responder}); });
  if constexpr (!std::is_same_v<Accepted, Nothing>) made.accepted = routes::responseSchema<Accepted>;
  return made;
}

// The route that answers with a text, or a stream of events, of the media type of its info. An event is an Event in
// JSON.
template <Reflected Request>
ControlRoute route(RouteInfo info, void (*work)(const ApiContext&, const Request&)) {
  return routes::make<Request>(std::move(info), routes::responseSchema<std::string>, work);
}
template <class Event, Reflected Request>
ControlRoute streamRoute(RouteInfo info, void (*work)(const ApiContext&, const Request&)) {
  return routes::make<Request>(std::move(info), routes::responseSchema<Event>, work);
}

// Rows of a table of routes; members as RouteInfo has them.
template <class Work>
ControlRoute get(const char* path, const char* operationId, const char* tag, ControlRole role, const char* summary,
                 Work work, std::vector<int> errors = {}) {
  return route({"GET", path, operationId, tag, role, summary, std::move(errors)}, work);
}
template <class Work>
ControlRoute post(const char* path, const char* operationId, const char* tag, ControlRole role, const char* summary,
                  Work work, std::vector<int> errors = {}) {
  return route({"POST", path, operationId, tag, role, summary, std::move(errors)}, work);
}

}  // namespace witan::node
