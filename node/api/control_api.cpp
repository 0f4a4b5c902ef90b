#include "node/api/control_api.h"

#include <algorithm>

#include "base/quote.h"
#include "node/api/control_routes.h"
#include "node/console/console_pages.h"
#include "node/market/market_host.h"

namespace witan::node {

namespace {

constexpr const char* kMcpPath = "/mcp";
constexpr const char* kCardPath = "/.well-known/agent-card.json";
constexpr JsonLimits kBodyLimits{.bytes = 4 << 20, .depth = 32};
// Of the Unix socket, which the command line uses: whoever fills the others cannot shut the operator out.
constexpr std::size_t kOperatorsConnections = 32;

// Matches a path with a route's; segments {name} are taken into `words`.
bool pathMatches(std::string_view pattern, std::string_view path, std::map<std::string, std::string>& words) {
  while (!pattern.empty() && !path.empty()) {
    const std::size_t patternEnd = std::min(pattern.find('/', 1), pattern.size());
    const std::size_t pathEnd = std::min(path.find('/', 1), path.size());
    const std::string_view segment = pattern.substr(0, patternEnd), given = path.substr(0, pathEnd);
    if (segment.starts_with("/{") && given.size() > 1)
      words.emplace(segment.substr(2, segment.size() - 3), given.substr(1));
    else if (segment != given)
      return false;
    pattern.remove_prefix(patternEnd);
    path.remove_prefix(pathEnd);
  }
  return pattern.empty() && path.empty();
}

struct Match {
  const ControlRoute* route = nullptr;
  std::map<std::string, std::string> words;  // of the path
  bool pathKnown = false;
};

Match matchOf(std::string_view asked, std::string_view path) {
  Match match;
  const std::string_view method = asked == "HEAD" ? std::string_view("GET") : asked;
  for (const ControlRoute& route : controlRoutes()) {
    std::map<std::string, std::string> words;
    if (!pathMatches(route.info.path, path, words)) continue;
    match.pathKnown = true;
    if (method == route.info.method) return {&route, std::move(words), true};
  }
  return match;
}

bool isPublic(const RouteInfo& info) {
  return (!info.role && info.method == std::string_view("GET")) || info.path == std::string_view("/metrics");
}

// A browser that visits a hostile page must not be able to speak to this API by a name of that page's making.
bool isLocalHost(const net::HttpRequest& request) {
  if (request.remote == "unix") return true;
  const auto at = request.headers.find("host");
  if (at == request.headers.end()) return false;
  std::string host = at->second;
  if (const std::size_t colon = host.rfind(':'); colon != std::string::npos && host.back() != ']') host.resize(colon);
  return isLoopbackHost(host);
}

Result<RouteInput> inputOf(const ControlRoute& route, const net::HttpRequest& request,
                           std::map<std::string, std::string> words) {
  RouteInput input{std::move(words), {}};
  if (route.reads()) {
    if (!request.body.empty()) return invalid("a GET request has no body", "give the parameters in the query");
    for (const auto& [name, word] : request.query)
      if (!input.words.emplace(name, word).second) return invalid(inQuotes(name) + " stands in the path already");
    return input;
  }
  if (!request.query.empty())
    return invalid("parameter " + inQuotes(request.query.begin()->first) + ": a POST request has no query",
                   "give the members in the body");
  if (request.body.empty()) return input;
  auto parsed = parseJson(request.body, kBodyLimits);
  if (!parsed.ok()) return invalid("the body is no JSON (" + parsed.error().message + ")");
  if (!parsed->is_object()) return invalid("the body must be a JSON object");
  input.body = std::move(parsed->get_object());
  return input;
}

// An answer of a route, as its caller in this program sees it.
Result<json::value> valueOf(const net::HttpResponse& response) {
  WITAN_TRY(body, parseJson(response.body, kOwnJson));
  if (response.status / 100 == 2) return body;
  const json::object& error = body.at("error").as_object();
  return Error{ErrorCode::invalidInput, std::string(mcp::textIn(error, "message")),
               std::string(mcp::textIn(error, "hint"))};
}

}  // namespace

ControlApi::ControlApi(net::Loop& loop, Daemon& daemon, ControlTokens tokens, ProgramTokens programs)
    : daemon_(daemon),
      tokens_(std::move(tokens)),
      programs_(std::move(programs)),
      mcp_(loop, daemon, streams_,
           [this](ControlRole role, const mcp::ApiRequest& request, McpApi::Done done) {
             perform(role, request, std::move(done));
           }),
      tiles_(daemon),
      console_{{}, [this] { return consoleAddress(); }},
      server_(loop,
              {.keptForUnix = kOperatorsConnections,
               .refuseBody = [this](const net::HttpRequest& head) { return refuseBody(head); }},
              [this](const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply) {
                serve(request, std::move(reply), false);
              }),
      public_(loop, {.maxBodyBytes = 0},
              [this](const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply) {
                serve(request, std::move(reply), true);
              }) {}

Result<std::string> ControlApi::listen(const std::string& address) {
  WITAN_TRY(bound, server_.listen(address));
  if (!bound.starts_with("unix:")) tcp_ = bound;
  return bound;
}

Result<std::string> ControlApi::consoleAddress() {
  if (tcp_.empty()) {
    WITAN_DO(listen("127.0.0.1:0"));
    daemon_.log().info("console", "listening", {{"address", tcp_}});
  }
  return tcp_;
}

Result<std::string> ControlApi::listenPublic(const std::string& address) {
  WITAN_TRY(bound, public_.listen(address));
  publicIsLocal_ = isLoopbackHost(std::string_view(bound).substr(0, bound.rfind(':')));
  return bound;
}

void ControlApi::close() {
  server_.close();
  public_.close();
}

namespace {

std::string_view authorizationOf(const net::HttpRequest& request) {
  const auto header = request.headers.find("authorization");
  return header == request.headers.end() ? std::string_view() : std::string_view(header->second);
}

net::HttpResponse withoutRole(ControlRole held, ControlRole needed) {
  return errorResponse({ErrorCode::unauthorised,
                        std::string("this needs the role ") + wordOf(needed) + ", the token is of " + wordOf(held), ""},
                       403);
}

}  // namespace

std::optional<ControlRole> ControlApi::roleOf(const net::HttpRequest& request,
                                              std::optional<ConsoleSessions::Held>& session) {
  const std::string_view authorization = authorizationOf(request);
  if (const auto held = tokens_.roleOf(authorization)) return held;
  session = console_.sessions.find(authorization, daemon_.now().wall);
  return session ? std::optional(session->role) : std::nullopt;
}

// A body costs up to 4 MiB and half a minute: it is for those who may ask for what it is to do.
std::optional<net::HttpResponse> ControlApi::refuseBody(const net::HttpRequest& head) {
  std::optional<ConsoleSessions::Held> session;
  const auto held = roleOf(head, session);
  const Match match = matchOf(head.method, head.path);
  const bool known = match.route != nullptr;
  if (held && known && match.route->info.role && !includes(*held, *match.route->info.role))
    return withoutRole(*held, *match.route->info.role);
  if (const ProgramToken* program = programs_.find(authorizationOf(head), daemon_.now().wall)) {
    const Status may = mayUse(*program, head.path);
    return may.ok() ? std::nullopt : std::optional(errorResponse(may.error(), 403));
  }
  if (held || tokens_.participantOf(authorizationOf(head))) return std::nullopt;
  if (known && !match.route->info.role) return std::nullopt;  // a one-time link becomes a session
  return withoutToken(head);
}

net::HttpResponse ControlApi::withoutToken(const net::HttpRequest& request) {
  if (const ProgramToken* program = programs_.find(authorizationOf(request), daemon_.now().wall))
    if (const Status may = mayUse(*program, request.path); !may.ok()) return errorResponse(may.error(), 403);
  daemon_.log().warn("control", "a request without a valid token", {{"path", request.path}, {"from", request.remote}});
  return errorResponse({ErrorCode::unauthorised, "no valid token", "Authorization: Bearer TOKEN, from control.tokens"},
                       401);
}

void ControlApi::serve(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply, bool publicOnly) {
  const auto refuse = [&](const Error& error, int status) { reply->answer(errorResponse(error, status)); };
  if ((!publicOnly || publicIsLocal_) && !isLocalHost(request))
    return refuse(Error{ErrorCode::unauthorised, "this API answers to 127.x.y.z, [::1] and localhost alone", ""}, 421);
  if (request.path == kMcpPath && !publicOnly) return serveMcp(request, std::move(reply));
  if (!publicOnly && request.path.starts_with(kTilesPath)) return serveTile(request, std::move(reply));
  if (!publicOnly && isConsolePath(request.path)) return reply->answer(consoleAnswer(request));
  if (request.path == kCardPath && request.method == "GET") return serveCard(std::move(reply));
  Match match = matchOf(request.method, request.path);
  if (match.route == nullptr || (publicOnly && !isPublic(match.route->info))) {
    if (match.pathKnown && !publicOnly) return refuse(invalid(request.method + " is not for " + request.path), 405);
    return refuse({ErrorCode::notFound, "there is no " + request.path, "see: /v1/openapi.json"}, 404);
  }
  const RouteInfo& info = match.route->info;
  ControlRole role = ControlRole::observer;
  std::optional<ConsoleSessions::Held> session;
  const ProgramToken* program = nullptr;
  if (info.role && !publicOnly) {
    const auto held = roleOf(request, session);
    program = held ? nullptr : programs_.find(authorizationOf(request), daemon_.now().wall);
    if (!held && program == nullptr) return reply->answer(withoutToken(request));
    if (held && !includes(*held, *info.role)) return reply->answer(withoutRole(*held, *info.role));
    if (program != nullptr)
      if (const Status may = mayUse(*program, request.path); !may.ok()) return refuse(may.error(), 403);
    role = held.value_or(ControlRole::operator_);
  }
  auto input = inputOf(*match.route, request, std::move(match.words));
  if (!input.ok()) return refuse(input.error(), 400);
  if (program != nullptr) {
    json::object asked = input->body;
    for (const auto& [name, word] : input->words) asked[name] = word;
    if (const Status may = mayAsk(*program, asked); !may.ok()) return refuse(may.error(), 403);
    const bool records = request.path == "/v1/propose";
    if (const Status may = records ? programs_.count(*program, net::Loop::nowMs()) : okStatus(); !may.ok())
      return refuse(may.error(), 429);
  }
  if (!match.route->reads())
    daemon_.log().debug("control", request.path, {{"role", wordOf(role)}, {"from", request.remote}});
  match.route->serve(
      ApiContext{daemon_, request, role, {daemon_, std::move(reply)}, console_, streams_, programs_, session},
      std::move(*input));
}

// Cards are for everybody: what is in them is signed, and what is secret is not.
void ControlApi::serveCard(std::shared_ptr<net::HttpReply> reply) {
  MarketHost* market = daemon_.market();
  if (market == nullptr)
    return reply->answer(errorResponse(
        {ErrorCode::notFound, "this node takes no part in the market", "[market] org = \"NAME\" in witan.toml"}, 404));
  reply->answer(jsonResponse(canonicalJson(market->card())));
}

void ControlApi::serveTile(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply) {
  std::optional<ConsoleSessions::Held> session;
  if (!roleOf(request, session)) return reply->answer(withoutToken(request));
  if (request.method != "GET" && request.method != "HEAD")
    return reply->answer(errorResponse(invalid(request.method + " is not for " + request.path), 405));
  reply->answer(tiles_.answer(request.path));
}

void ControlApi::serveMcp(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply) {
  const std::string_view authorization = authorizationOf(request);
  const auto held = tokens_.roleOf(authorization);
  const auto participant = tokens_.participantOf(authorization);
  if (!held && !participant) return reply->answer(withoutToken(request));
  const Status served = mcp_.serve(request, reply, held.value_or(ControlRole::operator_), participant.value_or(""));
  if (!served.ok()) reply->answer(errorResponse(served.error(), statusOf(served.error().code)));
}

void ControlApi::perform(ControlRole role, const mcp::ApiRequest& request, McpApi::Done done) {
  Match match = matchOf(request.reads ? "GET" : "POST", request.path);
  if (match.route == nullptr || !match.route->info.role || !includes(role, *match.route->info.role))
    return done(Error{ErrorCode::unauthorised, "the token may not use " + request.path, ""});
  RouteInput input{std::move(match.words), {}};
  if (request.reads) {
    for (const auto& [name, value] : request.body)
      input.words[name] = value.is_string() ? std::string(value.get_string()) : canonicalJson(value);
  } else {
    input.body = request.body;
  }
  const auto answered = std::make_shared<bool>(false);
  const net::HttpRequest made{request.reads ? "GET" : "POST", request.path, request.path, {}, {}, {}, "mcp"};
  match.route->serve(ApiContext{daemon_,
                                made,
                                role,
                                {daemon_, nullptr,
                                 [answered, done = std::move(done)](const net::HttpResponse& response) {
                                   if (!std::exchange(*answered, true)) done(valueOf(response));
                                 }},
                                console_,
                                streams_,
                                programs_,
                                std::nullopt},
                     std::move(input));
}

}  // namespace witan::node
