// Run: the epochs of joint admissibility, one step at a time (seed 001, FQ31). Sans I/O: everything it knows is the
// setup, which must outlive it; the same setup gives the same records, always.
//
// An epoch: every active agent observes; who wants to leave leaves; messages are composed; all propose; all proposals
// are adjudicated at once, against the state before; what may execute does, at once; what changed a key that it had
// not declared is undone.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "coordination/admissibility.h"
#include "coordination/strategy.h"

namespace witan::kernel::joint {

WITAN_ENUM(Terminal, STATE_DEADLOCK, STATE_LIVELOCK, COLLAPSE, ORPHANING)

// What an agent was told of itself before it chose.
struct Observed {
  AgentIndex agent = 0;
  std::optional<Outcome> lastOutcome;
  const Request* lastAction = nullptr;
  std::string_view leak;  // a fault: words after the outcome that nobody must see
};

struct Submission {
  AgentIndex agent = 0;
  const Request* request = nullptr;
  FirstPass first = FirstPass::fail;
  bool second = false;  // pass 2; means nothing unless first == pass
  Outcome outcome = Outcome::JOINT_ADMISSIBILITY_FAILURE;
};

// What happened in one epoch. Lists of agents ascend; requests are borrowed from strategies and setup.
struct EpochRecord {
  std::uint32_t epoch = 0;
  std::vector<Observed> observed;
  std::vector<Message> heard;  // the messages of the last epoch, part of every observation
  std::vector<AgentIndex> exits;
  std::vector<Message> messages;
  std::vector<Submission> submissions;
  std::vector<AgentIndex> idle;                // active and without an action
  std::vector<std::pair<Key, Value>> changes;  // what the epoch made of the world, where it differs
};

class Run {
 public:
  // `earlierRuns` matters to the fault nondeterministic_execution alone. `deciders`: of external agents.
  explicit Run(const Setup& setup, std::uint32_t earlierRuns = 0, const Deciders& deciders = {});
  Run(const Run&) = delete;
  ~Run();

  // A terminal class was reached, or the maximum of epochs.
  bool over() const { return over_; }

  // The next epoch; valid until the following step. Requires: !over(). O(agents + keys in scopes and deltas).
  const EpochRecord& step();

  // By key. What the last step left.
  const std::vector<Value>& state() const { return state_; }
  // Requires: over().
  std::optional<Terminal> terminal() const { return terminal_; }

 private:
  void observe();
  void letGo();
  void hear();
  void collect();
  void adjudicate();
  void execute();
  void conclude();

  class Faults;
  class TerminalWatch;

  const Setup* setup_;
  AuthorityTable authorities_;
  Interference interference_;
  std::unique_ptr<Faults> faults_;
  std::unique_ptr<TerminalWatch> watch_;
  std::vector<std::unique_ptr<Strategy>> strategies_;
  std::vector<AgentIndex> active_;
  std::vector<bool> isActive_;
  std::vector<Observed> last_;  // by agent: what it did in the last epoch
  std::vector<Value> state_;
  std::uint32_t epoch_ = 0;
  EpochRecord record_;
  std::optional<Terminal> terminal_;
  bool over_ = false;
};

}  // namespace witan::kernel::joint
