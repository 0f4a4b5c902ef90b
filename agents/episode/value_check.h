// Limits of JSON values that stand in a transcript: they come from agents, tools and people. Pure functions.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace witan::agents::episode {

struct ValueLimits {
  std::size_t bytes = 64 * 1024;  // of the canonical form
  std::size_t depth = 32;         // a scalar has depth 0
  std::size_t elements = 10'000;  // of all containers together, fewer than (seed 002, bounded response)
};

// ok if the value has a canonical form (UTF-8, finite numbers) within the limits; the error names `what` and the cause.
// O(value), never deeper than the limit.
Status checkValue(const json::value& value, std::string_view what, ValueLimits limits = {});

// The same for a text: UTF-8, and at most `bytes` as a JSON string.
Status checkText(std::string_view text, std::string_view what, std::size_t bytes);

}  // namespace witan::agents::episode
