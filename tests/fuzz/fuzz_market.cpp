#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_market.h"

WITAN_FUZZ_TARGET(fuzzMarket)
