// Rule files: what they say is decided, and what is wrong with them is said with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/domain/rule_module.h"

namespace witan::rules {
namespace {

using testing::HasSubstr;
using namespace kernel;

constexpr const char* kPurchase = R"(domain = "purchase"
title = "Purchases"
counselors = ["head.of.finance"]

[policy]
limit = 1000

[tables.requests]
amount = "int"
purpose = "string"
approved = "bool"

[fields]
spent = "int = 0"

[processes.Ask]
role = "Clerk"
arguments = "request: string, amount: int, purpose: string = ''"
do = '''
require !has(requests[request].amount) else 'there is such a request';
requests[request].amount = amount;
requests[request].purpose = purpose
'''

[processes.Buy]
role = "Buyer"
arguments = "request: string"
do = '''
require has(requests[request].amount) else 'there is no such request';
spent = spent + requests[request].amount / (requests[request].purpose == 'zero' ? 0 : 1)
'''

[processes.Approve]
reads = ["amount"]
writes = ["approved"]

[invariants.PURCHASE_POSITIVE]
rule = "amounts are positive"
each = "requests as r"
check = '''
require r.amount > 0 else reject 'request ' + r.key + ' is of ' + string(r.amount)
'''

[invariants.PURCHASE_LIMIT]
rule = "a human approves what exceeds the limit"
each = "requests as r"
check = '''
require r.amount <= policy.limit || (has(r.approved) && r.approved)
  else escalate 'request ' + r.key + ' exceeds ' + string(policy.limit)
'''
)";

std::unique_ptr<DomainModule> moduleOf(const std::string& text, const json::object& policy = {}) {
  auto module = makeRuleModule(text, "t.domain.toml", policy);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message);
  return module.ok() ? *std::move(module) : nullptr;
}

std::string errorOf(const std::string& text) {
  auto module = makeRuleModule(text, "t.domain.toml");
  return module.ok() ? "" : module.error().message;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

class RuleFile : public testing::Test {
 protected:
  // "approved", "rejected:ID message".
  std::string decide(const char* role, const std::string& action) {
    auto parsed = module_->parseAction(parseJson(action).value());
    if (!parsed.ok()) return "refused:" + parsed.error().message;
    Evaluation found;
    at_.micros += kMicrosPerHour;
    module_->evaluate(*entity_, role, **parsed, at_, found);
    if (found.tag == Evaluation::Tag::approved) return "approved";
    return (found.tag == Evaluation::Tag::rejected ? "rejected:" : "escalated:") +
           std::string(module_->invariantId(found.witness)) + " " + found.message;
  }
  std::string state() {
    std::string out;
    module_->writeState(out, *entity_);
    return out;
  }

  Time at_ = kSampleStart;
  std::unique_ptr<DomainModule> module_ = moduleOf(kPurchase);
  EntityPtr entity_ = module_->create({}, at_).value();
};

TEST_F(RuleFile, Decides) {
  EXPECT_EQ(decide("Clerk", R"({"type":"Ask","request":"R1","amount":400,"purpose":"chairs"})"), "approved");
  EXPECT_EQ(decide("Buyer", R"({"type":"Buy","request":"R1"})"), "approved");
  EXPECT_EQ(state(), R"({"amount":{"R1":400},"clock":"2026-01-01T02:00:00Z","purpose":{"R1":"chairs"},"spent":400})");
  EXPECT_THAT(decide("Clerk", R"({"type":"Ask","request":"R1","amount":1})"),
              HasSubstr("rejected:KERNEL_INTEGRITY there is such a request"));
  EXPECT_THAT(decide("Buyer", R"({"type":"Ask","request":"R2","amount":1})"),
              HasSubstr("KERNEL_INTEGRITY Ask belongs to role Clerk"));
  EXPECT_EQ(decide("Clerk", R"({"type":"Ask","request":"R2","amount":0})"),
            "rejected:PURCHASE_POSITIVE request R2 is of 0");
  EXPECT_EQ(decide("Clerk", R"({"type":"Ask","request":"R2","amount":1001})"),
            "escalated:PURCHASE_LIMIT request R2 exceeds 1000");
  EXPECT_THAT(decide("Clerk", R"({"type":"Ask","request":"R2","amount":"1"})"), HasSubstr("refused:Ask.amount"));
  EXPECT_THAT(decide("Clerk", R"({"type":"Ask","amount":1})"), HasSubstr("\"request\" is missing"));
  EXPECT_THAT(decide("Clerk", R"({"type":"Ask","request":"R2","amount":1,"x":1})"),
              HasSubstr("unknown argument \"x\""));
}

TEST_F(RuleFile, ACounselorFillsWhatTheRuleAsksFor) {
  auto action = module_->parseAction(parseJson(R"({"type":"Ask","request":"R2","amount":2000})").value()).value();
  Evaluation found;
  ASSERT_TRUE(module_
                  ->counselorCommit(*entity_, CommitBase::candidate, action.get(),
                                    parseJson(R"({"approved":{"R2":true}})").value().as_object(), "chief", at_, found)
                  .ok());
  EXPECT_TRUE(found.findings.empty());
  const auto again = module_->readState(parseJson(state()).value().as_object()).value();
  std::string out;
  module_->writeState(out, *again);
  EXPECT_EQ(out, state());
}

// A fault says which expression.
TEST_F(RuleFile, FaultsOfProcessesNameTheExpression) {
  decide("Clerk", R"({"type":"Ask","request":"R1","amount":1,"purpose":"zero"})");
  const std::string before = state();
  EXPECT_EQ(decide("Buyer", R"({"type":"Buy","request":"R1"})"),
            "rejected:KERNEL_INTEGRITY division by zero (process Buy, line 30, column 42)");
  EXPECT_EQ(state(), before);
}

TEST_F(RuleFile, FaultsOfInvariantsRejectByTheKernel) {
  module_ = moduleOf(replaced(kPurchase, "require r.amount > 0", "require 10 / (r.amount - 5) != 77"));
  entity_ = module_->create({}, at_).value();
  EXPECT_EQ(decide("Clerk", R"({"type":"Ask","request":"R1","amount":5})"),
            "rejected:KERNEL_INTEGRITY division by zero (invariant PURCHASE_POSITIVE, line 41, column 12)");
  EXPECT_EQ(decide("Clerk", R"({"type":"Ask","request":"R1","amount":9223372036854775807})"),
            "escalated:PURCHASE_LIMIT request R1 exceeds 1000");
  entity_.reset();
  module_ = moduleOf(replaced(kPurchase, "require r.amount > 0", "require r.amount + 1 > r.amount"));
  entity_ = module_->create({}, at_).value();
  EXPECT_EQ(decide("Clerk", R"({"type":"Ask","request":"R1","amount":9223372036854775807})"),
            "rejected:KERNEL_INTEGRITY the result exceeds 64 bits (invariant PURCHASE_POSITIVE, line 41, column 18)");
  entity_.reset();
  module_ = moduleOf(replaced(kPurchase, "require r.amount > 0", "require 10 / (r.amount - 5) != 77"));
  EXPECT_THAT(module_->create(parseJson(R"({"amount":{"R1":5}})").value().as_object(), at_).error().message,
              HasSubstr("violates PURCHASE_POSITIVE (division by zero"));
}

TEST_F(RuleFile, PolicyReplacesMembers) {
  module_ = moduleOf(kPurchase, {{"limit", 10}});
  entity_ = module_->create({}, at_).value();
  EXPECT_THAT(decide("Clerk", R"({"type":"Ask","request":"R2","amount":11})"), HasSubstr("escalated:PURCHASE_LIMIT"));
  EXPECT_NE(module_->digest(), moduleOf(kPurchase)->digest());
  EXPECT_THAT(makeRuleModule(kPurchase, "t", {{"most", 10}}).error().message,
              HasSubstr("policy: unknown member \"most\""));
}

TEST_F(RuleFile, FootprintsAreComputed) {
  const kernel::Signature& s = module_->signature();
  ASSERT_EQ(s.roles.size(), 2u);
  EXPECT_EQ(s.fieldNames(s.roles[0].writes), (std::vector<std::string>{"amount", "purpose"}));
  EXPECT_EQ(s.fieldNames(s.roles[1].footprint), (std::vector<std::string>{"amount", "purpose", "spent"}));
  EXPECT_EQ(s.fieldNames(s.invariants[0].footprint), (std::vector<std::string>{"amount"}));
  EXPECT_EQ(s.fieldNames(s.invariants[1].footprint), (std::vector<std::string>{"amount", "approved"}));
  EXPECT_EQ(s.invariants[1].onFailure, InvResult::escalate);
  EXPECT_TRUE(s.invariants[1].incremental);
  EXPECT_EQ(s.processes.back().role, "");
}

TEST(RuleFileErrors, NamePlaceAndExpectedType) {
  const auto with = [](const char* what, const char* by) { return errorOf(replaced(kPurchase, what, by)); };
  EXPECT_EQ(with("r.amount > 0", "r.amount > 'x'").substr(0, 90),
            "t.domain.toml: line 41, column 18 (invariant PURCHASE_POSITIVE): > expects (int, int) or (");
  EXPECT_EQ(with("require r.amount > 0", "require r.amount"),
            "t.domain.toml: line 41, column 10 (invariant PURCHASE_POSITIVE): expected bool, found int");
  EXPECT_THAT(with("r.amount > 0", "r.amounts > 0"),
              HasSubstr("has no field \"amounts\": expected one of key, amount, purpose, approved"));
  EXPECT_THAT(with("spent = spent +", "spend = spent +"),
              HasSubstr("expected a field that can be set, found \"spend\""));
  EXPECT_THAT(with("purpose = \"string\"", "purpose = \"strin\""),
              HasSubstr("line 10, column 12 (field purpose): there is no type \"strin\""));
  EXPECT_THAT(with("title =", "titel ="), HasSubstr("line 2, column 1: unknown key \"titel\""));
  EXPECT_THAT(with("amount: int,", "amount: int = 'x',"), HasSubstr("expected int, found string"));
  EXPECT_THAT(with("policy.limit ||", "policy.limits ||"), HasSubstr("there is no \"limits\" in it"));
  EXPECT_THAT(with("else escalate", "else"), HasSubstr("an invariant says how it decides"));
  EXPECT_THAT(with("require has(", "require hass("), HasSubstr("unknown function \"hass\""));
  EXPECT_THAT(with("domain = \"purchase\"", "domain = \"Purchase\""), HasSubstr("a-z"));
  EXPECT_THAT(with("spent = \"int = 0\"", "spent = \"int = \""), HasSubstr("expected an expression"));
  EXPECT_THAT(errorOf("domain = \"x\"\n[fields]\na = \"int\"\n"), HasSubstr("1 to 1,000 processes"));
  EXPECT_THAT(errorOf("domain = 'x"), HasSubstr("line 1"));
  EXPECT_THAT(with("r.amount > 0", "r.amount > 10 / 0"),
              HasSubstr("line 41, column 23 (invariant PURCHASE_POSITIVE): div"));
  EXPECT_THAT(with("role = \"Clerk\"", "role = \"counselor\""), HasSubstr("the cluster's own"));
  EXPECT_THAT(with("role = \"Clerk\"", "role = \"Clerk:read\""), HasSubstr("letters, digits, _ and -"));
  EXPECT_THAT(with("\"head.of.finance\"", "\"\""), HasSubstr("is no name of a counselor"));
  EXPECT_THAT(with("\"head.of.finance\"", "\"system\""), HasSubstr("the kernel itself"));
  EXPECT_THAT(with("\"head.of.finance\"", "\"b\u043Ess\""), HasSubstr("two scripts"));
  EXPECT_THAT(with("\"Purchases\"", "\"Pur\\nchases\""), HasSubstr("a title is one line"));
}

// What beginners write: each message says where, and what stands there instead.
TEST(RuleFileErrors, BeginnersMistakes) {
  const auto with = [](const char* what, const char* by) { return errorOf(replaced(kPurchase, what, by)); };
  EXPECT_THAT(with("purpose = \"string\"", "purpose = \"\""),
              HasSubstr("line 10, column 12 (field purpose): expected a type: bool"));
  EXPECT_THAT(with("amount = \"int\"", "amount = \"integer\""),
              HasSubstr("there is no type \"integer\": expected a type: bool, int"));
  EXPECT_THAT(with("request: string, amount: int,", "request, amount: int,"),
              HasSubstr("line 18, column 21 (process Ask): expected \":\" and the type of request"));
  const auto unquoted = makeRuleModule(replaced(kPurchase, "role = \"Clerk\"", "role = Clerk"), "t.domain.toml");
  EXPECT_THAT(unquoted.error().message, HasSubstr("t.domain.toml: line 17, column 8"));
  EXPECT_THAT(unquoted.error().hint, HasSubstr("stand in quotes"));
  EXPECT_THAT(with("r.amount > 0", "r.amount = 0"),
              HasSubstr("line 41, column 18 (invariant PURCHASE_POSITIVE): expected \"else\", found \"=\": two values "
                        "are compared by =="));
  EXPECT_THAT(with("r.amount > 0", "r.amount > 0 and true"), HasSubstr("the operators are &&, || and !"));
  EXPECT_THAT(with("r.amount > 0", "not has(r.amount)"), HasSubstr("the operators are &&, || and !"));
  EXPECT_THAT(with("require r.amount > 0", "# positive\nrequire r.amount > 0"), HasSubstr("a comment begins with //"));
  EXPECT_THAT(with("'request ' + r.key + ' is of '", "\u2018request\u2019"), HasSubstr("texts stand in ' or \""));
  EXPECT_THAT(with("r.amount > 0", "now > r.amount"), HasSubstr("unknown name \"now\": a rule reads clock"));
  EXPECT_THAT(
      with("r.amount > 0", "clock + 7 > clock"),
      HasSubstr(
          "line 41, column 15 (invariant PURCHASE_POSITIVE): + expects (timestamp, duration), found (timestamp, int)"));
  EXPECT_THAT(with("requests[request].amount = amount;", "request[request].amount = amount;"),
              HasSubstr("line 21, column 1 (process Ask): there is no table \"request\""));
  EXPECT_THAT(with("requests[request].amount = amount;", "requests[request].sum = amount;"),
              HasSubstr("has no field \"sum\": expected one of key, amount"));
  EXPECT_THAT(with("role = \"Buyer\"\n", ""), HasSubstr("line 25, column 1: process Buy needs a role"));
  EXPECT_THAT(with("domain = \"purchase\"", "domain = \"My purchases\""), HasSubstr("line 1, column 10: domain"));
}

// Text from outside: an error with a place, in bounded time and memory.
TEST(RuleFileErrors, HostileFiles) {
  const auto check = [](const std::string& expression) {
    return errorOf(replaced(kPurchase, "r.amount > 0", expression));
  };
  const auto repeated = [](const std::string& text, std::size_t n) {
    std::string out;
    for (std::size_t i = 0; i < n; ++i) out += text;
    return out;
  };
  EXPECT_THAT(check(repeated("(", 30'000) + "1" + repeated(")", 30'000)), HasSubstr("nest at most 100 deep"));
  EXPECT_THAT(check(repeated("!", 30'000) + "true"), HasSubstr("nest at most 100 deep"));
  EXPECT_THAT(check("1" + repeated("+1", 5'000) + " > 0"), HasSubstr("nest at most 100 deep"));
  EXPECT_THAT(check(repeated("[", 200) + repeated("]", 200) + " == []"), HasSubstr("nest at most 100 deep"));
  EXPECT_THAT(check(repeated("[1].all(a, ", 9) + "true" + repeated(")", 9)), HasSubstr("loops nest at most 5 deep"));
  EXPECT_THAT(check("[" + repeated("1,", 21'000) + "1] == []"), HasSubstr("at most 20000 parts"));
  EXPECT_THAT(check("size('" + repeated("a", 70'000) + "') > 0"), HasSubstr("at most 65536 bytes"));
  EXPECT_THAT(check("9223372036854775808 > 0"), HasSubstr("a number of 64 bits"));
  EXPECT_THAT(check("'\xff' == ''"), HasSubstr("UTF-8"));
  EXPECT_THAT(check("f(1)"), HasSubstr("unknown function \"f\""));
  EXPECT_THAT(errorOf("x = \"" + repeated("a", 1 << 20) + "\""), HasSubstr("at most 1048576 bytes"));
  // One line of nearly a whole file.
  const std::string line = repeated("a", 1'000'000);
  EXPECT_EQ(errorOf(concat("# ", line, "\n", kPurchase)), "");
  EXPECT_LT(check(line + " > 0").size(), 1'000u);
  EXPECT_THAT(check(line + " > 0"), HasSubstr("at most 65536 bytes"));
  EXPECT_LT(errorOf(replaced(kPurchase, "amount = \"int\"", concat("amount = \"", line, "\""))).size(), 1'000u);
  for (const char* types : {"Node = \"list(Node)\"", "Node = \"record(a: Other)\"\nOther = \"list(Node)\""})
    EXPECT_THAT(errorOf(replaced(kPurchase, "[fields]", concat("[types]\n", types, "\n[fields]"))),
                HasSubstr("there is no type"))
        << "types that hold themselves";
  EXPECT_THAT(errorOf("a" + repeated(".a", 50'000) + " = 1"), HasSubstr("t.domain.toml: line 1: a key of more than"));
  EXPECT_THAT(errorOf(replaced(kPurchase, "amount = \"int\"",
                               "amount = \"" + repeated("list(", 500) + "int" + repeated(")", 500) + "\"")),
              HasSubstr("types nest at most 16 deep"));
  // Functions that call the one before twice double with each: the parts of a program are counted.
  std::string doubling = "[functions]\n\"f0(a: int)\" = \"a + 1\"\n";
  for (int i = 1; i < 40; ++i) doubling += concat("\"f", i, "(a: int)\" = \"f", i - 1, "(a) + f", i - 1, "(a)\"\n");
  EXPECT_THAT(errorOf(replaced(kPurchase, "[fields]", doubling + "[fields]")), HasSubstr("at most 20000 parts"));
  EXPECT_THAT(errorOf(replaced(kPurchase, "[fields]", "[functions]\n\"f(a: int)\" = \"f(a)\"\n[fields]")),
              HasSubstr("unknown function \"f\""));
}

// What grows while it runs is stopped by its budget.
TEST(RuleFileErrors, HostileValues) {
  const auto decide = [](const std::string& check) {
    auto module = moduleOf(replaced(kPurchase, "require r.amount > 0", check));
    if (!module) return std::string();
    auto entity = module->create({}, kSampleStart).value();
    auto action = module->parseAction(parseJson(R"({"type":"Ask","request":"R1","amount":3})").value()).value();
    Evaluation found;
    module->evaluate(*entity, "Clerk", *action, kSampleStart, found);
    return std::string(module->invariantId(found.witness)) + " " + found.message;
  };
  std::string text = "let ta = string(r.amount) + 'aaaaaaaaaaaaaaaa';\n";
  for (char c = 'a'; c < 'z'; ++c) text += concat("let t", static_cast<char>(c + 1), " = t", c, " + t", c, ";\n");
  EXPECT_THAT(decide(text + "require tz == ''"), HasSubstr("KERNEL_INTEGRITY the evaluation needs more than 16 MiB"));
  std::string lists = "let la = [r.amount, r.amount];\n";
  for (char c = 'a'; c < 'z'; ++c) lists += concat("let l", static_cast<char>(c + 1), " = [l", c, ", l", c, "];\n");
  EXPECT_THAT(decide(lists + "require lz == lz"), HasSubstr("budget of 1000000 steps"));
  EXPECT_THAT(decide(lists + "require lz in [lz]"), HasSubstr("budget of 1000000 steps"));
  const std::string ten = "[r.amount,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9]";
  EXPECT_THAT(decide(concat("require ", ten, ".all(a, ", ten, ".all(b, ", ten, ".all(c, ", ten, ".all(d, ", ten,
                            ".all(e, true)))))")),
              HasSubstr("KERNEL_INTEGRITY the evaluation exceeded its budget of 1000000 steps"));
}

}  // namespace
}  // namespace witan::rules
