// An RDF graph: interned terms, and triples with the place where they stand. A set: no triple twice.
//
// A value; made by readTurtle only. Nothing in it depends on the order of the file except the places.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/ontology/diagnostic.h"

namespace witan::ontology {

struct Term {
  enum class Kind : std::uint8_t { iri, blank, literal };
  Kind kind = Kind::iri;
  std::string text;
  std::string datatype;  // of a literal; IRI or empty
  std::string language;  // of a literal
  friend auto operator<=>(const Term&, const Term&) = default;
};

struct Triple {
  std::uint32_t subject = 0;
  std::uint32_t predicate = 0;
  std::uint32_t object = 0;
  Place subjectAt;  // where the subject of this statement stands
  Place at;         // where its object stands
};

struct Graph {
  std::vector<Term> terms;
  std::vector<Triple> triples;  // by (subject, predicate, object)

  const Term& term(std::uint32_t id) const { return terms[id]; }
  // "d:x" is nobody's business here: IRIs are shown whole, literals in quotes.
  std::string show(std::uint32_t id) const;
};

}  // namespace witan::ontology
