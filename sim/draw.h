// Draws that are the same on every machine: integers only, because std::log and the std distributions differ between
// libraries. Pure functions of the Random that is handed in.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/seams.h"

namespace witan::sim {

// A seed of its own for each purpose of one seed: streams that share nothing.
std::uint64_t streamSeed(std::uint64_t seed, std::string_view purpose);

// Exponential with this mean, rounded down. At most 45 times the mean. Requires: mean < 2^56.
std::uint64_t exponential(Random& random, std::uint64_t mean);

// Uniform within [low, high]. Requires: low <= high.
std::int64_t between(Random& random, std::int64_t low, std::int64_t high);

}  // namespace witan::sim
