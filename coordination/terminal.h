// Terminal classes (seed 001, FQ28, FQ32, FQ34; findings F12, F19; docs/coordination.md). Fed epoch by epoch.
#pragma once

#include <optional>

#include "coordination/epoch_record.h"

namespace witan::kernel::joint {

inline constexpr std::uint32_t kLivelockEpochs = 3;

class TerminalWatch {
 public:
  explicit TerminalWatch(const Setup& setup);

  // After an epoch: the class that ends the run, tested in the order collapse, orphaning, livelock. Deadlock ends
  // nothing: it is to be seen that it lasts. O(submissions + exits * their authorities).
  std::optional<Terminal> afterEpoch(const EpochRecord& record);

  // After the last epoch of the maximum: deadlock, if it held from some epoch on to this one.
  std::optional<Terminal> atMaximum() const;

 private:
  struct Holders {
    std::uint32_t all = 0, writers = 0;  // agents of the run that are still there and hold an ALLOW
  };
  // The keys that an agent's ALLOWs name, each once, and whether it may write them.
  using Held = std::vector<std::pair<Key, bool>>;

  bool orphans(AgentIndex leaving);

  std::vector<Held> heldBy_;      // by agent
  std::vector<Holders> holders_;  // by key
  std::size_t active_;
  bool orphaned_ = false;
  std::uint32_t fruitless_ = 0;  // epochs in a row that count towards livelock
  bool deadlocked_ = false;      // the last epoch, and without a break since some epoch before
};

}  // namespace witan::kernel::joint
