#include "lab/ontology/roles.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "kernel/lint.h"

namespace witan::ontology {

namespace {

struct Group {
  std::vector<std::size_t> processes;  // the first one has the least IRI
  FieldSet measured;                   // F
  bool merged = false;                 // into another
};

struct Pair {
  std::size_t shared = 0;
  std::size_t smaller = 0;
};

// a / b against c / d; b, d > 0.
bool larger(const Pair& x, const Pair& y) { return x.shared * y.smaller > y.shared * x.smaller; }

// The loop of the procedure. A group stands where its least process stands, so the groups are sorted at any time, and
// the first pair found among equals is the one with the smallest (least IRI, least IRI).
class Merging {
 public:
  Merging(std::vector<Group> groups, Share theta) : groups_(std::move(groups)), theta_(theta), best_(groups_.size()) {
    for (std::size_t i = 0; i < groups_.size(); ++i) lookFrom(i);
  }

  // Calls told(left, right, pair) for each merge.
  template <class Told>
  std::vector<Group> run(Told told) {
    for (std::size_t i = largest(); i < groups_.size(); i = largest()) {
      const std::size_t j = best_[i].with;
      told(groups_[i], groups_[j], best_[i].pair);
      merge(i, j);
    }
    std::erase_if(groups_, [](const Group& g) { return g.merged; });
    return std::move(groups_);
  }

 private:
  struct Best {
    std::size_t with = 0;  // 0: no pair qualifies (a partner stands behind, so it is never 0)
    Pair pair;
  };

  Pair pairOf(std::size_t i, std::size_t j) const {
    return {shared(groups_[i].measured, groups_[j].measured),
            std::min(groups_[i].measured.size(), groups_[j].measured.size())};
  }
  bool qualifies(const Pair& p) const { return p.smaller > 0 && p.shared * theta_.to >= p.smaller * theta_.of; }

  // The best partner behind i.
  void lookFrom(std::size_t i) {
    best_[i] = {};
    for (std::size_t j = i + 1; j < groups_.size(); ++j)
      if (!groups_[j].merged) offer(i, j);
  }
  void offer(std::size_t i, std::size_t j) {
    const Pair p = pairOf(i, j);
    if (qualifies(p) && (best_[i].with == 0 || larger(p, best_[i].pair))) best_[i] = {j, p};
  }
  std::size_t largest() const {
    std::size_t found = groups_.size();
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (!groups_[i].merged && best_[i].with != 0 &&
          (found == groups_.size() || larger(best_[i].pair, best_[found].pair)))
        found = i;
    return found;
  }
  void merge(std::size_t i, std::size_t j) {
    Group& into = groups_[i];
    into.processes.insert(into.processes.end(), groups_[j].processes.begin(), groups_[j].processes.end());
    into.measured = into.measured | groups_[j].measured;
    groups_[j].merged = true;
    for (std::size_t k = 0; k < j; ++k) {
      if (groups_[k].merged) continue;
      // k's pair with i has changed if i stands behind k, and its pair with j is gone.
      if (k == i || best_[k].with == i || best_[k].with == j)
        lookFrom(k);
      else if (k < i)
        consider(k, i);
    }
  }
  // A changed pair (k, i) against the best of k, which stands before or behind i.
  void consider(std::size_t k, std::size_t i) {
    const Pair p = pairOf(k, i);
    if (!qualifies(p)) return;
    const Best& have = best_[k];
    const bool equal = have.with != 0 && !larger(p, have.pair) && !larger(have.pair, p);
    if (have.with == 0 || larger(p, have.pair) || (equal && i < have.with)) best_[k] = {i, p};
  }

  std::vector<Group> groups_;
  Share theta_;
  std::vector<Best> best_;
};

// One group per worker's process, in the given order.
std::vector<Group> singletons(const Model& model, const std::vector<std::size_t>& order) {
  const FieldSet unmeasured = model.ofKind(FieldKind::lifecycle) | model.ofKind(FieldKind::open);
  std::vector<Group> groups;
  for (const std::size_t p : order)
    if (!model.processes[p].byCounselor) groups.push_back({{p}, model.processes[p].footprint() - unmeasured});
  return groups;
}

using Partition = std::vector<std::vector<std::size_t>>;

Partition partitionOf(const std::vector<Group>& groups) {
  Partition parts;
  for (const Group& g : groups) {
    parts.push_back(g.processes);
    std::ranges::sort(parts.back());
  }
  std::ranges::sort(parts);
  return parts;
}

Partition partitionBy(const Model& model, const std::vector<std::size_t>& order, Share theta) {
  return partitionOf(Merging(singletons(model, order), theta).run([](const auto&...) {}));
}

// Other orders of the IRIs, tried to see whether ties decide: backwards, halves swapped, and every third first.
bool dependsOnOrder(const Model& model, std::vector<std::size_t> order, const Partition& parts, Share theta) {
  std::vector<std::size_t> other(order.rbegin(), order.rend());
  if (partitionBy(model, other, theta) != parts) return true;
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2), order.end());
  if (partitionBy(model, order, theta) != parts) return true;
  std::vector<std::size_t> thirds;
  for (std::size_t start : {0, 1, 2})
    for (std::size_t i = start; i < order.size(); i += 3) thirds.push_back(order[i]);
  return partitionBy(model, thirds, theta) != parts;
}

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
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (const auto& [name, count] : all) names.push_back(name);
  names.push_back(model.processes[role.processes.front()].name);
  return names;
}

// Names derived roles: a declared role's name if it performs just these processes, else the record that most of what
// they write belongs to ("claim.order", "claim.code" -> "Claim"). IRIs have no say.
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
      if (const std::string name = concat(names.back(), n); taken.insert(name).second) role.name = name;
  }
}

void finishRoles(const Model& model, Derivation& d) {
  const FieldSet open = model.ofKind(FieldKind::open);
  const FieldSet lifecycle = model.ofKind(FieldKind::lifecycle);
  const auto byName = [&](std::size_t a, std::size_t b) { return model.processes[a].name < model.processes[b].name; };
  for (DerivedRole& role : d.roles) {
    std::ranges::sort(role.processes, byName);
    for (const std::size_t p : role.processes) {
      role.footprint = role.footprint | (model.processes[p].footprint() - open);
      role.writes = role.writes | (model.processes[p].writes - open);
    }
  }
  std::ranges::sort(d.roles, [&](const DerivedRole& a, const DerivedRole& b) {
    return byName(a.processes.front(), b.processes.front());
  });
  nameRoles(model, d.roles);
  for (std::size_t r = 0; r < d.roles.size(); ++r)
    for (const std::size_t p : d.roles[r].processes)
      d.excess.push_back({p, r, (d.roles[r].footprint - (model.processes[p].footprint() - lifecycle)).size(),
                          d.roles[r].footprint.size()});
  std::ranges::sort(d.excess, [&](const Excess& a, const Excess& b) { return byName(a.process, b.process); });
}

Derivation deriveAt(const Model& model, Share theta) {
  Derivation d;
  d.theta = theta;
  std::vector<std::size_t> order(model.processes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto told = [&](const Group& left, const Group& right, const Pair& pair) {
    d.merges.push_back({model.processes[left.processes.front()].name, model.processes[right.processes.front()].name,
                        pair.shared, pair.smaller});
  };
  const std::vector<Group> groups = Merging(singletons(model, order), theta).run(told);
  d.dependsOnIris = dependsOnOrder(model, order, partitionOf(groups), theta);
  for (const Group& g : groups) d.roles.push_back({.processes = g.processes});
  finishRoles(model, d);
  return d;
}

bool exceeds(const Derivation& d, const Share& cap) {
  return std::ranges::any_of(d.excess, [&](const Excess& e) { return e.fields * cap.to > e.of * cap.of; });
}

}  // namespace

Derivation deriveRoles(const Model& model, std::optional<Share> cap) {
  Derivation d;
  for (const Share theta : {Share{1, 2}, Share{3, 4}, Share{1, 1}}) {
    d = deriveAt(model, theta);
    if (!cap || !exceeds(d, *cap)) return d;
  }
  d.capExceeded = true;
  return d;
}

Derivation declaredRoles(const Model& model) {
  Derivation d{.pinned = true};
  for (const DeclaredRole& role : model.roles)
    if (!role.performs.empty()) d.roles.push_back({.processes = role.performs});
  finishRoles(model, d);
  return d;
}

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
  std::ranges::sort(byName,
                    [&](std::size_t a, std::size_t b) { return model.processes[a].name < model.processes[b].name; });
  Coverage coverage;
  for (const std::size_t p : byName)
    if (std::ranges::none_of(model.invariants,
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
