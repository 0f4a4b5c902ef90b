#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace witan {

void checkFailed(const char* condition, std::string_view why, const char* file, unsigned line) {
  std::fprintf(stderr, "witan: bug: %s:%u: CHECK(%s) failed: %.*s\n", file, line, condition,
               static_cast<int>(why.size()), why.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace witan
