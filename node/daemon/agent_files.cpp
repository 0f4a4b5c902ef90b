#include "node/daemon/agent_files.h"

#include <algorithm>

#include "agents/data/data_agent.h"
#include "base/quote.h"
#include "domains/agents.h"
#include "node/data_dir/published_document.h"
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

Result<std::unique_ptr<const agents::Agent>> agentOf(agents::AgentFile file, const std::string& text,
                                                     const std::string& name) {
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

struct ReadAgent {
  std::unique_ptr<const agents::Agent> agent;
  std::optional<ToolConfig> mind;
};

// All that a start asks of a file.
Result<ReadAgent> readAgent(const std::string& text, const fs::path& path, std::span<const ToolConfig> tools) {
  const std::string name = path.string();
  WITAN_TRY(file, agents::readAgentFile(text, name));
  ReadAgent read;
  if (file.ownProgram()) {
    read.mind = mindOf(file, name);
    WITAN_DO(checkTool(*read.mind));
    if (const auto same = std::ranges::find(tools, file.id, &ToolConfig::name); same != tools.end())
      return conflict(concat(name, ": the agent has the name of a tool: ", same->place, " has [tool.", file.id, "]"),
                      "another id");
  }
  WITAN_SET(read.agent, agentOf(std::move(file), text, name));
  WITAN_DO(mayBeNamed(read.agent->spec(), path));
  return read;
}

}  // namespace

Status AgentFiles::check(const std::string& text, const std::string& name, std::span<const ToolConfig> tools) {
  const auto read = readAgent(text, name, tools);
  return read.ok() ? okStatus() : Status(read.error());
}

Status AgentFiles::keep(const fs::path& dir, const std::string& text) {
  return keepVersion(dir, agents::agentFileVersion(text), text);
}

Result<AgentFiles> AgentFiles::load(const fs::path& dir, std::span<const ToolConfig> tools) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folderOf(dir), failed))
    if (entry.path().filename().string().ends_with(kEnding)) files.push_back(entry.path());
  std::ranges::sort(files);
  AgentFiles out;
  for (const fs::path& file : files) {
    WITAN_TRY(text, readSmallFile(file, agents::kMaxAgentFileBytes));
    if (!text) continue;
    auto read = out.agents_.size() < kMostAgentFiles
                    ? readAgent(*text, file, tools)
                    : Result<ReadAgent>(invalid(concat(file.string(), ": more than ", kMostAgentFiles, " agents")));
    if (!read.ok()) {
      WITAN_TRY(words, leaveOut(dir, file, read.error()));
      out.leftOut_.push_back(std::move(words)), out.leftOutNames_.push_back(file.filename().string());
      continue;
    }
    WITAN_DO(keepVersion(dir, read->agent->spec().version, *text));
    out.agents_.push_back(std::move(read->agent));
    if (read->mind) out.minds_.push_back(*std::move(read->mind));
  }
  for (const auto& entry : fs::directory_iterator(dir / "published", failed))
    if (std::string name = entry.path().filename().string(); name.ends_with(kEnding) && isWithdrawn(dir, name))
      out.leftOutNames_.push_back(std::move(name));
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
  WITAN_TRY(read, agents::readAgentFile(*text, file.string()));
  return agentOf(std::move(read), *text, file.string());
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

std::vector<ToolConfig> AgentFiles::withMinds(std::vector<ToolConfig> tools) const {
  tools.insert(tools.end(), minds_.begin(), minds_.end());
  return tools;
}

bool AgentFiles::isLeftOut(std::string_view id) const {
  return std::ranges::find(leftOutNames_, concat(id, kEnding)) != leftOutNames_.end();
}

bool AgentFiles::isServed(std::string_view id) const {
  return std::ranges::any_of(minds_, [&](const ToolConfig& mind) { return mind.name == id && mind.kind == "served"; });
}

}  // namespace witan::node
