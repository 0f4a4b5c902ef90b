#include "sim/checkers/checker.h"

namespace witan::sim {

#define WITAN_SIM_EACH(X) \
  X(RestartChecker)       \
  X(FenceChecker)         \
  X(EtcdChecker)          \
  X(PutOffChecker)        \
  X(ConvergenceChecker)   \
  X(WriteChecker)         \
  X(CopiesChecker)        \
  X(LedgerChecker)        \
  X(RequestChecker)       \
  X(ConfirmationChecker)  \
  X(AgentChecker)         \
  X(ConfinementChecker)   \
  X(AlarmChecker)

#define WITAN_SIM_DECLARE(Name) std::unique_ptr<Checker> make##Name(Cluster& cluster);
#define WITAN_SIM_MAKE(Name) all.push_back(make##Name(cluster));

WITAN_SIM_EACH(WITAN_SIM_DECLARE)

std::vector<std::unique_ptr<Checker>> makeCheckers(Cluster& cluster) {
  std::vector<std::unique_ptr<Checker>> all;
  WITAN_SIM_EACH(WITAN_SIM_MAKE)
  return all;
}

#undef WITAN_SIM_EACH
#undef WITAN_SIM_DECLARE
#undef WITAN_SIM_MAKE

}  // namespace witan::sim
