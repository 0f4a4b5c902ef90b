// Deliberately broken variants, to show that the tests and the simulator notice. Compiled in only where WITAN_MUTANTS is
// defined (the library witan_replication_mutants); everywhere else mutated() is a constant false.
#pragma once

namespace witan::replication {

enum class Mutant {
  none,
  advanceEarly,       // rule 1: the vector rises with every row, not at the commit
  orderByArrival,     // rule 2: what arrives below the walk's position counts as sent
  noGate,             // rule 3: a covered dot that is not held is taken in again
  stripUnstable,      // rule 4: contexts shrink as soon as this device itself has everything in them
};

#ifdef WITAN_MUTANTS
inline Mutant activeMutant = Mutant::none;
inline bool mutated(Mutant mutant) { return activeMutant == mutant; }
#else
constexpr bool mutated(Mutant) { return false; }
#endif

}  // namespace witan::replication
