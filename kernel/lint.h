// Lint: what can be said of a domain without running it, and a search for write skew (witan domain lint).
//
// Pure functions over a module's declaration and its sampler: the same module, seed and steps give the same report.
// Used by the CLI, by tests and by the ontology tools. The public fields (clock, policy, waivers) belong to every
// footprint and are left out of all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/domain_module.h"

namespace witan::kernel {

// One invariant against the roles. The paper gives two readings of "local" and "cross-cutting" that it takes for the
// same; they differ (a footprint may lie in one role and touch another, or touch one and hold an orphan field).
struct InvariantLint {
  std::string id;
  std::vector<std::string> containedIn;  // roles whose footprint contains it: it is local to these (Def. A.10)
  std::vector<std::string> touches;      // roles whose footprint it meets
  std::vector<std::string> writers;      // roles that write a field of it
  std::vector<std::string> orphans;      // its fields that no role's footprint holds
  std::string enforcer;                  // the one role that could keep it alone; empty: none

  bool crossCutting() const { return containedIn.empty(); }      // Def. A.10
  bool crossBySection23() const { return touches.size() >= 2; }  // section 2.3: meets at least two roles
  std::string section23() const;  // "local", "cross-cutting", "local and cross-cutting" or "neither"
};

// The field of rules that have versions: which one an entity is of.
inline constexpr const char* kRulesVersionField = "rulesVersion";

struct ProcessLint {
  std::string name;
  std::string role;          // "": only a counselor performs it
  std::uint32_t excess = 0;  // |footprint(role) \ F(p)|, F(p) without lifecycle fields
  std::uint32_t of = 0;      // |footprint(role)|
};

struct SignatureLint {
  std::vector<InvariantLint> invariants;  // in list order
  std::vector<ProcessLint> processes;
  std::vector<std::string> inNoRole;      // orphan fields
  std::vector<std::string> neverWritten;  // by any process, counselors' included
  std::vector<std::string> neverRead;     // by any process or invariant
  // Plain texts that a role writes and an invariant reads, with the invariants: does it compare words of a language, or
  // names, of which there is one form?
  std::vector<std::string> freeText;
  // What is wrong or odd, as sentences: duplicate names, processes without a footprint, escalations before rejects. A
  // rule that counts from a version on may stand behind escalations: verdicts keep their places in entries.
  std::vector<std::string> problems;
};

// O(invariants * roles * fields).
SignatureLint lintSignature(const Signature&);

struct SkewAction {
  std::string role;
  Time at;
  std::string action;  // canonical JSON
  std::string writes;  // its write set, alone
};

// Def. A.11: from one state each action alone keeps every invariant, and both together break one. "Together" is the
// three-way merge of their write sets, cell by cell.
struct SkewWitness {
  std::string state, merged;  // canonical JSON
  SkewAction first, second;
  std::string invariant, message;
};

// Two actions that write one cell: merging would lose one of the writes. Not write skew (Berenson et al., P4, not
// A5B), so it is reported apart.
struct LostUpdate {
  std::string state;
  SkewAction first, second;
  std::string cell;  // "field" or "field[key]"
};

struct SkewOptions {
  std::uint64_t seed = 1;
  std::size_t steps = 4'000;         // states visited
  std::size_t actionsPerState = 24;  // tried in each
};

struct SkewReport {
  bool searched = false;                           // false: the domain offers no sample actions
  std::size_t states = 0, actions = 0, pairs = 0;  // visited; that kept all invariants; of different roles, merged
  std::size_t severalRoles = 0;                    // states in which actions of two roles or more kept all invariants
  std::vector<SkewWitness> witnesses;  // one per invariant broken, in list order, from the smallest state found
  std::optional<LostUpdate> lostUpdate;
};

// Walks at random from sampled beginnings, through approved actions and safe counselor commits only, so that every
// state visited is reachable. O(steps * (actions + pairs)) evaluations. No witness is no proof of confluence.
SkewReport findWriteSkew(const DomainModule&, const SkewOptions&);

// Both as people read them.
std::string lintText(const Signature&, const SignatureLint&);
std::string skewText(const SkewReport&);

// The classes of an invariant against roles, in both readings of the paper, for any kind of footprint: masks of a
// compiled domain's fields (kernel/lint.cpp) or sets of an ontology's (lab/ontology/classes.cpp). Pure.

// A footprint can be asked: within(a, b) is a subset of b; meets(a, b): they share a field.
constexpr bool within(FieldMask a, FieldMask b) { return (a & ~b) == 0; }
constexpr bool meets(FieldMask a, FieldMask b) { return (a & b) != 0; }

template <class Set>
struct RoleReach {
  std::string name;
  Set footprint{};
  Set writes{};
};

// Everything of InvariantLint but the orphans. O(roles * fields).
template <class Set>
InvariantLint classifyInvariant(std::string id, const Set& footprint, const std::vector<RoleReach<Set>>& roles) {
  InvariantLint lint;
  lint.id = std::move(id);
  for (const RoleReach<Set>& role : roles) {
    if (within(footprint, role.footprint)) lint.containedIn.push_back(role.name);
    if (meets(footprint, role.footprint)) lint.touches.push_back(role.name);
    if (meets(footprint, role.writes)) lint.writers.push_back(role.name);
  }
  for (const std::string& role : lint.containedIn)
    if (lint.enforcer.empty() &&
        std::all_of(lint.writers.begin(), lint.writers.end(), [&](const auto& w) { return w == role; }))
      lint.enforcer = role;
  return lint;
}

}  // namespace witan::kernel
