#include "lab/ontology/graph.h"

#include <algorithm>
#include <tuple>

#include "base/quote.h"
#include "base/utf8.h"

namespace witan::ontology {

std::string Graph::show(std::uint32_t id) const {
  const Term& t = terms[id];
  if (t.kind == Term::Kind::literal) return inQuotes(t.text);
  return t.kind == Term::Kind::blank ? "_:" + t.text : "<" + std::string(clip(t.text, 200)) + ">";
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
  const auto before = [](const Triple& t, const std::pair<std::uint32_t, std::uint32_t>& key) {
    return std::tie(t.subject, t.predicate) < std::tie(key.first, key.second);
  };
  auto at = std::lower_bound(graph_.triples.begin(), graph_.triples.end(), std::pair(subject, *predicate), before);
  for (; at != graph_.triples.end() && at->subject == subject && at->predicate == *predicate; ++at)
    found.push_back(&*at);
  std::sort(found.begin(), found.end(),
            [this](const Triple* a, const Triple* b) { return graph_.term(a->object) < graph_.term(b->object); });
  return found;
}

std::vector<const Triple*> Facts::all(std::string_view property) const {
  std::vector<const Triple*> found;
  const auto predicate = idOf(property);
  if (!predicate) return found;
  for (const Triple& t : graph_.triples)
    if (t.predicate == *predicate) found.push_back(&t);
  std::sort(found.begin(), found.end(), [this](const Triple* a, const Triple* b) {
    return std::tie(graph_.term(a->subject), graph_.term(a->object)) <
           std::tie(graph_.term(b->subject), graph_.term(b->object));
  });
  return found;
}

Place Facts::placeOf(std::uint32_t subject) const {
  const auto before = [](const Triple& t, std::uint32_t s) { return t.subject < s; };
  Place first;
  for (auto at = std::lower_bound(graph_.triples.begin(), graph_.triples.end(), subject, before);
       at != graph_.triples.end() && at->subject == subject; ++at)
    if (first.line == 0 || at->subjectAt < first) first = at->subjectAt;
  return first;
}

}  // namespace witan::ontology
