// Programs of the calculus as text, for tests.
//
//   e ::= let x = e in e | coordinate | adjudicate(e, e) | entry(e) | awaitCounselor | x | v
//   v ::= () | done | role "ops" | action "..." | 1700000000000000 | ("ops", "...")
//       | approved | rejected | escalated | cCommitted | cRejected
//
// A time is its microseconds since 1970. Names match [A-Za-z_][A-Za-z0-9_]* and are no keyword. In strings, \" \\ and
// \xHH stand for bytes; control characters must be written so. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "lab/redux/calculus/calculus.h"

namespace witan::kernel::calculus {

inline constexpr std::size_t maxProgramBytes = 64 * 1024;

// O(size). parseProgram(printProgram(e)) equals e, if e's names are names.
std::string printProgram(const TermPtr& term);

// Any bytes; the error names the offset.
Result<TermPtr> parseProgram(std::string_view text);

}  // namespace witan::kernel::calculus
