// Which program runs a broken variant: only witan-mutants has them compiled in.
#pragma once

#include <string>

#include "base/result.h"

namespace witan::node {

// From here on this process is the variant. A program without variants becomes witan-mutants, which stands beside it
// and is told the same words: the call does not return then. "none" does nothing. Before any output.
// Errors: no such mutant; no such program.
Status becomeMutant(const std::string& name);

}  // namespace witan::node
