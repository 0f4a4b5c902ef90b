// OwnKeys: whether the keys in a data directory are those of the device and the cluster that it is the directory of.
// Keys of another directory, copied by mistake, would make a device that nobody lets in, or one whose records never
// agree with those of the others.
//
// DIR/cluster.key.sha256 remembers which secret the members of the cluster share, as a digest. `witan up` asks before
// it opens anything else, and `witan doctor` says what it would hear. No state but the files.
#pragma once

#include <filesystem>

#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"

namespace witan::node {

// Writes down the digest of cluster.key, as it is now, for this cluster. Durable.
Status rememberClusterKey(const std::filesystem::path& dir, std::string_view cluster);

// Errors: conflict, naming the file that does not belong here and whose it is; as reading the files.
Status checkOwnKeys(const std::filesystem::path& dir, const RosterStore& rosters);

}  // namespace witan::node
