#include "sim/active_mutant.h"

#include <string>

#include "base/mutant.h"
#include "base/quote.h"

namespace witan::sim {

#ifdef WITAN_MUTANTS
bool mutantsCompiledIn() { return true; }
#else
bool mutantsCompiledIn() { return false; }
#endif

Status activateMutant(std::string_view name) {
  const auto mutant = parseEnum<Mutant>(name);
  if (!mutant) return invalid("there is no mutant " + inQuotes(name), "witan sim mutants --list names them");
  if (*mutant == Mutant::none) return okStatus();
#ifdef WITAN_MUTANTS
  activeMutant = *mutant;
  return okStatus();
#else
  return Error{ErrorCode::unavailable, "this program has no broken variants", "use witan-sim"};
#endif
}

}  // namespace witan::sim
