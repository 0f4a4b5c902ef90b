// Tokens of programs (node/api/program_tokens.h): who made which, for what, and until when.
#include <algorithm>

#include "base/seams.h"
#include "node/api/control_routes.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(ProgramTokenRow, (std::string, id, "Id of the token"), (std::string, name, "Name of the program"),
             (std::vector<std::string>, roles, "Roles in which it may propose: DOMAIN.ROLE"),
             (std::vector<std::string>, entities, "Entities that it may name: ids, or beginnings with a *"),
             (Time, made, "When it was made"), (Time, expires, "When it expires"), (bool, expired, "Whether it has"),
             (std::int64_t, rate, "Proposals a second that it may make"))

WITAN_STRUCT(ProgramTokenRows, (std::vector<ProgramTokenRow>, tokens, "Tokens of programs, the oldest first"))

WITAN_STRUCT(AddTokenRequest, (std::string, name, "Name of the program", 1),
             (std::vector<std::string>, roles, "Roles in which it may propose: DOMAIN.ROLE"),
             (std::vector<std::string>, entities, "Entities that it may name: ids, or beginnings with a *"),
             (Omittable<std::int64_t>, days, "Days until it expires; default: 30"),
             (Omittable<std::int64_t>, rate, "Proposals a second that it may make, 1 to 1000; default: 10"))

WITAN_STRUCT(AddedToken, (std::string, token, "The token; it is shown once"), (std::string, id, "Id of the token"),
             (Time, expires, "When it expires"),
             (std::vector<std::string>, warnings, "Roles that this device lacks, and its programs with it"))

WITAN_STRUCT(RevokeTokenRequest, (std::string, token, "Id or name of the token", 1))

WITAN_STRUCT(RevokedToken, (std::string, id, "Id of the token"), (std::string, name, "Name of the program"))

Result<ProgramTokenRows> list(const ApiContext& context, const Nothing&) {
  ProgramTokenRows answer;
  for (const ProgramToken& one : context.programs.all())
    answer.tokens.push_back({one.id, one.name, one.roles, one.entities, one.made, one.expires,
                             one.expires < context.daemon.now().wall, one.rate.value_or(kTokenRate)});
  return answer;
}

// A role that no domain has would never let anything pass.
Status checkRoles(const ApiContext& context, const std::vector<std::string>& roles) {
  for (const std::string& role : roles) {
    const std::size_t dot = role.find('.');
    WITAN_TRY(module, moduleNamed(context.daemon, role.substr(0, dot)));
    const auto& known = module->signature().roles;
    if (std::ranges::none_of(known, [&](const auto& one) { return one.name == role.substr(dot + 1); }))
      return Error{ErrorCode::notFound, "there is no role " + role, "witan domain list names the roles"};
  }
  return okStatus();
}

// Requests of a program are the device's own.
std::vector<std::string> rolesLacking(const Daemon& daemon, const std::vector<std::string>& roles) {
  std::vector<std::string> warnings;
  for (const std::string& role : roles) {
    const std::size_t dot = role.find('.');
    if (daemon.me() != nullptr && !daemon.me()->mayAct(role.substr(0, dot), role.substr(dot + 1)))
      warnings.push_back(concat("this device lacks the role ", role, ": proposals in it are refused until it is given ",
                                "(witan device roles)"));
  }
  return warnings;
}

Result<AddedToken> addToken(const ApiContext& context, const AddTokenRequest& request) {
  ProgramToken bounds;
  bounds.name = request.name, bounds.roles = request.roles, bounds.entities = request.entities;
  bounds.rate = request.rate;
  WITAN_DO(checkBounds(bounds));
  WITAN_DO(checkRoles(context, request.roles));
  SystemRandom random;
  WITAN_TRY(token,
            context.programs.add(std::move(bounds), request.days.value_or(30), context.daemon.now().wall, random));
  const ProgramToken& made = context.programs.all().back();
  context.daemon.log().info("control", "made a token for a program",
                            {{"id", made.id}, {"name", made.name}, {"expires", formatTime(made.expires)}});
  return AddedToken{token, made.id, made.expires, rolesLacking(context.daemon, request.roles)};
}

Result<RevokedToken> revokeToken(const ApiContext& context, const RevokeTokenRequest& request) {
  WITAN_TRY(revoked, context.programs.revoke(request.token));
  context.daemon.log().info("control", "a token of a program was revoked",
                            {{"id", revoked.id}, {"name", revoked.name}});
  return RevokedToken{revoked.id, revoked.name};
}

}  // namespace

std::vector<ControlRoute> programRoutes() {
  using enum ControlRole;
  return {
      get("/v1/tokens", "listProgramTokens", "tokens", admin, "Tokens of programs; their secrets are not kept", list),
      post("/v1/tokens/add", "addProgramToken", "tokens", admin,
           "Makes a token with which a program proposes in some roles on some entities", addToken, {404, 409, 500}),
      post("/v1/tokens/revoke", "revokeProgramToken", "tokens", admin, "Ends a token of a program at once", revokeToken,
           {404, 500})};
}

}  // namespace witan::node::api
