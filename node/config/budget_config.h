// [budget.NAME] of witan.toml: what an agent may take of a provider, or of all, on one day (agents/host/standing.h).
//
// Values.
#pragma once

#include <toml++/toml.h>
#include <string>
#include <vector>

#include "agents/host/standing.h"
#include "base/result.h"

namespace witan::node {

inline constexpr std::size_t kMaxBudgets = 64;

// The table `budget` of a file, a table a budget. Errors name file and line: no limit, a negative one.
Status readBudgets(std::vector<agents::StandingLimit>& into, const toml::node& tables, const std::string& file);

}  // namespace witan::node
