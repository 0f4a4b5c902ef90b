// Checker "convergence": equal vectors and digests of every space that two devices share, and integrity of each.
#include "sim/checkers/checker.h"

namespace witan::sim {

using replication::Space;

namespace {

class ConvergenceChecker final : public Checker {
 public:
  explicit ConvergenceChecker(Cluster& cluster) : Checker(cluster) {}

  void atEnd() override {
    for (std::size_t i = 0; i < c_.seats().size(); ++i) {
      if (c_.seats()[i]->retired) continue;
      replication::LocalReplica& mine = c_.seats()[i]->device->replica().data();
      for (const std::string& id : mine.spaceIds()) {
        Space* here = mine.findSpace(id);
        if (Status sound = here->checkIntegrity(); !sound.ok())
          return c_.failed("convergence", c_.seats()[i]->device->name() + " " + id + ": " + sound.error().message);
        const std::string scope = id.substr(id.find('/') + 1);
        for (std::size_t j = 0; j < i; ++j) {
          if (c_.seats()[j]->retired || !c_.setup().mayHave(c_.seats()[j]->device->name(), scope)) continue;
          Space* there = c_.seats()[j]->device->replica().data().findSpace(id);
          const std::string who =
              c_.seats()[i]->device->name() + " and " + c_.seats()[j]->device->name() + " differ in " + id;
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
