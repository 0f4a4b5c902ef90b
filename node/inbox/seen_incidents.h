// Incidents that a person has seen: they stand in `witan status` and `witan sync status` as before, and in the inbox of
// this device no more.
//
// Rows beside the records of the device, by key of the incident (InboxIndex::incidentKey); InboxIndex takes them away
// with the incident, so there are no more of them. The database outlives the call; the caller flushes it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json_codec.h"
#include "base/message.h"
#include "base/time.h"
#include "replication/database.h"

namespace witan::node {

inline constexpr std::string_view kSeenRows = "inbox/seen/";

WITAN_STRUCT(SeenIncident, (std::string, by, "Name of the person"), (Time, at, "When"))

// By key. Errors: of the database; a row that cannot be read. O(rows).
inline Result<std::map<std::string, SeenIncident>> seenIncidents(const replication::Database& rows) {
  std::map<std::string, SeenIncident> all;
  Status read = okStatus();
  WITAN_DO(rows.scanMeta(kSeenRows, [&](std::string_view row, std::string_view text) {
    auto parsed = parseJson(text, kOwnJson);
    read = parsed.ok() ? readJson(*parsed, all[std::string(row.substr(kSeenRows.size()))], "a seen incident")
                       : Status(parsed.error());
    return read.ok();
  }));
  WITAN_DO(read);
  return all;
}

inline void noteSeen(replication::Database& rows, std::string_view key, const SeenIncident& seen) {
  rows.putMeta(concat(kSeenRows, key), toJson(seen));
}

}  // namespace witan::node
