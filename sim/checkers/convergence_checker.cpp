// Checker "convergence": equal vectors and digests of every space that two devices share, and integrity of each.
#include "sim/checkers/checker.h"

namespace witan::sim {

using replication::Space;

namespace {

class ConvergenceChecker final : public Checker {
 public:
  explicit ConvergenceChecker(Cluster& cluster) : Checker(cluster) {}

  void atEnd() override {
    const std::vector<Seat*> all = c_.members();
    for (auto one = all.begin(); one != all.end(); ++one) {
      replication::LocalReplica& mine = (*one)->replica().data();
      for (const std::string& id : mine.spaceIds()) {
        Space* here = mine.findSpace(id);
        if (Status sound = here->checkIntegrity(); !sound.ok())
          return c_.failed("convergence", (*one)->name() + " " + id + ": " + sound.error().message);
        for (auto other = all.begin(); other != one; ++other) {
          if (!c_.setup().mayHave((*other)->name(), id.substr(id.find('/') + 1))) continue;
          Space* there = (*other)->replica().data().findSpace(id);
          const std::string who = (*one)->name() + " and " + (*other)->name() + " differ in " + id;
          if (there == nullptr) return c_.failed("convergence", who + ": only one has it");
          if (here->clock() != there->clock()) return c_.failed("convergence", who + ": their vectors");
          if (here->digest() != there->digest())
            return c_.failed("convergence", who + ": their digests, with equal vectors");
        }
      }
    }
  }
};

}  // namespace

std::unique_ptr<Checker> makeConvergenceChecker(Cluster& cluster) {
  return std::make_unique<ConvergenceChecker>(cluster);
}

}  // namespace witan::sim
