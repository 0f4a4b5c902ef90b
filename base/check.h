// CHECK: an assertion about our own code. Always on, in every build.
//
// Errors travel in three channels:
//   1. a bug in Witan              -> CHECK, which prints what was believed and stops the process;
//   2. the expected answer "no"    -> a result enum of the protocol (rejected, refused, frozen, ...);
//   3. the world failed or lied    -> Result<T> (base/result.h), handled by the caller.
// Input from outside never reaches a CHECK.
#pragma once

#include <string_view>

namespace witan {

[[noreturn]] void checkFailed(const char* condition, std::string_view why, const char* file, unsigned line);

}  // namespace witan

// `why` is a string that says what was believed.
#define WITAN_CHECK(condition, why)                                \
  do {                                                             \
    if (!(condition)) [[unlikely]]                                 \
      ::witan::checkFailed(#condition, (why), __FILE__, __LINE__); \
  } while (false)
