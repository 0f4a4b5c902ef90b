#include "coordination/run.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace witan::kernel::joint {

Run::Run(const Setup& setup, std::uint32_t earlierRuns)
    : setup_(&setup),
      authorities_(setup),
      interference_(setup.keys.size()),
      faults_(setup, authorities_, earlierRuns),
      watch_(setup),
      strategies_(makeStrategies(setup)),
      active_(setup.agents.size()),
      isActive_(setup.agents.size(), true),
      last_(setup.agents.size()),
      state_(setup.initialState) {
  std::iota(active_.begin(), active_.end(), AgentIndex{0});
  for (AgentIndex agent : active_) last_[agent].agent = agent;
}

const EpochRecord& Run::step() {
  WITAN_CHECK(!over_, "a run that is over makes no steps");
  observe();
  letGo();
  hear();
  collect();
  adjudicate();
  execute();
  conclude();
  ++epoch_;
  return record_;
}

void Run::observe() {
  record_.observed.clear();
  for (AgentIndex agent : active_) record_.observed.push_back(last_[agent]);
  faults_.beforeObserving(record_);
  record_.epoch = epoch_;
  record_.heard = std::move(record_.messages);
  for (const Observed& o : record_.observed)
    strategies_[o.agent]->observe({epoch_, state_, o.lastOutcome, o.lastAction, record_.heard});
}

// Irrevocable, and nothing that the leaver held or wrote is touched (FQ24).
void Run::letGo() {
  record_.exits.clear();
  for (AgentIndex agent : active_) {
    if (!strategies_[agent]->wantsToExit()) continue;
    record_.exits.push_back(agent);
    isActive_[agent] = false;
  }
  if (record_.exits.empty()) return;
  active_.erase(std::remove_if(active_.begin(), active_.end(), [&](AgentIndex agent) { return !isActive_[agent]; }),
                active_.end());
}

void Run::hear() {
  record_.messages.clear();
  if (!setup_->communication) return;
  for (AgentIndex agent : active_)
    if (auto content = strategies_[agent]->composeMessage())
      record_.messages.push_back({agent, epoch_, *std::move(content)});
}

void Run::collect() {
  record_.submissions.clear();
  record_.idle.clear();
  for (AgentIndex agent : active_) {
    if (const Request* request = strategies_[agent]->proposeAction())
      record_.submissions.push_back({agent, request});
    else
      record_.idle.push_back(agent);
  }
}

// One transaction: nobody sees anything between the passes.
void Run::adjudicate() {
  for (Submission& s : record_.submissions) s.first = authorities_.firstPass(s.agent, *s.request);
  faults_.afterFirstPass(record_, isActive_);
  interference_.begin();
  for (const Submission& s : record_.submissions)
    if (s.first == FirstPass::pass) interference_.add(*s.request);
  for (Submission& s : record_.submissions) s.second = s.first == FirstPass::pass && !interference_.refuses(*s.request);
  faults_.afterSecondPass(record_);
}

void Run::execute() {
  record_.changes.clear();
  for (Submission& s : record_.submissions) {
    if (s.first == FirstPass::fault)
      s.outcome = Outcome::ACTION_FAULT;
    else if (!s.second)
      s.outcome = Outcome::JOINT_ADMISSIBILITY_FAILURE;
    else if (violatesScope(*s.request, state_) && !faults_.keepsScopeViolations())
      s.outcome = Outcome::ACTION_FAULT;
    else
      s.outcome = Outcome::EXECUTED;
    if (s.outcome != Outcome::EXECUTED) continue;
    for (const auto& [key, value] : s.request->delta)
      if (state_[key] != value) record_.changes.emplace_back(key, value);
  }
  for (const auto& [key, value] : record_.changes) state_[key] = value;
}

void Run::conclude() {
  for (const Submission& s : record_.submissions) last_[s.agent] = {s.agent, s.outcome, s.request, {}};
  for (AgentIndex agent : record_.idle) last_[agent] = {agent, Outcome::NO_ACTION, nullptr, {}};
  terminal_ = watch_.afterEpoch(record_);
  if (terminal_ == Terminal::STATE_LIVELOCK && faults_.ignoresLivelock()) terminal_.reset();
  over_ = terminal_.has_value() || epoch_ + 1 >= faults_.maxEpochs();
  if (over_ && !terminal_) terminal_ = watch_.atMaximum();
}

}  // namespace witan::kernel::joint
