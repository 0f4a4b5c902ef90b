#include "node/cluster/roster_names.h"

#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"

namespace witan::node {

std::map<std::string, std::string> rosterNames(const std::filesystem::path& dir) {
  std::map<std::string, std::string> names;
  const auto cluster = readClusterFile(dir);
  if (!cluster.ok()) return names;
  const auto admin = publicKeyFromHex(cluster->adminKey, "adminKey");
  if (!admin.ok()) return names;
  if (const auto book = RosterStore::open(dir, *admin); book.ok())
    for (const RosterDevice& device : book->current().devices) names.emplace(device.device, device.name);
  return names;
}

}  // namespace witan::node
