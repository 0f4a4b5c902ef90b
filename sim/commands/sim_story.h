// The lines that lead to a failure: a run is made once more, in a process of its own, and of everything that it tells
// the last faults, the last lines that name what the failure names, and the last lines of all are kept. They survive
// whatever happens to that process. Bounded memory.
#pragma once

#include <string>
#include <string_view>

#include "sim/run.h"

namespace witan::node {

inline constexpr std::string_view kLinesLeftOut = "   ...\n";

// Lines with their ends. Empty: the failure is one of time ("hang"), or the
// run cannot be made again.
std::string storyOf(const sim::Plan& plan, const sim::Failure& failure);

}  // namespace witan::node
