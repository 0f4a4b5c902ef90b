#include "rules/domain/rule_reader.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/json_codec.h"
#include "base/quote.h"
#include "base/string_util.h"
#include "base/toml_text.h"
#include "base/utf8.h"
#include "kernel/record/statement.h"
#include "rules/domain/gates.h"
#include "rules/domain/value_json.h"
#include "rules/program/names.h"
#include "rules/program/scans.h"

namespace witan::rules {

using kernel::FieldMask;

namespace {

constexpr std::size_t kMost = 64;  // fields and invariants; a mask has as many bits

bool isName(std::string_view text, bool dots = false) {
  bool start = true;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (start ? !letter : !(letter || (c >= '0' && c <= '9') || (dots && c == '.'))) return false;
    start = c == '.';
  }
  return !start && text.size() <= 128;
}

std::string trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t\n");
  return from == std::string_view::npos ? ""
                                        : std::string(text.substr(from, text.find_last_not_of(" \t\n") - from + 1));
}

// Members of `over` replace those of `base`, objects by their members.
void merge(json::object& base, const json::object& over, const std::string& where) {
  for (const auto& [key, value] : over) {
    json::value* known = base.if_contains(key);
    if (known == nullptr) throw ReadStop{invalid(concat(where, ": unknown member ", inQuotes(clip(key))))};
    if (known->is_object() && value.is_object())
      merge(known->get_object(), value.get_object(), concat(where, ".", key));
    else if (known->kind() == value.kind() || (known->is_number() && value.is_number()))
      *known = value;
    else
      throw ReadStop{wrongJsonType(concat(where, ".", clip(key)), "a value of the kind that the rule file has", value)};
  }
}

json::value jsonOf(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    json::object out;
    for (const auto& [key, value] : *table) out[std::string(key.str())] = jsonOf(value);
    return out;
  }
  if (const auto* array = node.as_array()) {
    json::array out;
    for (const auto& item : *array) out.push_back(jsonOf(item));
    return out;
  }
  if (const auto* integer = node.as_integer()) return json::value(integer->get());
  const auto place = [&] {
    return concat("line ", node.source().begin.line, ", column ", node.source().begin.column, ": expected ");
  };
  if (const auto* real = node.as_floating_point()) {
    if (!std::isfinite(real->get())) throw ReadStop{invalid(place() + "a finite number")};
    return json::value(real->get());
  }
  if (const auto* flag = node.as_boolean()) return json::value(flag->get());
  if (const auto* text = node.as_string()) return json::value(text->get());
  throw ReadStop{invalid(place() + "a number, a text, true or false: write dates and times as texts")};
}

}  // namespace

std::shared_ptr<const SourceText> sourceTextOf(std::string_view file, const toml::node& node, std::string text,
                                               std::string name) {
  SourceText source{std::move(name), node.source().begin.line, node.source().begin.column, std::move(text)};
  // Behind the opening quotes; a line end right behind three of them does not count.
  std::size_t at = 0;
  for (std::size_t line = 1; line < source.line && at != std::string::npos; ++line) at = file.find('\n', at) + 1;
  std::string_view raw = file.substr(std::min(at, file.size()));
  std::size_t begin = 0;
  for (std::size_t column = 1; column < source.column && begin < raw.size(); ++begin)
    if ((raw[begin + 1 < raw.size() ? begin + 1 : begin] & 0xC0) != 0x80) ++column;
  raw = raw.substr(std::min(begin, raw.size()));
  const bool three = raw.starts_with("'''") || raw.starts_with("\"\"\"");
  source.column += three ? 3 : 1;
  if (three && (raw.substr(3).starts_with("\n") || raw.substr(3).starts_with("\r\n"))) {
    ++source.line;
    source.column = 1;
  }
  return std::make_shared<const SourceText>(std::move(source));
}

RuleReader::RuleReader(std::string text, const std::string& name, const json::object& policy)
    : name_(name), given_(policy) {
  domain_->text = std::move(text);
}

void RuleReader::stop(const toml::source_region& where, const std::string& what, std::string hint) const {
  stop(invalid(concat("line ", where.begin.line, ", column ", where.begin.column, ": ", what), std::move(hint)));
}

void RuleReader::stop(Error error) const {
  error.message = concat(name_, ": ", error.message);
  throw ReadStop{std::move(error)};
}

RuleReader::Entries RuleReader::entries(const toml::table& table) const {
  std::vector<std::pair<const toml::key*, const toml::node*>> found;
  for (const auto& [key, value] : table) found.emplace_back(&key, &value);
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    const auto &x = a.first->source().begin, &y = b.first->source().begin;
    return x.line != y.line ? x.line < y.line : x.column < y.column;
  });
  Entries out;
  for (const auto& [key, value] : found) out.emplace_back(std::string(key->str()), value);
  return out;
}

RuleReader::Entries RuleReader::section(const char* key) const {
  const toml::node* node = root_.get(key);
  if (node == nullptr) return {};
  if (!node->is_table()) stop(node->source(), concat("expected a table [", key, "]"));
  return entries(*node->as_table());
}

void RuleReader::onlyKeys(const toml::table& table, const std::vector<std::string>& known) const {
  for (const auto& [key, value] : table)
    if (std::ranges::find(known, key.str()) == known.end())
      stop(key.source(), concat("unknown key ", inQuotes(clip(key.str()))), "known: " + joined(known));
}

const toml::node* RuleReader::find(const toml::table& table, const char* key) const { return table.get(key); }

std::string RuleReader::textOf(const toml::node& node, const char* what) const {
  if (!node.is_string()) stop(node.source(), concat("expected a text: ", what));
  const std::string& text = node.as_string()->get();
  if (!isUtf8(text)) stop(node.source(), "a text must be UTF-8");
  return text;
}

std::string RuleReader::optionalText(const toml::table& table, const char* key) const {
  const toml::node* node = find(table, key);
  return node == nullptr ? "" : textOf(*node, key);
}

std::vector<std::string> RuleReader::textsOf(const toml::table& table, const char* key) const {
  std::vector<std::string> out;
  const toml::node* node = find(table, key);
  if (node == nullptr) return out;
  if (!node->is_array()) stop(node->source(), concat("expected a list of texts: ", key));
  for (const auto& item : *node->as_array()) out.push_back(textOf(item, key));
  return out;
}

std::shared_ptr<const SourceText> RuleReader::sourceOf(const toml::node& node, std::string name) const {
  return sourceTextOf(domain_->text, node, textOf(node, "an expression"), std::move(name));
}

const toml::table& RuleReader::tableOf(const std::pair<std::string, const toml::node*>& entry) const {
  if (!entry.second->is_table()) stop(entry.second->source(), concat(entry.first, ": expected a table"));
  return *entry.second->as_table();
}

// ---- parts of the file

std::shared_ptr<const RuleDomain> RuleReader::read() && {
  if (domain_->text.size() > kFileMax) stop(invalid(concat("a rule file has at most ", kFileMax, " bytes")));
  if (!isUtf8(domain_->text)) stop(invalid("a rule file is UTF-8"));
  if (const Status keys = checkTomlKeys(domain_->text, name_); !keys.ok()) throw ReadStop{keys.error()};
  try {
    root_ = toml::parse(domain_->text);
  } catch (const toml::parse_error& error) {
    stop(error.source(), std::string(error.description()), "types and texts stand in quotes");
  }
  head();
  types();
  fields();
  policy();
  functions();
  belongs();
  defaults();
  processes();
  invariants();
  roles();
  checkSince();
  if (root_.contains("gates"))
    if (auto gates = Gates::read(domain_->text, name_, domain_->signature, canonicalJson(domain_->policy)); !gates.ok())
      throw ReadStop{gates.error()};
  domain_->literals.assign(literals_.begin(), literals_.end());
  domain_->numbers.assign(numbers_.begin(), numbers_.end());
  return domain_;
}

namespace {

bool isControl(char c) { return (0 <= c && c < 0x20) || c == 0x7F; }

// Greek and Cyrillic letters stand in for Latin ones: two bytes, CD B0 to D4 AF.
bool mixesScripts(std::string_view name) {
  bool latin = false, other = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    latin = latin || (c < 0x80 && std::isalpha(c));
    other = other || (0xCD <= c && c <= 0xD4);
  }
  return latin && other;
}

std::string flawOfCounselor(const std::string& name) {
  if (!isCanonicalName(name)) return "is no name of a counselor";
  if (name == kernel::kSystemCounselor) return "is the kernel itself, which answers what waited too long";
  return mixesScripts(name) ? "mixes letters of two scripts, which look alike" : "";
}

// Devices get roles by name (udt.LabOrder, udt.LabOrder:read), so that the words of the roster are none.
std::string flawOfRole(const std::string& role) {
  if (role.size() > kernel::kKeyMax) return "the name of a role is too long";
  for (const std::string_view taken : {"counselor", "begin", "system"})
    if (role == taken) return concat("the role ", role, " is the cluster's own: choose another name");
  const bool plain = std::ranges::all_of(
      role, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; });
  return plain ? "" : "the name of a role has letters, digits, _ and - only";
}

}  // namespace

void RuleReader::head() {
  onlyKeys(root_,
           {"domain", "version", "since", "title", "counselors", "lifecycle", "human", "instances", "belongs", "gates",
            "policy", "types", "fields", "tables", "logs", "functions", "processes", "invariants", "scenarios"});
  kernel::Signature& s = domain_->signature;
  s.domain = optionalText(root_, "domain");
  const bool lawful = !s.domain.empty() && s.domain.size() <= 64 &&
                      s.domain.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  const toml::node* at = find(root_, "domain");
  if (!lawful)
    stop(at == nullptr ? root_.source() : at->source(), "domain = \"...\" must be 1 to 64 of a-z, 0-9 and -");
  s.title = optionalText(root_, "title");
  if (std::ranges::any_of(s.title, isControl)) stop(find(root_, "title")->source(), "a title is one line");
  s.counselors = textsOf(root_, "counselors");
  for (const std::string& name : s.counselors)
    if (const std::string why = flawOfCounselor(name); !why.empty())
      stop(find(root_, "counselors")->source(), concat(inQuotes(clip(name)), " ", why));
  domain_->scenarios = optionalText(root_, "scenarios");
  versions();
  names_.layout = &domain_->layout;
}

void RuleReader::types() {
  for (const auto& [name, node] : section("types")) {
    const auto source = sourceOf(*node, "type " + name);
    if (!isName(name)) stop(node->source(), concat(inQuotes(name), " is no name"));
    types_[name] = orStop(parseType(source->text, types_), *source);
  }
}

void RuleReader::addField(const std::string& name, const toml::node& node, FieldDecl field) {
  Layout& layout = domain_->layout;
  if (!isName(name, true)) stop(node.source(), concat(inQuotes(clip(name)), " is no name of a field"));
  for (const char* taken : {"clock", "policy", "waivers", "now", "key"})
    if (name == taken) stop(node.source(), concat(inQuotes(name), " belongs to the kernel: choose another name"));
  if (std::ranges::find(layout.fields, name, &FieldDecl::name) != layout.fields.end())
    stop(node.source(), concat("the field ", inQuotes(name), " comes twice"));
  if (layout.fields.size() == kMost) stop(node.source(), concat("a domain has at most ", kMost, " fields"));
  field.name = name;
  const auto source = sourceOf(node, "field " + name);
  // As an argument: name, type, and what it is at first.
  const std::string declaration = "x: " + source->text;
  const auto parameter = orStop(parseParameters(declaration, types_, layout.tableNames()), *source, 3);
  if (parameter.size() != 1) stop(node.source(), "expected one type");
  field.type = parameter[0].type;
  if (const Type* within = unstorable(*field.type); within != nullptr || (field.isColumn && field.type->nullable))
    stop(node.source(), concat("a field cannot be of type ", show(within != nullptr ? *within : *field.type)));
  if (field.human &&
      (field.type->kind != Type::Kind::record || !field.type->tuple || field.type->params.size() < 2 ||
       field.type->params[0]->kind != Type::Kind::text || field.type->params[1]->kind != Type::Kind::timestamp))
    stop(node.source(),
         concat("a human field has a type tuple(by: string, at: timestamp, ...), found ", show(*field.type)),
         "the kernel writes the counselor and the time of the decision into the first two");
  std::shared_ptr<const SourceText> byDefault;
  if (!parameter[0].defaultText.empty()) {
    if (field.isColumn) stop(node.source(), "only a field of [fields] has a default");
    byDefault = std::make_shared<const SourceText>(
        SourceText{source->name, source->line, source->column + source->text.size() - parameter[0].defaultText.size(),
                   std::string(parameter[0].defaultText)});
  }
  const auto index = static_cast<std::uint32_t>(layout.fields.size());
  if (field.isColumn) {
    TableDecl& table = layout.tables[field.table];
    field.column = static_cast<std::uint32_t>(table.fields.size());
    table.fields.push_back(index);
    table.mask |= FieldMask{1} << index;
  }
  domain_->signature.fields.push_back(
      {name, field.isColumn ? "map<text, " + typeName(*field.type) + ">" : typeName(*field.type), field.isColumn,
       field.lifecycle, field.human ? static_cast<std::uint8_t>(field.type->params.size()) : std::uint8_t{0}});
  domain_->initial.emplace_back(firstValue(memory_, *field.type));
  layout.fields.push_back(std::move(field));
  defaultTexts_.push_back(std::move(byDefault));
}

void RuleReader::fields() {
  Layout& layout = domain_->layout;
  const std::vector<std::string> lifecycle = textsOf(root_, "lifecycle");
  const std::vector<std::string> human = textsOf(root_, "human");
  for (const auto& entry : section("tables")) {
    if (!isName(entry.first))
      stop(entry.second->source(), concat(inQuotes(clip(entry.first)), " is no name of a table"));
    layout.tables.push_back({entry.first});
  }
  const auto phase = [&](const std::string& name) { return std::ranges::find(lifecycle, name) != lifecycle.end(); };
  for (const auto& entry : section("tables")) {
    FieldDecl column{.isColumn = true};
    column.table = tableNamed(entry.first, *entry.second);
    for (const auto& [name, node] : entries(tableOf(entry))) {
      column.lifecycle = phase(name);
      column.human = std::ranges::find(human, name) != human.end();
      addField(name, *node, column);
    }
  }
  for (const auto& [name, node] : section("logs")) {
    FieldDecl log{.isColumn = true,
                  .isLog = true,
                  .lifecycle = phase(name),
                  .table = static_cast<std::uint32_t>(layout.tables.size())};
    layout.tables.push_back({name});
    layout.tables.back().log = true;
    addField(name, *node, log);
  }
  for (const auto& [name, node] : section("fields")) addField(name, *node, {.lifecycle = phase(name)});
  versionField();
  if (layout.fields.empty()) stop(invalid("a domain needs a field in [fields], [tables.NAME] or [logs]"));
  const FieldMask marked = maskOf(root_, "human"), instances = maskOf(root_, "instances");
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    if ((marked >> i & 1) != 0 && !layout.fields[i].human)
      stop(find(root_, "human")->source(), concat(layout.fields[i].name, ": only a column of [tables.NAME] is human"));
    if ((instances >> i & 1) == 0) continue;
    if (!layout.fields[i].isColumn || layout.fields[i].isLog)
      stop(find(root_, "instances")->source(), concat(layout.fields[i].name, ": expected a column of [tables.NAME]"));
    domain_->signature.fields[i].instances = true;
  }
}

std::uint32_t RuleReader::tableNamed(const std::string& name, const toml::node& node) const {
  const auto& tables = domain_->layout.tables;
  const auto at = std::ranges::find(tables, name, &TableDecl::name);
  if (at == tables.end()) stop(node.source(), concat("there is no table ", inQuotes(clip(name))));
  return static_cast<std::uint32_t>(at - tables.begin());
}

void RuleReader::policy() {
  if (const toml::node* node = root_.get("policy")) {
    if (!node->is_table()) stop(node->source(), "expected a table [policy]");
    try {
      domain_->policy = jsonOf(*node).as_object();
    } catch (ReadStop& wrong) {
      stop(std::move(wrong.error));
    }
  }
  merge(domain_->policy, given_, "policy");
  names_.policy = valueOfJson(memory_, domain_->policy);
}

void RuleReader::functions() {
  for (const auto& [signature, node] : section("functions")) {
    const std::size_t open = signature.find('(');
    const std::string name = trimmed(signature.substr(0, open));
    if (open == std::string::npos || !signature.ends_with(')') || !isName(name))
      stop(node->source(), concat("expected \"name(argument: type)\", found ", inQuotes(clip(signature))));
    const SourceText head{"function " + name, node->source().begin.line, 1, signature};
    RuleFunction made;
    made.parameters = orStop(parseParameters(std::string_view(signature).substr(open + 1, signature.size() - open - 2),
                                             types_, domain_->layout.tableNames()),
                             head);
    made.source = sourceOf(*node, "function " + name);
    made.body = orStop(parseExpression(made.source->text), *made.source);
    // Checked here as well, so that an error stands where it is and not where the function is first called.
    CompileOptions options;
    for (const Parameter& parameter : made.parameters) options.arguments.push_back({parameter.name, parameter.type});
    collect(orStop(compileExpression(names_, made.source, options)));
    if (!names_.functions.emplace(name, std::move(made)).second)
      stop(node->source(), concat("the function ", inQuotes(name), " comes twice"));
  }
}

void RuleReader::belongs() {
  domain_->belongs.resize(domain_->layout.tables.size());
  for (const auto& [table, node] : section("belongs")) {
    const std::uint32_t index = tableNamed(table, *node);
    CompileOptions options;
    options.arguments = {{"row", rowType(index)}};
    options.expected = typeOf(Type::Kind::list, {typeOf(Type::Kind::text)});
    domain_->belongs[index] = orStop(compileExpression(names_, sourceOf(*node, "belongs of " + table), options));
  }
}

// What a loop over a table's rows names: a row, or the fact of a log.
TypePtr RuleReader::rowType(std::uint32_t table) const {
  const TableDecl& of = domain_->layout.tables[table];
  if (of.log) return domain_->layout.fields[of.fields[0]].type;
  Type type{Type::Kind::row};
  type.table = table;
  return std::make_shared<const Type>(type);
}

void RuleReader::defaults() {
  domain_->defaults.resize(domain_->layout.fields.size());
  for (std::size_t i = 0; i < defaultTexts_.size(); ++i) {
    if (!defaultTexts_[i]) continue;
    CompileOptions options;
    options.expected = domain_->layout.fields[i].type;
    options.process = true;  // "now" is the time at which the entity begins
    domain_->defaults[i] = orStop(compileExpression(names_, defaultTexts_[i], options));
    collect(*domain_->defaults[i]);
    checkDefault(i);
  }
}

// One that is the same for each entity is computed here as well: else no entity could begin.
void RuleReader::checkDefault(std::size_t i) {
  const Program& program = *domain_->defaults[i];
  const FieldDecl& field = domain_->layout.fields[i];
  if (program.reads != 0 || std::ranges::any_of(program.nodes, [](const Node& n) { return n.op == Op::now; })) return;
  const RuleState empty(domain_->layout);
  const kernel::PublicFields shared;
  Machine machine(program, memory_, &empty, &shared, Time{});
  const Value value = machine.evaluate(program.root);
  const std::string why = value.failed() ? value.failure->message : unfit(value, *field.type, field.name);
  if (!why.empty()) stop(errorAt(*defaultTexts_[i], value.failed() ? value.failure->at : 0, why));
}

FieldMask RuleReader::maskOf(const toml::table& table, const char* key) const {
  FieldMask mask = 0;
  const auto& fields = domain_->layout.fields;
  for (const std::string& name : textsOf(table, key)) {
    const auto at = std::ranges::find(fields, name, &FieldDecl::name);
    if (at == fields.end()) stop(find(table, key)->source(), concat(key, ": unknown field ", inQuotes(clip(name))));
    mask |= FieldMask{1} << (at - fields.begin());
  }
  return mask;
}

Stored RuleReader::constantOf(std::string_view text, const TypePtr& type, const SourceText& source, std::uint32_t at) {
  const auto part =
      std::make_shared<const SourceText>(SourceText{source.name, source.line, source.column + at, std::string(text)});
  CompileOptions options;
  options.expected = type;
  const Program program = orStop(compileExpression(names_, part, options));
  Machine machine(program, memory_, nullptr, nullptr, Time{});
  const Node& root = program.nodes[program.root];
  if (root.op != Op::constant) stop(errorAt(*part, 0, "expected a constant"));
  const Value value = machine.evaluate(program.root);
  if (const std::string why = unfit(value, *type, "the default"); !why.empty()) stop(errorAt(*part, 0, why));
  return Stored(value);
}

void RuleReader::arguments(RuleProcess& process, const toml::node& node, std::vector<Argument>& names) {
  const auto source = sourceOf(node, "process " + process.name);
  const auto parameters = orStop(parseParameters(source->text, types_, domain_->layout.tableNames()), *source);
  bool optional = false;
  for (const Parameter& p : parameters) {
    RuleArgument argument{p.name, p.type, {}};
    if (const Type* within = unstorable(*p.type))
      stop(errorAt(*source, p.at, concat("an argument cannot be of type ", show(*within))));
    if (p.name == "type") stop(errorAt(*source, p.at, "\"type\" is the name of the action: choose another name"));
    if (std::ranges::find(names, p.name, &Argument::name) != names.end())
      stop(errorAt(*source, p.at, concat("the argument ", inQuotes(p.name), " comes twice")));
    if (!p.defaultText.empty())
      argument.byDefault = constantOf(p.defaultText, p.type, *source,
                                      static_cast<std::uint32_t>(p.defaultText.data() - source->text.data()));
    else if (p.type->nullable)
      argument.byDefault = Stored(Value{});
    if (optional && !argument.byDefault.present())
      stop(errorAt(*source, p.at, concat("the argument ", inQuotes(p.name), " has no default, but one before it has")));
    optional = argument.byDefault.present();
    names.push_back({p.name, p.type});
    process.arguments.push_back(std::move(argument));
  }
  if (parameters.size() > 32) stop(node.source(), "a process has at most 32 arguments");
}

void RuleReader::process(const std::string& name, const toml::table& table) {
  onlyKeys(table, {"role", "arguments", "reads", "writes", "do"});
  if (!isName(name)) stop(table.source(), concat(inQuotes(clip(name)), " is no name of a process"));
  RuleProcess process;
  process.name = name;
  kernel::ProcessInfo info;
  info.name = name;
  info.role = optionalText(table, "role");
  if (const toml::node* role = find(table, "role"); role != nullptr && trimmed(info.role).empty())
    stop(role->source(), "a role needs a name", "leave it out for what only a counselor performs");
  if (const std::string why = flawOfRole(info.role); !why.empty()) stop(find(table, "role")->source(), why);
  process.proposable = !info.role.empty();
  std::vector<Argument> names;
  if (const toml::node* node = find(table, "arguments")) arguments(process, *node, names);
  info.reads = maskOf(table, "reads");
  info.writes = maskOf(table, "writes");
  if (const toml::node* node = find(table, "do")) {
    if (!process.proposable) stop(table.source(), concat("process ", name, " needs a role, which proposes it"));
    CompileOptions options;
    options.arguments = names;
    options.process = true;
    process.body = orStop(compileScript(names_, guarded(sourceOf(*node, "process " + name), name, true), options));
    info.reads |= process.body.reads;
    info.writes |= process.body.writes;
    collect(process.body);
  } else if (process.proposable) {
    stop(table.source(), concat("process ", name, " needs do = '''...'''"),
         "only a process without a role has none: a counselor performs it");
  }
  process.footprint = info.reads | info.writes;
  json::object members;
  json::array required;
  for (const RuleArgument& argument : process.arguments) {
    info.arguments.emplace_back(argument.name, typeName(*argument.type));
    members[argument.name] = schemaOf(*argument.type);
    if (argument.byDefault.present()) continue;
    ++info.required;
    required.push_back(json::string(argument.name));
  }
  info.schema = kernel::actionJsonSchema(name, {{"type", "object"},
                                                {"properties", std::move(members)},
                                                {"required", std::move(required)},
                                                {"additionalProperties", false}});
  declared_.emplace_back(std::move(info), std::move(process));
}

void RuleReader::processes() {
  for (const auto& entry : section("processes")) process(entry.first, tableOf(entry));
  upgradeProcess();
  if (declared_.empty() || declared_.size() > 1000)
    stop(invalid("a domain has 1 to 1,000 processes: [processes.NAME]"));
}

// Processes by role, in the order in which the roles come; those of counselors last.
void RuleReader::roles() {
  kernel::Signature& s = domain_->signature;
  for (const auto& [info, process] : declared_)
    if (!info.role.empty() && std::ranges::find(s.roles, info.role, &kernel::RoleInfo::name) == s.roles.end())
      s.roles.push_back({info.role});
  for (kernel::RoleInfo& role : s.roles)
    for (auto& [info, process] : declared_) {
      if (info.role != role.name) continue;
      role.footprint |= info.footprint();
      role.writes |= info.writes;
      s.processes.push_back(info);
      domain_->processes.push_back(std::move(process));
    }
  for (auto& [info, process] : declared_)
    if (info.role.empty()) s.processes.push_back(info);
}

void RuleReader::invariants() {
  for (const auto& entry : section("invariants")) invariant(entry.first, tableOf(entry), *entry.second);
}

void RuleReader::invariant(const std::string& id, const toml::table& table, const toml::node& node) {
  if (!isName(id)) stop(node.source(), concat(inQuotes(clip(id)), " is no id of an invariant"));
  if (id == kernel::kKernelIntegrity) stop(node.source(), concat(id, " is the kernel's own: choose another id"));
  if (domain_->invariants.size() == kMost) stop(node.source(), concat("a domain has at most ", kMost, " invariants"));
  const std::string rule = optionalText(table, "rule");
  if (rule.empty()) stop(node.source(), concat(id, " needs rule = \"...\", one sentence for people"));
  RuleInvariant made;
  made.id = id;
  if (const toml::node* parts = find(table, "parts")) {
    onlyKeys(table, {"rule", "parts"});
    if (!parts->is_array_of_tables() || parts->as_array()->size() > 16)
      stop(parts->source(), concat("expected at most 16 tables [[invariants.", id, ".parts]]"));
    for (const auto& one : *parts->as_array()) made.parts.push_back(part(id, *one.as_table()));
  } else {
    made.parts.push_back(part(id, table));
  }
  for (const RulePart& one : made.parts) made.footprint |= one.check.reads;
  describe(made, rule);
  domain_->invariants.push_back(std::move(made));
}

RulePart RuleReader::part(const std::string& id, const toml::table& table) {
  onlyKeys(table, {"rule", "each", "others", "check"});
  RulePart made;
  CompileOptions options;
  std::string row;
  if (const toml::node* each = find(table, "each")) {
    const std::string text = textOf(*each, "\"table as row\"");
    const std::size_t as = text.find(" as ");
    row = as == std::string::npos ? "" : trimmed(text.substr(as + 4));
    if (!isName(row)) stop(each->source(), concat("expected \"table as row\", found ", inQuotes(clip(text))));
    made.each = tableNamed(trimmed(text.substr(0, as)), *each);
    options.arguments = {{row, rowType(*made.each)}};
  }
  const toml::node* check = find(table, "check");
  if (check == nullptr) stop(table.source(), concat(id, " needs check = '''...'''"));
  made.check = orStop(compileScript(names_, guarded(sourceOf(*check, "invariant " + id), id, false), options));
  if (made.each && (made.check.reads & domain_->layout.tables[*made.each].mask) == 0)
    made.check.reads |= domain_->layout.tables[*made.each].mask;
  findScans(made.check, domain_->layout);
  collect(made.check);
  if (const toml::node* more = find(table, "others")) {
    if (!made.each) stop(more->source(), "only an invariant with each = \"table as row\" has others");
    others(made, id, *more, row);
  }
  return made;
}

// "other in table: expression" or "other in table when expression: expression", one or a list of them.
void RuleReader::others(RulePart& part, const std::string& id, const toml::node& node, const std::string& row) {
  const toml::array* list = node.as_array();
  const std::size_t n = list == nullptr ? 1 : list->size();
  for (std::size_t i = 0; i < n; ++i) {
    const toml::node& one = list == nullptr ? node : *list->get(i);
    const auto source = sourceOf(one, "others of " + id);
    const std::string& text = source->text;
    const std::size_t in = text.find(" in "), colon = text.find(':');
    const std::string other = in == std::string::npos ? "" : trimmed(text.substr(0, in));
    if (colon == std::string::npos || in > colon || !isName(other) || other == row)
      stop(one.source(), "expected \"other in table: expression\"");
    const std::size_t when = std::min(text.find(" when ", in + 4), colon);
    RulePart::Others made;
    made.table = tableNamed(trimmed(text.substr(in + 4, when - in - 4)), one);
    const auto program = [&](std::size_t from, std::size_t to,
                             std::vector<std::pair<std::string, std::uint32_t>> rows) {
      // Line ends in place of what stands before, so that places stay right.
      std::string rest = text.substr(0, to);
      for (std::size_t at = 0; at < from; ++at)
        if (rest[at] != '\n') rest[at] = ' ';
      CompileOptions options;
      for (const auto& [name, table] : rows) options.arguments.push_back({name, rowType(table)});
      options.expected = typeOf(Type::Kind::boolean);
      options.changes = true;
      return orStop(compileExpression(
          names_, std::make_shared<const SourceText>(SourceText{source->name, source->line, source->column, rest}),
          options));
    };
    if (when < colon) made.guard = program(when + 6, colon, {{other, made.table}});
    made.affects = program(colon + 1, text.size(), {{row, *part.each}, {other, made.table}});
    findScans(made.affects, domain_->layout, *part.each);
    part.others.push_back(std::move(made));
  }
}

namespace {

void outcomesOf(const std::vector<Step>& steps, bool& rejects, bool& escalates) {
  for (const Step& step : steps) {
    rejects = rejects || step.otherwise == kernel::InvResult::reject;
    escalates = escalates || step.otherwise == kernel::InvResult::escalate;
    outcomesOf(step.body, rejects, escalates);
    outcomesOf(step.other, rejects, escalates);
  }
}

}  // namespace

void RuleReader::describe(const RuleInvariant& invariant, std::string rule) {
  kernel::InvariantInfo info;
  info.id = invariant.id;
  info.footprint = invariant.footprint;
  bool rejects = false, escalates = false;
  info.incremental = true;
  for (const RulePart& part : invariant.parts) {
    outcomesOf(part.check.steps, rejects, escalates);
    info.incremental = info.incremental && part.each.has_value();
  }
  info.mixed = rejects && escalates;
  info.onFailure = rejects || !escalates ? kernel::InvResult::reject : kernel::InvResult::escalate;
  info.rule = std::move(rule);
  domain_->signature.invariants.push_back(std::move(info));
}

// What the rules compare with, for samples.
void RuleReader::collect(const Program& program) {
  for (const Node& node : program.nodes) {
    if (node.op != Op::constant) continue;
    const Value& value = program.constants[node.a];
    if (value.is(Tag::integer) && numbers_.size() < 1000) numbers_.insert(value.i);
    if (value.is(Tag::text) && value.n > 0 && value.n <= 40 && literals_.size() < 1000 &&
        value.str().find(' ') == std::string_view::npos)
      literals_.insert(std::string(value.str()));
  }
}

Result<std::shared_ptr<const RuleDomain>> readRuleDomain(std::string text, const std::string& name,
                                                         const json::object& policy) {
  try {
    return RuleReader(std::move(text), name, policy).read();
  } catch (ReadStop& stop) {
    return std::move(stop.error);
  }
}

}  // namespace witan::rules
