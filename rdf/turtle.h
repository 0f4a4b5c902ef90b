// Reads RDF 1.1 Turtle, by serd: bytes and limits in, a whole graph or diagnostics out. Pure function, any thread.
//
// Two things serd does not do by itself (both measured): it hands undeclared prefixes on without an error, and it has
// handed out the statements before a syntax error. Here both give diagnostics with a place, and never a graph.
#pragma once

#include <optional>
#include <string_view>

#include "rdf/graph.h"

namespace witan::ontology {

struct TurtleLimits {
  std::size_t bytes = 4 << 20;
  std::size_t triples = 100'000;
  std::size_t depth = 32;             // of [ and ( inside each other; serd recurses there
  std::size_t termBytes = 16 << 10;   // of one term
  std::size_t graphBytes = 32 << 20;  // of all terms, prefixes written out
};

// Nothing if `out` got an error. O(bytes + triples * log triples).
std::optional<Graph> readTurtle(std::string_view text, const TurtleLimits& limits, Diagnostics& out);

}  // namespace witan::ontology
