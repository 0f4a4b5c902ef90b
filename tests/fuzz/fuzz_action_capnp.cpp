#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_action.h"

WITAN_FUZZ_TARGET(fuzzAction)
