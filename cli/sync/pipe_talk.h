// PipeSession: one sync session over a stream of bytes that ends, such as a pair of pipes. Sans-I/O.
//
// A stream between two programs has no one to say that all is said: each side may be quiet while the other's next frame
// is on its way. So each side says DONE(bytes received so far) whenever it has nothing more to say; both know that they
// are through when each has nothing to say and the other's DONE counts all that was sent. DONE is a frame of type 255,
// which every other reader of the protocol skips (replication/sync.capnp: types from 128 on); its message is one
// UInt64. The replica directory outlives it. Not thread-safe.
#pragma once

#include <optional>
#include <string>

#include "node/data_dir/replica_dir.h"
#include "replication/sync_session.h"

namespace witan::node {

class PipeSession {
 public:
  PipeSession(ReplicaDir& dir, replication::SessionOptions options, std::int64_t nowMs);

  // Takes bytes as they come, whole frames or not. An error ends the session; the reason goes out with the next say().
  Status receive(std::string_view bytes, std::int64_t nowMs);
  // Appends what is to be sent, durable already. Call when `out` is short. Errors: the disk.
  Status say(std::string& out, std::int64_t nowMs);
  void tick(std::int64_t nowMs) { session_.tick(nowMs); }

  // This side has said everything and hears what the other has to say. No tick then: what it adds could meet a peer
  // that is through.
  bool waiting() const { return session_.quiet() && said_ == received_; }
  // Both sides have said and received everything.
  bool through() const;
  replication::SyncSession& session() { return session_; }

 private:
  Status takeFrame(std::string_view frame, std::int64_t nowMs);
  // Statements that arrived may ask for this device's own, and may end the peer's part in it.
  Status heedStatements();

  ReplicaDir& dir_;
  replication::SyncSession session_;
  WordWriter words_;
  std::string held_;                       // an unfinished frame
  std::uint64_t sent_ = 0, received_ = 0;  // bytes of the session's own frames
  std::optional<std::uint64_t> said_;      // what the last DONE of this side counted
  std::optional<std::uint64_t> heard_;     // the last thing the peer said was this DONE
  std::uint64_t statements_ = 0;           // changes of the cluster's space that were heeded
};

}  // namespace witan::node
