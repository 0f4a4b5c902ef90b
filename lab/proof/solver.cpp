#include "lab/proof/solver.h"

#include <map>

namespace witan::agents::proof {

namespace {

std::string describe(const z3::model& model) {
  std::map<std::string, std::string> values;
  for (unsigned i = 0; i < model.num_consts(); ++i) {
    const z3::func_decl constant = model.get_const_decl(i);
    values[constant.name().str()] = model.get_const_interp(constant).to_string();
  }
  std::string words;
  for (const auto& [name, value] : values) words += (words.empty() ? "" : " ") + name + "=" + value;
  return words;
}

}  // namespace

Result<Answer> ask(const z3::expr& formula, unsigned milliseconds) {
  try {
    z3::solver solver(formula.ctx());
    solver.set("timeout", milliseconds);
    solver.add(formula);
    switch (solver.check()) {
      case z3::unsat: return Answer{};
      case z3::sat: return Answer{true, describe(solver.get_model())};
      default:
        return Error{ErrorCode::unavailable, "Z3 gave no answer (" + solver.reason_unknown() + ")",
                     "the limit is " + std::to_string(milliseconds) + " ms a question; is the machine busy?"};
    }
  } catch (const z3::exception& refused) {
    return Error{ErrorCode::unavailable, std::string("Z3 refused the question (") + refused.msg() + ")", ""};
  }
}

}  // namespace witan::agents::proof
