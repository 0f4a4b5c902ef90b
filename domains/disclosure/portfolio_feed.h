// The journal of a lab that discloses what it finds, made up: what people and bridges would enter of each
// vulnerability, for the agents of the domain disclosure to act on (domains/disclosure/agents/). Deterministic.
// Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace witan::domains::disclosure {

// JSON Lines {"at", "id", "type", "payload"} in order of time, as `witan agent run --feed` reads them: one portfolio of
// `vulnerabilities`, found within the first half of `days`, from 2026-01-01 on. The last line is a note at the
// end of the last day, until when agents that are fed it work. Errors: invalid, too many.
Result<std::string> portfolioFeed(std::size_t vulnerabilities, std::size_t days, std::uint64_t seed);

}  // namespace witan::domains::disclosure
