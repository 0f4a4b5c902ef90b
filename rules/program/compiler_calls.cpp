#include <algorithm>
#include <array>

#include "base/quote.h"
#include "rules/program/compiler_core.h"

namespace witan::rules {

using Kind = Type::Kind;

namespace {

constexpr std::array<std::pair<std::string_view, Op>, 15> kOperations{{{"_+_", Op::add},
                                                                       {"_-_", Op::subtract},
                                                                       {"_*_", Op::multiply},
                                                                       {"_/_", Op::divide},
                                                                       {"_%_", Op::modulo},
                                                                       {"-_", Op::negate},
                                                                       {"!_", Op::logicalNot},
                                                                       {"_&&_", Op::logicalAnd},
                                                                       {"_||_", Op::logicalOr},
                                                                       {"_==_", Op::equal},
                                                                       {"_!=_", Op::notEqual},
                                                                       {"_<_", Op::less},
                                                                       {"_<=_", Op::lessEqual},
                                                                       {"_>_", Op::greater},
                                                                       {"_>=_", Op::greaterEqual}}};

std::string listOf(const std::vector<Typed>& args) {
  std::string out;
  for (const Typed& arg : args) out += (out.empty() ? "" : ", ") + show(*arg.type);
  return out;
}

// Those whose first parameter fits, if there are any.
std::string expectedOf(const std::vector<Overload>& overloads, const std::vector<Typed>& args) {
  const auto fits = [&](const Overload& one) {
    Bindings bound;
    return !args.empty() && !one.params.empty() && assignable(one.params[0], args[0].type, bound);
  };
  const bool some = std::ranges::any_of(overloads, fits);
  std::string out;
  std::size_t listed = 0;
  for (const Overload& overload : overloads) {
    if ((some && !fits(overload)) || listed == 6) continue;
    std::string one;
    for (const TypePtr& param : overload.params) one += (one.empty() ? "" : ", ") + show(*param);
    out += (listed++ > 0 ? " or (" : "(") + one + ")";
  }
  return out;
}

bool isWord(const Expr& e, std::string_view word) { return e.kind == Expr::Kind::name && e.text == word; }

}  // namespace

Typed Compiler::fold(Typed made, const std::vector<std::uint32_t>& parts) {
  for (std::uint32_t part : parts)
    if (constantOf(part) == nullptr) return made;
  Arena memory;
  Machine machine(program_, memory, nullptr, nullptr, Time{});
  const Value value = machine.evaluate(made.node);
  // What always fails is an error of the file, wherever it stands.
  if (value.failed() && names_.layout != nullptr && !options_.lenient)
    for (const std::string_view code : {"divide_by_zero", "overflow"})
      if (code == value.failure->code) stop(value.failure->at, value.failure->message);
  if (value.failed() || value.is(Tag::optional) || deepBytes(value) > 64 * 1024) return made;
  const Node node = program_.nodes[made.node];
  return {emit({.op = Op::constant, .a = constant(value, node.at)}, node.at), std::move(made.type)};
}

TypePtr Compiler::resolve(std::string_view, const std::vector<Overload>& overloads, const std::vector<Typed>& args,
                          std::uint32_t, bool many) {
  TypePtr result;
  for (const Overload& overload : overloads) {
    const bool repeats = many && overload.params.size() == 1 && overload.params[0]->kind == Kind::variable;
    if (!repeats && overload.params.size() != args.size()) continue;
    if (repeats && args.empty()) continue;
    Bindings bound;
    bool fits = true;
    for (std::size_t i = 0; i < args.size() && fits; ++i)
      fits = assignable(overload.params[repeats ? 0 : i], args[i].type, bound);
    if (!fits) continue;
    const TypePtr type = substitute(overload.result, bound);
    result = !result ? type : unionOf(result, type);
    const bool exact =
        std::none_of(args.begin(), args.end(), [](const Typed& arg) { return arg.type->kind == Kind::dyn; });
    if (exact && !(many && args.size() == 1)) break;
  }
  return result;
}

Typed Compiler::invoke(const Function& function, const std::vector<Typed>& args, std::uint32_t at) {
  const TypePtr type = resolve(function.name, function.overloads, args, at, function.many);
  if (!type || args.size() > 8)
    return wrong(
        at, concat(function.name, " expects ", expectedOf(function.overloads, args), ", found (", listOf(args), ")"));
  const auto first = static_cast<std::uint32_t>(program_.args.size());
  std::vector<std::uint32_t> nodes;
  for (const Typed& arg : args) nodes.push_back(arg.node);
  program_.args.insert(program_.args.end(), nodes.begin(), nodes.end());
  program_.functions.push_back(function.call);
  const auto called = static_cast<std::uint32_t>(program_.functions.size() - 1);
  const Typed made{emit({.op = Op::call, .a = first, .b = static_cast<std::uint32_t>(args.size()), .c = called}, at),
                   type};
  return fold(made, nodes);
}

Typed Compiler::operation(const Expr& e, const TypePtr& expected) {
  if (e.text == "_in_") return membership(e);
  if (e.text == "_==_" || e.text == "_!=_") return equality(e);
  std::vector<Typed> args;
  // A list that is added to a list has its items.
  const TypePtr part = e.text == "_+_" && expected && expected->kind == Kind::list ? expected : nullptr;
  for (const ExprPtr& one : e.parts) args.push_back(compile(*one, part));
  const auto& overloads = *findOperator(e.text);
  TypePtr type = resolve(e.text, overloads, args, e.at);
  const bool logical = e.text == "_&&_" || e.text == "_||_";
  if (!type && logical && options_.lenient) type = typeOf(Kind::boolean);  // the other side may decide
  if (!type) {
    std::string sign = e.text;
    std::erase(sign, '_');
    return wrong(e.at, concat(sign, " expects ", expectedOf(overloads, args), ", found (", listOf(args), ")"));
  }
  const Op op = std::ranges::find(kOperations, e.text, &std::pair<std::string_view, Op>::first)->second;
  const std::uint32_t b = args.size() > 1 ? args[1].node : 0;
  std::vector<std::uint32_t> nodes;
  for (const Typed& arg : args) nodes.push_back(arg.node);
  return fold({emit({.op = op, .a = args[0].node, .b = b}, e.at), type}, nodes);
}

Typed Compiler::choice(const Expr& e, const TypePtr& expected) {
  const Typed test = compileAs(*e.parts[0], typeOf(Kind::boolean));
  const Typed yes = expected ? compileAs(*e.parts[1], expected) : compile(*e.parts[1], nullptr);
  const Typed no = expected ? compileAs(*e.parts[2], expected) : compile(*e.parts[2], nullptr);
  if (!assignable(yes.type, no.type) && !assignable(no.type, yes.type))
    return wrong(e.at, concat("both sides of ?: have one type, found ", show(*yes.type), " and ", show(*no.type)));
  return {emit({.op = Op::choice, .a = test.node, .b = yes.node, .c = no.node}, e.at), unionOf(yes.type, no.type)};
}

Typed Compiler::equality(const Expr& e) {
  const Typed a = compile(*e.parts[0], nullptr), b = compile(*e.parts[1], nullptr);
  const bool nulls = a.type->kind == Kind::null || b.type->kind == Kind::null;
  if (!nulls && !options_.lenient && !assignable(a.type, b.type) && !assignable(b.type, a.type))
    return wrong(e.at, concat("only values of one type can be equal, found ", show(*a.type), " and ", show(*b.type)));
  checkWord(*e.parts[1], a.type, b);
  checkWord(*e.parts[0], b.type, a);
  return fold({emit({.op = e.text == "_==_" ? Op::equal : Op::notEqual, .a = a.node, .b = b.node}, e.at),
               typeOf(Kind::boolean)},
              {a.node, b.node});
}

Typed Compiler::membership(const Expr& e) {
  const Typed item = compile(*e.parts[0], nullptr), in = compile(*e.parts[1], nullptr);
  if (in.type->kind == Kind::table) {
    if (!assignable(typeOf(Kind::text), item.type))
      return wrong(e.at, concat("expected a key (string), found ", show(*item.type)));
    return {emit({.op = Op::inTable, .a = item.node, .b = in.type->table}, e.at), typeOf(Kind::boolean)};
  }
  if (!resolve(e.text, *findOperator(e.text), {item, in}, e.at))
    return wrong(e.at, concat("in expects a list, a map or a table of ", show(*item.type), ", found ", show(*in.type)));
  if (e.parts[1]->kind == Expr::Kind::list)
    for (const ExprPtr& part : e.parts[1]->parts)
      if (part->kind == Expr::Kind::constant)
        checkWord(*part, item.type, constantNode(part->value, typeOf(Kind::text), part->at));
  return fold({emit({.op = Op::in, .a = item.node, .b = in.node}, e.at), typeOf(Kind::boolean)}, {item.node, in.node});
}

Typed Compiler::call(const Expr& e, const TypePtr& expected) {
  if (e.text == "_?_:_") return choice(e, expected);
  if (findOperator(e.text) != nullptr) return operation(e, expected);
  if (e.text == "has") {
    if (e.parts.size() != 1 || e.parts[0]->kind != Expr::Kind::select) stop(e.at, "has() looks at a field: has(x.y)");
    return chain(*e.parts[0], true);
  }
  if (e.text == "changed" && options_.changes && e.parts.size() == 1) {
    const Typed of = compile(*e.parts[0], nullptr);
    Node node = program_.nodes[of.node];
    if (node.op != Op::cell) stop(e.at, "changed() looks at a field of a row: changed(x.y)");
    node.op = Op::changed;
    return {emit(node, e.at), typeOf(Kind::boolean)};
  }
  if (e.text == "waived" && names_.layout != nullptr && e.parts.size() == 2) {
    const Typed id = compileAs(*e.parts[0], typeOf(Kind::text)), subject = compileAs(*e.parts[1], typeOf(Kind::text));
    return {emit({.op = Op::waived, .a = id.node, .b = subject.node}, e.at), typeOf(Kind::boolean)};
  }
  if (e.text == "size" && e.parts.size() == 1) {
    const Typed of = compile(*e.parts[0], nullptr);
    if (of.type->kind == Kind::table)
      return {emit({.op = Op::tableSize, .a = of.type->table}, e.at), typeOf(Kind::integer)};
    return invoke(*findFunction("size", false), {of}, e.at);
  }
  if (const auto own = names_.functions.find(e.text); own != names_.functions.end()) return ownFunction(own->second, e);
  const Function* function = findFunction(e.text, false);
  if (function == nullptr) return wrong(e.at, concat("unknown function ", inQuotes(e.text)));
  std::vector<Typed> args;
  for (const ExprPtr& part : e.parts) args.push_back(compile(*part, nullptr));
  return invoke(*function, args, e.at);
}

// The body with its parameters bound; it sees no other names of the caller.
Typed Compiler::ownFunction(const RuleFunction& function, const Expr& e) {
  if (e.parts.size() != function.parameters.size())
    return wrong(e.at, concat(e.text, " expects ", function.parameters.size(), " arguments, found ", e.parts.size()));
  // Without names at first: a loop in an argument takes other slots, and sees none of them.
  const std::size_t known = scopes_.size();
  std::vector<std::uint16_t> slots;
  for (const Parameter& parameter : function.parameters) slots.push_back(declare("", parameter.type, e.at));
  std::vector<Typed> args;
  for (std::size_t i = 0; i < e.parts.size(); ++i) args.push_back(compileAs(*e.parts[i], function.parameters[i].type));
  const std::size_t barrier = std::exchange(barrier_, known);
  for (std::size_t i = 0; i < slots.size(); ++i) scopes_[known + i].name = function.parameters[i].name;
  const std::uint16_t source = source_;
  auto text = std::ranges::find(program_.sources, function.source);
  if (text == program_.sources.end()) text = program_.sources.insert(text, function.source);
  source_ = static_cast<std::uint16_t>(text - program_.sources.begin());
  Typed made = compile(*function.body, nullptr);
  source_ = source;
  barrier_ = barrier;
  scopes_.resize(known);
  for (std::size_t i = args.size(); i-- > 0;)
    made.node = emit({.op = Op::bind, .slot = slots[i], .a = args[i].node, .b = made.node}, e.at);
  return made;
}

Typed Compiler::member(const Expr& e) {
  if (auto made = special(e)) return *std::move(made);
  if (auto made = macro(e)) return *std::move(made);
  std::vector<Typed> args;
  for (const ExprPtr& part : e.parts) args.push_back(compile(*part, nullptr));
  if (e.text == "size" && args.size() == 1 && args[0].type->kind == Kind::table)
    return {emit({.op = Op::tableSize, .a = args[0].type->table}, e.at), typeOf(Kind::integer)};
  if (e.text == "orValue" && args.size() == 2) {
    if (!assignable(typeOf(Kind::optional, {args[1].type}), args[0].type))
      return wrong(e.at, concat("orValue expects an optional and a value of its type, found ", listOf(args)));
    const TypePtr type =
        args[0].type->kind == Kind::optional ? unionOf(args[0].type->params[0], args[1].type) : args[0].type;
    return {emit({.op = Op::orValue, .a = args[0].node, .b = args[1].node}, e.at), type};
  }
  const Function* function = findFunction(e.text, true);
  if (function == nullptr)
    return wrong(e.at, concat("unknown function ", inQuotes(e.text), " of a ", show(*args[0].type)));
  return invoke(*function, args, e.at);
}

// math.greatest(...), optional.of(...), cel.bind(...): functions whose name has two parts.
std::optional<Typed> Compiler::special(const Expr& e) {
  const Expr& base = *e.parts[0];
  std::uint16_t slot = 0;
  if (base.kind != Expr::Kind::name || findLocal(base.text, slot) != nullptr) return std::nullopt;
  if (isWord(base, "cel") && e.text == "bind" && e.parts.size() == 4) {
    const Typed value = compile(*e.parts[2], nullptr);
    const std::uint16_t to = declare(variable(*e.parts[1]), value.type, e.at);
    Typed made = compile(*e.parts[3], nullptr);
    scopes_.pop_back();
    made.node = emit({.op = Op::bind, .slot = to, .a = value.node, .b = made.node}, e.at);
    return made;
  }
  const Function* function = findFunction(base.text + "." + e.text, false);
  if (function == nullptr) return std::nullopt;
  std::vector<Typed> args;
  for (std::size_t i = 1; i < e.parts.size(); ++i) args.push_back(compile(*e.parts[i], nullptr));
  return invoke(*function, args, e.at);
}

// ---- macros

std::string Compiler::variable(const Expr& e) {
  if (e.kind != Expr::Kind::name) stop(e.at, "expected the name of a variable");
  return e.text;
}

std::optional<Typed> Compiler::macro(const Expr& e) {
  const std::size_t n = e.parts.size() - 1;
  struct Known {
    std::string_view name;
    std::size_t arguments;
    Op op;
    bool two, filtered;
  };
  static constexpr std::array<Known, 16> kMacros{{{"all", 2, Op::all, false, false},
                                                  {"all", 3, Op::all, true, false},
                                                  {"exists", 2, Op::exists, false, false},
                                                  {"exists", 3, Op::exists, true, false},
                                                  {"exists_one", 2, Op::existsOne, false, false},
                                                  {"existsOne", 2, Op::existsOne, false, false},
                                                  {"existsOne", 3, Op::existsOne, true, false},
                                                  {"exists_one", 3, Op::existsOne, true, false},
                                                  {"filter", 2, Op::filter, false, false},
                                                  {"map", 2, Op::transform, false, false},
                                                  {"map", 3, Op::transform, false, true},
                                                  {"transformList", 3, Op::transform, true, false},
                                                  {"transformList", 4, Op::transform, true, true},
                                                  {"transformMap", 3, Op::transformMap, true, false},
                                                  {"transformMap", 4, Op::transformMap, true, true},
                                                  {"", 0, Op::all, false, false}}};
  for (const Known& known : kMacros)
    if (known.name == e.text && known.arguments == n) return comprehension(e, known.op, known.two, known.filtered);
  if ((e.text == "optMap" || e.text == "optFlatMap") && n == 2) return optionalMacro(e, e.text == "optFlatMap");
  return std::nullopt;
}

TypePtr Compiler::elementOf(const TypePtr& range, std::uint32_t at) {
  switch (range->kind) {
    case Kind::dyn: return range;
    case Kind::list:
    case Kind::map: return range->params[0];
    case Kind::table: {
      const TableDecl& table = names_.layout->tables[range->table];
      if (table.log) {  // its facts
        program_.reads |= table.mask;
        return names_.layout->fields[table.fields[0]].type;
      }
      Type row{Kind::row};
      row.table = range->table;
      return std::make_shared<const Type>(row);
    }
    default: return wrong(at, concat("expected a list, a map or a table, found ", show(*range))).type;
  }
}

Typed Compiler::comprehension(const Expr& e, Op op, bool two, bool filtered) {
  const Typed range = compile(*e.parts[0], nullptr);
  TypePtr item = elementOf(range.type, e.at), first = item;
  if (two) {
    first = range.type->kind == Kind::list    ? typeOf(Kind::integer)
            : range.type->kind == Kind::table ? typeOf(Kind::text)
                                              : item;
    if (range.type->kind == Kind::map) item = range.type->params[1];
  }
  const Loop loop(*this, e.at);
  const std::size_t known = scopes_.size();
  const std::uint16_t slot = declare(variable(*e.parts[1]), first, e.at);
  std::size_t next = 2;
  if (two) declare(variable(*e.parts[next++]), item, e.at);
  Node node{.op = op, .flag = two, .slot = slot, .a = range.node, .b = kNone, .c = kNone};
  const bool gives = op == Op::transform || op == Op::transformMap;
  if (!gives || filtered) node.b = compileAs(*e.parts[next++], typeOf(Kind::boolean)).node;
  TypePtr type = typeOf(op == Op::filter ? Kind::list : Kind::boolean,
                        op == Op::filter ? std::vector{first} : std::vector<TypePtr>{});
  if (gives) {
    const Typed result = compile(*e.parts[next], nullptr);
    node.c = result.node;
    type = op == Op::transform ? typeOf(Kind::list, {result.type}) : typeOf(Kind::map, {first, result.type});
  }
  scopes_.resize(known);
  return {emit(node, e.at), type};
}

Typed Compiler::optionalMacro(const Expr& e, bool flat) {
  const Typed from = compile(*e.parts[0], nullptr);
  const TypePtr item = from.type->kind == Kind::optional ? from.type->params[0] : typeOf(Kind::dyn);
  const std::uint16_t slot = declare(variable(*e.parts[1]), item, e.at);
  const Typed to = compile(*e.parts[2], nullptr);
  scopes_.pop_back();
  return {emit({.op = Op::optionalMap, .flag = flat, .slot = slot, .a = from.node, .b = to.node}, e.at),
          flat ? to.type : typeOf(Kind::optional, {to.type})};
}

}  // namespace witan::rules
