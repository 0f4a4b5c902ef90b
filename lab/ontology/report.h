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
// {"roles":[{"name","processes","footprint",...}],"invariants":[...],...}: the contract's members first.
std::string deriveJson(const Derived&);

}  // namespace witan::ontology
