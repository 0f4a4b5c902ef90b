// Clinic: events of a realistic month of a UDT clinic, David's story among them (seed 000, section 3.1).
//
// Pure and deterministic: the same numbers give the same lines on every machine. It drives a partition of its own, so
// that counselors answer what really escalates and nobody keeps pressing a frozen patient. Called by the CLI and tests.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "kernel/domain_module.h"

namespace witan::domains::udt {

// Events as JSON Lines in order of time, from 2026-03-23. "David" is one of the patients; the others are
// "patient-001" and so on. Requires: module is a UDT module. O(patients * days).
std::string generateClinic(const kernel::DomainModule& module, std::size_t patients, std::size_t days,
                           std::uint64_t seed);

// With the default policy.
std::string generateClinic(std::size_t patients, std::size_t days, std::uint64_t seed);

// The journal of a clinic, made up: what its front desk would enter while the events of `witan domain generate udt`
// happen, for agents to act on (domains/udt/agents.cpp). Deterministic. Pure.

// JSON Lines {"at", "id", "type", "payload"} in order of time, as `witan agent run --feed` reads them.
Result<std::string> clinicFeed(std::size_t patients, std::size_t days, std::uint64_t seed);

}  // namespace witan::domains::udt
