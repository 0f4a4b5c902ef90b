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
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/check.h"

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

// Table: the columns of one kind of key (orders, claims), stored row-wise; and its cells.
//
// The state signature stays flat (Remark A.2: "record-level groupings in the implementation are an encoding
// convenience"): every cell is a field of its own at (field, key), and a row exists for a reader only where one of
// the cells it may read exists. A value type; not thread-safe.

template <class T>
using Cell = std::optional<T>;

// Longest key, entity or role, in bytes.
inline constexpr std::size_t kKeyMax = 256;

// `Indexes`: see HashIndex; none for most tables.
template <class RowType, class... Indexes>
class Table {
 public:
  using Row = RowType;

  // O(log n) string comparisons.
  Slot find(std::string_view key) const {
    const auto at = lower(key);
    return at != order_.end() && keys_[*at] == key ? *at : kNoSlot;
  }

  // The slot of `key`, made if needed (inserted tells). O(log n), plus moving n 4-byte indices.
  Slot findOrInsert(std::string_view key, bool& inserted) {
    const auto at = lower(key);
    inserted = !(at != order_.end() && keys_[*at] == key);
    if (!inserted) return *at;
    const Slot slot = static_cast<Slot>(rows_.size());
    order_.insert(at, slot);
    keys_.emplace_back(key);
    rows_.emplace_back();
    return slot;
  }

  // Takes back the newest row. Requires: it was the last one inserted.
  void removeLast() {
    WITAN_CHECK(!rows_.empty(), "a row to remove");
    const Slot slot = static_cast<Slot>(rows_.size() - 1);
    order_.erase(lower(keys_[slot]));
    keys_.pop_back();
    rows_.pop_back();
  }

  // Asks the processor to bring what a decision looks at: the order, the newest key, the first line of every row.
  void prefetch() const {
    constexpr std::size_t kMost = 256;  // rows; more would push each other out
    if (rows_.empty()) return;
    __builtin_prefetch(&keys_.back());
    for (std::size_t i = 0; i < order_.size(); i += 64 / sizeof(Slot)) __builtin_prefetch(&order_[i]);
    for (std::size_t i = rows_.size() < kMost ? 0 : rows_.size() - kMost; i < rows_.size(); ++i)
      __builtin_prefetch(&rows_[i]);
  }

  std::size_t size() const { return rows_.size(); }
  const std::string& key(Slot slot) const { return keys_[slot]; }
  const Row& row(Slot slot) const { return rows_[slot]; }
  Row& row(Slot slot) { return rows_[slot]; }
  // Slots in the order of their keys' bytes.
  const std::vector<Slot>& byKey() const { return order_; }

  template <class Index>
  const Index& index() const {
    return std::get<Index>(indexes_);
  }
  // To be called around every write of that cell.
  template <auto CellPointer>
  void beforeWrite([[maybe_unused]] Slot slot) {
    (takeOut<Indexes, CellPointer>(slot), ...);
  }
  template <auto CellPointer>
  void afterWrite([[maybe_unused]] Slot slot) {
    (putIn<Indexes, CellPointer>(slot), ...);
  }

 private:
  template <class Index, auto CellPointer>
  void takeOut([[maybe_unused]] Slot slot) {
    if constexpr (Index::template covers<CellPointer>) std::get<Index>(indexes_).erase(rows_[slot], slot);
  }
  template <class Index, auto CellPointer>
  void putIn([[maybe_unused]] Slot slot) {
    if constexpr (Index::template covers<CellPointer>) std::get<Index>(indexes_).insert(rows_[slot], slot);
  }

  std::vector<Slot>::const_iterator lower(std::string_view key) const {
    // Keys mostly come in order and the newest are asked for most: the end is looked at first.
    if (order_.empty()) return order_.end();
    const int newest = std::string_view(keys_[order_.back()]).compare(key);
    if (newest <= 0) return order_.end() - (newest == 0 ? 1 : 0);
    return std::lower_bound(order_.begin(), order_.end() - 1, key,
                            [&](Slot slot, std::string_view k) { return keys_[slot].compare(k) < 0; });
  }

  std::vector<Row> rows_;
  std::vector<std::string> keys_;
  std::vector<Slot> order_;
  [[no_unique_address]] std::tuple<Indexes...> indexes_;
};

// Keys of a log's rows: their numbers from 1 in ten digits, so that the order of keys is that of recording.
inline constexpr std::size_t kLogKeyDigits = 10;
inline bool isLogKey(std::string_view key) {
  return key.size() == kLogKeyDigits &&
         std::all_of(key.begin(), key.end(), [](char c) { return '0' <= c && c <= '9'; });
}
template <class TableType>
std::string nextLogKey(const TableType& log) {
  std::uint64_t last = 0;
  if (log.size() > 0)
    for (char c : log.key(log.byKey().back())) last = last * 10 + static_cast<std::uint64_t>(c - '0');
  std::string key = std::to_string(last + 1);
  WITAN_CHECK(key.size() <= kLogKeyDigits, "a log of fewer than 10^10 facts");
  return std::string(kLogKeyDigits - key.size(), '0') + key;
}

}  // namespace witan::kernel
