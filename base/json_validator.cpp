#include "base/json_validator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "base/quote.h"

namespace witan {

struct JsonValidator::Compiled {
  json::value schema;
  SchemaLimits limits;
  std::map<std::string, BoundedRegex, std::less<>> patterns;
  std::map<std::string, const json::value*, std::less<>> anchors;
  std::map<const json::object*, const json::value*> references;  // by the schema that has them
};

namespace {

// What the value of a keyword must be.
enum class Form { schema, schemas, named, patterned, text, pattern, count, number, flag, texts, textLists, any, type };

struct Keyword {
  std::string_view name;
  Form form;
};

// "$ref" and "$dynamicRef" mean the same within one resource. Annotations may be anything.
constexpr std::array kKeywords{Keyword{"$anchor", Form::text},
                               Keyword{"$comment", Form::any},
                               Keyword{"$defs", Form::named},
                               Keyword{"$dynamicAnchor", Form::text},
                               Keyword{"$dynamicRef", Form::text},
                               Keyword{"$id", Form::text},
                               Keyword{"$ref", Form::text},
                               Keyword{"$schema", Form::text},
                               Keyword{"additionalProperties", Form::schema},
                               Keyword{"allOf", Form::schemas},
                               Keyword{"anyOf", Form::schemas},
                               Keyword{"const", Form::any},
                               Keyword{"contains", Form::schema},
                               Keyword{"contentEncoding", Form::any},
                               Keyword{"contentMediaType", Form::any},
                               Keyword{"contentSchema", Form::any},
                               Keyword{"default", Form::any},
                               Keyword{"definitions", Form::named},
                               Keyword{"dependentRequired", Form::textLists},
                               Keyword{"dependentSchemas", Form::named},
                               Keyword{"deprecated", Form::any},
                               Keyword{"description", Form::any},
                               Keyword{"else", Form::schema},
                               Keyword{"enum", Form::any},
                               Keyword{"example", Form::any},
                               Keyword{"examples", Form::any},
                               Keyword{"exclusiveMaximum", Form::number},
                               Keyword{"exclusiveMinimum", Form::number},
                               Keyword{"format", Form::any},
                               Keyword{"if", Form::schema},
                               Keyword{"items", Form::schema},
                               Keyword{"maxContains", Form::count},
                               Keyword{"maxItems", Form::count},
                               Keyword{"maxLength", Form::count},
                               Keyword{"maxProperties", Form::count},
                               Keyword{"maximum", Form::number},
                               Keyword{"minContains", Form::count},
                               Keyword{"minItems", Form::count},
                               Keyword{"minLength", Form::count},
                               Keyword{"minProperties", Form::count},
                               Keyword{"minimum", Form::number},
                               Keyword{"multipleOf", Form::number},
                               Keyword{"not", Form::schema},
                               Keyword{"oneOf", Form::schemas},
                               Keyword{"pattern", Form::pattern},
                               Keyword{"patternProperties", Form::patterned},
                               Keyword{"prefixItems", Form::schemas},
                               Keyword{"properties", Form::named},
                               Keyword{"propertyNames", Form::schema},
                               Keyword{"readOnly", Form::any},
                               Keyword{"required", Form::texts},
                               Keyword{"then", Form::schema},
                               Keyword{"title", Form::any},
                               Keyword{"type", Form::type},
                               Keyword{"unevaluatedItems", Form::schema},
                               Keyword{"unevaluatedProperties", Form::schema},
                               Keyword{"uniqueItems", Form::flag},
                               Keyword{"writeOnly", Form::any}};

constexpr std::array<std::string_view, 7> kTypes{"null", "boolean", "object", "array", "number", "string", "integer"};
constexpr std::array<std::string_view, 2> kDialects{"https://json-schema.org/draft/2020-12/schema",
                                                    "http://json-schema.org/draft-07/schema"};

std::optional<long double> numberOf(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64()) return value.get_uint64();
  if (value.is_double()) return value.get_double();
  return std::nullopt;
}

bool isInteger(const json::value& value) {
  return value.is_int64() || value.is_uint64() ||
         (value.is_double() && std::floor(value.get_double()) == value.get_double());
}

bool isTextList(const json::value& value) {
  return value.is_array() && std::ranges::all_of(value.get_array(), [](const auto& one) { return one.is_string(); });
}

bool isType(const json::value& value) {
  return value.is_string() && std::ranges::find(kTypes, std::string_view(value.get_string())) != kTypes.end();
}

std::string_view textOf(const json::value& value) { return value.get_string(); }

// A fragment's escapes. Nothing: malformed.
std::optional<std::string> unescaped(std::string_view fragment) {
  std::string out;
  for (std::size_t i = 0; i < fragment.size(); ++i) {
    if (fragment[i] != '%') {
      out += fragment[i];
      continue;
    }
    int value = 0;
    const char* const from = fragment.data() + i + 1;
    if (i + 2 >= fragment.size() || std::from_chars(from, from + 2, value, 16).ptr != from + 2) return std::nullopt;
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

}  // namespace

// Reads a schema once, so that a check meets nothing that it does not know.
class SchemaReader {
 public:
  SchemaReader(JsonValidator::Compiled& into) : out_(into) {}

  Status read() {
    if (const json::object* root = out_.schema.if_object())
      if (const json::value* id = root->if_contains("$id"); id != nullptr && id->is_string()) id_ = textOf(*id);
    WITAN_DO(schema(out_.schema, "#", 0));
    for (const auto& [at, reference] : pending_) WITAN_DO(resolve(*at, reference));
    return okStatus();
  }

 private:
  static Error wrong(std::string_view place, std::string_view what) {
    return invalid(concat("the schema cannot be checked: ", place, ": ", what));
  }

  Status schema(const json::value& at, const std::string& place, std::size_t depth) {
    if (at.is_bool()) return known_.insert(&at), okStatus();
    if (!at.is_object()) return wrong(place, "a schema is an object, true or false");
    if (depth >= out_.limits.depth || ++count_ > out_.limits.schemas) return wrong(place, "too many schemas");
    known_.insert(&at);
    for (const auto& member : at.get_object()) {
      const std::string_view name = member.key();
      if (name.starts_with("x-")) continue;
      const auto found = std::ranges::find_if(kKeywords, [&](const Keyword& k) { return k.name == name; });
      if (found == kKeywords.end()) return wrong(place, "unknown keyword " + inQuotes(name));
      WITAN_DO(keyword(*found, member.value(), concat(place, "/", name), depth));
    }
    return names(at.get_object(), at, place);
  }

  Status keyword(const Keyword& keyword, const json::value& value, const std::string& place, std::size_t depth) {
    const auto need = [&](bool good, std::string_view what) { return good ? okStatus() : Status(wrong(place, what)); };
    switch (keyword.form) {
      case Form::any: return keyword.name == "enum" ? need(value.is_array(), "a list is expected") : okStatus();
      case Form::text: return need(value.is_string(), "a text is expected");
      case Form::flag: return need(value.is_bool(), "true or false is expected");
      case Form::texts: return need(isTextList(value), "a list of texts is expected");
      case Form::count: return need(isInteger(value) && *numberOf(value) >= 0, "a whole number from 0 on is expected");
      case Form::number:
        return need(numberOf(value) && (keyword.name != "multipleOf" || *numberOf(value) > 0), "a number is expected");
      case Form::type: return need(value.is_array() ? isTextList(value) && allTypes(value) : isType(value), "no type");
      case Form::pattern:
        WITAN_DO(need(value.is_string(), "a pattern is expected"));
        return pattern(textOf(value), place);
      case Form::schema: return schema(value, place, depth + 1);
      case Form::schemas:
        WITAN_DO(need(value.is_array() && !value.get_array().empty(), "a list of schemas is expected"));
        for (const json::value& one : value.get_array()) WITAN_DO(schema(one, place, depth + 1));
        return okStatus();
      case Form::textLists:
      case Form::named:
      case Form::patterned: break;
    }
    WITAN_DO(need(value.is_object(), "an object is expected"));
    for (const auto& member : value.get_object()) {
      const std::string inner = concat(place, "/", std::string_view(member.key()).substr(0, 64));
      if (keyword.form == Form::patterned) WITAN_DO(pattern(member.key(), inner));
      if (keyword.form == Form::textLists)
        WITAN_DO(need(isTextList(member.value()), "lists of texts are expected"));
      else
        WITAN_DO(schema(member.value(), inner, depth + 1));
    }
    return okStatus();
  }

  static bool allTypes(const json::value& value) { return std::ranges::all_of(value.get_array(), isType); }

  Status pattern(std::string_view text, const std::string& place) {
    if (out_.patterns.contains(text)) return okStatus();
    auto made = BoundedRegex::compile(text);
    if (!made.ok()) return wrong(place, made.error().message);
    out_.patterns.emplace(text, *std::move(made));
    return okStatus();
  }

  Status names(const json::object& object, const json::value& at, const std::string& place) {
    for (const std::string_view anchor : {"$anchor", "$dynamicAnchor"})
      if (const json::value* name = object.if_contains(anchor))
        if (!out_.anchors.emplace(textOf(*name), &at).second) return wrong(place, "an anchor that is there twice");
    if (&at != &out_.schema && object.contains("$id")) return wrong(place, "a schema with an id of its own");
    if (const json::value* dialect = object.if_contains("$schema")) {
      std::string_view name = textOf(*dialect);
      if (name.ends_with('#')) name.remove_suffix(1);
      if (std::ranges::find(kDialects, name) == kDialects.end()) return wrong(place, "another dialect of JSON Schema");
    }
    const json::value *reference = object.if_contains("$ref"), *dynamic = object.if_contains("$dynamicRef");
    if (reference != nullptr && dynamic != nullptr) return wrong(place, "two references");
    if (const json::value* to = reference != nullptr ? reference : dynamic) pending_.emplace_back(&object, textOf(*to));
    return okStatus();
  }

  Status resolve(const json::object& at, std::string_view reference) {
    const Error elsewhere = wrong(reference.substr(0, 256), "a reference to elsewhere, or to no schema");
    if (!id_.empty() && reference.starts_with(id_)) reference.remove_prefix(id_.size());
    if (!reference.empty() && reference.front() != '#') return elsewhere;
    const auto fragment = unescaped(reference.empty() ? reference : reference.substr(1));
    if (!fragment) return elsewhere;
    const json::value* to = nullptr;
    if (fragment->empty() || fragment->front() == '/') {
      boost::system::error_code failed;
      to = out_.schema.find_pointer(*fragment, failed);
    } else if (const auto anchor = out_.anchors.find(*fragment); anchor != out_.anchors.end()) {
      to = anchor->second;
    }
    if (to == nullptr || !known_.contains(to)) return elsewhere;
    out_.references.emplace(&at, to);
    return okStatus();
  }

  JsonValidator::Compiled& out_;
  std::string_view id_;
  std::size_t count_ = 0;
  std::set<const json::value*> known_;
  std::vector<std::pair<const json::object*, std::string_view>> pending_;
};

namespace {

// What the schemas that hold have looked at: for unevaluatedProperties and unevaluatedItems.
struct Seen {
  std::set<std::string_view> members;
  std::size_t items = 0;  // from the front
  std::set<std::size_t> others;
  void add(const Seen& also) {
    members.insert(also.members.begin(), also.members.end());
    items = std::max(items, also.items);
    others.insert(also.others.begin(), also.others.end());
  }
};

}  // namespace

// One check. A keyword that does not hold says so; the first to do so outside of alternatives is what the caller hears.
class SchemaCheck {
 public:
  explicit SchemaCheck(const JsonValidator::Compiled& schema) : c_(schema), steps_(schema.limits.steps) {}

  Status run(const json::value& value) {
    Seen seen;
    const bool holds = apply(c_.schema, value, seen);
    if (exhausted_) return invalid("the value takes too long to check");
    return holds ? okStatus() : Status(invalid(problem_));
  }

 private:
  using Object = json::object;

  bool apply(const json::value& schema, const json::value& value, Seen& seen) {
    spend(1);
    if (steps_ == 0 || depth_ >= c_.limits.depth) exhausted_ = true;
    if (exhausted_) return false;
    if (schema.is_bool()) return schema.get_bool() || fails("false");
    ++depth_;
    const Object& object = schema.get_object();
    Seen own;  // not what the schemas beside this one have seen
    const bool holds = inPlace(object, value, own) && plain(object, value) && ofText(object, value) &&
                       ofNumber(object, value) && ofArray(object, value, own) && ofObject(object, value, own);
    seen.add(own);
    --depth_;
    return holds && !exhausted_;
  }

  void spend(std::size_t steps) { steps_ -= std::min<std::uint64_t>(steps_, steps); }

  std::string canonical(const json::value& value) {
    std::string text = steps_ == 0 ? std::string() : canonicalJson(value);
    spend(1 + text.size() / 16);
    return text;
  }

  // A part of the value.
  bool applyAt(const json::value& schema, const json::value& part, std::string_view name) {
    Seen seen;
    path_.emplace_back(name.substr(0, 64));
    const bool holds = apply(schema, part, seen);
    path_.pop_back();
    return holds;
  }

  // Whether it would hold; says nothing.
  bool tries(const json::value& schema, const json::value& value, Seen& seen) {
    ++muted_;
    Seen inner;
    const bool holds = apply(schema, value, inner);
    --muted_;
    if (holds) seen.add(inner);
    return holds;
  }

  bool fails(std::string_view keyword) {
    if (muted_ > 0 || !problem_.empty()) return false;
    std::string place;
    for (const std::string& part : path_) place += "/" + part;
    problem_ = concat(place.empty() ? "the value" : inQuotes(place, 256), " does not hold to ", inQuotes(keyword));
    return false;
  }

  bool inPlace(const Object& schema, const json::value& value, Seen& seen) {
    if (const auto reference = c_.references.find(&schema); reference != c_.references.end())
      if (!apply(*reference->second, value, seen)) return false;
    if (const json::value* all = schema.if_contains("allOf"))
      for (const json::value& one : all->get_array())
        if (!apply(one, value, seen)) return false;
    if (const json::value* any = schema.if_contains("anyOf")) {
      bool one = false;
      for (const json::value& other : any->get_array()) one = tries(other, value, seen) || one;  // each may see more
      if (!one) return fails("anyOf");
    }
    if (const json::value* one = schema.if_contains("oneOf")) {
      std::size_t held = 0;
      Seen ofOne;
      for (const json::value& other : one->get_array()) held += tries(other, value, ofOne) ? 1 : 0;
      if (held != 1) return fails("oneOf");
      seen.add(ofOne);
    }
    if (const json::value* no = schema.if_contains("not")) {
      Seen nothing;
      if (tries(*no, value, nothing) && !exhausted_) return fails("not");
    }
    return conditions(schema, value, seen);
  }

  bool conditions(const Object& schema, const json::value& value, Seen& seen) {
    if (const json::value* when = schema.if_contains("if")) {
      const json::value* then = schema.if_contains(tries(*when, value, seen) ? "then" : "else");
      if (exhausted_ || (then != nullptr && !apply(*then, value, seen))) return false;
    }
    const Object* object = value.if_object();
    if (const json::value* dependent = schema.if_contains("dependentSchemas");
        dependent != nullptr && object != nullptr)
      for (const auto& member : dependent->get_object())
        if (object->contains(member.key()) && !apply(member.value(), value, seen)) return false;
    return true;
  }

  static bool isOf(std::string_view type, const json::value& value) {
    if (type == "null") return value.is_null();
    if (type == "boolean") return value.is_bool();
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    return type == "integer" ? isInteger(value) : value.is_number();
  }

  bool same(const json::value& a, const json::value& b) {
    if (a.kind() != b.kind() && !(a.is_number() && b.is_number())) return false;
    return canonical(a) == canonical(b);
  }

  bool plain(const Object& schema, const json::value& value) {
    if (const json::value* type = schema.if_contains("type")) {
      const bool good = type->is_array() ? std::ranges::any_of(type->get_array(),
                                                               [&](const auto& t) { return isOf(textOf(t), value); })
                                         : isOf(textOf(*type), value);
      if (!good) return fails("type");
    }
    if (const json::value* one = schema.if_contains("const"); one != nullptr && !same(*one, value))
      return fails("const");
    const json::value* many = schema.if_contains("enum");
    if (many == nullptr) return true;
    return std::ranges::any_of(many->get_array(), [&](const auto& one) { return same(one, value); }) || fails("enum");
  }

  // A count within minimum and maximum.
  bool counted(const Object& schema, std::size_t count, std::string_view least, std::string_view most) {
    if (const json::value* limit = schema.if_contains(least); limit != nullptr && count < *numberOf(*limit))
      return fails(least);
    const json::value* limit = schema.if_contains(most);
    return limit == nullptr || count <= *numberOf(*limit) || fails(most);
  }

  bool matches(std::string_view pattern, std::string_view text) {
    const auto found = c_.patterns.find(pattern)->second.search(text, steps_);
    if (!found) exhausted_ = true;
    return found.value_or(false);
  }

  bool ofText(const Object& schema, const json::value& value) {
    if (!value.is_string()) return true;
    const std::string_view text = textOf(value);
    spend(text.size() / 16);
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    const std::size_t length = text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues));
    if (!counted(schema, length, "minLength", "maxLength")) return false;
    const json::value* pattern = schema.if_contains("pattern");
    return pattern == nullptr || matches(textOf(*pattern), text) || fails("pattern");
  }

  static bool isMultiple(const json::value& value, const json::value& of) {
    if (value.is_double() || of.is_double()) {
      const long double a = *numberOf(value), b = *numberOf(of);
      if (std::floor(a) == a && std::floor(b) == b) return std::fmod(a, b) == 0;
      const double quotient = static_cast<double>(a) / static_cast<double>(b);
      return std::isfinite(quotient) && std::floor(quotient) == quotient;
    }
    return std::fmod(*numberOf(value), *numberOf(of)) == 0;
  }

  bool ofNumber(const Object& schema, const json::value& value) {
    const auto number = numberOf(value);
    if (!number) return true;
    const auto limit = [&](std::string_view name) -> std::optional<long double> {
      const json::value* found = schema.if_contains(name);
      return found == nullptr ? std::nullopt : numberOf(*found);
    };
    if (const auto l = limit("minimum"); l && *number < *l) return fails("minimum");
    if (const auto l = limit("maximum"); l && *number > *l) return fails("maximum");
    if (const auto l = limit("exclusiveMinimum"); l && *number <= *l) return fails("exclusiveMinimum");
    if (const auto l = limit("exclusiveMaximum"); l && *number >= *l) return fails("exclusiveMaximum");
    const json::value* of = schema.if_contains("multipleOf");
    return of == nullptr || isMultiple(value, *of) || fails("multipleOf");
  }

  bool ofArray(const Object& schema, const json::value& value, Seen& seen) {
    const json::array* list = value.if_array();
    if (list == nullptr) return true;
    if (!counted(schema, list->size(), "minItems", "maxItems")) return false;
    const json::value *first = schema.if_contains("prefixItems"), *rest = schema.if_contains("items");
    std::size_t done = 0;
    for (; first != nullptr && done < list->size() && done < first->get_array().size(); ++done)
      if (!applyAt(first->get_array()[done], (*list)[done], std::to_string(done))) return false;
    for (; rest != nullptr && done < list->size(); ++done)
      if (!applyAt(*rest, (*list)[done], std::to_string(done))) return false;
    seen.items = std::max(seen.items, done);
    if (!contains(schema, *list, seen)) return false;
    if (const json::value* once = schema.if_contains("uniqueItems"); once != nullptr && once->get_bool()) {
      std::set<std::string> all;
      for (const json::value& one : *list)
        if (!all.insert(canonical(one)).second) return fails("uniqueItems");
    }
    const json::value* others = schema.if_contains("unevaluatedItems");
    for (std::size_t i = seen.items; others != nullptr && i < list->size(); ++i)
      if (!seen.others.contains(i) && !applyAt(*others, (*list)[i], std::to_string(i))) return false;
    if (others != nullptr) seen.items = list->size();
    return true;
  }

  bool contains(const Object& schema, const json::array& list, Seen& seen) {
    const json::value* wanted = schema.if_contains("contains");
    if (wanted == nullptr) return true;
    std::size_t found = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      Seen inner;
      if (!tries(*wanted, list[i], inner)) continue;
      ++found;
      seen.others.insert(i);
    }
    if (!schema.contains("minContains") && found == 0) return fails("contains");
    return counted(schema, found, "minContains", "maxContains");
  }

  bool ofObject(const Object& schema, const json::value& value, Seen& seen) {
    const Object* object = value.if_object();
    if (object == nullptr) return true;
    if (!counted(schema, object->size(), "minProperties", "maxProperties")) return false;
    spend(schema.size() + object->size());
    if (const json::value* required = schema.if_contains("required"))
      for (const json::value& name : required->get_array())
        if (spend(1); !object->contains(textOf(name))) return fails(concat("required: ", textOf(name).substr(0, 64)));
    if (const json::value* dependent = schema.if_contains("dependentRequired"))
      for (const auto& member : dependent->get_object())
        for (const json::value& name : member.value().get_array())
          if (spend(1); object->contains(member.key()) && !object->contains(textOf(name)))
            return fails("dependentRequired");
    if (const json::value* names = schema.if_contains("propertyNames"))
      for (const auto& member : *object)
        if (!applyAt(*names, json::value(member.key()), member.key())) return false;
    for (const auto& member : *object)
      if (!ofMember(schema, member.key(), member.value(), seen)) return false;
    return true;
  }

  bool ofMember(const Object& schema, std::string_view name, const json::value& value, Seen& seen) {
    bool known = false;
    if (const json::value* properties = schema.if_contains("properties"))
      if (const json::value* own = properties->get_object().if_contains(name)) {
        known = true;
        if (!applyAt(*own, value, name)) return false;
      }
    if (const json::value* patterns = schema.if_contains("patternProperties"))
      for (const auto& member : patterns->get_object())
        if (matches(member.key(), name)) {
          known = true;
          if (!applyAt(member.value(), value, name)) return false;
        }
    if (const json::value* additional = schema.if_contains("additionalProperties"); !known && additional != nullptr) {
      known = true;
      if (!applyAt(*additional, value, name)) return false;
    }
    if (known) seen.members.insert(name);
    const json::value* others = schema.if_contains("unevaluatedProperties");
    if (others == nullptr || seen.members.contains(name)) return true;
    seen.members.insert(name);
    return applyAt(*others, value, name);
  }

  const JsonValidator::Compiled& c_;
  std::uint64_t steps_;
  std::size_t depth_ = 0;
  int muted_ = 0;
  bool exhausted_ = false;
  std::vector<std::string> path_;
  std::string problem_;
};

Result<JsonValidator> JsonValidator::compile(json::value schema, SchemaLimits limits) {
  const auto compiled = std::make_shared<Compiled>();
  compiled->schema = std::move(schema);
  compiled->limits = limits;
  WITAN_DO(SchemaReader(*compiled).read());
  return JsonValidator(compiled);
}

Status JsonValidator::check(const json::value& value) const { return SchemaCheck(*compiled_).run(value); }

}  // namespace witan
