// The text of a scaffold's state: types, tables, fields.
#include "lab/ontology/scaffold_plan.h"

namespace witan::ontology {

namespace {

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

}  // namespace

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

}  // namespace witan::ontology
