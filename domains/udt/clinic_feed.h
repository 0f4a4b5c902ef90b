// The journal of a clinic, made up: what its front desk would enter while the events of `witan domain generate udt`
// happen, for agents to act on (domains/udt/agents/). Deterministic. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace witan::domains::udt {

// JSON Lines {"at", "id", "type", "payload"} in order of time, as `witan agent run --feed` reads them.
Result<std::string> clinicFeed(std::size_t patients, std::size_t days, std::uint64_t seed);

}  // namespace witan::domains::udt
