// A log that somebody else wrote: audited from its text, epoch by epoch, in the memory of its largest epoch; and held
// against a run of the vector that it claims to be of. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordination/audit.h"
#include "coordination/setup.h"

namespace witan::kernel::joint {

// Bounds of a log from outside; its bytes are up to who reads it.
struct LogLimits {
  std::size_t values = 4'000'000;  // JSON values and names in one epoch, and in each other member
};

struct LogAudit {
  std::optional<std::string> kernelClass;  // what the auditors say, not what the log says
  std::vector<Finding> findings;
};

// What the auditors find, and where the log's own words (kernel_classification, experiment_result, condition) are none
// or not what the epochs show. Two classes are taken as the log says them, since nobody sees them in a log:
// NONDETERMINISTIC_EXECUTION and NONTERMINATING_CONDITION. Errors: it is no object with the members of a log.
Result<LogAudit> auditLog(std::string_view log, LogLimits limits = {});

// The first difference between the log and a run of the vector, in the order of the log's members and with its JSON
// path; none if they say the same. It sees what the log alone does not tell: what result was due, under which condition
// and maximum. Errors as above.
Result<std::optional<Finding>> compareWithRun(std::string_view log, const Setup& vector, LogLimits limits = {});

}  // namespace witan::kernel::joint
