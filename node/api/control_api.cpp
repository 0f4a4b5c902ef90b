#include "node/api/control_api.h"

#include <charconv>

#include "base/json_codec.h"
#include "base/quote.h"
#include "node/cluster/device_names.h"

namespace witan::node {

namespace {

constexpr JsonLimits kBodyLimits{.bytes = 4 << 20, .depth = 32};

net::HttpResponse errorResponse(const Error& error, int status) {
  net::HttpResponse response = jsonResponse(
      {{"error", {{"code", toString(error.code)}, {"message", error.message}, {"hint", error.hint}}}}, status);
  if (status == 401) response.headers["www-authenticate"] = "Bearer";
  return response;
}

const ControlRoute* routeOf(const net::HttpRequest& request, bool& known) {
  for (const ControlRoute& route : controlRoutes()) {
    if (request.path != route.path) continue;
    known = true;
    if (request.method == route.method || (request.method == "HEAD" && route.method == std::string_view("GET")))
      return &route;
  }
  return nullptr;
}

bool isPublic(const ControlRoute& route) { return !route.role || std::string_view(route.path) == "/metrics"; }

// A browser that visits a hostile page must not be able to speak to this API by a name of that page's making.
bool isLocalHost(const net::HttpRequest& request) {
  if (request.remote == "unix") return true;
  const auto at = request.headers.find("host");
  if (at == request.headers.end()) return false;
  std::string host = at->second;
  if (const std::size_t colon = host.rfind(':'); colon != std::string::npos && host.back() != ']') host.resize(colon);
  return host == "127.0.0.1" || host == "localhost" || host == "[::1]";
}

Result<json::object> bodyOf(const net::HttpRequest& request) {
  if (request.body.empty()) return json::object{};
  auto parsed = parseJson(request.body, kBodyLimits);
  if (!parsed.ok()) return invalid("the body is no JSON (" + parsed.error().message + ")");
  if (!parsed->is_object()) return invalid("the body must be a JSON object");
  return std::move(parsed->get_object());
}

Status checkForm(const ControlParameter& parameter, const json::value& value) {
  const auto good = [&] {
    switch (parameter.form) {
      case ParameterForm::text: return value.is_string();
      case ParameterForm::filled: return value.is_string() && !value.get_string().empty();
      case ParameterForm::number: return value.is_number();
      case ParameterForm::yes: return value.is_bool();
      case ParameterForm::list: return value.is_array();
      case ParameterForm::object: return value.is_object();
      case ParameterForm::any: return true;
    }
    return false;
  };
  if (good()) return okStatus();
  const bool empty = value.is_string() && value.get_string().empty();
  return invalid(std::string(parameter.name) + " is " + (empty ? "empty" : "no " + std::string(wordOf(parameter.form))),
                 (parameter.needed ? "give " : "leave it out, or give ") + std::string(parameter.meaning));
}

Status checkNeeded(const ControlRoute& route, const net::HttpRequest& request, const json::object& body) {
  for (const ControlParameter& one : route.parameters)
    if (one.needed && !body.contains(one.name) && !request.query.contains(one.name))
      return invalid(std::string(one.name) + ": there is none", "give " + std::string(one.meaning));
  return okStatus();
}

Status checkParameters(const ControlRoute& route, const net::HttpRequest& request, const json::object& body) {
  std::string names;
  for (const ControlParameter& one : route.parameters) names += (names.empty() ? "" : ", ") + std::string(one.name);
  const std::string hint = names.empty() ? "it takes none" : "it takes: " + names;
  const auto find = [&](std::string_view name) {
    const auto at = std::find_if(route.parameters.begin(), route.parameters.end(),
                                 [&](const ControlParameter& one) { return one.name == name; });
    return at == route.parameters.end() ? nullptr : &*at;
  };
  const bool get = *route.method == 'G';
  for (const auto& [name, value] : request.query) {
    if (!get) return invalid("parameter " + inQuotes(name) + ": what is posted stands in the body", hint);
    if (find(name) == nullptr) return invalid("unknown parameter " + inQuotes(name), hint);
  }
  if (get && !body.empty()) return invalid("a body: what is asked for stands in the query", hint);
  for (const auto& member : body) {
    const ControlParameter* known = find(member.key());
    if (known == nullptr) return invalid("unknown member " + inQuotes(member.key()), hint);
    WITAN_DO(checkForm(*known, member.value()));
  }
  return checkNeeded(route, request, body);
}

}  // namespace

const char* wordOf(ParameterForm form) {
  switch (form) {
    case ParameterForm::text:
    case ParameterForm::filled: return "string";
    case ParameterForm::number: return "number";
    case ParameterForm::yes: return "boolean";
    case ParameterForm::list: return "array";
    case ParameterForm::object: return "object";
    case ParameterForm::any: return "";
  }
  return "";
}

int statusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalidInput: return 400;
    case ErrorCode::notFound: return 404;
    case ErrorCode::conflict: return 409;
    case ErrorCode::unauthorised: return 403;
    case ErrorCode::corrupt:
    case ErrorCode::ioFailed: return 500;
    case ErrorCode::unavailable: return 503;
  }
  return 500;
}

net::HttpResponse jsonResponse(const json::value& value, int status) {
  net::HttpResponse response;
  response.status = status;
  response.body = canonicalJson(value) + "\n";
  return response;
}

// --- calls

void ControlCall::answer(const json::value& value) const { reply->answer(jsonResponse(value)); }

void ControlCall::put(const Result<json::value>& made) const { made.ok() ? answer(*made) : refuse(made.error()); }

void ControlCall::answerText(std::string text, std::string type) const {
  net::HttpResponse response;
  response.contentType = std::move(type);
  response.body = std::move(text);
  reply->answer(std::move(response));
}

void ControlCall::refuse(const Error& error) const {
  DeviceNames names;
  for (const RosterDevice& device : daemon.roster().current().devices) names.add(device.device, device.name);
  reply->answer(errorResponse({error.code, names.in(error.message), names.in(error.hint)}, statusOf(error.code)));
}

std::string ControlCall::text(const char* name) const {
  if (const auto at = request.query.find(name); at != request.query.end()) return at->second;
  if (const json::value* value = body.if_contains(name); value != nullptr && value->is_string())
    return std::string(value->get_string());
  return "";
}

Result<std::uint64_t> ControlCall::number(const char* name, std::uint64_t byDefault) const {
  std::uint64_t number = byDefault;
  if (const json::value* value = body.if_contains(name)) {
    if (Status read = readJson(*value, number, name); !read.ok()) return read.error();
    return number;
  }
  const std::string given = text(name);
  if (given.empty()) return number;
  const auto [end, failure] = std::from_chars(given.data(), given.data() + given.size(), number);
  if (failure != std::errc{} || end != given.data() + given.size())
    return invalid(std::string(name) + ": " + inQuotes(given) + " is no whole number");
  return number;
}

Result<const kernel::DomainModule*> ControlCall::module() const {
  const std::string domain = text("domain");
  if (const kernel::DomainModule* known = daemon.replica().moduleOf(domain); known != nullptr) return known;
  return Error{ErrorCode::notFound, "there is no domain " + inQuotes(domain), "see: witan domain list"};
}

Status ControlCall::needsLedgers() const {
  if (!daemon.replica().hosts().empty()) return okStatus();
  return Error{ErrorCode::unavailable, "this device keeps no ledgers", "ask one that does: witan device roster"};
}

// --- serving

ControlApi::ControlApi(net::Loop& loop, Daemon& daemon, ControlTokens tokens)
    : daemon_(daemon),
      tokens_(std::move(tokens)),
      server_(loop, {},
              [this](const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply) {
                serve(request, std::move(reply), false);
              }),
      public_(loop, {}, [this](const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply) {
        serve(request, std::move(reply), true);
      }) {}

Result<std::string> ControlApi::listen(const std::string& address) { return server_.listen(address); }
Result<std::string> ControlApi::listenPublic(const std::string& address) { return public_.listen(address); }

void ControlApi::close() {
  server_.close();
  public_.close();
}

void ControlApi::serve(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply, bool publicOnly) {
  const auto refuse = [&](const Error& error, int status) { reply->answer(errorResponse(error, status)); };
  if (!publicOnly && !isLocalHost(request))
    return refuse(Error{ErrorCode::unauthorised, "this API answers to 127.0.0.1, [::1] and localhost alone", ""}, 421);
  bool known = false;
  const ControlRoute* route = routeOf(request, known);
  if (route == nullptr || (publicOnly && !isPublic(*route))) {
    if (known && !publicOnly) return refuse(invalid(request.method + " is not for " + request.path), 405);
    return refuse({ErrorCode::notFound, "there is no " + request.path, "see: /v1/openapi.json"}, 404);
  }
  ControlRole role = ControlRole::observer;
  if (route->role && !publicOnly) {
    const auto header = request.headers.find("authorization");
    const auto held = header == request.headers.end() ? std::nullopt : tokens_.roleOf(header->second);
    if (!held) {
      daemon_.log().warn("control", "a request without a valid token",
                         {{"path", request.path}, {"from", request.remote}});
      return refuse({ErrorCode::unauthorised, "no valid token", "Authorization: Bearer TOKEN, from control.tokens"},
                    401);
    }
    if (!includes(*held, *route->role))
      return refuse(
          {ErrorCode::unauthorised,
           std::string("this needs the role ") + wordOf(*route->role) + ", the token is of " + wordOf(*held), ""},
          403);
    role = *held;
  }
  auto body = bodyOf(request);
  if (!body.ok()) return refuse(body.error(), 400);
  if (Status parameters = checkParameters(*route, request, *body); !parameters.ok())
    return refuse(parameters.error(), 400);
  if (*route->method == 'P')
    daemon_.log().debug("control", request.path, {{"role", wordOf(role)}, {"from", request.remote}});
  route->handle(ControlCall{daemon_, request, std::move(*body), role, std::move(reply)});
}

}  // namespace witan::node
