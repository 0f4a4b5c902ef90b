#include "lab/ontology/scaffold_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/quote.h"

namespace witan::ontology {

namespace {

constexpr std::size_t kMost = 64;  // kernel/field.h, kernel/domain.h

// What the file itself calls by its name.
std::vector<std::string> usedNames() {
  return {"Action",        "AnyAction",  "Cell",
          "Column",        "Date",       "Domain",
          "Fault",         "FieldList",  "Fields",
          "Footprint",     "Fresh",      "InvResult",
          "Mutator",       "Policy",     "ProcessList",
          "Processes",     "Random",     "Reads",
          "RoleList",      "Roles",      "RowView",
          "Scalar",        "State",      "Table",
          "Time",          "Union",      "Verdict",
          "View",          "Writes",     "X",
          "InvariantList", "Invariants", "CounselorProcesses"};
}

// Plans the C++ types of fields. Enumerations and structs get names after their field.
class TypePlanner {
 public:
  TypePlanner(CppNames& names, std::vector<std::string>& notes) : names_(names), notes_(notes) {}

  TypePlan plan(const std::string& field, const FieldType& type) {
    field_ = field;
    TypePlan out;
    out.type = cppType(type, pascalCase(field), out.declarations, true);
    out.stamped = out.type == "Time";
    const FieldType& value = type.kind == FieldType::Kind::map ? type.parts[0] : type;
    if (value.kind == FieldType::Kind::enumeration && out.type != "std::string") out.enumeration = out.type;
    return out;
  }

 private:
  std::string asText(const std::string& why) {
    notes_.push_back("field " + field_ + " is text in the code: " + why);
    return "std::string";
  }

  std::string cppType(const FieldType& type, const std::string& name, std::string& declarations, bool top) {
    switch (type.kind) {
      case FieldType::Kind::word: return plainType(type.word);
      case FieldType::Kind::enumeration: return enumeration(type, name, declarations);
      case FieldType::Kind::list: return listOf(type.parts[0], name, declarations);
      case FieldType::Kind::tuple:
      case FieldType::Kind::record: return structure(type, name, declarations);
      case FieldType::Kind::optional:
        if (type.parts[0].kind != FieldType::Kind::word) return asText("only a plain type may be optional");
        return "std::optional<" + plainType(type.parts[0].word) + ">";
      case FieldType::Kind::map:
        return top ? cppType(type.parts[0], name, declarations, false) : asText("a map in a map");
    }
    return "std::string";
  }

  std::string plainType(const std::string& word) {
    static const std::map<std::string, std::string> known{
        {"string", "std::string"}, {"text", "std::string"}, {"integer", "std::int64_t"},
        {"bool", "bool"},          {"date", "Date"},        {"time", "Time"}};
    const auto found = known.find(word);
    return found != known.end() ? found->second : asText("the ontology only names its type, " + word);
  }

  std::string enumeration(const FieldType& type, const std::string& name, std::string& declarations) {
    const std::set<std::string> words(type.names.begin(), type.names.end());
    if (words.size() != type.names.size() || words.size() > 60 ||
        !std::all_of(words.begin(), words.end(), [](const std::string& w) { return isCppName(w); }))
      return asText("its words can't be enumerators in C++");
    const std::string chosen = names_.take(name, "Word");
    declarations += listText("WITAN_ENUM(" + chosen + ", ", type.names, ")\n", 11);
    return chosen;
  }

  // Cap'n Proto's lists are of text or of structs (base/capnp_codec.h).
  std::string listOf(const FieldType& part, const std::string& name, std::string& declarations) {
    const bool isStruct = part.kind == FieldType::Kind::tuple || part.kind == FieldType::Kind::record;
    if (isStruct || part.word == "string" || part.word == "text")
      return "std::vector<" + cppType(part, name + "Entry", declarations, false) + ">";
    notes_.push_back("field " + field_ + " is a list of text in the code: lists are of text, tuples or records");
    return "std::vector<std::string>";
  }

  std::string structure(const FieldType& type, const std::string& name, std::string& declarations) {
    const std::set<std::string> members(type.names.begin(), type.names.end());
    if (members.size() != type.names.size() || members.size() > 30 ||
        !std::all_of(members.begin(), members.end(), [](const std::string& m) { return isCppName(m); }))
      return asText("its members can't be members in C++");
    const std::string chosen = names_.take(name, "Entry");
    std::string body = "struct " + chosen + " {\n";
    if (type.kind == FieldType::Kind::tuple) body += "  static constexpr bool asTuple = true;\n";
    for (std::size_t i = 0; i < type.names.size(); ++i)
      body += "  " + cppType(type.parts[i], name + pascalCase(type.names[i]), declarations, false) + " " +
              type.names[i] + "{};\n";
    declarations += body + listText("  WITAN_MEMBERS(" + chosen + ", ", type.names, ")\n", 16) + "};\n";
    return chosen;
  }

  CppNames& names_;
  std::vector<std::string>& notes_;
  std::string field_;
};

Error tooMuch(const std::string& what) { return invalid("no compiled domain can have this: " + what); }

Status possible(const Model& model, const Derivation& roles) {
  if (roles.roles.empty()) return tooMuch("no process of a worker");
  if (const std::size_t n = model.fields.size() - model.ofKind(FieldKind::open).size(); n > kMost)
    return tooMuch(std::to_string(n) + " fields; the most is 64");
  if (model.invariants.size() > kMost)
    return tooMuch(std::to_string(model.invariants.size()) + " invariants; the most is 64");
  const FieldSet open = model.ofKind(FieldKind::open);
  for (const Process& p : model.processes) {
    if ((p.footprint() - open).empty()) return tooMuch("process " + p.name + " without a footprint");
    if (meets(p.writes, open)) return tooMuch("process " + p.name + " that writes a public field");
  }
  for (const Invariant& i : model.invariants)
    if ((i.footprint - open).empty()) return tooMuch("invariant " + i.name + " without a footprint");
  return okStatus();
}

Result<std::string> domainName(const std::string& name) {
  static const std::set<std::string> taken{"kernel", "domains", "witan", "std",     "base",
                                           "test",   "json",    "boost", "ontology"};
  std::string out;
  for (const char c : name)
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a')
                                : ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_');
  if (!isCppName(out) || taken.contains(out))
    return invalid("domain " + inQuotes(name) + " can't name a folder and a namespace (" + out + ")",
                   "give the ar:Domain an ar:name that begins with a letter and is no word of C++");
  return out;
}

}  // namespace

Result<Plan> planScaffold(const Model& model, const Derivation& derivation) {
  WITAN_DO(possible(model, derivation));
  Plan plan;
  WITAN_TRY(domain, domainName(model.domain.name));
  plan.domain = domain;
  CppNames names(usedNames());
  for (const Process& p : model.processes) plan.processes.push_back(names.take(pascalCase(p.name), "Process"));
  TypePlanner types(names, plan.notes);
  CppNames stateMembers({});
  std::map<std::string, std::size_t> tables;
  std::vector<CppNames> rows;
  for (std::size_t i = 0; i < model.fields.size(); ++i) {
    const Field& field = model.fields[i];
    if (field.kind == FieldKind::open) continue;
    const std::size_t dot = field.name.find('.');
    // Nothing said: a name with a dot is a column of a record, any other one value; text both.
    FieldType type{.word = "string"};
    if (!field.type.empty()) {
      WITAN_TRY(read, parseFieldType(field.type));
      type = read;
    }
    const bool column = field.type.empty() ? dot != std::string::npos : type.kind == FieldType::Kind::map;
    FieldPlan f{.field = i, .name = names.take(pascalCase(field.name) + "Field", "")};
    f.type = types.plan(field.name, type);
    if (column) {
      const std::string record = camelCase(field.name.substr(0, dot));
      const auto [table, isNew] = tables.try_emplace(record, plan.tables.size());
      if (isNew) {
        plan.tables.push_back(
            {record, names.take(pascalCase(record) + "Row", ""), stateMembers.take(record + "s", "Rows")});
        rows.emplace_back(std::vector<std::string>{});
      }
      f.table = table->second;
      f.member =
          rows[f.table].take(camelCase(dot == std::string::npos ? "value" : field.name.substr(dot + 1)), "Value");
    } else {
      f.member = stateMembers.take(camelCase(field.name), "Value");
    }
    plan.fields.push_back(std::move(f));
  }
  for (const DerivedRole& role : derivation.roles) plan.roles.push_back(names.take(pascalCase(role.name) + "Role", ""));
  for (const Invariant& i : model.invariants) plan.invariants.push_back(names.take(pascalCase(i.name) + "Rule", ""));
  plan.domainStruct = names.take(pascalCase(model.domain.name) + "Domain", "");
  return plan;
}

std::vector<Argument> argumentsOf(const Process& process, const Plan& plan) {
  CppNames names(
      {"name", "required", "type", "apply", "Reads", "Writes", "m", "t", "row", "at", "random", "witanMembers"});
  std::vector<Argument> keys, values;
  std::set<std::size_t> tables;
  for (const std::size_t field : process.writes.members())
    if (const FieldPlan* f = plan.fieldPlan(field); f != nullptr && f->table != FieldPlan::kNoTable)
      if (tables.insert(f->table).second)
        keys.push_back({"std::string", names.take(plan.tables[f->table].record, "Key"), nullptr, f->table});
  for (const std::size_t field : process.writes.members()) {
    const FieldPlan* f = plan.fieldPlan(field);
    if (f == nullptr || f->type.stamped) continue;
    const std::string record = f->table == FieldPlan::kNoTable ? "" : plan.tables[f->table].record;
    const bool plain = isCppName(f->member);
    std::string name = plain ? f->member : record + pascalCase(f->member);
    const std::string chosen = names.take(name, record.empty() ? "Value" : "Of" + pascalCase(record));
    values.push_back({f->type.enumeration.empty() ? f->type.type : "std::string", chosen, f, f->table});
  }
  keys.insert(keys.end(), values.begin(), values.end());
  return keys;
}

std::string listText(const std::string& before, const std::vector<std::string>& items, const std::string& after,
                     std::size_t indent) {
  std::string out, line = before;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    const bool fits = line.size() + item.size() + 1 + (i + 1 == items.size() ? after.size() : 0) <= 120;
    if (i > 0 && !fits) {
      out += line + "\n";
      line = std::string(indent, ' ') + item;
    } else {
      line += (i > 0 ? " " : "") + item;
    }
  }
  return out + line + after;
}

std::string footprintText(const Plan& plan, const FieldSet& set, const std::string& name) {
  std::vector<std::string> fields;
  for (const std::size_t field : set.members())
    if (const FieldPlan* f = plan.fieldPlan(field)) fields.push_back(f->name);
  const std::string before = "  using " + name + " = Footprint<";
  return listText(before, fields, ">;\n", before.size());
}

std::string literal(std::string_view text) {
  static constexpr char kHex[] = "01234567";
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (c == '?')
      out += "\\?";  // no trigraphs
    else if (u < 0x20 || u >= 0x7F)
      out += std::string("\\") + kHex[u >> 6] + kHex[u >> 3 & 7] + kHex[u & 7];
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace witan::ontology
