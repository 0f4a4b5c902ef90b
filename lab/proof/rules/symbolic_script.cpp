// SymbolicMachine: scripts, which write states.
#include <algorithm>

#include "lab/proof/rules/symbolic_machine.h"

namespace witan::rules::proof {

using Kind = Sym::Kind;

void SymbolicMachine::run(SymbolicState* writable) {
  writable_ = writable;
  if (writable != nullptr) state_ = writable;
  runSteps(program_.steps, terms_.yes);
}

// `path`: under which the steps are reached. The result: under which what follows is.
z3::expr SymbolicMachine::runSteps(const std::vector<Step>& steps, z3::expr path) {
  for (const Step& step : steps) {
    if (path.is_false()) break;
    try {
      path = runStep(step, path);
    } catch (NoTerm& none) {
      if (none.why.find(" (") == std::string::npos) none.why += concat(" (", program_.place(step.source, step.at), ")");
      throw;
    }
  }
  return path;
}

z3::expr SymbolicMachine::runStep(const Step& step, const z3::expr& path) {
  using StepKind = Step::Kind;
  if (step.kind == StepKind::loop) return loop(step, path);
  if (step.kind == StepKind::setScalar || step.kind == StepKind::setCell || step.kind == StepKind::append) {
    const z3::expr before = fault;
    write(step, path);
    return z3::eq(before, fault) ? path : terms_.both(path, terms_.negated(fault));
  }
  Sym value = step.kind == StepKind::let ? evaluate(step.expr) : strict(step.expr);
  fault = terms_.either(fault, terms_.both(path, value.err));
  const z3::expr on = terms_.both(path, terms_.negated(value.err));
  if (step.kind == StepKind::let) {
    value.err = terms_.no;
    locals_[step.slot] = std::move(value);
    return on;
  }
  if (value.kind != Kind::boolean) throw NoTerm{"a condition of no known form"};
  if (step.kind == StepKind::branch) {
    const z3::expr then = runSteps(step.body, terms_.both(on, value.e));
    return terms_.either(then, runSteps(step.other, terms_.both(on, terms_.negated(value.e))));
  }
  z3::expr& against = step.otherwise == kernel::InvResult::notEvaluated ? fault : refused;
  against = terms_.either(against, terms_.both(on, terms_.negated(value.e)));
  return terms_.both(on, value.e);
}

// Whether steps write rows of the table but for the one that a loop is at. The loop would visit what they add.
bool SymbolicMachine::addsRows(const std::vector<Step>& steps, std::uint32_t table, std::uint16_t slot) const {
  return std::ranges::any_of(steps, [&](const Step& step) {
    const bool writes = step.kind == Step::Kind::setCell || step.kind == Step::Kind::append;
    if (!writes) return addsRows(step.body, table, slot) || addsRows(step.other, table, slot);
    const Node* key = step.kind == Step::Kind::setCell ? &program_.nodes[step.key] : nullptr;
    if (key != nullptr && key->op == Op::rowKey) key = &program_.nodes[key->a];
    const bool here = key != nullptr && key->op == Op::local && key->slot == slot;
    return layout_.fields[step.field].table == table && !here;
  });
}

z3::expr SymbolicMachine::loop(const Step& step, z3::expr path) {
  const Node& of = program_.nodes[step.expr];
  const bool table = of.op == Op::wholeTable;
  const Sym range = table ? terms_.nothing() : strict(step.expr);
  if (table && addsRows(step.body, of.a, step.slot)) throw NoTerm{"a loop over a table that it may change"};
  fault = terms_.either(fault, terms_.both(path, range.err));
  path = terms_.both(path, terms_.negated(range.err));
  for (const Item& item : elementsOf(range, step.expr)) {
    locals_[step.slot] = range.kind == Kind::map ? item.key[0] : item.value;
    path = terms_.either(terms_.both(path, terms_.negated(item.on)), runSteps(step.body, terms_.both(path, item.on)));
  }
  return path;
}

// What rules/cel/type.h's unfit() says.
z3::expr SymbolicMachine::unfit(const Sym& value, const Type& type) const {
  if (value.kind == Kind::nothing) return type.nullable ? terms_.no : terms_.yes;
  if (value.tag != tagOf(type))
    return terms_.either(terms_.negated(value.none), type.nullable ? terms_.no : terms_.yes);
  z3::expr bad = terms_.no;
  if (!type.words.empty() && type.kind == Type::Kind::text) {
    z3::expr word = terms_.no;
    for (const std::string& one : type.words)
      word = terms_.either(word, (value.e == terms_.whole(terms_.codeOf(one))).simplify());
    bad = terms_.negated(word);
  }
  if (type.kind == Type::Kind::record && value.items.size() != type.params.size()) return terms_.yes;
  if (type.kind == Type::Kind::record || type.kind == Type::Kind::list || type.kind == Type::Kind::map)
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const Type& of = *type.params[type.kind == Type::Kind::record ? i : type.kind == Type::Kind::map ? 1 : 0];
      bad = terms_.either(bad, terms_.both(value.items[i].on, unfit(value.items[i].value, of)));
      if (type.kind == Type::Kind::map)
        bad = terms_.either(bad, terms_.both(value.items[i].on, unfit(value.items[i].key[0], *type.params[0])));
    }
  return type.nullable ? terms_.both(terms_.negated(value.none), bad) : terms_.either(value.none, bad);
}

void SymbolicMachine::put(Cell& cell, const z3::expr& here, const Sym& value) const {
  cell.there = terms_.pick(here, terms_.negated(value.none), cell.there);
  Sym kept = value;
  kept.none = terms_.no;
  cell.value = terms_.choose(here, kept, cell.value);
}

void SymbolicMachine::write(const Step& step, const z3::expr& path) {
  const FieldDecl& field = layout_.fields[step.field];
  Sym value = evaluate(step.expr);
  const z3::expr some = field.isColumn ? terms_.negated(value.none) : terms_.yes;
  z3::expr wrong = terms_.either(value.err, terms_.both(some, unfit(value, *field.type)));
  value.err = terms_.no;
  if (step.kind == Step::Kind::setScalar) {
    writable_->scalars[step.field] = terms_.choose(path, value, writable_->scalars[step.field]);
    fault = terms_.either(fault, terms_.both(path, wrong));
    return;
  }
  Rows& rows = writable_->tables[field.table];
  z3::expr placed = terms_.no;
  if (step.kind == Step::Kind::append) {
    for (auto& cells : rows.cells) {
      const z3::expr here = terms_.both(path, terms_.both(terms_.negated(placed), terms_.negated(cells[0].there)));
      placed = terms_.either(placed, terms_.negated(cells[0].there));
      put(cells[0], here, value);
    }
  } else {
    const Sym key = strict(step.key);
    wrong = terms_.either(wrong, key.err);
    for (unsigned slot = 0; slot < rows.cells.size(); ++slot) {
      z3::expr here = terms_.no;
      if (key.kind == Kind::row) {
        for (const Item& item : key.items)
          if (item.slot == slot) here = terms_.either(here, item.on);
      } else {
        here = terms_.same(key, rows.keys[slot]);
      }
      placed = terms_.either(placed, here);
      put(rows.cells[slot][field.column], terms_.both(path, here), value);
    }
  }
  fault = terms_.either(fault, terms_.both(path, wrong));
  // What empties a cell of no row needs none.
  fits = terms_.both(fits, terms_.either(terms_.negated(path), terms_.either(placed, value.none)));
}

}  // namespace witan::rules::proof
