#include "node/data_dir/replica_store.h"

namespace witan::node {

Result<std::unique_ptr<store::Store>> openReplicaStore(const std::filesystem::path& path) {
  return store::openRocksStore(path, kReplicaStore);
}

}  // namespace witan::node
