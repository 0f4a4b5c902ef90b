#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_secure_store.h"

WITAN_FUZZ_TARGET(fuzzSecureStore)
