// What Procedure 2 (seed 000, section 2.3) says of declared invariants against roles, in all its readings, and where
// the walk of the life cycle finds nothing to stop a process. Pure; public fields are left out of everything.
#pragma once

#include <string>
#include <vector>

#include "kernel/lint.h"
#include "lab/ontology/roles.h"

namespace witan::ontology {

struct InvariantClass {
  std::size_t invariant = 0;  // of the model
  FieldSet footprint;         // without public fields
  kernel::InvariantLint lint;
  // It quantifies over keys: cross-cutting between instances of one role even where one role owns every field.
  bool acrossKeys = false;
};

// In list order. O(invariants * roles * fields).
std::vector<InvariantClass> classify(const Model&, const Derivation&);

// A phase is a lifecycle field. The pair is open if no invariant reads both the phase and something the process writes:
// then nothing can forbid the process in one phase and allow it in another.
struct OpenPair {
  std::size_t phase = 0;  // field
  std::size_t process = 0;
};
struct Coverage {
  std::vector<OpenPair> open;          // by phase's, then process's name
  std::vector<std::size_t> unguarded;  // processes of which no invariant reads anything they write, by name
};
// Counselors' processes are left out: invariants do not bind a counselor.
Coverage coverageOf(const Model&);

}  // namespace witan::ontology
