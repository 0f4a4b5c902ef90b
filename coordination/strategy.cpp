#include "coordination/strategy.h"

#include "coordination/hash_partition.h"

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

}  // namespace

std::vector<std::unique_ptr<Strategy>> makeStrategies(const Setup& setup) {
  std::vector<std::unique_ptr<Strategy>> strategies;
  std::shared_ptr<const Roles> roles;
  for (AgentIndex agent = 0; agent < setup.agents.size(); ++agent) {
    switch (setup.agents[agent].strategy) {
      case StrategyKind::scripted: strategies.push_back(std::make_unique<Scripted>(setup.agents[agent])); break;
      case StrategyKind::hash_partition:
        if (!roles) roles = std::make_shared<const Roles>(hashRoles(setup.agents));
        strategies.push_back(makeHashPartition(setup, agent, roles));
        break;
    }
  }
  return strategies;
}

}  // namespace witan::kernel::joint
