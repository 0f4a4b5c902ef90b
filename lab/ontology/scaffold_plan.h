// What a scaffold says, before it is text: types, tables, names. Used by ontology/scaffold*.cpp only.
#pragma once

#include <string>
#include <vector>

#include "lab/ontology/cpp_names.h"
#include "lab/ontology/field_type.h"
#include "lab/ontology/scaffold.h"

namespace witan::ontology {

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

Result<Plan> planScaffold(const Model&, const Derivation&);

// The text of each part (scaffold_state.cpp, scaffold_rules.cpp).
std::string typesText(const Plan&);
std::string stateText(const Model&, const Plan&);
std::string processesText(const Model&, const Plan&);
std::string rolesText(const Derivation&, const Plan&);
std::string invariantsText(const Model&, const Plan&);
std::string domainText(const Model&, const Plan&);

// "using Reads = Footprint<A, B>;" broken at 120 columns.
std::string listText(const std::string& before, const std::vector<std::string>& items, const std::string& after,
                     std::size_t indent);
std::string footprintText(const Plan&, const FieldSet&, const std::string& name);
// As a C++ string literal, quotes included.
std::string literal(std::string_view text);
// Argument of a process: its type and name, and the field it fills; keys of tables come first.
struct Argument {
  std::string type;
  std::string name;
  const FieldPlan* field = nullptr;  // none: a key
  std::size_t table = FieldPlan::kNoTable;
};
std::vector<Argument> argumentsOf(const Process&, const Plan&);

}  // namespace witan::ontology
