// SliceStore: the slices that this device was given, in its ledgers' store under "s/", and how far they go, under "t/".
// Derived: what is lost is sent again.
//
// Main thread only. The store outlives it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "node/cluster/messages.h"
#include "node/cluster/roster.h"
#include "store/store.h"

namespace witan::node {

class SliceStore {
 public:
  explicit SliceStore(store::Store& store) : store_(store) {}

  // What this device says on connecting.
  Result<SliceHave> have() const;
  // `rights`: of this device. A slice of a role that it does not have is refused; an older one than is held is dropped.
  Status take(const Slice& slice, const RosterDevice& rights);
  Status upTo(const SliceUpTo& upTo);
  // None: nothing was received.
  Result<std::optional<Slice>> find(std::string_view domain, std::string_view entity, std::string_view role) const;
  // All of a domain, or all.
  Status each(std::string_view domain, const std::function<bool(const Slice&)>& visit) const;
  // Forgets what this device may see no more, and how far it was, so that new roles are sent from the beginning.
  Status applyRights(const RosterDevice& rights);

 private:
  store::Store& store_;
};

}  // namespace witan::node
