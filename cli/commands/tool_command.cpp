// `witan tool list|test|record`: the tools outside that agents of this device may call (docs/tools.md).
#include <algorithm>

#include "base/quote.h"
#include "base/seams.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "node/config/daemon_config.h"
#include "node/daemon/agent_files.h"
#include "node/tools/tool_broker.h"

namespace witan::node {

namespace {

struct ToolArguments : LiveArguments {
  std::string name, operation, arguments = "{}", file;
};

constexpr std::int64_t kListMs = 60'000, kCallMs = 300'000;

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
    WITAN_TRY(secrets, secretsOf(dir, config.tools, config.secretKey));
    WITAN_SET(tools->broker_, ToolBroker::open(tools->loop_, tools->log_, std::move(config.tools), std::move(secrets)));
    return tools;
  }

  const ToolConfig& config() const { return broker_->tools().front(); }

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
  std::unique_ptr<ToolBroker> broker_;
};

Result<int> list(const ToolArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(config, loadConfig(dir));
  WITAN_TRY(files, AgentFiles::load(dir));
  WITAN_TRY(tools, files.withMinds(std::move(config.tools)));
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
  if (config.kind == "mcp")
    for (const auto& info : toolInfos(config))
      if (!usable.contains(info.operation)) missing.emplace_back(info.operation);
  const bool good = missing.empty();
  const json::object answer{{"missing", std::move(missing)},
                            {"protocol", listing.protocol},
                            {"server", listing.server},
                            {"tools", std::move(rows)}};
  print(answer, a.json, [&](const json::value& all) {
    std::string words = listing.server.empty() ? concat(config.kind, " cannot say what it offers\n")
                                               : concat(listing.server, ", MCP ", listing.protocol, "\n");
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
