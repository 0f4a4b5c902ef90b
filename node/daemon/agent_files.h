// The agents of a data directory that are files: DIR/agents/ID.agent.toml (agents/data/). Read when agents start. Each
// version that was read stays in DIR/agents/versions/, so that its runs can be replayed.
//
// Immutable; must outlive the agents' host.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "base/result.h"
#include "node/config/tool_config.h"

namespace witan::node {

class AgentFiles {
 public:
  // Errors: a file that is none, naming it; two agents of one id; an id of this build's own agents.
  static Result<AgentFiles> load(const std::filesystem::path& dir);
  // The agent of an old version. Errors: notFound.
  static Result<std::unique_ptr<const agents::Agent>> version(const std::filesystem::path& dir, const std::string& id,
                                                              const std::string& version);
  // Errors: the text is no agent that the file `name` may have.
  static Status check(const std::string& text, const std::string& name);
  // Keeps a version for the replay of its runs. Requires: check() takes the text.
  static Status keep(const std::filesystem::path& dir, const std::string& text);

  // With those of this build.
  std::vector<const agents::Agent*> all() const;
  // Of this directory or of this build; null: none.
  const agents::Agent* find(std::string_view id) const;
  // The tools of a configuration, and the minds of the agents whose program is their own: ID.step. Errors: two of one
  // name.
  Result<std::vector<ToolConfig>> withMinds(std::vector<ToolConfig> tools) const;
  // Whether its program comes to a running node.
  bool isServed(std::string_view id) const;

 private:
  std::vector<std::unique_ptr<const agents::Agent>> agents_;
  std::vector<ToolConfig> minds_;
};

}  // namespace witan::node
