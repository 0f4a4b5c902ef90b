#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_advisory.h"

WITAN_FUZZ_TARGET(fuzzAdvisory)
