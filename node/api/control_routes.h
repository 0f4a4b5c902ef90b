// The routes of the control API. Each area's file holds its table and the work of its routes; their requests and
// answers stand in node/api/messages/.
#pragma once

#include <vector>

#include "node/api/typed_route.h"

namespace witan::node {

// All of them.
const std::vector<ControlRoute>& controlRoutes();

namespace api {

std::vector<ControlRoute> statusRoutes();     // control_status.cpp
std::vector<ControlRoute> clusterRoutes();    // control_cluster.cpp
std::vector<ControlRoute> partitionRoutes();  // control_partitions.cpp
std::vector<ControlRoute> domainRoutes();     // control_domains.cpp
std::vector<ControlRoute> requestRoutes();    // control_requests.cpp
std::vector<ControlRoute> ledgerRoutes();     // control_ledger.cpp
std::vector<ControlRoute> backupRoutes();     // control_backup.cpp
std::vector<ControlRoute> commandRoutes();    // control_command.cpp
std::vector<ControlRoute> journalRoutes();    // operation_routes.cpp
std::vector<ControlRoute> agentWorkRoutes();  // likewise

}  // namespace api
}  // namespace witan::node
