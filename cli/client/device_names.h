// What a running node calls the devices of its cluster, for texts that people read.
#pragma once

#include "cli/client/control_client.h"
#include "node/cluster/roster.h"

namespace witan::node {

// Nothing if that is not to be had.
DeviceNames deviceNames(const ControlClient& client);

}  // namespace witan::node
