// The words of a domain ontology (docs/ONTOLOGY.md): IRIs that the reader of models knows.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/concat.h"

namespace witan::ontology::iri {

inline constexpr std::string_view kNamespace = "https://example.org/agentic-redux/ns#";
inline constexpr std::string_view kObo = "http://purl.obolibrary.org/obo/";

inline constexpr std::string_view kType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
inline constexpr std::string_view kSubClassOf = "http://www.w3.org/2000/01/rdf-schema#subClassOf";
inline constexpr std::string_view kComment = "http://www.w3.org/2000/01/rdf-schema#comment";
inline constexpr std::string_view kDisjointWith = "http://www.w3.org/2002/07/owl#disjointWith";
inline constexpr std::string_view kHasParticipant = "http://purl.obolibrary.org/obo/BFO_0000057";
inline constexpr std::string_view kPrecedes = "http://purl.obolibrary.org/obo/BFO_0000063";

// Below kNamespace. Classes and individuals, then properties.
inline constexpr std::array kClasses =
    std::to_array<std::string_view>({"Domain", "Field", "LifecycleField", "PublicField", "Process", "Invariant", "Role",
                                     "Counselor", "PolicyRule", "Precondition"});
inline constexpr std::array kProperties = std::to_array<std::string_view>(
    {"name", "primaryContinuant", "requiresAudit", "type", "bfoCategory", "dependsOn", "reads", "writes", "id", "order",
     "source", "gates", "onFailure", "keyScope", "refersTo", "performs", "performedBy"});

}  // namespace witan::ontology::iri

namespace witan::ontology {

// The IRI of a word of this vocabulary.
inline std::string ar(std::string_view word) { return concat(iri::kNamespace, word); }

}  // namespace witan::ontology
