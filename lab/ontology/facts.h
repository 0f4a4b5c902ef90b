// A graph asked by subject and property. Used by the readers of ontology/; borrows the graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/ontology/graph.h"

namespace witan::ontology {

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
