// WriterRecord: the file `writer` of a data directory, the high-water record that keeps a device from using a dot twice
// (replication/incarnation.h). Counters are leased in it before they are used.
//
//   read()  -> ReplicaOptions::highWater      before the replica is opened
//   opened(replica)                           after that
//   lease(replica)                            before anything that rests on a counter is durable or leaves
//   flushed(replica)                          after the stores' flush
//   close(replica)                            a clean end: the next start knows exactly where this one stopped
//
// Not thread-safe.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "replication/local_replica.h"

namespace witan::node {

class WriterRecord {
 public:
  explicit WriterRecord(std::filesystem::path dir);

  // None: there is no such file. What cannot be understood is a value too. Errors: of reading.
  Result<std::optional<Result<replication::HighWater>>> read();
  // Not to be believed any more, durably: what it speaks of is gone. Whoever reads it next finds it damaged.
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

}  // namespace witan::node
