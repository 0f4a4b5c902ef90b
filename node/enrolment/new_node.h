// New nodes on disk: the first one of a cluster, and one that a cluster has admitted. A crash half-way leaves keys that
// the next try goes on with; DIR/cluster.json, written last, says that there is a node.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/time.h"
#include "node/cluster/device_key.h"
#include "node/cluster/messages.h"

namespace witan::node {

struct NewNode {
  std::string name;                    // empty: the host's
  std::vector<std::string> listen;     // goes into witan.toml, if there is none yet
  std::vector<std::string> advertise;  // likewise
  std::uint32_t partitions = 8;        // of each domain; first node only
};

// Whether there is one.
bool nodeExists(const std::filesystem::path& dir);
// This device's key, made if need be. Makes the directory (0700).
Result<SigningKey> ownKey(const std::filesystem::path& dir);
// Begins a cluster: keys, roster, replica, and the first epoch of every partition. Errors: conflict if there is a node.
Status beginCluster(const std::filesystem::path& dir, NewNode node, Now now);
// Writes down what `answer` admitted this device to. Errors: an answer that does not hold together; conflict.
Status enterCluster(const std::filesystem::path& dir, NewNode node, const JoinAnswer& answer);
// The host's name as far as people can read it.
std::string hostName();

}  // namespace witan::node
