// Asks Z3 whether a formula can be true. One context and solver a question, so that no answer depends on another.
//
// For lab/proof/ and tests. Deterministic for one version of Z3; a question that is not answered in time is an
// error, never a verdict.
#pragma once

#include <z3++.h>

#include <string>

#include "base/result.h"

namespace witan::agents::proof {

inline constexpr unsigned kQueryMilliseconds = 10'000;

struct Answer {
  bool satisfiable = false;
  std::string model;  // if satisfiable: "name=value ..." of all constants, by name
};

// Errors: unavailable, with Z3's reason, if the time ran out or Z3 gave up.
Result<Answer> ask(const z3::expr& formula, unsigned milliseconds = kQueryMilliseconds);

}  // namespace witan::agents::proof
