#include "domains/joint/epoch.h"

#include <algorithm>

#include "base/mutant.h"
#include "coordination/admissibility.h"
#include "coordination/setup.h"

namespace witan::domains::joint {

namespace core = kernel::joint;

namespace {

template <class T>
void sortUnique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// The input in the numbers of coordination.
class Numbered {
 public:
  explicit Numbered(const EpochInput& input) {
    for (const auto& [key, value] : input.world) keys_.add(key);
    for (const auto& authority : input.authorities)
      for (const auto* keys : {&authority.reads, &authority.writes})
        for (const std::string& key : *keys) keys_.add(key);
    for (const auto& agent : input.agents)
      if (agent.request) addKeys(*agent.request);
    keys_.seal();
    setup.keys = keys_.names();
    setup.initialState.assign(setup.keys.size(), core::kAbsent);
    for (const auto& [key, value] : input.world) setup.initialState[keys_.at(key)] = values_.number(value);
    std::unordered_map<std::string_view, core::AgentIndex> agents;
    for (const auto& agent : input.agents) agents.emplace(agent.id, static_cast<core::AgentIndex>(agents.size()));
    for (const auto& authority : input.authorities) addAuthority(authority, agents);
    for (const auto& agent : input.agents)
      requests.push_back(agent.request ? request(*agent.request) : core::Request{});
    setup.values = values_.take();
  }

  core::Setup setup;
  std::vector<core::Request> requests;  // by agent

 private:
  void addKeys(const Request& request) {
    for (const std::string& key : request.declaredScope) keys_.add(key);
    for (const Change& change : request.proposedDelta) keys_.add(change.key);
  }
  void addAuthority(const EpochInput::Authority& from,
                    const std::unordered_map<std::string_view, core::AgentIndex>& agents) {
    const auto holder = agents.find(from.holder);
    core::Authority to{from.id, from.commitment, holder == agents.end() ? core::kUnknown : holder->second, {}};
    for (const std::string& key : from.reads) to.scope.push_back({keys_.at(key), core::ActionType::READ});
    for (const std::string& key : from.writes) to.scope.push_back({keys_.at(key), core::ActionType::WRITE});
    sortUnique(to.scope);
    authorities_.emplace(from.id, static_cast<std::uint32_t>(setup.authorities.size()));
    setup.authorities.push_back(std::move(to));
  }
  core::Request request(const Request& from) {
    core::Request to;
    to.type = from.actionType == "READ" ? core::ActionType::READ : core::ActionType::WRITE;
    for (const std::string& key : from.declaredScope) to.scope.push_back(keys_.at(key));
    sortUnique(to.scope);
    for (const Change& change : from.proposedDelta)
      to.delta.emplace_back(keys_.at(change.key), values_.number(change.value));
    for (const std::string& id : from.authoritiesCited) {
      const auto found = authorities_.find(id);
      to.cited.push_back(found == authorities_.end() ? core::kUnknown : found->second);
    }
    return to;
  }

  core::Names keys_;
  core::ValueNames values_;
  std::unordered_map<std::string, std::uint32_t> authorities_;
};

// FQ28, as coordination/terminal.h has it.
bool orphaned(const Numbered& numbered, const EpochInput& input) {
  struct Holders {
    bool any = false, active = false;
  };
  std::vector<Holders> all(numbered.setup.keys.size()), writers(all);
  for (const core::Authority& authority : numbered.setup.authorities) {
    if (authority.commitment != Commitment::ALLOW || authority.holder == core::kUnknown) continue;
    const bool active = input.agents[authority.holder].active;
    for (const core::Atom& atom : authority.scope) {
      all[atom.key].any = true;
      all[atom.key].active |= active;
      if (atom.operation == core::ActionType::READ) continue;
      writers[atom.key].any = true;
      writers[atom.key].active |= active;
    }
  }
  const auto gone = [](const Holders& holders) { return holders.any && !holders.active; };
  return std::any_of(all.begin(), all.end(), gone) || std::any_of(writers.begin(), writers.end(), gone);
}

}  // namespace

EpochResult adjudicate(const EpochInput& input) {
  const Numbered numbered(input);
  const core::Setup& setup = numbered.setup;
  const core::AuthorityTable authorities(setup);
  core::Interference interference(setup.keys.size());
  interference.begin();
  std::vector<std::optional<core::FirstPass>> first(input.agents.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!input.agents[i].request) continue;
    first[i] = authorities.firstPass(static_cast<core::AgentIndex>(i), numbered.requests[i]);
    if (first[i] == core::FirstPass::pass) interference.add(numbered.requests[i]);
  }
  EpochResult result;
  bool submitted = false, admissible = false, collided = false, anybody = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const core::Request& request = numbered.requests[i];
    std::optional<Outcome>& outcome = result.outcomes.emplace_back();
    anybody = anybody || input.agents[i].active;
    if (input.agents[i].active) outcome = Outcome::NO_ACTION;
    if (!first[i]) continue;
    submitted = true;
    const bool passed = first[i] == core::FirstPass::pass;
    const bool favoured = mutated("tieBreak") && passed && !collided;
    const bool refused = passed && interference.refuses(request) && !favoured;
    if (favoured) collided = interference.refuses(request);
    admissible = admissible || passed;
    collided = collided || refused;
    if (first[i] == core::FirstPass::fault || (passed && !refused && core::violatesScope(request, setup.initialState)))
      outcome = Outcome::ACTION_FAULT;
    else
      outcome = passed && !refused ? Outcome::EXECUTED : Outcome::JOINT_ADMISSIBILITY_FAILURE;
    if (outcome != Outcome::EXECUTED) continue;
    for (const auto& [key, value] : request.delta)
      if (setup.initialState[key] != value) result.changes.push_back({setup.keys[key], setup.values[value]});
  }
  result.fruitless = collided && result.changes.empty();
  if (!anybody)
    result.epochClass = EpochClass::COLLAPSE;
  else if (orphaned(numbered, input))
    result.epochClass = EpochClass::ORPHANING;
  else if (submitted && !admissible)
    result.epochClass = EpochClass::STATE_DEADLOCK;
  return result;
}

}  // namespace witan::domains::joint
