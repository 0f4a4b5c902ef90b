// Touched<Invariant>: which rows of an invariant's footprint the current candidate wrote (finding F8).
//
// Handed to an invariant's stillPasses when its last verdict was pass. Borrowed for the call.
#pragma once

#include <boost/container/small_vector.hpp>

#include "kernel/mutator.h"

namespace witan::kernel {

template <class Invariant, class Fields>
class Touched {
 public:
  using State = typename Journal<Fields>::State;
  Touched(const State& state, const Journal<Fields>& journal) : state_(&state), journal_(&journal) {}

  // Rows of the table in which a cell of the footprint was written, in key order.
  template <auto TablePointer>
  boost::container::small_vector<RowView<Invariant, TablePointer>, 4> rows() const {
    boost::container::small_vector<Slot, 32> slots;
    journal_->template touchedSlots<TablePointer>(*state_, kMask, slots);
    boost::container::small_vector<RowView<Invariant, TablePointer>, 4> out;
    out.reserve(slots.size());
    for (Slot slot : slots) out.emplace_back(state_->*TablePointer, slot);
    return out;
  }

  // Was this field of the footprint written?
  template <class F>
  requires contains<F, typename Invariant::Reads>
  bool wrote() const { return (journal_->touched() & maskOf<Fields, Footprint<F>>) != 0; }

  // Did this cell hold a value before the candidate?
  template <class F, auto TablePointer>
  requires contains<F, typename Invariant::Reads>
  bool existedBefore(const RowView<Invariant, TablePointer>& row) const {
    return journal_->template existedBefore<F>(*state_, row.slot());
  }

  // Was this cell written?
  template <class F, auto TablePointer>
  requires contains<F, typename Invariant::Reads>
  bool changed(const RowView<Invariant, TablePointer>& row) const { return journal_->template wrote<F>(row.slot()); }

  // Was a scalar of the footprint written?
  bool scalars() const {
    bool any = false;
    forEachField<typename Invariant::Reads>([&]<class F>() {
      if constexpr (!F::isColumn) any = any || wrote<F>();
    });
    return any;
  }

 private:
  static constexpr FieldMask kMask = maskOf<Fields, typename Invariant::Reads>;
  const State* state_;
  const Journal<Fields>* journal_;
};

}  // namespace witan::kernel
