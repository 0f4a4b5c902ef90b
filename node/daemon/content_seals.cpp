#include "node/daemon/content_seals.h"

#include "base/secret.h"
#include "domains/agents.h"
#include "node/data_dir/replica_dir.h"

namespace witan::node {

Result<agents::ContentSeals> contentSealsOf(const std::filesystem::path& dir) {
  WITAN_TRY(secret, readClusterSecret(dir));
  agents::ContentSeals seals = domains::contentSeals(secret);
  wipe(secret);
  return seals;
}

}  // namespace witan::node
