// What an agent names and a node must have, or the agent never does anything: the role that it proposes under, the
// ledgers that wake it, and their fields.
//
// Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernel/domain_module.h"
#include "node/daemon/agent_files.h"
#include "node/telemetry/log.h"

namespace witan::node {

// In words, one a line; a domain of `coming` counts as if it had all.
std::vector<std::string> unknownNames(const agents::Agent& agent, std::span<const kernel::DomainModule* const> domains,
                                      std::span<const std::string> coming = {});

// Of the agents of these ids; "all": of all.
void warnOfUnknownNames(Log& log, const AgentFiles& files, std::span<const std::string> ids,
                        std::span<const kernel::DomainModule* const> domains);

}  // namespace witan::node
