// The model of a problem domain that an ontology declares: fields, processes, invariants, roles (docs/ONTOLOGY.md).
//
// Made by readModel from a graph, whole or not at all. A value. Fields are known by index; they stand in the order of
// their names, so that what is listed by field does not depend on IRIs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/reflect.h"
#include "lab/ontology/field_set.h"
#include "rdf/diagnostic.h"
#include "rdf/graph.h"

namespace witan::ontology {

// plain: an atomic component of the state. lifecycle: a role of the continuant itself (Remark A.4), which nearly every
// process touches, so Procedure 1 does not measure it. open: public (clock, policy, waivers): in everybody's footprint.
WITAN_ENUM(FieldKind, plain, lifecycle, open)
WITAN_ENUM(OnFailure, reject, escalate, mixed)
// registry: it quantifies over several keys, so it is cross-cutting between instances of one role too.
WITAN_ENUM(KeyScope, perKey, registry)
WITAN_ENUM(Source, unstated, policyRule, precondition)

// What every entity has.
struct Named {
  std::string iri;
  std::string name;  // ar:name (of an invariant ar:id), else the IRI's last part without p_, f_, i_, r_
  Place at;
};

struct Field : Named {
  FieldKind kind = FieldKind::plain;
  std::string type;         // ar:type, or empty
  std::string bfoCategory;  // an IRI, or empty
};

struct Process : Named {
  FieldSet reads;
  FieldSet writes;
  bool byCounselor = false;  // no worker's: left out of Procedure 1
  bool hasParticipant = false;
  std::string comment;
  FieldSet footprint() const { return reads | writes; }  // Def. A.5
};

struct Invariant : Named {
  std::optional<std::int64_t> order;
  OnFailure onFailure = OnFailure::reject;
  KeyScope keyScope = KeyScope::perKey;
  Source source = Source::unstated;
  FieldSet footprint;              // Def. A.9, public fields included if named
  std::vector<std::size_t> gates;  // processes that the precondition gates
  std::string comment;
};

struct DeclaredRole : Named {
  std::vector<std::size_t> performs;  // ascending
};

struct Model {
  Named domain;
  std::string title;                  // rdfs:comment of the domain, or empty
  std::string continuant;             // IRI
  std::optional<bool> requiresAudit;  // nothing: the file does not say
  std::vector<Field> fields;          // by name
  std::vector<Process> processes;     // by the bytes of their IRIs: the order of Procedure 1
  std::vector<Invariant> invariants;  // in list order
  std::vector<DeclaredRole> roles;    // by name

  FieldSet ofKind(FieldKind kind) const;
  std::vector<std::string> namesOf(const FieldSet&) const;  // by name
};

// Nothing if `out` got an error: unknown fields, contradictions, cycles.
std::optional<Model> readModel(const Graph&, Diagnostics& out);

// Appends an error for each cycle, and for each pair of statements that contradict each other (contradictions.cpp).
void findContradictions(const Facts&, Diagnostics& out);

}  // namespace witan::ontology
