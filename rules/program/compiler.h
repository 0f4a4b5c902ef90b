// Compiler: checks the types of an expression or script and makes its program. Pure; what it reads must outlive the
// call only, but for the layout, which outlives the program.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rules/program/program.h"

namespace witan::rules {

// A function of a rule file: an expression with parameters, put in where it is called. It calls only those before it.
struct RuleFunction {
  std::vector<Parameter> parameters;
  std::shared_ptr<const SourceText> source;
  ExprPtr body;
};

// What programs of one rule file may name.
struct Names {
  const Layout* layout = nullptr;
  Value policy;  // a map; null: there is none
  std::map<std::string, RuleFunction, std::less<>> functions;
};

struct Argument {
  std::string name;
  TypePtr type;
};

struct CompileOptions {
  std::vector<Argument> arguments;  // in the locals from 0 on
  TypePtr expected;                 // of an expression; null: any
  bool process = false;             // a script may write, and its requirements fault; else they reject or escalate
  bool changes = false;             // changed(row.field) is known
  bool lenient = false;             // what does not check fails when it is evaluated, if it is
};

Result<Program> compileExpression(const Names& names, std::shared_ptr<const SourceText> source,
                                  const CompileOptions& options);
Result<Program> compileScript(const Names& names, std::shared_ptr<const SourceText> source,
                              const CompileOptions& options);
// Reads "line 3, column 4 (invariant X): what".
Error errorAt(const SourceText& source, std::uint32_t at, std::string_view what);

}  // namespace witan::rules
