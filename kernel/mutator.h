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

// A journal without its types.
class JournalBase {
 public:
  FieldMask touched() const { return touched_; }
  // Forgets: the writes stand.
  virtual void clear() = 0;
  // Makes the state (of the journal's domain) what it was before the first write since clear().
  virtual void undoIn(void* state) = 0;

 protected:
  ~JournalBase() = default;
  FieldMask touched_ = 0;
};

template <class Fields>
class Journal;

template <class... F>
class Journal<FieldList<F...>> final : public JournalBase {
 public:
  using Fields = FieldList<F...>;
  using State = typename StateOf<Footprint<F...>>::Type;

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

  // What this scalar or cell held before the first write since clear(); null: it was not written.
  template <class Field>
  const typename Field::Value* firstOld() const {
    return (touched_ & bit<Field>()) ? &journal<Field>().old.front() : nullptr;
  }
  template <class Field>
  const Cell<typename Field::Value>* firstOld(Slot slot) const {
    if (touched_ & bit<Field>())
      for (const auto& [written, old] : journal<Field>().old)
        if (written == slot) return &old;
    return nullptr;
  }
  // Did this cell hold a value before the first write since clear()?
  template <class Field>
  bool existedBefore(const State& state, Slot slot) const {
    const auto* old = firstOld<Field>(slot);
    return old != nullptr ? old->has_value() : Field::of((state.*Field::table).row(slot)).has_value();
  }

  // Was this cell written since clear()?
  template <class Field>
  bool wrote(Slot slot) const {
    if (touched_ & bit<Field>())
      for (const auto& entry : journal<Field>().old)
        if (entry.first == slot) return true;
    return false;
  }

  void clear() override {
    (clearOne<F>(), ...);
    inserted_.clear();
    touched_ = 0;
  }

  void undoIn(void* state) override { undo(*static_cast<State*>(state)); }
  void undo(State& state) {
    (undoOne<F>(state), ...);
    for (auto at = inserted_.rbegin(); at != inserted_.rend(); ++at) (*at)(state);
    clear();
  }

  // Slots of `TablePointer` in which a field of `mask` was written, in key order, each once.
  template <auto TablePointer>
  void touchedSlots(const State& state, FieldMask mask, Slots& out) const {
    out.clear();
    (collect<F, TablePointer>(mask, out), ...);
    (state.*TablePointer).sortUnique(out);
  }
  // Appends the slots in which Field was written, with repetitions.
  template <class Field>
  void writtenSlots(Slots& out) const {
    for (const auto& entry : journal<Field>().old) out.push_back(entry.first);
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
  template <class Field, auto TablePointer>
  void collect(FieldMask mask, Slots& out) const {
    if constexpr (livesIn<Field, TablePointer>()) {
      if (touched_ & mask & bit<Field>()) writtenSlots<Field>(out);
    }
  }

  std::tuple<FieldJournal<F>...> journals_;
  std::vector<void (*)(State&)> inserted_;
};

// Only the codec of states, edits and write sets makes one (kernel/state_codec.h): no process does.
class ByEdit {
  ByEdit() = default;
  template <class Fields>
  friend struct StateCodec;
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
    requires(livesIn<F, TablePointer>() && !isHuman<F>) Row& set(typename F::Value value) {
      write<F>(std::move(value));
      return *this;
    }
    // Of a field of any kind, by the kernel.
    template <class F>
    requires(livesIn<F, TablePointer>()) Row& set(ByEdit, typename F::Value value) {
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

  // The rows whose cells of `Index` hold these texts, in the order of their making. O(rows found).
  template <auto TablePointer, class Index, class... Text>
  boost::container::small_vector<Row<TablePointer>, 4> matching(const Text&... texts) {
    const auto& table = state_->*TablePointer;
    boost::container::small_vector<Row<TablePointer>, 4> found;
    for (const Slot slot : table.template index<Index>().candidates(texts...)) {
      step();
      if (Index::holds(table.row(slot), texts...)) found.push_back(Row<TablePointer>(this, slot));
    }
    return found;
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

  // The first row, in key order, whose cells of `Index` hold these texts.
  template <auto TablePointer, class Index, class... Text>
  std::optional<Row<TablePointer>> firstMatching(const Text&... texts) {
    step();
    const auto& table = state_->*TablePointer;
    Slot first = kNoSlot;
    for (Slot slot : table.template index<Index>().candidates(texts...))
      if (Index::holds(table.row(slot), texts...) && (first == kNoSlot || table.key(slot) < table.key(first)))
        first = slot;
    if (first == kNoSlot) return std::nullopt;
    return Row<TablePointer>(this, first);
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
    Slots slots;
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

  // What the scalar, or the cell, held before the candidate. Borrowed.
  template <class F>
  requires(contains<F, typename Invariant::Reads> && !F::isColumn) const typename F::Value& before() const {
    const typename F::Value* old = journal_->template firstOld<F>();
    return old != nullptr ? *old : F::of(*state_);
  }
  template <class F, auto TablePointer>
  requires contains<F, typename Invariant::Reads>
  const Cell<typename F::Value>& before(const RowView<Invariant, TablePointer>& row) const {
    const Cell<typename F::Value>* old = journal_->template firstOld<F>(row.slot());
    return old != nullptr ? *old : F::of((state_->*TablePointer).row(row.slot()));
  }

  // No more rows than that are visible. O(1).
  template <auto TablePointer>
  std::size_t rowsAtMost() const {
    return (state_->*TablePointer).size();
  }

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
