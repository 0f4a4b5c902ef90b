// The tools by which agents read and edit the journal: "journal.read" and "journal.list", which change nothing, and
// "journal.put" and "journal.remove", which are carried out as sagas (saga/).
//
//   journal.read   {"id", "scope"?}                   -> null, or {"id", "type", "payload", "author", "editedAtMs",
//                                                      "conflict"}
//   journal.list   {"type", "day"?, "prefix"?, "after"?, "scope"?}  -> {"entries": [as above], "more": bool,
//                                                      "tooLarge": number, if any}; by id
//   journal.put    {"id", "type", "payload", "scope"?}
//                  {"id", "settles", "scope"?}: what readers see stands, if these are the versions side by side
//   journal.remove {"id", "scope"?}
//
// An edit of an entry that is in conflict supersedes all versions if only agents wrote them
// (agents/wake/agent_conflict.h). Otherwise it is refused: a person has to choose.
//
// The scope is "main" unless it is given. `day` ("2026-03-23"): edited on that day, UTC. `after`: ids that come after
// this one, of the page before. Pure functions of the replica's state and the arguments; nothing here writes. Not
// thread-safe, as the replica.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "replication/local_replica.h"

namespace witan::agents {

inline constexpr std::size_t kMostListed = 500;
// In canonical form, so that all of it is within what an agent may be told at once (episode::kMaxObservationBytes).
inline constexpr std::size_t kMostListedBytes = 60 * 1024;
inline constexpr std::string_view kMainScope = "main";

// Errors: an unknown argument or a wrong one, with its name. O(bytes read).
Result<json::value> readEntry(replication::LocalReplica& replica, const json::object& arguments);
// "more": there are some behind the last, for a list "after" its id. Those that are larger than a
// list may be are left out and counted, "tooLarge". O(entries of the scope).
Result<json::value> listEntries(replication::LocalReplica& replica, const json::object& arguments);

// The edit of one entry by an action.
struct JournalEdit {
  std::string scope;
  std::string id;
  std::string type;
  std::string payload;               // canonical JSON
  bool remove = false;               // without type and payload
  std::vector<std::string> settles;  // likewise: only if these are the versions
};

// The arguments of `journal.put` and `journal.remove`. Errors: another tool; an unknown argument or a wrong one.
Result<JournalEdit> journalEditOf(std::string_view tool, const json::object& arguments);

}  // namespace witan::agents
