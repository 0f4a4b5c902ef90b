#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_checkpoint.h"

WITAN_FUZZ_TARGET(fuzzCheckpoint)
