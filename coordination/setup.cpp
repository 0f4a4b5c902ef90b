// readSetup: the form of the JSON, one function for each kind of object; names become numbers on the way.
#include "coordination/setup.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "base/identity.h"
#include "base/json_cut.h"
#include "base/quote.h"
#include "coordination/json_members.h"
#include "coordination/strategy.h"

namespace witan::kernel::joint {

namespace {

constexpr std::size_t kMaxKeyBytes = 1024;
constexpr std::string_view kTargetPrefix = "STATE:/";
constexpr ShippedVector kVectors[] = {
#include "coordination/vectors.inc"
};

Result<std::uint64_t> readCount(const json::value& value, std::string_view path, std::uint64_t least,
                                std::uint64_t most) {
  std::int64_t number = 0;
  WITAN_DO(readInteger(value, number, path));
  if (number < static_cast<std::int64_t>(least) || static_cast<std::uint64_t>(number) > most)
    return invalid(concat(path, ": must be between ", least, " and ", most, ", not ", number));
  return static_cast<std::uint64_t>(number);
}

Result<std::string> readAgentId(const json::value& value, std::string_view path) {
  WITAN_TRY(id, readName(value, path, kMaxIdBytes));
  WITAN_DO(validateId(path, id));
  return id;
}

Status checkAuthorityId(std::string_view id, std::string_view path) {
  const std::string_view digits = id.substr(std::min<std::size_t>(4, id.size()));
  const bool numbered = digits.size() >= 3 && digits.size() <= 12 &&
                        std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c) != 0; });
  if (id.starts_with("CUD-") && numbered) return okStatus();
  return invalid(concat(path, ": ", inQuotes(id), " is not CUD- and at least three digits"), "as in CUD-001");
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

Result<std::vector<std::string>> readNames(const json::value& value, const std::string& path, std::size_t least,
                                           std::size_t most) {
  if (!value.is_array()) return wrongJsonType(path, "a list", value);
  const json::array& list = value.get_array();
  if (list.size() < least) return invalid(path + ": must not be empty");
  if (list.size() > most) return invalid(concat(path, ": more than ", most, " elements"));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    WITAN_TRY(name, readName(list[i], elementPath(path, i), kMaxKeyBytes));
    names.push_back(std::move(name));
  }
  return names;
}

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
  if (const json::value* flag = root.if_contains("communication_enabled"))
    WITAN_DO(readJson(*flag, setup.communication, "$.communication_enabled"));
  if (const json::value* injection = root.if_contains("injection"); injection != nullptr && !injection->is_null()) {
    WITAN_TRY(word, readWord<Injection>(*injection, "$.injection"));
    if (word == Injection::none) return invalid("$.injection: no fault is null, not \"none\"");
    setup.injection = word;
  }
  if (const json::value* title = root.if_contains("title")) WITAN_DO(readText(*title, setup.title, "$.title"));
  if (const json::value* expected = root.if_contains("expect")) {
    WITAN_SET(setup.expected, readExpectation(*expected, "$.expect"));
  }
  return okStatus();
}

using Cells = std::vector<std::pair<Key, Value>>;

template <class T>
void sortUnique(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Keys have provisional numbers until all are known; agents are known from the start.
class SetupReader {
 public:
  explicit SetupReader(const SetupLimits& limits) : limits_(limits) {}

  Result<Setup> read(const json::value& value) {
    WITAN_DO(hasMembers(value, "$", {"condition", "initial_state", "authority_artifacts", "max_epochs", "agents"},
                        {"communication_enabled", "injection", "title", "expect"}));
    const json::object& root = value.get_object();
    if (root.at("agents").is_object())
      for (const auto& member : root.at("agents").get_object()) agents_.add(member.key());
    agents_.seal();
    WITAN_DO(readText(root.at("condition"), setup_.condition, "$.condition"));
    WITAN_TRY(initial, readState(root.at("initial_state"), "$.initial_state"));
    WITAN_DO(readAuthorities(root.at("authority_artifacts")));
    WITAN_TRY(epochs, readCount(root.at("max_epochs"), "$.max_epochs", 1, limits_.epochs));
    setup_.maxEpochs = static_cast<std::uint32_t>(epochs);
    WITAN_DO(readOptional(root, setup_));
    WITAN_DO(readAgents(root.at("agents")));
    numberKeys(initial);
    if (setup_.keys.size() > limits_.keys)
      return invalid(concat("$: ", setup_.keys.size(), " keys are named, more than ", limits_.keys));
    setup_.values = values_.take();
    WITAN_DO(checkLogSize());
    return std::move(setup_);
  }

 private:
  Result<Cells> readState(const json::value& value, std::string_view path) {
    if (!value.is_object()) return wrongJsonType(path, "an object", value);
    if (value.get_object().size() > limits_.keys) return invalid(concat(path, ": more than ", limits_.keys, " keys"));
    Cells state;
    for (const auto& member : value.get_object()) {
      const std::string_view key = member.key();
      const std::string place = memberPath(path, key);
      if (key.empty() || key.size() > kMaxKeyBytes)
        return invalid(concat(place, ": a key has 1 to ", kMaxKeyBytes, " bytes"));
      WITAN_TRY(text, readPrimitive(member.value(), place));
      state.emplace_back(keys_.add(key), values_.number(std::move(text)));
    }
    return state;
  }

  Result<Atom> readAtom(const json::value& value, const std::string& path) {
    WITAN_DO(hasMembers(value, path, {"operation", "target"}));
    const json::object& atom = value.get_object();
    WITAN_TRY(operation, readWord<ActionType>(atom.at("operation"), memberPath(path, "operation")));
    const std::string place = memberPath(path, "target");
    WITAN_TRY(target, readName(atom.at("target"), place, kTargetPrefix.size() + kMaxKeyBytes));
    if (!target.starts_with(kTargetPrefix) || target.size() == kTargetPrefix.size())
      return invalid(place + ": " + inQuotes(target) + " is not STATE:/ and a key", "as in STATE:/resource_A");
    return Atom{keys_.add(target.substr(kTargetPrefix.size())), operation};
  }

  Result<Authority> readAuthority(const json::value& value, const std::string& path) {
    WITAN_DO(hasMembers(
        value, path,
        {"authority_id", "commitment", "created_epoch", "holder_agent_id", "issuer_agent_id", "scope", "status"}));
    const json::object& artifact = value.get_object();
    WITAN_TRY(id, readName(artifact.at("authority_id"), memberPath(path, "authority_id"), kMaxIdBytes));
    WITAN_DO(checkAuthorityId(id, memberPath(path, "authority_id")));
    WITAN_TRY(commitment, readWord<Commitment>(artifact.at("commitment"), memberPath(path, "commitment")));
    WITAN_TRY(holder, readAgentId(artifact.at("holder_agent_id"), memberPath(path, "holder_agent_id")));
    WITAN_DO(readAgentId(artifact.at("issuer_agent_id"), memberPath(path, "issuer_agent_id")));
    WITAN_DO(checkFixed(artifact, path));
    const std::string place = memberPath(path, "scope");
    const json::value& scope = artifact.at("scope");
    if (!scope.is_array()) return wrongJsonType(place, "a list", scope);
    if (scope.get_array().empty()) return invalid(place + ": must not be empty");
    if (scope.get_array().size() > limits_.keys) return invalid(concat(place, ": more than ", limits_.keys, " atoms"));
    Authority authority{std::move(id), commitment, agents_.find(holder), {}};
    for (std::size_t i = 0; i < scope.get_array().size(); ++i) {
      WITAN_TRY(atom, readAtom(scope.get_array()[i], elementPath(place, i)));
      authority.scope.push_back(atom);
    }
    return authority;
  }

  Status readAuthorities(const json::value& list) {
    const std::string path = "$.authority_artifacts";
    if (!list.is_array()) return wrongJsonType(path, "a list", list);
    for (std::size_t i = 0; i < list.get_array().size(); ++i) {
      WITAN_TRY(authority, readAuthority(list.get_array()[i], elementPath(path, i)));
      if (!authorities_.emplace(authority.id, static_cast<std::uint32_t>(i)).second)
        return invalid(memberPath(elementPath(path, i), "authority_id") + ": " + inQuotes(authority.id) +
                       " occurs twice");
      setup_.authorities.push_back(std::move(authority));
    }
    setup_.authoritiesText = canonicalJson(list);
    return okStatus();
  }

  Result<Request> readRequest(const json::value& value, const std::string& path) {
    WITAN_DO(hasMembers(value, path, {"action_type", "declared_scope", "proposed_delta", "authorities_cited"}));
    const json::object& action = value.get_object();
    Request request;
    WITAN_TRY(type, readWord<ActionType>(action.at("action_type"), memberPath(path, "action_type")));
    request.type = type;
    WITAN_TRY(scope, readNames(action.at("declared_scope"), memberPath(path, "declared_scope"), 1, limits_.scope));
    for (const std::string& key : scope) request.scope.push_back(keys_.add(key));
    WITAN_TRY(cited,
              readNames(action.at("authorities_cited"), memberPath(path, "authorities_cited"), 0, limits_.scope));
    for (const std::string& id : cited) {
      const auto found = authorities_.find(id);
      request.cited.push_back(found == authorities_.end() ? kUnknown : found->second);
    }
    const std::string place = memberPath(path, "proposed_delta");
    WITAN_TRY(delta, readState(action.at("proposed_delta"), place));
    if (delta.size() > limits_.scope) return invalid(concat(place, ": more than ", limits_.scope, " keys"));
    if (type == ActionType::READ && !delta.empty()) return invalid(place + ": must be {} for READ");
    request.delta = std::move(delta);
    request.scopeText = canonicalJson(action.at("declared_scope"));
    request.citedText = canonicalJson(action.at("authorities_cited"));
    request.deltaText = canonicalJson(action.at("proposed_delta"));
    return request;
  }

  Result<ScriptEntry> readEntry(const json::value& value, const std::string& path) {
    ScriptEntry entry;
    if (value.is_null()) return entry;
    if (value.is_string()) {
      if (value.get_string() != "EXIT")
        return invalid(path + ": " + inQuotes(value.get_string()) + " is not \"EXIT\"",
                       "an entry is an action, null or \"EXIT\"");
      entry.exits = true;
      return entry;
    }
    WITAN_SET(entry.request, readRequest(value, path));
    return entry;
  }

  Status readEntries(const json::value& list, const std::string& place, std::vector<ScriptEntry>& out) {
    if (!list.is_array()) return wrongJsonType(place, "a list", list);
    if (list.get_array().size() > limits_.epochs)
      return invalid(concat(place, ": more than ", limits_.epochs, " entries"));
    for (std::size_t i = 0; i < list.get_array().size(); ++i) {
      WITAN_TRY(entry, readEntry(list.get_array()[i], elementPath(place, i)));
      out.push_back(std::move(entry));
    }
    return okStatus();
  }

  Result<AgentSetup> readAgent(std::string_view id, const json::value& value, const std::string& path) {
    WITAN_DO(validateId(path, id));
    WITAN_DO(hasMembers(value, path, {"strategy"}, {"epochs", "repeat_last", "choices"}));
    const json::object& object = value.get_object();
    WITAN_TRY(strategy, readWord<StrategyKind>(object.at("strategy"), memberPath(path, "strategy")));
    AgentSetup agent{std::string(id), strategy};
    if (strategy == StrategyKind::external) {
      WITAN_DO(hasMembers(value, path, {"strategy", "choices"}));
      WITAN_DO(readEntries(object.at("choices"), memberPath(path, "choices"), agent.choices));
      return agent;
    }
    if (strategy == StrategyKind::hash_partition) {
      WITAN_DO(hasMembers(value, path, {"strategy"}));
      values_.number(ownedValue(id));
      return agent;
    }
    WITAN_DO(hasMembers(value, path, {"strategy", "epochs"}, {"repeat_last"}));
    WITAN_DO(readEntries(object.at("epochs"), memberPath(path, "epochs"), agent.script));
    if (const json::value* repeat = object.if_contains("repeat_last"))
      WITAN_DO(readJson(*repeat, agent.repeatLast, memberPath(path, "repeat_last")));
    return agent;
  }

  Status readAgents(const json::value& agents) {
    if (!agents.is_object()) return wrongJsonType("$.agents", "an object", agents);
    if (agents.get_object().empty()) return invalid("$.agents: must not be empty");
    if (agents.get_object().size() > limits_.agents)
      return invalid(concat("$.agents: more than ", limits_.agents, " agents"));
    setup_.agents.resize(agents.get_object().size());
    for (const auto& member : agents.get_object()) {
      WITAN_SET(setup_.agents[agents_.at(member.key())],
                readAgent(member.key(), member.value(), memberPath("$.agents", member.key())));
    }
    return okStatus();
  }

  // Replaces the provisional numbers of keys by those in canonical order.
  void numberKeys(const Cells& initial) {
    const std::vector<Key> final = keys_.seal();
    setup_.keys = keys_.names();
    setup_.initialState.assign(setup_.keys.size(), kAbsent);
    for (const auto& [key, value] : initial) setup_.initialState[final[key]] = value;
    for (Authority& authority : setup_.authorities) {
      for (Atom& atom : authority.scope) atom.key = final[atom.key];
      sortUnique(authority.scope);
    }
    for (AgentSetup& agent : setup_.agents)
      for (std::vector<ScriptEntry>* entries : {&agent.script, &agent.choices})
        for (ScriptEntry& entry : *entries) {
          if (!entry.request) continue;
          for (Key& key : entry.request->scope) key = final[key];
          for (auto& [key, value] : entry.request->delta) key = final[key];
          sortUnique(entry.request->scope);
          std::ranges::sort(entry.request->delta);
        }
  }

  // Each agent's observation has the whole world, each epoch.
  Status checkLogSize() const {
    std::uint64_t world = 0, longest = 0;
    for (const std::string& value : setup_.values) longest = std::max<std::uint64_t>(longest, value.size());
    for (const std::string& key : setup_.keys) world += key.size() + longest + 4;
    const double bytes = static_cast<double>(setup_.maxEpochs) *
                         (static_cast<double>(setup_.agents.size()) * static_cast<double>(world + 500));
    if (bytes <= static_cast<double>(limits_.logBytes)) return okStatus();
    return invalid(concat("$.max_epochs: the log of ", setup_.maxEpochs, " epochs of ", setup_.agents.size(),
                          " agents and ", setup_.keys.size(), " keys may come to ",
                          static_cast<std::uint64_t>(bytes / (1 << 20)), " MiB, more than ", limits_.logBytes >> 20),
                   "run fewer epochs, agents or keys");
  }

  const SetupLimits& limits_;
  Setup setup_;
  Names keys_, agents_;
  ValueNames values_;
  std::unordered_map<std::string, std::uint32_t> authorities_;  // by id
};

}  // namespace

Result<Setup> readSetup(std::string_view text, SetupLimits limits) {
  if (text.size() <= limits.bytes && jsonValuesAtMost(text) > limits.values)
    return invalid(concat("$: more than ", limits.values, " values"));
  WITAN_TRY(value, parseJson(text, {.bytes = limits.bytes}));
  return SetupReader(limits).read(value);
}

std::span<const ShippedVector> shippedVectors() { return kVectors; }

}  // namespace witan::kernel::joint
