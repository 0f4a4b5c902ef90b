// BoundSlices: the slice of a role that is bound to a key (an organisation): the rows that belong to the key, and no
// more.
//
// A domain says to whom its rows belong: keysOf in C++ (kernel/typed_module.h), [belongs] in a rule file. A row that
// belongs to nobody, a field of the whole entity and a waiver of another row are in no such slice. The module outlives
// what is asked of it; strands as for DomainModule.
#pragma once

#include <string>
#include <string_view>

#include "kernel/domain_module.h"

namespace witan::kernel {

class BoundSlices {
 public:
  virtual ~BoundSlices() = default;
  // Whether any row belongs to anybody.
  virtual bool saysWhoseRows() const = 0;
  // DomainModule::writeState of the rows of the key. O(state).
  virtual void writeSlice(std::string& out, const EntityState&, FieldMask mask, std::string_view key) const = 0;
  // Whether the action can be made, and every row that it names or writes belongs to the key or is new, and does so
  // after it. So who is bound to a key changes no row of others and asks about none. O(texts of the action and its
  // writes).
  virtual bool staysWithin(const EntityState&, const Action&, Time at, std::string_view key) const = 0;
};

// Null: the domain says of no row to whom it belongs.
const BoundSlices* boundSlicesOf(const DomainModule& module);

}  // namespace witan::kernel
