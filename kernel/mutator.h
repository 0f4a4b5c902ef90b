// Mutator: how a mutation writes a state, and the journal it leaves (write set and undo).
//
// applyMutation (seed 000, Def. A.13) is written against a Mutator. Nothing copies the whole state: what was written
// is known exactly, and a rejected candidate is undone by playing the old values back. Used by the kernel only,
// for the length of one decision; neither class outlives the state.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json_codec.h"
#include "kernel/field.h"
#include "kernel/record/verdict.h"
#include "kernel/view.h"

namespace witan::kernel {

// Limit of one mutation: accesses to the state.
inline constexpr std::uint32_t kStepBudget = 1'000'000;

template <class F, bool isColumn = F::isColumn>
struct FieldJournal;  // old values of one field, oldest first

template <class F>
struct FieldJournal<F, false> {
  std::vector<typename F::Value> old;
};

template <class F>
struct FieldJournal<F, true> {
  std::vector<std::pair<Slot, Cell<typename F::Value>>> old;
};

// The one way to write a cell: the table's indexes follow.
template <class F, class TableType>
void writeCell(TableType& table, Slot slot, Cell<typename F::Value>&& value) {
  table.template beforeWrite<F::cell>(slot);
  F::of(table.row(slot)) = std::move(value);
  table.template afterWrite<F::cell>(slot);
}

template <class Fields>
class Journal;

template <class... F>
class Journal<FieldList<F...>> {
 public:
  using Fields = FieldList<F...>;
  using State = typename StateOf<Footprint<F...>>::Type;

  FieldMask touched() const { return touched_; }

  template <class Field>
  void remember(State& state) {
    static_assert(!Field::isColumn);
    mark<Field>();
    journal<Field>().old.push_back(Field::of(state));
  }
  template <class Field>
  void remember(State& state, Slot slot) {
    static_assert(Field::isColumn);
    mark<Field>();
    journal<Field>().old.emplace_back(slot, Field::of((state.*Field::table).row(slot)));
  }
  template <auto TablePointer>
  void rememberInsertion() {
    inserted_.push_back(+[](State& state) { (state.*TablePointer).removeLast(); });
  }

  // Did this cell hold a value before the first write since clear()?
  template <class Field>
  bool existedBefore(const State& state, Slot slot) const {
    if (touched_ & bit<Field>())
      for (const auto& [written, old] : journal<Field>().old)
        if (written == slot) return old.has_value();
    return Field::of((state.*Field::table).row(slot)).has_value();
  }

  // Was this cell written since clear()?
  template <class Field>
  bool wrote(Slot slot) const {
    if (touched_ & bit<Field>())
      for (const auto& entry : journal<Field>().old)
        if (entry.first == slot) return true;
    return false;
  }

  // Forgets: the writes stand.
  void clear() {
    (clearOne<F>(), ...);
    inserted_.clear();
    touched_ = 0;
  }

  // The state as it was before the first write since clear().
  void undo(State& state) {
    (undoOne<F>(state), ...);
    for (auto at = inserted_.rbegin(); at != inserted_.rend(); ++at) (*at)(state);
    clear();
  }

  // Slots of `TablePointer` in which a field of `mask` was written, in key order, each once.
  template <auto TablePointer, class Slots>
  void touchedSlots(const State& state, FieldMask mask, Slots& out) const {
    out.clear();
    (collect<F, TablePointer>(mask, out), ...);
    sortUnique(state.*TablePointer, out);
  }

  // The write set as canonical JSON: {"field":{"key":value,...},"scalar":value}; an erased cell is null.
  void appendWrites(std::string& out, const State& state) {
    out += '{';
    bool first = true;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (appendField<std::tuple_element_t<FieldsByName<Fields>::order[I], std::tuple<F...>>>(out, state, first), ...);
    }
    (std::index_sequence_for<F...>{});
    out += '}';
  }

 private:
  template <class Field>
  FieldJournal<Field>& journal() {
    return std::get<FieldJournal<Field>>(journals_);
  }
  template <class Field>
  const FieldJournal<Field>& journal() const {
    return std::get<FieldJournal<Field>>(journals_);
  }
  template <class Field>
  static constexpr FieldMask bit() {
    return FieldMask{1} << indexOf<Field, Fields>;
  }
  template <class Field>
  void mark() {
    touched_ |= bit<Field>();
  }

  template <class Field>
  void clearOne() {
    if (touched_ & bit<Field>()) journal<Field>().old.clear();
  }
  template <class Field>
  void undoOne(State& state) {
    if (!(touched_ & bit<Field>())) return;
    auto& old = journal<Field>().old;
    for (auto at = old.rbegin(); at != old.rend(); ++at) {
      if constexpr (Field::isColumn)
        writeCell<Field>(state.*Field::table, at->first, std::move(at->second));
      else
        Field::of(state) = std::move(*at);
    }
  }
  template <class Field, auto TablePointer, class Slots>
  void collect(FieldMask mask, Slots& out) const {
    if constexpr (livesIn<Field, TablePointer>()) {
      if (touched_ & mask & bit<Field>())
        for (const auto& entry : journal<Field>().old) out.push_back(entry.first);
    }
  }
  template <class TableType, class Slots>
  static void sortUnique(const TableType& table, Slots& slots) {
    if (slots.size() < 2) return;
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
    if (slots.size() > 1)
      std::sort(slots.begin(), slots.end(), [&](Slot a, Slot b) { return table.key(a) < table.key(b); });
  }
  template <class Field>
  void appendField(std::string& out, const State& state, bool& first) {
    if (!(touched_ & bit<Field>())) return;
    if (!first) out += ',';
    first = false;
    out += '"';
    out += Field::name;
    out += "\":";
    if constexpr (Field::isColumn) {
      const auto& table = state.*Field::table;
      touchedSlots<Field::table>(state, bit<Field>(), scratch_);
      for (std::size_t i = 0; i < scratch_.size(); ++i) {
        out += i == 0 ? '{' : ',';
        appendJsonString(out, table.key(scratch_[i]));
        out += ':';
        const auto& cell = Field::of(table.row(scratch_[i]));
        if (cell)
          writeJson(out, *cell);
        else
          out += "null";
      }
      out += '}';
    } else {
      writeJson(out, Field::of(state));
    }
  }

  std::tuple<FieldJournal<F>...> journals_;
  std::vector<void (*)(State&)> inserted_;
  std::vector<Slot> scratch_;
  FieldMask touched_ = 0;
};

template <class Fields>
class Mutator {
 public:
  using State = typename Journal<Fields>::State;
  using Policy = typename State::Policy;

  Mutator(State& state, Journal<Fields>& journal, const Policy& policy)
      : state_(&state), journal_(&journal), policy_(&policy) {}

  const Policy& policy() const { return *policy_; }

  template <class F>
  requires(contains<F, Fields> && !F::isColumn) const typename F::Value& get() {
    step();
    return F::of(*state_);
  }
  template <class F>
  requires(contains<F, Fields> && !F::isColumn) void set(typename F::Value value) {
    step();
    journal_->template remember<F>(*state_);
    F::of(*state_) = std::move(value);
  }

  // A handle on one row of a table; valid until the mutation ends.
  template <auto TablePointer>
  class Row {
   public:
    std::string_view key() const { return table().key(slot_); }
    template <class F>
    requires(livesIn<F, TablePointer>()) const Cell<typename F::Value>& get() const {
      owner_->step();
      return F::of(table().row(slot_));
    }
    template <class F>
    requires(livesIn<F, TablePointer>()) bool has() const { return get<F>().has_value(); }
    template <class F>
    requires(livesIn<F, TablePointer>()) Row& set(typename F::Value value) {
      write<F>(std::move(value));
      return *this;
    }
    template <class F>
    requires(livesIn<F, TablePointer>()) Row& erase() {
      write<F>(std::nullopt);
      return *this;
    }

   private:
    friend class Mutator;
    Row(Mutator* owner, Slot slot) : owner_(owner), slot_(slot) {}
    auto& table() const { return owner_->state_->*TablePointer; }
    template <class F>
    void write(Cell<typename F::Value>&& value) {
      owner_->step();
      owner_->journal_->template remember<F>(*owner_->state_, slot_);
      writeCell<F>(table(), slot_, std::move(value));
    }
    Mutator* owner_;
    Slot slot_;
  };

  template <auto TablePointer>
  std::optional<Row<TablePointer>> find(std::string_view key) {
    step();
    const Slot slot = (state_->*TablePointer).find(key);
    if (slot == kNoSlot) return std::nullopt;
    return Row<TablePointer>(this, slot);
  }

  // The row of `key`, made if it is new.
  template <auto TablePointer>
  Row<TablePointer> edit(std::string_view key) {
    step();
    if (key.empty() || key.size() > kKeyMax) throw Fault{"a key must have 1 to " + std::to_string(kKeyMax) + " bytes"};
    bool inserted = false;
    const Slot slot = (state_->*TablePointer).findOrInsert(key, inserted);
    if (inserted) journal_->template rememberInsertion<TablePointer>();
    return Row<TablePointer>(this, slot);
  }

  // A new row at the end of a log.
  template <class F>
  requires(F::isLog) void append(typename F::Value value) {
    edit<F::table>(nextLogKey(state_->*F::table)).template set<F>(std::move(value));
  }

  // Visits every row of a table in key order.
  template <auto TablePointer, class Visit>
  void forEachRow(Visit&& visit) {
    const auto& table = state_->*TablePointer;
    for (std::size_t i = 0; i < table.byKey().size(); ++i) visit(Row<TablePointer>(this, table.byKey()[i]));
  }

  // An enumeration word from outside; a word that does not exist is a fault.
  template <NamedEnum E>
  static E word(std::string_view text) {
    if (auto value = parseEnum<E>(text)) return *value;
    throw Fault{"unknown word \"" + std::string(clip(text)) + "\": expected one of " + JsonCodec<E>::words()};
  }

 private:
  void step() {
    if (++steps_ > kStepBudget)
      throw Fault{"the mutation exceeded its budget of " + std::to_string(kStepBudget) + " steps"};
  }

  State* state_;
  Journal<Fields>* journal_;
  const Policy* policy_;
  std::uint32_t steps_ = 0;
};

// Touched<Invariant>: which rows of an invariant's footprint the current candidate wrote (finding F8).
//
// Handed to an invariant's stillPasses when its last verdict was pass. Borrowed for the call.

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
