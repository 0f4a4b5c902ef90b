// A compiled domain against its ontology: our own agree, and every kind of difference is found.
#include "lab/ontology/against.h"

#include <gtest/gtest.h>

#include "domains/registry.h"
#include "tests/lab/ontology/turtle_texts.h"

namespace witan::ontology::against_test {
namespace {

using namespace test;

std::string budgetText() { return fileText(root() / "domains/budget/budget.ttl"); }

std::string with(const std::string& text, const std::string& from, const std::string& to) {
  WITAN_CHECK(text.find(from) != std::string::npos, from);
  std::string out = text;
  return out.replace(out.find(from), from.size(), to);
}

Comparison compared(const std::string& text, std::string_view domain = "budget") {
  return compareWith(domains::makeDomain(domain).value()->signature(), modelOf(text));
}

using Words = std::vector<std::string>;

TEST(Against, EveryDomainAgreesWithItsOntology) {
  for (std::string_view name : domains::domainNames()) {
    if (name == "joint" || name == "escrow" || name == "graph") continue;  // see ShippedOntologies
    const Comparison c = compared(fileText(root() / "domains" / name / (std::string(name) + ".ttl")), name);
    EXPECT_EQ(c.differences, Words{}) << name;
    EXPECT_EQ(c.notes, Words{}) << name;
    const auto module = domains::makeDomain(name).value();
    EXPECT_EQ(c.fields, module->signature().fields.size());
    EXPECT_EQ(c.processes, module->signature().processes.size());
    EXPECT_EQ(c.roles, module->signature().roles.size());
    EXPECT_EQ(c.invariants, module->signature().invariants.size());
  }
}

TEST(Against, AnotherDomainDiffersInEverything) {
  const Comparison c = compared(budgetText(), "udt");
  EXPECT_GT(c.differences.size(), 30u);
  EXPECT_EQ(c.fields + c.processes + c.roles + c.invariants, 0u);
}

TEST(Against, FieldsDiffer) {
  EXPECT_EQ(compared(budgetText() + "b:x a ar:Field ; ar:name \"extra\" .").differences,
            Words{"field extra is not in the code"});
  EXPECT_EQ(compared(with(budgetText(), "b:spentA a ar:Field", "b:spentA a ar:LifecycleField")).differences,
            Words{"field spentA is of the life cycle only in the ontology"});
  EXPECT_EQ(compared(with(budgetText(), "ar:type \"integer\"", "ar:type \"map<string,date>\"")).differences,
            Words{"field spentA is integer in the code and map<text, date> in the ontology"});
}

TEST(Against, ProcessesDiffer) {
  EXPECT_EQ(compared(with(budgetText(), "ar:reads b:spentA ; ar:writes b:spentA", "ar:reads b:spentA")).differences,
            Words{"process SpendA writes spentA, which the ontology does not say"});
  // More than the code needs is allowed, and told.
  const Comparison c = compared(with(budgetText(), "ar:writes b:spentA .", "ar:writes b:spentA , b:spentB ."));
  EXPECT_EQ(c.notes.at(0), "process SpendA writes not spentB, which the ontology says");
  const std::string counseled =
      with(with(budgetText(), "b:A a ar:Role ; ar:name \"A\" ; ar:performs b:SpendA .", ""), "b:SpendA a ar:Process ;",
           "b:SpendA a ar:Process ; ar:performedBy ar:Counselor ;");
  EXPECT_EQ(compared(counseled).differences.at(0), "process SpendA is a counselor's only in the ontology");
}

TEST(Against, RolesDiffer) {
  EXPECT_EQ(compared(with(budgetText(), "ar:name \"A\"", "ar:name \"Sales\"")).differences,
            Words{"the role that performs SpendA is called A in the code and Sales in the ontology"});
  // One role for both, declared: it pins.
  const std::string undeclared = with(with(budgetText(), "b:A a ar:Role ; ar:name \"A\" ; ar:performs b:SpendA .", ""),
                                      "b:B a ar:Role ; ar:name \"B\" ; ar:performs b:SpendB .", "");
  const Comparison one = compared(undeclared + "b:AB a ar:Role ; ar:name \"AB\" ; ar:performs b:SpendA , b:SpendB .");
  EXPECT_EQ(one.differences, (Words{"no role in the code performs just SpendA, SpendB, as the ontology declares",
                                    "role A performs SpendA, and no role does so as the ontology declares",
                                    "role B performs SpendB, and no role does so as the ontology declares"}));
  EXPECT_EQ(one.notes, Words{"the ontology declares other roles than Procedure 1 would derive"});
  // None declared: derived, and whatever their names.
  EXPECT_EQ(compared(undeclared).differences, Words{});
  // A common field of both joins them into one role.
  const Comparison joined = compared(with(with(undeclared, "ar:reads b:spentA", "ar:reads b:spentA , b:spentB"),
                                          "ar:reads b:spentB ;", "ar:reads b:spentB , b:spentA ;"));
  EXPECT_EQ(joined.differences.at(0),
            "no role in the code performs just SpendA, SpendB, as Procedure 1 derives from the ontology");
}

TEST(Against, InvariantsDiffer) {
  EXPECT_EQ(compared(with(budgetText(), "BUDGET_CAP", "BUDGET_LID")).differences,
            (Words{"invariant BUDGET_CAP is not in the ontology", "invariant BUDGET_LID is not in the code"}));
  EXPECT_EQ(compared(with(budgetText(), "\"reject\"", "\"escalate\"")).differences,
            Words{"invariant BUDGET_CAP rejects in the code and escalates in the ontology"});
  EXPECT_EQ(compared(with(budgetText(), "ar:refersTo b:spentA , b:spentB", "ar:refersTo b:spentA")).differences,
            Words{"invariant BUDGET_CAP reads spentB, which the ontology does not say"});
  EXPECT_EQ(compared(with(budgetText(), "\"reject\"", "\"mixed\"")).differences, Words{});
}

TEST(Against, TheListOrderIsCompared) {
  const std::string udt = fileText(root() / "domains/udt/udt.ttl");
  EXPECT_EQ(
      compared(with(with(udt, "ar:order 2 ", "ar:order 20 "), "ar:order 12 ", "ar:order 21 "), "udt").differences.at(0),
      "the list order differs: UDT_CODE_KIND stands in the code where UDT_NO_IMMUNOASSAY_CONFIRMATION stands in the "
      "ontology");
}

TEST(Against, CounselorsProcessesMayBeLeftOut) {
  std::string udt = fileText(root() / "domains/udt/udt.ttl");
  const std::size_t from = udt.find("u:RespondToRelapse");
  udt.erase(from, udt.find("# ---- who may do it") - from);
  const Comparison c = compared(udt, "udt");
  EXPECT_EQ(c.differences, Words{});
  EXPECT_EQ(c.notes, Words{"process RespondToRelapse (counselors') is not in the ontology"});
}

}  // namespace
}  // namespace witan::ontology::against_test
