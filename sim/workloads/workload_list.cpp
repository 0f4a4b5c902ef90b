#include "sim/workloads/workload.h"

namespace witan::sim {

using MakeWorkload = std::unique_ptr<Workload>(Cluster&, Clients&);
MakeWorkload makeAgentWorkload, makeRecordWorkload, makeProposalWorkload, makeGraphWorkload;

std::vector<std::unique_ptr<Workload>> makeWorkloads(Cluster& cluster, Clients& clients) {
  std::vector<std::unique_ptr<Workload>> all;
  for (MakeWorkload* make : {makeAgentWorkload, makeRecordWorkload, makeProposalWorkload, makeGraphWorkload})
    all.push_back(make(cluster, clients));
  return all;
}

}  // namespace witan::sim
