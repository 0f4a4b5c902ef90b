// Joint admissibility: which of the actions of one epoch may execute. Two passes, and nothing else: no order of
// arrival, no priority, no tie-break (seed 001, FQ4, FQ10, FQ27, FQ33; docs/coordination.md).
//
// Pure: no state but what the caller passes in. Borrowed setups must outlive it.
#pragma once

#include <span>
#include <vector>

#include "coordination/setup.h"

namespace witan::kernel::joint {

enum class FirstPass { pass, fail, fault };

// The authorities of a run, as pass 1 asks them.
class AuthorityTable {
 public:
  explicit AuthorityTable(const Setup& setup);

  // Pass 1: `fault` when the agent cites what it does not hold (INVALID_CAPABILITY_CLAIM); else `pass` when for each
  // key of the scope some cited ALLOW covers it and no DENY of anybody does. O(scope * cited * log).
  FirstPass firstPass(AgentIndex agent, const Request& request) const;

  bool vetoed(const Request& request) const;  // a DENY covers some key of its scope
  // Whether the ALLOWs of `authorities` cover its whole scope.
  bool covered(const Request& request, std::span<const std::uint32_t> authorities) const;

 private:
  bool holdsAllCited(AgentIndex agent, const Request& request) const;
  bool covers(std::uint32_t authority, Atom atom) const;

  const Setup* setup_;
  std::vector<bool> denied_;  // by key * 2 + operation
};

// Pass 2: who is in whose way. Fed with the survivors of pass 1, then asked. A key that is written by one of them is
// touched by no other, or all that touch it are refused. O(scope) a call.
class Interference {
 public:
  explicit Interference(std::size_t keys) : touched_(keys) {}

  void begin() { ++epoch_; }  // forgets what was added; O(1)
  void add(const Request& request);
  // Requires: `request` was added.
  bool refuses(const Request& request) const;

 private:
  struct Touched {
    std::uint64_t epoch = 0;
    std::uint32_t readers = 0, writers = 0;
  };
  std::uint64_t epoch_ = 0;
  std::vector<Touched> touched_;
};

// C10: does it change a key that it has not declared? Compared with the state before the epoch, so that the answer
// depends on nobody else. O(delta * log).
bool violatesScope(const Request& request, std::span<const Value> before);

}  // namespace witan::kernel::joint
