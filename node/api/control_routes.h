// The routes of the control API. Each area's file holds its requests and answers, the work of its routes, and their
// table; node/api/examples.json has an example of each, by operationId.
#pragma once

#include <vector>

#include "kernel/record/entry.h"
#include "node/api/typed_route.h"
#include "node/operations/operation.h"

namespace witan::node {

// All of them.
const std::vector<ControlRoute>& controlRoutes();

// The OpenAPI 3.1 document of all routes (openapi.cpp).
json::object openApi();

// A scrape in Prometheus' text format (0.0.4): names with base units, no label whose values strangers choose.
// O(partitions
// + devices). In metrics.cpp.
std::string metricsText(Daemon& daemon);

namespace api {

// Of routes whose rows may be limited to one domain.
WITAN_STRUCT(DomainFilter, (Omittable<std::string>, domain, "Rows of this domain only"))

WITAN_STRUCT(FindingRow, (std::string, invariant, "Id of the invariant"),
             (kernel::InvResult, result, "What the invariant returned"),
             (std::string, message, "Message of the invariant"))

std::vector<ControlRoute> statusRoutes();     // control_status.cpp
std::vector<ControlRoute> clusterRoutes();    // control_cluster.cpp
std::vector<ControlRoute> partitionRoutes();  // control_partitions.cpp
std::vector<ControlRoute> domainRoutes();     // control_domains.cpp
std::vector<ControlRoute> ruleRoutes();       // control_rules.cpp
std::vector<ControlRoute> requestRoutes();    // control_requests.cpp
std::vector<ControlRoute> inboxRoutes();      // control_inbox.cpp
std::vector<ControlRoute> ledgerRoutes();     // control_ledger.cpp
std::vector<ControlRoute> graphRoutes();      // control_graphs.cpp
std::vector<ControlRoute> servedRoutes();     // control_served.cpp
std::vector<ControlRoute> marketRoutes();     // control_market.cpp
std::vector<ControlRoute> backupRoutes();     // control_backup.cpp
std::vector<ControlRoute> proofRoutes();      // control_proof.cpp
std::vector<ControlRoute> personRoutes();     // control_persons.cpp
std::vector<ControlRoute> fileRoutes();       // control_files.cpp
std::vector<ControlRoute> consoleRoutes();    // control_console.cpp
std::vector<ControlRoute> programRoutes();    // control_programs.cpp
std::vector<ControlRoute> operationRoutes();  // control_routes.cpp

// Of operations on the running node.
operations::OperationContext operationContext(Daemon& daemon);

// The partitions whose owner was revoked, by id: no member decides for them until one seizes them (control_status.cpp).
std::vector<std::string> orphanedPartitions(Daemon& daemon);

}  // namespace api
}  // namespace witan::node
