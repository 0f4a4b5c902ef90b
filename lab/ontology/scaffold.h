// A domain from an ontology and its roles, as a beginning: a C++ file that compiles in this tree, or a rule file.
//
// What the ontology says is in it: fields, footprints, processes, roles, and the invariants' order and outcomes. What
// it does not say is not invented: each process writes its arguments as they come, each invariant passes until its
// author writes when it holds. Pure; the same model gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "lab/ontology/roles.h"

namespace witan::ontology {

struct Scaffold {
  std::string name;                // of the domain: folder, file and line in domains/registry.inc
  std::string source;              // of domains/<name>/<name>.cpp
  std::vector<std::string> notes;  // what could not be said in C++ as the ontology says it
};

// `file` is named in the head comment. Errors: what no compiled domain can have (more than 64 fields or invariants, a
// footprint that is empty), types that can't be read, no process.
Result<Scaffold> scaffold(const Model&, const Derivation&, const std::string& file);
// As a rule file, which needs no compiler. Errors: also what no rule file can have, as it says itself.
Result<Scaffold> scaffoldRules(const Model&, const Derivation&, const std::string& file);

}  // namespace witan::ontology
