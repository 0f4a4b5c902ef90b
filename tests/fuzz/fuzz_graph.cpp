#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_graph.h"

WITAN_FUZZ_TARGET(fuzzGraph)
