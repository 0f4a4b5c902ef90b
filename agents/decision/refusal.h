// Why a tool may not be invoked, in words for an observation or a person. Decides nothing: agents/decision/decisions.h
// does, and both say the same.
#pragma once

#include <string>

#include "agents/decision/types.h"

namespace witan::agents::decision {

// Empty if the tool may be invoked; else every reason, separated by "; ".
std::string whyRefused(const Tool& tool, const State& st);

}  // namespace witan::agents::decision
