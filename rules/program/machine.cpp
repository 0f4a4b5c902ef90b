#include <algorithm>
#include <limits>

#include "base/utf8.h"
#include "rules/program/program.h"

namespace witan::rules {

using kernel::Slot;

namespace {

thread_local Arena scratch;
thread_local bool scratchTaken = false;

}  // namespace

ScratchArena::ScratchArena() {
  WITAN_CHECK(!std::exchange(scratchTaken, true), "one evaluation at a time");
  arena_ = &scratch;
}
ScratchArena::~ScratchArena() {
  scratch.reset();
  scratchTaken = false;
}

std::string Program::place(std::uint16_t source, std::uint32_t at) const {
  const SourceText& text = *sources[source];
  const LineColumn in = lineColumn(text.text, at);
  return concat(text.name, ", line ", text.line + in.line - 1, ", column ",
                in.line == 1 ? text.column + in.column - 1 : in.column);
}

std::string Machine::explain(const Value& failed) const {
  return concat(failed.failure->message, " (", program_.place(failed.failure->source, failed.failure->at), ")");
}

Value Machine::evaluate(std::uint32_t node) {
  const Node& n = program_.nodes[node];
  if (steps_ == 0)
    return arena.fail("limit", concat("the evaluation exceeded its budget of ", kSteps, " steps"), n.at, n.source);
  --steps_;
  switch (n.op) {
    case Op::constant: return program_.constants[n.a];
    case Op::local: return locals_[n.slot];
    case Op::failure: return arena.fail("unknown", std::string(program_.constants[n.a].str()), n.at, n.source);
    case Op::now: return Value::of(now_);
    case Op::clock: return Value::of(shared_->clock);
    case Op::scalar: return state_->scalars[n.a].value();
    case Op::logicalAnd:
    case Op::logicalOr: {
      const Value a = evaluate(n.a);
      const bool decides = n.op == Op::logicalOr;
      if (a.is(Tag::boolean) && a.b == decides) return a;
      return logic(n, a, evaluate(n.b));
    }
    case Op::logicalNot:
    case Op::choice: return logic(n);
    case Op::hasCell:
    case Op::cell:  // most often of a row that a loop is at
      if (const Node& of = program_.nodes[n.a]; of.op == Op::local && locals_[of.slot].is(Tag::row)) {
        const Value& row = locals_[of.slot];
        const Value& cell = state_->tables[row.n].cell(static_cast<Slot>(row.i), n.c).value();
        if (n.op == Op::hasCell) return Value::of(!cell.is(Tag::absent));
        if (!cell.is(Tag::absent)) return cell;
      }
      return access(n);
    case Op::rowOf:
    case Op::rowKey:
    case Op::optionalCell:
    case Op::changed:
    case Op::inTable:
    case Op::tableSize:
    case Op::wholeTable: return access(n);
    case Op::member:
    case Op::hasMember:
    case Op::select:
    case Op::hasSelect:
    case Op::optionalSelect:
    case Op::index:
    case Op::optionalIndex:
    case Op::orValue: return element(n);
    case Op::list:
    case Op::map:
    case Op::call:
    case Op::waived: return aggregate(n);
    case Op::bind: {
      const Value value = evaluate(n.a);
      if (value.failed()) return value;
      locals_[n.slot] = value;
      return evaluate(n.b);
    }
    case Op::optionalMap: {
      const Value from = evaluate(n.a);
      if (from.failed()) return from;
      if (!from.is(Tag::optional)) return arena.fail("no_such_overload", "expected an optional", n.at, n.source);
      if (from.n == 0) return from;
      locals_[n.slot] = from.items[0];
      const Value to = evaluate(n.b);
      return to.failed() || n.flag ? to : arena.listOf({to}, Tag::optional);
    }
    case Op::all:
    case Op::exists:
    case Op::existsOne:
    case Op::filter:
    case Op::transform:
    case Op::transformMap: return comprehension(n);
    default: return arithmetic(n);
  }
}

// Neither side has decided alone yet: an error on one side counts only if the other does not decide.
Value Machine::logic(const Node& n, const Value& a, const Value& b) {
  const bool decides = n.op == Op::logicalOr;
  if (b.is(Tag::boolean) && (b.b == decides || a.is(Tag::boolean))) return b;
  if (a.failed()) return a;
  if (b.failed()) return b;
  return arena.fail("no_such_overload", "expected a bool", n.at, n.source);
}

Value Machine::logic(const Node& n) {
  const Value a = evaluate(n.a);
  if (a.failed()) return a;
  if (!a.is(Tag::boolean)) return arena.fail("no_such_overload", "expected a bool", n.at, n.source);
  return n.op == Op::logicalNot ? Value::of(!a.b) : evaluate(a.b ? n.b : n.c);
}

Value Machine::access(const Node& n) {
  if (n.op == Op::wholeTable) {
    Value v;
    v.tag = Tag::table;
    v.n = n.a;
    return v;
  }
  if (n.op == Op::tableSize) {
    std::int64_t size = 0;
    const RuleTable& table = state_->tables[n.a];
    if (!spend(table.size())) return tooLong();
    for (Slot slot : table.byKey()) size += sees(n.a, slot) ? 1 : 0;
    return Value::of(size);
  }
  if (n.op == Op::rowOf || n.op == Op::inTable) {
    const Value key = evaluate(n.op == Op::rowOf ? n.b : n.a);
    const std::uint32_t table = n.op == Op::rowOf ? n.a : n.b;
    if (key.failed()) return key;
    if (!spend(textSteps(key))) return tooLong();
    const Slot slot = key.is(Tag::text) ? state_->tables[table].find(key.str()) : kernel::kNoSlot;
    const bool there = slot != kernel::kNoSlot && sees(table, slot);
    if (n.op == Op::inTable) return Value::of(there);
    if (!there)
      return arena.fail("no_such_key",
                        concat("there is no row \"", display(key), "\" in ", state_->layout->tables[table].name), n.at,
                        n.source);
    Value row;
    row.tag = Tag::row;
    row.n = table;
    row.i = slot;
    return row;
  }
  const Value row = evaluate(n.a);
  if (row.failed()) {
    // Of a row that does not exist nothing is there.
    const bool missing = program_.nodes[n.a].op == Op::rowOf && std::string_view(row.failure->code) == "no_such_key";
    if (missing && n.op == Op::hasCell) return Value::of(false);
    if (missing && n.op == Op::optionalCell) return Value::none();
    return row;
  }
  if (!row.is(Tag::row)) return arena.fail("no_such_overload", "expected a row", n.at, n.source);
  const RuleTable& table = state_->tables[row.n];
  const auto slot = static_cast<Slot>(row.i);
  if (n.op == Op::changed)
    return Value::of(std::ranges::any_of(observed_->writes(), [&](const RuleJournal::Write& write) {
      return write.field == n.b && write.slot == slot;
    }));
  if (n.op == Op::rowKey) return keyOf(table, slot);
  const Stored& cell = table.cell(slot, n.c);
  if (n.op == Op::hasCell) return Value::of(cell.present());
  if (n.op == Op::optionalCell) return cell.present() ? arena.listOf({cell.value()}, Tag::optional) : Value::none();
  if (!cell.present())
    return arena.fail("no_such_key",
                      concat(state_->layout->fields[n.b].name, " of \"", table.key(slot), "\" is not there"), n.at,
                      n.source);
  return cell.value();
}

Value Machine::element(const Node& n) {
  const Value in = evaluate(n.a);
  if (in.failed()) return in;
  if (n.op == Op::orValue) {
    if (!in.is(Tag::optional)) return arena.fail("no_such_overload", "expected an optional", n.at, n.source);
    return in.n == 0 ? evaluate(n.b) : in.items[0];
  }
  at_ = n.at;
  source_ = n.source;
  if (n.op == Op::member || n.op == Op::hasMember) {
    if (!in.is(Tag::list) || n.b >= in.n) return fail("no_such_key", "the record has no such member");
    return n.op == Op::member ? in.items[n.b] : Value::of(!in.items[n.b].is(Tag::null));
  }
  if (n.op == Op::index || n.op == Op::optionalIndex) {
    const Value key = evaluate(n.b);
    if (key.failed()) return key;
    at_ = n.at;
    source_ = n.source;
    const bool optional = n.op == Op::optionalIndex || in.is(Tag::optional);
    if (in.is(Tag::optional) && in.n == 0) return in;
    const Value found = index(in.is(Tag::optional) ? in.items[0] : in, key);
    if (!optional) return found;
    if (!found.failed()) return arena.listOf({found}, Tag::optional);
    const std::string_view code = found.failure->code;
    return code == "no_such_key" ? Value::none() : found;
  }
  return select(in, program_.constants[n.b], n);
}

Value Machine::index(const Value& in, const Value& key) {
  if (in.is(Tag::map)) {
    if (!spendFind(in, key)) return tooLong();
    const Value* found = find(in, key);
    if (found != nullptr) return *found;
    if (!key.isNumber() && !key.is(Tag::text) && !key.is(Tag::boolean))
      return fail("no_such_overload", "this is no key of a map");
    return fail("no_such_key", concat("there is no key \"", display(key), "\""));
  }
  if (!in.is(Tag::list) || !key.isNumber()) return fail("no_such_overload", "only lists and maps have elements");
  if (compare(key, Value::of(std::int64_t{0})) < 0 || compare(key, Value::of(std::int64_t{in.n})) >= 0)
    return fail("no_such_key", concat("index ", display(key), " lies outside a list of ", in.n));
  const std::size_t at = key.is(Tag::real) ? static_cast<std::size_t>(key.d) : static_cast<std::size_t>(key.u);
  if (key.is(Tag::real) && static_cast<double>(at) != key.d)
    return fail("no_such_overload", "an index is a whole number");
  return in.items[at];
}

Value Machine::select(const Value& in, const Value& key, const Node& n) {
  const bool has = n.op == Op::hasSelect;
  if (in.is(Tag::optional)) {
    if (in.n == 0) return has ? Value::of(false) : in;
    const Value inner = select(in.items[0], key, n);
    if (has) return inner;
    if (inner.failed()) return std::string_view(inner.failure->code) == "no_such_key" ? Value::none() : inner;
    return inner.is(Tag::optional) && n.op == Op::optionalSelect ? inner : arena.listOf({inner}, Tag::optional);
  }
  if (!in.is(Tag::map)) return fail("no_such_overload", concat("only a map has \"", key.str(), "\""));
  if (!spend(in.n)) return tooLong();
  const Value* found = find(in, key);
  if (has) return Value::of(found != nullptr);
  if (n.op == Op::optionalSelect) return found != nullptr ? arena.listOf({*found}, Tag::optional) : Value::none();
  return found != nullptr ? *found : fail("no_such_key", concat("there is no key \"", key.str(), "\""));
}

Value Machine::aggregate(const Node& n) {
  if (n.op == Op::call) {
    Value args[8];
    for (std::uint32_t i = 0; i < n.b; ++i) {
      args[i] = evaluate(program_.args[n.a + i]);
      if (args[i].failed()) return args[i];
    }
    at_ = n.at;
    source_ = n.source;
    return program_.functions[n.c](*this, args, n.b);
  }
  if (n.op == Op::waived) {
    const Value id = evaluate(n.a), subject = evaluate(n.b);
    if (id.failed() || subject.failed()) return id.failed() ? id : subject;
    if (!spend(shared_->waivers.size())) return tooLong();
    return Value::of(id.is(Tag::text) && subject.is(Tag::text) && shared_->waived(id.str(), subject.str()));
  }
  std::vector<Value> items;
  const std::uint32_t each = n.op == Op::map ? 2 : 1;
  for (std::uint32_t i = 0; i < n.b; i += each) {
    Value item = evaluate(program_.args[n.a + i]);
    Value second = each == 2 && !item.failed() ? evaluate(program_.args[n.a + i + 1]) : item;
    if (item.failed() || second.failed()) return item.failed() ? item : second;
    if (program_.constants[n.c].items[i / each].isTrue()) {  // an optional element
      Value& from = each == 2 ? second : item;
      if (!from.is(Tag::optional)) return arena.fail("no_such_overload", "expected an optional", n.at, n.source);
      if (from.n == 0) continue;
      from = from.items[0];
    }
    if (each == 2) {
      const bool key = item.is(Tag::text) || item.is(Tag::integer) || item.is(Tag::uinteger) || item.is(Tag::boolean);
      if (!key) return arena.fail("no_such_overload", "this can be no key of a map", n.at, n.source);
      if (!spendFind(Value::map(items), item)) return tooLong();
      if (find(Value::map(items), item) != nullptr)
        return arena.fail("repeated_key", concat("the key \"", display(item), "\" comes twice"), n.at, n.source);
    }
    items.push_back(item);
    if (each == 2) items.push_back(second);
  }
  return arena.listOf(items, n.op == Op::map ? Tag::map : Tag::list);
}

bool Machine::narrowed(std::uint16_t number, Rows& rows) {
  if (number == 0) return false;
  const Scan& scan = program_.scans[number - 1];
  RuleTable::Bound from{{}, scan.fromOpen}, to{{}, scan.toOpen};
  // A bound that cannot be told is told of by the rows.
  const auto known = [&](std::uint32_t node, RuleTable::Bound& bound) {
    if (node == kNone) return true;
    bound.value = evaluate(node);
    return bound.value.is(scan.tag);
  };
  const bool same = scan.from == scan.to;
  if (!known(scan.from, from)) return false;
  if (same)
    to.value = from.value;
  else if (!known(scan.to, to))
    return false;
  const RuleTable& table = state_->tables[scan.table];
  const auto found = table.between(scan.column, scan.from == kNone ? nullptr : &from, scan.to == kNone ? nullptr : &to);
  if (found.size() > table.size() / 2) return false;
  rows.assign(found.begin(), found.end());
  if (table.inOrder())
    std::ranges::sort(rows);
  else
    std::ranges::sort(rows, [&](Slot a, Slot b) { return table.key(a) < table.key(b); });
  return true;
}

template <class Use>
bool Machine::eachElement(const Value& range, Use&& use, const Rows* only) {
  if (range.is(Tag::table)) {
    const RuleTable& table = state_->tables[range.n];
    Value row;
    row.tag = Tag::row;
    row.n = range.n;
    // By index: a script may add rows while it walks.
    for (std::size_t i = 0; i < (only != nullptr ? only->size() : table.byKey().size()); ++i) {
      const Slot slot = only != nullptr ? (*only)[i] : table.byKey()[i];
      if (!spend(1) || !sees(range.n, slot)) continue;
      row.i = slot;
      const bool log = state_->layout->tables[range.n].log;
      if (!use(keyOf(table, slot), log ? table.cell(slot, 0).value() : row)) break;
    }
    return true;
  }
  if (range.is(Tag::list)) {
    for (std::uint32_t i = 0; i < range.n; ++i)
      if (!use(Value::of(std::int64_t{i}), range.items[i])) break;
    return true;
  }
  if (!range.is(Tag::map)) return false;
  for (std::uint32_t i = 0; i < range.n; ++i)
    if (!use(range.key(i), range.value(i))) break;
  return true;
}

Value Machine::comprehension(const Node& n) {
  const Value range = evaluate(n.a);
  if (range.failed()) return range;
  std::vector<Value> items;
  std::size_t count = 0;
  std::optional<Value> decided, failure;
  const bool keys = range.is(Tag::map);
  Rows some;
  const auto node = static_cast<std::size_t>(&n - program_.nodes.data());
  const bool narrow = range.is(Tag::table) && node < program_.scanOf.size() && narrowed(program_.scanOf[node], some);
  const auto noBool = [&] { return arena.fail("no_such_overload", "expected a bool", n.at, n.source); };
  const bool walked = eachElement(
      range,
      [&](const Value& first, const Value& second) {
        if (n.flag) {
          locals_[n.slot] = first;
          locals_[n.slot + 1] = second;
        } else {
          locals_[n.slot] = keys ? first : second;
        }
        const Value item = locals_[n.slot];
        if (n.b != kNone) {
          const Value test = evaluate(n.b);
          const bool quantifier = n.op == Op::all || n.op == Op::exists;
          if (!test.is(Tag::boolean)) {
            if (!failure) failure = test.failed() ? test : noBool();
            return quantifier && steps_ > 0;
          }
          if (n.op == Op::all && !test.b) decided = Value::of(false);
          if (n.op == Op::exists && test.b) decided = Value::of(true);
          if (quantifier) return !decided;
          if (!test.b) return true;
          ++count;
        }
        if (n.op == Op::filter) items.push_back(item);
        if (n.op == Op::transform || n.op == Op::transformMap) {
          const Value made = evaluate(n.c);
          if (made.failed()) return failure = made, false;
          if (n.op == Op::transformMap) items.push_back(first);
          items.push_back(made);
        }
        return true;
      },
      narrow ? &some : nullptr);
  if (!walked) return arena.fail("no_such_overload", "only lists, maps and tables have elements", n.at, n.source);
  if (decided) return *decided;
  if (failure) return *failure;
  if (steps_ == 0) return tooLong();
  switch (n.op) {
    case Op::all: return Value::of(true);
    case Op::exists: return Value::of(false);
    case Op::existsOne: return Value::of(count == 1);
    default: return arena.listOf(items, n.op == Op::transformMap ? Tag::map : Tag::list);
  }
}

Value Machine::contains(const Value& item, const Value& in) {
  if (!in.is(Tag::map) && !in.is(Tag::list)) return fail("no_such_overload", "\"in\" needs a list, a map or a table");
  if (in.is(Tag::map) ? !spendFind(in, item) : !spendDeep(in)) return tooLong();
  if (in.is(Tag::map)) return Value::of(find(in, item) != nullptr);
  for (const Value& one : in.elements())
    if (equals(one, item)) return Value::of(true);
  return Value::of(false);
}

namespace {

constexpr std::int64_t kNanosPerMicro = 1000;

// A timestamp moved by nanoseconds; nothing: outside of the years 0001 to 9999.
std::optional<Value> moved(const Value& time, std::int64_t nanos) {
  __extension__ using Wide = __int128;
  const Wide all = Wide{time.i} * kNanosPerMicro + time.n + nanos;
  Wide micros = all / kNanosPerMicro, rest = all % kNanosPerMicro;
  if (rest < 0) rest += kNanosPerMicro, --micros;
  if (micros < kFirstTime.micros || micros > kLastTime.micros) return std::nullopt;
  Value out = Value::of(Time{static_cast<std::int64_t>(micros)});
  out.n = static_cast<std::uint32_t>(rest);
  return out;
}

template <class T>
bool checked(Op op, T a, T b, T& out) {
  if (op == Op::add) return !__builtin_add_overflow(a, b, &out);
  if (op == Op::subtract) return !__builtin_sub_overflow(a, b, &out);
  if (op == Op::multiply) return !__builtin_mul_overflow(a, b, &out);
  if (std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1)) return false;
  out = op == Op::divide ? a / b : a % b;
  return true;
}

}  // namespace

bool Machine::spendDeep(const Value& value) {
  if (!value.is(Tag::list) && !value.is(Tag::map)) return spend(1 + textSteps(value));
  // The keys of a map are looked for one by one.
  if (!spend(value.is(Tag::map) ? std::size_t{value.n} * value.n : value.n)) return false;
  for (std::size_t i = 0; i < (value.is(Tag::map) ? 2 * std::size_t{value.n} : value.n); ++i)
    if (!spendDeep(value.items[i])) return false;
  return true;
}

Value Machine::arithmetic(const Node& n) {
  const Value a = evaluate(n.a);
  if (a.failed()) return a;
  at_ = n.at;
  source_ = n.source;
  if (n.op == Op::negate) {
    if (a.is(Tag::real)) return Value::of(-a.d);
    if (!a.is(Tag::integer)) return fail("no_such_overload", "only numbers have a negative");
    return a.i == INT64_MIN ? overflow() : Value::of(-a.i);
  }
  const Value b = evaluate(n.b);
  if (b.failed()) return b;
  at_ = n.at;
  source_ = n.source;
  if (n.op == Op::in) return contains(a, b);
  if (n.op >= Op::equal && n.op <= Op::greaterEqual) return relation(n.op, a, b);
  if (a.tag == b.tag && a.isNumber()) return numbers(n.op, a, b);
  if (n.op == Op::add || n.op == Op::subtract) return sumOf(n.op, a, b);
  return noOverload(a, b);
}

Value Machine::noOverload(const Value& a, const Value& b) {
  return fail("no_such_overload", concat("this is not defined for ", tagName(a.tag), " and ", tagName(b.tag)));
}

Value Machine::relation(Op op, const Value& a, const Value& b) {
  if (op == Op::equal || op == Op::notEqual) {
    if (a.is(Tag::text) && b.is(Tag::text)) {
      if (a.n == b.n && !spend(textSteps(a))) return tooLong();
      const bool same = a.n == b.n && (a.chars == b.chars || a.str() == b.str());
      return Value::of(same == (op == Op::equal));
    }
    if ((a.is(Tag::list) || a.is(Tag::map)) && !spendDeep(a)) return tooLong();
    return Value::of(equals(a, b) == (op == Op::equal));
  }
  if (!spend(std::min(textSteps(a), textSteps(b)))) return tooLong();
  const int order = compare(a, b);
  if (order == 2) return a.isNumber() && b.isNumber() ? Value::of(false) : noOverload(a, b);
  return Value::of(op == Op::less        ? order < 0
                   : op == Op::lessEqual ? order <= 0
                   : op == Op::greater   ? order > 0
                                         : order >= 0);
}

Value Machine::numbers(Op op, const Value& a, const Value& b) {
  if (a.is(Tag::real)) {
    switch (op) {
      case Op::add: return Value::of(a.d + b.d);
      case Op::subtract: return Value::of(a.d - b.d);
      case Op::multiply: return Value::of(a.d * b.d);
      case Op::divide: return Value::of(a.d / b.d);
      default: return noOverload(a, b);
    }
  }
  if ((op == Op::divide || op == Op::modulo) && b.u == 0) return fail("divide_by_zero", "division by zero");
  const auto whole = [&]<class T>(T x, T y) {
    T out = 0;
    return checked(op, x, y, out) ? Value::of(out) : overflow();
  };
  return a.is(Tag::integer) ? whole(a.i, b.i) : whole(a.u, b.u);
}

// Times, and what is put one after the other.
Value Machine::sumOf(Op op, const Value& a, const Value& b) {
  const auto inYears = [&](std::optional<Value> made) {
    return made ? *made : fail("overflow", "the result lies outside of the years 0001 to 9999");
  };
  std::int64_t out = 0;
  if (op == Op::subtract && a.is(Tag::timestamp) && b.is(Tag::timestamp)) {
    __extension__ using Wide = __int128;
    const Wide nanos = (Wide{a.i} - b.i) * kNanosPerMicro + a.n - b.n;
    return nanos >= INT64_MIN && nanos <= INT64_MAX ? Value::nanos(static_cast<std::int64_t>(nanos)) : overflow();
  }
  if (a.is(Tag::timestamp) && b.is(Tag::duration)) {
    if (op == Op::subtract && b.i == INT64_MIN) return overflow();
    return inYears(moved(a, op == Op::add ? b.i : -b.i));
  }
  if (a.is(Tag::duration) && b.is(Tag::duration)) return checked(op, a.i, b.i, out) ? Value::nanos(out) : overflow();
  if (op == Op::subtract && a.is(Tag::date) && b.is(Tag::date)) return Value::of(a.i - b.i);
  if (a.is(Tag::date) && b.is(Tag::integer)) {
    if (!checked(op, a.i, b.i, out) || out < -719'162 || out > 2'932'896) return inYears(std::nullopt);
    return Value::of(Date{static_cast<std::int32_t>(out)});
  }
  if (op != Op::add) return noOverload(a, b);
  if (a.is(Tag::duration) && b.is(Tag::timestamp)) return inYears(moved(b, a.i));
  if (a.tag == b.tag && (a.is(Tag::text) || a.is(Tag::bytes))) {
    if (!spend(textSteps(a) + textSteps(b))) return tooLong();
    char* to = arena.bytes(std::size_t{a.n} + b.n);
    if (to == nullptr) return fail("limit", "the evaluation needs more than 16 MiB");
    std::copy_n(a.chars, a.n, to);
    std::copy_n(b.chars, b.n, to + a.n);
    return Value::text({to, std::size_t{a.n} + b.n}, a.tag);
  }
  if (!a.is(Tag::list) || !b.is(Tag::list)) return noOverload(a, b);
  if (!spend(std::size_t{a.n} + b.n)) return tooLong();
  std::vector<Value> items(a.elements().begin(), a.elements().end());
  items.insert(items.end(), b.elements().begin(), b.elements().end());
  return arena.listOf(items);
}

// ---- scripts

Ruling Machine::fault(const Value& failed) const { return {kernel::InvResult::notEvaluated, explain(failed)}; }

Ruling Machine::run(RuleState* writable, RuleJournal* journal) {
  writable_ = writable;
  journal_ = journal;
  return runSteps(program_.steps).value_or(Ruling{});
}

std::optional<Ruling> Machine::runSteps(const std::vector<Step>& steps) {
  for (const Step& step : steps)
    if (auto ruling = runStep(step)) return ruling;
  return std::nullopt;
}

std::optional<Ruling> Machine::runStep(const Step& step) {
  if (step.kind == Step::Kind::loop) return loop(step);
  if (step.kind == Step::Kind::setScalar || step.kind == Step::Kind::setCell || step.kind == Step::Kind::append)
    return write(step);
  const Value value = evaluate(step.expr);
  if (value.failed()) return fault(value);
  if (step.kind == Step::Kind::let) {
    locals_[step.slot] = value;
    return std::nullopt;
  }
  if (!value.is(Tag::boolean)) return fault(arena.fail("no_such_overload", "expected a bool", step.at, step.source));
  if (step.kind == Step::Kind::branch) return runSteps(value.b ? step.body : step.other);
  if (value.b) return std::nullopt;
  const Value message = evaluate(step.message);
  if (message.failed()) return fault(message);
  return Ruling{step.otherwise, display(message)};
}

std::optional<Ruling> Machine::loop(const Step& step) {
  const Value range = evaluate(step.expr);
  if (range.failed()) return fault(range);
  const bool keys = range.is(Tag::map);
  std::optional<Ruling> ruling;
  const bool walked = eachElement(range, [&](const Value& first, const Value& second) {
    locals_[step.slot] = keys ? first : second;
    ruling = runSteps(step.body);
    return !ruling;
  });
  if (!walked || steps_ == 0)
    return fault(
        walked ? tooLong()
               : arena.fail("no_such_overload", "only lists, maps and tables have elements", step.at, step.source));
  return ruling;
}

std::optional<Ruling> Machine::write(const Step& step) {
  Value value = evaluate(step.expr);
  if (value.failed()) return fault(value);
  const FieldDecl& field = state_->layout->fields[step.field];
  if (value.is(Tag::null) && field.isColumn) value = Value::absent();
  at_ = step.at;
  source_ = step.source;
  if (!spendDeep(value)) return fault(tooLong());  // it is copied
  written_ += deepBytes(value) + sizeof(Value);
  if (written_ > kWritesMax)
    return fault(fail("limit", concat(field.name, ": what the proposal writes would take more than ", kWritesMax,
                                      " bytes (", written_, ")")));
  if (!value.is(Tag::absent))
    if (std::string why = unfit(value, *field.type, field.name); !why.empty())
      return fault(fail("range", std::move(why)));
  if (step.kind == Step::Kind::setScalar) {
    journal_->setScalar(*writable_, step.field, Stored(value, *field.type));
    return std::nullopt;
  }
  std::string key;
  if (step.kind == Step::Kind::append) {
    key = kernel::nextLogKey(writable_->tables[field.table]);
  } else {
    const Value made = evaluate(step.key);
    if (made.failed()) return fault(made);
    if (made.is(Tag::row))
      key = writable_->tables[made.n].key(static_cast<Slot>(made.i));
    else if (made.is(Tag::text))
      key = std::string(made.str());
    else
      return fault(fail("no_such_overload", "a key is a string"));
  }
  try {
    const Slot slot = journal_->row(*writable_, field.table, key);
    journal_->setCell(*writable_, step.field, slot, Stored(value, *field.type));
  } catch (kernel::Fault& impossible) {
    return fault(fail("range", std::move(impossible.message)));
  }
  return std::nullopt;
}

}  // namespace witan::rules
