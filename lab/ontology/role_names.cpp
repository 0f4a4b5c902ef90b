#include "lab/ontology/role_names.h"

#include <algorithm>
#include <map>
#include <set>

namespace witan::ontology {

namespace {

std::string recordOf(const std::string& field) {
  std::string record = field.substr(0, field.find('.'));
  if (!record.empty() && record[0] >= 'a' && record[0] <= 'z') record[0] = static_cast<char>(record[0] - 'a' + 'A');
  return record;
}

// Candidates, best first.
std::vector<std::string> candidates(const Model& model, const DerivedRole& role) {
  const FieldSet lifecycle = model.ofKind(FieldKind::lifecycle);
  std::map<std::string, std::size_t> counts;
  for (const std::string& field : model.namesOf(role.writes - lifecycle)) ++counts[recordOf(field)];
  std::vector<std::pair<std::string, std::size_t>> all(counts.begin(), counts.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (const auto& [name, count] : all) names.push_back(name);
  names.push_back(model.processes[role.processes.front()].name);
  return names;
}

}  // namespace

void nameRoles(const Model& model, std::vector<DerivedRole>& roles) {
  std::set<std::string> taken;
  for (const DeclaredRole& role : model.roles) taken.insert(role.name);
  for (DerivedRole& role : roles) {
    const std::set<std::size_t> processes(role.processes.begin(), role.processes.end());
    for (const DeclaredRole& declared : model.roles)
      if (std::equal(processes.begin(), processes.end(), declared.performs.begin(), declared.performs.end())) {
        role.name = declared.name;
        role.declared = true;
      }
  }
  for (DerivedRole& role : roles) {
    if (role.declared) continue;
    const std::vector<std::string> names = candidates(model, role);
    for (const std::string& name : names)
      if (role.name.empty() && taken.insert(name).second) role.name = name;
    for (std::size_t n = 2; role.name.empty(); ++n)
      if (const std::string name = names.back() + std::to_string(n); taken.insert(name).second) role.name = name;
  }
}

}  // namespace witan::ontology
