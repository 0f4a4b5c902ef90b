#include "agents/episode/tool.h"

#include <algorithm>

#include "agents/episode/capability.h"
#include "base/identity.h"

namespace witan::agents::episode {

namespace {

void sortOnce(std::vector<std::string>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

}  // namespace

Status checkTool(const ToolInfo& tool) {
  WITAN_DO(validateId("tool", tool.name));
  if (tool.tokens < 0 || tool.seconds < 0) return invalid("tool " + tool.name + ": a cost cannot be negative");
  for (const std::string& tag : tool.locale) WITAN_DO(validateId("locale of tool " + tool.name, tag));
  return okStatus();
}

Status ToolTable::add(ToolInfo tool) {
  WITAN_DO(checkTool(tool));
  sortOnce(tool.locale);
  const std::string name = tool.name;
  if (!tools_.emplace(name, std::move(tool)).second)
    return Error{ErrorCode::conflict, "there is a tool " + name + " already", ""};
  return okStatus();
}

const ToolInfo* ToolTable::find(std::string_view name) const {
  const auto found = tools_.find(name);
  return found == tools_.end() ? nullptr : &found->second;
}

std::vector<ToolInfo> ToolTable::coveredBy(std::span<const Capability> capabilities) const {
  std::vector<ToolInfo> out;
  for (const auto& [name, tool] : tools_)
    if (std::any_of(capabilities.begin(), capabilities.end(),
                    [&covered = name](const Capability& c) { return coversResource(c.resource, covered); }))
      out.push_back(tool);
  return out;
}

std::vector<std::string> targetsOf(const ToolInfo& tool, const json::object& arguments,
                                   std::span<const std::string> declared) {
  std::vector<std::string> targets(declared.begin(), declared.end());
  if (const json::value* named = tool.targetArgument.empty() ? nullptr : arguments.if_contains(tool.targetArgument)) {
    if (named->is_string()) targets.emplace_back(named->get_string());
    if (named->is_array())
      for (const json::value& one : named->get_array())
        if (one.is_string()) targets.emplace_back(one.get_string());
  }
  sortOnce(targets);
  return targets;
}

}  // namespace witan::agents::episode
