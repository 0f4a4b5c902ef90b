// Program: an expression or script in its compact form, and the machine that evaluates it.
//
// A program is made by program/compiler.h, belongs to the module of one rule file and is immutable; any thread may run
// it, each with a Machine of its own. Evaluation is bounded: a step for each part and element, kSteps in all, the
// memory of one Arena and kWritesMax; beyond them it fails. It reads no clock: `now` and `clock` are given.
#pragma once

#include <boost/container/small_vector.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/domain_module.h"
#include "rules/state/state.h"

namespace witan::rules {

inline constexpr std::uint32_t kSteps = 1'000'000;
inline constexpr std::size_t kLocalsMax = 64;
// In memory, of all that one script writes. As JSON it may be more or less: the kernel bounds that.
inline constexpr std::size_t kWritesMax = 4 << 20;

enum class Op : std::uint8_t {
  constant,  // constants[a]
  failure,   // fails with constants[a]: what the checker let pass as dynamic
  local,     // slot
  now,
  clock,
  scalar,   // field a
  rowOf,    // row with key b of table a
  rowKey,   // of row a
  cell,     // field b of row a
  hasCell,  // is there something?
  optionalCell,
  changed,     // did the candidate write field b of row a?
  inTable,     // is there a row with key a in table b?
  tableSize,   // of table a
  wholeTable,  // table a
  member,      // item b of record a
  hasMember,
  select,  // key constants[b] of map a
  hasSelect,
  optionalSelect,
  index,  // a[b]
  optionalIndex,
  list,  // args[a...a+b]; constants of c: which are optional
  map,
  call,  // functions[c](args[a...a+b])
  logicalAnd,
  logicalOr,
  choice,  // a ? b : c
  add,
  subtract,
  multiply,
  divide,
  modulo,
  negate,
  logicalNot,
  equal,
  notEqual,
  less,
  lessEqual,
  greater,
  greaterEqual,
  in,
  bind,         // slot = a; then b
  optionalMap,  // as bind, of the value of an optional; flag flat: gives an optional itself
  all,
  exists,
  existsOne,
  filter,
  transform,
  transformMap,  // range a, test b (or kNone), result c; slot; flag two
  waived,        // (a, b)
  orValue,       // a, else b
};

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Node {
  Op op = Op::constant;
  bool flag = false;
  std::uint16_t slot = 0;
  std::uint16_t source = 0;  // which text `at` counts in
  std::uint32_t a = 0, b = 0, c = 0;
  std::uint32_t at = 0;
};

class Machine;
// Called with n values of which none failed.
using FunctionCall = Value (*)(Machine& machine, const Value* args, std::size_t n);

// A step of a script.
struct Step {
  enum class Kind : std::uint8_t { let, require, setScalar, setCell, append, branch, loop };
  Kind kind = Kind::let;
  kernel::InvResult otherwise = kernel::InvResult::notEvaluated;  // of require; notEvaluated: a fault
  std::uint16_t slot = 0, source = 0;
  std::uint32_t expr = 0, key = 0, message = 0, field = 0, at = 0;
  std::vector<Step> body, other;
};

// A loop over the rows of a table that needs to visit some of them only (rules/program/scans.h).
struct Scan {
  std::uint32_t table = 0, column = 0, field = 0;
  std::uint32_t from = kNone, to = kNone;  // nodes of the bounds, known before the loop
  bool fromOpen = false, toOpen = false;
  Tag tag = Tag::absent;  // of the bounds
};

struct SourceText {
  std::string name;      // "invariant UDT_CODE_KIND"
  std::size_t line = 1;  // where the text begins in its file
  std::size_t column = 1;
  std::string text;
};

struct Program {
  std::vector<Node> nodes;
  std::vector<std::uint32_t> args;
  std::vector<Value> constants;
  std::vector<FunctionCall> functions;
  std::vector<Step> steps;  // of a script
  std::uint32_t root = 0;   // of an expression
  std::vector<Scan> scans;
  std::vector<std::uint16_t> scanOf;  // by node: n is scans[n - 1]; 0: none
  std::uint16_t rootScan = 0;         // of the row in local 0, for which the whole expression is asked
  std::vector<std::shared_ptr<const SourceText>> sources;
  Arena storage;                // of the constants
  kernel::FieldMask reads = 0;  // with those whose rows are counted or looked for
  kernel::FieldMask writes = 0;
  std::uint64_t lookups = 0;  // tables of which rows are looked for, a bit each
  std::uint32_t loops = 0;    // loops inside each other: the cost grows with the rows to that power
  TypePtr type;               // of an expression
  // "line 12, column 7" of a node or step.
  std::string place(std::uint16_t source, std::uint32_t at) const;
};

// What a script decided; a fault has result notEvaluated.
struct Ruling {
  kernel::InvResult result = kernel::InvResult::pass;
  std::string message;
};

// Evaluates one program; its locals of before the run are arguments. Cheap to make.
class Machine {
 public:
  Machine(const Program& program, Arena& memory, const RuleState* state, const kernel::PublicFields* shared, Time at)
      : arena(memory), program_(program), state_(state), shared_(shared), now_(at) {}

  // Of a candidate, for changed().
  void observe(const RuleJournal& journal) { observed_ = &journal; }
  void setLocal(std::size_t slot, const Value& value) { locals_[slot] = value; }
  Value evaluate(std::uint32_t node);
  // Runs the script; `journal` and `writable` are of a process, null for an invariant, which writes nothing.
  Ruling run(RuleState* writable = nullptr, RuleJournal* journal = nullptr);
  Value fail(const char* code, std::string message) { return arena.fail(code, std::move(message), at_, source_); }
  using Rows = boost::container::small_vector<kernel::Slot, 32>;
  // The rows to visit, in the order of their keys; false: all of them. `scan` as in Program::scanOf.
  bool narrowed(std::uint16_t scan, Rows& rows);
  // Spends steps for work that grows with n; false: none are left.
  bool spend(std::size_t n) {
    if (n >= steps_) return steps_ = 0, false;
    steps_ -= static_cast<std::uint32_t>(n);
    return true;
  }
  // A step for each value within, and for each 32 bytes of its texts.
  bool spendDeep(const Value& value);
  // For work that reads a text once: comparing, copying.
  static std::size_t textSteps(const Value& value) {
    return value.is(Tag::text) || value.is(Tag::bytes) ? value.n / 32 : 0;
  }
  // The keys of a map are looked at one by one.
  bool spendFind(const Value& map, const Value& key) { return spend(map.n * (1 + textSteps(key))); }
  Value overflow() { return fail("overflow", "the result exceeds 64 bits"); }
  Value tooLong() { return fail("limit", concat("the evaluation exceeded its budget of ", kSteps, " steps")); }
  std::string explain(const Value& failed) const;
  // The rows that the evaluation may see: those with something in one of these fields.
  kernel::FieldMask visible = 0;

  Arena& arena;

 private:
  Value access(const Node& n);
  Value element(const Node& n);
  Value aggregate(const Node& n);
  Value arithmetic(const Node& n);
  Value relation(Op op, const Value& a, const Value& b);
  Value numbers(Op op, const Value& a, const Value& b);
  Value sumOf(Op op, const Value& a, const Value& b);
  Value noOverload(const Value& a, const Value& b);
  Value logic(const Node& n);
  Value logic(const Node& n, const Value& a, const Value& b);
  Value comprehension(const Node& n);
  Value contains(const Value& item, const Value& in);
  Value index(const Value& in, const Value& key);
  Value select(const Value& in, const Value& key, const Node& n);
  std::optional<Ruling> runSteps(const std::vector<Step>& steps);
  std::optional<Ruling> runStep(const Step& step);
  std::optional<Ruling> loop(const Step& step);
  std::optional<Ruling> write(const Step& step);
  Ruling fault(const Value& failed) const;
  bool sees(std::uint32_t table, kernel::Slot slot) const {
    return (state_->tables[table].present(slot) & state_->layout->tables[table].mask & visible) != 0;
  }
  // A key lies in the state, which a script that writes may move.
  Value keyOf(const RuleTable& table, kernel::Slot slot) {
    return journal_ == nullptr ? Value::text(table.key(slot)) : arena.copy(table.key(slot));
  }
  // Calls use(first, second) for each element of a range until it says false. False: the range has no elements. `only`:
  // of a table, if not null.
  template <class Use>
  bool eachElement(const Value& range, Use&& use, const Rows* only = nullptr);

  const Program& program_;
  const RuleState* state_;
  const kernel::PublicFields* shared_;
  Time now_;
  const RuleJournal* observed_ = nullptr;
  RuleState* writable_ = nullptr;
  RuleJournal* journal_ = nullptr;
  std::uint32_t steps_ = kSteps;
  std::size_t written_ = 0;  // bytes
  std::uint32_t at_ = 0;
  std::uint16_t source_ = 0;
  // Nothing reads a local before it is set, and a machine is made for each row: they begin as they are.
  union Locals {
    Locals() {}  // NOLINT
    Value at[kLocalsMax];
    Value& operator[](std::size_t slot) { return at[slot]; }
  };
  Locals locals_;
};

// An arena of this thread, empty.
class ScratchArena {
 public:
  ScratchArena();
  ~ScratchArena();
  Arena& operator*() const { return *arena_; }

 private:
  Arena* arena_;
};

}  // namespace witan::rules
