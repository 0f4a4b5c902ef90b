// Who a data directory is, without opening its stores. Pure function of the files.
#pragma once

#include "node/data_dir/replica_dir.h"

namespace witan::node {

// Errors: notFound if there is no replica; corrupt; a data format of a newer Witan.
Result<ReplicaIdentity> readReplicaIdentity(const std::filesystem::path& dir);

}  // namespace witan::node
