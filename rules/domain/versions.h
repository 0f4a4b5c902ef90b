// Versions of a rule file: what a later one may change, so that every decision made under an earlier one comes out the
// same under it. Pure.
//
// A file of version N says in [since] which of its processes and invariants came with which version, and which fields
// get their defaults then. An entity is of a version, which its field `rulesVersion` holds: one that began under the
// file has its version, one from before has the one that it had. What came later does not touch it (RuleReader puts the
// condition before each script), until an entry of the process UpgradeRules, of the role Upgrade, moves it on.
#pragma once

#include <string>

#include "kernel/domain_module.h"

namespace witan::rules {

// Of a rule file, and of one of its entities; 1 of a compiled domain, and of its.
std::int64_t versionOf(const kernel::DomainModule& module);
std::int64_t versionOf(const kernel::DomainModule& module, const kernel::EntityState& entity);

// Errors: conflict; the newer file decides something otherwise than the older one, whose policy is given, and says
// what.
Status continuesRules(const std::string& older, const json::object& olderPolicy, const kernel::DomainModule& newer);

}  // namespace witan::rules
