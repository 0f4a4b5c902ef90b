// Effect: the permission to do one thing, and the only way to do it (seed 004, Law 1: all that reaches the outside goes
// through E).
//
// Only an Episode makes one, and only when the entry that announces it is durable (Law 2), so whoever carries out calls
// takes an Effect and nothing else. It can be moved, not copied: one permission, one call. After a crash the same call
// is permitted again, unless its outcome is in the transcript.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/episode/tool.h"
#include "base/identity.h"

namespace witan::agents::episode {

class Effect {
 public:
  Effect(Effect&&) = default;
  Effect& operator=(Effect&&) = default;

  const std::string& span() const { return span_; }  // what the answer must name
  const RunKey& run() const { return run_; }
  const std::string& agentId() const { return agentId_; }
  const ToolInfo& tool() const { return tool_; }
  // As the gate let them pass.
  const json::object& arguments() const { return arguments_; }
  // Of an action: its idempotency key, and what it declared.
  const std::optional<OperationId>& operation() const { return operation_; }
  const std::vector<std::string>& scope() const { return scope_; }
  const std::vector<std::string>& targets() const { return targets_; }

 private:
  friend class Episode;
  Effect() = default;

  std::string span_, agentId_;
  RunKey run_;
  ToolInfo tool_;
  json::object arguments_;
  std::optional<OperationId> operation_;
  std::vector<std::string> scope_, targets_;
};

}  // namespace witan::agents::episode
