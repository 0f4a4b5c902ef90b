#include "coordination/strategy.h"

#include <algorithm>

#include "base/check.h"
#include "base/json.h"
#include "base/sha256.h"

namespace witan::kernel::joint {

namespace {

// Gives one entry of its list each epoch, whatever it sees.
class Scripted final : public Strategy {
 public:
  explicit Scripted(const AgentSetup& agent) : agent_(&agent) {}

  void observe(const Observation& observation) override {
    const auto& script = agent_->script;
    const std::size_t at = observation.epoch;
    entry_ = at < script.size() ? &script[at] : agent_->repeatLast && !script.empty() ? &script.back() : nullptr;
  }
  bool wantsToExit() override { return entry_ != nullptr && entry_->exits; }
  const Request* proposeAction() override { return entry_ != nullptr && entry_->request ? &*entry_->request : nullptr; }

 private:
  const AgentSetup* agent_;
  const ScriptEntry* entry_ = nullptr;
};

// Does what is decided elsewhere.
class External final : public Strategy {
 public:
  External(const AgentSetup& agent, Decider decide) : agent_(&agent), decide_(std::move(decide)) {}

  void observe(const Observation& observation) override { decided_ = decide_ ? decide_(observation) : Decided{}; }
  bool wantsToExit() override { return decided_.exits || (entry() != nullptr && entry()->exits); }
  std::optional<std::string> composeMessage() override { return decided_.message; }
  const Request* proposeAction() override {
    return entry() != nullptr && entry()->request ? &*entry()->request : nullptr;
  }

 private:
  const ScriptEntry* entry() const {
    return decided_.choice && *decided_.choice < agent_->choices.size() ? &agent_->choices[*decided_.choice] : nullptr;
  }
  const AgentSetup* agent_;
  Decider decide_;
  Decided decided_;
};

std::uint32_t moduloOf(const Hash& hash, std::uint32_t divisor) {
  std::uint64_t rest = 0;
  for (std::uint8_t byte : hash) rest = (rest * 256 + byte) % divisor;
  return static_cast<std::uint32_t>(rest);
}

// By agent; kUnknown: none was found.
using Roles = std::vector<std::uint32_t>;

// Round 0 draws sha256(agent_id) modulo the number of agents (at least 2), round k sha256(agent_id + ":k"). Who draws
// a role that is free and that nobody else draws in that round keeps it; the others go on. With two agents this is the
// seed's rule: both draw again until their roles differ. Depends on the set of ids, on no order of them.
// Expected O(agents^2 * log agents) hashes at worst; gives up, for whoever is left, after 10,000 rounds.
Roles hashRoles(std::span<const AgentSetup> agents) {
  constexpr std::uint32_t kMostRounds = 10'000;
  const auto divisor = static_cast<std::uint32_t>(std::max<std::size_t>(2, agents.size()));
  Roles roles(agents.size(), kUnknown), drawn(agents.size());
  std::vector<bool> taken(divisor);
  std::size_t placed = 0;
  for (std::uint32_t round = 0; round < kMostRounds && placed < agents.size(); ++round) {
    std::vector<std::uint32_t> draws(divisor);
    for (std::size_t i = 0; i < agents.size(); ++i) {
      if (roles[i] != kUnknown) continue;
      const std::string text = round == 0 ? agents[i].id : concat(agents[i].id, ":", round);
      ++draws[drawn[i] = moduloOf(sha256(text), divisor)];
    }
    for (std::size_t i = 0; i < agents.size(); ++i) {
      if (roles[i] != kUnknown || taken[drawn[i]] || draws[drawn[i]] != 1) continue;
      roles[i] = drawn[i];
      taken[drawn[i]] = true;
      ++placed;
    }
  }
  return roles;
}

std::string roleMessage(std::uint32_t role) { return concat("{\"role\":", role, "}"); }

// The adaptive protocol of condition I.b: agents that collide on purpose once, tell each other their roles, and then
// write a key each (seed 001, FQ30, FQ37; finding F19).
//
// Everything but its memory comes from what all agents know: the ids of all, the keys of the world, its own
// authorities.
class HashPartition final : public Strategy {
 public:
  HashPartition(const Setup& setup, AgentIndex agent, std::shared_ptr<const Roles> roles)
      : setup_(&setup), self_(agent), roles_(std::move(roles)) {
    std::vector<Key> keys;
    for (Key key = 0; key < setup.initialState.size(); ++key)
      if (setup.initialState[key] != kAbsent) keys.push_back(key);
    if (!keys.empty()) seed_ = write(keys.front());
    if (role(agent) < keys.size()) own_ = write(keys[role(agent)]);
  }

  void observe(const Observation& observation) override {
    epoch_ = observation.epoch;
    for (const Message& message : observation.messages) doubts_ = doubts_ || contradicts(message);
  }
  std::optional<std::string> composeMessage() override {
    if (epoch_ != 0 || role(self_) == kUnknown) return std::nullopt;
    return roleMessage(role(self_));
  }
  const Request* proposeAction() override {
    const std::optional<Request>& request = epoch_ == 0 ? seed_ : own_;
    return request && !doubts_ ? &*request : nullptr;
  }

 private:
  // Another that says of itself what does not follow from its id: then nobody knows who writes what, and it waits.
  bool contradicts(const Message& message) const { return message.content != roleMessage(role(message.sender)); }
  std::uint32_t role(AgentIndex agent) const { return (*roles_)[agent]; }

  Request write(Key key) const {
    Request request;
    request.type = ActionType::WRITE;
    request.scope = {key};
    std::string text;
    appendJsonString(text, setup_->keys[key]);
    request.scopeText = "[" + text + "]";
    request.citedText = "[]";
    for (std::uint32_t i = 0; i < setup_->authorities.size() && request.cited.empty(); ++i) {
      const Authority& authority = setup_->authorities[i];
      const bool covers = std::ranges::binary_search(authority.scope, Atom{key, ActionType::WRITE});
      if (authority.holder != self_ || authority.commitment != Commitment::ALLOW || !covers) continue;
      request.cited = {i};
      request.citedText = "[\"" + authority.id + "\"]";
    }
    const std::string value = ownedValue(setup_->agents[self_].id);
    const auto known = std::ranges::find(setup_->values, value);
    WITAN_CHECK(known != setup_->values.end(), "readSetup numbers what a hash partition writes");
    request.delta = {{key, static_cast<Value>(known - setup_->values.begin())}};
    request.deltaText = "{" + text + ":" + value + "}";
    return request;
  }

  const Setup* setup_;
  AgentIndex self_;
  std::shared_ptr<const Roles> roles_;
  std::optional<Request> seed_, own_;
  std::uint32_t epoch_ = 0;
  bool doubts_ = false;
};

}  // namespace

std::string ownedValue(std::string_view agentId) {
  const std::size_t underscore = agentId.rfind('_');
  const bool named = underscore != std::string_view::npos && underscore + 1 < agentId.size();
  std::string value;
  appendJsonString(value, concat("owned_by_", named ? agentId.substr(underscore + 1) : agentId));
  return value;
}

std::vector<std::unique_ptr<Strategy>> makeStrategies(const Setup& setup, const Deciders& deciders) {
  std::vector<std::unique_ptr<Strategy>> strategies;
  std::shared_ptr<const Roles> roles;
  for (AgentIndex agent = 0; agent < setup.agents.size(); ++agent) {
    switch (setup.agents[agent].strategy) {
      case StrategyKind::scripted: strategies.push_back(std::make_unique<Scripted>(setup.agents[agent])); break;
      case StrategyKind::external:
        strategies.push_back(std::make_unique<External>(setup.agents[agent], deciders ? deciders(agent) : Decider()));
        break;
      case StrategyKind::hash_partition:
        if (!roles) roles = std::make_shared<const Roles>(hashRoles(setup.agents));
        strategies.push_back(std::make_unique<HashPartition>(setup, agent, roles));
        break;
    }
  }
  return strategies;
}

}  // namespace witan::kernel::joint
