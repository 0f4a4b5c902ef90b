#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_agent_snapshot.h"

WITAN_FUZZ_TARGET(fuzzAgentSnapshot)
