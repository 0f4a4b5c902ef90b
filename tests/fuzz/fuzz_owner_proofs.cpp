#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_owner_proofs.h"

WITAN_FUZZ_TARGET(fuzzOwnerProofs)
