#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_rules.h"

WITAN_FUZZ_TARGET(fuzzExpression)
