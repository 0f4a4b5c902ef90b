#include "coordination/log_parts.h"

#include <algorithm>

#include "coordination/json_members.h"

namespace witan::kernel::joint {

namespace {

Result<json::value> parsedPart(const JsonPart& part, const std::string& path, std::size_t values) {
  if (part.values > values) return invalid(path + ": more than " + std::to_string(values) + " values");
  auto value = parseJson(part.text, {.bytes = part.text.size()});
  if (!value.ok()) return invalid(path + ": " + value.error().message);
  return value;
}

}  // namespace

const std::vector<std::string_view>& LogParts::names() {
  static const std::vector<std::string_view> names{"authority_artifacts",
                                                   "condition",
                                                   "epochs",
                                                   "experiment_result",
                                                   "final_state",
                                                   "initial_state",
                                                   "kernel_classification",
                                                   "terminal_classification"};
  return names;
}

Result<LogParts> LogParts::cut(std::string_view log, std::size_t values) {
  LogParts parts;
  parts.log_ = log;
  parts.values_ = values;
  JsonCut cut(log);
  for (;;) {
    WITAN_TRY(part, cut.next());
    if (!part) break;
    const std::string_view name = part->key.empty() ? part->key : part->key.substr(1, part->key.size() - 2);
    const std::string path = memberPath("$", name);
    if (part->key.empty()) return invalid("$: expected an object, found a list");
    if (std::find(names().begin(), names().end(), name) == names().end()) return invalid(path + ": unknown member");
    if (!parts.members_.emplace(name, *part).second) return invalid(path + ": is there twice");
  }
  for (const std::string_view name : names())
    if (!parts.members_.contains(name)) return invalid(memberPath("$", name) + ": is missing");
  if (!parts.members_.at("epochs").text.starts_with('[')) return invalid("$.epochs: expected a list");
  return parts;
}

Result<json::value> LogParts::read(std::string_view name) const {
  return parsedPart(members_.at(name), memberPath("$", name), values_);
}

JsonCut LogParts::epochs() const {
  const JsonPart& part = members_.at("epochs");
  return JsonCut(part.text, static_cast<std::size_t>(part.text.data() - log_.data()));
}

Result<json::value> LogParts::readEpoch(const JsonPart& part, std::size_t number) const {
  return parsedPart(part, elementPath("$.epochs", number), values_);
}

}  // namespace witan::kernel::joint
