#include "coordination/run.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/check.h"

namespace witan::kernel::joint {

// Faults: the deliberately broken kernels, so that each auditor can be seen to fire (finding F20). Run asks at the
// points where a kernel could go wrong; without an injection every answer leaves the epoch as it is.
class Run::Faults {
 public:
  // `run` is how many runs this process has made before: what a kernel that remembers would know.
  Faults(const Setup& setup, const AuthorityTable& authorities, std::uint32_t run)
      : setup_(&setup), authorities_(&authorities), injection_(setup.injection), run_(run) {}

  void afterFirstPass(EpochRecord& record, const std::vector<bool>& active) const {
    if (injection_ == Injection::authority_theft) inherit(record, active);
    if (injection_ != Injection::unauthorized_execution) return;
    for (Submission& s : record.submissions)  // a veto is not heard
      if (s.first == FirstPass::fail && authorities_->covered(*s.request, s.request->cited)) s.first = FirstPass::pass;
  }

  void afterSecondPass(EpochRecord& record) {
    switch (injection_) {
      case Injection::tie_break: return breakTies(record, false);
      case Injection::nondeterministic_execution: return breakTies(record, run_ % 2 == 1);
      case Injection::implicit_priority: return favourOne(record);
      case Injection::temporal_aggregation: return relax(record);
      case Injection::conflict_resolution: return merge(record);
      default: return;
    }
  }

  // CONSTRAINT_PROBING: a refusal says which pass it came from. Sees the record of the epoch before.
  void beforeObserving(EpochRecord& record) const {
    if (injection_ != Injection::constraint_probing) return;
    for (Observed& o : record.observed)
      for (const Submission& s : record.submissions)
        if (s.agent == o.agent && s.outcome == Outcome::JOINT_ADMISSIBILITY_FAILURE)
          o.leak = s.first == FirstPass::pass ? " / PASS_2" : " / PASS_1";
  }

  bool keepsScopeViolations() const { return injection_ == Injection::keep_scope_violation; }
  bool ignoresLivelock() const { return injection_ == Injection::infinite_retry; }
  std::uint32_t maxEpochs() const {
    return setup_->maxEpochs + (injection_ == Injection::nonterminating_condition ? 1 : 0);
  }

 private:
  static constexpr std::uint32_t kPatience = 2;  // refusals after which `temporal_aggregation` gives in

  // IMPLICIT_ARBITRATION: of what collides, the first in canonical order executes, and whatever still fits beside it.
  void breakTies(EpochRecord& record, bool lastFirst) const {
    std::vector<Submission*> survivors;
    for (Submission& s : record.submissions)
      if (s.first == FirstPass::pass) survivors.push_back(&s);
    if (lastFirst) std::ranges::reverse(survivors);
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

  // IMPLICIT_ARBITRATION: what collides is merged. All of it executes, and of a key the last in canonical order stays.
  void merge(EpochRecord& record) const {
    for (Submission& s : record.submissions) s.second = s.first == FirstPass::pass;
  }

  // IMPLICIT_PRIORITY: one at a time, and the others wait although nothing is in their way.
  void favourOne(EpochRecord& record) const {
    bool served = false;
    for (Submission& s : record.submissions) {
      if (s.first != FirstPass::pass || !s.second) continue;
      s.second = !served;
      served = true;
    }
  }

  // AUTHORITY_THEFT: who stays inherits from who has left.
  void inherit(EpochRecord& record, const std::vector<bool>& active) const {
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
  void relax(EpochRecord& record) {
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

  const Setup* setup_;
  const AuthorityTable* authorities_;
  Injection injection_;
  std::uint32_t run_;
  std::map<std::pair<AgentIndex, const Request*>, std::uint32_t> refusals_;
};

// Terminal classes (seed 001, FQ28, FQ32, FQ34; findings F12, F19; docs/coordination.md). Fed epoch by epoch.
class Run::TerminalWatch {
 public:
  explicit TerminalWatch(const Setup& setup)
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

  // After an epoch: the class that ends the run, tested in the order collapse, orphaning, livelock. Deadlock ends
  // nothing: it is to be seen that it lasts. O(submissions + exits * their authorities).
  std::optional<Terminal> afterEpoch(const EpochRecord& record) {
    for (AgentIndex agent : record.exits) orphaned_ = orphans(agent) || orphaned_;
    active_ -= record.exits.size();
    const auto& submitted = record.submissions;
    const bool admissible =
        std::ranges::any_of(submitted, [](const Submission& s) { return s.first == FirstPass::pass; });
    const bool collided =
        std::ranges::any_of(submitted, [](const Submission& s) { return s.first == FirstPass::pass && !s.second; });
    fruitless_ = collided && record.changes.empty() ? fruitless_ + 1 : 0;
    deadlocked_ = !submitted.empty() && !admissible;
    if (active_ == 0) return Terminal::COLLAPSE;
    if (orphaned_) return Terminal::ORPHANING;
    if (fruitless_ >= kLivelockEpochs) return Terminal::STATE_LIVELOCK;
    return std::nullopt;
  }

  // After the last epoch of the maximum: deadlock, if it held from some epoch on to this one.
  std::optional<Terminal> atMaximum() const {
    if (deadlocked_) return Terminal::STATE_DEADLOCK;
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t kLivelockEpochs = 3;
  struct Holders {
    std::uint32_t all = 0, writers = 0;  // agents of the run that are still there and hold an ALLOW
  };
  // The keys that an agent's ALLOWs name, each once, and whether it may write them.
  using Held = std::vector<std::pair<Key, bool>>;

  // FQ28: nobody is left who could present the ALLOW to write a key, or to do anything with it.
  bool orphans(AgentIndex leaving) {
    bool any = false;
    for (const auto& [key, writes] : heldBy_[leaving]) {
      Holders& holders = holders_[key];
      any = --holders.all == 0 || any;
      if (writes) any = --holders.writers == 0 || any;
    }
    return any;
  }

  std::vector<Held> heldBy_;      // by agent
  std::vector<Holders> holders_;  // by key
  std::size_t active_;
  bool orphaned_ = false;
  std::uint32_t fruitless_ = 0;  // epochs in a row that count towards livelock
  bool deadlocked_ = false;      // the last epoch, and without a break since some epoch before
};

Run::Run(const Setup& setup, std::uint32_t earlierRuns, const Deciders& deciders)
    : setup_(&setup),
      authorities_(setup),
      interference_(setup.keys.size()),
      faults_(std::make_unique<Faults>(setup, authorities_, earlierRuns)),
      watch_(std::make_unique<TerminalWatch>(setup)),
      strategies_(makeStrategies(setup, deciders)),
      active_(setup.agents.size()),
      isActive_(setup.agents.size(), true),
      last_(setup.agents.size()),
      state_(setup.initialState) {
  std::iota(active_.begin(), active_.end(), AgentIndex{0});
  for (AgentIndex agent : active_) last_[agent].agent = agent;
}

Run::~Run() = default;

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
  faults_->beforeObserving(record_);
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
  faults_->afterFirstPass(record_, isActive_);
  interference_.begin();
  for (const Submission& s : record_.submissions)
    if (s.first == FirstPass::pass) interference_.add(*s.request);
  for (Submission& s : record_.submissions) s.second = s.first == FirstPass::pass && !interference_.refuses(*s.request);
  faults_->afterSecondPass(record_);
}

void Run::execute() {
  record_.changes.clear();
  for (Submission& s : record_.submissions) {
    if (s.first == FirstPass::fault)
      s.outcome = Outcome::ACTION_FAULT;
    else if (!s.second)
      s.outcome = Outcome::JOINT_ADMISSIBILITY_FAILURE;
    else if (violatesScope(*s.request, state_) && !faults_->keepsScopeViolations())
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
  terminal_ = watch_->afterEpoch(record_);
  if (terminal_ == Terminal::STATE_LIVELOCK && faults_->ignoresLivelock()) terminal_.reset();
  over_ = terminal_.has_value() || epoch_ + 1 >= faults_->maxEpochs();
  if (over_ && !terminal_) terminal_ = watch_->atMaximum();
}

}  // namespace witan::kernel::joint
