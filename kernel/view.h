// View<Reader>: a state seen through exactly the footprint Reader::Reads (a slice, seed 000 Def. A.7).
//
// Reading another field does not compile. A row shows itself only where one of its readable cells exists, so that
// the existence of a key leaks nothing either. The public fields (clock, policy, waivers) belong to every footprint.
// A view borrows the state: it must not outlive the call it is handed to.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kernel/field.h"

namespace witan::kernel {

// A counselor's standing permission: invariant `invariant` shall not fail for `subject` (findings F21).
struct Waiver {
  static constexpr bool asTuple = true;
  std::string invariant;
  std::string subject;
  WITAN_MEMBERS(Waiver, invariant, subject)
  friend auto operator<=>(const Waiver&, const Waiver&) = default;
};

// Who decided, and when: what a HumanColumn holds if the person says nothing else.
struct HumanMark {
  static constexpr bool asTuple = true;
  std::string by;
  Time at;
  WITAN_MEMBERS(HumanMark, by, at)
  friend bool operator==(const HumanMark&, const HumanMark&) = default;
};

// Of one entity.
inline constexpr std::size_t kWaiversMax = 10'000;
inline constexpr std::size_t kWaiverBytesMax = 256 * 1024;

// Fields that every role and every invariant may read and no proposal may write.
struct PublicFields {
  Time clock;
  std::vector<Waiver> waivers;  // sorted, unique

  bool waived(std::string_view invariant, std::string_view subject) const {
    for (const Waiver& w : waivers)
      if (w.invariant == invariant && w.subject == subject) return true;
    return false;
  }
};

template <class FP>
struct StateOf;
template <class F, class... Rest>
struct StateOf<Footprint<F, Rest...>> {
  using Type = typename F::State;
};

// One row as Reader may see it. Cheap to copy.
template <class Reader, auto TablePointer>
class RowView {
 public:
  using TableType = typename MemberOf<decltype(TablePointer)>::Type;
  RowView(const TableType& table, Slot slot) : table_(&table), slot_(slot) {}

  std::string_view key() const { return table_->key(slot_); }
  Slot slot() const { return slot_; }

  template <class F>
  requires(
      contains<F, typename Reader::Reads>&& livesIn<F, TablePointer>()) const Cell<typename F::Value>& get() const {
    return F::of(table_->row(slot_));
  }
  template <class F>
  requires(contains<F, typename Reader::Reads>&& livesIn<F, TablePointer>()) bool has() const {
    return get<F>().has_value();
  }

  // Does any cell exist that Reader may read?
  bool visible() const {
    const auto& row = table_->row(slot_);
    return anyField<typename Reader::Reads>([&]<class F>() {
      if constexpr (livesIn<F, TablePointer>()) return F::of(row).has_value();
      return false;
    });
  }

 private:
  const TableType* table_;
  Slot slot_;
};

// The visible rows in key order; a forward range.
template <class Reader, auto TablePointer>
class Rows {
 public:
  using TableType = typename MemberOf<decltype(TablePointer)>::Type;
  using Row = RowView<Reader, TablePointer>;
  explicit Rows(const TableType& table) : table_(&table) {}

  class Iterator {
   public:
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const TableType* table, std::size_t at) : table_(table), at_(at) { skipHidden(); }
    Row operator*() const { return {*table_, table_->byKey()[at_]}; }
    Iterator& operator++() {
      ++at_;
      // Rows are larger than what the processor fetches ahead by itself.
      if (at_ + kAhead < table_->size()) __builtin_prefetch(&table_->row(table_->byKey()[at_ + kAhead]));
      skipHidden();
      return *this;
    }
    Iterator operator++(int) {
      Iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    static constexpr std::size_t kAhead = 8;
    void skipHidden() {
      while (at_ < table_->size() && !(**this).visible()) ++at_;
    }
    const TableType* table_ = nullptr;
    std::size_t at_ = 0;
  };
  Iterator begin() const { return {table_, 0}; }
  Iterator end() const { return {table_, table_->size()}; }

 private:
  const TableType* table_;
};

// Does the footprint hold every cell that the table's index looks at?
template <class FP, auto TablePointer, class Index>
constexpr bool holdsIndex() {
  bool all = true;
  Index::forEachCell([&]<auto CellPointer>() {
    bool any = false;
    forEachField<FP>([&]<class F>() {
      if constexpr (livesIn<F, TablePointer>()) any = any || samePointer<F::cell, CellPointer>;
    });
    all = all && any;
  });
  return all;
}

template <class Reader>
class View {
 public:
  using Reads = typename Reader::Reads;
  using State = typename StateOf<Reads>::Type;
  using Policy = typename State::Policy;

  View(const State& state, const PublicFields& shared, const Policy& policy)
      : state_(&state), public_(&shared), policy_(&policy) {}

  Time clock() const { return public_->clock; }
  const Policy& policy() const { return *policy_; }
  bool waived(std::string_view invariant, std::string_view subject) const {
    return public_->waived(invariant, subject);
  }

  template <class F>
  requires(contains<F, Reads> && !F::isColumn) const typename F::Value& get() const { return F::of(*state_); }

  template <auto TablePointer>
  Rows<Reader, TablePointer> rows() const {
    return Rows<Reader, TablePointer>(state_->*TablePointer);
  }

  // The row of `key`, or nothing. O(log n).
  template <auto TablePointer>
  std::optional<RowView<Reader, TablePointer>> row(std::string_view key) const {
    const Slot slot = (state_->*TablePointer).find(key);
    if (slot == kNoSlot) return std::nullopt;
    RowView<Reader, TablePointer> found(state_->*TablePointer, slot);
    if (!found.visible()) return std::nullopt;
    return found;
  }

  // The rows whose cells of `Index` hold these texts, in key order. Every cell of the index must be readable.
  template <auto TablePointer, class Index, class... Text>
  requires(holdsIndex<Reads, TablePointer, Index>()) boost::container::small_vector < RowView<Reader, TablePointer>,
  4 > matching(const Text&... texts) const {
    const auto& table = state_->*TablePointer;
    boost::container::small_vector<RowView<Reader, TablePointer>, 4> found;
    for (Slot slot : table.template index<Index>().candidates(texts...))
      if (Index::holds(table.row(slot), texts...)) found.emplace_back(table, slot);
    if (found.size() > 1)
      std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.key() < b.key(); });
    return found;
  }

  template <auto TablePointer>
  RowView<Reader, TablePointer> rowAt(Slot slot) const {
    return {state_->*TablePointer, slot};
  }

 private:
  const State* state_;
  const PublicFields* public_;
  const Policy* policy_;
};

}  // namespace witan::kernel
