// Notification batches: what one atomic commit changed, as agents are told of it (seed 003, 3.1 to 3.3).
//
// A batch is authored once, in the commit it describes, and replicated as a record (docs/FINDINGS.md, F15). Its change
// units are the commit's dot with each changed payload, so every device that holds the record derives the same change
// unit keys, the same logical change key (LCK) and from it the same run key, however the record reached it and with
// whatever others. Values and pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/identity.h"
#include "replication/records/records.h"

namespace witan::replication {

struct NotificationBatch {
  Dot dot;
  std::string localBatchId;
  std::vector<ChangeUnitKey> changeUnitKeys;  // sorted, unique
  LogicalChangeKey logicalChangeKey;
  std::vector<NotificationToken> tokens;  // by token key, unique
  std::vector<TokenKey> tokenKeys;        // of `tokens`, in the same order
  VectorClock deps;                       // to be delivered first (replication/causal_order.h)
  std::string sourceCursor;

  friend bool operator==(const NotificationBatch&, const NotificationBatch&) = default;
};

// The content of a batch, before its commit. `changes` and `tokens` in any order, repetitions allowed.
struct BatchDraft {
  std::string localBatchId;
  std::vector<BatchChange> changes;
  std::vector<NotificationToken> tokens;
  VectorClock deps;
  std::string sourceCursor;
};

// The record's body: one for one content. Errors: of the tokens. O(n log n).
Result<BatchBody> batchBodyOf(const BatchDraft& draft);

// The batch that a version of its record says. Errors: a body that is none, a tombstone. O(n log n), one SHA-256 a
// change.
Result<NotificationBatch> batchOf(const Version& version);

// From the strings of before there were typed tokens, for migration only (003, invariant 3): the text of a token key,
// "{class}|{namespace or -}|{value}". The error says what is wrong with it.
Result<NotificationToken> parseLegacyToken(std::string_view text);

}  // namespace witan::replication
