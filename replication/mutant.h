// Deliberately broken variants, to show that the tests and the simulator notice. Compiled in only where WITAN_MUTANTS
// is defined (the library witan_replication_mutants); everywhere else mutated() is a constant false.
#pragma once

namespace witan::replication {

enum class Mutant {
  none,
  advanceEarly,       // rule 1: the vector rises with every row, not at the commit
  orderByArrival,     // rule 2: what arrives below the walk's position counts as sent
  noGate,             // rule 3: a covered dot that is not held is taken in again
  stripUnstable,      // rule 4: contexts shrink as soon as this device itself has everything in them
  commitEarly,        // every segment commits, also before the walk is complete
  trustOldToken,      // a walk is resumed where it broke although something has come in below that place
  keepVoidToken,      // what to resume from is kept from an attempt that a RETRY voids
  ignoreMissingBase,  // a field delta without its base is taken for applied
  forgetTombstones,   // a tombstone goes as soon as this device itself has everything in it
  ackUnheard,         // a peer's acknowledgements count before its statements are here
};

#ifdef WITAN_MUTANTS
inline Mutant activeMutant = Mutant::none;
inline bool mutated(Mutant mutant) { return activeMutant == mutant; }
#else
constexpr bool mutated(Mutant) { return false; }
#endif

}  // namespace witan::replication
