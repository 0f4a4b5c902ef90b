// `witan mcp`: the Model Context Protocol on stdin and stdout, for one program, with the rights of one
// token, or of one role of a domain.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <optional>

#include "base/quote.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "mcp/act.h"
#include "mcp/server.h"
#include "mcp/watch.h"
#include "program/line_reader.h"

namespace witan::node {
namespace {

constexpr std::int64_t kBurst = 100, kPerSecond = 50;  // calls
constexpr int kLookMs = 1000;
constexpr std::size_t kMostSubscribed = 64;  // each is read at every look

struct McpArguments : LiveArguments {
  std::string role = "operator", as, counselor;
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

std::int64_t steadyMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// One client on stdin and stdout. Between its messages, what it subscribed to is read once a second.
class McpStdio {
 public:
  McpStdio(ControlClient node, std::optional<ControlClient> counselor, mcp::Catalogue catalogue)
      : node_(std::move(node)), counselor_(std::move(counselor)), catalogue_(std::move(catalogue)) {}

  Status run() {
    WITAN_TRY(input, InputFile::open("-"));
    LineCutter lines(mcp::ServerLimits{}.line.bytes);
    std::array<char, 64 << 10> buffer{};
    for (;;) {
      WITAN_DO(waitForInput());
      WITAN_TRY(size, input.read(buffer));
      if (size == 0) break;
      std::string_view bytes(buffer.data(), size);
      while (const auto line = lines.next(bytes)) WITAN_DO(receive(line->text));  // one that is too long comes empty
    }
    const auto last = lines.last();
    return last ? receive(last->text) : okStatus();
  }

 private:
  Status receive(std::string_view line) {
    mcp::Turn turn = server_.receive(line, steadyMs());
    WITAN_DO(send(turn.out));
    if (turn.call) WITAN_DO(send(server_.finish(*turn.call, carryOut(*turn.call)).out));
    return look(true);
  }

  mcp::Outcome carryOut(const mcp::Call& call) {
    mcp::Act act(catalogue_, seals_, call);
    mcp::Step step = act.begin(steadyMs());
    while (const auto* request = std::get_if<mcp::ApiRequest>(&step)) {
      const ControlClient& node = request->counselor && counselor_ ? *counselor_ : node_;
      step = act.answered(
          request->reads ? node.get(request->path + queryOf(request->body)) : node.post(request->path, request->body),
          steadyMs());
    }
    return std::get<mcp::Outcome>(std::move(step));
  }

  // Reads what is subscribed to, or only what never was.
  Status look(bool newOnly) {
    const std::set<std::string> uris = server_.subscribed();
    seen_.keep(uris);
    for (const std::string& uri : uris)
      if (!(newOnly && seen_.knows(uri)) && seen_.changed(uri, carryOut(mcp::readingOf(uri))))
        WITAN_DO(send(server_.updated(uri)));
    return okStatus();
  }

  Status waitForInput() {
    while (!server_.subscribed().empty()) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      const int ready = ::poll(&input, 1, kLookMs);
      if (ready > 0) break;
      if (ready == 0) WITAN_DO(look(false));
    }
    return okStatus();
  }

  Status send(const std::vector<std::string>& messages) {
    for (const std::string& message : messages) putOut(message + "\n");
    if (std::fflush(stdout) != 0) return Error{ErrorCode::ioFailed, "the MCP client reads no more", ""};
    return okStatus();
  }

  const ControlClient node_;
  const std::optional<ControlClient> counselor_;
  const mcp::Catalogue catalogue_;
  const mcp::Offer offer_ = catalogue_.offer();
  SystemRandom random_;
  mcp::Seals seals_{random_};
  mcp::RateLimit calls_{kBurst, kPerSecond};
  mcp::Watch seen_;
  mcp::Server server_{offer_, calls_, {.subscribed = kMostSubscribed}};
};

Result<int> serve(const McpArguments& arguments, const mcp::Authority& authority, ControlRole role) {
  WITAN_TRY(dir, replicaDirPath(arguments.dir));
  WITAN_TRY(node, ControlClient::open(dir, role));
  WITAN_TRY(catalogue, catalogueOf(node, authority));
  if (arguments.printToken) {
    WITAN_TRY(tokens, ControlTokens::read(dir));
    putOut(tokens.participantToken(authority.words()) + "\n");
    return static_cast<int>(kExitOk);
  }
  std::optional<ControlClient> counselor;
  if (!authority.counselor.empty()) {
    WITAN_TRY(opened, ControlClient::open(dir, ControlRole::counselor));
    counselor = std::move(opened);
  }
  WITAN_DO(McpStdio(std::move(node), std::move(counselor), std::move(catalogue)).run());
  return static_cast<int>(kExitOk);
}

int runMcp(const McpArguments& arguments) {
  const auto role = roleNamed(heldRole(arguments));
  if (!role.ok()) return reportUsage(role.error(), arguments.json);
  if (arguments.as.empty() && (arguments.printToken || !arguments.counselor.empty()))
    return reportUsage(
        invalid("--counselor and --print-token need --as DOMAIN.ROLE", "witan domain list names the roles"),
        arguments.json);
  mcp::Authority authority{wordOf(*role)};
  const std::string words = arguments.as + (arguments.counselor.empty() ? "" : "/" + arguments.counselor);
  const Status narrowed = words.empty() ? okStatus() : mcp::narrow(authority, words);
  if (!narrowed.ok()) return reportUsage(narrowed.error(), arguments.json);
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
  command->option("--counselor", arguments->counselor,
                  "Name of the person at the client, who decides what the role of --as proposes and escalates");
  command->flag("--print-token", arguments->printToken,
                "Print a token for /mcp that is good for --as alone; serve nothing");
  command->callback([arguments] { return runMcp(*arguments); });
}

}  // namespace witan::node
