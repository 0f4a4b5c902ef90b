#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_turtle.h"

WITAN_FUZZ_TARGET(fuzzTurtle)
