// Attack: searches for a way in which a single role, by lawful actions alone, passes a gate without its evidence.
//
// It begins in states of the domain's own scenarios (what all roles and people made there), then only the one role
// acts: actions from the scenarios with changed arguments, and new ones, of values that the state and the scenarios
// hold, their neighbours and what is odd (negative, blank, far away). A state is kept if something in it is new, so the
// search goes on from there. "Not found" proves nothing; how far was searched is part of the answer. Deterministic: the
// same module, gates and options give the same report, if `more` does. The module and the gates outlive the call.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rules/domain/gates.h"

namespace witan::rules {

struct AttackOptions {
  std::uint64_t seed = 1;
  std::uint64_t steps = 20'000;  // actions tried for each role
  std::size_t length = 6;        // actions of one way
  std::string role;              // empty: each
  std::string_view scenarios;    // empty: those of the module
};

struct AttackStep {
  Time at;
  std::string action;  // canonical JSON
};

// The shortest way that was found: no step of it can be left out.
struct AttackFinding {
  std::string gate, rule, role, key;
  std::string origin;  // "line 12 of the scenarios"
  std::string from;    // canonical JSON of the state
  std::vector<AttackStep> steps;
};

struct AttackedRole {
  std::string role;
  std::uint64_t tried = 0, approved = 0, states = 0;
};

struct AttackReport {
  std::size_t gates = 0, origins = 0;
  std::vector<AttackedRole> roles;
  std::vector<AttackFinding> findings;
};

// Asks `more` now and then, and leaves the role when it says no. Errors: an unknown role; a gate that cannot be
// evaluated.
Result<AttackReport> attack(const kernel::DomainModule& module, const Gates& gates, const AttackOptions& options,
                            const std::function<bool(std::string_view role)>& more = {});

std::string attackText(const kernel::DomainModule& module, const AttackReport& report);
json::object attackJson(const kernel::DomainModule& module, const AttackReport& report);

}  // namespace witan::rules
