// ReplicaDir: a device's replicated data on disk. `DIR/journal` and `DIR/agents` are its two stores, `DIR/replica.json`
// says which device of which cluster it is, `DIR/cluster.key` (0600) is the secret that all devices of the cluster
// share, `DIR/writer` the high-water record (replication/incarnation.h). One process at a time.
//
// What was committed may be told to anyone, on a screen or in a frame, after flush(): that writes and syncs the
// high-water record first if a counter of a new lease is used, then both stores. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/reflect.h"
#include "base/result.h"
#include "replication/local_replica.h"
#include "store/store.h"

namespace witan::node {

// WriterRecord: the file `writer` of a data directory, the high-water record that keeps a device from using a dot twice
// (replication/incarnation.h). Counters are leased in it before they are used.
//
//   read()  -> ReplicaOptions::highWater      before the replica is opened
//   opened(replica)                           after that
//   lease(replica)                            before anything that rests on a counter is durable or leaves
//   flushed(replica)                          after the stores' flush
//   close(replica)                            a clean end: the next start knows exactly where this one stopped
class WriterRecord {
 public:
  explicit WriterRecord(std::filesystem::path dir);

  // None: there is no such file. What cannot be understood is a value too. Errors: of reading.
  Result<std::optional<Result<replication::HighWater>>> read();
  // Makes the record invalid, durably, since its stores are gone. The next read finds it damaged.
  Status discard(std::string_view why);
  void opened(const replication::LocalReplica& replica);
  Status lease(const replication::LocalReplica& replica);
  void flushed(const replication::LocalReplica& replica);
  Status close(const replication::LocalReplica& replica);

 private:
  Status write(const replication::HighWater& record);

  const std::filesystem::path file_;
  replication::HighWater record_;   // as it is on disk
  replication::HighWater durable_;  // from: what the stores have, by space
};

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
  // another process has it open; corrupt, naming the file; as LocalReplica::open. `keys`: as ReplicaOptions::rowKeys.
  static Result<std::unique_ptr<ReplicaDir>> open(const std::filesystem::path& dir,
                                                  std::shared_ptr<replication::RowKeys> keys = {});

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

// Makes a folder with its parents. Errors: ioFailed.
Status makeFolder(const std::filesystem::path& dir);

// The version of a data directory's layout, in DIR/format: "witan data 1". Written when the directory is made, checked
// before anything else in it is read, so that a program never works on a layout that it does not know. Directories from
// before this file have none: version 1.
//
// The stores inside have versions of their own (store/rocks_store.h).
inline constexpr std::uint64_t kDataFormat = 1;
inline constexpr const char* kDataFormatFile = "format";

// Leaves an existing file alone. Durable. Errors: ioFailed.
Status writeDataFormat(const std::filesystem::path& dir);

// Errors: corrupt; invalidInput if it is newer than this program, with both versions.
Result<std::uint64_t> readDataFormat(const std::filesystem::path& dir);

// The device and cluster of a data directory, without opening its stores. Errors: notFound if there is no replica;
// corrupt; a data format of a newer Witan.
Result<ReplicaIdentity> readReplicaIdentity(const std::filesystem::path& dir);

// The process that holds a lock file of RocksDB, and so has a data directory open. 0: none, or unknown. A process that
// may hold the lock itself must not ask: that would release it (POSIX).
pid_t lockHolder(const std::filesystem::path& file);

}  // namespace witan::node
