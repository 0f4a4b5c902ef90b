#include "lab/ontology/classes.h"

#include <algorithm>
#include <numeric>

#include "kernel/lint.h"

namespace witan::ontology {

std::vector<InvariantClass> classify(const Model& model, const Derivation& derivation) {
  const FieldSet open = model.ofKind(FieldKind::open);
  std::vector<kernel::RoleReach<FieldSet>> reaches;
  FieldSet inSomeRole;
  for (const DerivedRole& role : derivation.roles) {
    reaches.push_back({role.name, role.footprint, role.writes});
    inSomeRole = inSomeRole | role.footprint;
  }
  std::vector<InvariantClass> classes;
  for (std::size_t i = 0; i < model.invariants.size(); ++i) {
    const Invariant& invariant = model.invariants[i];
    InvariantClass one{.invariant = i, .footprint = invariant.footprint - open};
    one.lint = kernel::classifyInvariant(invariant.name, one.footprint, reaches);
    one.lint.orphans = model.namesOf(one.footprint - inSomeRole);
    one.acrossKeys = invariant.keyScope == KeyScope::registry;
    classes.push_back(std::move(one));
  }
  return classes;
}

Coverage coverageOf(const Model& model) {
  std::vector<std::size_t> byName(model.processes.size());
  std::iota(byName.begin(), byName.end(), std::size_t{0});
  std::erase_if(byName, [&](std::size_t p) { return model.processes[p].byCounselor; });
  std::sort(byName.begin(), byName.end(),
            [&](std::size_t a, std::size_t b) { return model.processes[a].name < model.processes[b].name; });
  Coverage coverage;
  for (const std::size_t p : byName)
    if (std::none_of(model.invariants.begin(), model.invariants.end(),
                     [&](const Invariant& i) { return meets(i.footprint, model.processes[p].writes); }))
      coverage.unguarded.push_back(p);
  for (const std::size_t phase : model.ofKind(FieldKind::lifecycle).members()) {
    FieldSet watched;  // by the invariants that know the phase
    for (const Invariant& i : model.invariants)
      if (i.footprint.contains(phase)) watched = watched | i.footprint;
    for (const std::size_t p : byName)
      if (!meets(watched, model.processes[p].writes)) coverage.open.push_back({phase, p});
  }
  return coverage;
}

}  // namespace witan::ontology
