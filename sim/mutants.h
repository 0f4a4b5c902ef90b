// Mutants: every name that a hook (base/mutant.h) may ask for, what it breaks, and the checkers that must detect it in
// a scenario within so many seeds. A simulator that detects none of them proves nothing by passing.
//
// tests/sim/mutants_test.cpp compares this list with the hooks of the sources. Stored plans name mutants: names stay.
// A mutant counts as caught at the first seed that fails with one of the checkers named for it and passes without the
// variant. Called from a process with one thread, compiled with the variants: it forks workers (sim/jobs.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run.h"

namespace witan::sim {

struct MutantCase {
  std::string_view name;
  std::string_view checkers;  // separated by spaces: whichever of them fires first
  std::string_view scenario;  // a built-in one that shows it
  std::uint64_t budget = 0;   // seeds: 1 to this
  std::string_view what;      // what is broken
};

std::span<const MutantCase> mutantCases();

// A mutant that needs more coincidences than thousands of runs have, or that no workload reaches. Its test tells a
// story that it spoils.
struct StoryMutant {
  std::string_view name;
  std::string_view test;  // the folder
  std::string_view what;
};
std::span<const StoryMutant> storyMutants();

// Of either list.
bool isMutant(std::string_view name);
// Null: none.
const MutantCase* findMutantCase(std::string_view name);

// Which broken variant of the cores (base/mutant.h) this process runs. Compiled into the program witan-sim; the tests
// of sim/ have none.
inline constexpr std::string_view kNoMutant = "none";

bool mutantsCompiledIn();
// For the whole process, before a run. kNoMutant is always possible. Errors: no such mutant, not compiled in.
Status activateMutant(std::string_view name);

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
