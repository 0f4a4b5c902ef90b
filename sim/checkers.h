// What each checker of a run proves, for whoever reads that it failed. docs/SIMULATION.md tells more about each.
#pragma once

#include <span>
#include <string_view>

namespace witan::sim {

struct CheckerInfo {
  std::string_view name;
  std::string_view promise;  // what it expected, one sentence
};

std::span<const CheckerInfo> checkers();
// Empty: none is called so.
std::string_view checkerPromise(std::string_view name);

}  // namespace witan::sim
