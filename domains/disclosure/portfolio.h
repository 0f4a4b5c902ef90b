// Portfolio: a simulated year of a lab that discloses what it finds. Workers act by their rules (domains/disclosure/
// rules.h) on what happens outside, and a human answers what escalates: nobody else decides anything.
//
// Pure and deterministic: the same numbers give the same lines on every machine. It drives a partition of its own.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "kernel/domain_module.h"

namespace witan::domains::disclosure {

// Events as JSON Lines in order of time, from 2026-01-01, of one portfolio ("portfolio"). About 33 vulnerabilities an
// organisation, at most 300 of those. Requires: module is a disclosure module. O(vulnerabilities) decisions.
std::string generatePortfolio(const kernel::DomainModule& module, std::size_t vulnerabilities, std::size_t days,
                              std::uint64_t seed);

// The journal of a lab that discloses what it finds, made up: what people and bridges would enter of each
// vulnerability, for the agents of the domain disclosure to act on (domains/disclosure/agents/). Deterministic.
// Pure.

// JSON Lines {"at", "id", "type", "payload"} in order of time, as `witan agent run --feed` reads them: one portfolio of
// `vulnerabilities`, found within the first half of `days`, from 2026-01-01 on. The last line is a note at the
// end of the last day, until when agents that are fed it work. Errors: invalid, too many.
Result<std::string> portfolioFeed(std::size_t vulnerabilities, std::size_t days, std::uint64_t seed);

}  // namespace witan::domains::disclosure
