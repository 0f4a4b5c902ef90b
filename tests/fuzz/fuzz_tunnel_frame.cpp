#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_tunnel_frame.h"

WITAN_FUZZ_TARGET(fuzzTunnelFrame)
