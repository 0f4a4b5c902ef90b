#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_frontier.h"

WITAN_FUZZ_TARGET(fuzzFrontier)
