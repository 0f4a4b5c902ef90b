#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_policy.h"

WITAN_FUZZ_TARGET(fuzzPolicy)
