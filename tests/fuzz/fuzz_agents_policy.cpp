#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_agents_policy.h"

WITAN_FUZZ_TARGET(fuzzAgentsPolicy)
