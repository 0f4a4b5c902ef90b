// The event lane: notification batches in an order in which each comes after its causes.
//
// A space hands out batches only below its vector, and a vector is causally closed: it is joined from the vectors of
// devices that had everything below theirs. So nothing can be missing, nothing waits in a buffer, and what is left is
// to sort: a batch names the clock entries that changed since its writer's previous batch, and a writer's batches
// follow each other. Pure, any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "replication/record_schemas.h"

namespace witan::replication {

struct BatchEvent {
  Dot dot;
  std::string body;

  friend bool operator==(const BatchEvent&, const BatchEvent&) = default;
};

// The same for any order of the argument. Of those whose causes are out (or not among `batches`), the writer with the
// smallest name comes first. A cycle, which no honest writer makes, is broken at the smallest dot. O(n log n) for n
// batches of few writers. Errors: a body that is no batch.
Result<std::vector<BatchEvent>> causalOrder(std::vector<BatchEvent> batches, const RecordSchemas& schemas);

}  // namespace witan::replication
