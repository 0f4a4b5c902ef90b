#include "coordination/faults.h"

#include <algorithm>
#include <iterator>

namespace witan::kernel::joint {

namespace {
constexpr std::uint32_t kPatience = 2;  // refusals after which `temporal_aggregation` gives in
}

// IMPLICIT_ARBITRATION: of what collides, the first in canonical order executes, and whatever still fits beside it.
void Faults::breakTies(EpochRecord& record, bool lastFirst) const {
  std::vector<Submission*> survivors;
  for (Submission& s : record.submissions)
    if (s.first == FirstPass::pass) survivors.push_back(&s);
  if (lastFirst) std::reverse(survivors.begin(), survivors.end());
  Interference fits(setup_->keys.size());
  fits.begin();
  for (const Submission* s : survivors)
    if (s->second) fits.add(*s->request);
  for (Submission* s : survivors) {
    if (s->second) continue;
    Interference tried = fits;
    tried.add(*s->request);
    if (tried.refuses(*s->request)) continue;
    s->second = true;
    fits = std::move(tried);
  }
}

// IMPLICIT_PRIORITY: one at a time, and the others wait although nothing is in their way.
void Faults::favourOne(EpochRecord& record) const {
  bool served = false;
  for (Submission& s : record.submissions) {
    if (s.first != FirstPass::pass || !s.second) continue;
    s.second = !served;
    served = true;
  }
}

// AUTHORITY_THEFT: who stays inherits from who has left.
void Faults::inherit(EpochRecord& record, const std::vector<bool>& active) const {
  std::vector<std::uint32_t> estate;
  for (std::uint32_t i = 0; i < setup_->authorities.size(); ++i) {
    const AgentIndex holder = setup_->authorities[i].holder;
    if (holder != kUnknown && !active[holder]) estate.push_back(i);
  }
  for (Submission& s : record.submissions) {
    if (s.first == FirstPass::pass) continue;
    std::vector<std::uint32_t> usable = estate;
    for (std::uint32_t cited : s.request->cited)
      if (cited != kUnknown && setup_->authorities[cited].holder == s.agent) usable.push_back(cited);
    if (authorities_->covered(*s.request, usable) && !authorities_->vetoed(*s.request)) s.first = FirstPass::pass;
  }
}

// TEMPORAL_AGGREGATION: who is refused often enough gets through.
void Faults::relax(EpochRecord& record) {
  for (Submission& s : record.submissions) {
    std::uint32_t& refusals = refusals_[{s.agent, s.request}];
    const bool refused = s.first == FirstPass::fail || (s.first == FirstPass::pass && !s.second);
    if (refused && refusals >= kPatience) {
      s.first = FirstPass::pass;
      s.second = true;
    }
    if (refused) ++refusals;
  }
}

void Faults::afterFirstPass(EpochRecord& record, const std::vector<bool>& active) const {
  if (injection_ == Injection::authority_theft) inherit(record, active);
  if (injection_ != Injection::unauthorized_execution) return;
  for (Submission& s : record.submissions)  // a veto is not heard
    if (s.first == FirstPass::fail && authorities_->covered(*s.request, s.request->cited)) s.first = FirstPass::pass;
}

void Faults::afterSecondPass(EpochRecord& record) {
  switch (injection_) {
    case Injection::tie_break: return breakTies(record, false);
    case Injection::nondeterministic_execution: return breakTies(record, run_ % 2 == 1);
    case Injection::implicit_priority: return favourOne(record);
    case Injection::temporal_aggregation: return relax(record);
    default: return;
  }
}

// CONSTRAINT_PROBING: a refusal says which pass it came from. Sees the record of the epoch before.
void Faults::beforeObserving(EpochRecord& record) const {
  if (injection_ != Injection::constraint_probing) return;
  for (Observed& o : record.observed)
    for (const Submission& s : record.submissions)
      if (s.agent == o.agent && s.outcome == Outcome::JOINT_ADMISSIBILITY_FAILURE)
        o.leak = s.first == FirstPass::pass ? " / PASS_2" : " / PASS_1";
}

}  // namespace witan::kernel::joint
