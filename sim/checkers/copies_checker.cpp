// Checker "copies": a copy knows which invariants an unsafe commit left violated, and nothing else: its owner looks at
// them again with the next proposal (F8), whichever device that is then. Looked at when a copy was read or has become
// its owner's.
#include "sim/checkers/checker.h"

namespace witan::sim {

namespace {

class CopiesChecker final : public Checker {
 public:
  explicit CopiesChecker(Cluster& cluster) : Checker(cluster) {}

  void onStarted(Seat& at) override {
    for (const auto& [id, host] : at.replica().hosts())
      for (const std::string& entity : host->partition().entities()) {
        const kernel::EntityState& state = *host->partition().state(entity);
        const std::vector<kernel::Verdict> verdicts = host->module().walk(state);
        std::uint64_t violated = 0;
        for (std::size_t i = 0; i < verdicts.size() && i < 64; ++i)
          if (!verdicts[i].passed()) violated |= std::uint64_t{1} << i;
        if (violated != 0) c_.probe("violated after an unsafe commit");
        if (violated == state.notPassing) continue;
        std::string names;
        for (std::size_t i = 0; i < verdicts.size() && i < 64; ++i)
          if ((violated ^ state.notPassing) >> i & 1) names += " " + host->module().signature().invariants[i].id;
        return c_.failed("copies", at.name() + "'s copy of " + id + " is wrong about which invariants " + entity +
                                       " violates:" + names);
      }
  }

  void onDurable(Seat& at) override {
    const node::ReplicaCounters& counters = at.replica().counters();
    const std::uint64_t begun = counters.handovers + counters.seizures;
    if (std::exchange(epochsBegun_[at], begun) != begun) onStarted(at);
  }

  void atEnd() override {
    for (Seat* at : c_.members())
      if (!c_.hasFailed()) onStarted(*at);
  }

 private:
  PerDevice<std::uint64_t> epochsBegun_;
};

}  // namespace

std::unique_ptr<Checker> makeCopiesChecker(Cluster& cluster) { return std::make_unique<CopiesChecker>(cluster); }

}  // namespace witan::sim
