#include "agents/episode/tool.h"

#include <algorithm>

#include "agents/decision/decisions.h"
#include "base/identity.h"
#include "base/quote.h"

namespace witan::agents::episode {

namespace {

constexpr std::int64_t kFullAccess = 2;

bool isFamily(std::string_view pattern) { return pattern == "*" || pattern.ends_with(".*"); }

bool beginsWithOneOf(std::string_view text, std::span<const std::string> prefixes) {
  return std::ranges::any_of(prefixes, [&](const std::string& p) { return text.starts_with(p); });
}

bool isAmong(const std::string& word, std::span<const std::string> words) {
  return std::ranges::find(words, word) != words.end();
}

void sortOnce(std::vector<std::string>& words) {
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

}  // namespace

bool coversResource(std::string_view pattern, std::string_view resource) {
  if (pattern == resource || pattern == "*") return true;
  if (!isFamily(pattern)) return false;
  const std::string_view stem = pattern.substr(0, pattern.size() - 1);  // with its dot
  return resource.size() > stem.size() && resource.starts_with(stem);
}

Status checkCapabilities(std::span<const Capability> capabilities) {
  if (capabilities.size() > kMaxCapabilities) return invalid(concat("more than ", kMaxCapabilities, " capabilities"));
  for (const Capability& c : capabilities) {
    std::string_view stem = c.resource;
    if (stem.ends_with(".*")) stem.remove_suffix(2);
    if (c.resource != "*")
      if (const Status id = validateId("resource of a capability", stem); !id.ok()) return id;
    if (c.uses < 0) return invalid("capability " + inQuotes(c.resource) + ": a negative number of uses");
    if (c.perHour.value_or(0) < 0 || c.perDay.value_or(0) < 0)
      return invalid("capability " + inQuotes(c.resource) + ": a negative rate");
    if (c.access.value_or(0) < 0 || c.access.value_or(0) > 2)
      return invalid("capability " + inQuotes(c.resource) + ": access is 0, 1 or 2");
    for (const std::string& target : c.targets) WITAN_DO(validateId("target of a capability", target));
    for (const std::string& tag : c.locales) WITAN_DO(validateId("locale of a capability", tag));
  }
  return okStatus();
}

bool covers(const Capability& capability, const Reach& call) {
  if (!coversResource(capability.resource, call.tool)) return false;
  if (!decision::toolPermitted(call.needs, permissionsOf(capability))) return false;
  if (!capability.targets.empty()) {
    if (call.targets.empty()) return false;
    for (const std::string& target : call.targets)
      if (!beginsWithOneOf(target, capability.targets)) return false;
  }
  if (capability.locales.empty()) return true;
  return std::ranges::all_of(call.locale, [&](const std::string& tag) { return isAmong(tag, capability.locales); });
}

bool within(const Capability& inner, const Capability& outer) {
  if (!coversResource(outer.resource, inner.resource) || inner.uses > outer.uses) return false;
  if (inner.access.value_or(kFullAccess) > outer.access.value_or(kFullAccess)) return false;
  if (inner.execute.value_or(false) && !outer.execute.value_or(false)) return false;
  const auto faster = [](const Omittable<std::int64_t>& a, const Omittable<std::int64_t>& b) {
    return b && (!a || *a > *b);
  };
  if (faster(inner.perHour, outer.perHour) || faster(inner.perDay, outer.perDay)) return false;
  if (!outer.targets.empty()) {
    if (inner.targets.empty()) return false;
    for (const std::string& prefix : inner.targets)
      if (!beginsWithOneOf(prefix, outer.targets)) return false;
  }
  if (outer.locales.empty()) return true;
  if (inner.locales.empty()) return false;
  return std::ranges::all_of(inner.locales, [&](const std::string& tag) { return isAmong(tag, outer.locales); });
}

std::optional<std::size_t> firstCovering(std::span<const Capability> capabilities, std::span<const std::int64_t> used,
                                         const Reach& call) {
  for (std::size_t i = 0; i < capabilities.size(); ++i)
    if (used[i] < capabilities[i].uses && covers(capabilities[i], call)) return i;
  return std::nullopt;
}

Status checkTool(const ToolInfo& tool) {
  WITAN_DO(validateId("tool", tool.name));
  if (tool.tokens < 0 || tool.seconds < 0) return invalid("tool " + tool.name + ": a cost cannot be negative");
  for (const std::string& tag : tool.locale) WITAN_DO(validateId("locale of tool " + tool.name, tag));
  if (tool.serves && tool.serves->size() > kMaxServed)
    return invalid(concat("tool ", tool.name, ": serves more than ", kMaxServed, " types of goals"));
  for (const std::string& goal : tool.serves.value_or(std::vector<std::string>()))
    WITAN_DO(validateId("goal that " + tool.name + " serves", goal));
  return okStatus();
}

decision::Tool specOf(const ToolInfo& tool, const Budget& cost) {
  const auto natural = [](std::int64_t value) {
    return decision::Natural(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)));
  };
  return {natural(tool.kind == ToolKind::action ? 2 : 1), tool.execute.value_or(false), natural(cost.tokens),
          natural(cost.seconds)};
}

decision::State permissionsOf(const Capability& capability) {
  decision::State state;
  state.fileAccess = decision::Natural(static_cast<std::uint64_t>(capability.access.value_or(kFullAccess)));
  state.executeAllowed = capability.execute.value_or(false);
  return state;
}

Status ToolTable::add(ToolInfo tool) {
  WITAN_DO(checkTool(tool));
  sortOnce(tool.locale);
  const std::string name = tool.name;
  if (!tools_.emplace(name, std::move(tool)).second) return conflict("there is a tool " + name + " already");
  return okStatus();
}

const ToolInfo* ToolTable::find(std::string_view name) const {
  const auto found = tools_.find(name);
  return found == tools_.end() ? nullptr : &found->second;
}

std::vector<ToolInfo> ToolTable::coveredBy(std::span<const Capability> capabilities) const {
  std::vector<ToolInfo> out;
  for (const auto& [name, tool] : tools_)
    if (std::ranges::any_of(capabilities,
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
