#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_log_batch.h"

WITAN_FUZZ_TARGET(fuzzLogBatch)
