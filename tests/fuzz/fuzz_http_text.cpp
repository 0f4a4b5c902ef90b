#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_http.h"

WITAN_FUZZ_TARGET(fuzzHttpText)
