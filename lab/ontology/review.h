// Everything that is odd in a model that could be read: warnings of `witan ontology check`. Pure.
#pragma once

#include "lab/ontology/diagnostic.h"
#include "lab/ontology/model.h"

namespace witan::ontology {

void review(const Model&, Diagnostics& out);

}  // namespace witan::ontology
