// The scenarios of a domain, and whether the rules of a file may be installed on a node: asked alike by `witan domain
// install`, by `witan publish`, by a device to which a file comes, and by a start of published ones.
//
// Pure, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/domain_module.h"
#include "kernel/history_check.h"

namespace witan::node {

// The scenarios that the domain ships with, run against their expectations; with the states in which they end checked
// for time stability. A domain without scenarios: checked = 0.
std::vector<kernel::PropertyResult> checkScenarios(const kernel::DomainModule&);
// The same for event lines from elsewhere; `source` says in the report whose they are.
std::vector<kernel::PropertyResult> checkScenarios(const kernel::DomainModule&, std::string_view lines,
                                                   const std::string& source);

// Errors: conflict, this program has a domain of the name; invalid, the declaration has problems, or the scenarios in
// the file do not hold.
Status mayInstall(const kernel::DomainModule& module);

}  // namespace witan::node
