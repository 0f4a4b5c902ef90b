// ReplicaDir: a device's replicated data on disk. `DIR/journal` and `DIR/agents` are its two stores, `DIR/replica.json`
// says which device of which cluster it is, `DIR/cluster.key` (0600) is the secret that all devices of the cluster
// share, `DIR/writer` the high-water record (replication/incarnation.h). One process at a time.
//
// What was committed may be told to anyone, on a screen or in a frame, after flush(): that writes and syncs the
// high-water record first if a counter of a new lease is used, then both stores. Not thread-safe.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/reflect.h"
#include "node/data_dir/writer_record.h"
#include "replication/local_replica.h"
#include "store/store.h"

namespace witan::node {

// `flag`, else $WITAN_DIR, else $XDG_DATA_HOME/witan, else ~/.local/share/witan. Errors: none of them is set.
Result<std::filesystem::path> replicaDirPath(const std::string& flag);

// What is given is taken, the rest is made up: the host's name with random digits, a random cluster and key.
struct NewReplica {
  std::optional<std::string> device;
  std::optional<std::string> cluster;
  std::optional<std::filesystem::path> keyFile;  // another device's cluster.key
  std::optional<std::string> clusterKey;         // or its 32 bytes
};

struct ReplicaIdentity {
  std::string device;
  std::string cluster;
  WITAN_MEMBERS(ReplicaIdentity, device, cluster)
};

class ReplicaDir {
 public:
  // Makes one that can be opened; nothing is there half-made after a crash. Errors: conflict if there is one; ids; the
  // key file; a cluster without its key, or a key without its cluster.
  static Status create(const std::filesystem::path& dir, const NewReplica& replica);
  // Whether there is one.
  static bool exists(const std::filesystem::path& dir);

  // Decides which incarnation goes on; replica().incarnation() says if it is a new one. Errors: notFound; conflict if
  // another process has it open; corrupt, naming the file; as LocalReplica::open.
  static Result<std::unique_ptr<ReplicaDir>> open(const std::filesystem::path& dir);

  const std::filesystem::path& path() const { return dir_; }
  replication::LocalReplica& replica() { return *replica_; }

  Status flush();
  // A clean end: the next open() knows exactly where this one stopped. Without it (a crash) nothing is lost either.
  Status close();

 private:
  explicit ReplicaDir(std::filesystem::path dir) : dir_(std::move(dir)), record_(dir_) {}

  const std::filesystem::path dir_;
  WriterRecord record_;
  std::unique_ptr<store::Store> journal_, agents_;
  std::unique_ptr<replication::LocalReplica> replica_;
};

// Of a directory that create() made: who it is, its cluster's secret, its high-water record. Errors: as open().
Result<replication::ReplicaOptions> readReplicaOptions(const std::filesystem::path& dir, WriterRecord& record);
// The secret of its cluster, 32 bytes. Errors: as open().
Result<std::string> readClusterSecret(const std::filesystem::path& dir);

}  // namespace witan::node
