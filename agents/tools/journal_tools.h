// The tools by which agents read and edit the journal: "journal.read" and "journal.list", which change nothing, and
// "journal.put" and "journal.remove", whose commits are made here and carried out as sagas (saga/).
//
//   journal.read   {"id", "scope"?}                   -> null, or {"id", "type", "payload", "author", "editedAtMs",
//   "conflict"} journal.list   {"type", "day"?, "prefix"?, "scope"?}  -> {"entries": [as above], "more": bool}; by id
//   journal.put    {"id", "type", "payload", "scope"?}
//   journal.remove {"id", "scope"?}
//
// The scope is "main" unless it is given. `day` ("2026-03-23"): edited on that day, UTC. Pure functions of the
// replica's state and the arguments; nothing here writes. Not thread-safe, as the replica.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "replication/journal_write.h"
#include "replication/local_replica.h"

namespace witan::agents {

inline constexpr std::size_t kMostListed = 500;
inline constexpr std::size_t kMostListedBytes = 256 * 1024;
inline constexpr std::string_view kMainScope = "main";

// Errors: an unknown argument or a wrong one, with its name. O(bytes read).
Result<json::value> readEntry(replication::LocalReplica& replica, const json::object& arguments);
// O(entries of the scope).
Result<json::value> listEntries(replication::LocalReplica& replica, const json::object& arguments);

// One commit to a scope of the journal, and how to undo it.
struct JournalCommit {
  std::string scope;
  std::vector<replication::JournalChange> changes;
  std::vector<replication::UndoStep> undo;
};

// `author`: the agent. Errors: as above; notFound, nothing is there to be removed; conflict, a person has to settle on
// one of several versions first.
Result<JournalCommit> putEntry(replication::LocalReplica& replica, const json::object& arguments,
                               std::string_view author, const OperationId& operation, std::int64_t nowMs);
Result<JournalCommit> removeEntry(replication::LocalReplica& replica, const json::object& arguments);

}  // namespace witan::agents
