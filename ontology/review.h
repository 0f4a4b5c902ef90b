// Everything that is odd in a model that could be read: warnings of `witan ontology check`. Pure.
#pragma once

#include "ontology/diagnostic.h"
#include "ontology/model.h"

namespace witan::ontology {

void review(const Model&, Diagnostics& out);

}  // namespace witan::ontology
