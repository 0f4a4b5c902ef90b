#include "rules/program/cases.h"

#include <charconv>

#include "base/bytes.h"
#include "rules/program/compiler.h"
#include "rules/program/compiler_core.h"

namespace witan::rules {

namespace {

template <class T>
std::optional<T> numberOf(std::string_view text) {
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return end == text.data() + text.size() && error != std::errc::invalid_argument ? std::optional(out) : std::nullopt;
}

Result<Value> valueFrom(Arena& arena, const json::value& j) {
  const auto wrong = [] { return invalid("vars: this is no typed value"); };
  if (j.is_null()) return Value{};
  if (j.is_bool()) return Value::of(j.get_bool());
  if (j.is_string()) return arena.copy({j.get_string().data(), j.get_string().size()});
  if (j.is_array()) {
    std::vector<Value> items;
    for (const json::value& item : j.get_array()) {
      WITAN_TRY(value, valueFrom(arena, item));
      items.push_back(value);
    }
    return arena.listOf(items);
  }
  if (!j.is_object() || j.get_object().size() != 1) return wrong();
  const auto& [kind, of] = *j.get_object().begin();
  if (kind == "map" && of.is_array()) {
    std::vector<Value> items;
    for (const json::value& pair : of.get_array()) {
      if (!pair.is_array() || pair.get_array().size() != 2) return wrong();
      for (const json::value& part : pair.get_array()) {
        WITAN_TRY(value, valueFrom(arena, part));
        items.push_back(value);
      }
    }
    return arena.listOf(items, Tag::map);
  }
  if (!of.is_string()) return wrong();
  const std::string_view text(of.get_string().data(), of.get_string().size());
  if (kind == "bytes") {
    WITAN_TRY(bytes, fromBase64(text));
    return arena.copy(bytes, Tag::bytes);
  }
  if (kind == "type") return arena.copy(text, Tag::type);
  const auto number = [&]<class T>(std::optional<T> n) -> Result<Value> {
    if (!n) return wrong();
    return Value::of(*n);
  };
  if (kind == "int") return number(numberOf<std::int64_t>(text));
  if (kind == "uint") return number(numberOf<std::uint64_t>(text));
  if (kind == "double") return number(numberOf<double>(text));
  return wrong();
}

json::value valueTo(const Value& v) {
  const auto typed = [&](const char* kind, std::string text) -> json::value {
    return json::object{{kind, std::move(text)}};
  };
  switch (v.tag) {
    case Tag::null: return nullptr;
    case Tag::boolean: return v.b;
    case Tag::integer: return typed("int", display(v));
    case Tag::uinteger: return typed("uint", display(v));
    case Tag::real: return typed("double", display(v));
    case Tag::text: return json::string(v.str());
    case Tag::bytes: return typed("bytes", toBase64(v.str()));
    case Tag::type: return typed("type", display(v));
    case Tag::list: {
      json::array out;
      for (const Value& item : v.elements()) out.push_back(valueTo(item));
      return out;
    }
    case Tag::map: {
      json::array out;
      for (std::size_t i = 0; i < v.n; ++i) out.push_back(json::array{valueTo(v.key(i)), valueTo(v.value(i))});
      return json::object{{"map", std::move(out)}};
    }
    default: return typed(tagName(v.tag), display(v));
  }
}

json::object answer(std::string_view name, const char* code, std::string_view message, LineColumn at) {
  return {{"name", name},
          {"error", json::object{{"code", code}, {"message", message}, {"line", at.line}, {"column", at.column}}}};
}

}  // namespace

Result<json::object> evaluateCase(std::string_view line) {
  WITAN_TRY(j, parseJson(line));
  const auto text = [&](const char* key) {
    const json::value* at = j.is_object() ? j.get_object().if_contains(key) : nullptr;
    return at != nullptr && at->is_string() ? std::optional(std::string(at->get_string())) : std::nullopt;
  };
  const auto name = text("name"), expression = text("expr");
  if (!name || !expression) return invalid("a case has a \"name\" and an \"expr\"");
  Arena arena;
  CompileOptions options;
  const json::value* unchecked = j.get_object().if_contains("unchecked");
  options.lenient = unchecked != nullptr && *unchecked == true;
  std::vector<Value> locals;
  if (const json::value* vars = j.get_object().if_contains("vars"); vars != nullptr && vars->is_object())
    for (const auto& [known, value] : vars->get_object()) {
      WITAN_TRY(made, valueFrom(arena, value));
      options.arguments.push_back({std::string(known), typeOfValue(made)});
      locals.push_back(made);
    }
  const auto source = std::make_shared<const SourceText>(SourceText{"", 1, 1, *expression});
  const Names names;
  // Once more for the place alone: the error of the compiler has it in words.
  auto program = compileExpression(names, source, options);
  if (!program) {
    std::size_t row = 1, column = 1;
    std::sscanf(program.error().message.c_str(), "line %zu, column %zu", &row, &column);
    return answer(*name, "invalid", program.error().message, {row, column});
  }
  Machine machine(*program, arena, nullptr, nullptr, Time{});
  for (std::size_t i = 0; i < locals.size(); ++i) machine.setLocal(i, locals[i]);
  const Value value = machine.evaluate(program->root);
  if (value.failed())
    return answer(*name, value.failure->code, value.failure->message,
                  lineColumn(program->sources[value.failure->source]->text, value.failure->at));
  return json::object{{"name", *name}, {"value", valueTo(value)}};
}

}  // namespace witan::rules
