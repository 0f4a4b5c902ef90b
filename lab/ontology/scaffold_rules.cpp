// The beginning of a domain as a rule file.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/quote.h"
#include "base/string_util.h"
#include "lab/ontology/cpp_names.h"
#include "lab/ontology/field_type.h"
#include "lab/ontology/scaffold.h"
#include "rules/domain/rule_module.h"

namespace witan::ontology {

namespace {

// A column of a table, or a field of the entity.
struct RuleField {
  std::size_t field = 0;  // of the model
  std::string name, type;
  std::string record;  // whose key its rows have; empty: of the entity
  bool stamped = false;
};

class RuleText {
 public:
  RuleText(const Model& model, const Derivation& roles, const std::string& file)
      : model_(model), roles_(roles), file_(file) {}

  Result<Scaffold> write() {
    WITAN_DO(plan());
    out_.source = head() + tables() + processes() + invariants();
    // What it says must load: names and numbers that no rule file can have are errors here, not later.
    if (auto loaded = rules::makeRuleModule(out_.source, out_.name + ".domain.toml"); !loaded.ok())
      return invalid("no rule file can have this: " + loaded.error().message, loaded.error().hint);
    return std::move(out_);
  }

 private:
  Status plan() {
    for (const char c : model_.domain.name) {
      const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      out_.name += (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9') ? small : '-';
    }
    CppNames tables(
        {"in", "null", "let", "require", "append", "has", "now", "clock", "policy", "math", "optional", "cel"});
    for (std::size_t i = 0; i < model_.fields.size(); ++i) {
      const Field& field = model_.fields[i];
      if (field.kind == FieldKind::open) continue;
      RuleField made{i, field.name};
      WITAN_TRY(type, parseFieldType(field.type.empty() ? "string" : field.type));
      const bool column = type.kind == FieldType::Kind::map;
      const FieldType& value = column ? type.parts[0] : type;
      const bool optional = value.kind == FieldType::Kind::optional;
      made.type = ruleType(field.name, optional ? value.parts[0] : value) + (optional && !column ? "?" : "");
      made.stamped = made.type == "timestamp";
      if (column) made.record = field.name.substr(0, field.name.find('.'));
      if (column && !tableOf_.contains(made.record))
        tableOf_[made.record] = tables.take(camelCase(made.record) + "s", "Rows");
      fields_.push_back(std::move(made));
    }
    return okStatus();
  }

  std::string ruleType(const std::string& field, const FieldType& type) {
    switch (type.kind) {
      case FieldType::Kind::word: {
        static const std::map<std::string, std::string> known{
            {"string", "string"}, {"text", "string"}, {"integer", "int"},   {"number", "double"},
            {"bool", "bool"},     {"date", "date"},   {"time", "timestamp"}};
        if (const auto found = known.find(type.word); found != known.end()) return found->second;
        out_.notes.push_back("field " + field + " is text in the file: the ontology only names its type, " + type.word);
        return "string";
      }
      case FieldType::Kind::enumeration: return "enum(" + joined(type.names) + ")";
      case FieldType::Kind::list: return "list(" + ruleType(field, type.parts[0]) + ")";
      case FieldType::Kind::optional: return ruleType(field, type.parts[0]) + "?";
      case FieldType::Kind::map: return "map(string, " + ruleType(field, type.parts[0]) + ")";
      case FieldType::Kind::tuple:
      case FieldType::Kind::record: break;
    }
    std::vector<std::string> members;
    for (std::size_t i = 0; i < type.names.size(); ++i)
      members.push_back(type.names[i] + ": " + ruleType(field, type.parts[i]));
    return concat(type.kind == FieldType::Kind::tuple ? "tuple(" : "record(", joined(members), ")");
  }

  // A column that only counselors write, and whose first members are a name and a time: the kernel fills those.
  bool isHuman(const RuleField& f) const {
    const bool signs = !f.record.empty() && f.type.starts_with("tuple(") &&
                       f.type.find(": timestamp") != std::string::npos &&
                       f.type.find(": string, ") < f.type.find(": timestamp") &&
                       std::ranges::count(f.type.substr(0, f.type.find(": timestamp")), ',') == 1;
    return signs && std::ranges::none_of(model_.processes, [&](const Process& p) {
             return !p.byCounselor && p.writes.contains(f.field);
           });
  }

  static std::string quotedList(const std::vector<std::string>& items) {
    std::string out;
    for (const std::string& item : items) out += (out.empty() ? "" : ", ") + jsonQuoted(item);
    return "[" + out + "]";
  }
  std::vector<std::string> names(const FieldSet& set) const {
    std::vector<std::string> all;
    for (const RuleField& f : fields_)
      if (set.contains(f.field)) all.push_back(f.name);
    return all;
  }

  std::string head() const {
    const bool asks =
        std::ranges::any_of(model_.invariants, [](const Invariant& i) { return i.onFailure != OnFailure::reject; }) ||
        std::ranges::any_of(model_.processes, &Process::byCounselor);
    std::vector<std::string> lifecycle, human;
    for (const RuleField& f : fields_) {
      if (model_.fields[f.field].kind == FieldKind::lifecycle) lifecycle.push_back(f.name);
      if (isHuman(f)) human.push_back(f.name);
    }
    return concat("# Begun from the ontology ", jsonQuoted(file_),
                  ". What it does not say is yours: each process writes its arguments as\n"
                  "# they come, and each invariant passes until you write when it holds (docs/ADD_A_DOMAIN.md, "
                  "docs/RULES.md).\ndomain = ",
                  jsonQuoted(out_.name),
                  "\ntitle = ", jsonQuoted(model_.title.empty() ? model_.domain.name : model_.title),
                  "\ncounselors = ", asks ? "[\"counselor.in.charge\"]" : "[]", "\n",
                  lifecycle.empty() ? "" : "lifecycle = " + quotedList(lifecycle) + "\n",
                  human.empty() ? "" : "human = " + quotedList(human) + "\n");
  }

  std::string tables() const {
    std::string out;
    const auto lines = [&](const std::string& record) {
      for (const RuleField& f : fields_)
        if (f.record == record) out += concat(jsonQuoted(f.name), " = ", jsonQuoted(f.type), "\n");
    };
    for (const auto& [record, table] : tableOf_) {
      out += concat("\n[tables.", table, "]\n");
      lines(record);
    }
    if (std::ranges::any_of(fields_, [](const RuleField& f) { return f.record.empty(); })) {
      out += "\n[fields]\n";
      lines("");
    }
    return out;
  }

  std::string roleOf(std::size_t process) const {
    for (const DerivedRole& role : roles_.roles) {
      if (std::ranges::find(role.processes, process) == role.processes.end()) continue;
      std::string name = role.name;
      for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '-';
      return name;
    }
    return {};
  }

  std::string worker(const Process& process) const {
    std::vector<std::string> taken{"type", "in", "null", "let", "require", "append", "has", "now", "clock", "policy"};
    for (const auto& [record, table] : tableOf_) taken.push_back(table);
    CppNames free(std::move(taken));
    std::map<std::string, std::string> keys;
    std::vector<std::string> keyArguments, arguments;
    std::string script;
    for (const RuleField& f : fields_)
      if (process.writes.contains(f.field) && !f.record.empty() && !keys.contains(f.record)) {
        keys[f.record] = free.take(camelCase(f.record), "Key");
        keyArguments.push_back(keys[f.record] + ": string");
      }
    for (const RuleField& f : fields_) {
      if (!process.writes.contains(f.field)) continue;
      std::string value = "now";
      if (!f.stamped) {
        const std::size_t dot = f.name.find('.');
        value = free.take(camelCase(dot == std::string::npos ? f.name : f.name.substr(dot + 1)),
                          f.record.empty() ? "Value" : "Of" + pascalCase(f.record));
        arguments.push_back(value + ": " + f.type);
      }
      const std::string target =
          f.record.empty() ? f.name : concat(tableOf_.at(f.record), "[", keys[f.record], "].", f.name);
      script += concat(target, " = ", value, ";\n");
    }
    // Those that may be left out come last.
    std::ranges::stable_partition(arguments, [](const std::string& a) { return !a.ends_with('?'); });
    keyArguments.insert(keyArguments.end(), arguments.begin(), arguments.end());
    return concat(keyArguments.empty() ? "" : concat("arguments = ", jsonQuoted(joined(keyArguments)), "\n"),
                  "do = '''\n", script, "'''\n");
  }

  std::string processes() const {
    std::string out;
    for (const bool byCounselor : {false, true})
      for (std::size_t i = 0; i < model_.processes.size(); ++i) {
        const Process& process = model_.processes[i];
        if (process.byCounselor != byCounselor) continue;
        out += concat("\n", byCounselor ? "# Only a counselor's commit performs it.\n" : "", "[processes.",
                      jsonQuoted(process.name), "]\n");
        if (!byCounselor) out += concat("role = ", jsonQuoted(roleOf(i)), "\n");
        out += concat("reads = ", quotedList(names(process.reads)), "\n");
        out += byCounselor ? concat("writes = ", quotedList(names(process.writes)), "\n") : worker(process);
      }
    return out;
  }

  // It reads its footprint, so that slices, lint and comparisons see it, and decides nothing.
  std::string reading(const FieldSet& footprint) const {
    std::vector<std::string> parts;
    for (const auto& [record, table] : tableOf_) {
      std::vector<std::string> columns;
      for (const RuleField& f : fields_)
        if (f.record == record && footprint.contains(f.field)) columns.push_back("has(r." + f.name + ")");
      if (!columns.empty()) parts.push_back(concat(table, ".all(r, ", joined(columns, "", " || "), " || true)"));
    }
    for (const RuleField& f : fields_)
      if (f.record.empty() && footprint.contains(f.field)) parts.push_back(f.name + " == " + f.name);
    return joined(parts, "true", " && ");
  }

  std::string invariants() const {
    std::string out;
    for (const Invariant& invariant : model_.invariants) {
      const std::string test = reading(invariant.footprint);
      out += concat("\n", invariant.keyScope == KeyScope::registry ? "# It holds over several keys.\n" : "",
                    "[invariants.", jsonQuoted(invariant.name), "]\nrule = ",
                    jsonQuoted(invariant.comment.empty() ? "what " + invariant.name + " asks for" : invariant.comment),
                    "\ncheck = '''\n");
      if (invariant.onFailure != OnFailure::escalate)
        out += concat("require ", test, " else reject 'write when it holds';\n");
      if (invariant.onFailure != OnFailure::reject)
        out += concat("require ", test, " else escalate 'write when it holds';\n");
      out += "'''\n";
    }
    return out;
  }

  const Model& model_;
  const Derivation& roles_;
  const std::string& file_;
  Scaffold out_;
  std::vector<RuleField> fields_;               // none for public ones
  std::map<std::string, std::string> tableOf_;  // by record
};

}  // namespace

Result<Scaffold> scaffoldRules(const Model& model, const Derivation& derivation, const std::string& file) {
  return RuleText(model, derivation, file).write();
}

}  // namespace witan::ontology
