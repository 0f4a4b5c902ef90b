#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_text.h"

WITAN_FUZZ_TARGET(fuzzText)
