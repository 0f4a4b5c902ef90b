// History checks: properties that every domain must have, tried on random histories (witan domain test).
//
// Pure: a module, its sampler and a seed in, findings out. The properties are those of seed 000's theorems where a
// domain can break them: a module that reads outside its footprints, trusts the clock, or proves incrementally what
// does not hold is found here. Used by the CLI and by tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/domain_module.h"

namespace witan::kernel {

struct HistoryOptions {
  std::uint64_t seed = 1;
  std::size_t histories = 100;
  std::size_t steps = 80;  // proposals of one history
};

struct PropertyResult {
  std::string name;
  std::uint64_t checked = 0;  // how many times it was tried
  std::string failure;        // the first counterexample, with seed and step; empty: it held
};

// In this order:
//   invariants hold in every committed state of a history without unsafe commits (Theorems 1 and 1+);
//   incremental checking decides as full checking does, unsafe commits included (F8);
//   time stability: an invariant that passes still passes 400 days later;
//   replay of the log gives the same states, digests and tree;
//   the JSON and Cap'n Proto forms of actions and states read back as what was written.
// A domain without sample actions gets checked = 0 everywhere. O(histories * steps) decisions.
std::vector<PropertyResult> checkHistories(const DomainModule&, const HistoryOptions&);

}  // namespace witan::kernel
