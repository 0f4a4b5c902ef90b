// `witan tool list|test|record`: the tools outside that agents of this device may call (docs/tools.md).
#include <algorithm>

#include "base/quote.h"
#include "base/seams.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "net/http_server.h"
#include "node/config/daemon_config.h"
#include "node/daemon/agent_files.h"
#include "node/tools/tool_address.h"
#include "node/tools/tool_broker.h"
#include "node/tools/tool_grant.h"
#include "program/process.h"

namespace witan::node {

namespace {

struct ToolArguments : LiveArguments {
  std::string name, operation, arguments = "{}", file, clientId, metadata, issuer;
  bool machine = false;
};

constexpr std::int64_t kListMs = 60'000, kCallMs = 300'000, kFetchMs = 30'000, kLoginMs = 300'000;

// The tools of a data directory, with a loop of their own.
class Tools {
 public:
  // `only`: no other tool needs its secret.
  static Result<std::unique_ptr<Tools>> open(const ToolArguments& a, const std::string& record = {}) {
    WITAN_TRY(dir, replicaDirPath(a.dir));
    WITAN_TRY(config, loadConfig(dir));
    std::erase_if(config.tools, [&](const ToolConfig& tool) { return tool.name != a.name; });
    if (config.tools.empty())
      return notFound("there is no tool " + inQuotes(a.name), "witan.toml of the data directory has [tool.NAME]");
    config.tools.front().record = record;
    auto tools = std::make_unique<Tools>();
    tools->secretKey_ = config.secretKey;
    WITAN_TRY(secrets, secretsOf(dir, config.tools, config.secretKey));
    ignoreBrokenPipes();
    WITAN_SET(tools->broker_, ToolBroker::open(tools->loop_, tools->log_, std::move(config.tools), std::move(secrets)));
    return tools;
  }

  const ToolConfig& config() const { return broker_->tools().front(); }
  net::Loop& loop() { return loop_; }
  const std::string& secretKey() const { return secretKey_; }

  Result<ToolListing> list() {
    std::optional<Result<ToolListing>> got;
    broker_->list(config().name, [&](Result<ToolListing> listing) { got = std::move(listing); });
    if (!loop_.runUntil([&] { return got.has_value(); }, kListMs))
      return unavailable(config().name + " does not answer");
    return *std::move(got);
  }

  Result<json::value> call(const std::string& operation, json::object arguments) {
    agents::ToolCall call{.tool = concat(config().name, ".", operation), .arguments = std::move(arguments)};
    SystemRandom random;
    if (config().isAction(operation)) {
      Hash id{};
      random.fill(id);
      call.operation = OperationId{id};
    }
    std::optional<ToolAnswer> answer;
    broker_->call(call, [&](ToolAnswer came) { answer = std::move(came); });
    if (!loop_.runUntil([&] { return answer.has_value(); }, kCallMs))
      return unavailable(call.tool + " does not answer");
    if (answer->kind == ToolAnswer::Kind::done) return answer->content;
    const bool final = answer->kind == ToolAnswer::Kind::failed || answer->kind == ToolAnswer::Kind::unusable;
    return Error{final ? ErrorCode::conflict : ErrorCode::unavailable, call.tool + ": " + answer->error, ""};
  }

 private:
  net::Loop loop_;
  Log log_{LogLevel::info, false, [] { return SystemClock().now(); }, [](std::string_view line) { putErr(line); }};
  std::string secretKey_;
  std::unique_ptr<ToolBroker> broker_;
};

Result<int> list(const ToolArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(config, loadConfig(dir));
  WITAN_TRY(files, AgentFiles::load(dir, config.tools));
  const std::vector<ToolConfig> tools = files.withMinds(std::move(config.tools));
  json::array rows;
  for (const ToolConfig& tool : tools)
    for (const auto& info : toolInfos(tool)) {
      const bool acts = info.kind == agents::episode::ToolKind::action;
      rows.push_back(json::object{{"boundary", info.boundary},
                                  {"calls", !acts             ? "look"
                                            : tool.idempotent ? "exactly once"
                                                              : "at most once"},
                                  {"kind", tool.kind},
                                  {"name", info.name},
                                  {"operation", info.operation}});
    }
  return print(json::object{{"tools", std::move(rows)}}, a.json, [](const json::value& all) {
    std::vector<std::vector<std::string>> cells;
    for (const json::value& row : rowsOf(all, "tools"))
      cells.push_back({shown(row, "name"), shown(row, "calls"), shown(row, "kind"), shown(row, "boundary")});
    return cells.empty() ? std::string("no tools: witan.toml has no [tool.NAME]\n") : columns(cells);
  });
}

// What the server offers beside what is declared. Exit code 1: something that is declared cannot be called.
Result<int> test(const ToolArguments& a) {
  WITAN_TRY(tools, Tools::open(a));
  WITAN_TRY(listing, tools->list());
  const ToolConfig& config = tools->config();
  const auto declaredAs = [&](const std::string& name) {
    if (config.isAction(name)) return "action";
    return std::ranges::find(config.looks, name) != config.looks.end() ? "look" : "not declared";
  };
  json::array rows;
  std::set<std::string> usable;
  for (const OfferedTool& tool : listing.tools) {
    if (tool.problem.empty()) usable.insert(tool.name);
    rows.push_back(json::object{{"declared", declaredAs(tool.name)},
                                {"description", tool.description},
                                {"name", tool.name},
                                {"problem", tool.problem},
                                {"saysIdempotent", tool.idempotent},
                                {"saysReadOnly", tool.readOnly}});
  }
  json::array missing;
  if (config.kind == "mcp" || !listing.tools.empty())
    for (const auto& info : toolInfos(config))
      if (!usable.contains(info.operation)) missing.emplace_back(info.operation);
  const bool good = missing.empty();
  const json::object answer{{"missing", std::move(missing)},
                            {"protocol", listing.protocol},
                            {"server", listing.server},
                            {"tools", std::move(rows)}};
  print(answer, a.json, [&](const json::value& all) {
    std::string words = listing.server.empty()
                            ? concat(config.kind, " cannot say what it offers\n")
                            : concat(listing.server, listing.protocol.empty() ? "" : ", MCP ", listing.protocol, "\n");
    std::vector<std::vector<std::string>> cells;
    for (const json::value& row : rowsOf(all, "tools"))
      cells.push_back({shown(row, "name"), shown(row, "declared"),
                       isTrue(row, "saysReadOnly") ? "says it only reads" : "may change something",
                       shown(row, "problem")});
    words += columns(cells);
    for (const json::value& name : rowsOf(all, "missing"))
      words += concat("cannot be called: ", name.get_string(), "\n");
    return words;
  });
  return good ? kExitOk : kExitFailed;
}

Result<int> record(const ToolArguments& a) {
  WITAN_TRY(arguments, parseJson(a.arguments));
  if (!arguments.is_object()) return invalid("the arguments are no JSON object", "'{\"path\": \"/tmp\"}'");
  WITAN_TRY(tools, Tools::open(a, a.file));
  WITAN_TRY(content, tools->call(a.operation, arguments.get_object()));
  putWords(canonicalJson(content) + "\n");
  return kExitOk;
}

// --- login

Result<mcp::WebAnswer> fetched(const mcp::WebRequest& request) {
  WITAN_TRY(place, toolAddress(request.url));
  const auto answer = net::httpCall(place.endpoint, httpRequestOf(request, place.path), kFetchMs);
  if (!answer.ok()) return unavailable(concat(request.url, ": ", answer.error().message));
  return mcp::WebAnswer{answer->status, answer->body};
}

// Where a browser brings a person back to.
class Return {
 public:
  explicit Return(net::Loop& loop)
      : loop_(loop), server_(loop, {}, [this](const net::HttpRequest& r, auto reply) {
          const bool back = r.path == "/callback" && r.method == "GET";
          if (back && query_.empty()) query_ = r.query;
          reply->answer({back ? 200 : 404, "text/plain", {}, back ? "You can close this page.\n" : "Nothing here.\n"});
        }) {}
  Result<std::string> listen() {
    WITAN_TRY(address, server_.listen("127.0.0.1:0"));
    return "http://" + address + "/callback";
  }
  Result<std::map<std::string, std::string>> wait(const std::string& url) {
    putOut("Open this page, and log in:\n" + url + "\n");
    std::fflush(stdout);
    if (!loop_.runUntil([&] { return !query_.empty(); }, kLoginMs))
      return unavailable("nobody came back from the login page");
    loop_.runUntil([] { return false; }, 200);  // for the page that says so
    return query_;
  }

 private:
  net::Loop& loop_;
  std::map<std::string, std::string> query_;
  net::HttpServer server_;
};

Result<int> login(const ToolArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(tools, Tools::open(a));
  const ToolConfig& config = tools->config();
  if (!usesOAuth(config)) return invalid(config.name + " needs no login", "secret_as = \"oauth\" in witan.toml");
  WITAN_TRY(secrets, secretsOf(dir, {config}, tools->secretKey()));
  const Secret* secret = config.secret.empty() ? nullptr : secrets.find(config.secret);
  WITAN_TRY(before, readGrant(config, secret));
  if (before.challenge.empty()) (void)tools->list();  // its refusal says what it wants
  WITAN_SET(before, readGrant(config, secret));
  Return back(tools->loop());
  WITAN_TRY(redirect, back.listen());
  mcp::OAuthSetup setup{.server = config.url, .clientId = a.clientId, .issuer = a.issuer};
  if (secret != nullptr) setup.clientSecret = secret->reveal();
  setup.clientMetadata = a.metadata, setup.redirect = redirect, setup.machine = a.machine;
  SystemRandom random;
  WITAN_TRY(grant, mcp::logIn(
                       setup, before, fetched, [&](const std::string& url) { return back.wait(url); }, random,
                       SystemClock().now().micros / 1'000));
  WITAN_DO(writeGrant(config, grant, secret));
  putOut(concat("logged in at ", grant.issuer, grant.scope.empty() ? "" : ", for ", grant.scope, "\n"));
  return kExitOk;
}

}  // namespace

void addToolCommand(Command& app) {
  Command* tool = app.command("tool", "Tools outside that agents of this device may call: [tool.NAME] in witan.toml");
  tool->requireCommand();
  tool->footer("Example: witan tool list");
  addVerb<ToolArguments>(*tool, "list", "The operations that are declared, and how often each may be carried out",
                         "witan tool list --dir data", list);
  const auto [testCommand, toTest] =
      addVerb<ToolArguments>(*tool, "test", "Ask a tool's server what it offers, beside what is declared", "", test);
  testCommand->option("NAME", toTest->name, "Which: NAME of [tool.NAME]")->required();
  testCommand->footer(
      "Exit code 1: an operation is declared and cannot be called.\nExample: witan tool test box --dir data");
  const auto [loginCommand, toLogin] =
      addVerb<ToolArguments>(*tool, "login", "Get a token for an MCP server that wants OAuth", "", login);
  loginCommand->option("NAME", toLogin->name, "Which: NAME of [tool.NAME], with secret_as = \"oauth\"")->required();
  loginCommand->option("--client-id", toLogin->clientId,
                       "Of a client that was registered before; its secret is the tool's. Default: registers one");
  loginCommand->option("--issuer", toLogin->issuer, "Who gives tokens. Required where the tool has a secret")
      ->typeName("URL");
  loginCommand->option("--client-metadata", toLogin->metadata, "https url of a client id metadata document")
      ->typeName("URL");
  loginCommand->flag("--machine", toLogin->machine, "Without a person: the client's own credentials are enough");
  loginCommand->footer(
      "Prints a page for a browser on this machine, and waits for it to come back.\nExample: witan tool login box");
  const auto [recordCommand, toRecord] = addVerb<ToolArguments>(
      *tool, "record", "Call an operation by hand, and keep the answer for a tool of kind replay", "", record);
  recordCommand->option("NAME", toRecord->name, "Which: NAME of [tool.NAME]")->required();
  recordCommand->option("OPERATION", toRecord->operation, "One of its looks or actions")->required();
  recordCommand->option("ARGUMENTS", toRecord->arguments, "A JSON object")->showDefault();
  recordCommand->option("--to", toRecord->file, "The file that the call is appended to; default: none")
      ->typeName("FILE");
  recordCommand->footer("An action really acts.\nExample: witan tool record box get '{}' --dir data --to calls.jsonl");
}

}  // namespace witan::node
