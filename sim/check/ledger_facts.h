// What the entries of a log say of a column that agents watch (agents/agent.h, LedgerSpec): read from the JSON of what
// each entity began with and of what was written, as a person would. Pure function.
#pragma once

#include <vector>

#include "agents/agent.h"
#include "agents/wake/wake_job.h"
#include "sim/check/partition_log.h"

namespace witan::sim {

// Each fact once, in the order of the log. Entities that nobody has decided anything about yet say nothing.
std::vector<agents::LedgerFact> factsOf(const PartitionLog& log, const agents::LedgerSpec& spec);

}  // namespace witan::sim
