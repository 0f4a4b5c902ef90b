// The steps of readModel (lab/ontology/model.h), each appending diagnostics. Used by the .cpp files of the reader only.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lab/ontology/facts.h"
#include "lab/ontology/model.h"

namespace witan::ontology {

WITAN_ENUM(Kind, Domain, Field, Process, Invariant, Role)

class ModelReader {
 public:
  ModelReader(const Graph& graph, Diagnostics& out) : facts_(graph), out_(out) {}
  Model read();

 private:
  // model_kinds.cpp: what is what.
  void findKinds();
  void checkWords();
  void addKind(const Triple& type, Kind kind, FieldKind fieldKind);
  void readDomain();
  void readFields();
  // model_processes.cpp
  void readProcesses();
  void readRoles();
  void readPerformer(std::uint32_t process, Process& into);
  // model_invariants.cpp
  void readInvariants();
  void readOrder(std::uint32_t subject, Invariant& into);

  Named named(std::uint32_t subject, std::string_view nameProperty);
  std::vector<std::uint32_t> subjectsOf(Kind kind) const;  // by IRI
  FieldSet fieldsOf(std::uint32_t subject, std::string_view property, std::string_view what);
  // The index of the process that a triple points at; nothing: told of.
  std::optional<std::size_t> processAt(const Triple& t, std::string_view what);
  // The one literal or IRI of a property, or "". Two different ones are a contradiction.
  std::string literalOf(std::uint32_t subject, std::string_view property);
  std::string iriOf(std::uint32_t subject, std::string_view property);
  const Triple* single(std::uint32_t subject, std::string_view property, Term::Kind kind);
  template <class E>
  E wordOf(std::uint32_t subject, std::string_view property, E otherwise);
  template <class T>
  void refuseSameNames(const std::vector<T>& all, std::string_view what);
  std::string nameOf(std::uint32_t subject) const { return facts_.graph().show(subject); }

  Facts facts_;
  Diagnostics& out_;
  Model model_;
  std::map<std::uint32_t, Kind> kinds_;
  std::map<std::uint32_t, FieldKind> fieldKinds_;
  std::map<std::uint32_t, std::size_t> fields_;                                      // term -> index
  std::map<std::uint32_t, std::size_t> processes_;                                   // term -> index
  std::map<std::uint32_t, std::vector<std::pair<std::size_t, Place>>> performedBy_;  // role's term -> processes
};

// "https://example.org/agentic-redux/ns#" + word.
std::string ar(std::string_view word);

// Cycles and contradictions between statements, whatever they are about (contradictions.cpp).
void findContradictions(const Facts&, Diagnostics& out);

template <class E>
E ModelReader::wordOf(std::uint32_t subject, std::string_view property, E otherwise) {
  const Triple* t = single(subject, property, Term::Kind::literal);
  if (t == nullptr) return otherwise;
  const std::string& word = facts_.graph().term(t->object).text;
  if (const auto value = parseEnum<E>(word)) return *value;
  std::string known;
  for (std::string_view name : enumNames<E>()) known += (known.empty() ? "" : ", ") + std::string(name);
  out_.error(t->at, facts_.graph().show(t->object) + " is none of: " + known);
  return otherwise;
}

template <class T>
void ModelReader::refuseSameNames(const std::vector<T>& all, std::string_view what) {
  std::map<std::string_view, const T*> seen;
  for (const T& one : all)
    if (const auto [first, isNew] = seen.try_emplace(one.name, &one); !isNew)
      out_.error(one.at, "two " + std::string(what) + " are called " + one.name + " (the other is at line " +
                             std::to_string(first->second->at.line) + ")");
}

}  // namespace witan::ontology
