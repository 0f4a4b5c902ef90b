// Processes, and the roles that the file declares to perform them.
#include <algorithm>

#include "lab/ontology/model_reader.h"
#include "lab/ontology/vocabulary.h"

namespace witan::ontology {

void ModelReader::readPerformer(std::uint32_t process, Process& into) {
  for (const Triple* t : facts_.of(process, ar("performedBy"))) {
    const std::string& iri = facts_.graph().term(t->object).text;
    const std::vector<const Triple*> types = facts_.of(t->object, iri::kType);
    const bool counselor = iri == ar("Counselor") || std::any_of(types.begin(), types.end(), [&](const Triple* type) {
                             return facts_.graph().term(type->object).text == ar("Counselor");
                           });
    if (counselor) {
      into.byCounselor = true;
      continue;
    }
    performedBy_[t->object].emplace_back(model_.processes.size(), t->at);
    if (const auto kind = kinds_.find(t->object); kind == kinds_.end() || kind->second != Kind::Role) {
      out_.error(t->at, into.name + " ar:performedBy " + facts_.graph().show(t->object) +
                            ", which is neither ar:Counselor nor an ar:Role");
    }
  }
}

void ModelReader::readProcesses() {
  for (const std::uint32_t subject : subjectsOf(Kind::Process)) {
    Process p;
    static_cast<Named&>(p) = named(subject, "name");
    p.reads = fieldsOf(subject, "reads", p.name);
    p.writes = fieldsOf(subject, "writes", p.name);
    p.hasParticipant = !facts_.of(subject, iri::kHasParticipant).empty();
    p.comment = literalOf(subject, iri::kComment);
    readPerformer(subject, p);
    processes_[subject] = model_.processes.size();
    model_.processes.push_back(std::move(p));
  }
  refuseSameNames(model_.processes, "processes");
}

std::optional<std::size_t> ModelReader::processAt(const Triple& t, std::string_view what) {
  if (const auto known = processes_.find(t.object); known != processes_.end()) return known->second;
  out_.error(t.at, std::string(what) + " " + facts_.graph().show(t.object) + ", which is no declared process");
  return std::nullopt;
}

void ModelReader::readRoles() {
  std::map<std::size_t, std::string> performer;
  for (const std::uint32_t subject : subjectsOf(Kind::Role)) {
    DeclaredRole role;
    static_cast<Named&>(role) = named(subject, "name");
    const auto perform = [&](std::size_t process, Place at) {
      const Process& p = model_.processes[process];
      if (p.byCounselor)
        out_.error(at, p.name + " is performed by a counselor and by role " + role.name);
      else if (const auto [by, isNew] = performer.try_emplace(process, role.name); !isNew && by->second != role.name)
        out_.error(at, p.name + " is performed by two roles, " + by->second + " and " + role.name);
      if (std::find(role.performs.begin(), role.performs.end(), process) == role.performs.end())
        role.performs.push_back(process);
    };
    for (const Triple* t : facts_.of(subject, ar("performs")))
      if (const auto process = processAt(*t, "role " + role.name + " ar:performs")) perform(*process, t->at);
    for (const auto& [process, at] : performedBy_[subject]) perform(process, at);
    std::sort(role.performs.begin(), role.performs.end());
    model_.roles.push_back(std::move(role));
  }
  std::stable_sort(model_.roles.begin(), model_.roles.end(),
                   [](const DeclaredRole& a, const DeclaredRole& b) { return a.name < b.name; });
  refuseSameNames(model_.roles, "roles");
}

}  // namespace witan::ontology
