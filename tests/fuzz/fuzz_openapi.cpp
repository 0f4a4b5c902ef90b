#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_tools.h"

WITAN_FUZZ_TARGET(fuzzOpenApi)
