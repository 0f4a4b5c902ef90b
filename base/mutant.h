// Hooks for mutants: deliberately broken variants of the cores that the tests and the simulator must detect.
//
// A hook is `if (mutated("name"))`. Without WITAN_MUTANTS it is the constant false and costs nothing. With it (program
// witan-sim, libraries of the mutant tests) it compares two numbers. At most one mutant is active in a process.
// sim/mutants.cpp lists every name with its description and the checkers that must detect it.
// Only .cpp files may ask: an inline function compiled with and without WITAN_MUTANTS would be two under one name.
#pragma once

#include <cstdint>
#include <string_view>

namespace witan {

// The hash of a mutant's name (FNV-1a). A default one stands for no mutant.
class MutantId {
 public:
  constexpr MutantId() = default;
  constexpr explicit MutantId(std::string_view name) : value_(0xcbf29ce484222325u) {
    for (const char c : name) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  consteval MutantId(const char* name) : MutantId(std::string_view(name)) {}  // implicit: mutated("name")
  friend constexpr bool operator==(MutantId, MutantId) = default;

 private:
  std::uint64_t value_ = 0;
};

#ifdef WITAN_MUTANTS
inline namespace with_mutants {
inline MutantId activeMutant;
inline bool mutated(MutantId mutant) { return activeMutant == mutant; }
}  // namespace with_mutants
#else
constexpr bool mutated(MutantId) { return false; }
#endif

}  // namespace witan
