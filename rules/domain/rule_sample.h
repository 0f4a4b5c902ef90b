// Samples of a rule file's domain: plausible and lawless actions, and counselors' edits, for property tests, lint and
// generated workloads. They take what the file itself mentions: its words, its numbers and those next to them, the keys
// of the state.
#pragma once

#include <string>
#include <string_view>

#include "base/seams.h"
#include "rules/domain/rule_domain.h"

namespace witan::rules {

std::string sampleAction(const RuleDomain& domain, const RuleState& state, Random& random, Time at);
std::string sampleRuleEdit(const RuleDomain& domain, const RuleState& state, std::string_view counselor, Random& random,
                           Time at);

}  // namespace witan::rules
