#include "lab/proof/theorem.h"

#include <initializer_list>

namespace witan::agents::proof {

namespace {

// Seeks values that fulfil the assumptions and make the claim `wanted`.
Result<Answer> seek(z3::expr (*claim)(Scene&), bool wanted, unsigned milliseconds) {
  try {
    z3::context context;
    Scene scene(context);
    const z3::expr built = claim(scene);
    return ask(scene.assumed() && (wanted ? built : !built), milliseconds);
  } catch (const z3::exception& refused) {
    return Error{ErrorCode::unavailable, std::string("Z3 refused the claim (") + refused.msg() + ")", ""};
  }
}

Verdict verdict(const Result<Answer>& answer, bool mustExist, const char* found, const char* none) {
  if (!answer.ok()) return {false, answer.error().message + ": " + answer.error().hint};
  return {answer->satisfiable == mustExist, answer->satisfiable ? found + answer->model : std::string(none)};
}

}  // namespace

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
