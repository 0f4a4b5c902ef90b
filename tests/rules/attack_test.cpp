// Attack: it finds the holes that were in the domains once, planted again, and none in the domains of today.
#include "rules/attack/attack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domains/registry.h"
#include "program/line_reader.h"
#include "rules/domain/rule_module.h"
#include "tests/paths.h"

namespace witan::rules {
namespace {

using kernel::DomainModule;
using testing::HasSubstr;

std::string fileOf(const std::string& path) {
  return node::readInput(std::string(tests::kSourceDir) + "/" + path, 1 << 22).value();
}

AttackReport attacked(const DomainModule& module, AttackOptions options = {}) {
  const auto gates = domains::gatesOf(module);
  EXPECT_TRUE(gates.ok()) << gates.error().message;
  if (!gates.ok()) return {};
  if (module.scenarios().empty()) options.scenarios = domains::scenariosOf(module.signature().domain);
  auto report = attack(module, **gates, options);
  EXPECT_TRUE(report.ok()) << report.error().message;
  return report.ok() ? *std::move(report) : AttackReport{};
}

struct Planted {
  std::string from, to;
};

std::unique_ptr<DomainModule> moduleWith(std::string text, const std::vector<Planted>& holes) {
  for (const auto& [from, to] : holes) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  auto module = makeRuleModule(std::move(text), "planted", {}, {});
  EXPECT_TRUE(module.ok()) << module.error().message;
  return module.ok() ? *std::move(module) : nullptr;
}

// The first way that was found through that gate.
const AttackFinding* through(const AttackReport& report, const std::string& gate) {
  for (const AttackFinding& one : report.findings)
    if (one.gate == gate) return &one;
  return nullptr;
}

// 052da77: a negative spend made room for another role (A5).
TEST(Attack, FindsANegativeSpend) {
  const std::string need = "require n >= 0 else 'a spend of ' + string(n) + ' is negative: nothing is given back';\n";
  const auto module = moduleWith(fileOf("docs/examples/budget.domain.toml"), {{need, ""}, {need, ""}});
  const AttackReport report = attacked(*module, {.steps = 500});
  const AttackFinding* found = through(report, "taken_back");
  ASSERT_NE(found, nullptr) << attackText(*module, report);
  EXPECT_EQ(found->steps.size(), 1);
  EXPECT_THAT(attackText(*module, report), HasSubstr("alone passes it without its evidence"));
  EXPECT_EQ(attackJson(*module, report).at("findings").as_array().size(), report.findings.size());
}

// 052da77: a definitive test by any method that was not on a list (A3).
TEST(Attack, FindsAMethodThatNobodyForbade) {
  const auto module = moduleWith(fileOf("docs/examples/udt.domain.toml"),
                                 {{"(has(o.order.method) && o.order.method in ['GCMS', 'GCMSMS', 'LCMS', 'LCMSMS'])",
                                   "(has(o.order.method) && !(o.order.method in ['IMMUNOASSAY', 'ENZYMATIC']))"}});
  const AttackReport report = attacked(*module, {.steps = 2'000, .role = "LabOrder"});
  const AttackFinding* found = through(report, "confirmed");
  ASSERT_NE(found, nullptr) << attackText(*module, report);
  EXPECT_LE(found->steps.size(), 2);
}

// 052da77: an agent decided an appeal in a human's name (A2).
TEST(Attack, FindsAForgedSignature) {
  const std::string erased = "if has(appeals[p].appeal.decidedBy) { appeals[p].appeal.decidedBy = null; }\n";
  const auto module = moduleWith(fileOf("docs/examples/moderation.domain.toml"),
                                 {{"human = [\"appeal.decidedBy\", \"humanReview\"]", "human = [\"humanReview\"]"},
                                  {erased, ""},
                                  {erased, "appeals[p].appeal.decidedBy = [by, now];\n"}});
  const AttackReport report = attacked(*module, {.steps = 2'000, .role = "Appeals"});
  const AttackFinding* found = through(report, "appeal_decided");
  ASSERT_NE(found, nullptr) << attackText(*module, report);
  EXPECT_LE(found->steps.size(), 2);
}

// A signature that stays while what was signed becomes another thing.
TEST(Attack, FindsASignatureThatCarriesOver) {
  const auto module = moduleWith(
      fileOf("docs/examples/verification.domain.toml"),
      {{"from == 'REPRODUCED' ? to in ['VERIFIED', 'REFUTED', 'DUPLICATE'] : false",
        "from == 'REPRODUCED' ? to in ['VERIFIED', 'REFUTED', 'DUPLICATE'] : to == 'REFUTED'"},
       {"(!has(f.phase.log) || size(f.phase.log) == 0 || f.verdict.by.at >= f.phase.log[size(f.phase.log) - 1].at)",
        "true"}});
  const AttackReport report = attacked(*module, {.steps = 2'000, .role = "SeverityAssessment"});
  EXPECT_NE(through(report, "turned_over"), nullptr) << attackText(*module, report);
}

// The holes of disclosure, in little: an embargo that shrinks, a group that is left, a fix that is taken back.
TEST(Attack, FindsTheHolesOfDisclosure) {
  const std::string text = fileOf("tests/rules/embargo.domain.toml");
  const auto sound = moduleWith(text, {});
  EXPECT_TRUE(attacked(*sound, {.steps = 3'000}).findings.empty()) << attackText(*sound, attacked(*sound));

  const auto shrinks = moduleWith(text, {{"require days >= 0 else 'an embargo only grows';\n", ""}});
  const AttackReport shorter = attacked(*shrinks, {.steps = 3'000, .role = "Coordination"});
  ASSERT_NE(through(shorter, "shortened"), nullptr) << attackText(*shrinks, shorter);
  EXPECT_EQ(through(shorter, "shortened")->steps.size(), 1);

  const auto leaves = moduleWith(
      text, {{"require !has(vulns[v].groupOf) || vulns[v].groupOf == g else 'it would leave its group';\n", ""}});
  const AttackReport left = attacked(*leaves, {.steps = 3'000, .role = "Disclosure"});
  ASSERT_NE(through(left, "left_behind"), nullptr) << attackText(*leaves, left);
  EXPECT_EQ(through(left, "left_behind")->steps.size(), 2) << attackText(*leaves, left);

  const auto undoes =
      moduleWith(text, {{"require !has(vulns[v].patch) || vulns[v].patch != 'RELEASED' else 'it is released';\n", ""}});
  const AttackReport undone = attacked(*undoes, {.steps = 3'000, .role = "Patching"});
  EXPECT_NE(through(undone, "taken_back"), nullptr) << attackText(*undoes, undone);
}

TEST(Attack, FindsNothingInTheDomainsOfToday) {
  for (const std::string_view name : domains::domainNames()) {
    const auto module = domains::makeDomain(name).value();
    const AttackReport report = attacked(*module, {.steps = 300});
    EXPECT_TRUE(report.findings.empty()) << attackText(*module, report);
    for (const AttackedRole& role : report.roles)
      if (report.gates > 0) {
        EXPECT_EQ(role.tried, 300) << name << " " << role.role << ": what is no action is none that was tried";
      }
  }
}

// A run that had just ended was forgotten, and begun again under its id.
TEST(Attack, FindsNoRunOfAGraphThatIsForgottenBeforeItsTime) {
  const auto module = domains::makeDomain("graph").value();
  const AttackReport report = attacked(*module, {.role = "Runtime"});
  EXPECT_TRUE(report.findings.empty()) << attackText(*module, report);
}

TEST(Attack, TheSameSeedGivesTheSameReport) {
  const auto module = domains::makeDomain("disclosure").value();
  const AttackOptions options{.seed = 7, .steps = 300, .role = "Disclosure"};
  EXPECT_EQ(attackText(*module, attacked(*module, options)), attackText(*module, attacked(*module, options)));
}

TEST(Attack, SaysWhatIsWrongWithAGate) {
  const auto module = domains::makeDomain("budget").value();
  const auto wrong = [&](const std::string& gate) {
    const auto gates = Gates::read(gate, "g", module->signature(), module->policyJson());
    return gates.ok() ? "" : gates.error().message;
  };
  EXPECT_THAT(wrong("[gates.a]\nrule = 'x'\nreached = 'after.spentA >'\nevidence = 'true'"), HasSubstr("gate a"));
  EXPECT_THAT(wrong("[gates.a]\nrule = 'x'\nreached = '1'\nevidence = 'true'"), HasSubstr("expected bool"));
  EXPECT_THAT(wrong("[gates.a]\nrule = 'x'\nreached = 'true'"), HasSubstr("evidence"));
  EXPECT_THAT(wrong("[gates.a]\nreached = 'true'\nevidence = 'true'"), HasSubstr("rule"));
  EXPECT_THAT(wrong("[gates.a]\nrule = 'x'\neach = 'nothing'\nreached = 'true'\nevidence = 'true'"),
              HasSubstr("nothing"));
  EXPECT_THAT(wrong("[gates.a]\nrule = 'x'\nwhat = 1\nreached = 'true'\nevidence = 'true'"), HasSubstr("unknown key"));
  const auto fails = Gates::read("[gates.a]\nrule = 'x'\nreached = '1 / after.spentA == 1'\nevidence = 'true'", "g",
                                 module->signature(), module->policyJson());
  ASSERT_TRUE(fails.ok());
  EXPECT_FALSE(attack(*module, **fails, {.steps = 50}).ok());
  EXPECT_FALSE(attack(*module, **fails, {.role = "Nobody"}).ok());
}

}  // namespace
}  // namespace witan::rules
