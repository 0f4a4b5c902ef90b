#include "node/daemon/embargo_key.h"

#include "base/secret.h"
#include "node/data_dir/replica_dir.h"

namespace witan::node {

Result<EmbargoSeal> embargoSealOf(const std::filesystem::path& dir) {
  WITAN_TRY(secret, readClusterSecret(dir));
  EmbargoSeal seal(secret);
  wipe(secret);
  return seal;
}

}  // namespace witan::node
