// Rule files at the ends of their types: what no record could give back is never decided, so that a ledger always
// opens again and its replay agrees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seams.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_verify.h"
#include "rules/domain/rule_module.h"
#include "store/memory_store.h"

namespace witan::rules::extremes_test {
namespace {

using testing::HasSubstr;
using namespace kernel;

constexpr const char* kExtremes = R"toml(domain = "extremes"
counselors = ["boss"]

[fields]
d = "double = 1.0"
u = "uint = 1u"
i = "int = 1"
s = "string = ''"
t = "timestamp = now"
y = "duration = duration('1s')"
r = "record(a: double, t: timestamp, d: duration)"

[tables.rows]
reals = "list(double)"
spans = "map(string, duration)"
day = "date"

[processes.Real]
role = "A"
arguments = "k: double, op: int"
do = "d = op == 0 ? d + k : op == 1 ? d * k : op == 2 ? d / k : -d"

[processes.Whole]
role = "A"
arguments = "k: int, n: uint, op: int"
do = '''
i = op == 0 ? i + k : op == 1 ? i * k : op == 2 ? i / k : i % k;
u = op == 0 ? u + n : op == 1 ? u * n : op == 2 ? u / n : u % n
'''

[processes.Time]
role = "A"
arguments = "k: duration, key: string, n: int"
do = '''
t = t + k;
y = y + k;
r = {'a': d, 't': t + k, 'd': k};
rows[key].day = date(t) + n;
rows[key].reals = [d, d * 2.0, 0.0 - d];
rows[key].spans = {'k': k, 'y': y}
'''

[processes.Text]
role = "A"
arguments = "k: string, twice: bool"
do = "s = twice ? s + s + k : k"

[processes.Mean]
role = "B"
arguments = "sum: double, n: int"
do = "d = sum / double(n)"

[invariants.SIGN]
rule = "a zero has no sign"
check = "require 1.0 / d >= -1.0 || d < 0.0 else reject 'a negative zero'"

[invariants.NANOS]
rule = "times are kept to the microsecond"
check = "require size(string(r.t)) <= 27 else reject 'nanoseconds'"

[invariants.LONG]
rule = "texts do not end in a stop"
check = "require !s.endsWith('.') else escalate 'the text ' + s"
)toml";

std::unique_ptr<DomainModule> moduleOf(const std::string& text) {
  auto module = makeRuleModule(text, "t.domain.toml");
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message);
  return module.ok() ? *std::move(module) : nullptr;
}
std::string errorOf(const std::string& text) {
  auto module = makeRuleModule(text, "t.domain.toml");
  return module.ok() ? "" : module.error().message;
}

class Extremes : public testing::Test {
 protected:
  void SetUp() override { open(); }

  void open() {
    ledger_.reset();
    auto opened = Ledger::open(store_, *module_, {.origin = "extremes.test/log"});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    ledger_ = *std::move(opened);
  }
  Decision propose(const char* role, const std::string& action) {
    auto parsed = module_->parseAction(parseJson(action, kOwnJson).value());
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
    at_.micros += 1;
    return ledger_->partition().propose({"e", role, concat("op-", ++operations_), "device", "", parsed->get(), at_});
  }
  std::string state() {
    std::string out;
    module_->writeState(out, *ledger_->partition().state("e"));
    return out;
  }
  // What stands opens again, is the same, and comes out of a replay.
  void expectReadable() {
    ASSERT_TRUE(ledger_->commit().ok());
    const std::string before = state();
    open();
    EXPECT_EQ(state(), before);
    VerifyOptions options;
    options.replay = module_.get();
    const auto report = verifyLedger(store_, options);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->ok()) << report->problem;
  }

  std::unique_ptr<DomainModule> module_ = moduleOf(kExtremes);
  store::MemoryStore store_;
  std::unique_ptr<Ledger> ledger_;
  Time at_ = kSampleStart;
  std::size_t operations_ = 0;
};

TEST_F(Extremes, WhatIsNotFiniteIsAFaultOfItsExpression) {
  ASSERT_EQ(ledger_->partition().init("e", {}, at_).outcome, Outcome::initialised);
  EXPECT_EQ(propose("A", R"({"type":"Real","k":1e308,"op":0})").outcome, Outcome::approved);
  const Decision beyond = propose("A", R"({"type":"Real","k":1e308,"op":0})");
  EXPECT_EQ(beyond.outcome, Outcome::rejected);
  EXPECT_EQ(beyond.invariant, kKernelIntegrity);
  EXPECT_THAT(beyond.message, HasSubstr("d cannot hold Infinity: expected a finite number (process Real, line 21"));
  EXPECT_THAT(propose("B", R"({"type":"Mean","sum":0,"n":0})").message, HasSubstr("d cannot hold NaN"));
  EXPECT_THAT(propose("A", R"({"type":"Time","k":"1s","key":"K","n":0})").message,
              HasSubstr("reals cannot hold Infinity"));
  expectReadable();
}

TEST_F(Extremes, WhatARecordCannotHoldIsRejected) {
  ASSERT_EQ(ledger_->partition().init("e", {}, at_).outcome, Outcome::initialised);
  const std::string text(60'000, 'x');
  Decision last;
  for (int i = 0; i < 8; ++i) last = propose("A", concat(R"({"type":"Text","twice":true,"k":")", text, "\"}"));
  EXPECT_EQ(last.outcome, Outcome::rejected);
  EXPECT_EQ(last.invariant, kKernelIntegrity);
  EXPECT_THAT(last.message, HasSubstr("s: what the proposal writes would take more than 4194304 bytes"));
  // As JSON a control character takes six bytes: the kernel counts what is written.
  std::string controls;
  for (int i = 0; i < 10'000; ++i) controls += "\\u0001";
  propose("A", concat(R"({"type":"Text","twice":false,"k":")", controls, "\"}"));
  for (int i = 0; i < 7; ++i) last = propose("A", R"({"type":"Text","twice":true,"k":""})");
  EXPECT_EQ(last.outcome, Outcome::rejected);
  EXPECT_EQ(last.invariant, kKernelIntegrity);
  EXPECT_THAT(last.message, HasSubstr("s takes 7680008 bytes of a write set of"));
  // A message is cut; the question stays within its record.
  last = propose("A", R"({"type":"Text","twice":true,"k":"."})");
  EXPECT_EQ(last.outcome, Outcome::escalated);
  EXPECT_LT(last.message.size(), 5000u);
  expectReadable();
}

// Random values at the ends of the types, through all processes.
TEST_F(Extremes, RandomValuesLeaveALedgerThatOpensAgain) {
  ASSERT_EQ(ledger_->partition().init("e", {}, at_).outcome, Outcome::initialised);
  SeededRandom random(23);
  const auto one = [&](std::initializer_list<const char*> values) {
    return *(values.begin() + random.below(values.size()));
  };
  const auto real = [&] { return one({"0", "-0.0", "1e308", "-1.7976931348623157e308", "5e-324", "0.1", "-3"}); };
  const auto span = [&] {
    return one({"\"0s\"", "\"0.000000001s\"", "\"-0.0000015s\"", "\"9223372036s\"", "\"-9223372036s\"", "\"36h\""});
  };
  const auto whole = [&] { return one({"0", "1", "-1", "9223372036854775807", "-9223372036854775808", "4096"}); };
  std::map<Outcome, int> seen;
  for (int step = 0; step < 600; ++step) {
    std::string action;
    switch (random.below(5)) {
      case 0: action = concat(R"({"type":"Real","k":)", real(), R"(,"op":)", random.below(4), "}"); break;
      case 1:
        action = concat(R"({"type":"Whole","k":)", whole(), R"(,"n":)", one({"0", "1", "18446744073709551615"}),
                        R"(,"op":)", random.below(4), "}");
        break;
      case 2:
        action = concat(R"({"type":"Time","k":)", span(), R"(,"key":"K)", random.below(3), R"(","n":)", whole(), "}");
        break;
      case 3:
        action =
            concat(R"({"type":"Text","twice":)", random.below(4) != 0 ? "true" : "false", R"(,"k":")",
                   std::string(random.below(8) == 0 ? 50'000 : 3, 'x'), one({"", "\\u0000", "\\u202e", "."}), "\"}");
        break;
      default: action = concat(R"({"type":"Mean","sum":)", real(), R"(,"n":)", whole(), "}");
    }
    const Decision decision = propose(action.find("Mean") == std::string::npos ? "A" : "B", action);
    ++seen[decision.outcome];
    if (decision.outcome == Outcome::escalated) {
      CounselorDecision answer;
      answer.entity = "e", answer.counselor = "boss", answer.commit = random.below(2) == 0, answer.at = at_;
      const std::string id = concat("answer-", step);
      answer.operationId = id;
      const Decision made = ledger_->partition().decide(answer);
      if (made.outcome == Outcome::refused) {
        EXPECT_THAT(made.message, HasSubstr("of a write set of"));
        answer.commit = false;
        EXPECT_EQ(ledger_->partition().decide(answer).outcome, Outcome::cRejected);
      }
    }
    EXPECT_TRUE(decision.invariant != "SIGN" && decision.invariant != "NANOS") << decision.message;
    if (step % 200 == 199) expectReadable();
  }
  EXPECT_GT(seen[Outcome::approved], 100);
  EXPECT_GT(seen[Outcome::rejected], 100);
  EXPECT_GT(seen[Outcome::escalated], 5);
}

TEST(RuleFileTypes, MembersOfOneNameAreRefused) {
  const auto with = [](const std::string& type) {
    return errorOf("domain = \"x\"\n[types]\nT = \"" + type +
                   "\"\n[fields]\nq = \"T\"\n[processes.P]\nrole = \"A\"\narguments = \"t: T\"\ndo = \"q = t\"\n");
  };
  EXPECT_EQ(with("record(a: int, b: int)"), "");
  EXPECT_EQ(with("record(a: int, b: int, a: int)"), "t.domain.toml: line 3, column 29 (type T): \"a\" comes twice");
  EXPECT_THAT(with("tuple(a: int, a: int)"), HasSubstr("\"a\" comes twice"));
  EXPECT_THAT(with("enum(A, B, A)"), HasSubstr("\"A\" comes twice"));
  EXPECT_THAT(with("map(int, int)"), HasSubstr("a field cannot be of type map(int, int)"));
  EXPECT_THAT(with("list(dyn)"), HasSubstr("a field cannot be of type dyn"));
}

// Records of the same names hold different things.
TEST(RuleFileTypes, AMemberOfAnotherTypeIsRefused) {
  EXPECT_THAT(errorOf("domain = \"x\"\n[fields]\nq = \"record(a: int)\"\nr = \"record(a: string)\"\n"
                      "[processes.P]\nrole = \"A\"\ndo = \"q = r\"\n"),
              HasSubstr("expected record(a: int), found record(a: string)"));
}

TEST(RuleFileTypes, NamedTypesGrowWithinBounds) {
  std::string types = "domain = \"x\"\n[types]\nT0 = \"record(a: int, b: int)\"\n";
  for (int i = 1; i < 40; ++i) types += concat("T", i, " = \"record(a: T", i - 1, ", b: T", i - 1, ")\"\n");
  EXPECT_THAT(errorOf(types + "[fields]\nn = \"T39\"\n"),
              HasSubstr("line 11, column 7 (type T8): a type has at most 1000 parts, the named ones put in"));
  std::string deep = "domain = \"x\"\n[types]\nT0 = \"list(int)\"\n";
  for (int i = 1; i < 40; ++i) deep += concat("T", i, " = \"list(T", i - 1, ")\"\n");
  EXPECT_THAT(errorOf(deep + "[fields]\nn = \"T39\"\n"), HasSubstr("types nest at most 16 deep"));
}

TEST(RuleFileTypes, ValuesOfTheFileAreFinite) {
  const auto with = [](const std::string& policy, const std::string& field) {
    return errorOf("domain = \"x\"\n[policy]\nlimit = " + policy + "\n[fields]\nd = \"" + field +
                   "\"\n[processes.P]\nrole = \"A\"\narguments = \"k: double = 1.0\"\ndo = \"d = k\"\n");
  };
  EXPECT_EQ(with("1.5", "double = 0.0"), "");
  EXPECT_EQ(with("nan", "double = 0.0"), "t.domain.toml: line 3, column 9: expected a finite number");
  EXPECT_THAT(with("[1.0, -inf]", "double = 0.0"), HasSubstr("expected a finite number"));
  EXPECT_EQ(with("1.5", "double = 1.0 / 0.0"),
            "t.domain.toml: line 5, column 15 (field d): d cannot hold Infinity: expected a finite number");
  EXPECT_THAT(with("1.5", "int = 1 / 0"), HasSubstr("(field d): division by zero"));
}

}  // namespace
}  // namespace witan::rules::extremes_test
