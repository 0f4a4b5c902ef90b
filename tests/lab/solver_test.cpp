// The solver's three answers: no, yes with a model, and an error when there is none.
#include "lab/proof/theorem.h"

#include <gtest/gtest.h>

#include "agents/decision/decisions.h"
#include "lab/proof/symbolic.h"

namespace witan::solver_test {
namespace {

using namespace witan::agents::proof;

TEST(Solver, SaysNoOrGivesAModel) {
  z3::context context;
  const z3::expr n = context.int_const("n");
  EXPECT_FALSE(ask(n < 0 && n > 0)->satisfiable);
  const auto answer = ask(n > 4 && n < 6);
  EXPECT_TRUE(answer->satisfiable);
  EXPECT_EQ(answer->model, "n=5");
}

TEST(Solver, NoAnswerIsAnErrorAndNoVerdict) {
  z3::context context;
  // Thirteen pigeons in twelve holes: resolution proofs are exponential (Haken, 1985).
  z3::expr_vector all(context);
  std::vector<std::vector<z3::expr>> in(13);
  for (int pigeon = 0; pigeon < 13; ++pigeon) {
    z3::expr_vector anywhere(context);
    for (int hole = 0; hole < 12; ++hole) {
      in[pigeon].push_back(context.bool_const((std::to_string(pigeon) + "in" + std::to_string(hole)).c_str()));
      anywhere.push_back(in[pigeon].back());
      for (int other = 0; other < pigeon; ++other) all.push_back(!in[pigeon][hole] || !in[other][hole]);
    }
    all.push_back(z3::mk_or(anywhere));
  }
  const auto answer = ask(z3::mk_and(all), 50);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, witan::ErrorCode::unavailable);
  EXPECT_NE(answer.error().message.find("no answer"), std::string::npos) << answer.error().message;
}

TEST(Solver, TakesTheSourceOfTheDecisions) {
  z3::context context;
  using witan::agents::decision::ToolSpec;
  const ToolSpec<Symbolic> tool{context.int_const("a"), context.bool_const("x"), context.int_const("t"),
                                context.int_const("s")};
  EXPECT_TRUE(ask(tool.tokenCost > 3 && tool.requiresExecute)->satisfiable);
}

}  // namespace
}  // namespace witan::solver_test
