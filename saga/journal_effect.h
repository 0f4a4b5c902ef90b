// Journal effects: the one commit that an operation makes in the journal database, and the one that undoes it.
//
// The commit holds the entities' new bodies, the notification batch that tells of them, and the operation's record with
// what was there before (for the compensation, on any device): so the record is there if and only if the effect is.
// Functions of the intent and of what the journal holds now; nothing is written here.
#pragma once

#include <string>
#include <vector>

#include "replication/records/journal_entity.h"
#include "replication/records/record_views.h"
#include "saga/saga_rows.h"

namespace witan::saga {

inline constexpr std::size_t kMaxEntityChanges = 1000;  // in one operation

// The effect that a tool wants in the journal.
struct JournalEffect {
  std::string scope;                                // of the journal; empty: the agent's
  std::vector<replication::JournalChange> changes;  // each entity once
  std::string result = "null";                      // canonical JSON
  std::vector<NotificationToken> tokens;            // of the batch, beside those of the entities
  bool settles = false;                             // supersedes versions side by side
};

struct JournalCommit {
  std::string scope;
  std::vector<replication::Write> writes;  // the record of the operation is the last
  Outcome outcome;
};

// The bodies become those of the operation. Of what would change nothing nobody is told; if another operation wrote it,
// this one claims it, and the undoing of that one leaves it. Errors: ids and limits; `conflict` if an entity has edits
// side by side, which the effect does not settle. O(versions of the entities).
Result<JournalCommit> journalCommit(replication::Space& journal, const Intent& intent, JournalEffect effect);

// The compensation of `done` (as recordsOf() has it), in whose scope `journal` is, by the compensation `intent`. What
// an entity shows must still be what the operation wrote: then what was there before comes back, or, if another edit
// stands beside it, that one stays alone. A further compensation (saga/operation_marks.h) leaves out entities that show
// nothing of it any more; and what another operation has claimed since stays. Errors: `conflict`, naming the entity, if
// somebody has edited it since, or if devices have carried it out on top of different edits: nothing is overwritten.
Result<JournalCommit> undoCommit(replication::Space& journal, std::string_view scope, const Intent& intent,
                                 const replication::OperationView& done, std::int64_t nowMs);

// Whether some entity still shows what it wrote. Errors: of reading. O(versions of its entities).
Result<bool> stillShows(replication::Space& journal, const replication::OperationView& done);

// The record of an operation, as it stands in either database.
Result<replication::Write> operationWrite(const Intent& intent, const Outcome& outcome,
                                          std::vector<replication::UndoStep> undo);

}  // namespace witan::saga
