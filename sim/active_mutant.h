// Which broken variant of the cores (base/mutant.h) this process runs. Compiled into the program witan-sim; the tests
// of sim/ have none.
#pragma once

#include <string_view>

#include "base/result.h"

namespace witan::sim {

inline constexpr std::string_view kNoMutant = "none";

bool mutantsCompiledIn();
// For the whole process, before the first run. kNoMutant is always possible. Errors: no such mutant, not compiled in.
Status activateMutant(std::string_view name);

}  // namespace witan::sim
