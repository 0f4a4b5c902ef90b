// Procedure 1 (seed 000, section 2.2), made deterministic: which roles a domain's processes ask for.
//
//   F(p)   = reads(p) u writes(p), without lifecycle and public fields
//   groups = one per process, in the order of the bytes of their IRIs; F(group) = union
//   while there is a pair i < j with min(|F_i|, |F_j|) > 0 and |F_i n F_j| >= theta * min(|F_i|, |F_j|): merge the pair
//     with the largest |F_i n F_j| / min(...), of equal ones the one with the smallest (least IRI of i, least IRI of j)
//
// Pure, integers only. docs/ONTOLOGY.md says what the procedure leaves open and what is done there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/lint.h"
#include "lab/ontology/model.h"

namespace witan::ontology {

// A rational number in [0, 1].
struct Share {
  std::uint64_t of = 1;
  std::uint64_t to = 2;
};

struct DerivedRole {
  std::string name;
  bool declared = false;               // the file declares just this role, and it has its name from there
  std::vector<std::size_t> processes;  // of the model, by name
  FieldSet footprint;                  // Def. A.6, lifecycle fields included, public ones not
  FieldSet writes;
};

struct Merge {
  std::string left, right;  // a process of each group: the one with the least IRI
  std::size_t shared = 0;
  std::size_t smaller = 0;
};

struct Excess {
  std::size_t process = 0;
  std::size_t role = 0;
  std::size_t fields = 0;  // |footprint(role) \ F(process)|
  std::size_t of = 0;      // |footprint(role)|
};

struct Derivation {
  std::vector<DerivedRole> roles;  // by their first process's name
  bool pinned = false;             // declared, not derived
  Share theta;
  std::vector<Merge> merges;   // in the order they were made
  std::vector<Excess> excess;  // by process name
  bool capExceeded = false;    // although theta = 1 was tried
  bool dependsOnIris = false;  // ties decide: one of three other orders of the IRIs gave other roles
};

// `cap`: when a process's privilege excess is above it, again with theta = 3/4, then 1. O(processes^2 * fields).
Derivation deriveRoles(const Model&, std::optional<Share> cap = std::nullopt);

// The declared roles as they stand, for who pins them; processes in no role are left out.
Derivation declaredRoles(const Model&);

// ---- what Procedure 2 (seed 000, section 2.3) says of declared invariants against roles, in all its readings, and
// where the walk of the life cycle finds nothing to stop a process. Public fields are left out of everything.

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
