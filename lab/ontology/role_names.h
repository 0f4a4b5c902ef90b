// Names of derived roles: a declared role's name if it performs just these processes, else the record that most of what
// they write belongs to ("claim.order", "claim.code" -> "Claim"). No IRI has a say. Used by lab/ontology/roles.cpp
// only.
#pragma once

#include "lab/ontology/roles.h"

namespace witan::ontology {

void nameRoles(const Model&, std::vector<DerivedRole>& roles);

}  // namespace witan::ontology
