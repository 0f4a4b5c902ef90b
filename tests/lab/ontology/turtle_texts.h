// Helpers of the ontology tests: files of the tree, graphs written again with other IRIs in another order, and small
// ontologies made on the spot.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "lab/ontology/ontology.h"
#include "lab/ontology/vocabulary.h"

#include "tests/paths.h"

namespace witan::ontology::test {

inline std::string fileText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  WITAN_CHECK(file.good(), path.string());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::filesystem::path root() { return witan::tests::kSourceDir; }

inline Model modelOf(const std::string& text) {
  Diagnostics found;
  std::optional<Model> model = readOntology(text, found);
  WITAN_CHECK(model.has_value(), found.hasErrors() ? found.asError("text").message : "no error, and no model");
  return *std::move(model);
}

inline std::vector<std::string> messagesOf(const std::string& text, const TurtleLimits& limits = {}) {
  Diagnostics found;
  const bool read = readOntology(text, found, limits).has_value();
  WITAN_CHECK(read != found.hasErrors(), "a model or an error, never both");
  std::vector<std::string> words;
  for (const Diagnostic& d : found.sorted()) words.push_back(toText("t", d));
  return words;
}

inline std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

// The graph as lines of N-Triples in random order, its own IRIs (those that are subjects and no word of a vocabulary)
// renamed at random.
inline std::string shuffled(const Graph& graph, std::mt19937_64& random) {
  std::map<std::string, std::string> names;
  for (const Triple& t : graph.triples) {
    const Term& s = graph.term(t.subject);
    if (s.kind == Term::Kind::iri)
      names.try_emplace(
          s.text, "urn:x:" + std::to_string(random()) + (random() % 2 ? "#p_" : "/") + std::to_string(names.size()));
  }
  const auto write = [&](std::uint32_t id) {
    const Term& t = graph.term(id);
    if (t.kind == Term::Kind::blank) return "_:" + t.text;
    if (t.kind == Term::Kind::literal)
      return "\"" + escaped(t.text) + "\"" + (t.language.empty() ? "" : "@" + t.language) +
             (t.datatype.empty() ? "" : "^^<" + t.datatype + ">");
    const auto renamed = names.find(t.text);
    return "<" + (renamed == names.end() ? t.text : renamed->second) + ">";
  };
  std::vector<std::string> lines;
  for (const Triple& t : graph.triples)
    lines.push_back(write(t.subject) + " " + write(t.predicate) + " " + write(t.object) + " .\n");
  std::shuffle(lines.begin(), lines.end(), random);
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

inline Graph graphOf(const std::string& text) {
  Diagnostics found;
  std::optional<Graph> graph = readTurtle(text, {}, found);
  WITAN_CHECK(graph.has_value(), found.asError("text").message);
  return *std::move(graph);
}

// A domain of processes p0, p1, ... with given fields: {{reads...}, {writes...}} by number. Fields named l... are of
// the life cycle, c... public.
inline const std::string kHead =
    "@prefix ar: <" + std::string(iri::kNamespace) +
    "> .\n@prefix d: <urn:d:> .\n@prefix bfo: <http://purl.obolibrary.org/obo/> .\n"
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\nd:domain a ar:Domain ; ar:name \"toy\" ; "
    "ar:primaryContinuant d:C .\n";

inline std::string processText(const std::string& name, const std::vector<std::string>& reads,
                               const std::vector<std::string>& writes) {
  std::string text = "d:" + name + " a ar:Process ; ar:name \"" + name + "\" ; bfo:BFO_0000057 d:C .\n";
  for (const std::string& f : reads) text += "d:" + name + " ar:reads d:" + f + " .\n";
  for (const std::string& f : writes) text += "d:" + name + " ar:writes d:" + f + " .\n";
  return text;
}

inline std::string fieldText(const std::string& name) {
  const char* kind = name[0] == 'l' ? "LifecycleField" : name[0] == 'c' ? "PublicField" : "Field";
  return "d:" + name + " a ar:" + kind + " ; ar:name \"" + name + "\" .\n";
}

}  // namespace witan::ontology::test
