// Mutants: each broken variant of the cores (base/mutant.h) and the checker that must notice it, where, and within how
// many seeds. A simulator that does not notice them proves nothing by passing.
//
// A variant counts as caught at the first seed that fails with one of the checkers named for it and passes without the
// variant. Called from a process with one thread, compiled with the variants: it forks workers (sim/jobs.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutant.h"
#include "sim/run.h"

namespace witan::sim {

struct MutantCase {
  Mutant mutant = Mutant::none;
  std::string_view checkers;  // separated by spaces: whichever of them fires first
  std::string_view scenario;  // a built-in one that shows it
  std::uint64_t budget = 0;   // seeds: 1 to this
  std::string_view what;      // what is broken
};

// One for every variant but those below, in the order of base/mutant.h.
std::span<const MutantCase> mutantCases();
// Those that need more chances to meet than thousands of runs have, or that no workload reaches: told as stories,
// tests/replication/mutants, tests/saga/mutants and tests/agents/mutants notice them.
std::span<const Mutant> storyMutants();
// Null: none.
const MutantCase* findMutantCase(std::string_view name);

struct MutantRun {
  MutantCase mutant;
  std::uint64_t caughtAtSeed = 0;  // 0: it was not
  Failure failure;                 // of that seed, or of the first that failed otherwise
  std::string checker;             // which one fired first; "": none
  std::string note;                // why a failure does not count; "": none that did not
  bool caught() const { return caughtAtSeed != 0; }
};

struct HuntOptions {
  unsigned jobs = 1;
  std::string_view scenario;                       // instead of each one's own; "": its own
  std::uint64_t budget = 0;                        // likewise; 0: its own
  std::function<void(const MutantRun&)> finished;  // after each
};

// Errors: the variants are not compiled in, no such scenario, no process to be had.
Result<std::vector<MutantRun>> huntMutants(std::span<const MutantCase> cases, const HuntOptions& options);

}  // namespace witan::sim
