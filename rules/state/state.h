// RuleState: the state of one entity of a domain that a rule file declares: scalars, and tables of rows.
//
// Layout says what there is; it outlives every state. Cells share their texts with copies of the state. Not
// thread-safe. RuleJournal: what a candidate wrote, to be kept or undone (kernel/mutator.h has the same for compiled
// domains).
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/mutator.h"
#include "rules/cel/type.h"

namespace witan::rules {

struct FieldDecl {
  std::string name;
  TypePtr type;
  bool isColumn = false, isLog = false, lifecycle = false;
  bool human = false;                   // only a counselor's edit fills it
  bool indexed = false;                 // rows are looked for by what they hold there (rules/program/scans.h)
  std::uint32_t table = 0, column = 0;  // of a column: its table, and its place in a row
};

struct TableDecl {
  std::string name;
  std::vector<std::uint32_t> fields;
  kernel::FieldMask mask = 0;
  bool log = false;  // one field, whose rows are facts in the order of recording
};

struct Layout {
  std::vector<FieldDecl> fields;  // at most 64
  std::vector<TableDecl> tables;
  std::vector<std::string> tableNames() const;
};

// A value that owns its bytes.
class Stored {
 public:
  Stored() { value_.tag = Tag::absent; }
  explicit Stored(const Value& value);
  // A word of an enumeration is the type's own, which the layout keeps: most cells hold one, and rules compare little
  // else.
  Stored(const Value& value, const Type& type);
  Stored(const Stored& other) : value_(other.value_), block_(other.block_) { hold(); }
  Stored(Stored&& other) noexcept
      : value_(std::exchange(other.value_, Value::absent())), block_(std::exchange(other.block_, nullptr)) {}
  Stored& operator=(Stored other) noexcept {
    std::swap(value_, other.value_);
    std::swap(block_, other.block_);
    return *this;
  }
  ~Stored() { release(); }
  const Value& value() const { return value_; }
  bool present() const { return value_.tag != Tag::absent; }

 private:
  struct alignas(16) Block {
    std::atomic<std::uint32_t> holders{1};
  };
  void hold() const {
    if (block_ != nullptr) block_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  void release();
  Value value_;
  Block* block_ = nullptr;
};

class RuleTable : public kernel::TableKeys {
 public:
  // `indexed`: by column.
  explicit RuleTable(std::vector<bool> indexed)
      : width_(indexed.size()), indexed_(std::move(indexed)), sorted_(width_) {}
  const Stored& cell(kernel::Slot slot, std::uint32_t column) const { return cells_[slot * width_ + column]; }
  // The fields that hold something in a row.
  kernel::FieldMask present(kernel::Slot slot) const { return present_[slot]; }
  kernel::Slot findOrInsert(std::string_view key, bool& inserted);
  void removeLast();
  void set(kernel::Slot slot, std::uint32_t column, std::uint32_t field, Stored&& value);

  struct Bound {
    Value value;
    bool open = false;  // the value itself lies outside
  };
  // The rows whose cell of an indexed column holds something between the bounds (null: none), in the order of the
  // values. O(log n).
  std::span<const kernel::Slot> between(std::uint32_t column, const Bound* from, const Bound* to) const;
  // The keys came in their order, so that slots are in it too.
  bool inOrder() const { return inOrder_; }

 private:
  // Where the row stands, or would, among the values of the column.
  std::vector<kernel::Slot>::const_iterator placeOf(std::uint32_t column, const Value& value, kernel::Slot slot) const;

  std::size_t width_;
  std::vector<bool> indexed_;
  std::vector<std::vector<kernel::Slot>> sorted_;  // by column: by value, then by slot
  bool inOrder_ = true;
  std::vector<Stored> cells_;
  std::vector<kernel::FieldMask> present_;
};

struct RuleState {
  explicit RuleState(const Layout& of);
  const Layout* layout;
  std::vector<Stored> scalars;  // by field
  std::vector<RuleTable> tables;
};

class RuleJournal final : public kernel::JournalBase {
 public:
  struct Write {
    std::uint32_t field = 0;
    kernel::Slot slot = 0;
    Stored old;
  };
  void clear() override;
  void undoIn(void* state) override;
  const std::vector<Write>& writes() const { return writes_; }

  // ---- the one way to write a state
  void setScalar(RuleState& state, std::uint32_t field, Stored&& value);
  // The row of a key, made if it is new. Throws Fault for an impossible key.
  kernel::Slot row(RuleState& state, std::uint32_t table, std::string_view key);
  void setCell(RuleState& state, std::uint32_t field, kernel::Slot slot, Stored&& value);

 private:
  std::vector<Write> writes_;
  std::vector<std::uint32_t> inserted_;
};

}  // namespace witan::rules
