// Items of the inbox that a person has seen, and that no other answer ends: incidents, questions that expired,
// divergent folds. They stand where they stood, and in this device's inbox no more.
//
// Durable: rows "inbox/seen/" (incidents) or "inbox/seen-KIND/" + key of the item beside the records of this device; no
// more than there are such things, as the row of one that is gone goes with it. The database outlives the call; the
// caller flushes it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/message.h"
#include "base/time.h"
#include "node/config/inbox_kind.h"
#include "replication/database.h"

namespace witan::node {

WITAN_STRUCT(SeenItem, (std::string, by, "Name of the person"), (Time, at, "When"))

// By key. Errors: of the database; a row that cannot be read. O(rows of the kind).
Result<std::map<std::string, SeenItem>> seenItems(const replication::Database& rows, InboxKind kind);
// O(log n).
Result<bool> isSeen(const replication::Database& rows, InboxKind kind, std::string_view key);
void noteSeen(replication::Database& rows, InboxKind kind, std::string_view key, const SeenItem& seen);
void forgetSeen(replication::Database& rows, InboxKind kind, std::string_view key);

}  // namespace witan::node
