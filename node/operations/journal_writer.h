// Writes journal entities, each in one commit with the notification batch that tells of it (docs/FINDINGS.md, F15).
//
// The replica outlives it. Nothing it says may be told before ReplicaDir::flush(). Not thread-safe.
#pragma once

#include <string>

#include "agents/content_seal.h"
#include "base/seams.h"
#include "replication/local_replica.h"
#include "replication/records/journal_entity.h"

namespace witan::node {

struct JournalWrite {
  std::string id;
  std::string type;
  std::string payload;  // JSON text
  std::string author;   // empty: the device
  ChangeOrigin origin = ChangeOrigin::local;
  std::string sourceCursor;  // of an import: where it had got to
};

class JournalWriter {
 public:
  JournalWriter(replication::LocalReplica& replica, std::string scope, Clock& clock, agents::ContentSeals seals)
      : replica_(replica), scope_(std::move(scope)), clock_(clock), seals_(std::move(seals)) {}

  Result<replication::JournalView> view(const std::string& id);

  // An edit of what this device shows. None: it shows just that already, and nothing was written. Errors: JSON, ids,
  // limits; conflict if siblings wait to be resolved.
  Result<std::optional<replication::Dot>> put(const JournalWrite& write);

  // Settles on `write` after `shown` were seen side by side. Errors: as above; conflict if these are not the siblings
  // any more.
  Result<replication::Dot> resolve(const JournalWrite& write, std::vector<replication::Dot> shown);

 private:
  Result<replication::JournalEdit> edit(const JournalWrite& write);
  Result<replication::Dot> commit(const JournalWrite& write, const replication::JournalBody& body);

  replication::LocalReplica& replica_;
  const std::string scope_;
  Clock& clock_;
  const agents::ContentSeals seals_;
};

}  // namespace witan::node
