// Findings and derivations as people and programs read them: what `witan ontology check|derive` prints.
//
// Pure. JSON texts are one value, without a newline. Nothing in them depends on IRIs, but for check's messages.
#pragma once

#include <string>

#include "lab/ontology/roles.h"

namespace witan::ontology {

std::string checkText(const std::string& file, const Diagnostics&);
std::string checkJson(const std::string& file, const Diagnostics&);

struct Derived {
  const Model& model;
  const Derivation& roles;
  std::vector<InvariantClass> invariants;
  Coverage coverage;
};
inline Derived derivedOf(const Model& model, const Derivation& roles) {
  return {model, roles, classify(model, roles), coverageOf(model)};
}

std::string deriveText(const Derived&);
// The fingerprint of a domain before there is code (seed 000, Figure 2, step 2): what its footprints alone say.
//   needs adjudication  some invariant is read over what several roles write: none of them can keep it alone
//   pipeline-like       no two roles read what the other writes, not by a third either
//   audit               what the file demands of the domain; the kernel's ledger gives it
struct FootprintPrint {
  std::vector<std::string> shared;  // invariants of several writers, or over several keys, with these
  std::vector<std::string> loops;   // roles that wait for each other, each with the next
  std::optional<bool> audit;
};
FootprintPrint footprintPrintOf(const Derived&);
std::string footprintPrintText(const Derived&);
std::string footprintPrintJson(const Derived&);

// {"roles":[{"name","processes","footprint",...}],"invariants":[...],...}: the contract's members first.
std::string deriveJson(const Derived&);

}  // namespace witan::ontology
