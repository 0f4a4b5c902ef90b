#include "rules/state/state.h"

#include <algorithm>
#include <new>

namespace witan::rules {

using kernel::FieldMask;
using kernel::Slot;

std::vector<std::string> Layout::tableNames() const {
  std::vector<std::string> names;
  for (const TableDecl& table : tables) names.push_back(table.name);
  return names;
}

namespace {

// A record keeps microseconds, and no sign of zero: whoever folds it must find the same state. The items are the
// caller's own.
void makeAsRecorded(Value& value) {
  if (value.is(Tag::timestamp)) value.n = 0;
  if (value.is(Tag::real) && value.d == 0) value.d = 0;
  if (!value.is(Tag::list) && !value.is(Tag::map)) return;
  for (std::size_t i = 0; i < (value.is(Tag::map) ? 2 * std::size_t{value.n} : value.n); ++i)
    makeAsRecorded(const_cast<Value&>(value.items[i]));
}

}  // namespace

Stored::Stored(const Value& value) : value_(value) {
  const std::size_t bytes = deepBytes(value);
  if (bytes > 0) {
    void* memory = ::operator new (sizeof(Block) + bytes, std::align_val_t{alignof(Block)});
    block_ = new (memory) Block;
    char* at = static_cast<char*>(memory) + sizeof(Block);
    value_ = deepCopy(value, at);
  }
  makeAsRecorded(value_);
}

Stored::Stored(const Value& value, const Type& type) {
  value_.tag = Tag::absent;
  const bool word = value.is(Tag::text) && type.kind == Type::Kind::text;
  const auto known = word ? std::ranges::find(type.words, value.str()) : type.words.end();
  if (known == type.words.end())
    *this = Stored(value);
  else
    value_ = Value::text(*known);
}

void Stored::release() {
  if (block_ == nullptr || block_->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  block_->~Block();
  ::operator delete (block_, std::align_val_t{alignof(Block)});
}

Slot RuleTable::findOrInsert(std::string_view key, bool& inserted) {
  const Slot slot = findOrInsertKey(key, inserted);
  if (inserted) {
    cells_.resize(cells_.size() + width_);
    present_.push_back(0);
    inOrder_ = inOrder_ && byKey().back() == slot;
  }
  return slot;
}

void RuleTable::removeLast() {
  removeLastKey();
  cells_.resize(cells_.size() - width_);
  present_.pop_back();
}

void RuleTable::set(Slot slot, std::uint32_t column, std::uint32_t field, Stored&& value) {
  const FieldMask bit = FieldMask{1} << field;
  Stored& cell = cells_[slot * width_ + column];
  if (indexed_[column] && cell.present()) sorted_[column].erase(placeOf(column, cell.value(), slot));
  if (indexed_[column] && value.present()) sorted_[column].insert(placeOf(column, value.value(), slot), slot);
  if (value.present())
    present_[slot] |= bit;
  else
    present_[slot] &= ~bit;
  cell = std::move(value);
}

std::vector<Slot>::const_iterator RuleTable::placeOf(std::uint32_t column, const Value& value, Slot slot) const {
  const auto& sorted = sorted_[column];
  return std::lower_bound(sorted.begin(), sorted.end(), slot, [&](Slot one, Slot wanted) {
    const int order = compare(cell(one, column).value(), value);
    return order != 0 ? order < 0 : one < wanted;
  });
}

std::span<const Slot> RuleTable::between(std::uint32_t column, const Bound* from, const Bound* to) const {
  const auto& sorted = sorted_[column];
  const auto first =
      from == nullptr ? sorted.begin() : std::partition_point(sorted.begin(), sorted.end(), [&](Slot one) {
        const int order = compare(cell(one, column).value(), from->value);
        return from->open ? order <= 0 : order < 0;
      });
  const auto last = to == nullptr ? sorted.end() : std::partition_point(first, sorted.end(), [&](Slot one) {
    const int order = compare(cell(one, column).value(), to->value);
    return to->open ? order < 0 : order <= 0;
  });
  return {first, last};
}

RuleState::RuleState(const Layout& of) : layout(&of), scalars(of.fields.size()) {
  for (const TableDecl& table : of.tables) {
    std::vector<bool> indexed;
    for (const std::uint32_t field : table.fields) indexed.push_back(of.fields[field].indexed);
    tables.emplace_back(std::move(indexed));
  }
}

void RuleJournal::clear() {
  writes_.clear();
  inserted_.clear();
  touched_ = 0;
}

void RuleJournal::undoIn(void* state) {
  RuleState& s = *static_cast<RuleState*>(state);
  for (auto at = writes_.rbegin(); at != writes_.rend(); ++at) {
    const FieldDecl& field = s.layout->fields[at->field];
    if (field.isColumn)
      s.tables[field.table].set(at->slot, field.column, at->field, std::move(at->old));
    else
      s.scalars[at->field] = std::move(at->old);
  }
  for (auto at = inserted_.rbegin(); at != inserted_.rend(); ++at) s.tables[*at].removeLast();
  clear();
}

void RuleJournal::setScalar(RuleState& state, std::uint32_t field, Stored&& value) {
  touched_ |= FieldMask{1} << field;
  writes_.push_back({field, 0, std::exchange(state.scalars[field], std::move(value))});
}

Slot RuleJournal::row(RuleState& state, std::uint32_t table, std::string_view key) {
  if (key.empty() || key.size() > kernel::kKeyMax)
    throw kernel::Fault{concat("a key must have 1 to ", kernel::kKeyMax, " bytes")};
  bool inserted = false;
  const Slot slot = state.tables[table].findOrInsert(key, inserted);
  if (inserted) inserted_.push_back(table);
  return slot;
}

void RuleJournal::setCell(RuleState& state, std::uint32_t field, Slot slot, Stored&& value) {
  const FieldDecl& decl = state.layout->fields[field];
  touched_ |= FieldMask{1} << field;
  writes_.push_back({field, slot, state.tables[decl.table].cell(slot, decl.column)});
  state.tables[decl.table].set(slot, decl.column, field, std::move(value));
}

}  // namespace witan::rules
