#include "saga/compensations.h"

#include <algorithm>

namespace witan::saga {

using namespace replication;

OperationId nextCompensation(const OperationId& compensation) {
  return {sha256("v1|undo-again|" + compensation.hex())};
}

Result<OperationView> recordsOf(Space& journal, const OperationId& first) {
  WITAN_TRY(versions, journal.versions(Kind::operation, first.hex()));
  OperationView all = operationViewOf(first, versions);
  if (!all.record || !all.record->body.compensates) return all;
  OperationId next = nextCompensation(first);
  for (std::size_t n = 0; n < kMaxUndoings; ++n, next = nextCompensation(next)) {
    WITAN_TRY(more, journal.versions(Kind::operation, next.hex()));
    if (more.empty()) break;
    for (const Version& version : more) all.repeats.push_back(version.dot);
  }
  std::sort(all.repeats.begin(), all.repeats.end());
  return all;
}

}  // namespace witan::saga
