// Signing in at the web console (node/console/console_pages.h has its files).
#include "node/api/console_sessions.h"
#include "node/api/control_routes.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(ConsoleCodeRequest,
             (Omittable<std::string>, role, "observer, operator, counselor or admin; default: the caller's"))

WITAN_STRUCT(ConsoleCode, (std::string, code, "Code for openConsoleSession; it counts once"),
             (std::string, role, "Role of the session that it opens"),
             (Time, expires, "When the code counts no longer"),
             (std::string, address, "Address of the console: http://HOST:PORT/console/"))

WITAN_STRUCT(ConsoleSessionRequest, (std::string, code, "Code from makeConsoleCode", 1))

WITAN_STRUCT(ConsoleSession, (std::string, token, "Bearer token of the session"),
             (std::string, role, "Role of the session"), (Time, expires, "When the session ends"))

WITAN_STRUCT(ConsoleCaller, (std::string, role, "Role of the caller"),
             (Omittable<Time>, expires, "When the caller's session ends; absent: a token without end"))

WITAN_STRUCT(ConsoleEnded, (bool, ended, "False: the caller has a token of the node, and no session"))

Result<ControlRole> roleNamed(const std::string& word) {
  using enum ControlRole;
  for (const ControlRole role : {observer, operator_, counselor, admin})
    if (word == wordOf(role)) return role;
  return invalid("body.role: must be observer, operator, counselor or admin");
}

Result<ConsoleCode> makeCode(const ApiContext& context, const ConsoleCodeRequest& request) {
  if (context.session)
    return Error{ErrorCode::unauthorised, "a session of the console opens no other sessions", "run: witan console"};
  ControlRole role = context.role;
  if (request.role) {
    WITAN_TRY(named, roleNamed(*request.role));
    if (!includes(context.role, named))
      return Error{
          ErrorCode::unauthorised,
          std::string("the token is of ") + wordOf(context.role) + ", and opens no session of " + wordOf(named), ""};
    role = named;
  }
  WITAN_TRY(address, context.console.address());
  SystemRandom random;
  const auto made = context.console.sessions.makeCode(role, context.daemon.now().wall, random);
  context.daemon.log().info("console", "made a one-time code", {{"role", wordOf(role)}});
  return ConsoleCode{made.secret, wordOf(role), made.expires, "http://" + address + "/console/"};
}

Result<ConsoleSession> openSession(const ApiContext& context, const ConsoleSessionRequest& request) {
  SystemRandom random;
  auto made = context.console.sessions.open(request.code, context.daemon.now().wall, random);
  if (!made.ok()) {
    context.daemon.log().warn("console", "a code that does not count", {{"from", context.request.remote}});
    return made.error();
  }
  context.daemon.log().info("console", "a session begins",
                            {{"role", wordOf(made->role)}, {"from", context.request.remote}});
  return ConsoleSession{made->secret, wordOf(made->role), made->expires};
}

Result<ConsoleCaller> caller(const ApiContext& context, const Nothing&) {
  ConsoleCaller answer{wordOf(context.role)};
  if (context.session) answer.expires = context.session->expires;
  return answer;
}

Result<ConsoleEnded> endSession(const ApiContext& context, const Nothing&) {
  const auto header = context.request.headers.find("authorization");
  const bool ended = header != context.request.headers.end() && context.console.sessions.end(header->second);
  return ConsoleEnded{ended};
}

}  // namespace

std::vector<ControlRoute> consoleRoutes() {
  using enum ControlRole;
  return {post("/v1/console/code", "makeConsoleCode", "console", observer,
               "Makes a one-time code with which a browser opens a session", makeCode, {500}),
          route({"POST",
                 "/v1/console/session",
                 "openConsoleSession",
                 "console",
                 {},
                 "Exchanges a one-time code for a session",
                 {403}},
                openSession),
          get("/v1/console/session", "readConsoleSession", "console", observer, "The caller's role", caller),
          post("/v1/console/end", "endConsoleSession", "console", observer, "Ends the caller's session", endSession)};
}

}  // namespace witan::node::api
