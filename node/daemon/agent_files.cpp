#include "node/daemon/agent_files.h"

#include <algorithm>

#include "agents/data/data_agent.h"
#include "base/quote.h"
#include "domains/agents.h"
#include "program/durable_file.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kEnding = ".agent.toml";
constexpr std::size_t kMostAgentFiles = 256;

fs::path folderOf(const fs::path& dir) { return dir / "agents"; }

// The broker asks it one thing after the other.
ToolConfig mindOf(const agents::AgentFile& file, const std::string& place) {
  ToolConfig mind{.name = file.id, .place = place, .kind = file.served ? "served" : "program"};
  mind.command = file.program, mind.environment = file.environment;
  mind.looks = {"step"};
  mind.locales = file.locale;
  mind.timeoutMs = file.timeoutMs, mind.network = file.network, mind.memoryMb = file.memoryMb;
  mind.atOnce = 1;
  return mind;
}

Result<std::unique_ptr<const agents::Agent>> agentOf(const std::string& text, const std::string& name,
                                                     std::vector<ToolConfig>* minds = nullptr) {
  WITAN_TRY(file, agents::readAgentFile(text, name));
  if (minds != nullptr && file.ownProgram()) minds->push_back(mindOf(file, name));
  auto made = agents::DataAgent::make(std::move(file), agents::agentFileVersion(text));
  if (!made.ok()) return invalid(name + ": " + made.error().message, made.error().hint);
  return std::unique_ptr<const agents::Agent>(*std::move(made));
}

// Before its first run.
Status keepVersion(const fs::path& dir, const std::string& version, const std::string& text) {
  const fs::path folder = folderOf(dir) / "versions", file = folder / (version + std::string(kEnding));
  std::error_code failed;
  if (fs::exists(file, failed)) return okStatus();
  fs::create_directories(folder, failed);
  if (failed) return ioFailed("cannot make " + folder.string() + " (" + failed.message() + ")");
  return replaceFile(file, text, 0600);
}

Status mayBeNamed(const agents::AgentSpec& spec, const fs::path& file) {
  if (file.filename() != spec.id + std::string(kEnding))
    return invalid(concat(file.string(), ": its id is ", inQuotes(spec.id)),
                   "the file must be named " + spec.id + std::string(kEnding));
  if (domains::findAgent(spec.id) != nullptr)
    return invalid(concat(file.string(), ": ", spec.id, " is an agent of this build"), "give it another id");
  return okStatus();
}

}  // namespace

Status AgentFiles::check(const std::string& text, const std::string& name) {
  WITAN_TRY(agent, agentOf(text, name));
  return mayBeNamed(agent->spec(), name);
}

Status AgentFiles::keep(const fs::path& dir, const std::string& text) {
  return keepVersion(dir, agents::agentFileVersion(text), text);
}

Result<AgentFiles> AgentFiles::load(const fs::path& dir) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folderOf(dir), failed))
    if (entry.path().filename().string().ends_with(kEnding)) files.push_back(entry.path());
  if (files.size() > kMostAgentFiles)
    return invalid(concat(folderOf(dir).string(), ": more than ", kMostAgentFiles, " agents"));
  std::ranges::sort(files);
  AgentFiles out;
  for (const fs::path& file : files) {
    WITAN_TRY(text, readSmallFile(file, agents::kMaxAgentFileBytes));
    if (!text) continue;
    WITAN_TRY(agent, agentOf(*text, file.string(), &out.minds_));
    const agents::AgentSpec& spec = agent->spec();
    WITAN_DO(mayBeNamed(spec, file));
    WITAN_DO(keepVersion(dir, spec.version, *text));
    out.agents_.push_back(std::move(agent));
  }
  return out;
}

Result<std::unique_ptr<const agents::Agent>> AgentFiles::version(const fs::path& dir, const std::string& id,
                                                                 const std::string& version) {
  const Error none = notFound(concat("there is no agent ", inQuotes(id), " of version ", inQuotes(version)),
                              "replay it on a device, or with the build, that made it");
  if (!version.starts_with("file-") || version.find('/') != version.npos) return none;
  const fs::path file = folderOf(dir) / "versions" / (version + std::string(kEnding));
  WITAN_TRY(text, readSmallFile(file, agents::kMaxAgentFileBytes));
  if (!text || agents::agentFileVersion(*text) != version) return none;
  return agentOf(*text, file.string());
}

std::vector<const agents::Agent*> AgentFiles::all() const {
  std::vector<const agents::Agent*> list(domains::builtinAgents().begin(), domains::builtinAgents().end());
  for (const auto& agent : agents_) list.push_back(agent.get());
  return list;
}

const agents::Agent* AgentFiles::find(std::string_view id) const {
  for (const auto& agent : agents_)
    if (agent->spec().id == id) return agent.get();
  return domains::findAgent(id);
}

Result<std::vector<ToolConfig>> AgentFiles::withMinds(std::vector<ToolConfig> tools) const {
  for (const ToolConfig& mind : minds_) {
    const auto same = std::ranges::find(tools, mind.name, &ToolConfig::name);
    if (same != tools.end())
      return conflict(
          concat(mind.place, ": the agent has the name of a tool: ", same->place, " has [tool.", mind.name, "]"),
          "another id");
    if (const Status good = checkTool(mind); !good.ok()) return good.error();
    tools.push_back(mind);
  }
  return tools;
}

bool AgentFiles::isServed(std::string_view id) const {
  return std::ranges::any_of(minds_, [&](const ToolConfig& mind) { return mind.name == id && mind.kind == "served"; });
}

}  // namespace witan::node
