// From the bytes of a Turtle file to a model, in one step: what the commands and the tests call.
//
// Pure function, any thread. docs/ONTOLOGY.md is the manual.
#pragma once

#include "lab/ontology/model.h"
#include "rdf/turtle.h"

namespace witan::ontology {

// Nothing if `out` got an error. Warnings are for review() to append.
inline std::optional<Model> readOntology(std::string_view text, Diagnostics& out, const TurtleLimits& limits = {}) {
  const std::optional<Graph> graph = readTurtle(text, limits, out);
  return graph ? readModel(*graph, out) : std::nullopt;
}

// Appends a warning for everything that is odd in a model that could be read.
void review(const Model&, Diagnostics& out);

}  // namespace witan::ontology
