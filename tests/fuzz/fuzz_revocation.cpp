#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_revocation.h"

WITAN_FUZZ_TARGET(fuzzRevocation)
