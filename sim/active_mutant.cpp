#include "sim/active_mutant.h"

#include "base/mutant.h"
#include "base/quote.h"
#include "sim/mutants.h"

namespace witan::sim {

#ifdef WITAN_MUTANTS
bool mutantsCompiledIn() { return true; }
#else
bool mutantsCompiledIn() { return false; }
#endif

Status activateMutant(std::string_view name) {
  if (name == kNoMutant) return okStatus();
  if (!isMutant(name)) return invalid("there is no mutant " + inQuotes(name), "witan sim mutants --list names them");
#ifdef WITAN_MUTANTS
  activeMutant = MutantId(name);
  return okStatus();
#else
  return Error{ErrorCode::unavailable, "this program has no broken variants", "use witan-sim"};
#endif
}

}  // namespace witan::sim
