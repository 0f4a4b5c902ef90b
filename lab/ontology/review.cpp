#include "lab/ontology/ontology.h"

#include <algorithm>
#include <set>

#include "lab/ontology/field_type.h"
#include "lab/ontology/roles.h"
#include "lab/ontology/vocabulary.h"

namespace witan::ontology {

namespace {

// BFO 2020 (ISO/IEC 21838-2): what happens, and not what is there.
constexpr std::string_view kOccurrents[] = {"BFO_0000003", "BFO_0000008", "BFO_0000011", "BFO_0000015", "BFO_0000035",
                                            "BFO_0000038", "BFO_0000148", "BFO_0000202", "BFO_0000203"};
constexpr std::string_view kRoleOfContinuant = "BFO_0000023";

bool isBfo(std::string_view iri, std::string_view word) {
  return iri.starts_with(iri::kObo) && iri.substr(iri::kObo.size()) == word;
}
bool isOccurrent(std::string_view iri) {
  return std::any_of(std::begin(kOccurrents), std::end(kOccurrents), [&](auto word) { return isBfo(iri, word); });
}

void reviewFields(const Model& model, Diagnostics& out) {
  FieldSet written, read;
  for (const Process& p : model.processes) {
    written = written | p.writes;
    read = read | p.reads;
  }
  for (const Invariant& i : model.invariants) read = read | i.footprint;
  for (std::size_t i = 0; i < model.fields.size(); ++i) {
    const Field& f = model.fields[i];
    if (!f.type.empty())
      if (const auto type = parseFieldType(f.type); !type.ok())
        out.warning(f.at, "field " + f.name + ": " + type.error().message);
    if (f.kind == FieldKind::open) continue;
    if (!written.contains(i)) out.warning(f.at, "field " + f.name + " is written by no process");
    if (!read.contains(i)) out.warning(f.at, "field " + f.name + " is read by no process and no invariant");
    // Roles are no qualities in BFO, whatever Remark A.4 says: annotations, so that much and no more is said of them.
    if (isOccurrent(f.bfoCategory))
      out.warning(f.at, "field " + f.name + " is an occurrent: a field is of a continuant");
    if (f.kind == FieldKind::plain && isBfo(f.bfoCategory, kRoleOfContinuant))
      out.warning(f.at, "field " + f.name + " is a role of the continuant, but no ar:LifecycleField");
  }
}

void reviewProcesses(const Model& model, Diagnostics& out) {
  const FieldSet open = model.ofKind(FieldKind::open);
  const FieldSet lifecycle = model.ofKind(FieldKind::lifecycle);
  std::set<std::size_t> performed;
  for (const DeclaredRole& role : model.roles) performed.insert(role.performs.begin(), role.performs.end());
  for (std::size_t i = 0; i < model.processes.size(); ++i) {
    const Process& p = model.processes[i];
    if (!p.hasParticipant) out.warning(p.at, "process " + p.name + " has no participant (bfo:BFO_0000057)");
    if (p.footprint().empty())
      out.warning(p.at, "process " + p.name + " has no footprint: it reads and writes nothing");
    else if (p.writes.empty())
      out.warning(p.at, "process " + p.name + " writes nothing");
    else if (!p.byCounselor && (p.footprint() - open - lifecycle).empty())
      out.warning(p.at, "process " + p.name + " touches only the life cycle: it gets a role of its own");
    if (!p.byCounselor && meets(p.writes, open))
      out.warning(p.at, "process " + p.name + " writes " + model.namesOf(p.writes & open).front() +
                            ": no proposal writes a public field");
    if (!model.roles.empty() && !p.byCounselor && !performed.contains(i))
      out.warning(p.at, "process " + p.name + " is performed by no declared role");
  }
}

void reviewInvariants(const Model& model, Diagnostics& out) {
  const Invariant* escalates = nullptr;
  for (const Invariant& i : model.invariants) {
    if (i.footprint.empty()) out.warning(i.at, "invariant " + i.name + " has no footprint: it is local to every role");
    if (!i.order) out.warning(i.at, "invariant " + i.name + " has no ar:order: it comes after those that have one");
    if (i.onFailure == OnFailure::escalate)
      escalates = &i;
    else if (i.onFailure == OnFailure::reject && escalates != nullptr)
      out.warning(i.at, "invariant " + i.name + " rejects but stands after " + escalates->name +
                            ", which escalates: a doomed proposal would be sent to a human");
    if (i.source == Source::precondition && i.gates.empty())
      out.warning(i.at, "precondition " + i.name + " gates no process (ar:gates)");
    for (const std::size_t p : i.gates)
      if (!meets(i.footprint, model.processes[p].footprint()))
        out.warning(i.at, "precondition " + i.name + " refers to nothing that " + model.processes[p].name +
                              ", which it gates, reads or writes");
  }
}

// Declared roles check the derivation.
void reviewRoles(const Model& model, Diagnostics& out) {
  for (const DeclaredRole& role : model.roles)
    if (role.performs.empty()) out.warning(role.at, "role " + role.name + " performs no process");
  const Derivation derived = deriveRoles(model);
  if (derived.dependsOnIris) out.warning(model.domain.at, "ties decide the roles: other IRIs could give others");
  for (const DeclaredRole& role : model.roles) {
    const bool found =
        std::ranges::any_of(derived.roles, [&](const DerivedRole& d) { return d.declared && d.name == role.name; });
    if (!role.performs.empty() && !found)
      out.warning(role.at, "Procedure 1 derives no role with just the processes of " + role.name);
  }
}

}  // namespace

void review(const Model& model, Diagnostics& out) {
  if (isOccurrent(model.continuant)) out.warning(model.domain.at, "the primary continuant is a class of occurrents");
  if (model.continuant.empty()) out.warning(model.domain.at, "no ar:primaryContinuant is named");
  if (model.processes.empty()) out.warning(model.domain.at, "no process is declared");
  reviewFields(model, out);
  reviewProcesses(model, out);
  reviewInvariants(model, out);
  reviewRoles(model, out);
}

}  // namespace witan::ontology
