#include "sim/workloads/workload.h"

namespace witan::sim {

#define WITAN_SIM_EACH(X) \
  X(AgentWorkload)        \
  X(RecordWorkload)       \
  X(ProposalWorkload)

#define WITAN_SIM_DECLARE(Name) std::unique_ptr<Workload> make##Name(Cluster& cluster, Clients& clients);
#define WITAN_SIM_MAKE(Name) all.push_back(make##Name(cluster, clients));

WITAN_SIM_EACH(WITAN_SIM_DECLARE)

std::vector<std::unique_ptr<Workload>> makeWorkloads(Cluster& cluster, Clients& clients) {
  std::vector<std::unique_ptr<Workload>> all;
  WITAN_SIM_EACH(WITAN_SIM_MAKE)
  return all;
}

#undef WITAN_SIM_EACH
#undef WITAN_SIM_DECLARE
#undef WITAN_SIM_MAKE

}  // namespace witan::sim
