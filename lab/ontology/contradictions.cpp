// Statements that can't be true together, whatever they are about: cycles where there may be none, and things that are
// of two classes that have nothing in common.
#include <algorithm>
#include <set>

#include "lab/ontology/model.h"
#include "lab/ontology/vocabulary.h"

namespace witan::ontology {

namespace {

constexpr std::size_t kMaxDisjoint = 200;

using Edges = std::map<std::uint32_t, std::vector<const Triple*>>;

Edges edgesOf(const Facts& facts, const std::vector<std::string>& properties, bool backwards) {
  Edges edges;
  for (const std::string& property : properties)
    for (const Triple* t : facts.all(property)) edges[backwards ? t->object : t->subject].push_back(t);
  return edges;
}

// One walk along a property that has no cycles; a chain may be as long as the file, so nothing recurses.
class CycleSearch {
 public:
  CycleSearch(const Facts& facts, std::string_view property, std::string_view word, Diagnostics& out)
      : facts_(facts), word_(word), out_(out), edges_(edgesOf(facts, {std::string(property)}, false)) {}

  void run() {
    for (const auto& [start, unused] : edges_)
      if (!done_.contains(start)) walk(start);
  }

 private:
  struct Step {
    std::uint32_t at;
    std::size_t next;
  };

  void walk(std::uint32_t start) {
    path_ = {{start, 0}};
    onPath_ = {start};
    while (!path_.empty()) {
      const std::uint32_t at = path_.back().at;
      const auto out = edges_.find(at);
      if (out == edges_.end() || path_.back().next == out->second.size()) {
        done_.insert(at);
        onPath_.erase(at);
        path_.pop_back();
        continue;
      }
      const Triple& edge = *out->second[path_.back().next++];
      if (onPath_.contains(edge.object))
        report(edge);
      else if (!done_.contains(edge.object)) {
        path_.push_back({edge.object, 0});
        onPath_.insert(edge.object);
      }
    }
  }

  void report(const Triple& edge) {
    const auto first = std::ranges::find_if(path_, [&](const Step& s) { return s.at == edge.object; });
    std::string words;
    const auto length = path_.end() - first;
    for (auto at = first; at != path_.end() && at - first < 5; ++at) words += facts_.graph().show(at->at) + " -> ";
    if (length > 5) words += "... -> ";
    out_.error(edge.at, concat("a cycle of ", word_, ": ", words, facts_.graph().show(edge.object)));
  }

  const Facts& facts_;
  std::string_view word_;
  Diagnostics& out_;
  Edges edges_;
  std::vector<Step> path_;
  std::set<std::uint32_t> onPath_;
  std::set<std::uint32_t> done_;
};

// Everything that is a `top`, by rdf:type and rdfs:subClassOf; `edges` lead backwards.
std::set<std::uint32_t> membersOf(std::uint32_t top, const Edges& edges) {
  std::set<std::uint32_t> found{top};
  std::vector<std::uint32_t> open{top};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (const auto below = edges.find(at); below != edges.end())
      for (const Triple* t : below->second)
        if (found.insert(t->subject).second) open.push_back(t->subject);
  }
  return found;
}

void findDisjoint(const Facts& facts, Diagnostics& out) {
  const std::vector<const Triple*> pairs = facts.all(iri::kDisjointWith);
  if (pairs.empty()) return;
  if (pairs.size() > kMaxDisjoint)
    return out.error(pairs.back()->at, concat("more than ", kMaxDisjoint, " owl:disjointWith"));
  const Edges below = edgesOf(facts, {std::string(iri::kType), std::string(iri::kSubClassOf)}, true);
  for (const Triple* pair : pairs) {
    const auto left = membersOf(pair->subject, below);
    for (const std::uint32_t both : membersOf(pair->object, below))
      if (left.contains(both)) {
        out.error(facts.placeOf(both), facts.graph().show(both) + " is " + facts.graph().show(pair->subject) + " and " +
                                           facts.graph().show(pair->object) + ", which are disjoint");
        break;
      }
  }
}

}  // namespace

void findContradictions(const Facts& facts, Diagnostics& out) {
  CycleSearch(facts, iri::kSubClassOf, "rdfs:subClassOf", out).run();
  CycleSearch(facts, ar("dependsOn"), "ar:dependsOn", out).run();
  CycleSearch(facts, iri::kPrecedes, "bfo:precedes", out).run();
  findDisjoint(facts, out);
}

}  // namespace witan::ontology
