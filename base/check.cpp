#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace witan {

void checkFailed(const char* condition, std::string_view why, std::source_location where) {
  std::fprintf(stderr, "witan: bug: %s:%u: CHECK(%s) failed: %.*s\n", where.file_name(), where.line(), condition,
               static_cast<int>(why.size()), why.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace witan
