// Command lines of clients, carried out on the running node: what `witan journal put` does to a directory, it does here
// to the one that is open.
#include "base/quote.h"
#include "node/api/control_routes.h"

namespace witan::node::api {

namespace {

struct Allowed {
  std::string_view noun, verb;
  ControlRole role;
};

constexpr auto kReads = ControlRole::observer;
constexpr auto kWrites = ControlRole::operator_;

constexpr Allowed kAllowed[]{
    {"agent", "list", kReads},
    {"agent", "show", kReads},
    {"agent", "create", kWrites},
    {"agent", "set", kWrites},
    {"agent", "pause", kWrites},
    {"agent", "resume", kWrites},
    {"agent", "destroy", kWrites},
    {"agent", "check", kReads},

    {"device", "list", kReads},
    {"device", "admit", ControlRole::admin},
    {"device", "retire", ControlRole::admin},
    {"device", "recover", ControlRole::admin},
    {"state", "show", kReads},
    {"sync", "status", kReads},
};

// Options that name files: they are the client's, the node must not open its own by those names.
bool namesFile(std::string_view word) {
  return word.starts_with("--json-payload") || word.starts_with("--key-file") || word.starts_with("--file");
}

Status mayRun(const std::vector<std::string>& argv, ControlRole role) {
  if (argv.size() < 2) return invalid("argv: expected a noun and a verb");
  for (const Allowed& allowed : kAllowed) {
    if (allowed.noun != argv[0] || allowed.verb != argv[1]) continue;
    if (!includes(role, allowed.role))
      return Error{
          ErrorCode::unauthorised,
          argv[0] + " " + argv[1] + " needs the role " + wordOf(allowed.role) + ", the token is of " + wordOf(role),
          ""};
    for (const std::string& word : argv)
      if (namesFile(word))
        return invalid("files cannot be given to a running node (" + word + ")", "give the text itself");
    return okStatus();
  }
  return Error{ErrorCode::conflict, inQuotes(argv[0] + " " + argv[1]) + " works on a directory that no node has open",
               "stop the node first"};
}

struct CommandRequest {
  std::vector<std::string> argv;
  WITAN_MEMBERS(CommandRequest, argv)
  static constexpr std::array notes{MemberNote{"argv", "Words of the command line, without the program's name"}};
};

struct CommandDone {
  std::int64_t exitCode = 0;
  std::string out, err;
  WITAN_MEMBERS(CommandDone, exitCode, out, err)
  static constexpr std::array notes{MemberNote{"exitCode", "Exit code of the command"},
                                    MemberNote{"out", "Standard output"}, MemberNote{"err", "Standard error"}};
};

Result<CommandDone> command(const ApiContext& context, const CommandRequest& request) {
  WITAN_DO(mayRun(request.argv, context.role));
  if (!context.runner) return Error{ErrorCode::unavailable, "this node runs no command lines", ""};
  CommandOutput done = context.runner(context.daemon, request.argv);
  context.daemon.scheduleTick();
  return CommandDone{done.exitCode, std::move(done.out), std::move(done.err)};
}

}  // namespace

std::vector<ControlRoute> commandRoutes() {
  return {typedRoute({.method = "POST",
                      .path = "/v1/command",
                      .operationId = "runCommand",
                      .tag = "node",
                      .role = ControlRole::observer,
                      .summary = "Runs a command line on the running node; its role depends on the command",
                      .errors = {403, 409},
                      .request = R"({"argv":["agent","list"]})",
                      .response = R"({"exitCode":0,"out":"","err":""})"},
                     command)};
}

}  // namespace witan::node::api
