#include "replica/core/epoch_history.h"

#include <algorithm>

#include "replication/writer.h"

namespace witan::node {

kernel::Epoch EpochHistory::last() const {
  return epochs.empty() ? kernel::Epoch{} : kernel::Epoch{epochs.back().number, epochs.back().owner};
}

kernel::Epoch EpochHistory::epochAt(std::uint64_t batch) const {
  kernel::Epoch found;
  for (const EpochMark& mark : epochs)
    if (mark.start <= batch) found = {mark.number, mark.owner};
  return found;
}

std::uint64_t commonBatches(const EpochHistory& a, const EpochHistory& b) {
  std::size_t same = 0;
  while (same < a.epochs.size() && same < b.epochs.size() && a.epochs[same] == b.epochs[same]) ++same;
  if (same == 0) return 0;
  const auto end = [same](const EpochHistory& of) {
    return same < of.epochs.size() ? of.epochs[same].start : of.batches;
  };
  return std::min(end(a), end(b));
}

Status checkEpochHistory(const EpochHistory& lineage) {
  if (lineage.epochs.size() > kMaxEpochs)
    return invalid("a log of more than " + std::to_string(kMaxEpochs) + " epochs");
  const EpochMark* before = nullptr;
  for (const EpochMark& mark : lineage.epochs) {
    WITAN_DO(replication::validateWriter("epoch owner", mark.owner));
    if (mark.number == 0 || (before != nullptr && mark.number <= before->number))
      return invalid("epoch " + std::to_string(mark.number) + " out of order");
    if (mark.start >= lineage.batches || (before != nullptr && mark.start <= before->start))
      return invalid("epoch " + std::to_string(mark.number) + " begins at an impossible batch");
    before = &mark;
  }
  if (!lineage.epochs.empty() && lineage.epochs.front().start != 0)
    return invalid("a log whose first epoch does not open it");
  if (lineage.epochs.empty() && lineage.batches > 0) return invalid("a log without an epoch");
  return okStatus();
}

}  // namespace witan::node
