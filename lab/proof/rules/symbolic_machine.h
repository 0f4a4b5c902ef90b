// SymbolicMachine: runs a program of a rule file (rules/program/program.h) over terms, so over all states at once.
//
// It gives what the machine gives for every state of at most so many rows: but for the limits of one evaluation (steps,
// memory, length of texts), which it does not know. Throws NoTerm, with the place of the expression, for what it cannot
// say. For lab/proof/rules/ and its tests; one thread. All that it is given must outlive it.
#pragma once

#include "lab/proof/rules/terms.h"
#include "rules/domain/rule_domain.h"

namespace witan::rules::proof {

struct Cell {
  z3::expr there;
  Sym value;
};

struct Rows {
  std::vector<Sym> keys;                 // by slot; of logs nothing
  std::vector<std::vector<Cell>> cells;  // by slot, by column
};

struct SymbolicState {
  std::vector<Sym> scalars;  // by field; of columns nothing
  std::vector<Rows> tables;
  z3::expr clock;
};

// Any state with at most `rows` rows a table; what is so of it goes to `assumed`.
SymbolicState anyState(Terms& terms, const Layout& layout, unsigned rows, const z3::expr& clock,
                       std::vector<z3::expr>& assumed);
// Whether two states hold the same; the facts of logs may stand in another order.
z3::expr sameStates(const Terms& terms, const Layout& layout, const SymbolicState& a, const SymbolicState& b);

class SymbolicMachine {
 public:
  SymbolicMachine(Terms& terms, const Layout& layout, const Program& program, const SymbolicState& state,
                  const z3::expr& now, kernel::FieldMask visible)
      : terms_(terms),
        layout_(layout),
        program_(program),
        state_(&state),
        now_(now),
        visible_(visible),
        fault(terms.no),
        refused(terms.no),
        fits(terms.yes),
        locals_(kLocalsMax, terms.nothing()) {}

  void setLocal(std::size_t slot, const Sym& value) { locals_[slot] = value; }
  Sym evaluate(std::uint32_t node);
  // A script; `writable`: of a process, the state that it was given.
  void run(SymbolicState* writable = nullptr);
  z3::expr sees(const SymbolicState& state, std::uint32_t table, unsigned slot) const;
  Sym rowAt(std::uint32_t table, unsigned slot) const;

 private:
  Terms& terms_;
  const Layout& layout_;
  const Program& program_;
  const SymbolicState* state_;
  const z3::expr now_;
  const kernel::FieldMask visible_;

 public:
  z3::expr fault;    // an expression failed, or a process required what is not so
  z3::expr refused;  // of an invariant: it does not pass
  z3::expr fits;     // no table needed more rows than there are

 private:
  Sym strict(std::uint32_t node);
  Sym evaluateOne(const Node& n);
  Sym logic(const Node& n);
  Sym access(const Node& n);
  Sym cellOf(const Node& n);
  Sym element(const Node& n);
  Sym indexed(const Node& n);
  Sym aggregate(const Node& n);
  Sym call(const Node& n);
  std::optional<Sym> listFunction(std::string_view name, const std::vector<Sym>& args);
  std::optional<Sym> optionalFunction(std::string_view name, const std::vector<Sym>& args);
  std::optional<Sym> conversion(std::string_view name, const std::vector<Sym>& args);
  Sym arithmetic(const Node& n);
  Sym whole(Op op, const Sym& a, const Sym& b);
  Sym sumOf(Op op, const Sym& a, const Sym& b);
  Sym relation(Op op, const Sym& a, const Sym& b);
  Sym comprehension(const Node& n);
  Sym bounded(Tag tag, const z3::expr& e) const;
  std::vector<Item> elementsOf(const Sym& range, std::uint32_t node);
  z3::expr runSteps(const std::vector<Step>& steps, z3::expr path);
  z3::expr runStep(const Step& step, const z3::expr& path);
  bool addsRows(const std::vector<Step>& steps, std::uint32_t table, std::uint16_t slot) const;
  z3::expr loop(const Step& step, z3::expr path);
  void write(const Step& step, const z3::expr& path);
  z3::expr unfit(const Sym& value, const Type& type) const;
  void put(Cell& cell, const z3::expr& here, const Sym& value) const;

  std::vector<Sym> locals_;
  SymbolicState* writable_ = nullptr;
};

}  // namespace witan::rules::proof
