#include "replication/arrivals.h"

namespace witan::replication {

bool Arrivals::look(Space& space, const std::function<void(const Record&)>& visit) {
  const bool lost = losses_ != space.losses();
  losses_ = space.losses();
  if (changes_ == space.changes()) return lost;
  changes_ = space.changes();
  if (outOfOrder_ != space.outOfOrder()) walked_ = {};
  outOfOrder_ = space.outOfOrder();
  for (WriterIndex writer = 0; writer < space.writers().size(); ++writer) {
    RecordTable::Origin& held = space.table().origin(writer);
    for (auto at = held.upper_bound(walked_.at(writer), SeqOrder{}); at != held.end(); ++at) {
      walked_.raise(writer, at->seq);
      if (at->record->kind == kind_) visit(*at->record);
    }
  }
  space.walked();
  return lost;
}

}  // namespace witan::replication
