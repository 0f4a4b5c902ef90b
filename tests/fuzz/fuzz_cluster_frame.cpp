#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_cluster_frame.h"

WITAN_FUZZ_TARGET(fuzzClusterFrame)
