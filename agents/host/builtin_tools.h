// The tools that every agent may be given: reading and editing the journal, and asking the meta-agent.
//
//   propose  {"domain", "entity", "role", "action"}   a proposal; the result has the meta-agent's answer
//   begin    {"domain", "entity", "fields"}           a new entity
//   journal.* as in agents/tools/journal_tools.h
//
// Values; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "agents/episode/tool.h"
#include "agents/host/host_effects.h"
#include "base/result.h"
#include "saga/saga_rows.h"

namespace witan::agents {

std::vector<episode::ToolInfo> builtinTools();

// Where an action's effect is made. Everything that is not built in is an external tool.
saga::EffectKind effectKindOf(std::string_view tool);

// The request that the arguments of `propose` or `begin` say; without its run and plan. Errors: an argument is missing
// or of another type, with its name.
Result<ProposalCall> proposalOf(const saga::SagaRow& row);

}  // namespace witan::agents
