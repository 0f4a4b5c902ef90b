// WithMutant: activates a mutant (base/mutant.h) until the end of its scope. For tests that link the hooked rooms.
#pragma once

#include "base/mutant.h"

namespace witan::tests {

class WithMutant {
 public:
  explicit WithMutant(std::string_view name) { activeMutant = MutantId(name); }
  ~WithMutant() { activeMutant = {}; }
  WithMutant(const WithMutant&) = delete;
  WithMutant& operator=(const WithMutant&) = delete;
};

}  // namespace witan::tests
