#include "node/inbox/seen_incidents.h"

#include "base/json_codec.h"

namespace witan::node {

namespace {

constexpr std::string_view kSeenRows = "inbox/seen/";

}  // namespace

Result<std::map<std::string, SeenIncident>> seenIncidents(const replication::Database& rows) {
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

void noteSeen(replication::Database& rows, std::string_view key, const SeenIncident& seen) {
  rows.putMeta(concat(kSeenRows, key), toJson(seen));
}

void forgetSeen(replication::Database& rows, std::string_view key) { rows.eraseMeta(concat(kSeenRows, key)); }

}  // namespace witan::node
