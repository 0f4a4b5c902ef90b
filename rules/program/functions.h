// The functions that expressions may call: their types, and what computes them. Constant; any thread.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rules/program/program.h"

namespace witan::rules {

struct Overload {
  std::vector<TypePtr> params;  // of a member function, the receiver comes first
  TypePtr result;
};

struct Function {
  std::string_view name;
  bool member = false;
  std::vector<Overload> overloads;
  FunctionCall call = nullptr;
  bool many = false;  // any number of arguments of the one parameter's type
};

struct FunctionRow {
  const char* name;
  const char* signatures;  // "(string): int; ..."; a leading "." makes them members, "+" takes any number
  FunctionCall call;
};
// Names in one form, digests, scores of severity.
std::span<const FunctionRow> nameFunctions();

// Null: there is none.
const Function* findFunction(std::string_view name, bool member);
// Whose computation a program calls.
const Function* functionOf(FunctionCall call);
// Of an operator: _+_ and so on.
const std::vector<Overload>* findOperator(std::string_view name);

}  // namespace witan::rules
