// readSetup, second half: names become numbers.
#include <algorithm>

#include "base/quote.h"
#include "coordination/hash_partition.h"
#include "coordination/json_members.h"
#include "coordination/setup_names.h"
#include "coordination/setup_raw.h"

namespace witan::kernel::joint {

namespace {

template <class T>
void sortUnique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

class Numbering {
 public:
  explicit Numbering(RawSetup raw) : raw_(std::move(raw)) {}

  Result<Setup> run(const SetupLimits& limits) {
    collectKeys();
    setup_ = std::move(raw_.plain);
    setup_.keys = keys_.seal();
    if (setup_.keys.size() > limits.keys)
      return invalid("$: " + std::to_string(setup_.keys.size()) + " keys are named, more than " +
                     std::to_string(limits.keys));
    for (const RawAgent& agent : raw_.agents) agents_.add(agent.id);
    agents_.seal();
    WITAN_DO(numberAuthorities());
    setup_.initialState.assign(setup_.keys.size(), kAbsent);
    for (auto& [key, text] : raw_.initialState) setup_.initialState[keys_.at(key)] = values_.number(std::move(text));
    numberAgents();
    setup_.values = values_.take();
    WITAN_DO(checkLogSize(limits));
    return std::move(setup_);
  }

 private:
  void collectKeys() {
    for (const auto& [key, text] : raw_.initialState) keys_.add(key);
    for (const RawAuthority& authority : raw_.authorities)
      for (const auto& [key, operation] : authority.scope) keys_.add(key);
    for (const RawAgent& agent : raw_.agents)
      for (const RawEntry& entry : agent.script) {
        if (!entry.request) continue;
        for (const std::string& key : entry.request->scope) keys_.add(key);
        for (const auto& [key, text] : entry.request->delta) keys_.add(key);
      }
  }

  Status numberAuthorities() {
    for (std::size_t i = 0; i < raw_.authorities.size(); ++i) {
      RawAuthority& from = raw_.authorities[i];
      Authority authority{std::move(from.id), from.commitment, agents_.find(from.holder), {}};
      for (const auto& [key, operation] : from.scope) authority.scope.push_back({keys_.at(key), operation});
      sortUnique(authority.scope);
      if (!numberOfAuthority_.emplace(authority.id, static_cast<std::uint32_t>(i)).second)
        return invalid(memberPath(elementPath("$.authority_artifacts", i), "authority_id") + ": " +
                       inQuotes(authority.id) + " occurs twice");
      setup_.authorities.push_back(std::move(authority));
    }
    return okStatus();
  }

  void numberAgents() {
    setup_.agents.resize(raw_.agents.size());
    for (RawAgent& from : raw_.agents) {
      AgentSetup& agent = setup_.agents[agents_.at(from.id)];
      agent = {std::move(from.id), from.strategy, {}, from.repeatLast};
      if (agent.strategy == StrategyKind::hash_partition) values_.number(ownedValue(agent.id));
      for (RawEntry& entry : from.script) {
        ScriptEntry& to = agent.script.emplace_back();
        to.exits = entry.exits;
        if (entry.request) to.request = numbered(*std::move(entry.request));
      }
    }
  }

  Request numbered(RawRequest from) {
    Request request;
    request.type = from.type;
    for (const std::string& key : from.scope) request.scope.push_back(keys_.at(key));
    sortUnique(request.scope);
    for (auto& [key, text] : from.delta) request.delta.emplace_back(keys_.at(key), values_.number(std::move(text)));
    std::sort(request.delta.begin(), request.delta.end());
    for (const std::string& id : from.cited) {
      const auto found = numberOfAuthority_.find(id);
      request.cited.push_back(found == numberOfAuthority_.end() ? kUnknown : found->second);
    }
    request.scopeText = std::move(from.scopeText);
    request.citedText = std::move(from.citedText);
    request.deltaText = std::move(from.deltaText);
    return request;
  }

  // Each agent's observation has the whole world, each epoch.
  Status checkLogSize(const SetupLimits& limits) const {
    std::uint64_t world = 0, longest = 0;
    for (const std::string& value : setup_.values) longest = std::max<std::uint64_t>(longest, value.size());
    for (const std::string& key : setup_.keys) world += key.size() + longest + 4;
    const double bytes = static_cast<double>(setup_.maxEpochs) *
                         (static_cast<double>(setup_.agents.size()) * static_cast<double>(world + 500));
    if (bytes <= static_cast<double>(limits.logBytes)) return okStatus();
    return invalid("$.max_epochs: the log of " + std::to_string(setup_.maxEpochs) + " epochs of " +
                       std::to_string(setup_.agents.size()) + " agents and " + std::to_string(setup_.keys.size()) +
                       " keys may come to " + std::to_string(static_cast<std::uint64_t>(bytes / (1 << 20))) +
                       " MiB, more than " + std::to_string(limits.logBytes >> 20),
                   "run fewer epochs, agents or keys");
  }

  RawSetup raw_;
  Setup setup_;
  Names keys_, agents_;
  ValueNames values_;
  std::unordered_map<std::string, std::uint32_t> numberOfAuthority_;
};

}  // namespace

Result<Setup> numberSetup(RawSetup raw, const SetupLimits& limits) { return Numbering(std::move(raw)).run(limits); }

}  // namespace witan::kernel::joint
