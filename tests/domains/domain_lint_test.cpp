// Lint on the shipped domains, and the witnesses of write skew that it must find (seed 000, Def. A.11).
#include <gtest/gtest.h>

#include "domains/registry.h"
#include "kernel/lint.h"

namespace witan::domains::domain_lint_test {
namespace {

using namespace kernel;

json::object objectOf(const std::string& text) {
  return parseJson(text, {.bytes = 1 << 24, .depth = 64}).value().as_object();
}

// Def. A.11, from the printed witness alone: each action is approved from the state, and both write sets together
// break the invariant.
void confirm(const DomainModule& module, const SkewWitness& witness) {
  EntityPtr both = module.readState(objectOf(witness.state)).value();
  EXPECT_EQ(both->notPassing, 0u);
  for (const SkewAction* action : {&witness.first, &witness.second}) {
    EntityPtr alone = module.readState(objectOf(witness.state)).value();
    const ActionPtr decoded = module.parseAction(objectOf(action->action)).value();
    Evaluation evaluation;
    module.evaluateFully(*alone, action->role, *decoded, action->at, evaluation);
    EXPECT_EQ(evaluation.tag, Evaluation::Tag::approved) << action->action;
    EXPECT_EQ(evaluation.writes, action->writes);
    EXPECT_TRUE(module.applyWrites(*both, objectOf(action->writes)).ok());
    both->shared.clock = std::max(both->shared.clock, action->at);
  }
  std::string merged;
  module.writeState(merged, *both);
  EXPECT_EQ(merged, witness.merged);
  bool broken = false;
  const auto verdicts = module.walk(*both);
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    broken = broken || (!verdicts[i].passed() && module.signature().invariants[i].id == witness.invariant);
  EXPECT_TRUE(broken);
}

TEST(DomainLint, BudgetYieldsTheIntroductionsWitness) {
  const auto module = makeDomain("budget").value();
  const SkewReport report = findWriteSkew(*module, {.seed = 1, .steps = 200});
  ASSERT_EQ(report.witnesses.size(), 1u);
  const SkewWitness& witness = report.witnesses[0];
  EXPECT_EQ(witness.invariant, "BUDGET_CAP");
  EXPECT_NE(witness.first.role, witness.second.role);
  confirm(*module, witness);
  EXPECT_FALSE(report.lostUpdate);
}

TEST(DomainLint, ModerationYieldsAWitnessAgainstProportion) {
  const auto module = makeDomain("moderation").value();
  const SkewReport report = findWriteSkew(*module, {.seed = 1, .steps = 4'000});
  ASSERT_FALSE(report.witnesses.empty());
  for (const SkewWitness& witness : report.witnesses) confirm(*module, witness);
  EXPECT_TRUE(std::any_of(report.witnesses.begin(), report.witnesses.end(),
                          [](const SkewWitness& w) { return w.invariant == "UCM_PROPORTIONALITY"; }));
}

// Only a positive result could break another role's rule, and none comes without a human: results are recorded once.
TEST(DomainLint, UdtYieldsNoneAmongAgents) {
  const auto module = makeDomain("udt").value();
  EXPECT_TRUE(findWriteSkew(*module, {.seed = 1, .steps = 4'000}).witnesses.empty());
}

// The classes of the rules' table.
TEST(DomainLint, UdtClassesAreThoseOfItsTable) {
  const auto module = makeDomain("udt").value();
  const SignatureLint lint = lintSignature(module->signature());
  const std::vector<std::pair<std::string, std::string>> table{{"UDT_REF_INTEGRITY", ""},
                                                               {"UDT_CODE_KIND", "LabOrder"},
                                                               {"UDT_NO_IMMUNOASSAY_CONFIRMATION", "LabOrder"},
                                                               {"UDT_CLINICAL_RATIONALE", "LabOrder"},
                                                               {"UDT_ABSTINENCE_DERIVATION", "Clinical"},
                                                               {"UDT_ONE_PER_DOS", "LabOrder"},
                                                               {"UDT_PRESUMPTIVE_LIMIT", ""},
                                                               {"UDT_DEFINITIVE_LIMIT", ""},
                                                               {"UDT_CLAIM_UNIQUE", "Billing"},
                                                               {"UDT_CLAIM_AFTER_RESULT", ""},
                                                               {"UDT_CLAIM_MATCHES_ORDER", ""},
                                                               {"UDT_SAME_DAY_DEFINITIVE", ""},
                                                               {"UDT_RELAPSE_RESPONSE", "Clinical"}};
  ASSERT_EQ(lint.invariants.size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(lint.invariants[i].id, table[i].first);
    EXPECT_EQ(lint.invariants[i].crossCutting(), table[i].second.empty()) << table[i].first;
    EXPECT_EQ(lint.invariants[i].enforcer, table[i].second);
  }
  EXPECT_EQ(lint.problems, std::vector<std::string>{});
  EXPECT_EQ(lint.inNoRole, std::vector<std::string>{"programPhase"});
  EXPECT_EQ(lint.neverWritten, (std::vector<std::string>{"baselinePositiveOn", "programPhase"}));
}

TEST(DomainLint, ActionSchemasNameEveryAction) {
  for (std::string_view name : domainNames()) {
    const auto module = makeDomain(name).value();
    const std::string schema = module->actionSchema();
    EXPECT_TRUE(schema.starts_with("@0x"));
    for (const ProcessInfo& process : module->signature().processes)
      EXPECT_EQ(schema.find("struct " + process.name + " {") != std::string::npos, !process.role.empty())
          << process.name;
  }
}

}  // namespace
}  // namespace witan::domains::domain_lint_test
