// An RDF graph: interned terms, and triples with the place where they stand. A set: no triple twice.
//
// A value; made by readTurtle only. Nothing in it depends on the order of the file except the places.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rdf/diagnostic.h"

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

// A graph asked by subject and property. Borrows the graph.
class Facts {
 public:
  explicit Facts(const Graph& graph);

  const Graph& graph() const { return graph_; }
  std::optional<std::uint32_t> idOf(std::string_view iri) const;
  // Triples of a subject and a property, by object. `property` is a whole IRI.
  std::vector<const Triple*> of(std::uint32_t subject, std::string_view property) const;
  // All triples of a property, by the subject's and the object's text.
  std::vector<const Triple*> all(std::string_view property) const;
  // Where a subject's first statement stands.
  Place placeOf(std::uint32_t subject) const;

 private:
  const Graph& graph_;
  std::map<std::string_view, std::uint32_t> iris_;
};

}  // namespace witan::ontology
