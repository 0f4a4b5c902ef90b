// The classes of an invariant against roles, in both readings of the paper, for any kind of footprint: masks of a
// compiled domain's fields (kernel/lint.cpp) or sets of an ontology's (lab/ontology/classes.cpp). Pure.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernel/lint.h"

namespace witan::kernel {

// A footprint can be asked: within(a, b) is a subset of b; meets(a, b): they share a field.
constexpr bool within(FieldMask a, FieldMask b) { return (a & ~b) == 0; }
constexpr bool meets(FieldMask a, FieldMask b) { return (a & b) != 0; }

template <class Set>
struct RoleReach {
  std::string name;
  Set footprint{};
  Set writes{};
};

// Everything of InvariantLint but the orphans. O(roles * fields).
template <class Set>
InvariantLint classifyInvariant(std::string id, const Set& footprint, const std::vector<RoleReach<Set>>& roles) {
  InvariantLint lint;
  lint.id = std::move(id);
  for (const RoleReach<Set>& role : roles) {
    if (within(footprint, role.footprint)) lint.containedIn.push_back(role.name);
    if (meets(footprint, role.footprint)) lint.touches.push_back(role.name);
    if (meets(footprint, role.writes)) lint.writers.push_back(role.name);
  }
  for (const std::string& role : lint.containedIn)
    if (lint.enforcer.empty() &&
        std::all_of(lint.writers.begin(), lint.writers.end(), [&](const auto& w) { return w == role; }))
      lint.enforcer = role;
  return lint;
}

}  // namespace witan::kernel
