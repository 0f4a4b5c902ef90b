// The seal of a data directory (replica/embargo_seal.h), by its cluster's secret.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "replica/embargo_seal.h"

namespace witan::node {

// Errors: as readClusterSecret (node/data_dir/replica_dir.h).
Result<EmbargoSeal> embargoSealOf(const std::filesystem::path& dir);

}  // namespace witan::node
