#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_sync_frame.h"

WITAN_FUZZ_TARGET(fuzzSyncFrame)
