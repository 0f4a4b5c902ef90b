#include "rules/program/compiler.h"

#include <algorithm>
#include <set>

#include "base/quote.h"
#include "rules/program/compiler_core.h"
#include "rules/program/functions.h"

namespace witan::rules {

using Kind = Type::Kind;

Error errorAt(const SourceText& source, std::uint32_t at, std::string_view what) {
  const LineColumn in = lineColumn(source.text, at);
  return invalid(concat("line ", source.line + in.line - 1, ", column ",
                        in.line == 1 ? source.column + in.column - 1 : in.column,
                        source.name.empty() ? "" : " (" + source.name + ")", ": ", what));
}

Compiler::Compiler(const Names& names, std::shared_ptr<const SourceText> source, const CompileOptions& options)
    : names_(names), options_(options) {
  program_.sources.push_back(std::move(source));
  for (const Argument& argument : options.arguments) declare(argument.name, argument.type, 0);
}

void Compiler::stop(std::uint32_t at, const std::string& what) const {
  throw CompileStop{errorAt(*program_.sources[source_], at, what)};
}

std::uint16_t Compiler::declare(const std::string& name, TypePtr type, std::uint32_t at) {
  const std::size_t slot = scopes_.size();
  if (slot >= kLocalsMax) stop(at, concat("at most ", kLocalsMax, " names may be known at one place"));
  scopes_.push_back({name, std::move(type)});
  return static_cast<std::uint16_t>(slot);
}

const Compiler::Local* Compiler::findLocal(std::string_view name, std::uint16_t& slot) const {
  for (std::size_t i = scopes_.size(); i-- > barrier_;)
    if (scopes_[i].name == name) {
      slot = static_cast<std::uint16_t>(i);
      return &scopes_[i];
    }
  return nullptr;
}

std::uint32_t Compiler::emit(Node node, std::uint32_t at) {
  if (program_.nodes.size() >= kNodesMax)
    stop(at, concat("a program has at most ", kNodesMax, " parts, its functions put in"));
  node.at = at;
  node.source = source_;
  program_.nodes.push_back(node);
  return static_cast<std::uint32_t>(program_.nodes.size() - 1);
}

std::uint32_t Compiler::constant(const Value& value, std::uint32_t at) {
  Value kept = value;
  if (const std::size_t bytes = deepBytes(value); bytes > 0) {
    char* to = program_.storage.bytes(bytes);
    if (to == nullptr) stop(at, "the constants exceed 16 MiB");
    kept = deepCopy(value, to);
  }
  program_.constants.push_back(kept);
  return static_cast<std::uint32_t>(program_.constants.size() - 1);
}

Typed Compiler::constantNode(const Value& value, TypePtr type, std::uint32_t at) {
  return {emit({.op = Op::constant, .a = constant(value, at)}, at), std::move(type)};
}

const Value* Compiler::constantOf(std::uint32_t node) const {
  const Node& n = program_.nodes[node];
  return n.op == Op::constant ? &program_.constants[n.a] : nullptr;
}

// What does not check: an error, or a part that fails when it is reached.
Typed Compiler::wrong(std::uint32_t at, const std::string& what) {
  if (!options_.lenient) stop(at, what);
  return {emit({.op = Op::failure, .a = constant(Value::text(what), at)}, at), typeOf(Kind::dyn)};
}

TypePtr typeOfValue(const Value& value) {
  switch (value.tag) {
    case Tag::null: return typeOf(Kind::null);
    case Tag::boolean: return typeOf(Kind::boolean);
    case Tag::integer: return typeOf(Kind::integer);
    case Tag::uinteger: return typeOf(Kind::uinteger);
    case Tag::real: return typeOf(Kind::real);
    case Tag::text: return typeOf(Kind::text);
    case Tag::bytes: return typeOf(Kind::bytes);
    case Tag::timestamp: return typeOf(Kind::timestamp);
    case Tag::duration: return typeOf(Kind::duration);
    case Tag::date: return typeOf(Kind::date);
    case Tag::type: return typeOf(Kind::type);
    case Tag::list: {
      TypePtr item;
      for (const Value& one : value.elements()) item = item ? unionOf(item, typeOfValue(one)) : typeOfValue(one);
      return typeOf(Kind::list, {item ? item : typeOf(Kind::dyn)});
    }
    case Tag::map: {
      TypePtr key, item;
      for (std::size_t i = 0; i < value.n; ++i) {
        key = key ? unionOf(key, typeOfValue(value.key(i))) : typeOfValue(value.key(i));
        item = item ? unionOf(item, typeOfValue(value.value(i))) : typeOfValue(value.value(i));
      }
      const TypePtr dyn = typeOf(Kind::dyn);
      return typeOf(Kind::map, {key ? key : dyn, item ? item : dyn});
    }
    default: return typeOf(Kind::dyn);
  }
}

Typed Compiler::compile(const Expr& e, const TypePtr& expected) {
  switch (e.kind) {
    case Expr::Kind::constant: return constantNode(e.value, typeOfValue(e.value), e.at);
    case Expr::Kind::name:
    case Expr::Kind::select: return chain(e, false);
    case Expr::Kind::index: return index(e);
    case Expr::Kind::list: return list(e, expected);
    case Expr::Kind::map: return map(e, expected);
    case Expr::Kind::member: return member(e);
    case Expr::Kind::call: return call(e, expected);
  }
  return {};
}

Typed Compiler::compileAs(const Expr& e, const TypePtr& expected) {
  Typed made = compile(e, expected);
  if (!assignable(expected, made.type))
    return wrong(e.at, concat("expected ", show(*expected), ", found ", show(*made.type)));
  checkWord(e, expected, made);
  return made;
}

// A constant that stands where an enumeration is expected is one of its words.
void Compiler::checkWord(const Expr& e, const TypePtr& expected, const Typed& made) {
  const Value* known = constantOf(made.node);
  if (expected->kind != Kind::text || expected->words.empty() || known == nullptr || !known->is(Tag::text)) return;
  if (std::ranges::find(expected->words, known->str()) == expected->words.end() && !options_.lenient)
    stop(e.at, concat("expected ", show(*expected), ", found ", inQuotes(known->str())));
}

// ---- names

namespace {

struct Part {
  std::string_view name;
  bool optional = false;
  std::uint32_t at = 0;
};

// The selections of an expression from the inside out, and what they start from.
const Expr* unwind(const Expr& e, std::vector<Part>& parts) {
  const Expr* base = &e;
  for (; base->kind == Expr::Kind::select; base = base->parts[0].get())
    parts.push_back({base->text, base->optional, base->at});
  std::ranges::reverse(parts);
  return base;
}

std::string dotted(const std::vector<Part>& parts, std::size_t from, std::size_t count) {
  std::string out;
  for (std::size_t i = from; i < from + count; ++i) out += (i > from ? "." : "") + std::string(parts[i].name);
  return out;
}

}  // namespace

std::optional<Typed> Compiler::global(const std::string& name, bool locals, std::uint32_t at) {
  std::uint16_t slot = 0;
  if (const Local* local = locals ? findLocal(name, slot) : nullptr)
    return Typed{emit({.op = Op::local, .slot = slot}, at), local->type};
  if (names_.layout != nullptr) {
    const Layout& layout = *names_.layout;
    for (std::uint32_t i = 0; i < layout.fields.size(); ++i)
      if (!layout.fields[i].isColumn && layout.fields[i].name == name) {
        program_.reads |= kernel::FieldMask{1} << i;
        return Typed{emit({.op = Op::scalar, .a = i}, at), layout.fields[i].type};
      }
    for (std::uint32_t i = 0; i < layout.tables.size(); ++i)
      if (layout.tables[i].name == name) {
        Type made{Kind::table};
        made.table = i;
        walked_.insert(i);
        return Typed{emit({.op = Op::wholeTable, .a = i}, at), std::make_shared<const Type>(made)};
      }
    if (name == "now" && options_.process) return Typed{emit({.op = Op::now}, at), typeOf(Kind::timestamp)};
    if (name == "clock") return Typed{emit({.op = Op::clock}, at), typeOf(Kind::timestamp)};
  }
  if (name == "policy" && names_.policy.is(Tag::map)) return constantNode(names_.policy, typeOf(Kind::dyn), at);
  static constexpr std::string_view kTypes[] = {"bool",
                                                "int",
                                                "uint",
                                                "double",
                                                "string",
                                                "bytes",
                                                "list",
                                                "map",
                                                "null_type",
                                                "type",
                                                "google.protobuf.Timestamp",
                                                "google.protobuf.Duration",
                                                "optional_type"};
  for (std::string_view type : kTypes)
    if (type == name) return constantNode(Value::text(type, Tag::type), typeOf(Kind::type), at);
  return std::nullopt;
}

// A chain of names: the longest known one of the first, then columns, members and keys.
Typed Compiler::chain(const Expr& e, bool has) {
  std::vector<Part> parts;
  const Expr* base = unwind(e, parts);
  Typed from;
  std::size_t next = 0;
  if (base->kind == Expr::Kind::name) {
    parts.insert(parts.begin(), {base->text, false, base->at});
    std::uint16_t slot = 0;
    const bool shadowed = !base->optional && findLocal(base->text, slot) != nullptr;
    std::optional<Typed> known;
    const std::size_t longest = shadowed ? 1 : parts.size();
    for (next = longest; next > 0 && !known; --next)
      if (std::none_of(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(next),
                       [](const Part& p) { return p.optional; }))
        known = global(dotted(parts, 0, next), !base->optional, base->at);
    if (!known)
      return wrong(base->at, concat("unknown name ", inQuotes(base->text),
                                    base->text == "now"     ? ": a rule reads clock, the time of the last decision"
                                    : base->text == "clock" ? ": the time of the decision is now"
                                                            : ""));
    ++next;
    if (has && next == parts.size()) stop(e.at, "has() looks at a field: has(x.y)");
    from = *known;
  } else {
    from = compile(*base, nullptr);
  }
  while (next < parts.size()) {
    if (from.type->kind == Kind::row) {
      from = column(
          from, parts.size() - next, has, [&](std::size_t count) { return dotted(parts, next, count); },
          [&](std::size_t at) { return parts[next + at].optional; }, parts[next].at, next);
      continue;
    }
    from = selectOne(from, std::string(parts[next].name), parts[next].optional, has && next + 1 == parts.size(),
                     parts[next].at);
    ++next;
  }
  return from;
}

// Consumes as many of the names as make a column of the row's table.
template <class Dotted, class IsOptional>
Typed Compiler::column(const Typed& row, std::size_t left, bool has, Dotted name, IsOptional optional, std::uint32_t at,
                       std::size_t& next) {
  const Layout& layout = *names_.layout;
  const TableDecl& table = layout.tables[row.type->table];
  if (name(1) == "key") {
    ++next;
    return {emit({.op = Op::rowKey, .a = row.node}, at), typeOf(Kind::text)};
  }
  for (std::size_t count = left; count > 0; --count)
    for (std::uint32_t field : table.fields) {
      if (layout.fields[field].name != name(count)) continue;
      program_.reads |= kernel::FieldMask{1} << field;
      bool any = false;
      for (std::size_t i = 0; i < count; ++i) any = any || optional(i);
      next += count;
      const bool last = has && count == left;
      const Op op = last ? Op::hasCell : any ? Op::optionalCell : Op::cell;
      const std::uint32_t node = emit({.op = op, .a = row.node, .b = field, .c = layout.fields[field].column}, at);
      const TypePtr& type = layout.fields[field].type;
      return {node, last ? typeOf(Kind::boolean) : any ? typeOf(Kind::optional, {type}) : type};
    }
  noColumn(at, row.type->table, name(1));
}

void Compiler::noColumn(std::uint32_t at, std::uint32_t table, const std::string& name) const {
  std::string names;
  for (std::uint32_t field : names_.layout->tables[table].fields) names += ", " + names_.layout->fields[field].name;
  stop(at, concat("a row of ", names_.layout->tables[table].name, " has no field ", inQuotes(name),
                  ": expected one of key", names));
}

Typed Compiler::selectOne(const Typed& from, const std::string& name, bool optional, bool has, std::uint32_t at) {
  if (from.type->kind == Kind::record) {
    const auto& words = from.type->words;
    const auto member = std::ranges::find(words, name);
    if (member == words.end())
      return wrong(at, concat("expected a member of ", show(*from.type), ", found ", inQuotes(name)));
    const auto i = static_cast<std::uint32_t>(member - words.begin());
    const std::uint32_t node = emit({.op = has ? Op::hasMember : Op::member, .a = from.node, .b = i}, at);
    return {node, has ? typeOf(Kind::boolean) : from.type->params[i]};
  }
  const Kind kind = from.type->kind;
  if (kind != Kind::dyn && kind != Kind::map && kind != Kind::optional)
    return wrong(at, concat("expected a map, a record or a row before .", name, ", found ", show(*from.type)));
  if (const Value* known = constantOf(from.node); known != nullptr && known->is(Tag::map) && !optional) {
    const Value* found = find(*known, Value::text(name));
    if (has) return constantNode(Value::of(found != nullptr), typeOf(Kind::boolean), at);
    if (found != nullptr) return constantNode(Value(*found), typeOfValue(*found), at);
    if (names_.layout != nullptr) return wrong(at, concat("there is no ", inQuotes(name), " in it"));
  }
  TypePtr type = kind == Kind::map ? from.type->params[1] : typeOf(Kind::dyn);
  if (optional) type = typeOf(Kind::optional, {type});
  if (kind == Kind::optional) type = typeOf(Kind::optional, {typeOf(Kind::dyn)});
  const Op op = has ? Op::hasSelect : optional ? Op::optionalSelect : Op::select;
  return {emit({.op = op, .a = from.node, .b = constant(Value::text(name), at)}, at),
          has ? typeOf(Kind::boolean) : type};
}

Typed Compiler::index(const Expr& e) {
  const Typed in = compile(*e.parts[0], nullptr);
  if (in.type->kind == Kind::table) {
    if (e.optional) return wrong(e.at, "a table has no [?]: use has(...) or \"in\"");
    const Typed key = compileAs(*e.parts[1], typeOf(Kind::text));
    Type row{Kind::row};
    row.table = in.type->table;
    return {emit({.op = Op::rowOf, .a = row.table, .b = key.node}, e.at), std::make_shared<const Type>(row)};
  }
  const Typed key = compile(*e.parts[1], nullptr);
  const TypePtr type = resolve("_[_]", *findOperator("_[_]"), {in, key}, e.at);
  if (!type)
    return wrong(e.at,
                 concat("expected a list or a map and a key of it, found ", show(*in.type), " and ", show(*key.type)));
  const bool optional = e.optional || in.type->kind == Kind::optional;
  return fold({emit({.op = e.optional ? Op::optionalIndex : Op::index, .a = in.node, .b = key.node}, e.at),
               optional ? typeOf(Kind::optional, {type}) : type},
              {in.node, key.node});
}

// ---- aggregates

Typed Compiler::list(const Expr& e, const TypePtr& expected) {
  const bool tuple = expected && expected->kind == Kind::record && e.parts.size() == expected->params.size();
  TypePtr item;
  std::vector<std::uint32_t> nodes;
  std::vector<Value> optional;
  for (std::size_t i = 0; i < e.parts.size(); ++i) {
    TypePtr wanted = tuple                                      ? expected->params[i]
                     : expected && expected->kind == Kind::list ? expected->params[0]
                                                                : nullptr;
    if (e.optionals[i] && wanted) wanted = nullptr;
    const Typed part = tuple ? compileAs(*e.parts[i], wanted) : compile(*e.parts[i], wanted);
    TypePtr type = part.type;
    if (e.optionals[i]) type = type->kind == Kind::optional ? type->params[0] : typeOf(Kind::dyn);
    item = item ? unionOf(item, type) : type;
    nodes.push_back(part.node);
    optional.push_back(Value::of(bool{e.optionals[i]}));
  }
  if (!item) item = expected && expected->kind == Kind::list ? expected->params[0] : typeOf(Kind::variable);
  if (item->kind == Kind::variable) item = typeOf(Kind::dyn);
  return aggregate(Op::list, nodes, optional, tuple ? expected : typeOf(Kind::list, {item}), e.at);
}

Typed Compiler::aggregate(Op op, const std::vector<std::uint32_t>& nodes, const std::vector<Value>& optional,
                          TypePtr type, std::uint32_t at) {
  const auto first = static_cast<std::uint32_t>(program_.args.size());
  program_.args.insert(program_.args.end(), nodes.begin(), nodes.end());
  const std::uint32_t flags = constant(Value::list(optional), at);
  return fold(
      {emit({.op = op, .a = first, .b = static_cast<std::uint32_t>(nodes.size()), .c = flags}, at), std::move(type)},
      nodes);
}

Typed Compiler::map(const Expr& e, const TypePtr& expected) {
  if (expected && expected->kind == Kind::record) return record(e, expected);
  TypePtr key, item;
  std::vector<std::uint32_t> nodes;
  std::vector<Value> optional;
  for (std::size_t i = 0; i < e.parts.size(); i += 2) {
    const Typed k = compile(*e.parts[i], nullptr), v = compile(*e.parts[i + 1], nullptr);
    TypePtr type = v.type;
    if (e.optionals[i / 2]) type = type->kind == Kind::optional ? type->params[0] : typeOf(Kind::dyn);
    key = key ? unionOf(key, k.type) : k.type;
    item = item ? unionOf(item, type) : type;
    nodes.insert(nodes.end(), {k.node, v.node});
    optional.push_back(Value::of(bool{e.optionals[i / 2]}));
  }
  const TypePtr dyn = typeOf(Kind::dyn);
  return aggregate(Op::map, nodes, optional, typeOf(Kind::map, {key ? key : dyn, item ? item : dyn}), e.at);
}

// {'name': value}, each member once; those that may be null need not be named.
Typed Compiler::record(const Expr& e, const TypePtr& expected) {
  std::vector<std::uint32_t> nodes(expected->params.size(), kNone);
  for (std::size_t i = 0; i < e.parts.size(); i += 2) {
    const Expr& key = *e.parts[i];
    const auto member =
        std::ranges::find(expected->words, key.kind == Expr::Kind::constant && key.value.is(Tag::text) ? key.text : "");
    if (member == expected->words.end()) stop(key.at, concat("expected a member of ", show(*expected)));
    const auto at = static_cast<std::size_t>(member - expected->words.begin());
    if (nodes[at] != kNone) stop(key.at, concat(inQuotes(key.text), " comes twice"));
    nodes[at] = compileAs(*e.parts[i + 1], expected->params[at]).node;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i] == kNone) {
      if (!expected->params[i]->nullable)
        stop(e.at, concat("expected ", show(*expected), ", ", inQuotes(expected->words[i]), " is missing"));
      nodes[i] = constantNode(Value{}, typeOf(Kind::null), e.at).node;
    }
  return aggregate(Op::list, nodes, std::vector<Value>(nodes.size(), Value::of(false)), expected, e.at);
}

// ---- statements

void Compiler::require(const Statement& s, Step& step) {
  step.kind = Step::Kind::require;
  step.expr = compileAs(*s.expr, typeOf(Kind::boolean)).node;
  step.message = compileAs(*s.message, typeOf(Kind::text)).node;
  if (options_.process != s.name.empty())
    stop(s.at, options_.process
                   ? "a process faults: require ... else 'why'"
                   : "an invariant says how it decides: require ... else reject 'why', or else escalate 'why'");
  if (!s.name.empty()) step.otherwise = s.name == "reject" ? kernel::InvResult::reject : kernel::InvResult::escalate;
}

void Compiler::assign(const Statement& s, Step& step) {
  if (!options_.process) stop(s.at, "an invariant writes nothing");
  std::vector<Part> parts;
  const Expr* base = unwind(*s.target, parts);
  const Layout& layout = *names_.layout;
  if (base->kind == Expr::Kind::name) {
    // A scalar, or a cell of a row that has a name.
    parts.insert(parts.begin(), {base->text, false, base->at});
    std::uint16_t slot = 0;
    const Local* local = findLocal(base->text, slot);
    if (local != nullptr && local->type->kind == Kind::row) {
      step.key = emit({.op = Op::local, .slot = slot}, base->at);
      return assignCell(s, step, local->type->table, dotted(parts, 1, parts.size() - 1));
    }
    for (std::uint32_t i = 0; i < layout.fields.size(); ++i)
      if (!layout.fields[i].isColumn && layout.fields[i].name == dotted(parts, 0, parts.size())) {
        step.kind = Step::Kind::setScalar;
        step.field = i;
        program_.writes |= kernel::FieldMask{1} << i;
        step.expr = compileAs(*s.expr, layout.fields[i].type).node;
        return;
      }
    stop(s.at, concat("expected a field that can be set, found ", inQuotes(dotted(parts, 0, parts.size()))));
  }
  const auto table = base->kind == Expr::Kind::index && base->parts[0]->kind == Expr::Kind::name
                         ? std::ranges::find(layout.tables, base->parts[0]->text, &TableDecl::name)
                         : layout.tables.end();
  if (base->kind == Expr::Kind::index && base->parts[0]->kind == Expr::Kind::name && table == layout.tables.end())
    stop(s.at, concat("there is no table ", inQuotes(base->parts[0]->text)));
  if (table == layout.tables.end())
    stop(s.at, "expected a field that can be set: name = ..., or table[key].name = ...");
  step.key = compileAs(*base->parts[1], typeOf(Kind::text)).node;
  assignCell(s, step, static_cast<std::uint32_t>(table - layout.tables.begin()), dotted(parts, 0, parts.size()));
}

void Compiler::assignCell(const Statement& s, Step& step, std::uint32_t table, const std::string& name) {
  const Layout& layout = *names_.layout;
  for (std::uint32_t field : layout.tables[table].fields) {
    const FieldDecl& decl = layout.fields[field];
    if (decl.name != name) continue;
    if (decl.isLog) stop(s.at, concat(name, " is a log: append ", name, " = ..."));
    step.kind = Step::Kind::setCell;
    step.field = field;
    program_.writes |= kernel::FieldMask{1} << field;
    Type nullable = *decl.type;
    nullable.nullable = true;
    step.expr = compileAs(*s.expr, std::make_shared<const Type>(nullable)).node;
    const Node& value = program_.nodes[step.expr];
    if (decl.human && (value.op != Op::constant || !program_.constants[value.a].is(Tag::null)))
      stop(s.at, concat("only a counselor's edit fills ", name, ", which is human: a process may set it to null"));
    return;
  }
  noColumn(s.at, table, name);
}

void Compiler::append(const Statement& s, Step& step) {
  if (!options_.process) stop(s.at, "an invariant writes nothing");
  const Layout& layout = *names_.layout;
  for (std::uint32_t i = 0; i < layout.fields.size(); ++i)
    if (layout.fields[i].isLog && layout.fields[i].name == s.name) {
      step.kind = Step::Kind::append;
      step.field = i;
      program_.writes |= kernel::FieldMask{1} << i;
      step.expr = compileAs(*s.expr, layout.fields[i].type).node;
      return;
    }
  stop(s.at, concat("expected a log, found ", inQuotes(s.name)));
}

std::vector<Step> Compiler::block(const std::vector<Statement>& statements) {
  const std::size_t known = scopes_.size();
  std::vector<Step> steps;
  for (const Statement& s : statements) {
    Step& step = steps.emplace_back();
    step.at = s.at;
    step.source = source_;
    switch (s.kind) {
      case Statement::Kind::require: require(s, step); break;
      case Statement::Kind::assign: assign(s, step); break;
      case Statement::Kind::append: append(s, step); break;
      case Statement::Kind::let: {
        const Typed made = compile(*s.expr, nullptr);
        step.expr = made.node;
        step.slot = declare(s.name, made.type, s.at);
        break;
      }
      case Statement::Kind::branch:
        step.kind = Step::Kind::branch;
        step.expr = compileAs(*s.expr, typeOf(Kind::boolean)).node;
        step.body = block(s.body);
        step.other = block(s.otherwise);
        break;
      case Statement::Kind::loop: {
        step.kind = Step::Kind::loop;
        const Typed range = compile(*s.expr, nullptr);
        const TypePtr item = elementOf(range.type, s.at);
        const Loop loop(*this, s.at);
        step.expr = range.node;
        step.slot = declare(s.name, item, s.at);
        step.body = block(s.body);
        scopes_.pop_back();
        break;
      }
    }
  }
  scopes_.resize(known);
  return steps;
}

Program Compiler::finish() && {
  // Rows that are counted or looked for without a look at their fields: any of these makes the row.
  for (std::uint32_t table : walked_) {
    program_.lookups |= std::uint64_t{1} << table;
    if ((program_.reads & names_.layout->tables[table].mask) == 0) program_.reads |= names_.layout->tables[table].mask;
  }
  return std::move(program_);
}

namespace {

template <class Use>
Result<Program> compiled(const Names& names, std::shared_ptr<const SourceText> source, const CompileOptions& options,
                         Use use) {
  try {
    Compiler compiler(names, source, options);
    use(compiler, std::string_view(source->text));
    return std::move(compiler).finish();
  } catch (CompileStop& stop) {
    return std::move(stop.error);
  } catch (SyntaxError& wrong) {
    return errorAt(*source, wrong.at, wrong.message);
  }
}

template <class T>
T orThrow(Parsed<T> parsed) {
  if (auto* wrong = std::get_if<SyntaxError>(&parsed)) throw std::move(*wrong);
  return std::get<T>(std::move(parsed));
}

}  // namespace

Result<Program> compileExpression(const Names& names, std::shared_ptr<const SourceText> source,
                                  const CompileOptions& options) {
  return compiled(names, std::move(source), options, [&](Compiler& compiler, std::string_view text) {
    const ExprPtr parsed = orThrow(parseExpression(text));
    const Typed made =
        options.expected ? compiler.compileAs(*parsed, options.expected) : compiler.compile(*parsed, nullptr);
    compiler.setRoot(made);
  });
}

Result<Program> compileScript(const Names& names, std::shared_ptr<const SourceText> source,
                              const CompileOptions& options) {
  return compiled(names, std::move(source), options, [&](Compiler& compiler, std::string_view text) {
    const std::vector<Statement> parsed = orThrow(parseScript(text));
    compiler.setSteps(compiler.block(parsed));
  });
}

}  // namespace witan::rules
