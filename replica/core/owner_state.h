// OwnerState: what this device sees of the owner of a partition.
#pragma once

#include "base/reflect.h"

namespace witan::node {

// lost: the owner's device is there and decides no more, because its ledgers are gone or rolled back; an operator must
// seize the partition (embedded mode only).
WITAN_ENUM(OwnerState, unknown, here, reachable, away, lost)

}  // namespace witan::node
