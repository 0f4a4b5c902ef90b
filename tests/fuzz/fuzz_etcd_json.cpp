#include "tests/fuzz/entry_point.h"
#include "tests/fuzz/target_etcd_json.h"

WITAN_FUZZ_TARGET(fuzzEtcdJson)
