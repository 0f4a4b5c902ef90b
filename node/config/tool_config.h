// [tool.NAME] of witan.toml: a tool outside that agents of this device may call, as far as capabilities and policy let
// them. docs/tools.md has the table of keys.
//
// Values.
#pragma once

#include <toml++/toml.h>
#include <cstdint>
#include <string>
#include <vector>

#include "agents/episode/tool.h"
#include "base/result.h"

namespace witan::node {

struct ToolConfig {
  std::string name, place;               // [tool.NAME]; "witan.toml:7"
  std::string kind;                      // mcp, http, command, model, facts, replay
  std::vector<std::string> command;      // of mcp over stdio, and of a command
  std::string url;                       // of mcp over HTTP, of http and of a model
  std::string file;                      // of replay: what `record` wrote; of facts: Turtle
  std::string format, provider, model;   // of a model: openai, anthropic or ollama; as the policy knows it
  std::vector<std::string> looks;        // operations that change nothing
  std::vector<std::string> actions;      // those that do
  bool idempotent = false;               // an operation id is one call, however often it comes
  std::string operationArgument;         // the argument in which the tool wants the operation id
  std::string target;                    // the argument with the id that a call touches
  std::string boundary;                  // as the policy knows it; empty: NAME
  std::vector<std::string> locales;      // where its data gets to
  std::int64_t tokens = 0, seconds = 0;  // that a call costs at least
  std::string secret, secretAs;          // its name; "header:NAME", "bearer" or "env:NAME"
  std::int64_t timeoutMs = 30'000;
  std::int64_t maxBytes = 60 * 1024;  // of a result
  std::int64_t perMinute = 600, atOnce = 8;
  bool network = true;                   // of a program
  std::int64_t memoryMb = 0;             // of a program; 0: no limit
  std::vector<std::string> environment;  // names of variables that a program gets beside PATH, HOME and LANG
  std::string asks = "refuse";           // of mcp, to a server that asks back: refuse, defaults, person
  std::string vectors;                   // of facts: a file with a vector of each thing; empty: none
  std::vector<std::string> serves;       // types of goals for which agents that learn may choose it
  bool execute = false;                  // it executes code: only capabilities with `execute` cover it
  std::string record;                    // the file that each call is appended to; empty: none

  bool isAction(std::string_view operation) const;
};

inline constexpr std::size_t kMaxConfiguredTools = 32;

// The table `tool` of a file, a table a tool. Errors name file and line.
Status readTools(std::vector<ToolConfig>& into, const toml::node& tables, const std::string& file);
// Errors: what is missing, too large or of another kind of tool.
Status checkTool(const ToolConfig& tool);

// What agents see of it: NAME.OPERATION for each operation.
std::vector<agents::episode::ToolInfo> toolInfos(const ToolConfig& tool);

}  // namespace witan::node
