// `witan mcp`: the Model Context Protocol on stdin and stdout, for one program, with the rights of one
// token, or of one role of a domain.
#include <chrono>
#include <cstdio>

#include "base/quote.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "mcp/catalogue.h"
#include "mcp/server.h"
#include "program/line_reader.h"

namespace witan::node {
namespace {

constexpr std::int64_t kBurst = 100, kPerSecond = 50;  // calls

struct McpArguments : LiveArguments {
  std::string role = "operator", as;
  bool printToken = false;
};

Result<ControlRole> roleNamed(const std::string& name) {
  for (const ControlRole role :
       {ControlRole::observer, ControlRole::operator_, ControlRole::counselor, ControlRole::admin})
    if (name == wordOf(role)) return role;
  return invalid("there is no role " + inQuotes(name), "observer, operator, counselor or admin");
}

// A token begins with the name of its role. One that lies is refused by the node.
std::string heldRole(const McpArguments& arguments) {
  const char* token = std::getenv("WITAN_TOKEN");
  if (std::getenv("WITAN_URL") == nullptr || token == nullptr) return arguments.role;
  return std::string(token).substr(0, std::string_view(token).find('-'));
}

Result<mcp::Catalogue> catalogueOf(const ControlClient& node, const mcp::Authority& authority) {
  WITAN_TRY(openApi, node.get("/v1/openapi.json"));
  WITAN_TRY(list, node.get("/v1/domains"));
  std::vector<json::value> domains;
  for (const json::value& row : rowsOf(list, "domains")) {
    WITAN_TRY(domain, node.get("/v1/domains/" + shown(row, "name")));
    domains.push_back(std::move(domain));
  }
  return mcp::Catalogue::make(openApi, domains, authority);
}

mcp::Outcome carryOut(const ControlClient& node, const mcp::Catalogue& catalogue, const mcp::Call& call) {
  const mcp::Tool& tool = *catalogue.find(call.name());
  const json::object* arguments = mcp::objectIn(call.params, "arguments");
  const auto request = mcp::requestOf(tool, arguments == nullptr ? json::object() : *arguments);
  if (!request.ok()) return mcp::failedTool(request.error().message);
  return mcp::outcomeOf(tool, request->reads ? node.get(request->path + queryOf(request->body))
                                             : node.post(request->path, request->body));
}

std::int64_t steadyMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Result<int> serve(const McpArguments& arguments, const mcp::Authority& authority, ControlRole role) {
  WITAN_TRY(dir, replicaDirPath(arguments.dir));
  WITAN_TRY(node, ControlClient::open(dir, role));
  WITAN_TRY(catalogue, catalogueOf(node, authority));
  if (arguments.printToken) {
    WITAN_TRY(tokens, ControlTokens::read(dir));
    putOut(tokens.participantToken(arguments.as) + "\n");
    return static_cast<int>(kExitOk);
  }
  const mcp::Offer offer = catalogue.offer();
  mcp::RateLimit calls(kBurst, kPerSecond);
  const mcp::ServerLimits limits;
  mcp::Server server(offer, calls, limits);
  WITAN_DO(
      forEachLine("-", limits.line.bytes, [&](const InputLine& line) -> Status {  // one that is too long comes empty
        mcp::Turn turn = server.receive(line.text, steadyMs());
        if (turn.call) turn = server.finish(*turn.call, carryOut(node, catalogue, *turn.call));
        for (const std::string& message : turn.out) putOut(message + "\n");
        if (std::fflush(stdout) != 0) return Error{ErrorCode::ioFailed, "the MCP client reads no more", ""};
        return okStatus();
      }));
  return static_cast<int>(kExitOk);
}

int runMcp(const McpArguments& arguments) {
  const auto role = roleNamed(heldRole(arguments));
  if (!role.ok()) return reportUsage(role.error(), arguments.json);
  mcp::Authority authority{wordOf(*role), {}, {}};
  const Status narrowed = arguments.as.empty() ? okStatus() : mcp::narrow(authority, arguments.as);
  if (!narrowed.ok()) return reportUsage(narrowed.error(), arguments.json);
  if (arguments.printToken && arguments.as.empty())
    return reportUsage(invalid("--print-token needs --as DOMAIN.ROLE", "tokens of the node: control.tokens"),
                       arguments.json);
  const Result<int> code = serve(arguments, authority, *role);
  return code.ok() ? *code : reportError(code.error(), arguments.json);
}

}  // namespace

void addMcpCommand(Command& app) {
  const auto arguments = std::make_shared<McpArguments>();
  Command* command = app.command("mcp", "Serve an MCP client on stdin and stdout, with the rights of one token");
  addLiveOptions(command, *arguments, "witan mcp --role observer < /dev/null");
  command->option("--role", arguments->role, "Whose token: observer, operator, counselor or admin")->showDefault();
  command->option("--as", arguments->as, "Only what this role of a domain may see and propose: DOMAIN.ROLE");
  command->flag("--print-token", arguments->printToken,
                "Print a token for /mcp that is good for --as alone; serve nothing");
  command->callback([arguments] { return runMcp(*arguments); });
}

}  // namespace witan::node
