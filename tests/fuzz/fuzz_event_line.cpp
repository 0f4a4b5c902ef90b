#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_event_line.h"

WITAN_FUZZ_TARGET(fuzzEventLine)
