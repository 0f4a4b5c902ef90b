#include "node/inbox/seen_items.h"

#include "base/json_codec.h"

namespace witan::node {

namespace {

std::string seenRows(InboxKind kind) {
  return kind == InboxKind::incident ? std::string("inbox/seen/") : concat("inbox/seen-", enumName(kind), "/");
}

}  // namespace

Result<std::map<std::string, SeenItem>> seenItems(const replication::Database& rows, InboxKind kind) {
  const std::string prefix = seenRows(kind);
  std::map<std::string, SeenItem> all;
  Status read = okStatus();
  WITAN_DO(rows.scanMeta(prefix, [&](std::string_view row, std::string_view text) {
    auto parsed = parseJson(text, kOwnJson);
    read = parsed.ok() ? readJson(*parsed, all[std::string(row.substr(prefix.size()))], "a seen item of the inbox")
                       : Status(parsed.error());
    return read.ok();
  }));
  WITAN_DO(read);
  return all;
}

Result<bool> isSeen(const replication::Database& rows, InboxKind kind, std::string_view key) {
  WITAN_TRY(row, rows.meta(seenRows(kind).append(key)));
  return row.has_value();
}

void noteSeen(replication::Database& rows, InboxKind kind, std::string_view key, const SeenItem& seen) {
  rows.putMeta(seenRows(kind).append(key), toJson(seen));
}

void forgetSeen(replication::Database& rows, InboxKind kind, std::string_view key) {
  rows.eraseMeta(seenRows(kind).append(key));
}

}  // namespace witan::node
