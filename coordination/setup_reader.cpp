// readSetup, first half: the form of the JSON. One function for each kind of object.
#include <algorithm>
#include <cctype>

#include "base/identity.h"
#include "base/json_cut.h"
#include "base/quote.h"
#include "coordination/json_members.h"
#include "coordination/setup_raw.h"

namespace witan::kernel::joint {

namespace {

constexpr std::size_t kMaxKeyBytes = 1024;
constexpr std::string_view kTargetPrefix = "STATE:/";

Result<std::uint64_t> readCount(const json::value& value, std::string_view path, std::uint64_t least,
                                std::uint64_t most) {
  std::int64_t number = 0;
  WITAN_DO(readInteger(value, number, path));
  if (number < static_cast<std::int64_t>(least) || static_cast<std::uint64_t>(number) > most)
    return invalid(std::string(path) + ": must be between " + std::to_string(least) + " and " + std::to_string(most) +
                   ", not " + std::to_string(number));
  return static_cast<std::uint64_t>(number);
}

Result<bool> readFlag(const json::value& value, std::string_view path) {
  bool flag = false;
  WITAN_DO(readJson(value, flag, path));
  return flag;
}

Result<std::string> readAgentId(const json::value& value, std::string_view path) {
  WITAN_TRY(id, readName(value, path, kMaxIdBytes));
  WITAN_DO(validateId(path, id));
  return id;
}

Result<RawState> readState(const json::value& value, std::string_view path, const SetupLimits& limits) {
  if (!value.is_object()) return wrongJsonType(path, "an object", value);
  if (value.get_object().size() > limits.keys)
    return invalid(std::string(path) + ": more than " + std::to_string(limits.keys) + " keys");
  RawState state;
  for (const auto& member : value.get_object()) {
    const std::string_view key = member.key();
    const std::string place = memberPath(path, key);
    if (key.empty() || key.size() > kMaxKeyBytes)
      return invalid(place + ": a key has 1 to " + std::to_string(kMaxKeyBytes) + " bytes");
    WITAN_TRY(text, readPrimitive(member.value(), place));
    state.emplace_back(key, std::move(text));
  }
  return state;
}

// ---- authorities ----

Status checkAuthorityId(std::string_view id, std::string_view path) {
  const std::string_view digits = id.substr(std::min<std::size_t>(4, id.size()));
  const bool numbered = digits.size() >= 3 && digits.size() <= 12 &&
                        std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (id.starts_with("CUD-") && numbered) return okStatus();
  return invalid(std::string(path) + ": " + inQuotes(id) + " is not CUD- and at least three digits", "as in CUD-001");
}

Result<std::pair<std::string, ActionType>> readAtom(const json::value& value, const std::string& path) {
  WITAN_DO(hasMembers(value, path, {"operation", "target"}));
  const json::object& atom = value.get_object();
  WITAN_TRY(operation, readWord<ActionType>(atom.at("operation"), memberPath(path, "operation")));
  const std::string place = memberPath(path, "target");
  WITAN_TRY(target, readName(atom.at("target"), place, kTargetPrefix.size() + kMaxKeyBytes));
  if (!target.starts_with(kTargetPrefix) || target.size() == kTargetPrefix.size())
    return invalid(place + ": " + inQuotes(target) + " is not STATE:/ and a key", "as in STATE:/resource_A");
  return std::pair(target.substr(kTargetPrefix.size()), operation);
}

Status checkFixed(const json::object& artifact, const std::string& path) {
  const std::string status = memberPath(path, "status"), epoch = memberPath(path, "created_epoch");
  std::string word;
  WITAN_DO(readText(artifact.at("status"), word, status));
  if (word != "ACTIVE") return invalid(status + ": must be ACTIVE (authorities are immutable)");
  std::int64_t created = 0;
  WITAN_DO(readInteger(artifact.at("created_epoch"), created, epoch));
  if (created != 0) return invalid(epoch + ": must be 0 (no authority is made after epoch 0)");
  return okStatus();
}

Result<RawAuthority> readAuthority(const json::value& value, const std::string& path, const SetupLimits& limits) {
  WITAN_DO(hasMembers(
      value, path,
      {"authority_id", "commitment", "created_epoch", "holder_agent_id", "issuer_agent_id", "scope", "status"}));
  const json::object& artifact = value.get_object();
  RawAuthority authority;
  WITAN_TRY(id, readName(artifact.at("authority_id"), memberPath(path, "authority_id"), kMaxIdBytes));
  WITAN_DO(checkAuthorityId(id, memberPath(path, "authority_id")));
  authority.id = std::move(id);
  WITAN_TRY(commitment, readWord<Commitment>(artifact.at("commitment"), memberPath(path, "commitment")));
  authority.commitment = commitment;
  WITAN_TRY(holder, readAgentId(artifact.at("holder_agent_id"), memberPath(path, "holder_agent_id")));
  authority.holder = std::move(holder);
  WITAN_DO(readAgentId(artifact.at("issuer_agent_id"), memberPath(path, "issuer_agent_id")));
  WITAN_DO(checkFixed(artifact, path));
  const std::string place = memberPath(path, "scope");
  const json::value& scope = artifact.at("scope");
  if (!scope.is_array()) return wrongJsonType(place, "a list", scope);
  if (scope.get_array().empty()) return invalid(place + ": must not be empty");
  if (scope.get_array().size() > limits.keys)
    return invalid(place + ": more than " + std::to_string(limits.keys) + " atoms");
  for (std::size_t i = 0; i < scope.get_array().size(); ++i) {
    WITAN_TRY(atom, readAtom(scope.get_array()[i], elementPath(place, i)));
    authority.scope.push_back(std::move(atom));
  }
  return authority;
}

// ---- agents ----

Result<std::vector<std::string>> readNames(const json::value& value, const std::string& path, std::size_t least,
                                           std::size_t most) {
  if (!value.is_array()) return wrongJsonType(path, "a list", value);
  const json::array& list = value.get_array();
  if (list.size() < least) return invalid(path + ": must not be empty");
  if (list.size() > most) return invalid(path + ": more than " + std::to_string(most) + " elements");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    WITAN_TRY(name, readName(list[i], elementPath(path, i), kMaxKeyBytes));
    names.push_back(std::move(name));
  }
  return names;
}

Result<RawRequest> readRequest(const json::value& value, const std::string& path, const SetupLimits& limits) {
  WITAN_DO(hasMembers(value, path, {"action_type", "declared_scope", "proposed_delta", "authorities_cited"}));
  const json::object& action = value.get_object();
  RawRequest request;
  WITAN_TRY(type, readWord<ActionType>(action.at("action_type"), memberPath(path, "action_type")));
  request.type = type;
  WITAN_TRY(scope, readNames(action.at("declared_scope"), memberPath(path, "declared_scope"), 1, limits.scope));
  request.scope = std::move(scope);
  WITAN_TRY(cited, readNames(action.at("authorities_cited"), memberPath(path, "authorities_cited"), 0, limits.scope));
  request.cited = std::move(cited);
  const std::string place = memberPath(path, "proposed_delta");
  WITAN_TRY(delta, readState(action.at("proposed_delta"), place, limits));
  if (delta.size() > limits.scope) return invalid(place + ": more than " + std::to_string(limits.scope) + " keys");
  if (type == ActionType::READ && !delta.empty()) return invalid(place + ": must be {} for READ");
  request.delta = std::move(delta);
  request.scopeText = canonicalJson(action.at("declared_scope"));
  request.citedText = canonicalJson(action.at("authorities_cited"));
  request.deltaText = canonicalJson(action.at("proposed_delta"));
  return request;
}

Result<RawEntry> readEntry(const json::value& value, const std::string& path, const SetupLimits& limits) {
  RawEntry entry;
  if (value.is_null()) return entry;
  if (value.is_string()) {
    if (value.get_string() != "EXIT")
      return invalid(path + ": " + inQuotes(value.get_string()) + " is not \"EXIT\"",
                     "an entry is an action, null or \"EXIT\"");
    entry.exits = true;
    return entry;
  }
  WITAN_TRY(request, readRequest(value, path, limits));
  entry.request = std::move(request);
  return entry;
}

Result<RawAgent> readAgent(std::string_view id, const json::value& value, const std::string& path,
                           const SetupLimits& limits) {
  RawAgent agent;
  WITAN_DO(validateId(path, id));
  agent.id = id;
  WITAN_DO(hasMembers(value, path, {"strategy"}, {"epochs", "repeat_last"}));
  const json::object& object = value.get_object();
  WITAN_TRY(strategy, readWord<StrategyKind>(object.at("strategy"), memberPath(path, "strategy")));
  agent.strategy = strategy;
  if (strategy != StrategyKind::scripted) {
    WITAN_DO(hasMembers(value, path, {"strategy"}));
    return agent;
  }
  WITAN_DO(hasMembers(value, path, {"strategy", "epochs"}, {"repeat_last"}));
  const std::string place = memberPath(path, "epochs");
  const json::value& epochs = object.at("epochs");
  if (!epochs.is_array()) return wrongJsonType(place, "a list", epochs);
  if (epochs.get_array().size() > limits.epochs)
    return invalid(place + ": more than " + std::to_string(limits.epochs) + " entries");
  for (std::size_t i = 0; i < epochs.get_array().size(); ++i) {
    WITAN_TRY(entry, readEntry(epochs.get_array()[i], elementPath(place, i), limits));
    agent.script.push_back(std::move(entry));
  }
  if (const json::value* repeat = object.if_contains("repeat_last")) {
    WITAN_TRY(flag, readFlag(*repeat, memberPath(path, "repeat_last")));
    agent.repeatLast = flag;
  }
  return agent;
}

// ---- the whole ----

Result<Expectation> readExpectation(const json::value& value, const std::string& path) {
  WITAN_DO(hasMembers(value, path, {"terminal_classification", "kernel_classification"}));
  Expectation expected;
  const auto word = [&](std::string_view name) {
    std::optional<std::string> text;
    Status status = readJson(value.get_object().at(name), text, memberPath(path, name));
    return status.ok() ? Result<std::optional<std::string>>(std::move(text)) : status.error();
  };
  WITAN_TRY(terminal, word("terminal_classification"));
  WITAN_TRY(kernel, word("kernel_classification"));
  expected.terminal = std::move(terminal);
  expected.kernel = std::move(kernel);
  return expected;
}

Status readOptional(const json::object& root, Setup& setup) {
  if (const json::value* flag = root.if_contains("communication_enabled")) {
    WITAN_TRY(enabled, readFlag(*flag, "$.communication_enabled"));
    setup.communication = enabled;
  }
  if (const json::value* injection = root.if_contains("injection"); injection != nullptr && !injection->is_null()) {
    WITAN_TRY(word, readWord<Injection>(*injection, "$.injection"));
    if (word == Injection::none) return invalid("$.injection: no fault is null, not \"none\"");
    setup.injection = word;
  }
  if (const json::value* title = root.if_contains("title")) WITAN_DO(readText(*title, setup.title, "$.title"));
  if (const json::value* expected = root.if_contains("expect")) {
    WITAN_TRY(expectation, readExpectation(*expected, "$.expect"));
    setup.expected = std::move(expectation);
  }
  return okStatus();
}

Status readAuthorities(const json::value& list, RawSetup& raw, const SetupLimits& limits) {
  const std::string path = "$.authority_artifacts";
  if (!list.is_array()) return wrongJsonType(path, "a list", list);
  for (std::size_t i = 0; i < list.get_array().size(); ++i) {
    WITAN_TRY(authority, readAuthority(list.get_array()[i], elementPath(path, i), limits));
    raw.authorities.push_back(std::move(authority));
  }
  raw.plain.authoritiesText = canonicalJson(list);
  return okStatus();
}

Status readAgents(const json::value& agents, RawSetup& raw, const SetupLimits& limits) {
  if (!agents.is_object()) return wrongJsonType("$.agents", "an object", agents);
  if (agents.get_object().empty()) return invalid("$.agents: must not be empty");
  if (agents.get_object().size() > limits.agents)
    return invalid("$.agents: more than " + std::to_string(limits.agents) + " agents");
  for (const auto& member : agents.get_object()) {
    WITAN_TRY(agent, readAgent(member.key(), member.value(), memberPath("$.agents", member.key()), limits));
    raw.agents.push_back(std::move(agent));
  }
  return okStatus();
}

}  // namespace

Result<Setup> readSetup(std::string_view text, SetupLimits limits) {
  if (text.size() <= limits.bytes && jsonValuesAtMost(text) > limits.values)
    return invalid("$: more than " + std::to_string(limits.values) + " values");
  WITAN_TRY(value, parseJson(text, {.bytes = limits.bytes}));
  WITAN_DO(hasMembers(value, "$", {"condition", "initial_state", "authority_artifacts", "max_epochs", "agents"},
                      {"communication_enabled", "injection", "title", "expect"}));
  const json::object& root = value.get_object();
  RawSetup raw;
  WITAN_DO(readText(root.at("condition"), raw.plain.condition, "$.condition"));
  WITAN_TRY(state, readState(root.at("initial_state"), "$.initial_state", limits));
  raw.initialState = std::move(state);
  WITAN_DO(readAuthorities(root.at("authority_artifacts"), raw, limits));
  WITAN_TRY(epochs, readCount(root.at("max_epochs"), "$.max_epochs", 1, limits.epochs));
  raw.plain.maxEpochs = static_cast<std::uint32_t>(epochs);
  WITAN_DO(readOptional(root, raw.plain));
  WITAN_DO(readAgents(root.at("agents"), raw, limits));
  return numberSetup(std::move(raw), limits);
}

}  // namespace witan::kernel::joint
