// RuleModule: the DomainModule of a rule file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernel/domain_module.h"

namespace witan::rules {

// `name`: of the file, for messages. `policy`: members that replace those of the file. `counselors`: if any, instead of
// the file's own. Errors name line, column and what was expected.
Result<std::unique_ptr<kernel::DomainModule>> makeRuleModule(std::string text, const std::string& name,
                                                             const json::object& policy = {},
                                                             std::vector<std::string> counselors = {});

}  // namespace witan::rules
