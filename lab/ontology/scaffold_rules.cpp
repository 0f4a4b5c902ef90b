// The text of a scaffold's processes, roles, invariants and of the domain itself.
#include <algorithm>

#include "lab/ontology/scaffold_plan.h"

namespace witan::ontology {

namespace {

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
    const auto argument =
        std::find_if(arguments.begin(), arguments.end(), [&](const Argument& a) { return a.field == &f; });
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
  return "\n  void apply(Mutator<Fields>&" + std::string(body.empty() ? "" : " m") + ", Time" + (usesTime ? " t" : "") +
         ") const {" + (body.empty() ? "}\n" : "\n" + body + "  }\n");
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
  out += "    switch (random.below(" + std::to_string(lines.size()) + ")) {\n";
  for (std::size_t i = 0; i < lines.size(); ++i)
    out +=
        (i + 1 < lines.size() ? "      case " + std::to_string(i) + ":\n" : "      default:\n") + "        " + lines[i];
  return out + "    }\n  }\n";
}

}  // namespace

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
  const bool escalates = std::any_of(model.invariants.begin(), model.invariants.end(),
                                     [](const Invariant& i) { return i.onFailure != OnFailure::reject; });
  out += "  static std::vector<std::string> counselors() { return {" +
         std::string(escalates || !counseled.empty() ? "\"counselor\"" : "") + "}; }\n";
  return out + sampleText(model, plan) + "};\n\n";
}

}  // namespace witan::ontology
