// Incidents that a person has seen: they stand in `witan status` and `sync status` as before, and in the inbox no more.
//
// Durable: rows "inbox/seen/" + key of the incident (InboxIndex::incidentKey) beside the records of this device; no
// more than there are incidents, as the row of one that is gone goes with it. The database outlives the call; the
// caller flushes it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/message.h"
#include "base/time.h"
#include "replication/database.h"

namespace witan::node {

WITAN_STRUCT(SeenIncident, (std::string, by, "Name of the person"), (Time, at, "When"))

// By key. Errors: of the database; a row that cannot be read. O(rows).
Result<std::map<std::string, SeenIncident>> seenIncidents(const replication::Database& rows);
void noteSeen(replication::Database& rows, std::string_view key, const SeenIncident& seen);
void forgetSeen(replication::Database& rows, std::string_view key);

}  // namespace witan::node
