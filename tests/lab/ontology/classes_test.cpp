// Procedure 2 (seed 000, section 2.3): classes of invariants in every reading, and the walk of the life cycle.
#include "lab/ontology/roles.h"

#include <gtest/gtest.h>

#include "tests/lab/ontology/turtle_texts.h"

namespace witan::ontology::classes_test {
namespace {

using namespace test;

using Words = std::vector<std::string>;

// Roles A = {a, b, l}, E = {e, l}; o is in no role.
const std::string kTwoRoles = kHead + fieldText("a") + fieldText("b") + fieldText("e") + fieldText("life") +
                              fieldText("o") + fieldText("clock") + processText("p", {"a", "b"}, {"a", "life"}) +
                              processText("q", {"e"}, {"e", "life"});

InvariantClass classOf(const std::string& fields, const std::string& more = "") {
  const Model model = modelOf(kTwoRoles + "d:i a ar:Invariant ; ar:refersTo " + fields + more + " .");
  return classify(model, deriveRoles(model)).at(0);
}

TEST(Procedure2, LocalWhereOneRoleHoldsAll) {
  const InvariantClass c = classOf("d:a , d:b");
  EXPECT_FALSE(c.lint.crossCutting());
  EXPECT_EQ(c.lint.section23(), "local");
  EXPECT_EQ(c.lint.enforcer, "A");
}

TEST(Procedure2, CrossCuttingWhereNoRoleHoldsAll) {
  const InvariantClass c = classOf("d:a , d:e");
  EXPECT_TRUE(c.lint.crossCutting());
  EXPECT_EQ(c.lint.section23(), "cross-cutting");
  EXPECT_EQ(c.lint.writers, (Words{"A", "E"}));
  EXPECT_EQ(c.lint.enforcer, "");
}

// Def. A.10 and section 2.3 are not the same: a shared field is local to both roles and meets two.
TEST(Procedure2, ASharedFieldIsLocalAndCrossCutting) {
  const InvariantClass c = classOf("d:life");
  EXPECT_EQ(c.lint.containedIn, (Words{"A", "E"}));
  EXPECT_EQ(c.lint.section23(), "local and cross-cutting");
  EXPECT_EQ(c.lint.enforcer, "") << "two roles write it";
}

TEST(Procedure2, AnOrphanFieldIsNeither) {
  const InvariantClass c = classOf("d:a , d:o");
  EXPECT_TRUE(c.lint.crossCutting());
  EXPECT_EQ(c.lint.section23(), "neither");
  EXPECT_EQ(c.lint.orphans, Words{"o"});
}

TEST(Procedure2, PublicFieldsAreLeftOut) {
  const InvariantClass c = classOf("d:a , d:clock");
  EXPECT_EQ(c.lint.section23(), "local");
  EXPECT_TRUE(c.lint.orphans.empty());
}

TEST(Procedure2, WhatHoldsOverKeysIsToldApart) {
  EXPECT_FALSE(classOf("d:a").acrossKeys);
  EXPECT_TRUE(classOf("d:a", " ; ar:keyScope \"registry\"").acrossKeys);
}

TEST(Procedure2, TheWalkOfTheLifeCycleListsWhatNothingCouldForbid) {
  const auto openIn = [](const std::string& invariants) {
    const Model model = modelOf(kTwoRoles + invariants);
    Words words;
    for (const OpenPair& pair : coverageOf(model).open)
      words.push_back(model.fields[pair.phase].name + "/" + model.processes[pair.process].name);
    return words;
  };
  EXPECT_EQ(openIn(""), (Words{"life/p", "life/q"}));
  EXPECT_EQ(openIn("d:i a ar:Invariant ; ar:refersTo d:a ."), (Words{"life/p", "life/q"}));
  EXPECT_EQ(openIn("d:i a ar:Invariant ; ar:refersTo d:life ."), Words{});
  const std::string still = processText("s", {"o"}, {"o"});
  EXPECT_EQ(openIn(still + "d:i a ar:Invariant ; ar:refersTo d:life ."), Words{"life/s"});
  EXPECT_EQ(openIn(still + "d:i a ar:Invariant ; ar:refersTo d:life , d:o ."), Words{});
}

TEST(Procedure2, ProcessesThatNothingGuardsAreListed) {
  const Model model = modelOf(kTwoRoles + "d:i a ar:Invariant ; ar:refersTo d:e .");
  const Coverage coverage = coverageOf(model);
  ASSERT_EQ(coverage.unguarded.size(), 1u);
  EXPECT_EQ(model.processes[coverage.unguarded[0]].name, "p");
}

}  // namespace
}  // namespace witan::ontology::classes_test
