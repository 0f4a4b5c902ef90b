// Requests that agents made of the ledgers, and logs of partitions, as the final checkers read them.
#pragma once

#include "sim/check/operation.h"
#include "sim/cluster/cluster.h"

namespace witan::sim {

// Agents' requests stand in their plans. When they were made, and whether the answer arrived, is nowhere.
std::vector<RequestRecord> agentRequests(Cluster& cluster, const kernel::DomainModule& module);

// The log of a partition that the device has.
Result<PartitionLog> logAt(Seat& at, const std::string& id);

}  // namespace witan::sim
