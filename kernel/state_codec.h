// The JSON form of a state, a slice, an edit or a write set: {"field":{"key":value},"scalar":value}.
//
// The forms are made by plain functions over a table of the domain's fields, so that they are compiled once for all
// domains; StateCodec<Fields> fills the table.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/json_codec.h"
#include "kernel/mutator.h"

namespace witan::kernel {

// One field without its types: `state`, `journal` and `mutator` are those of the domain that the table is of. Its
// functions get its `index`, which tells them what they are called for if types do not.
struct FieldOps {
  std::string_view name;
  FieldMask bit = 0;
  std::uint32_t index = 0;
  const TableKeys* (*keys)(std::uint32_t index, const void* state) = nullptr;  // null: a scalar
  // Whether the cell holds something.
  bool (*has)(std::uint32_t index, const void* state, Slot slot) = nullptr;
  // Appends the value of the scalar or cell. Requires: the cell holds something.
  void (*write)(std::uint32_t index, const void* state, Slot slot, std::string& out) = nullptr;
  // Appends the slots of the cells that were written, with repetitions.
  void (*written)(std::uint32_t index, const JournalBase& journal, Slots& slots) = nullptr;
  // Sets the scalar or the cell of `key`; null erases a cell. Throws Fault for an impossible key.
  Status (*set)(std::uint32_t index, void* mutator, std::string_view key, const json::value& value,
                const std::string& where) = nullptr;
  // Null: no log.
  Status (*append)(std::uint32_t index, void* mutator, const json::value& facts, const std::string& where) = nullptr;
};
using FieldTable = std::span<const FieldOps>;  // in the order of names, that of canonical JSON

// Sets one field by name: a scalar's value, or the named keys of a column. Returns its mask.
Result<FieldMask> setField(FieldTable fields, void* mutator, std::string_view name, const json::value& value,
                           std::string_view where);
// Fields of `mask` that hold something, and clock and waivers, in name order.
void writeState(FieldTable fields, FieldMask mask, const void* state, const PublicFields& shared, std::string& out);
// The write set of the journal; an erased cell is null.
void appendWrites(FieldTable fields, const JournalBase& journal, const void* state, std::string& out);

template <class Fields>
struct StateCodec {
  using State = typename Journal<Fields>::State;

  static Result<FieldMask> setField(Mutator<Fields>& m, std::string_view name, const json::value& value,
                                    std::string_view where) {
    return kernel::setField(table, &m, name, value, where);
  }
  static void write(std::string& out, const State& state, const PublicFields& shared, FieldMask mask) {
    writeState(table, mask, &state, shared, out);
  }
  static void appendWrites(std::string& out, const Journal<Fields>& journal, const State& state) {
    kernel::appendWrites(table, journal, &state, out);
  }

 private:
  static const State& in(const void* state) { return *static_cast<const State*>(state); }

  template <class F>
  static const TableKeys* keys(std::uint32_t, const void* state) {
    return &(in(state).*F::table);
  }
  template <class F>
  static bool has(std::uint32_t, const void* state, Slot slot) {
    return F::of((in(state).*F::table).row(slot)).has_value();
  }
  template <class F>
  static void writeValue(std::uint32_t, const void* state, [[maybe_unused]] Slot slot, std::string& out) {
    if constexpr (F::isColumn)
      writeJson(out, *F::of((in(state).*F::table).row(slot)));
    else
      writeJson(out, F::of(in(state)));
  }
  template <class F>
  static void written(std::uint32_t, const JournalBase& journal, Slots& slots) {
    static_cast<const Journal<Fields>&>(journal).template writtenSlots<F>(slots);
  }
  template <class F>
  static Status set(std::uint32_t, void* mutator, [[maybe_unused]] std::string_view key, const json::value& value,
                    const std::string& where) {
    auto& m = *static_cast<Mutator<Fields>*>(mutator);
    if constexpr (F::isColumn) {
      if (value.is_null()) {
        if (auto row = m.template find<F::table>(key)) row->template erase<F>();
        return okStatus();
      }
    }
    typename F::Value parsed{};
    WITAN_DO(readJson(value, parsed, where));
    if constexpr (F::isColumn)
      m.template edit<F::table>(key).template set<F>(ByEdit(), std::move(parsed));
    else
      m.template set<F>(std::move(parsed));
    return okStatus();
  }
  template <class F>
  static Status append(std::uint32_t, void* mutator, const json::value& facts, const std::string& where) {
    std::vector<typename F::Value> parsed;
    WITAN_DO(readJson(facts, parsed, where));
    for (auto& fact : parsed) static_cast<Mutator<Fields>*>(mutator)->template append<F>(std::move(fact));
    return okStatus();
  }

  template <class F>
  static constexpr FieldOps opsOf() {
    FieldOps ops{.name = F::name, .bit = maskOf<Fields, Footprint<F>>, .write = writeValue<F>, .set = set<F>};
    if constexpr (F::isColumn) {
      ops.keys = keys<F>;
      ops.has = has<F>;
      ops.written = written<F>;
      if constexpr (F::isLog) ops.append = append<F>;
    }
    return ops;
  }
  template <class List>
  struct TableOf;
  template <class... F>
  struct TableOf<FieldList<F...>> {
    static constexpr std::array<FieldOps, sizeof...(F)> ops = [] {
      const std::array<FieldOps, sizeof...(F)> unsorted{opsOf<F>()...};
      std::array<FieldOps, sizeof...(F)> sorted;
      for (std::size_t i = 0; i < sizeof...(F); ++i) sorted[i] = unsorted[FieldsByName<Fields>::order[i]];
      return sorted;
    }();
  };

 public:
  static constexpr FieldTable table{TableOf<Fields>::ops};
};

}  // namespace witan::kernel
