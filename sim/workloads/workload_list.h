// Every workload of a run, in the order in which they act.
#pragma once

#include <memory>
#include <vector>

#include "sim/workloads/workload.h"

namespace witan::sim {

std::vector<std::unique_ptr<Workload>> makeWorkloads(Cluster& cluster, Clients& clients);

}  // namespace witan::sim
