#include "rules/cel/type.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/utf8.h"

namespace witan::rules {

namespace {

using Kind = Type::Kind;

constexpr std::string_view kTypes =
    "a type: bool, int, uint, double, string, bytes, timestamp, duration, date, enum(A, B), list(T), map(string, T), "
    "record(name: T), tuple(name: T), or a name of [types]";
constexpr std::array<std::pair<std::string_view, Kind>, 13> kNames{{{"dyn", Kind::dyn},
                                                                    {"null", Kind::null},
                                                                    {"bool", Kind::boolean},
                                                                    {"int", Kind::integer},
                                                                    {"uint", Kind::uinteger},
                                                                    {"double", Kind::real},
                                                                    {"string", Kind::text},
                                                                    {"bytes", Kind::bytes},
                                                                    {"timestamp", Kind::timestamp},
                                                                    {"duration", Kind::duration},
                                                                    {"date", Kind::date},
                                                                    {"type", Kind::type},
                                                                    {"table", Kind::table}}};

constexpr std::size_t kPartsMax = 1000, kDepthMax = 16;

// Beyond the limits any number will do.
void measure(Type& type) {
  for (const TypePtr& part : type.params) {
    type.size = std::min<std::uint32_t>(type.size + part->size, kPartsMax + 1);
    type.depth = std::max(type.depth, part->depth + 1);
  }
}

class Reader {
 public:
  Reader(std::string_view text, const NamedTypes& named, const std::vector<std::string>& tables)
      : text_(text), named_(named), tables_(tables) {}

  TypePtr whole() {
    TypePtr type = one();
    if (skip(); at_ < text_.size()) stop("expected the end of the type");
    return type;
  }

  std::vector<Parameter> parameters() {
    std::vector<Parameter> all;
    for (skip(); at_ < text_.size();) {
      Parameter p;
      p.at = static_cast<std::uint32_t>(at_);
      p.name = word();
      if (!takes(':')) stop(concat("expected \":\" and the type of ", p.name));
      p.type = one();
      if (takes('=')) {
        skip();
        const std::size_t from = at_;
        // Up to the next comma outside of quotes and brackets.
        int open = 0;
        for (char quote = 0; at_ < text_.size(); ++at_) {
          const char c = text_[at_];
          if (quote != 0)
            quote = c == quote ? 0 : quote;
          else if (c == '\'' || c == '"')
            quote = c;
          else if (c == '(' || c == '[' || c == '{')
            ++open;
          else if (c == ')' || c == ']' || c == '}')
            --open;
          else if (c == ',' && open == 0)
            break;
        }
        p.defaultText = text_.substr(from, at_ - from);
        if (p.defaultText.empty()) stop("expected an expression");
      }
      all.push_back(std::move(p));
      if (!takes(',')) break;
    }
    if (skip(); at_ < text_.size()) stop("expected \",\"");
    return all;
  }

 private:
  [[noreturn]] void stop(std::string what) { throw SyntaxError{static_cast<std::uint32_t>(at_), std::move(what)}; }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool takes(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void want(char c) {
    if (!takes(c)) stop(concat("expected \"", c, "\""));
  }
  std::string word(std::string_view what = "a name") {
    skip();
    std::size_t n = at_;
    while (n < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[n])) != 0 || text_[n] == '_')) ++n;
    if (n == at_) stop(concat("expected ", what));
    return std::string(text_.substr(std::exchange(at_, n), n - at_));
  }

  TypePtr one() {
    if (++depth_ > kDepthMax) stop(concat("types nest at most ", kDepthMax, " deep"));
    skip();
    const std::size_t from = at_;
    const std::string name = word(kTypes);
    TypePtr type = named(name, from);
    if (type->size > kPartsMax || type->depth > kDepthMax) {
      at_ = from;
      stop(type->depth > kDepthMax ? concat("types nest at most ", kDepthMax, " deep, the named ones put in")
                                   : concat("a type has at most ", kPartsMax, " parts, the named ones put in"));
    }
    if (takes('?')) {
      Type made = *type;
      made.nullable = true;
      type = std::make_shared<const Type>(std::move(made));
    }
    --depth_;
    return type;
  }

  TypePtr named(const std::string& name, std::size_t from) {
    if (const auto known = std::ranges::find(kNames, name, &std::pair<std::string_view, Kind>::first);
        known != kNames.end())
      return typeOf(known->second);
    if (const auto known = named_.find(name); known != named_.end()) return known->second;
    if (name.size() == 1 && name[0] >= 'A' && name[0] <= 'Z') {
      Type made{Kind::variable};
      made.words = {name};
      return std::make_shared<const Type>(std::move(made));
    }
    Type made;
    if (name == "list" || name == "optional" || name == "map") {
      made.kind = name == "list" ? Kind::list : name == "map" ? Kind::map : Kind::optional;
      want('(');
      made.params.push_back(one());
      if (name == "map") {
        want(',');
        made.params.push_back(one());
      }
    } else if (name == "enum") {
      made.kind = Kind::text;
      want('(');
      std::set<std::string> taken;
      do made.words.push_back(freshWord(taken));
      while (takes(','));
    } else if (name == "record" || name == "tuple") {
      made.kind = Kind::record;
      made.tuple = name == "tuple";
      want('(');
      std::set<std::string> taken;
      do {
        made.words.push_back(freshWord(taken));
        want(':');
        made.params.push_back(one());
      } while (takes(','));
    } else if (name == "row") {
      made.kind = Kind::row;
      want('(');
      const std::string table = word();
      const auto at = std::ranges::find(tables_, table);
      if (at == tables_.end()) stop("there is no table \"" + table + "\"");
      made.table = static_cast<std::uint32_t>(at - tables_.begin());
    } else {
      at_ = from;
      stop(concat("there is no type \"", clip(name, 64), "\": expected ", kTypes));
    }
    want(')');
    measure(made);
    return std::make_shared<const Type>(std::move(made));
  }

  std::string freshWord(std::set<std::string>& taken) {
    skip();
    const std::size_t from = at_;
    std::string name = word();
    if (taken.insert(name).second) return name;
    at_ = from;
    stop(concat("\"", clip(name), "\" comes twice"));
  }

  std::string_view text_;
  std::size_t at_ = 0, depth_ = 0;
  const NamedTypes& named_;
  const std::vector<std::string>& tables_;
};

}  // namespace

TypePtr typeOf(Kind kind, std::vector<TypePtr> params) {
  Type made{kind};
  made.params = std::move(params);
  measure(made);
  return std::make_shared<const Type>(std::move(made));
}

std::string show(const Type& type) {
  std::string out;
  const auto list = [&](const char* name, auto&& part) {
    out = std::string(name) + "(";
    for (std::size_t i = 0; i < std::max(type.params.size(), type.words.size()); ++i) out += (i ? ", " : "") + part(i);
    out += ")";
  };
  if (type.kind == Kind::text && !type.words.empty())
    list("enum", [&](std::size_t i) { return type.words[i]; });
  else if (type.kind == Kind::list || type.kind == Kind::map || type.kind == Kind::optional)
    list(type.kind == Kind::list  ? "list"
         : type.kind == Kind::map ? "map"
                                  : "optional",
         [&](std::size_t i) { return show(*type.params[i]); });
  else if (type.kind == Kind::record)
    list(type.tuple ? "tuple" : "record", [&](std::size_t i) { return type.words[i] + ": " + show(*type.params[i]); });
  else if (type.kind == Kind::variable)
    out = type.words[0];
  else if (type.kind == Kind::row)
    out = "row";
  else
    for (const auto& [name, kind] : kNames)
      if (kind == type.kind) out = name;
  return out + (type.nullable ? "?" : "");
}

Parsed<TypePtr> parseType(std::string_view text, const NamedTypes& named, const std::vector<std::string>& tables) {
  try {
    return Reader(text, named, tables).whole();
  } catch (SyntaxError& error) {
    return std::move(error);
  }
}

Parsed<std::vector<Parameter>> parseParameters(std::string_view text, const NamedTypes& named,
                                               const std::vector<std::string>& tables) {
  try {
    return Reader(text, named, tables).parameters();
  } catch (SyntaxError& error) {
    return std::move(error);
  }
}

bool assignable(const TypePtr& to, const TypePtr& from, Bindings& bound) {
  if (to->kind == Kind::variable) {
    TypePtr& known = bound[to->words[0]];
    if (!known || known->kind == Kind::dyn || assignable(from, known)) {
      // The wider of the two.
      if (!known || known->kind != Kind::dyn) known = from;
      return true;
    }
    return assignable(known, from);
  }
  if (to->kind == Kind::dyn || from->kind == Kind::dyn || from->kind == Kind::variable) return true;
  if (from->kind == Kind::null) return to->nullable || to->kind == Kind::null;
  if (to->kind != from->kind) return false;
  if (to->kind == Kind::row || to->kind == Kind::table) return to->table == from->table || to->kind == Kind::table;
  if (to->kind == Kind::record && to->words != from->words) return false;
  for (std::size_t i = 0; i < to->params.size(); ++i)
    if (!assignable(to->params[i], from->params[i], bound)) return false;
  return true;
}

bool assignable(const TypePtr& to, const TypePtr& from) {
  Bindings bound;
  return assignable(to, from, bound);
}

TypePtr substitute(const TypePtr& type, const Bindings& bound) {
  if (type->kind == Kind::variable) {
    const auto known = bound.find(type->words[0]);
    return known == bound.end() || !known->second ? typeOf(Kind::dyn) : known->second;
  }
  if (type->params.empty()) return type;
  Type made = *type;
  for (TypePtr& part : made.params) part = substitute(part, bound);
  return std::make_shared<const Type>(std::move(made));
}

TypePtr unionOf(const TypePtr& a, const TypePtr& b) {
  if (a->kind == Kind::null && b->kind != Kind::null) return b;
  if (b->kind == Kind::null) return a;
  if (a->kind == Kind::text && b->kind == Kind::text && a->words != b->words) return typeOf(Kind::text);
  if (assignable(a, b) && assignable(b, a)) return a->kind == Kind::dyn ? a : b;
  return typeOf(Kind::dyn);
}

const Type* unstorable(const Type& type) {
  const bool held = type.kind != Kind::dyn && type.kind != Kind::type && type.kind != Kind::optional &&
                    type.kind != Kind::row && type.kind != Kind::table && type.kind != Kind::variable;
  if (!held || (type.kind == Kind::map && type.params[0]->kind != Kind::text)) return &type;
  for (const TypePtr& part : type.params)
    if (const Type* found = unstorable(*part)) return found;
  return nullptr;
}

namespace {

Tag tagOf(Kind kind) {
  static constexpr std::array<std::pair<Kind, Tag>, 10> kTags{{{Kind::boolean, Tag::boolean},
                                                               {Kind::integer, Tag::integer},
                                                               {Kind::uinteger, Tag::uinteger},
                                                               {Kind::bytes, Tag::bytes},
                                                               {Kind::timestamp, Tag::timestamp},
                                                               {Kind::duration, Tag::duration},
                                                               {Kind::date, Tag::date},
                                                               {Kind::list, Tag::list},
                                                               {Kind::map, Tag::map},
                                                               {Kind::record, Tag::list}}};
  for (const auto& [known, tag] : kTags)
    if (known == kind) return tag;
  return kind == Kind::real ? Tag::real : kind == Kind::text ? Tag::text : Tag::absent;
}

}  // namespace

std::string unfit(const Value& value, const Type& type, std::string_view name) {
  if (value.is(Tag::null))
    return type.nullable || type.kind == Kind::null ? std::string() : concat(name, " cannot be null");
  if (!value.is(tagOf(type.kind)) || (type.kind == Kind::record && value.n != type.params.size()))
    return concat(name, ": expected ", clip(show(type), 200), ", found ", tagName(value.tag));
  if (value.is(Tag::real) && !std::isfinite(value.d))
    return concat(name, " cannot hold ", display(value), ": expected a finite number");
  if (value.is(Tag::text)) {
    if (!isUtf8(value.str())) return concat(name, ": a text must be UTF-8");
    if (type.words.empty() || std::ranges::find(type.words, value.str()) != type.words.end()) return {};
    return concat("\"", clip(value.str()), "\" is no word of ", name, ": expected ", show(type));
  }
  std::string why;
  if (value.is(Tag::list))
    for (std::uint32_t i = 0; i < value.n && why.empty(); ++i)
      why = unfit(value.items[i], *type.params[type.kind == Kind::record ? i : 0], name);
  if (value.is(Tag::map))
    for (std::uint32_t i = 0; i < value.n && why.empty(); ++i) {
      why = unfit(value.key(i), *type.params[0], name);
      if (why.empty()) why = unfit(value.value(i), *type.params[1], name);
    }
  return why;
}

}  // namespace witan::rules
