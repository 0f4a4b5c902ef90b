#include "rules/program/scans.h"

#include <algorithm>
#include <map>

namespace witan::rules {

namespace {

std::optional<Tag> tagOf(const Type& type) {
  if (type.nullable) return std::nullopt;
  switch (type.kind) {
    case Type::Kind::text: return Tag::text;
    case Type::Kind::integer: return Tag::integer;
    case Type::Kind::date: return Tag::date;
    case Type::Kind::timestamp: return Tag::timestamp;
    case Type::Kind::boolean: return Tag::boolean;
    default: return std::nullopt;  // doubles have values without an order
  }
}

// One test of one loop.
class Test {
 public:
  Test(const Program& program, const Layout& layout, std::uint32_t table, std::uint16_t slot, bool root)
      : program_(program), layout_(layout), table_(table), loop_(slot), root_(root), row_{slot} {}

  std::optional<Scan> scan(std::uint32_t test) {
    collect(test);
    std::optional<Scan> best;
    for (const std::uint32_t field : held_) {
      const auto found = bounds_.find(field);
      if (found == bounds_.end()) continue;
      const Scan& one = found->second;
      if (!best || weight(one) > weight(*best)) best = one;
    }
    return best;
  }

 private:
  static int weight(const Scan& scan) {
    return scan.from == scan.to ? 3 : scan.from != kNone && scan.to != kNone ? 2 : 1;
  }

  // What must all be true. The names that a function gives to the row are the row; others are unknown before the loop.
  void collect(std::uint32_t at) {
    const Node& n = program_.nodes[at];
    if (n.op == Op::logicalAnd) {
      collect(n.a);
      collect(n.b);
    } else if (n.op == Op::bind) {
      const Node& value = program_.nodes[n.a];
      if (value.op != Op::local && value.op != Op::constant) return;  // it may fail
      (value.op == Op::local && isRow(value.slot) ? row_ : inner_).push_back(n.slot);
      collect(n.b);
    } else if (n.op == Op::hasCell && isCell(n)) {
      held_.push_back(n.b);
    } else if (n.op == Op::equal || (n.op >= Op::less && n.op <= Op::greaterEqual)) {
      bound(n);
    }
  }

  bool isRow(std::uint16_t slot) const { return std::ranges::find(row_, slot) != row_.end(); }
  bool isCell(const Node& n) const {
    const Node& of = program_.nodes[n.a];
    return of.op == Op::local && isRow(of.slot) && tagOf(*layout_.fields[n.b].type);
  }

  void bound(const Node& n) {
    const Node &left = program_.nodes[n.a], &right = program_.nodes[n.b];
    if (left.op == Op::cell && isCell(left) && isKnown(n.b)) return take(left.b, n.op, n.b);
    if (right.op != Op::cell || !isCell(right) || !isKnown(n.a)) return;
    constexpr Op kTurned[] = {Op::greater, Op::greaterEqual, Op::less, Op::lessEqual};
    take(right.b, n.op == Op::equal ? n.op : kTurned[static_cast<int>(n.op) - static_cast<int>(Op::less)], n.a);
  }

  void take(std::uint32_t field, Op op, std::uint32_t value) {
    Scan& scan = bounds_[field];
    scan.table = table_;
    scan.column = layout_.fields[field].column;
    scan.field = field;
    scan.tag = *tagOf(*layout_.fields[field].type);
    if (op == Op::equal || op == Op::greater || op == Op::greaterEqual) {
      if (scan.from != kNone && op != Op::equal) return;
      scan.from = value;
      scan.fromOpen = op == Op::greater;
    }
    if (op == Op::equal || op == Op::less || op == Op::lessEqual) {
      if (scan.to != kNone && op != Op::equal) return;
      scan.to = value;
      scan.toOpen = op == Op::less;
    }
  }

  // Can it be told before the loop?
  bool isKnown(std::uint32_t at) const {
    const Node& n = program_.nodes[at];
    switch (n.op) {
      case Op::constant:
      case Op::now:
      case Op::clock:
      case Op::scalar: return true;
      case Op::local:
        return !isRow(n.slot) && std::ranges::find(inner_, n.slot) == inner_.end() && (root_ || n.slot < loop_);
      case Op::cell:
      case Op::rowKey:
      case Op::member:
      case Op::select: return isKnown(n.a);
      case Op::index:
      case Op::add:
      case Op::subtract: return isKnown(n.a) && isKnown(n.b);
      default: return false;
    }
  }

  const Program& program_;
  const Layout& layout_;
  const std::uint32_t table_;
  const std::uint16_t loop_;
  const bool root_;
  std::vector<std::uint16_t> row_, inner_;
  std::vector<std::uint32_t> held_;
  std::map<std::uint32_t, Scan> bounds_;  // by field
};

}  // namespace

void findScans(Program& program, Layout& layout, std::optional<std::uint32_t> firstLocal) {
  const auto keep = [&](const std::optional<Scan>& scan) -> std::uint16_t {
    if (!scan) return 0;
    layout.fields[scan->field].indexed = true;
    program.scans.push_back(*scan);
    return static_cast<std::uint16_t>(program.scans.size());
  };
  program.scanOf.assign(program.nodes.size(), 0);
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& n = program.nodes[i];
    const bool loop = n.op == Op::exists || n.op == Op::existsOne || n.op == Op::filter || n.op == Op::transform;
    if (!loop || n.flag || n.b == kNone) continue;
    const Node& range = program.nodes[n.a];
    if (range.op != Op::wholeTable || layout.tables[range.a].log) continue;
    program.scanOf[i] = keep(Test(program, layout, range.a, n.slot, false).scan(n.b));
  }
  if (firstLocal && !layout.tables[*firstLocal].log)
    program.rootScan = keep(Test(program, layout, *firstLocal, 0, true).scan(program.root));
}

}  // namespace witan::rules
