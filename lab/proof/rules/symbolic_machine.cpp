#include "lab/proof/rules/symbolic_machine.h"

#include <algorithm>
#include <bit>

namespace witan::rules::proof {

using kernel::FieldMask;
using Kind = Sym::Kind;

SymbolicState anyState(Terms& terms, const Layout& layout, unsigned rows, const z3::expr& clock,
                       std::vector<z3::expr>& assumed) {
  SymbolicState state{{}, {}, clock};
  for (const FieldDecl& field : layout.fields)
    state.scalars.push_back(field.isColumn ? terms.nothing() : terms.any(*field.type, "field " + field.name, assumed));
  for (const TableDecl& table : layout.tables) {
    Rows made;
    for (unsigned slot = 0; slot < rows; ++slot) {
      const std::string name = concat(table.name, "#", slot);
      made.keys.push_back(table.log ? terms.nothing() : terms.any(*typeOf(Type::Kind::text), name, assumed));
      for (unsigned before = 0; !table.log && before < slot; ++before)
        assumed.push_back(made.keys[before].e != made.keys[slot].e);
      if (!table.log) assumed.push_back(made.keys[slot].e != terms.whole(terms.codeOf("")));
      std::vector<Cell> cells;
      for (const std::uint32_t field : table.fields) {
        const std::string cell = concat(name, ".", layout.fields[field].name);
        Sym value = terms.any(*layout.fields[field].type, cell, assumed);
        value.none = terms.no;  // a cell that holds null is empty
        cells.push_back({terms.context.bool_const((cell + "?").c_str()), std::move(value)});
        if (table.log && slot > 0) assumed.push_back(z3::implies(cells[0].there, made.cells[slot - 1][0].there));
      }
      made.cells.push_back(std::move(cells));
    }
    state.tables.push_back(std::move(made));
  }
  return state;
}

namespace {

z3::expr sameCells(const Terms& t, const Cell& a, const Cell& b) {
  return t.both(a.there == b.there, t.either(t.negated(a.there), t.same(a.value, b.value)));
}

// How often the fact stands in a log; none: how many stand in it.
z3::expr countIn(const Terms& t, const Sym* fact, const Rows& log) {
  z3::expr count = t.whole(0);
  for (const auto& cells : log.cells) {
    const z3::expr one = t.both(cells[0].there, fact == nullptr ? t.yes : t.same(*fact, cells[0].value));
    count = count + t.pick(one, t.whole(1), t.whole(0));
  }
  return count;
}

// The facts of both, in any order.
z3::expr sameLogs(const Terms& t, const Rows& a, const Rows& b) {
  z3::expr all = countIn(t, nullptr, a) == countIn(t, nullptr, b);
  for (const auto& cells : a.cells) {
    const z3::expr often = countIn(t, &cells[0].value, a) == countIn(t, &cells[0].value, b);
    all = t.both(all, t.either(t.negated(cells[0].there), often));
  }
  return all;
}

}  // namespace

z3::expr sameStates(const Terms& t, const Layout& layout, const SymbolicState& a, const SymbolicState& b) {
  z3::expr all = t.yes;
  for (std::size_t i = 0; i < a.scalars.size(); ++i)
    if (!layout.fields[i].isColumn) all = t.both(all, t.same(a.scalars[i], b.scalars[i]));
  for (std::size_t table = 0; table < a.tables.size(); ++table) {
    if (layout.tables[table].log) {
      all = t.both(all, sameLogs(t, a.tables[table], b.tables[table]));
      continue;
    }
    for (std::size_t slot = 0; slot < a.tables[table].cells.size(); ++slot)
      for (std::size_t column = 0; column < a.tables[table].cells[slot].size(); ++column)
        all = t.both(all, sameCells(t, a.tables[table].cells[slot][column], b.tables[table].cells[slot][column]));
  }
  return all;
}

// ---- expressions

Sym SymbolicMachine::evaluate(std::uint32_t node) {
  terms_.goOn();
  const Node& n = program_.nodes[node];
  try {
    return evaluateOne(n);
  } catch (NoTerm& none) {
    if (none.why.find(" (") == std::string::npos) none.why += concat(" (", program_.place(n.source, n.at), ")");
    throw;
  }
}

// Null fails where a value is needed.
Sym SymbolicMachine::strict(std::uint32_t node) {
  Sym value = evaluate(node);
  if (value.kind == Kind::optional) return value;
  value.err = terms_.either(value.err, value.none);
  value.none = terms_.no;
  return value;
}

Sym SymbolicMachine::evaluateOne(const Node& n) {
  switch (n.op) {
    case Op::constant: return terms_.constant(program_.constants[n.a]);
    case Op::failure: return terms_.failed();
    case Op::local: return locals_[n.slot];
    case Op::now:
    case Op::clock: return terms_.number(Tag::timestamp, now_);
    case Op::scalar: return state_->scalars[n.a];
    case Op::logicalAnd:
    case Op::logicalOr:
    case Op::logicalNot:
    case Op::choice: return logic(n);
    case Op::rowOf:
    case Op::rowKey:
    case Op::inTable:
    case Op::tableSize:
    case Op::wholeTable: return access(n);
    case Op::cell:
    case Op::hasCell:
    case Op::optionalCell: return cellOf(n);
    case Op::member:
    case Op::hasMember:
    case Op::select:
    case Op::hasSelect:
    case Op::optionalSelect:
    case Op::orValue: return element(n);
    case Op::index:
    case Op::optionalIndex: return indexed(n);
    case Op::list:
    case Op::map: return aggregate(n);
    case Op::call: return call(n);
    case Op::waived: {
      const Sym id = evaluate(n.a), subject = evaluate(n.b);
      const bool texts = id.kind == Kind::text && subject.kind == Kind::text;
      const z3::expr named = terms_.both(terms_.negated(id.none), terms_.negated(subject.none));
      Sym made = terms_.boolean(texts ? terms_.both(named, terms_.waived(id.e, subject.e)) : terms_.no);
      made.err = terms_.either(id.err, subject.err);
      return made;
    }
    case Op::bind: {
      locals_[n.slot] = evaluate(n.a);
      const z3::expr err = std::exchange(locals_[n.slot].err, terms_.no);
      Sym made = evaluate(n.b);
      made.err = terms_.either(err, made.err);
      return made;
    }
    case Op::optionalMap: {
      const Sym from = evaluate(n.a);
      if (from.kind != Kind::optional) throw NoTerm{"an optional of no known form"};
      if (from.items.empty()) return from;
      locals_[n.slot] = from.items[0].value;
      Sym to = evaluate(n.b);
      to.err = terms_.both(terms_.negated(from.none), to.err);
      Sym made = n.flag ? to : terms_.optionalOf(to, from.none);
      made.none = terms_.either(from.none, made.none);
      made.err = terms_.either(from.err, made.err);
      return made;
    }
    case Op::all:
    case Op::exists:
    case Op::existsOne:
    case Op::filter:
    case Op::transform:
    case Op::transformMap: return comprehension(n);
    case Op::changed: throw NoTerm{"changed()"};
    default: return arithmetic(n);
  }
}

Sym SymbolicMachine::logic(const Node& n) {
  const Sym a = strict(n.a);
  if (n.op == Op::logicalNot || n.op == Op::choice) {
    if (a.kind != Kind::boolean) return terms_.failed();
    if (n.op == Op::logicalNot) {
      Sym made = terms_.boolean(terms_.negated(a.e));
      made.err = a.err;
      return made;
    }
    if (a.e.is_true() || a.e.is_false()) {
      Sym made = evaluate(a.e.is_true() ? n.b : n.c);
      made.err = terms_.either(a.err, made.err);
      return made;
    }
    Sym made = terms_.choose(a.e, evaluate(n.b), evaluate(n.c));
    made.err = terms_.either(a.err, made.err);
    return made;
  }
  const bool decides = n.op == Op::logicalOr;
  const auto deciding = [&](const Sym& one) {
    if (one.kind != Kind::boolean) return terms_.no;
    return terms_.both(terms_.negated(one.err), decides ? one.e : terms_.negated(one.e));
  };
  const z3::expr first = deciding(a);
  if (first.is_true()) return terms_.boolean(decides ? terms_.yes : terms_.no);
  const Sym b = strict(n.b);
  const z3::expr decided = terms_.either(first, deciding(b));
  Sym made = terms_.boolean(decides ? decided : terms_.negated(decided));
  const z3::expr wrong = a.kind == Kind::boolean && b.kind == Kind::boolean ? terms_.no : terms_.yes;
  made.err = terms_.both(terms_.negated(decided), terms_.either(wrong, terms_.either(a.err, b.err)));
  return made;
}

z3::expr SymbolicMachine::sees(const SymbolicState& state, std::uint32_t table, unsigned slot) const {
  const TableDecl& decl = layout_.tables[table];
  z3::expr any = terms_.no;
  for (std::size_t i = 0; i < decl.fields.size(); ++i)
    if ((visible_ >> decl.fields[i] & 1) != 0) any = terms_.either(any, state.tables[table].cells[slot][i].there);
  return any;
}

Sym SymbolicMachine::rowAt(std::uint32_t table, unsigned slot) const {
  if (layout_.tables[table].log) return state_->tables[table].cells[slot][0].value;
  Sym row = terms_.make(Kind::row, Tag::row, terms_.no);
  row.table = table;
  row.items.push_back({terms_.yes, terms_.nothing(), {}, slot});
  return row;
}

Sym SymbolicMachine::access(const Node& n) {
  if (n.op == Op::wholeTable) throw NoTerm{"a table outside of a loop"};
  if (n.op == Op::tableSize) {
    z3::expr size = terms_.whole(0);
    for (unsigned slot = 0; slot < state_->tables[n.a].cells.size(); ++slot)
      size = size + terms_.pick(sees(*state_, n.a, slot), terms_.whole(1), terms_.whole(0));
    return terms_.number(Tag::integer, size);
  }
  if (n.op == Op::rowKey) {
    const Sym row = evaluate(n.a);
    if (row.kind != Kind::row) throw NoTerm{"the key of a fact"};
    Sym made = terms_.make(Kind::text, Tag::text, terms_.whole(0));
    for (const Item& item : row.items)
      made.e = terms_.pick(item.on, state_->tables[row.table].keys[item.slot].e, made.e);
    made.err = row.err;
    return made;
  }
  const Sym key = evaluate(n.op == Op::rowOf ? n.b : n.a);  // null is the key of no row
  const std::uint32_t table = n.op == Op::rowOf ? n.a : n.b;
  Sym row = terms_.make(Kind::row, Tag::row, terms_.no);
  row.table = table;
  z3::expr found = terms_.no;
  for (unsigned slot = 0; slot < state_->tables[table].keys.size(); ++slot) {
    const z3::expr here = terms_.both(terms_.same(key, state_->tables[table].keys[slot]), sees(*state_, table, slot));
    if (here.is_false()) continue;
    found = terms_.either(found, here);
    row.items.push_back({here, terms_.nothing(), {}, slot});
  }
  if (n.op == Op::inTable) {
    Sym made = terms_.boolean(found);
    made.err = key.err;
    return made;
  }
  row.none = terms_.both(terms_.negated(key.err), terms_.negated(found));  // such a row is missing
  row.err = terms_.either(key.err, row.none);
  return row;
}

Sym SymbolicMachine::cellOf(const Node& n) {
  const Sym row = evaluate(n.a);
  if (row.kind != Kind::row) throw NoTerm{"a cell of what is no row"};
  const bool named = program_.nodes[n.a].op == Op::rowOf;
  std::optional<Sym> value;
  z3::expr there = terms_.no;
  for (const Item& item : row.items) {
    const Cell& cell = state_->tables[row.table].cells[item.slot][n.c];
    there = terms_.either(there, terms_.both(item.on, cell.there));
    value = value ? terms_.choose(item.on, cell.value, *value) : cell.value;
  }
  // Of a row that does not exist nothing is there, if it is asked for by its key.
  const z3::expr err = named && n.op != Op::cell ? terms_.both(row.err, terms_.negated(row.none)) : row.err;
  Sym made = n.op == Op::hasCell ? terms_.boolean(there)
             : !value            ? terms_.nothing()
             : n.op == Op::cell  ? *value
                                 : terms_.optionalOf(*value, terms_.negated(there));
  if (!value && n.op == Op::optionalCell) made = terms_.constant(Value::none());
  made.err = terms_.either(err, n.op == Op::cell ? terms_.negated(there) : terms_.no);
  return made;
}

Sym SymbolicMachine::element(const Node& n) {
  Sym in = evaluate(n.a);
  if (n.op == Op::orValue) {
    if (in.kind != Kind::optional) return terms_.failed();
    Sym other = evaluate(n.b);
    Sym made = in.items.empty() ? other : terms_.choose(in.none, other, in.items[0].value);
    made.err = terms_.either(in.err, made.err);
    return made;
  }
  if (in.kind != Kind::optional) in.err = terms_.either(in.err, in.none);
  if (n.op == Op::member || n.op == Op::hasMember) {
    if (in.kind != Kind::list || n.b >= in.items.size()) return terms_.failed();
    Sym made = in.items[n.b].value;
    if (n.op == Op::hasMember) made = terms_.boolean(terms_.negated(made.none));
    made.err = terms_.either(in.err, made.err);
    return made;
  }
  const Sym key = terms_.constant(program_.constants[n.b]);
  const bool optional = in.kind == Kind::optional;
  if (optional && in.items.empty()) return n.op == Op::hasSelect ? terms_.boolean(terms_.no) : in;
  const Sym& map = optional ? in.items[0].value : in;
  if (map.kind != Kind::map) return terms_.failed();
  Sym made = terms_.entry(map, key);
  const z3::expr missing = optional ? terms_.either(in.none, made.err) : made.err;
  if (n.op == Op::hasSelect) {
    made = terms_.boolean(terms_.negated(missing));
  } else if (optional || n.op == Op::optionalSelect) {
    made.err = terms_.no;
    made = terms_.optionalOf(made, missing);
  }
  made.err = terms_.either(in.err, made.err);
  return made;
}

Sym SymbolicMachine::indexed(const Node& n) {
  Sym in = evaluate(n.a);
  const Sym key = strict(n.b);
  const bool optional = in.kind == Kind::optional;
  if (optional && in.items.empty()) {
    in.err = terms_.either(in.err, key.err);
    return in;
  }
  const Sym& from = optional ? in.items[0].value : in;
  if (optional && !from.none.is_false()) throw NoTerm{"an index into what may be null"};
  const bool place = key.tag == Tag::integer || key.tag == Tag::uinteger;
  if (from.kind != Kind::map && (from.kind != Kind::list || !place)) throw NoTerm{"an index"};
  if (from.kind == Kind::map && !place && key.tag != Tag::text && key.tag != Tag::boolean)
    throw NoTerm{"this key of a map"};
  Sym made = from.kind == Kind::map ? terms_.entry(from, key) : terms_.at(from, key.e);
  const z3::expr err = terms_.either(key.err, optional ? in.err : terms_.either(in.err, in.none));
  if (optional || n.op == Op::optionalIndex) {
    const z3::expr missing = optional ? terms_.either(in.none, made.err) : made.err;
    made.err = terms_.no;
    made = terms_.optionalOf(made, missing);
  }
  made.err = terms_.either(err, made.err);
  return made;
}

Sym SymbolicMachine::aggregate(const Node& n) {
  const bool map = n.op == Op::map;
  Sym made = terms_.make(map ? Kind::map : Kind::list, map ? Tag::map : Tag::list, terms_.no);
  for (std::uint32_t i = 0; i < n.b; i += map ? 2 : 1) {
    Item item{terms_.yes, evaluate(program_.args[n.a + i + (map ? 1 : 0)]), {}, 0};
    if (map) {
      item.key.push_back(strict(program_.args[n.a + i]));
      const Tag tag = item.key[0].tag;
      if (tag != Tag::text && tag != Tag::integer && tag != Tag::uinteger && tag != Tag::boolean)
        throw NoTerm{"this key of a map"};
      made.err = terms_.either(made.err, item.key[0].err);
      for (const Item& before : made.items)
        made.err = terms_.either(made.err, terms_.both(before.on, terms_.same(before.key[0], item.key[0])));
    }
    made.err = terms_.either(made.err, item.value.err);
    if (program_.constants[n.c].items[map ? i / 2 : i].isTrue()) {  // an optional element
      const Sym from = item.value;
      if (from.kind != Kind::optional) throw NoTerm{"an optional element"};
      if (from.items.empty()) continue;
      item.on = terms_.negated(from.none);
      item.value = from.items[0].value;
    }
    item.value.err = terms_.no;
    made.items.push_back(std::move(item));
  }
  return made;
}

// ---- functions

Sym SymbolicMachine::call(const Node& n) {
  std::vector<Sym> args;
  z3::expr err = terms_.no;
  for (std::uint32_t i = 0; i < n.b; ++i) {
    args.push_back(evaluate(program_.args[n.a + i]));
    err = terms_.either(err, args.back().err);
  }
  const Function* function = functionOf(program_.functions[n.c]);
  const std::string_view name = function->name;
  std::optional<Sym> made = optionalFunction(name, args);
  if (!made) {
    for (const Sym& arg : args) err = terms_.either(err, arg.kind == Kind::optional ? terms_.no : arg.none);
    made = listFunction(name, args);
  }
  if (!made) made = conversion(name, args);
  if (!made) made = terms_.apply(*function, args);
  made->err = terms_.either(err, made->err);
  return *made;
}

std::optional<Sym> SymbolicMachine::optionalFunction(std::string_view name, const std::vector<Sym>& args) {
  if (name == "dyn") return args[0];
  if (name == "optional.none") return terms_.constant(Value::none());
  if (name == "optional.of") return terms_.optionalOf(args[0], terms_.no);
  if (args.empty() || args[0].kind != Kind::optional) return std::nullopt;
  if (name == "hasValue") return terms_.boolean(terms_.negated(args[0].none));
  if (name == "value") {
    Sym made = args[0].items.empty() ? terms_.failed() : args[0].items[0].value;
    made.err = terms_.either(made.err, args[0].none);
    return made;
  }
  if (name == "or") return terms_.choose(args[0].none, args[1], args[0]);
  return std::nullopt;
}

std::optional<Sym> SymbolicMachine::listFunction(std::string_view name, const std::vector<Sym>& args) {
  const bool list = !args.empty() && args[0].kind == Kind::list;
  if (name == "size" && (list || args[0].kind == Kind::map)) return terms_.number(Tag::integer, terms_.sizeOf(args[0]));
  for (const Sym& arg : args)
    for (const Item& item : arg.items)
      if (list && !item.value.none.is_false()) throw NoTerm{concat("the function ", name, " of what may be null")};
  if (name == "math.greatest" || name == "math.least") {
    std::vector<Item> items;
    if (list && args.size() == 1)
      items = args[0].items;
    else
      for (const Sym& arg : args) items.push_back({terms_.yes, arg, {}, 0});
    std::optional<Sym> best;
    z3::expr any = terms_.no;
    for (const Item& item : items) {
      if (item.value.kind != Kind::number || item.value.tag != items[0].value.tag || !item.value.none.is_false())
        throw NoTerm{concat("the function ", name)};
      const bool first = !best;
      if (first) best = item.value;
      const z3::expr better = name == "math.least" ? item.value.e < best->e : item.value.e > best->e;
      if (!first)
        best = terms_.choose(terms_.both(item.on, terms_.either(terms_.negated(any), better)), item.value, *best);
      any = terms_.either(any, item.on);
    }
    if (!best) return terms_.failed();
    best->err = terms_.negated(any);
    return best;
  }
  if (!list) return std::nullopt;
  if (name == "math.sum") {
    Sym sum = terms_.number(Tag::integer, terms_.whole(0));
    for (const Item& item : args[0].items) {
      if (item.value.tag != Tag::integer) throw NoTerm{"a sum of doubles"};
      sum.e = sum.e + terms_.pick(item.on, item.value.e, terms_.whole(0));
      sum.err = terms_.either(sum.err, bounded(Tag::integer, sum.e).err);
    }
    return sum;
  }
  Sym made = terms_.make(Kind::list, Tag::list, terms_.no);
  if (name == "distinct") {
    for (const Item& item : args[0].items) {
      if (item.value.kind == Kind::list || item.value.kind == Kind::map)
        made.err = terms_.either(made.err, item.on);  // to compare those has no bound
      z3::expr twice = terms_.no;
      for (const Item& before : made.items)
        twice = terms_.either(twice, terms_.both(before.on, terms_.same(before.value, item.value)));
      made.items.push_back({terms_.both(item.on, terms_.negated(twice)), item.value, {}, 0});
    }
    return made;
  }
  if (name == "flatten") {
    for (const Item& item : args[0].items) {
      if (item.value.kind != Kind::list) made.err = terms_.either(made.err, item.on);
      for (const Item& inner : item.value.items)
        made.items.push_back({terms_.both(item.on, inner.on), inner.value, {}, 0});
    }
    return made;
  }
  return std::nullopt;
}

std::optional<Sym> SymbolicMachine::conversion(std::string_view name, const std::vector<Sym>& args) {
  if (args.size() != 1) return std::nullopt;
  const Sym& a = args[0];
  const z3::expr day = terms_.whole(kMicrosPerDay), second = terms_.whole(kMicrosPerSecond);
  if (name == "string" && a.tag == Tag::text) return a;
  if (a.kind != Kind::number || a.tag == Tag::real) return std::nullopt;
  const bool whole = a.tag == Tag::integer || a.tag == Tag::uinteger;
  if (name == "int" && a.tag == Tag::timestamp) return terms_.number(Tag::integer, a.e / second);
  if (whole && (name == "int" || name == "uint")) return bounded(name == "int" ? Tag::integer : Tag::uinteger, a.e);
  if (name == "timestamp" && a.tag == Tag::timestamp) return a;
  if (name == "timestamp" && a.tag == Tag::date) return bounded(Tag::timestamp, a.e * day);
  if (name == "timestamp" && a.tag == Tag::integer) return bounded(Tag::timestamp, a.e * second);
  if (name == "date" && a.tag == Tag::date) return a;
  if (name == "date" && a.tag == Tag::timestamp) return terms_.number(Tag::date, a.e / day);
  if (name == "duration" && a.tag == Tag::duration) return a;
  if (name == "duration" && a.tag == Tag::integer) return bounded(Tag::duration, a.e * second);
  if (name == "math.abs" && whole) return bounded(a.tag, terms_.pick(a.e < 0, -a.e, a.e));
  return std::nullopt;  // apply() knows no overload of another type
}

// ---- operators

// A number that fails outside of its type's range.
Sym SymbolicMachine::bounded(Tag tag, const z3::expr& e) const {
  Sym made = terms_.number(tag, e.simplify());
  const z3::expr within = terms_.inRange(tag, made.e);
  made.err = terms_.negated(made.e.is_numeral() ? within.simplify() : within);
  return made;
}

Sym SymbolicMachine::whole(Op op, const Sym& a, const Sym& b) {
  if (op == Op::add) return bounded(a.tag, a.e + b.e);
  if (op == Op::subtract) return bounded(a.tag, a.e - b.e);
  if (op == Op::multiply) return bounded(a.tag, a.e * b.e);
  // Towards zero, where Z3 rounds down for a divisor above it.
  const z3::expr size = terms_.pick(b.e < 0, -b.e, b.e), of = terms_.pick(a.e < 0, -a.e, a.e);
  const Sym quotient = bounded(a.tag, terms_.pick((a.e < 0) == (b.e < 0), of / size, -(of / size)));
  Sym made = op == Op::divide ? quotient : terms_.number(a.tag, a.e - quotient.e * b.e);
  made.err = terms_.either(quotient.err, (b.e == 0).simplify());
  return made;
}

Sym SymbolicMachine::sumOf(Op op, const Sym& a, const Sym& b) {
  if (a.tag == Tag::real || b.tag == Tag::real) throw NoTerm{"computing with doubles"};
  if (op != Op::add && op != Op::subtract) return terms_.failed();
  const bool adds = op == Op::add;
  const z3::expr e = adds ? a.e + b.e : a.e - b.e;
  if (a.tag == Tag::timestamp && b.tag == Tag::timestamp && !adds) return bounded(Tag::duration, e);
  if (a.tag == Tag::timestamp && b.tag == Tag::duration) return bounded(Tag::timestamp, e);
  if (a.tag == Tag::duration && b.tag == Tag::timestamp && adds) return bounded(Tag::timestamp, e);
  if (a.tag == Tag::duration && b.tag == Tag::duration) return bounded(Tag::duration, e);
  if (a.tag == Tag::date && b.tag == Tag::date && !adds) return terms_.number(Tag::integer, e);
  if (a.tag == Tag::date && b.tag == Tag::integer) return bounded(Tag::date, e);
  return terms_.failed();
}

Sym SymbolicMachine::relation(Op op, const Sym& a, const Sym& b) {
  if (op == Op::equal || op == Op::notEqual) {
    const z3::expr same = terms_.same(a, b);
    return terms_.boolean(op == Op::equal ? same : terms_.negated(same));
  }
  if (a.kind != Kind::number || b.kind != Kind::number) throw NoTerm{"an order of texts"};
  if (!comparable(a.tag, b.tag)) return terms_.failed();
  terms_.mayCompare(a, b);
  return terms_.boolean(op == Op::less        ? a.e < b.e
                        : op == Op::lessEqual ? a.e <= b.e
                        : op == Op::greater   ? a.e > b.e
                                              : a.e >= b.e);
}

Sym SymbolicMachine::arithmetic(const Node& n) {
  const bool equality = n.op == Op::equal || n.op == Op::notEqual || n.op == Op::in;
  const Sym a = equality ? evaluate(n.a) : strict(n.a);
  Sym made = terms_.failed();
  if (n.op == Op::negate) {
    if (a.tag == Tag::real) throw NoTerm{"computing with doubles"};
    if (a.tag == Tag::integer) made = bounded(a.tag, -a.e);
    made.err = terms_.either(made.err, a.err);
    return made;
  }
  const Sym b = equality && n.op != Op::in ? evaluate(n.b) : strict(n.b);
  if (n.op == Op::in) {
    if (b.kind != Kind::list && b.kind != Kind::map) throw NoTerm{"what \"in\" asks"};
    z3::expr found = terms_.no;
    for (const Item& item : b.items)
      found = terms_.either(found, terms_.both(item.on, terms_.same(item.key.empty() ? item.value : item.key[0], a)));
    made = terms_.boolean(found);
  } else if (n.op >= Op::equal && n.op <= Op::greaterEqual) {
    made = relation(n.op, a, b);
  } else if (a.kind == Kind::list && b.kind == Kind::list && n.op == Op::add) {
    made = a;
    made.items.insert(made.items.end(), b.items.begin(), b.items.end());
  } else if (a.kind == Kind::text && b.kind == Kind::text && n.op == Op::add) {
    made = terms_.apply({"_+_", false, *findOperator("_+_"), nullptr, false}, {a, b});
  } else if (a.kind != Kind::number || b.kind != Kind::number) {
    throw NoTerm{"this computation"};
  } else {
    made = a.tag == b.tag && (a.tag == Tag::integer || a.tag == Tag::uinteger) ? whole(n.op, a, b) : sumOf(n.op, a, b);
  }
  made.err = terms_.either(made.err, terms_.either(a.err, b.err));
  return made;
}

// ---- loops

// The elements of a range; `key` is the first variable of two.
std::vector<Item> SymbolicMachine::elementsOf(const Sym& range, std::uint32_t node) {
  std::vector<Item> out;
  if (const Node& of = program_.nodes[node]; of.op == Op::wholeTable) {
    for (unsigned slot = 0; slot < state_->tables[of.a].cells.size(); ++slot)
      out.push_back({sees(*state_, of.a, slot), rowAt(of.a, slot), {state_->tables[of.a].keys[slot]}, slot});
    return out;
  }
  z3::expr place = terms_.whole(0);
  for (const Item& item : range.items) {
    out.push_back(item);
    if (range.kind == Kind::list) out.back().key = {terms_.number(Tag::integer, place.simplify())};
    place = place + terms_.pick(item.on, terms_.whole(1), terms_.whole(0));
  }
  if (range.kind != Kind::list && range.kind != Kind::map) throw NoTerm{"a loop over what is no list"};
  return out;
}

Sym SymbolicMachine::comprehension(const Node& n) {
  const bool table = program_.nodes[n.a].op == Op::wholeTable;
  const Sym range = table ? terms_.nothing() : strict(n.a);
  if (table && n.flag && layout_.tables[program_.nodes[n.a].a].log) throw NoTerm{"the keys of a log"};
  const bool map = n.op == Op::transformMap, keys = range.kind == Kind::map;
  Sym made = terms_.make(map ? Kind::map : Kind::list, map ? Tag::map : Tag::list, terms_.no);
  z3::expr decided = terms_.no, failed = terms_.no, count = terms_.whole(0);
  for (Item& item : elementsOf(range, n.a)) {
    if (n.flag) {
      locals_[n.slot] = item.key[0];
      locals_[n.slot + 1] = item.value;
    } else {
      locals_[n.slot] = keys ? item.key[0] : item.value;
    }
    const Sym given = locals_[n.slot];
    Item out{item.on, given, {}, 0};
    if (n.b != kNone) {
      const Sym test = strict(n.b);
      if (test.kind != Kind::boolean) throw NoTerm{"a test of no known form"};
      failed = terms_.either(failed, terms_.both(item.on, test.err));
      out.on = terms_.both(item.on, terms_.both(terms_.negated(test.err), test.e));
      const z3::expr against = terms_.both(item.on, terms_.both(terms_.negated(test.err), terms_.negated(test.e)));
      decided = terms_.either(decided, n.op == Op::all ? against : out.on);
      count = count + terms_.pick(out.on, terms_.whole(1), terms_.whole(0));
    }
    if (n.op == Op::transform || map) {
      out.value = evaluate(n.c);
      failed = terms_.either(failed, terms_.both(out.on, out.value.err));
      out.value.err = terms_.no;
      if (map) out.key = {item.key[0]};
    }
    if (!out.on.is_false()) made.items.push_back(std::move(out));
  }
  if (n.op == Op::all || n.op == Op::exists) {
    made = terms_.boolean(n.op == Op::all ? terms_.negated(decided) : decided);
    failed = terms_.both(failed, terms_.negated(decided));
  }
  if (n.op == Op::existsOne) made = terms_.boolean(count == 1);
  made.err = terms_.either(made.err, terms_.either(range.err, failed));
  return made;
}

}  // namespace witan::rules::proof
