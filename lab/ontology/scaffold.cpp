#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/quote.h"
#include "base/utf8.h"
#include "lab/ontology/cpp_names.h"
#include "lab/ontology/field_type.h"
#include "lab/ontology/scaffold.h"

namespace witan::ontology {

namespace {

// "using Reads = Footprint<A, B>;", broken at 120 columns.
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

// A C++ string literal, with its quotes.
std::string literal(std::string_view text) {
  static constexpr char kHex[] = "01234567";
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += concat("\\", c);
    else if (c == '?')
      out += "\\?";  // no trigraphs
    else if (u < 0x20 || u >= 0x7F)
      out += concat("\\", kHex[u >> 6], kHex[u >> 3 & 7], kHex[u & 7]);
    else
      out += c;
  }
  return out + "\"";
}

// ---- a plan of the scaffold, before it is text: types, tables, names

struct TypePlan {
  std::string declarations;  // enumerations and structs to declare first
  std::string type;          // std::string, OrderKind, ...
  std::string enumeration;   // its name, if it is one: an argument is then a word
  bool stamped = false;      // a time: taken from the adjudication, not from the caller
};

struct FieldPlan {
  std::size_t field = 0;  // of the model
  std::string name;       // of its struct
  TypePlan type;
  std::size_t table = kNoTable;
  std::string member;  // of the row, or of the state
  static constexpr std::size_t kNoTable = ~std::size_t{0};
};

struct TablePlan {
  std::string record;  // "order"
  std::string row;     // OrderRow
  std::string member;  // orders
};

struct Plan {
  std::string domain;  // its name, folder and namespace
  std::string domainStruct;
  std::vector<FieldPlan> fields;  // by the model's fields; none for public ones
  std::vector<TablePlan> tables;
  std::vector<std::string> processes;   // structs, by the model's processes
  std::vector<std::string> roles;       // structs, by the derivation's roles
  std::vector<std::string> invariants;  // structs, by the model's invariants
  std::vector<std::string> notes;

  const FieldPlan* fieldPlan(std::size_t field) const {
    for (const FieldPlan& f : fields)
      if (f.field == field) return &f;
    return nullptr;
  }
};

// Argument of a process: its type and name, and the field it fills; keys of tables come first.
struct Argument {
  std::string type;
  std::string name;
  const FieldPlan* field = nullptr;  // none: a key
  std::size_t table = FieldPlan::kNoTable;
};

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
        !std::ranges::all_of(words, [](const std::string& w) { return isCppName(w); }))
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
        !std::ranges::all_of(members, [](const std::string& m) { return isCppName(m); }))
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
    return tooMuch(concat(n, " fields; the most is 64"));
  if (model.invariants.size() > kMost) return tooMuch(concat(model.invariants.size(), " invariants; the most is 64"));
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
      WITAN_SET(type, parseFieldType(field.type));
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

std::string footprintText(const Plan& plan, const FieldSet& set, const std::string& name) {
  std::vector<std::string> fields;
  for (const std::size_t field : set.members())
    if (const FieldPlan* f = plan.fieldPlan(field)) fields.push_back(f->name);
  const std::string before = "  using " + name + " = Footprint<";
  return listText(before, fields, ">;\n", before.size());
}

// ---- the text of the state: types, tables, fields

std::string rowsText(const Plan& plan) {
  std::string out;
  for (std::size_t t = 0; t < plan.tables.size(); ++t) {
    out += "struct " + plan.tables[t].row + " {\n";
    for (const FieldPlan& f : plan.fields)
      if (f.table == t) out += "  Cell<" + f.type.type + "> " + f.member + ";\n";
    out += "};\n";
  }
  return out;
}

std::string fieldText(const Model& model, const Plan& plan, const FieldPlan& f) {
  const Field& field = model.fields[f.field];
  std::string base;
  if (f.table == FieldPlan::kNoTable)
    base = "Scalar<" + literal(field.name) + ", &State::" + f.member + ">";
  else
    base = "Column<" + literal(field.name) + ", &State::" + plan.tables[f.table].member + ", &" +
           plan.tables[f.table].row + "::" + f.member + ">";
  const std::string start = "struct " + f.name + " : " + base + " {";
  if (field.kind != FieldKind::lifecycle) return start + "};\n";
  return start + "\n  static constexpr bool lifecycle = true;  // a role of the continuant (Remark A.4)\n};\n";
}

std::string typesText(const Plan& plan) {
  std::string out;
  for (const FieldPlan& f : plan.fields) out += f.type.declarations;
  if (!out.empty()) out += "\n";
  return out +
         "// Constants of the domain; add members and name them here. Each may be replaced with --policy.\nstruct "
         "Policy "
         "{\n  WITAN_NO_MEMBERS\n};\n\n";
}

std::string stateText(const Model& model, const Plan& plan) {
  std::string out = "// The state of one entity: tables of rows by key, and scalars.\n" + rowsText(plan) +
                    "struct State {\n  using Policy = " + plan.domain + "::Policy;\n";
  for (const TablePlan& table : plan.tables) out += "  Table<" + table.row + "> " + table.member + ";\n";
  for (const FieldPlan& f : plan.fields)
    if (f.table == FieldPlan::kNoTable) out += "  " + f.type.type + " " + f.member + "{};\n";
  out += "};\n\n// Its fields, one for each atomic component.\n";
  std::vector<std::string> names;
  for (const FieldPlan& f : plan.fields) {
    out += fieldText(model, plan, f);
    names.push_back(f.name);
  }
  return out + listText("using Fields = FieldList<", names, ">;\n\n", 25);
}

// ---- the text of processes, roles, invariants and of the domain itself

std::string nameLine(std::string_view name) {
  return "  static constexpr std::string_view name = " + literal(name) + ";\n";
}

// m.edit<&State::orders>(order).set<...>(...), one line a row, then the scalars.
std::string applyText(const Process& process, const Plan& plan, const std::vector<Argument>& arguments) {
  std::string body;
  bool usesTime = false;
  const auto valueOf = [&](const FieldPlan& f) {
    if (f.type.stamped) {
      usesTime = true;
      return std::string("t");
    }
    const auto argument = std::ranges::find_if(arguments, [&](const Argument& a) { return a.field == &f; });
    return f.type.enumeration.empty() ? argument->name : "m.word<" + f.type.enumeration + ">(" + argument->name + ")";
  };
  const std::vector<std::size_t> written = process.writes.members();
  for (const Argument& key : arguments) {
    if (key.field != nullptr) continue;
    body += "    m.edit<&State::" + plan.tables[key.table].member + ">(" + key.name + ")";
    for (const std::size_t field : written)
      if (const FieldPlan* f = plan.fieldPlan(field); f != nullptr && f->table == key.table)
        body += "\n        .set<" + f->name + ">(" + valueOf(*f) + ")";
    body += ";\n";
  }
  for (const std::size_t field : written)
    if (const FieldPlan* f = plan.fieldPlan(field); f != nullptr && f->table == FieldPlan::kNoTable)
      body += "    m.set<" + f->name + ">(" + valueOf(*f) + ");\n";
  return concat("\n  void apply(Mutator<Fields>&", body.empty() ? "" : " m", ", Time", usesTime ? " t" : "",
                ") const {", body.empty() ? "}\n" : "\n" + body + "  }\n");
}

std::string processText(const Model& model, const Plan& plan, std::size_t index) {
  const Process& process = model.processes[index];
  std::string out = "struct " + plan.processes[index] + " {\n" + nameLine(process.name) +
                    footprintText(plan, process.reads, "Reads") + footprintText(plan, process.writes, "Writes");
  if (process.byCounselor) return out + "};\n\n";
  const std::vector<Argument> arguments = argumentsOf(process, plan);
  std::vector<std::string> names;
  for (const Argument& a : arguments) {
    out += "  " + a.type + " " + a.name + "{};\n";
    names.push_back(a.name);
  }
  const std::string members = "  WITAN_MEMBERS(" + plan.processes[index] + ", ";
  out += names.empty() ? "  WITAN_NO_MEMBERS\n" : listText(members, names, ")\n", 16);
  return out + applyText(process, plan, arguments) + "};\n\n";
}

// A plausible value of an argument, for workloads.
std::string sampleValue(const Argument& a) {
  if (a.field == nullptr) return "\"K\" + std::to_string(1 + random.below(3))";
  const std::string& enumeration = a.field->type.enumeration;
  if (!enumeration.empty())
    return "std::string(enumName(static_cast<" + enumeration + ">(random.below(enumNames<" + enumeration +
           ">().size()))))";
  if (a.type == "std::string") return "\"text \" + std::to_string(random.below(10))";
  if (a.type == "std::int64_t") return "static_cast<std::int64_t>(random.below(100))";
  if (a.type == "bool") return "random.below(2) == 0";
  if (a.type == "Date") return "dateOf(at)";
  return "{}";
}

std::string sampleText(const Model& model, const Plan& plan) {
  std::vector<std::string> structs, lines;
  bool usesTime = false;
  for (std::size_t p = 0; p < model.processes.size(); ++p) {
    if (model.processes[p].byCounselor) continue;
    structs.push_back(plan.processes[p]);
    std::vector<std::string> values;
    for (const Argument& a : argumentsOf(model.processes[p], plan)) {
      values.push_back(sampleValue(a));
      usesTime = usesTime || values.back() == "dateOf(at)";
    }
    lines.push_back(listText("return " + plan.processes[p] + "{", values, "};\n", 10));
  }
  std::string out = "\n  // Workload of lint, property tests and the simulator; make it plausible.\n" +
                    listText("  using AnyAction = std::variant<", structs, ">;\n", 33) +
                    "  static AnyAction sample(const State&, Random& random, Time" + (usesTime ? " at" : "") + ") {\n";
  if (lines.size() == 1) return out + "    (void)random;\n    " + lines[0] + "  }\n";
  out += concat("    switch (random.below(", lines.size(), ")) {\n");
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += (i + 1 < lines.size() ? concat("      case ", i, ":\n") : "      default:\n") + "        " + lines[i];
  return out + "    }\n  }\n";
}

std::string processesText(const Model& model, const Plan& plan) {
  std::string out = "// Processes are the actions. A Fault is answered with KERNEL_INTEGRITY.\n\n";
  bool counseled = false;
  for (std::size_t p = 0; p < model.processes.size(); ++p) {
    if (model.processes[p].byCounselor)
      counseled = true;
    else
      out += processText(model, plan, p);
  }
  if (counseled) out += "// What only a counselor writes, by the edit of a commit.\n";
  for (std::size_t p = 0; p < model.processes.size(); ++p)
    if (model.processes[p].byCounselor) out += processText(model, plan, p);
  return out;
}

std::string rolesText(const Derivation& derivation, const Plan& plan) {
  std::string out = "// Roles: who performs what. What a role can see is what its processes read and write.\n";
  for (std::size_t r = 0; r < derivation.roles.size(); ++r) {
    std::vector<std::string> processes;
    for (const std::size_t p : derivation.roles[r].processes) processes.push_back(plan.processes[p]);
    out += "struct " + plan.roles[r] + " {\n" + nameLine(derivation.roles[r].name) +
           listText("  using Processes = ProcessList<", processes, ">;\n", 32) + "};\n";
  }
  return out + "\n";
}

std::string invariantsText(const Model& model, const Plan& plan) {
  std::string out =
      "// Invariants, in list order: structure first, then rejections, then escalations. Each sees its Reads only:\n"
      "// s.get<Field>() of a scalar, s.rows<&State::table>() of a table, s.policy().\n";
  for (std::size_t i = 0; i < model.invariants.size(); ++i) {
    const Invariant& invariant = model.invariants[i];
    const std::string& name = plan.invariants[i];
    out += "struct " + name + " {\n  static constexpr std::string_view id = " + literal(invariant.name) +
           ";\n  static constexpr std::string_view rule =\n      " +
           literal(invariant.comment.empty() ? "what " + invariant.name + " asks for" : invariant.comment) + ";\n";
    if (invariant.onFailure != OnFailure::reject)
      out += "  static constexpr InvResult onFailure = InvResult::escalate;\n";
    if (invariant.onFailure == OnFailure::mixed) out += "  // The ontology says that it may reject as well.\n";
    if (invariant.keyScope == KeyScope::registry) out += "  // It holds over several keys.\n";
    out += footprintText(plan, invariant.footprint, "Reads") + "  static Verdict check(const View<" + name +
           ">&) { return Verdict::pass(); }\n};\n\n";
  }
  return out;
}

std::string domainText(const Model& model, const Plan& plan) {
  std::string out = "struct " + plan.domainStruct + " {\n" + nameLine(plan.domain) +
                    "  static constexpr std::string_view title =\n      " +
                    literal(model.title.empty() ? model.domain.name : model.title) +
                    ";\n  using Fields = " + plan.domain + "::Fields;\n" +
                    listText("  using Roles = RoleList<", plan.roles, ">;\n", 25);
  std::vector<std::string> counseled;
  for (std::size_t p = 0; p < model.processes.size(); ++p)
    if (model.processes[p].byCounselor) counseled.push_back(plan.processes[p]);
  if (!counseled.empty()) out += listText("  using CounselorProcesses = ProcessList<", counseled, ">;\n", 41);
  out += listText("  using Invariants = InvariantList<", plan.invariants, ">;\n", 35);
  const bool escalates =
      std::ranges::any_of(model.invariants, [](const Invariant& i) { return i.onFailure != OnFailure::reject; });
  out += concat("  static std::vector<std::string> counselors() { return {",
                escalates || !counseled.empty() ? "\"counselor\"" : "", "}; }\n");
  return out + sampleText(model, plan) + "};\n\n";
}

// One line of a comment: no control characters, and no backslash that would draw the next line in.
std::string commentLine(std::string_view text) {
  std::string out(clip(text, 100));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == '?') c = ' ';
  return out;
}

std::string rolesFrom(const Derivation& d) {
  return d.pinned ? "roles as declared" : concat("Procedure 1, theta ", d.theta.of, "/", d.theta.to);
}

std::string head(const Model& model, const Derivation& derivation, const Plan& plan, const std::string& file) {
  return concat(
      "// ", commentLine(model.title.empty() ? model.domain.name : model.title), "\n//\n// Begun from the ontology ",
      commentLine(file), " (", rolesFrom(derivation), ": ", derivation.roles.size(),
      " roles).\n// It says which fields, processes, roles and rules there are. What it does not say is yours: each "
      "process\n// below writes its arguments as they come, and each invariant passes until you write when it holds."
      "\n// docs/ADD_A_DOMAIN.md shows how; hold it against the ontology with\n//   witan domain lint ",
      plan.domain, " --against ", commentLine(file),
      "\n#include \"domains/registry.h\"\n#include \"kernel/typed_module.h\"\n\nnamespace witan::domains::",
      plan.domain, " {\n\nusing namespace kernel;\n\n");
}

}  // namespace

Result<Scaffold> scaffold(const Model& model, const Derivation& derivation, const std::string& file) {
  WITAN_TRY(plan, planScaffold(model, derivation));
  Scaffold out{.name = plan.domain, .notes = plan.notes};
  out.source = head(model, derivation, plan, file) + typesText(plan) + stateText(model, plan) +
               processesText(model, plan) + rolesText(derivation, plan) + invariantsText(model, plan) +
               domainText(model, plan) + "}  // namespace witan::domains::" + plan.domain + "\n\nWITAN_DEFINE_DOMAIN(" +
               plan.domain + ", " + plan.domain + "::" + plan.domainStruct + ")\n";
  return out;
}

}  // namespace witan::ontology
