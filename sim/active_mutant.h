// Which broken variant of the cores (base/mutant.h) this process runs. Only the program witan-mutants has any.
#pragma once

#include <string_view>

#include "base/result.h"

namespace witan::sim {

bool mutantsCompiledIn();
// For the whole process, before the first run. "none" is always possible. Errors: no such mutant, not compiled in.
Status activateMutant(std::string_view name);

}  // namespace witan::sim
