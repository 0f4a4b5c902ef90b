// The kinds of replicated records, and which traits each has (replication/kind.h explains them).
#pragma once

#include "replication/kind.h"

namespace witan::replication {

// The numbers are stored and sent: never reuse one.
enum class Kind : std::uint8_t {
  agentState = 1,
  message = 2,
  link = 3,
  batch = 4,  // notification batch
  wakeRun = 5,
  plan = 6,
  summary = 7,
  journal = 8,  // journal entity
  policy = 9,
  statement = 10,  // about membership (replication/membership.h)
  operation = 11,  // that an operation was carried out (replication/records/operation.h)
  approval = 12,   // of an effect that needs a person (replication/records/approval.h)
  receipt = 13,    // a person's confirmation of a use of data (replication/records/receipt.h)
};
static_assert(Kind::statement == kStatementKind);

// Of an unknown kind: a resident, digested register of either database.
const KindTraits& traitsOf(Kind kind);

}  // namespace witan::replication
