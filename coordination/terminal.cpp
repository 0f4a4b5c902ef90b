#include "coordination/terminal.h"

#include <algorithm>
#include <map>

namespace witan::kernel::joint {

TerminalWatch::TerminalWatch(const Setup& setup)
    : heldBy_(setup.agents.size()), holders_(setup.keys.size()), active_(setup.agents.size()) {
  std::vector<std::map<Key, bool>> held(setup.agents.size());
  for (const Authority& authority : setup.authorities) {
    if (authority.commitment != Commitment::ALLOW || authority.holder == kUnknown) continue;
    for (const Atom& atom : authority.scope) {
      bool& writes = held[authority.holder][atom.key];
      writes = writes || atom.operation == ActionType::WRITE;
    }
  }
  for (std::size_t agent = 0; agent < held.size(); ++agent) {
    heldBy_[agent].assign(held[agent].begin(), held[agent].end());
    for (const auto& [key, writes] : heldBy_[agent]) {
      ++holders_[key].all;
      if (writes) ++holders_[key].writers;
    }
  }
}

// FQ28: nobody is left who could present the ALLOW to write a key, or to do anything with it.
bool TerminalWatch::orphans(AgentIndex leaving) {
  bool any = false;
  for (const auto& [key, writes] : heldBy_[leaving]) {
    Holders& holders = holders_[key];
    any = --holders.all == 0 || any;
    if (writes) any = --holders.writers == 0 || any;
  }
  return any;
}

std::optional<Terminal> TerminalWatch::afterEpoch(const EpochRecord& record) {
  for (AgentIndex agent : record.exits) orphaned_ = orphans(agent) || orphaned_;
  active_ -= record.exits.size();
  const auto& submitted = record.submissions;
  const bool admissible =
      std::any_of(submitted.begin(), submitted.end(), [](const Submission& s) { return s.first == FirstPass::pass; });
  const bool collided = std::any_of(submitted.begin(), submitted.end(),
                                    [](const Submission& s) { return s.first == FirstPass::pass && !s.second; });
  fruitless_ = collided && record.changes.empty() ? fruitless_ + 1 : 0;
  deadlocked_ = !submitted.empty() && !admissible;
  if (active_ == 0) return Terminal::COLLAPSE;
  if (orphaned_) return Terminal::ORPHANING;
  if (fruitless_ >= kLivelockEpochs) return Terminal::STATE_LIVELOCK;
  return std::nullopt;
}

std::optional<Terminal> TerminalWatch::atMaximum() const {
  if (deadlocked_) return Terminal::STATE_DEADLOCK;
  return std::nullopt;
}

}  // namespace witan::kernel::joint
