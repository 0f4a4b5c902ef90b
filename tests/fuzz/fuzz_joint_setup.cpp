#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_joint_setup.h"

WITAN_FUZZ_TARGET(fuzzJointSetup)
