#include "lab/proof/theorem.h"

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

// Seeks values that fulfil the assumptions and make the claim `wanted`.
Result<Answer> seek(z3::expr (*claim)(Scene&), bool wanted, unsigned milliseconds) {
  try {
    z3::context context;
    Scene scene(context);
    const z3::expr built = claim(scene);
    return ask(scene.assumed() && (wanted ? built : !built), milliseconds);
  } catch (const z3::exception& refused) {
    return unavailable(concat("Z3 refused the claim (", refused.msg(), ")"));
  }
}

Verdict verdict(const Result<Answer>& answer, bool mustExist, const char* found, const char* none) {
  if (!answer.ok()) return {false, answer.error().message + ": " + answer.error().hint};
  return {answer->satisfiable == mustExist, answer->satisfiable ? found + answer->model : std::string(none)};
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
        return unavailable("Z3 gave no answer (" + solver.reason_unknown() + ")",
                           concat("the limit is ", milliseconds, " ms a question; is the machine busy?"));
    }
  } catch (const z3::exception& refused) {
    return unavailable(concat("Z3 refused the question (", refused.msg(), ")"));
  }
}

std::vector<Theorem> theorems() {
  std::vector<Theorem> all;
  for (const std::span<const Theorem> some :
       {safetyTheorems(), terminationTheorems(), preservationTheorems(), knowledgeTheorems(), historyTheorems(),
        selectionTheorems(), adaptationTheorems()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

Verdict prove(const Theorem& theorem, unsigned milliseconds) {
  if (theorem.expect == Expect::possible)
    return verdict(seek(theorem.claim, true, milliseconds), true, "witness: ", "impossible (unsat)");
  return verdict(seek(theorem.claim, false, milliseconds), false, "counterexample: ", "holds for all values (unsat)");
}

Verdict refuteTwin(const Theorem& theorem, unsigned milliseconds) {
  if (theorem.expect == Expect::possible)
    return verdict(seek(theorem.twin, true, milliseconds), false, "witness: ", "impossible (unsat)");
  return verdict(seek(theorem.twin, false, milliseconds), true, "counterexample: ", "holds all the same (unsat)");
}

}  // namespace witan::agents::proof
