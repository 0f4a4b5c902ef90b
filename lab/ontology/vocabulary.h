// The words of a domain ontology (docs/ONTOLOGY.md): IRIs that the reader of models knows. Constants only.
#pragma once

#include <array>
#include <string_view>

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
inline constexpr std::array kClasses{std::string_view("Domain"),         std::string_view("Field"),
                                     std::string_view("LifecycleField"), std::string_view("PublicField"),
                                     std::string_view("Process"),        std::string_view("Invariant"),
                                     std::string_view("Role"),           std::string_view("Counselor"),
                                     std::string_view("PolicyRule"),     std::string_view("Precondition")};
inline constexpr std::array kProperties{std::string_view("name"),      std::string_view("primaryContinuant"),
                                        std::string_view("type"),      std::string_view("bfoCategory"),
                                        std::string_view("dependsOn"), std::string_view("reads"),
                                        std::string_view("writes"),    std::string_view("id"),
                                        std::string_view("order"),     std::string_view("source"),
                                        std::string_view("gates"),     std::string_view("onFailure"),
                                        std::string_view("keyScope"),  std::string_view("refersTo"),
                                        std::string_view("performs"),  std::string_view("performedBy")};

}  // namespace witan::ontology::iri
