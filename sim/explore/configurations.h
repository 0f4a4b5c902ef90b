// The configurations that `witan sim explore` knows: small worlds, stated in words, whose every state is looked at.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "sim/explore.h"

namespace witan::sim {

struct ExploreConfiguration {
  std::string_view name;
  std::string_view stated;  // what it is, and within which bounds
  std::string_view checks;
  bool mustFail = false;  // a rule that is known to be wrong: here the counterexample is what one wants
  std::unique_ptr<ExploreModel> (*make)();
};

// All of them, in the order in which they are run when none is named.
std::span<const ExploreConfiguration> exploreConfigurations();
// Errors: no such configuration; names them.
Result<const ExploreConfiguration*> exploreConfiguration(std::string_view name);

}  // namespace witan::sim
