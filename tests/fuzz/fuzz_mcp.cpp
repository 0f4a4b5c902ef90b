#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_mcp.h"

WITAN_FUZZ_TARGET(fuzzMcp)
