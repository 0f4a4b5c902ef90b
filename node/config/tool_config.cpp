#include "node/config/tool_config.h"

#include <algorithm>
#include <array>
#include <set>

#include "agents/episode/episode.h"
#include "base/identity.h"
#include "base/quote.h"
#include "node/config/config_slots.h"

namespace witan::node {

namespace {

struct ToolKey {
  std::string_view name;
  ConfigSlot<ToolConfig> slot;
};

const std::array kToolKeys{ToolKey{"kind", &ToolConfig::kind},
                           ToolKey{"command", &ToolConfig::command},
                           ToolKey{"url", &ToolConfig::url},
                           ToolKey{"file", &ToolConfig::file},
                           ToolKey{"format", &ToolConfig::format},
                           ToolKey{"provider", &ToolConfig::provider},
                           ToolKey{"model", &ToolConfig::model},
                           ToolKey{"looks", &ToolConfig::looks},
                           ToolKey{"actions", &ToolConfig::actions},
                           ToolKey{"idempotent", &ToolConfig::idempotent},
                           ToolKey{"operation_argument", &ToolConfig::operationArgument},
                           ToolKey{"target", &ToolConfig::target},
                           ToolKey{"boundary", &ToolConfig::boundary},
                           ToolKey{"locales", &ToolConfig::locales},
                           ToolKey{"tokens", &ToolConfig::tokens},
                           ToolKey{"seconds", &ToolConfig::seconds},
                           ToolKey{"secret", &ToolConfig::secret},
                           ToolKey{"secret_as", &ToolConfig::secretAs},
                           ToolKey{"timeout_ms", &ToolConfig::timeoutMs},
                           ToolKey{"max_bytes", &ToolConfig::maxBytes},
                           ToolKey{"per_minute", &ToolConfig::perMinute},
                           ToolKey{"at_once", &ToolConfig::atOnce},
                           ToolKey{"network", &ToolConfig::network},
                           ToolKey{"memory_mb", &ToolConfig::memoryMb},
                           ToolKey{"environment", &ToolConfig::environment},
                           ToolKey{"asks", &ToolConfig::asks},
                           ToolKey{"vectors", &ToolConfig::vectors},
                           ToolKey{"serves", &ToolConfig::serves},
                           ToolKey{"execute", &ToolConfig::execute},
                           ToolKey{"record", &ToolConfig::record}};

std::string knownKeys() {
  std::string all;
  for (const ToolKey& key : kToolKeys) all += concat(all.empty() ? "" : ", ", key.name);
  return all;
}

Status readTool(ToolConfig& tool, const toml::table& keys, const std::string& file) {
  for (const auto& [key, value] : keys) {
    const auto found =
        std::ranges::find_if(kToolKeys, [&, &name = key](const ToolKey& k) { return k.name == name.str(); });
    if (found == kToolKeys.end())
      return atLine(file, value.source(), concat("unknown key ", key.str(), " in [tool.", tool.name, "]"),
                    "it has: " + knownKeys());
    std::vector<std::string> places;
    WITAN_DO(setSlot(tool, found->slot, value, concat("[tool.", tool.name, "] ", key.str()), file, places));
  }
  return okStatus();
}

// The last two are of agents' files (node/daemon/agent_files.h).
constexpr std::array<std::string_view, 8> kKinds{"mcp",   "http",   "command", "model",
                                                 "facts", "replay", "program", "served"};

// The names of the built-in tools' families are theirs.
constexpr std::array<std::string_view, 5> kTaken{"journal", "slice", "disclosure", "propose", "begin"};

}  // namespace

bool ToolConfig::isAction(std::string_view operation) const {
  return std::ranges::find(actions, operation) != actions.end();
}

Status readTools(std::vector<ToolConfig>& into, const toml::node& tables, const std::string& file) {
  const toml::table* all = tables.as_table();
  if (all == nullptr) return atLine(file, tables.source(), "tool must be sections: [tool.NAME]");
  for (const auto& [name, node] : *all) {
    const toml::table* keys = node.as_table();
    if (keys == nullptr) return atLine(file, node.source(), concat("tool.", name.str(), " must be a section"));
    if (into.size() >= kMaxConfiguredTools)
      return atLine(file, node.source(), concat("more than ", kMaxConfiguredTools, " tools"));
    ToolConfig tool;
    tool.name = name.str();
    tool.place = lineOf(file, node);
    WITAN_DO(readTool(tool, *keys, file));
    if (tool.kind == "program" || tool.kind == "served")
      return atLine(file, node.source(), concat("tool.", name.str(), " has the kind of an agent's own program"),
                    "agents/ID.agent.toml: program = [...], or served = true");
    into.push_back(std::move(tool));
  }
  return okStatus();
}

Status checkTool(const ToolConfig& tool) {
  const auto wrong = [&](const std::string& what, std::string hint = {}) -> Status {
    return invalid(concat(tool.place, ": [tool.", tool.name, "] ", what), std::move(hint));
  };
  if (const Status name = validateId("name of a tool", tool.name); !name.ok()) return wrong(name.error().message);
  if (tool.name.find('.') != tool.name.npos || std::ranges::find(kTaken, tool.name) != kTaken.end())
    return wrong("has a name that is taken, or with a dot", "another name");
  if (std::ranges::find(kKinds, tool.kind) == kKinds.end())
    return wrong("kind is " + inQuotes(tool.kind), "mcp, http, command, model, facts or replay");
  const bool program = tool.kind == "command" || tool.kind == "program" || (tool.kind == "mcp" && tool.url.empty());
  const bool model = tool.kind == "model";
  const bool address = model || tool.kind == "http" || (tool.kind == "mcp" && !program);
  if (program == tool.command.empty()) return wrong(program ? "has no command" : "has a command and no use for it");
  if (address == tool.url.empty()) return wrong(address ? "has no url" : "has a url and no use for it");
  const bool oauth = tool.secretAs == "oauth";                       // its tokens have a file
  const bool described = tool.kind == "http" && !tool.file.empty();  // by an OpenAPI document
  const bool facts = tool.kind == "facts";
  if ((tool.kind == "replay" || facts || oauth || described) == tool.file.empty())
    return wrong(tool.file.empty() ? "has no file" : "has a file and no use for it");
  const bool spoken = tool.format == "openai" || tool.format == "anthropic" || tool.format == "ollama";
  if (model != spoken || model == tool.model.empty() || model == tool.provider.empty())
    return wrong("a model, and nothing else, has format, provider and model", "format is openai, anthropic or ollama");
  if (model && (tool.looks != std::vector<std::string>{"chat"} || !tool.actions.empty()))
    return wrong("a model has one look and no action", "looks = [\"chat\"]");
  if (facts && !tool.actions.empty()) return wrong("facts have no actions", "looks = [\"match\", \"nearest\"]");
  if (!facts && !tool.vectors.empty()) return wrong("has vectors and no use for them");
  if (tool.asks != "refuse" && (tool.kind != "mcp" || (tool.asks != "defaults" && tool.asks != "person")))
    return wrong("asks is " + inQuotes(tool.asks), "refuse, defaults or person, of an MCP server");
  if (!tool.url.empty() && !tool.url.starts_with("http://") && !tool.url.starts_with("https://"))
    return wrong("url is " + inQuotes(tool.url), "http://HOST:PORT/PATH or https://...");
  std::set<std::string_view> seen;
  for (const auto* operations : {&tool.looks, &tool.actions})
    for (const std::string& operation : *operations) {
      if (const Status good = validateId("operation", operation); !good.ok()) return wrong(good.error().message);
      if (!seen.insert(operation).second) return wrong("names " + operation + " twice");
    }
  if (oauth && (tool.kind != "mcp" || program)) return wrong("has secret_as = \"oauth\" and is no MCP server at a url");
  if (!oauth && tool.secret.empty() != tool.secretAs.empty())
    return wrong("needs both secret and secret_as", "secret_as is bearer, header:NAME, env:NAME or oauth");
  const bool knownForm =
      tool.secretAs == "bearer" || tool.secretAs.starts_with("header:") || tool.secretAs.starts_with("env:");
  if (!oauth && !tool.secret.empty() && (!knownForm || program != tool.secretAs.starts_with("env:")))
    return wrong("secret_as is " + inQuotes(tool.secretAs),
                 "env:NAME for a program, bearer or header:NAME for an address");
  const auto within = [](std::int64_t value, std::int64_t least, std::int64_t most) {
    return value >= least && value <= most;
  };
  if (!within(tool.timeoutMs, 10, 240'000)) return wrong("timeout_ms is out of range", "10 to 240000");
  if (!within(tool.maxBytes, 64, static_cast<std::int64_t>(agents::episode::kMaxObservationBytes)))
    return wrong("max_bytes is out of range", concat("64 to ", agents::episode::kMaxObservationBytes));
  if (!within(tool.perMinute, 1, 1'000'000) || !within(tool.atOnce, 1, 64))
    return wrong("per_minute or at_once is out of range", "1 to 1000000, and 1 to 64");
  if (!within(tool.memoryMb, 0, 1 << 20)) return wrong("memory_mb is out of range", "0 to 1048576");
  for (const agents::episode::ToolInfo& info : toolInfos(tool))
    if (const Status good = agents::episode::checkTool(info); !good.ok()) return wrong(good.error().message);
  return okStatus();
}

std::vector<agents::episode::ToolInfo> toolInfos(const ToolConfig& tool) {
  using agents::episode::ToolKind;
  std::vector<agents::episode::ToolInfo> all;
  for (const ToolKind kind : {ToolKind::look, ToolKind::action})
    for (const std::string& operation : kind == ToolKind::look ? tool.looks : tool.actions) {
      all.push_back({.name = concat(tool.name, ".", operation),
                     .kind = kind,
                     .tokens = tool.tokens,
                     .seconds = tool.seconds,
                     .locale = tool.locales,
                     .targetArgument = tool.target,
                     .boundary = tool.boundary.empty() ? tool.name : tool.boundary,
                     .operation = operation,
                     .provider = tool.provider,
                     .model = tool.model,
                     .secret = tool.secret});
      if (tool.execute) all.back().execute = true;
      if (!tool.serves.empty()) all.back().serves = tool.serves;
    }
  return all;
}

}  // namespace witan::node
