#include "tests/paths.h"

namespace witan::tests {

const char* const kSourceDir = WITAN_SOURCE_DIR;
const char* const kProgram = WITAN_BINARY;

}  // namespace witan::tests
