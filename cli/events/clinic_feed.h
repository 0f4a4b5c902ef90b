// The journal of a clinic, made up: what its front desk would enter while the events of `witan domain generate udt`
// happen, for agents to act on (agents/builtin/udt_*.cpp). Deterministic. Pure.
#pragma once

#include <string>

#include "cli/events/event_generator.h"

namespace witan::node {

// JSON Lines {"at", "id", "type", "payload"} in order of time, as `witan agent run --feed` reads them. Errors: as
// generateEvents.
Result<std::string> clinicFeed(const GenerateOptions& options);

}  // namespace witan::node
