// How a failed run is told: what failed, with which options, and how to see it again.
#pragma once

#include <string>

#include "sim/commands/sim_source.h"
#include "sim/run.h"

namespace witan::node {

// Every option, those that differ from the default first, one a line; the others after each other.
std::string optionsText(const sim::Options& options);

// "liveness at 12m3s: ...", what the checker proves, and the commands that replay and shrink.
std::string failureText(const sim::Failure& failure, const SimSource& source, std::uint64_t seed);

// "liveness at 12m3s: ..."; without the moment if nobody knows it (a run that died).
std::string failureLine(const sim::Failure& failure);

// "12m3s500ms", for people; whole milliseconds.
std::string momentText(sim::Micros at);

}  // namespace witan::node
