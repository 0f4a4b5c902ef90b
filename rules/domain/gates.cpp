#include "rules/domain/gates.h"

#include <algorithm>

#include "base/utf8.h"
#include "rules/domain/rule_reader.h"
#include "rules/domain/value_json.h"
#include "rules/program/compiler.h"

namespace witan::rules {

namespace {

constexpr std::size_t kGatesMax = 64;
constexpr std::size_t kKeySlot = 5;

// In the order of the locals.
std::vector<Argument> variables() {
  const TypePtr state = typeOf(Type::Kind::map, {typeOf(Type::Kind::text), typeOf(Type::Kind::dyn)});
  const TypePtr time = typeOf(Type::Kind::timestamp), text = typeOf(Type::Kind::text);
  return {{"before", state}, {"after", state}, {"began", time}, {"now", time}, {"role", text}, {"key", text}};
}

class GateReader {
 public:
  GateReader(std::string_view file, const std::string& name, const kernel::Signature& signature,
             std::string_view policyJson)
      : file_(file), name_(name), signature_(signature) {
    names_.policy = valueOfJson(memory_, parseJson(policyJson, kOwnJson).value());
  }

  Result<Gate> gate(const std::string& name, const toml::node& node) {
    if (!node.is_table()) return wrong(node, name, "expected a table");
    const toml::table& table = *node.as_table();
    for (const auto& [key, value] : table)
      if (key != "rule" && key != "each" && key != "reached" && key != "evidence")
        return wrong(value, name, concat("unknown key \"", clip(key.str()), "\""));
    Gate made;
    made.name = name;
    made.rule = textOf(table, "rule");
    made.each = textOf(table, "each");
    if (made.rule.empty()) return wrong(node, name, "needs rule = \"...\", one sentence for people");
    const auto column = std::ranges::find(signature_.fields, made.each, &kernel::FieldInfo::name);
    if (!made.each.empty() && (column == signature_.fields.end() || !column->isColumn))
      return wrong(node, name, concat("each: there is no column \"", clip(made.each), "\""));
    WITAN_SET(made.reached, expression(table, node, name, "reached"));
    WITAN_SET(made.evidence, expression(table, node, name, "evidence"));
    return made;
  }

 private:
  Error wrong(const toml::node& node, const std::string& gate, const std::string& what) const {
    return invalid(concat(name_, ": line ", node.source().begin.line, ", column ", node.source().begin.column,
                          " (gate ", gate, "): ", what));
  }
  static std::string textOf(const toml::table& table, const char* key) {
    const auto* text = table.get_as<std::string>(key);
    return text == nullptr ? std::string() : text->get();
  }
  Result<Program> expression(const toml::table& table, const toml::node& node, const std::string& gate,
                             const char* key) {
    const std::string text = textOf(table, key);
    if (text.empty()) return wrong(node, gate, concat("needs ", key, " = \"...\""));
    const auto source = sourceTextOf(file_, *table.get(key), text, concat("gate ", gate));
    CompileOptions options;
    options.arguments = variables();
    options.expected = typeOf(Type::Kind::boolean);
    auto program = compileExpression(names_, source, options);
    if (!program.ok()) return invalid(concat(name_, ": ", program.error().message), program.error().hint);
    return program;
  }

  std::string_view file_;
  const std::string& name_;
  const kernel::Signature& signature_;
  Arena memory_;
  Names names_;
};

Result<bool> holds(const Gate& gate, const Program& program, const std::vector<Value>& locals, Arena& memory) {
  Machine machine(program, memory, nullptr, nullptr, Time{});
  for (std::size_t i = 0; i < locals.size(); ++i) machine.setLocal(i, locals[i]);
  const Value value = machine.evaluate(program.root);
  if (value.failed()) return invalid(concat("gate ", gate.name, ": ", machine.explain(value)));
  if (!value.is(Tag::boolean)) return invalid(concat("gate ", gate.name, ": expected bool"));
  return value.b;
}

}  // namespace

Result<std::unique_ptr<const Gates>> Gates::read(std::string_view toml, const std::string& name,
                                                 const kernel::Signature& signature, std::string_view policyJson) {
  auto gates = std::make_unique<Gates>();
  toml::table root;
  try {
    root = toml::parse(toml);
  } catch (const toml::parse_error& error) {
    return invalid(concat(name, ": line ", error.source().begin.line, ": ", error.description()));
  }
  const toml::table* section = root["gates"].as_table();
  if (section == nullptr) return std::unique_ptr<const Gates>(std::move(gates));
  if (section->size() > kGatesMax) return invalid(concat(name, ": a domain has at most ", kGatesMax, " gates"));
  GateReader reader(toml, name, signature, policyJson);
  for (const auto& [key, node] : *section) {
    WITAN_TRY(gate, reader.gate(std::string(key.str()), node));
    gates->gates_.push_back(std::move(gate));
  }
  return std::unique_ptr<const Gates>(std::move(gates));
}

Result<std::vector<Breach>> Gates::breaches(const Passage& passage) const {
  const ScratchArena memory;
  std::vector<Value> locals{valueOfJson(*memory, passage.before),
                            valueOfJson(*memory, passage.after),
                            Value::of(passage.began),
                            Value::of(passage.now),
                            Value::text(passage.role),
                            Value::text("")};
  std::vector<Breach> found;
  for (const Gate& gate : gates_) {
    std::vector<std::string> keys{""};
    if (!gate.each.empty()) {
      keys.clear();
      for (const auto& [key, value] : passage.after.at(gate.each).as_object()) keys.emplace_back(key);
    }
    for (const std::string& key : keys) {
      locals[kKeySlot] = Value::text(key);
      WITAN_TRY(reached, holds(gate, gate.reached, locals, *memory));
      if (!reached) continue;
      WITAN_TRY(evidence, holds(gate, gate.evidence, locals, *memory));
      if (!evidence) found.push_back({&gate, key});
    }
  }
  return found;
}

json::object withColumns(const kernel::DomainModule& module, const kernel::EntityState& state) {
  std::string text;
  module.writeState(text, state);
  json::object out = std::move(parseJson(text, kOwnJson).value().as_object());
  for (const kernel::FieldInfo& field : module.signature().fields)
    if (field.isColumn && !out.contains(field.name)) out[field.name] = json::object();
  return out;
}

}  // namespace witan::rules
