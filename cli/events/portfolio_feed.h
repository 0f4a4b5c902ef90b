// The journal of a lab that discloses what it finds, made up: what people and bridges would enter of each
// vulnerability, for the agents of the domain disclosure to act on (agents/builtin/disclosure_*.cpp). Deterministic.
// Pure.
#pragma once

#include <string>

#include "cli/events/event_generator.h"

namespace witan::node {

// JSON Lines {"at", "id", "type", "payload"} in order of time, as `witan agent run --feed` reads them: one portfolio of
// `entities` vulnerabilities, found within the first half of `days`, from 2026-01-01 on. The last line is a note at the
// end of the last day, until when agents that are fed it work. Errors: invalid, too many.
Result<std::string> portfolioFeed(const GenerateOptions& options);

}  // namespace witan::node
