#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_entry.h"

WITAN_FUZZ_TARGET(fuzzEntry)
