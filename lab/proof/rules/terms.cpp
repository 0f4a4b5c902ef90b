#include "lab/proof/rules/terms.h"

#include <cmath>
#include <cstdlib>

#include "base/string_util.h"
#include "rules/domain/value_json.h"

namespace witan::rules::proof {

using Kind = Sym::Kind;

namespace {

Kind kindOf(Tag tag) {
  switch (tag) {
    case Tag::boolean: return Kind::boolean;
    case Tag::integer:
    case Tag::uinteger:
    case Tag::real:
    case Tag::timestamp:
    case Tag::duration:
    case Tag::date: return Kind::number;
    case Tag::text:
    case Tag::bytes:
    case Tag::type: return Kind::text;
    case Tag::list: return Kind::list;
    case Tag::map: return Kind::map;
    case Tag::optional: return Kind::optional;
    default: return Kind::nothing;
  }
}

constexpr std::int64_t kExact = std::int64_t{1} << 53;  // whole numbers up to here are doubles

bool isExact(const z3::expr& e) {
  std::int64_t n = 0;
  return e.is_numeral() && e.is_numeral_i64(n) && -kExact <= n && n <= kExact;
}

std::int64_t wholeIn(const z3::model& model, const z3::expr& e) {
  std::int64_t n = 0;
  model.eval(e, true).is_numeral_i64(n);
  return n;
}

}  // namespace

bool comparable(Tag a, Tag b) {
  const auto plain = [](Tag tag) { return tag == Tag::integer || tag == Tag::uinteger || tag == Tag::real; };
  return a == b || (plain(a) && plain(b));
}

Tag tagOf(const Type& type) {
  switch (type.kind) {
    case Type::Kind::boolean: return Tag::boolean;
    case Type::Kind::integer: return Tag::integer;
    case Type::Kind::uinteger: return Tag::uinteger;
    case Type::Kind::real: return Tag::real;
    case Type::Kind::text: return Tag::text;
    case Type::Kind::bytes: return Tag::bytes;
    case Type::Kind::timestamp: return Tag::timestamp;
    case Type::Kind::duration: return Tag::duration;
    case Type::Kind::date: return Tag::date;
    case Type::Kind::list:
    case Type::Kind::record: return Tag::list;
    case Type::Kind::map: return Tag::map;
    case Type::Kind::optional: return Tag::optional;
    default: return Tag::null;
  }
}

Terms::Terms(z3::context& made) : context(made), yes(made.bool_val(true)), no(made.bool_val(false)) {}

z3::expr Terms::both(const z3::expr& a, const z3::expr& b) const {
  if (a.is_false() || b.is_true()) return a;
  return a.is_true() || b.is_false() ? b : a && b;
}
z3::expr Terms::either(const z3::expr& a, const z3::expr& b) const {
  if (a.is_true() || b.is_false()) return a;
  return a.is_false() || b.is_true() ? b : a || b;
}
z3::expr Terms::negated(const z3::expr& a) const { return a.is_true() ? no : a.is_false() ? yes : !a; }
z3::expr Terms::pick(const z3::expr& condition, const z3::expr& a, const z3::expr& b) const {
  return condition.is_true() || z3::eq(a, b) ? a : condition.is_false() ? b : z3::ite(condition, a, b);
}
z3::expr Terms::whole(std::int64_t n) const { return context.int_val(n); }

void Terms::goOn() const {
  if (std::chrono::steady_clock::now() >= until) throw NoTerm{"the time for questions of this kind was over"};
}

Sym Terms::make(Kind kind, Tag tag, const z3::expr& e) const { return {kind, tag, e, no, no, {}, 0}; }
Sym Terms::nothing() const { return {Kind::nothing, Tag::null, no, no, yes, {}, 0}; }
Sym Terms::failed() const { return {Kind::nothing, Tag::null, no, yes, no, {}, 0}; }
Sym Terms::optionalOf(Sym value, const z3::expr& none) const {
  Sym made{Kind::optional, Tag::optional, no, value.err, none, {}, 0};
  value.err = no;
  made.items.push_back({negated(none), std::move(value), {}, 0});
  return made;
}

int Terms::codeOf(std::string_view text) {
  const auto known = codes_.find(text);
  if (known != codes_.end()) return known->second;
  const int code = static_cast<int>(known_.size());
  known_.emplace_back(text);
  codes_.emplace(text, code);
  return code;
}

Sym Terms::constant(const Value& value) {
  Sym made{kindOf(value.tag), value.tag, no, no, no, {}, 0};
  switch (value.tag) {
    case Tag::null:
    case Tag::absent: return nothing();
    case Tag::boolean: made.e = value.b ? yes : no; break;
    case Tag::uinteger: made.e = context.int_val(value.u); break;
    case Tag::timestamp:
      if (value.n != 0) throw NoTerm{"a time with nanoseconds"};
      [[fallthrough]];
    case Tag::integer:
    case Tag::date: made.e = whole(value.i); break;
    case Tag::duration:
      if (value.i % 1000 != 0) throw NoTerm{"a duration with nanoseconds"};
      made.e = whole(value.i / 1000);
      break;
    case Tag::real: {
      std::string digits = display(value);
      if (!(std::fabs(value.d) <= static_cast<double>(kExact)) || digits.find('e') != std::string::npos)
        throw NoTerm{"the number " + digits};
      made.e = context.real_val(digits.c_str());
      break;
    }
    case Tag::text:
    case Tag::bytes:
    case Tag::type: made.e = whole(codeOf(value.str())); break;
    case Tag::list:
      for (const Value& item : value.elements()) made.items.push_back({yes, constant(item), {}, 0});
      break;
    case Tag::map:
      for (std::size_t i = 0; i < value.n; ++i)
        made.items.push_back({yes, constant(value.value(i)), {constant(value.key(i))}, 0});
      break;
    case Tag::optional:
      made.none = value.n == 0 ? yes : no;
      for (const Value& item : value.elements()) made.items.push_back({yes, constant(item), {}, 0});
      break;
    default: throw NoTerm{concat("a constant of the type ", tagName(value.tag))};
  }
  return made;
}

z3::expr Terms::range(const z3::expr& e, std::int64_t least, std::int64_t most) const {
  return whole(least) <= e && e <= whole(most);
}

z3::expr Terms::inRange(Tag tag, const z3::expr& e) const {
  switch (tag) {
    case Tag::integer: return range(e, INT64_MIN, INT64_MAX);
    case Tag::uinteger: return e >= 0 && e <= context.int_val(UINT64_MAX);
    case Tag::timestamp: return range(e, kFirstTime.micros, kLastTime.micros);
    case Tag::duration: return range(e, INT64_MIN / 1000, INT64_MAX / 1000);
    case Tag::date: return range(e, -719'162, 2'932'896);
    default: throw NoTerm{"computing with doubles"};
  }
}

// A whole number is compared with a double by the nearest double.
void Terms::mayCompare(const Sym& a, const Sym& b) const {
  if ((a.tag == Tag::real) != (b.tag == Tag::real) && !isExact(a.tag == Tag::real ? b.e : a.e))
    throw NoTerm{"a comparison of a whole number with a double"};
}

Sym Terms::any(const Type& type, const std::string& name, std::vector<z3::expr>& assumed) {
  const Tag tag = tagOf(type);
  Sym made{kindOf(tag), tag, no, no, no, {}, 0};
  switch (type.kind) {
    case Type::Kind::boolean: made.e = context.bool_const(name.c_str()); break;
    case Type::Kind::real: made.e = context.real_const(name.c_str()); break;
    case Type::Kind::integer:
    case Type::Kind::uinteger:
    case Type::Kind::timestamp:
    case Type::Kind::duration:
    case Type::Kind::date:
      made.e = context.int_const(name.c_str());
      assumed.push_back(inRange(tag, made.e));
      break;
    case Type::Kind::text:
    case Type::Kind::bytes: {
      made.e = context.int_const(name.c_str());
      if (type.words.empty()) {
        freeTexts_.push_back(made.e);
        break;
      }
      z3::expr word = no;
      for (const std::string& one : type.words) word = either(word, made.e == whole(codeOf(one)));
      assumed.push_back(word);
      break;
    }
    case Type::Kind::record:
      for (std::size_t i = 0; i < type.params.size(); ++i)
        made.items.push_back({yes, any(*type.params[i], concat(name, "/", type.words[i]), assumed), {}, 0});
      break;
    case Type::Kind::list:
    case Type::Kind::map: {
      const bool map = type.kind == Type::Kind::map;
      for (unsigned i = 0; i < kListElements; ++i) {
        const std::string one = concat(name, "[", i, "]");
        Item item{context.bool_const((one + "?").c_str()), any(*type.params[map ? 1 : 0], one, assumed), {}, 0};
        if (i > 0) assumed.push_back(z3::implies(item.on, made.items.back().on));
        if (map) {
          item.key.push_back(any(*type.params[0], one + ".key", assumed));
          for (const Item& before : made.items) assumed.push_back(!same(before.key[0], item.key[0]));
        }
        made.items.push_back(std::move(item));
      }
      break;
    }
    default: throw NoTerm{"values of the type " + show(type)};
  }
  if (type.nullable) made.none = context.bool_const((name + "=null").c_str());
  return made;
}

Sym Terms::choose(const z3::expr& condition, const Sym& a, const Sym& b) const {
  if (condition.is_true()) return a;
  if (condition.is_false()) return b;
  const bool ofA = a.kind != Kind::nothing, optional = a.kind == Kind::optional || b.kind == Kind::optional;
  const bool twoTypes =
      ofA && b.kind != Kind::nothing ? a.kind != b.kind || a.tag != b.tag : optional && !(ofA ? b : a).none.is_false();
  if (twoTypes) throw NoTerm{"a value that has two types"};
  Sym made = ofA ? a : b;
  made.err = pick(condition, a.err, b.err);
  made.none = pick(condition, a.none, b.none);
  if (!ofA || b.kind == Kind::nothing) return made;
  if (a.kind == Kind::boolean || a.kind == Kind::number || a.kind == Kind::text) {
    made.e = pick(condition, a.e, b.e);
    return made;
  }
  if (a.kind == Kind::row && a.table != b.table) throw NoTerm{"rows of two tables"};
  made.items.clear();
  for (std::size_t i = 0; i < std::max(a.items.size(), b.items.size()); ++i) {
    const bool inA = i < a.items.size(), inB = i < b.items.size();
    Item item = inA ? a.items[i] : b.items[i];
    item.on = pick(condition, inA ? a.items[i].on : no, inB ? b.items[i].on : no);
    if (inA && inB && a.kind == Kind::row && a.items[i].slot != b.items[i].slot) {
      // Two rows that may be at different places: each place of both.
      made.items = a.items;
      for (Item& one : made.items) one.on = both(condition, one.on);
      for (const Item& one : b.items) made.items.push_back({both(negated(condition), one.on), one.value, {}, one.slot});
      return made;
    }
    if (inA && inB && a.kind != Kind::row) item.value = choose(condition, a.items[i].value, b.items[i].value);
    if (inA && inB && a.kind == Kind::map) item.key[0] = choose(condition, a.items[i].key[0], b.items[i].key[0]);
    made.items.push_back(std::move(item));
  }
  return made;
}

z3::expr Terms::sizeOf(const Sym& list) const {
  std::int64_t known = 0;
  z3::expr size = whole(0);
  for (const Item& item : list.items)
    if (item.on.is_true())
      ++known;
    else if (!item.on.is_false())
      size = size + z3::ite(item.on, whole(1), whole(0));
  return known == 0 ? size : (size + whole(known)).simplify();
}

Sym Terms::at(const Sym& list, const z3::expr& place) const {
  std::optional<Sym> made;
  z3::expr before = whole(0), found = no;
  for (const Item& item : list.items) {
    const z3::expr here = both(item.on, before.simplify() == place).simplify();
    found = either(found, here);
    made = made ? choose(here, item.value, *made) : item.value;
    before = before + pick(item.on, whole(1), whole(0));
  }
  if (!made) return failed();
  made->err = negated(found);
  return *made;
}

Sym Terms::entry(const Sym& map, const Sym& key) const {
  std::optional<Sym> made;
  z3::expr found = no;
  for (const Item& item : map.items) {
    const z3::expr here = both(item.on, same(item.key[0], key));
    if (here.is_false()) continue;
    found = either(found, here);
    made = made ? choose(here, item.value, *made) : item.value;
  }
  Sym out = made ? *made : nothing();
  out.err = negated(found);
  return out;
}

z3::expr Terms::same(const Sym& a, const Sym& b) const {
  const bool nothing = a.kind == Kind::nothing || b.kind == Kind::nothing;
  if (nothing && a.kind != Kind::optional && b.kind != Kind::optional) return both(a.none, b.none);
  if (a.kind != b.kind) return no;  // null is no empty optional
  z3::expr equal = yes;
  switch (a.kind) {
    case Kind::boolean:
    case Kind::text:
      if (a.tag != b.tag) return no;
      equal = z3::eq(a.e, b.e) ? yes : (a.e == b.e).simplify();
      break;
    case Kind::number:
      if (!comparable(a.tag, b.tag)) return no;
      mayCompare(a, b);
      equal = (a.e == b.e).simplify();
      break;
    case Kind::optional:
      if (!a.items.empty() && !b.items.empty()) equal = either(a.none, same(a.items[0].value, b.items[0].value));
      break;
    case Kind::list: {
      equal = sizeOf(a) == sizeOf(b);
      equal = equal.simplify();
      for (std::size_t i = 0; i < std::min(a.items.size(), b.items.size()) && !equal.is_false(); ++i) {
        const Sym one = at(a, whole(static_cast<std::int64_t>(i))), other = at(b, whole(static_cast<std::int64_t>(i)));
        equal = both(equal, either(one.err, same(one, other)));
      }
      break;
    }
    default: throw NoTerm{"a comparison of maps or rows"};
  }
  if (a.none.is_false() && b.none.is_false()) return equal;
  return either(both(a.none, b.none), both(both(negated(a.none), negated(b.none)), equal));
}

// ---- functions of which nothing is known

// Nothing: the machine's value is not told here.
std::optional<Value> Terms::concrete(const Sym& sym) const {
  std::int64_t n = 0;
  if (sym.kind == Kind::boolean) return Value::of(sym.e.is_true());
  if (sym.tag == Tag::real || !sym.e.is_numeral_i64(n)) return std::nullopt;
  if (sym.kind == Kind::text) return Value::text(known_[static_cast<std::size_t>(n)], sym.tag);
  Value value = Value::of(sym.tag == Tag::duration ? n * 1000 : n);
  value.tag = sym.tag;
  return value;
}

Sym Terms::uninterpreted(const std::string& name, const z3::expr_vector& args, const Type& result) {
  const auto call = [&](const char* what, const z3::sort& sort) {
    z3::sort_vector sorts(context);
    for (unsigned i = 0; i < args.size(); ++i) sorts.push_back(args[static_cast<int>(i)].get_sort());
    return context.function(concat(name, what).c_str(), sorts, sort)(args);
  };
  if (result.kind == Type::Kind::optional) {
    Sym made = optionalOf(uninterpreted(name, args, *result.params[0]), call("?", context.bool_sort()));
    return made;
  }
  const Tag tag = tagOf(result);
  if (tag == Tag::boolean) return boolean(call("", context.bool_sort()));
  if (kindOf(tag) != Kind::number && kindOf(tag) != Kind::text) throw NoTerm{"the function " + name};
  return make(kindOf(tag), tag, call("", tag == Tag::real ? context.real_sort() : context.int_sort()));
}

// What the function gives for each text of the pool in place of its one free argument.
void Terms::tellPool(const Function& function, const std::vector<Sym>& args, std::size_t free, const Sym& result) {
  const Program none;
  std::vector<Value> values;
  for (const Sym& arg : args) {
    const auto value = &arg == &args[free] ? std::optional(Value()) : concrete(arg);
    if (!value) return;
    values.push_back(*value);
  }
  z3::expr_vector from(context), to(context);
  from.push_back(args[free].e);
  const std::vector<std::string> known = known_;
  for (const std::string& text : known) {
    Arena memory;
    Machine machine(none, memory, nullptr, nullptr, Time{});
    values[free] = Value::text(text, args[free].tag);
    const Value got = function.call != nullptr ? function.call(machine, values.data(), values.size())
                                               : memory.copy(concat(values[0].str(), values[1].str()), values[0].tag);
    to.resize(0);
    to.push_back(whole(codeOf(text)));
    const auto here = [&](z3::expr e) { return e.substitute(from, to); };
    facts_.push_back(here(result.err) == (got.failed() ? yes : no));
    if (got.failed()) continue;
    const Sym due = constant(got);
    if (result.kind == Kind::optional) {
      facts_.push_back(here(result.none) == due.none);
      if (!due.items.empty()) facts_.push_back(here(result.items[0].value.e) == due.items[0].value.e);
    } else {
      facts_.push_back(here(result.e) == due.e);
    }
  }
}

Sym Terms::apply(const Function& function, const std::vector<Sym>& args) {
  std::string name(function.name);
  z3::expr_vector free(context);
  std::size_t at = 0;
  z3::expr err = no;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Sym& arg = args[i];
    if (arg.kind != Kind::boolean && arg.kind != Kind::number && arg.kind != Kind::text)
      throw NoTerm{concat("the function ", function.name, " of a list or row")};
    err = either(err, either(arg.err, arg.none));
    name += concat("/", i, tagName(arg.tag));
    if (arg.e.is_numeral() || arg.e.is_true() || arg.e.is_false()) {
      name += concat(":", arg.e.to_string());
    } else {
      free.push_back(arg.e);
      at = i;
    }
  }
  const Type* result = nullptr;
  for (const Overload& overload : function.overloads)
    if (overload.params.size() == args.size() &&
        std::ranges::equal(overload.params, args, [](const TypePtr& type, const Sym& arg) {
          return type->kind == Type::Kind::variable ? arg.none.is_false() : tagOf(*type) == arg.tag;
        }))
      result = overload.result.get();
  if (result == nullptr) throw NoTerm{concat("the function ", function.name)};
  // It may be infinite, or no number.
  if (result->kind == Type::Kind::real && args[0].kind == Kind::text) throw NoTerm{"a double that is read from a text"};
  Sym made = uninterpreted(name, free, *result);
  // It may fail, too.
  z3::sort_vector sorts(context);
  for (unsigned i = 0; i < free.size(); ++i) sorts.push_back(free[static_cast<int>(i)].get_sort());
  made.err = context.function((name + "!").c_str(), sorts, context.bool_sort())(free);
  // Told of a constant, so that the argument itself is free.
  if (free.size() == 1 && args[at].kind == Kind::text && !told_.contains(name)) {
    std::vector<Sym> named = args;
    named[at].e = context.int_const("any text");
    z3::expr_vector one(context);
    one.push_back(named[at].e);
    Sym open = uninterpreted(name, one, *result);
    open.err = context.function((name + "!").c_str(), sorts, context.bool_sort())(one);
    tellPool(function, named, at, open);  // throws where a result has no term: then no use of it has one
    told_.insert(name);
  }
  if (made.tag == Tag::integer && function.name == "size") facts_.push_back(made.e >= 0);
  made.err = either(err, made.err);
  return made;
}

z3::expr Terms::waived(const z3::expr& id, const z3::expr& subject) {
  const z3::sort whole = context.int_sort();
  const z3::expr call = context.function("waived", whole, whole, context.bool_sort())(id, subject);
  waivers_.push_back(call);
  return call;
}

// ---- examples

z3::expr Terms::playable() const {
  z3::expr all = yes;
  for (const z3::expr& text : freeTexts_) all = both(all, range(text, 0, static_cast<std::int64_t>(pool_) - 1));
  for (const z3::expr& waiver : waivers_) all = both(all, !waiver);
  return all;
}

Value Terms::valueIn(const z3::model& model, const Sym& sym, const Type& type, Arena& memory) const {
  if (model.eval(sym.none, true).is_true()) return Value();
  const auto items = [&](auto typeAt) {
    std::vector<Value> all;
    for (std::size_t i = 0; i < sym.items.size(); ++i) {
      const Item& item = sym.items[i];
      if (!model.eval(item.on, true).is_true()) continue;
      if (!item.key.empty()) all.push_back(valueIn(model, item.key[0], *type.params[0], memory));
      all.push_back(valueIn(model, item.value, *typeAt(i), memory));
    }
    return memory.listOf(all, sym.tag);
  };
  switch (type.kind) {
    case Type::Kind::record: return items([&](std::size_t i) { return type.params[i]; });
    case Type::Kind::list: return items([&](std::size_t) { return type.params[0]; });
    case Type::Kind::map: return items([&](std::size_t) { return type.params[1]; });
    case Type::Kind::boolean: return Value::of(model.eval(sym.e, true).is_true());
    case Type::Kind::real:
      return Value::of(std::strtod(model.eval(sym.e, true).get_decimal_string(17).c_str(), nullptr));
    case Type::Kind::text:
    case Type::Kind::bytes: {
      const auto code = static_cast<std::size_t>(wholeIn(model, sym.e));
      return Value::text(code < known_.size() ? std::string_view(known_[code]) : "another text", sym.tag);
    }
    default: {
      const std::int64_t n = wholeIn(model, sym.e);
      Value value = Value::of(sym.tag == Tag::duration ? n * 1000 : n);
      value.tag = sym.tag;
      return value;
    }
  }
}

}  // namespace witan::rules::proof
