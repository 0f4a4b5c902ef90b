#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_evidence.h"

WITAN_FUZZ_TARGET(fuzzEvidence)
