// The agents of a data directory that are files: DIR/agents/ID.agent.toml (agents/data/). Read when agents start. Each
// version that was read stays in DIR/agents/versions/, so that its runs can be replayed.
//
// Immutable; must outlive the agents' host.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "base/result.h"
#include "node/config/tool_config.h"

namespace witan::node {

class AgentFiles {
 public:
  // `tools`: of the device's configuration. A file that the cluster's admin has published and that cannot be taken is
  // left out. Errors: another file that is none, naming it; an id of this build's own agents, or of a tool.
  static Result<AgentFiles> load(const std::filesystem::path& dir, std::span<const ToolConfig> tools);
  // The agent of an old version. Errors: notFound.
  static Result<std::unique_ptr<const agents::Agent>> version(const std::filesystem::path& dir, const std::string& id,
                                                              const std::string& version);
  // All that load() asks of one file. Errors: the text is no agent that the file `name` may have, or one that this
  // device cannot start beside its tools.
  static Status check(const std::string& text, const std::string& name, std::span<const ToolConfig> tools);
  // Keeps a version for the replay of its runs. Requires: check() takes the text.
  static Status keep(const std::filesystem::path& dir, const std::string& text);

  // With those of this build.
  std::vector<const agents::Agent*> all() const;
  // Of this directory or of this build; null: none.
  const agents::Agent* find(std::string_view id) const;
  // The tools that load() was given, and the minds of the agents whose program is their own: ID.step.
  std::vector<ToolConfig> withMinds(std::vector<ToolConfig> tools) const;
  // Whether its program comes to a running node.
  bool isServed(std::string_view id) const;
  // Of each published file that was left out, what people should know; and whether this agent's was, or was withdrawn.
  const std::vector<std::string>& leftOut() const { return leftOut_; }
  bool isLeftOut(std::string_view id) const;

 private:
  std::vector<std::unique_ptr<const agents::Agent>> agents_;
  std::vector<ToolConfig> minds_;
  std::vector<std::string> leftOut_, leftOutNames_;
};

}  // namespace witan::node
