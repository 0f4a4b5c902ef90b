// The kinds of Witan's replicated records, for the replication core.
#pragma once

#include "replication/record_schemas.h"

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
  statement = 10,     // about membership (replication/membership.h)
  operation = 11,     // that an operation was carried out (replication/records/record_views.h)
  approval = 12,      // of an effect that needs a person (replication/records/record_views.h)
  receipt = 13,       // a person's confirmation of a use of data (replication/records/record_views.h)
  graphMessage = 14,  // the body of a graph's message (replication/records/records.h)
  artefact = 15,      // a signed validation of an agent, model or graph (replication/records/records.h)
  activation = 16,    // an agent that a graph waits for (replication/records/records.h)
  sealedCopy = 17,    // of a space, for devices that do not read it (replication/records/records.h)
};
static_assert(Kind::statement == kStatementKind && Kind::sealedCopy == kSealedCopyKind);

// The traits of a kind (replication/record_schemas.h explains them). An unknown kind is a resident, digested register
// of either database.
const KindTraits& traitsOf(Kind kind);

// The same object for every caller; it lives for ever.
const RecordSchemas& recordSchemas();

}  // namespace witan::replication
