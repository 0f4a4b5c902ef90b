#include "replication/records/operation.h"

#include <algorithm>

namespace witan::replication {

namespace {

Result<OperationRecord> read(const OperationId& operation, const Version& version) {
  if (version.tombstone) return invalid("it was taken away");
  WITAN_TRY(body, decodeRecord<OperationBody>(version.body));
  if (body.operationId != operation.value) return invalid("it is of operation " + OperationId{body.operationId}.hex());
  return OperationRecord{version.dot, std::move(body)};
}

}  // namespace

OperationView operationViewOf(const OperationId& operation, std::span<const Version> versions) {
  OperationView view;
  for (const Version* version : versionsByDot(versions)) {
    auto record = read(operation, *version);
    if (!record.ok()) {
      view.unreadable.push_back({version->dot, record.error().message});
      continue;
    }
    // A device that was refused what another had carried out: the effect is there.
    const bool better = !view.record || (view.record->body.outcome != OperationOutcome::applied &&
                                         record->body.outcome == OperationOutcome::applied);
    if (!better) {
      view.repeats.push_back(record->dot);
      continue;
    }
    if (view.record) view.repeats.push_back(view.record->dot);
    view.record = *std::move(record);
  }
  std::sort(view.repeats.begin(), view.repeats.end());
  return view;
}

}  // namespace witan::replication
