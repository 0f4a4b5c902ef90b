// A compiled domain held against an ontology: `witan domain lint NAME --against FILE.ttl`.
//
// Pure. A difference means that one of the two is wrong; a note, that the ontology allows what the code does not use,
// or does not speak of it. Public fields (clock, policy, waivers) are left out on both sides.
#pragma once

#include <string>
#include <vector>

#include "kernel/domain_module.h"
#include "lab/ontology/model.h"

namespace witan::ontology {

struct Comparison {
  std::vector<std::string> differences;
  std::vector<std::string> notes;
  std::size_t fields = 0, processes = 0, roles = 0, invariants = 0;  // that both have
};

// Roles are compared as the ontology declares them, and if it declares none, as Procedure 1 derives them.
// O(fields * (processes + roles + invariants)).
Comparison compareWith(const kernel::Signature&, const Model&);

std::string againstText(const std::string& file, const kernel::Signature&, const Comparison&);
std::string againstJson(const std::string& file, const Comparison&);

}  // namespace witan::ontology
