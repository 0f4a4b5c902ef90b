#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_frame_stream.h"

WITAN_FUZZ_TARGET(fuzzFrameStream)
