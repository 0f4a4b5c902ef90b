#include "rdf/graph.h"

#include <algorithm>
#include <tuple>

#include "base/quote.h"
#include "base/utf8.h"

namespace witan::ontology {

std::string Graph::show(std::uint32_t id) const {
  const Term& t = terms[id];
  if (t.kind == Term::Kind::literal) return inQuotes(t.text);
  return t.kind == Term::Kind::blank ? "_:" + t.text : concat("<", clip(t.text, 200), ">");
}

Facts::Facts(const Graph& graph) : graph_(graph) {
  for (std::uint32_t id = 0; id < graph.terms.size(); ++id)
    if (graph.terms[id].kind == Term::Kind::iri) iris_.emplace(graph.terms[id].text, id);
}

std::optional<std::uint32_t> Facts::idOf(std::string_view iri) const {
  const auto found = iris_.find(iri);
  if (found == iris_.end()) return std::nullopt;
  return found->second;
}

std::vector<const Triple*> Facts::of(std::uint32_t subject, std::string_view property) const {
  std::vector<const Triple*> found;
  const auto predicate = idOf(property);
  if (!predicate) return found;
  const auto key = [](const Triple& t) { return std::pair(t.subject, t.predicate); };
  for (const Triple& t : std::ranges::equal_range(graph_.triples, std::pair(subject, *predicate), {}, key))
    found.push_back(&t);
  std::ranges::sort(found, {}, [this](const Triple* t) { return std::tie(graph_.term(t->object)); });
  return found;
}

std::vector<const Triple*> Facts::all(std::string_view property) const {
  std::vector<const Triple*> found;
  const auto predicate = idOf(property);
  if (!predicate) return found;
  for (const Triple& t : graph_.triples)
    if (t.predicate == *predicate) found.push_back(&t);
  std::ranges::sort(found, {},
                    [this](const Triple* t) { return std::tie(graph_.term(t->subject), graph_.term(t->object)); });
  return found;
}

Place Facts::placeOf(std::uint32_t subject) const {
  Place first;
  for (const Triple& t : std::ranges::equal_range(graph_.triples, subject, {}, &Triple::subject))
    if (first.line == 0 || t.subjectAt < first) first = t.subjectAt;
  return first;
}

}  // namespace witan::ontology
