// The seals of a data directory's entries (agents/content_seal.h), by its cluster's secret.
#pragma once

#include <filesystem>

#include "agents/content_seal.h"

namespace witan::node {

// Errors: as readClusterSecret (node/data_dir/replica_dir.h).
Result<agents::ContentSeals> contentSealsOf(const std::filesystem::path& dir);

}  // namespace witan::node
