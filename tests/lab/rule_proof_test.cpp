// witan domain prove: what it proves, what it refutes by an example that is played, and what it does not know.
#include "lab/proof/rules/prover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "program/durable_file.h"
#include "rules/domain/rule_module.h"
#include "tests/paths.h"

namespace witan::rule_proof_test {
namespace {

using namespace rules;
using namespace rules::proof;
using testing::HasSubstr;

ProofReport proved(const std::string& text, ProofOptions options = {.rows = 2, .milliseconds = 20'000}) {
  const auto domain = readRuleDomain(text, "test.domain.toml", {});
  EXPECT_TRUE(domain.ok()) << domain.error().message;
  const auto module = makeRuleModule(text, "test.domain.toml");
  return prove(**domain, **module, options);
}

std::string exampleText(const std::string& name) {
  return **node::readSmallFile(std::string(tests::kSourceDir) + "/docs/examples/" + name, kFileMax);
}

const Claim& claim(const std::vector<Claim>& all, std::string_view invariant, std::string_view first,
                   std::string_view second = {}) {
  for (const Claim& one : all)
    if (one.invariant == invariant && (first.empty() || one.first == first) && (second.empty() || one.second == second))
      return one;
  ADD_FAILURE() << "no claim about " << invariant << " " << first << " " << second;
  static const Claim none;
  return none;
}

// Two roles, of which each has a process, and a rule over what they write.
std::string roles(const std::string& first, const std::string& second, const std::string& check,
                  const char* version = "") {
  return concat("domain = \"two\"\n", version, R"([policy]
cap = 100
[fields]
a = "int = 0"
b = "int = 0"
[processes.First]
role = "A"
arguments = "n: int"
do = ''')",
                first, R"('''
[processes.Second]
role = "B"
arguments = "n: int"
do = ''')",
                second, R"('''
[invariants.SUM]
rule = "what both write fits together"
check = ''')",
                check, "'''\n");
}
constexpr const char* kAdds = "require n >= 0 else 'negative'; b = b + n";
constexpr const char* kWithinTen = "require a + b <= 10 else reject 'too much' ";

// The hole: without what the process requires the rule is broken, and the example says how.
TEST(RuleProof, ProvesWhatAProcessKeepsAndRefutesTheHole) {
  const std::string check = "require a >= 0 && a <= policy.cap else reject 'a is ' + string(a)";
  const ProofReport whole =
      proved(roles("require n >= 0 && n <= 100 && a + n <= policy.cap else 'no'; a = a + n", kAdds, check));
  EXPECT_EQ(claim(whole.kept, "SUM", "First").answer, Answer::yes);
  EXPECT_FALSE(claim(whole.kept, "SUM", "First").vacuous);
  EXPECT_EQ(claim(whole.kept, "SUM", "Second").answer, Answer::yes);
  EXPECT_EQ(claim(whole.uncoordinated, "SUM", {}).answer, Answer::yes);
  EXPECT_EQ(claim(whole.orderless, "", "First", "Second").answer, Answer::yes);
  EXPECT_EQ(claim(whole.orderless, "", "First", "First").answer, Answer::no) << "each fits alone, both do not";

  const ProofReport hole = proved(roles("require n >= 0 else 'no'; a = a + n", kAdds, check));
  const Claim& broken = claim(hole.kept, "SUM", "First");
  EXPECT_EQ(broken.answer, Answer::no);
  EXPECT_THAT(broken.example, HasSubstr("\"expect\":\"rejected:SUM\"")) << broken.example;
}

TEST(RuleProof, FindsTheTraceOfTwoRoles) {
  const ProofReport report = proved(exampleText("budget.domain.toml"));
  const Claim& cap = claim(report.uncoordinated, "BUDGET_CAP", {});
  EXPECT_EQ(cap.answer, Answer::no) << cap.why;
  EXPECT_NE(cap.first, cap.second);
  EXPECT_THAT(cap.example, HasSubstr("rejected:BUDGET_CAP"));
  EXPECT_EQ(claim(report.orderless, "", "SpendA", "SpendB").answer, Answer::no);
}

constexpr const char* kTable = R"toml(domain = "table"
counselors = ["someone"]
human = ["signed"]
[tables.things]
amount = "int"
kind = "enum(BIG, SMALL)"
of = "string"
signed = "tuple(by: string, at: timestamp)"
[processes.Put]
role = "A"
arguments = "key: string, amount: int"
do = '''
require !has(things[key].amount) else 'there is one';
require amount >= 0 else 'less than nothing';
things[key].amount = amount;
things[key].kind = amount > 10 ? 'BIG' : 'SMALL'
'''
[processes.Name]
role = "B"
arguments = "key: string, of: string"
do = '''
require key in things else 'there is none';
things[key].of = of
'''
[processes.Never]
role = "C"
arguments = "key: string"
do = '''
require has(things[key].amount) && things[key].amount < 0 else 'no';
things[key].of = 'x'
'''
[processes.Sign]
reads = ["amount"]
writes = ["signed"]
[invariants.KIND]
rule = "what is big is called so"
each = "things as t"
check = '''
require t.amount >= 0 else reject 'negative';
require (t.amount > 10) == (t.kind == 'BIG') else reject 'wrong'
'''
[invariants.STATED]
rule = "what it is of is said"
each = "things as t"
check = '''require !has(t.of) || !t.of.isBlank() else reject 'blank' '''
[invariants.SIGNED]
rule = "only one thing is big, but for signed ones"
check = '''
require things.filter(t, has(t.kind) && t.kind == 'BIG' && !has(t.signed)).size() <= 1 else escalate 'two'
'''
[invariants.ORDERED]
rule = "texts have an order that is not known here"
each = "things as t"
check = '''require !has(t.of) || t.of < 'zz' else reject 'late' '''
)toml";

TEST(RuleProof, KnowsTablesTextsAndWhatItDoesNotKnow) {
  const ProofReport report = proved(kTable);
  EXPECT_EQ(claim(report.kept, "KIND", "Put").answer, Answer::yes) << claim(report.kept, "KIND", "Put").why;
  EXPECT_EQ(claim(report.kept, "KIND", "Name").answer, Answer::yes) << "it writes nothing of it";
  const Claim& blank = claim(report.kept, "STATED", "Name");
  EXPECT_EQ(blank.answer, Answer::no) << blank.why;
  EXPECT_THAT(blank.example, HasSubstr("rejected:STATED"));
  const Claim& two = claim(report.kept, "SIGNED", "Put");
  EXPECT_EQ(two.answer, Answer::no) << two.why;
  EXPECT_THAT(two.example, HasSubstr("escalated:SIGNED"));
  const Claim& order = claim(report.kept, "ORDERED", "Name");
  EXPECT_EQ(order.answer, Answer::unknown);
  EXPECT_THAT(order.why, HasSubstr("an order of texts (invariant ORDERED"));
  EXPECT_EQ(claim(report.uncoordinated, "KIND", {}).answer, Answer::yes);
  // Two new rows of different keys go in any order, but only one of two big ones.
  EXPECT_EQ(claim(report.orderless, "", "Put", "Put").answer, Answer::no);
  for (const auto& [process, answer] : report.commits)
    EXPECT_EQ(answer, process == "Never" ? Answer::no : Answer::yes) << process;
}

// What the machine decides otherwise than plain mathematics would: each was once said to hold.
struct Hole {
  const char* name;
  const char* also;  // of [fields]
  const char* arguments;
  const char* process;
  const char* check = "require a == 0 else reject 'x'";
  const char* tables = "";
};
constexpr const char* kTableOfX = "[tables.t]\nx = \"int\"\n";
constexpr const char* kDay = "d = \"date = date('1970-01-01')\"\n";
constexpr const char* kText = "s = \"string = ''\"\n";
constexpr const char* kDouble = "x = \"double = 0.0\"\n";
constexpr Hole kHoles[] = {
    {"aConstantSumOverflows", "", "", "a = 1",
     "let most = 9223372036854775807; require a == 0 || most + 1 > most else reject 'x'"},
    {"aRemainderOverflows", "", "", "a = 1",
     "let l = -9223372036854775807 - 1; let m = -1; require a == 0 || l % m == 0 else reject 'x'"},
    {"doublesAreComputed", kDouble, "", "x = x + 1.5; a = 1"},
    {"aWholeNumberMeetsTheNearestDouble", kDouble, "n: int, y: double", "a = n; x = y",
     "require !(a > 9007199254740992 && a <= x && x <= 9007199254740992.0) else reject 'x'"},
    {"oneFunctionOfTwoTypes", "", "",
     "let n = 1; let day = date('1970-01-02'); require string(n) != string(day) else 'no'; a = 1"},
    {"nullIsTheKeyOfNoRow", "", "k: string?", "require !(k in t) else 'no'; if k == null { a = 1 }",
     "require a == 0 else reject 'x'", kTableOfX},
    {"aRowOfNullHasNothing", "", "k: string?", "if !has(t[k].x) && k == null { a = 1 }",
     "require a == 0 else reject 'x'", kTableOfX},
    {"aFieldIsNoArgument", "\"P.n\" = \"int = 0\"\n", "n: int", "a = .P.n == n ? 0 : 1"},
    {"nullOfAnyType", "", "n: int?", "if dyn(n) == null { a = 1 }"},
    {"nullIsNotWaived", "", "n: string?", "require !waived('I', n) else 'w'; if n == null { a = 1 }"},
    {"nullIsNoEmptyOptional", "", "", "a = 1", "require a == 0 || dyn(optional.none()) == null else reject 'x'"},
    {"listsAreNotDistinguished", "", "", "a = 1", "require a == 0 || size([[a], [a]].distinct()) == 1 else reject 'x'"},
    {"aLoopVisitsTheRowsItAdds", "", "k: string",
     "require !(k in t) else 'no'; for r in t { require r.x == 1 || r.key == k else 'no'; t[k].x = r.x + 1 }",
     "require t.all(r, r.x <= 2) else reject 'x'", kTableOfX},
    {"aFullTableMayLoseACellOfNoRow", "", "k: string",
     "t[k].x = null; require !(k in t) && size(t) == 2 else 'no'; a = 1", "require a == 0 else reject 'x'", kTableOfX},
    {"noOrderOfTwoTypes", kDay, "", "a = 1", "require a == 0 || dyn(d) > dyn(5) || dyn(d) <= dyn(5) else reject 'x'"},
    {"noProductOfDates", kDay, "", "a = 1", "require a == 0 || dyn(d) * dyn(d) == dyn(0) else reject 'x'"},
    {"noNegativeOfADate", kDay, "", "a = 1", "require a == 0 || dyn(-dyn(d)) != dyn(7) else reject 'x'"},
    {"noWholeNumberOfADate", kDay, "", "a = 1", "require a == 0 || int(dyn(d)) == int(dyn(d)) else reject 'x'"},
    {"noTimeOfADuration", "u = \"duration = duration('1s')\"\n", "", "a = 1",
     "require a == 0 || u != duration('1s') || timestamp(dyn(u)) > timestamp(0) else reject 'x'"},
    {"aTextMayBeNoNumber", kText, "", "a = 1",
     "require a == 0 || s != 'NaN' || double(s) == double(s) else reject 'x'"},
    {"whatHasNoTermHasNoneTwice", kText, "", "a = 1",
     "require a == 0 || timestamp(s) == timestamp(0) || s != '2026-01-01T00:00:00.0000001Z' "
     "|| int(timestamp(s)) == 0 || timestamp(s) == timestamp('2026-01-01T00:00:00Z') else reject 'x'"},
    {"onlyListsAreFlattened", "", "", "a = 1",
     "require a == 0 || dyn([dyn(1), dyn([2])]).flatten().size() == 1 else reject 'x'"},
    {"aListIsNoKey", "", "", "a = 1", "require a == 0 || !dyn({'a': 1})[?dyn([a])].hasValue() else reject 'x'"},
    {"noPlaceOfADate", kDay, "", "a = 1",
     "require a == 0 || d != date('1970-01-01') || dyn([7])[dyn(d)] == 7 else reject 'x'"},
};

class Holes : public testing::TestWithParam<Hole> {};

TEST_P(Holes, AreNotSaidToHold) {
  const Hole& hole = GetParam();
  const ProofReport report =
      proved(concat("domain = \"hole\"\n[fields]\na = \"int = 0\"\n", hole.also, hole.tables,
                    "[processes.P]\nrole = \"R\"\narguments = \"", hole.arguments, "\"\ndo = '''", hole.process,
                    "'''\n[invariants.I]\nrule = \"r\"\ncheck = '''", hole.check, "'''\n"));
  EXPECT_NE(claim(report.kept, "I", "P").answer, Answer::yes) << proofText(report);
}

INSTANTIATE_TEST_SUITE_P(RuleProof, Holes, testing::ValuesIn(kHoles),
                         [](const auto& hole) { return std::string(hole.param.name); });

// A value of another type is not stored, and two facts of one kind are not one of each.
TEST(RuleProof, TypesOfValuesAndNumbersOfFactsCount) {
  const ProofReport fit = proved(roles("a = dyn(1u)", kAdds, "require a <= policy.cap else reject 'x'"));
  EXPECT_EQ(fit.commits.front(), std::pair(std::string("First"), Answer::no));
  constexpr const char* kFacts = R"toml(domain = "facts"
[logs]
l = "int"
[processes.One]
role = "A"
do = '''require l.exists(f, f == 1) else 'no'; append l = l.exists(f, f == 2) ? 2 : 1'''
[processes.Two]
role = "B"
do = '''require l.exists(f, f == 1) else 'no'; append l = 2'''
[invariants.SOME]
rule = "facts are positive"
check = '''require l.all(f, f > 0) else reject 'x' '''
)toml";
  const ProofReport facts = proved(kFacts, {.rows = 3, .milliseconds = 20'000});
  EXPECT_EQ(claim(facts.orderless, "", "One", "Two").answer, Answer::no) << proofText(facts);
  EXPECT_EQ(claim(facts.orderless, "", "Two", "Two").answer, Answer::yes) << "their order does not count";
}

// At one moment the two would agree.
TEST(RuleProof, RolesActAtMomentsOfTheirOwn) {
  const ProofReport report = proved(R"toml(domain = "stamps"
[fields]
x = "timestamp = timestamp(0)"
y = "timestamp = timestamp(0)"
[processes.SetX]
role = "A"
do = "x = now"
[processes.SetY]
role = "B"
do = "y = now"
[invariants.EQUAL]
rule = "both are of one moment"
check = '''require x == timestamp(0) || y == timestamp(0) || x == y else reject 'x' '''
)toml");
  const Claim& equal = claim(report.uncoordinated, "EQUAL", {});
  EXPECT_EQ(equal.answer, Answer::no) << equal.why;
  EXPECT_THAT(equal.example, HasSubstr("rejected:EQUAL"));
}

// Each process looks at the sum, so that each keeps the rule alone; two that do not see each other break it.
TEST(RuleProof, WhatAProcessLooksAtIsNoCoordination) {
  const std::string small = "require n > 0 && n <= 10 && a + b + n <= 10 else 'no'; ";
  const ProofReport skew = proved(roles(small + "a = a + n", small + "b = b + n", kWithinTen));
  EXPECT_EQ(claim(skew.kept, "SUM", "First").answer, Answer::yes) << claim(skew.kept, "SUM", "First").why;
  EXPECT_EQ(claim(skew.kept, "SUM", "Second").answer, Answer::yes);
  const Claim& sum = claim(skew.uncoordinated, "SUM", {});
  EXPECT_EQ(sum.answer, Answer::no) << sum.why;
  EXPECT_THAT(sum.why, HasSubstr("what both write breaks it"));
  EXPECT_THAT(sum.example, HasSubstr("rejected:KERNEL_INTEGRITY"));
  // Into one field each would lose what the other wrote.
  const ProofReport lost = proved(roles(small + "a = a + n", small + "a = a + n", kWithinTen));
  EXPECT_EQ(claim(lost.uncoordinated, "SUM", {}).answer, Answer::no) << proofText(lost);
  EXPECT_THAT(claim(lost.uncoordinated, "SUM", {}).why, HasSubstr("both write a"));
  // Less is no question, whoever sees whom.
  const std::string any = "require n > 0 && n <= 10 && ";
  const ProofReport less =
      proved(roles(any + "a > -1000 else 'no'; a = a - n", any + "b > -1000 else 'no'; b = b - n", kWithinTen));
  EXPECT_EQ(claim(less.uncoordinated, "SUM", {}).answer, Answer::yes) << proofText(less);
}

// An entity is of a version that there is, and what begins is of this one.
TEST(RuleProof, ExamplesOfALaterVersionCanBegin) {
  const std::string text = roles("a = n", "b = n", kWithinTen, "version = 2\n") + R"([invariants.LEAST]
rule = "neither is below zero"
check = '''require a >= 0 && b >= 0 else reject 'x' '''
[since]
2 = ["LEAST"]
)";
  const ProofReport report = proved(text);
  const Claim& least = claim(report.kept, "LEAST", "First");
  EXPECT_EQ(least.answer, Answer::no) << least.why;
  EXPECT_FALSE(least.decided);
  EXPECT_THAT(least.example, testing::Not(HasSubstr("rulesVersion")));
  const auto module = *makeRuleModule(text, "test.domain.toml");
  const std::string lines = proofScenarios(report);
  std::size_t begun = 0;
  for (std::string_view rest = lines; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    const json::value line = *parseJson(rest.substr(0, rest.find('\n')), kOwnJson);
    const json::value* fields = line.get_object().if_contains("init");
    if (fields == nullptr) continue;
    ++begun;
    const auto made = module->create(fields->get_object(), *parseTime(line.at("at").as_string()));
    EXPECT_TRUE(made.ok()) << made.error().message << "\n" << lines;
  }
  EXPECT_GT(begun, 0u);
}

// Which rows a process sees depends on all that it declares to read.
TEST(RuleProof, RowsThatAProcessSeesAreRead) {
  const ProofReport report = proved(R"toml(domain = "rows"
[fields]
c = "int = 0"
[tables.t]
x = "int"
y = "int"
[processes.Clear]
role = "A"
arguments = "k: string"
do = '''t[k].y = null'''
[processes.Count]
role = "B"
reads = ["y"]
arguments = "k: string"
do = '''require k in t else 'no'; c = t[k].?x.orValue(1)'''
[invariants.SOME]
rule = "what is counted is no debt"
check = '''require c > -1000 else reject 'x' '''
)toml");
  EXPECT_EQ(claim(report.orderless, "", "Clear", "Count").answer, Answer::no) << proofText(report);
}

// What is said to be kept is kept: small states, as the claims are of, that random actions reach and try to break.
TEST(RuleProof, WhatIsKeptIsKeptInRandomHistories) {
  std::size_t broken = 0;
  for (const std::string& text :
       {exampleText("budget.domain.toml"), exampleText("purchase.domain.toml"), std::string(kTable)}) {
    const auto domain = *readRuleDomain(text, "test.domain.toml", {});
    const auto module = *makeRuleModule(text, "test.domain.toml");
    const ProofReport report = prove(*domain, *module, {.rows = 2, .milliseconds = 20'000});
    SeededRandom random(23);
    const auto isSmall = [&](const kernel::EntityState& state) {
      std::string bytes;
      module->writeState(bytes, state);
      const json::value all = *parseJson(bytes, kOwnJson);
      return std::ranges::all_of(domain->layout.fields, [&](const FieldDecl& field) {
        const json::value* cells = field.isColumn ? all.get_object().if_contains(field.name) : nullptr;
        return cells == nullptr || (cells->is_object() ? cells->get_object().size() : cells->get_array().size()) <= 1;
      });
    };
    for (int history = 0; history < 400; ++history) {
      auto state = *module->create({}, kSampleStart);
      kernel::Evaluation evaluation;
      for (int step = 0; step < 6 && isSmall(*state); ++step) {
        const Time at{kSampleStart.micros + step * kMicrosPerDay};
        const auto action = module->sample(*state, random, at);
        const auto& process = module->signature().processes[action->process];
        module->evaluate(*state, process.role, *action, at, evaluation);
        if (evaluation.tag == kernel::Evaluation::Tag::approved || evaluation.witness == 0) continue;
        ++broken;
        const std::string rule(module->invariantId(evaluation.witness));
        EXPECT_NE(claim(report.kept, rule, process.name).answer, Answer::yes) << rule << " " << process.name;
      }
    }
  }
  EXPECT_GT(broken, 100u);
}

// Without time nothing is known but what needs no question.
TEST(RuleProof, EndsWithinItsTime) {
  const ProofReport report = proved(kTable, {.rows = 2, .milliseconds = 20'000, .seconds = 0});
  const auto known = [](const Claim& one) { return one.answer != Answer::unknown; };
  EXPECT_EQ(std::ranges::count_if(report.kept, known), 6) << "what writes nothing that the rule reads";
  EXPECT_TRUE(std::ranges::none_of(report.orderless, known)) << proofText(report);
  EXPECT_THAT(claim(report.kept, "KIND", "Put").why, HasSubstr("the time for questions of this kind was over"));
  EXPECT_THAT(proofText(report), HasSubstr("within 0 s, 20000 ms a question"));
}

TEST(RuleProof, ReportsAsTextAndJson) {
  const ProofReport report = proved(kTable);
  EXPECT_THAT(proofText(report), HasSubstr("KIND, Put: yes"));
  EXPECT_THAT(proofText(report), HasSubstr("Never can never be approved"));
  EXPECT_EQ(proofJson(report).at("neverApproved"), json::value({"Never"}));
  EXPECT_THAT(proofScenarios(report), HasSubstr("rejected:STATED"));
}

}  // namespace
}  // namespace witan::rule_proof_test
