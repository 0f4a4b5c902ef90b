// What the domains of this build bring for agents, and the agents that know no domain. Immutable, any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "agents/agent.h"
#include "agents/tools/ledger_tool.h"

namespace witan::domains {

// By id.
std::span<const agents::Agent* const> builtinAgents();
// Null: there is none of this id.
const agents::Agent* findAgent(std::string_view id);

// slice.read, and those of the domains.
std::span<const agents::LedgerTool* const> ledgerTools();
// Null: there is none of this name.
const agents::LedgerTool* findLedgerTool(std::string_view name);

// No keys: content that has to be sealed is refused.
agents::ContentSeals contentSeals(std::shared_ptr<const agents::SealKeys> keys = {});

}  // namespace witan::domains
