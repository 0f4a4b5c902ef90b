// HashIndex: the rows of a table by the texts in some of their cells, so that a registry-wide invariant looks up what
// it compares with instead of scanning (finding F8).
//
// Derived data: a table with indexes keeps them as cells are written and undone (kernel/mutator.h), and nobody else
// writes cells of such a table. Readers reach one through View::matching, which asks for the footprint of its cells.
// A value type, owned by its table.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace witan::kernel {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};

template <auto A, auto B>
inline constexpr bool samePointer = false;
template <auto A>
inline constexpr bool samePointer<A, A> = true;

// One cell that an index looks at: its text, or the text member of what it holds.
template <auto CellPointer, auto TextMember = nullptr>
struct Key {
  static constexpr auto cell = CellPointer;
  template <class Row>
  static const std::string* of(const Row& row) {
    const auto& value = row.*CellPointer;
    if (!value) return nullptr;
    if constexpr (std::is_null_pointer_v<decltype(TextMember)>)
      return &*value;
    else
      return &((*value).*TextMember);
  }
};

// A row is in the index while all cells of Keys hold something.
template <class... Keys>
class HashIndex {
 public:
  template <auto CellPointer>
  static constexpr bool covers = (samePointer<Keys::cell, CellPointer> || ...);

  // Calls visit.operator()<cell>() for the cell of each key.
  template <class Visit>
  static constexpr void forEachCell(Visit&& visit) {
    (visit.template operator()<Keys::cell>(), ...);
  }

  template <class Row>
  void insert(const Row& row, Slot slot) {
    if (!complete(row)) return;
    auto& slots = slots_[hashOf(*Keys::of(row)...)];
    slots.insert(std::upper_bound(slots.begin(), slots.end(), slot), slot);
  }
  template <class Row>
  void erase(const Row& row, Slot slot) {
    if (!complete(row)) return;
    const auto at = slots_.find(hashOf(*Keys::of(row)...));
    if (at == slots_.end()) return;
    auto& slots = at->second;
    const auto found = std::lower_bound(slots.begin(), slots.end(), slot);
    if (found != slots.end() && *found == slot) slots.erase(found);
    if (slots.empty()) slots_.erase(at);
  }

  // Slots of the rows that may hold these texts: `holds` tells which do. O(1) expected.
  template <class... Text>
  std::span<const Slot> candidates(const Text&... texts) const {
    static_assert(sizeof...(Text) == sizeof...(Keys));
    const auto at = slots_.find(hashOf(texts...));
    if (at == slots_.end()) return {};
    return {at->second.data(), at->second.size()};
  }
  template <class Row, class... Text>
  static bool holds(const Row& row, const Text&... texts) {
    return ((Keys::of(row) != nullptr && *Keys::of(row) == texts) && ...);
  }

 private:
  template <class Row>
  static bool complete(const Row& row) {
    return ((Keys::of(row) != nullptr) && ...);
  }
  template <class... Text>
  static std::uint64_t hashOf(const Text&... texts) {
    std::uint64_t hash = 0;
    ((hash = hash * 0x9E3779B97F4A7C15u + std::hash<std::string_view>{}(texts)), ...);
    return hash;
  }

  boost::unordered_flat_map<std::uint64_t, boost::container::small_vector<Slot, 2>> slots_;
};

}  // namespace witan::kernel
