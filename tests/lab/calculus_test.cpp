// The metatheory of the calculus, property-tested: appendix A.2.5 and A.3.2 of "Agentic Redux".
#include "lab/redux/calculus/calculus.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>
#include <set>

#include "lab/redux/calculus/calculus_text.h"
#include "tests/lab/calculus_fixture.h"

namespace witan::kernel::calculus::calculus_test {
namespace {

using toy::Choices;
using toy::Configuration;
using toy::ToyArchitecture;
using toy::typedTerm;

Choices anyChoices() {
  return Choices(*rc::gen::container<std::vector<std::uint8_t>>(160, rc::gen::arbitrary<std::uint8_t>()));
}

System anySystem() { return *rc::gen::element(System::base, System::withCounselor); }

TermPtr program(std::string_view text) { return parseProgram(text).value(); }

std::string show(const Configuration& c) { return printProgram(c.term); }

StepResult stepOf(Configuration& c, System system) { return step(c.term, c.architecture, c.oracle, system); }

bool sameResult(const StepResult& a, const StepResult& b) {
  return a.kind == b.kind && equal(a.term, b.term) && a.rule == b.rule && a.reason == b.reason &&
         a.contextDepth == b.contextDepth;
}

// Calls `check(before, result, after)` for each configuration of the execution, the last one included.
template <class Check>
void alongExecution(Configuration configuration, System system, Check check) {
  for (;;) {
    const Configuration before = configuration;
    const StepResult result = stepOf(configuration, system);
    configuration.term = result.term;
    check(before, result, configuration);
    if (result.kind != StepResult::Kind::stepped) return;
  }
}

std::size_t redexes(const TermPtr& term) {
  if (term == nullptr || term->isValue()) return 0;
  return 1 + redexes(term->first) + redexes(term->second);
}

// ---- Theorem 3 (Type Safety), section A.2.5 ----

void checkPreservation(System system) {
  Choices choices = anyChoices();
  const Configuration start = toy::anyConfiguration(choices, system);
  RC_ASSERT(typeOf(start.term, start.architecture, system).value() == start.type);
  alongExecution(start, system, [&](const Configuration& before, const StepResult& result, const Configuration& after) {
    if (result.kind != StepResult::Kind::stepped) return;
    const Result<Type> type = typeOf(after.term, after.architecture, system);
    if (!type.ok()) RC_FAIL(show(before) + "\n--> " + show(after) + "\n" + type.error().message);
    RC_ASSERT(*type == start.type);
  });
}

void checkProgress(System system, const std::set<Stuck>& allowed) {
  Choices choices = anyChoices();
  const Configuration start = toy::anyConfiguration(choices, system);
  alongExecution(start, system, [&](const Configuration& before, const StepResult& result, const Configuration&) {
    RC_ASSERT((result.kind == StepResult::Kind::value) == before.term->isValue());
    if (result.kind != StepResult::Kind::stuck) return;
    RC_LOG() << show(before) << ": " << toString(result.reason);
    RC_ASSERT(allowed.contains(result.reason));
  });
}

// "If <e, s, w> is well-typed over AgenticRedux(D) with |- e : t, and <e, s, w> --> <e', s', w'>, then <e', s', w'> is
// well-typed over AgenticRedux(D) with |- e' : t." (Theorem 3, Preservation)
RC_GTEST_PROP(Calculus, Theorem3_Preservation, ()) { checkPreservation(System::base); }

// "If <e, s, w> is well-typed over AgenticRedux(D) and e is not a value, then either there exists a reduction step, or
// the configuration is operationally stuck on an undefined invocation of pi, kappa, or an agent." (Theorem 3, Progress)
RC_GTEST_PROP(Calculus, Theorem3_Progress, ()) {
  checkProgress(System::base, {Stuck::coordinateUndefined, Stuck::adjudicateUndefined});
}

// "As in Theorem 3, with additional cases for the counselor rules." (Theorem 3+, section A.3.2)
RC_GTEST_PROP(Calculus, Theorem3Plus_Preservation, ()) { checkPreservation(System::withCounselor); }

// "As in Theorem 3, with two additional forms of operational stuckness: an awaitCounselor term with s.queue = [], and
// an awaitCounselor term for which the oracle's next consumption supplies an unauthorised counselor identity." Its
// proof adds the freeze ("stuck in the same sense that the base calculus admits") and an oracle without a directive
// ("Otherwise, the configuration is operationally stuck").
RC_GTEST_PROP(Calculus, Theorem3Plus_Progress, ()) {
  checkProgress(System::withCounselor,
                {Stuck::coordinateUndefined, Stuck::adjudicateUndefined, Stuck::frozen, Stuck::nothingPending,
                 Stuck::unauthorisedCounselor, Stuck::counselorUndefined});
}

// The checks above must be able to fail: a rule with a wrong reduct breaks preservation...
TEST(Calculus, Theorem3_PreservationCheckSeesAWrongRule) {
  const ToyArchitecture architecture;
  const TermPtr term = program("let o = entry(adjudicate((\"ops\", \"add 5\"), 1)) in o");
  const Decomposition parts = decompose(term).value();
  ASSERT_EQ(typeOf(term, architecture, System::base).value(), Type::outcome);
  EXPECT_TRUE(typeOf(plug(parts.context, makeValue(Outcome::approved)), architecture, System::base).ok());
  EXPECT_FALSE(typeOf(plug(parts.context, makeValue(Unit{})), architecture, System::base).ok());
}

// ... and an ill-typed program can get stuck where no well-typed one does.
TEST(Calculus, Theorem3_ProgressNeedsTyping) {
  ToyArchitecture architecture;
  Oracle oracle({});
  for (const char* text : {"adjudicate(approved, approved)", "adjudicate((\"ops\", \"add 5\"), done)"}) {
    EXPECT_FALSE(typeOf(program(text), architecture, System::base).ok()) << text;
    EXPECT_EQ(step(program(text), architecture, oracle, System::base).reason, Stuck::illTyped) << text;
  }
  EXPECT_FALSE(typeOf(program("x"), architecture, System::base).ok());
  EXPECT_EQ(step(program("entry(x)"), architecture, oracle, System::base).reason, Stuck::freeVariable);
  EXPECT_EQ(step(program("awaitCounselor"), architecture, oracle, System::base).reason, Stuck::illTyped);
}

TEST(Calculus, RandomProgramsReachEveryRuleAndEveryStuckness) {
  std::set<Rule> rules;
  std::set<Stuck> reasons;
  std::mt19937 random(20);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::uint8_t> bytes(160);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    Choices choices(bytes);
    Configuration c = toy::anyConfiguration(choices, System::withCounselor);
    const Execution run = execute(c.term, c.architecture, c.oracle, System::withCounselor);
    rules.insert(run.rules.begin(), run.rules.end());
    if (run.last.kind == StepResult::Kind::stuck) reasons.insert(run.last.reason);
  }
  EXPECT_EQ(rules.size(), 8u);
  EXPECT_EQ(reasons.size(), 6u);  // all but freeVariable and illTyped
}

// ---- Lemmas ----

// All E and redex with E[redex] = term, straight from the grammar of E (A.1.14).
void decomposeByGrammar(const TermPtr& term, Context context, std::vector<Decomposition>& found) {
  const auto inside = [&](bool second) {
    Context deeper = context;
    deeper.push_back({term, second});
    decomposeByGrammar(second ? term->second : term->first, deeper, found);
  };
  const bool firstIsValue = term->first == nullptr || term->first->isValue();
  const bool isAdjudicate = term->kind == Term::Kind::adjudicate;
  const bool ready = firstIsValue && (!isAdjudicate || term->second->isValue());
  if (!term->isValue() && ready) found.push_back({context, term});
  if (term->first != nullptr) inside(false);
  if (isAdjudicate && firstIsValue) inside(true);
}

// "--> is a partial function on configurations." (Lemma A.45, A.1.14) "the evaluation context for a given non-value
// term is unique" is its core.
RC_GTEST_PROP(Calculus, LemmaA45_Determinism, ()) {
  Choices choices = anyChoices();
  const System system = anySystem();
  Configuration one = toy::anyConfiguration(choices, system);
  if (choices.below(2) == 0) one.term = toy::wildTerm(choices);
  Configuration two = one;
  const Execution first = execute(one.term, one.architecture, one.oracle, system);
  const Execution second = execute(two.term, two.architecture, two.oracle, system);
  RC_ASSERT(first.rules == second.rules);
  RC_ASSERT(sameResult(first.last, second.last));
  RC_ASSERT(one.architecture.state == two.architecture.state);
  RC_ASSERT(one.oracle.consumed() == two.oracle.consumed());
}

RC_GTEST_PROP(Calculus, LemmaA45_EvaluationContextIsUnique, ()) {
  Choices choices = anyChoices();
  const TermPtr term = toy::wildTerm(choices);
  std::vector<Decomposition> found;
  decomposeByGrammar(term, {}, found);
  const std::optional<Decomposition> ours = decompose(term);
  RC_ASSERT(found.size() == (term->isValue() ? 0u : 1u));
  RC_ASSERT(ours.has_value() == !found.empty());
  if (!ours) return;
  RC_ASSERT(equal(ours->redex, found[0].redex));
  RC_ASSERT(ours->context.size() == found[0].context.size());
  RC_ASSERT(equal(plug(ours->context, ours->redex), term));
}

// "generated by a domain-preserving rule: s'.domain = s.domain" (Lemma A.47; with A.67, E-Counselor-Commit is the only
// other rule that may change the domain), and "s'.audit = s.audit ++ [entry] for exactly one entry" under the
// adjudicate and counselor rules, "otherwise, s'.audit = s.audit" (Lemmas A.50, A.66).
RC_GTEST_PROP(Calculus, LemmaA47_A50_A66_RulesChangeOnlyWhatTheyMay, ()) {
  Choices choices = anyChoices();
  const System system = anySystem();
  const Configuration start = toy::anyConfiguration(choices, system);
  alongExecution(start, system, [](const Configuration& before, const StepResult& result, const Configuration& after) {
    const ToyArchitecture::State& s = before.architecture.state;
    const ToyArchitecture::State& t = after.architecture.state;
    if (result.kind != StepResult::Kind::stepped) {
      RC_ASSERT(s == t);
      RC_ASSERT(before.oracle.consumed() == after.oracle.consumed());
      return;
    }
    const bool administrative =
        result.rule == Rule::eLet || result.rule == Rule::eEntry || result.rule == Rule::eCoordinate;
    if (administrative) RC_ASSERT(s == t);
    if (!administrative) RC_ASSERT(t.audit.size() == s.audit.size() + 1);
    RC_ASSERT(std::equal(s.audit.begin(), s.audit.end(), t.audit.begin()));
    if (result.rule != Rule::eAdjudicateApprove && result.rule != Rule::eCounselorCommit) {
      RC_ASSERT(s.balance == t.balance);
    }
  });
}

// "every reachable configuration satisfies |s.queue| <= 1" (Lemma A.65, A.3.1)
RC_GTEST_PROP(Calculus, LemmaA65_QueueCardinality, ()) {
  Choices choices = anyChoices();
  const Configuration start = toy::anyConfiguration(choices, System::withCounselor);
  alongExecution(start, System::withCounselor, [](const Configuration&, const StepResult&, const Configuration& after) {
    RC_ASSERT(after.architecture.queueLength() <= 1);
  });
}

// Without the freeze premise the bound does not hold: the check above can fail.
TEST(Calculus, LemmaA65_NeedsTheFreeze) {
  const TermPtr twice =
      program("let a = adjudicate((\"ops\", \"add 60\"), 1) in let b = adjudicate((\"ops\", \"add 60\"), 2) in done");
  ToyArchitecture base;
  Oracle oracle({});
  EXPECT_EQ(execute(twice, base, oracle, System::base).last.kind, StepResult::Kind::value);
  EXPECT_EQ(base.queueLength(), 2u);
  ToyArchitecture frozen;
  EXPECT_EQ(execute(twice, frozen, oracle, System::withCounselor).last.reason, Stuck::frozen);
  EXPECT_EQ(frozen.queueLength(), 1u);
}

// "If |- v : t for a value v, then" v has the form that belongs to t. (Lemma A.57)
RC_GTEST_PROP(Calculus, LemmaA57_CanonicalForms, ()) {
  Choices choices = anyChoices();
  const ToyArchitecture architecture;
  const Value value = toy::anyValue(choices, toy::anyType(choices, System::withCounselor));
  switch (typeOf(makeValue(value), architecture, System::withCounselor).value()) {
    case Type::unit: RC_ASSERT(std::holds_alternative<Unit>(value) || std::holds_alternative<Done>(value)); break;
    case Type::proposal: {
      const auto& pair = std::get<Proposal>(value);
      RC_ASSERT(architecture.isRole(pair.role) && architecture.isAction(pair.action));
      break;
    }
    case Type::time: RC_ASSERT(std::holds_alternative<Time>(value)); break;
    case Type::outcome: RC_ASSERT(std::holds_alternative<Outcome>(value)); break;
    case Type::counselorOutcome: RC_ASSERT(std::holds_alternative<CounselorOutcome>(value)); break;
    case Type::role: RC_ASSERT(architecture.isRole(std::get<Role>(value).name)); break;
    case Type::action: RC_ASSERT(architecture.isAction(std::get<Action>(value).text)); break;
  }
}

// "If G, x:t1 |- e : t2 and G |- v : t1 for a value v, then G |- e[v/x] : t2." (Lemma A.58)
RC_GTEST_PROP(Calculus, LemmaA58_Substitution, ()) {
  Choices choices = anyChoices();
  const ToyArchitecture architecture;
  const System system = anySystem();
  const TypingContext outer = {{"y", toy::anyType(choices, system)}};
  const Type t1 = toy::anyType(choices, system);
  const Type t2 = toy::anyType(choices, system);
  TypingContext inner = outer;
  inner.emplace_back("x", t1);
  const TermPtr e = typedTerm(choices, t2, system, inner);
  RC_ASSERT(typeOf(e, architecture, system, inner).value() == t2);
  const TermPtr replaced = substitute(e, "x", toy::anyValue(choices, t1));
  RC_ASSERT(typeOf(replaced, architecture, system, outer).value() == t2);
}

TEST(Calculus, LemmaA58_SubstitutionStopsAtAShadowingBinder) {
  const auto replaced = [](const char* text) { return printProgram(substitute(program(text), "x", Time{7})); };
  EXPECT_EQ(replaced("let x = x in x"), "let x = 7 in x");
  EXPECT_EQ(replaced("let y = x in let x = y in entry(x)"), "let y = 7 in let x = y in entry(x)");
  EXPECT_EQ(replaced("adjudicate(y, x)"), "adjudicate(y, 7)");
}

// "If |- E[e1] : t, then there exists a type t1 such that |- e1 : t1, and for every e1' with |- e1' : t1,
// |- E[e1'] : t." (Lemma A.59)
RC_GTEST_PROP(Calculus, LemmaA59_Decomposition, ()) {
  Choices choices = anyChoices();
  const System system = anySystem();
  const Configuration c = toy::anyConfiguration(choices, system);
  const std::optional<Decomposition> parts = decompose(c.term);
  if (!parts) return;
  TermPtr filling = parts->redex;
  for (std::size_t depth = parts->context.size() + 1; depth > 0; --depth) {  // every E, not only the innermost
    const Context outer(parts->context.begin(), parts->context.begin() + static_cast<std::ptrdiff_t>(depth - 1));
    RC_ASSERT(equal(plug(outer, filling), c.term));
    const Type t1 = typeOf(filling, c.architecture, system).value();
    const TermPtr other = typedTerm(choices, t1, system);
    RC_ASSERT(typeOf(plug(outer, other), c.architecture, system).value() == c.type);
    if (!outer.empty()) filling = outer.back().term;
  }
}

// Executions end: each rule removes one constructor that is no value.
RC_GTEST_PROP(Calculus, EveryStepShrinksTheProgram, ()) {
  Choices choices = anyChoices();
  Configuration start = toy::anyConfiguration(choices, System::withCounselor);
  if (choices.below(2) == 0) start.term = toy::wildTerm(choices);
  alongExecution(start, System::withCounselor,
                 [](const Configuration& before, const StepResult& result, const Configuration& after) {
                   if (result.kind == StepResult::Kind::stepped) {
                     RC_ASSERT(redexes(after.term) < redexes(before.term));
                   }
                 });
}

// ---- The rules, one by one ----

struct Ran {
  std::vector<std::string> rules;
  std::string last;
  ToyArchitecture::State state;
  std::size_t consumed = 0;
};

Ran run(std::string_view text, std::vector<std::string> trace, System system = System::withCounselor) {
  ToyArchitecture architecture;
  Oracle oracle(std::move(trace));
  const Execution execution = execute(program(text), architecture, oracle, system);
  Ran result{{}, {}, architecture.state, oracle.consumed()};
  for (const Rule rule : execution.rules) result.rules.emplace_back(toString(rule));
  result.last = execution.last.kind == StepResult::Kind::value ? printProgram(execution.last.term)
                                                               : toString(execution.last.reason);
  return result;
}

using Names = std::vector<std::string>;

TEST(Calculus, OneCommitCycle) {
  const Ran approved = run("entry(adjudicate(coordinate, 12))", {"choose", "ops:add 5", "never read"});
  EXPECT_EQ(approved.rules, (Names{"E-Coordinate", "E-Adjudicate-Approve", "E-Entry"}));
  EXPECT_EQ(approved.last, "approved");
  EXPECT_EQ(approved.state.balance, 5);
  EXPECT_EQ(approved.consumed, 2u);
  const Ran rejected = run("let o = entry(adjudicate(coordinate, 12)) in done", {"ops:add -20"});
  EXPECT_EQ(rejected.rules, (Names{"E-Coordinate", "E-Adjudicate-Reject", "E-Entry", "E-Let"}));
  EXPECT_EQ(rejected.last, "done");
  EXPECT_EQ(rejected.state.balance, 0);
}

TEST(Calculus, EscalationAndCounselor) {
  const char* text = "let o = entry(adjudicate(coordinate, 1)) in awaitCounselor";
  const Ran committed = run(text, {"ops:add 60", "commit alice 90"});
  EXPECT_EQ(committed.rules,
            (Names{"E-Coordinate", "E-Adjudicate-Escalate", "E-Entry", "E-Let", "E-Counselor-Commit"}));
  EXPECT_EQ(committed.last, "cCommitted");
  EXPECT_EQ(committed.state.balance, 90);
  EXPECT_EQ(committed.state.audit, (Names{"escalated", "cCommitted"}));
  const Ran rejected = run(text, {"ops:add 60", "reject alice"});
  EXPECT_EQ(rejected.rules.back(), "E-Counselor-Reject");
  EXPECT_EQ(rejected.last, "cRejected");
  EXPECT_TRUE(rejected.state.queue.empty());
}

TEST(Calculus, StuckConfigurations) {
  const std::string escalate = "let o = adjudicate((\"ops\", \"add 60\"), 1) in ";
  EXPECT_EQ(run("awaitCounselor", {"commit alice 1"}).last, "no proposal waits for a counselor");
  EXPECT_EQ(run(escalate + "coordinate", {"ops:add 1"}).last, "frozen: a proposal waits for a counselor");
  EXPECT_EQ(run(escalate + "adjudicate((\"ops\", \"add 1\"), 2)", {}).last, "frozen: a proposal waits for a counselor");
  const Ran unauthorised = run(escalate + "awaitCounselor", {"commit eve 900"});
  EXPECT_EQ(unauthorised.last, "the counselor is not authorised");
  EXPECT_EQ(unauthorised.consumed, 0u);
  EXPECT_EQ(unauthorised.state.balance, 0);
  EXPECT_EQ(unauthorised.state.queue.size(), 1u);
  EXPECT_EQ(run(escalate + "awaitCounselor", {}).last, "no counselor directive comes");
  EXPECT_EQ(run(escalate + "awaitCounselor", {"ops:add 1"}).last, "no counselor directive comes");
  EXPECT_EQ(run("coordinate", {}).last, "coordinate is undefined");
  EXPECT_EQ(run("coordinate", {"hang"}).last, "coordinate is undefined");
  EXPECT_EQ(run("adjudicate((\"ops\", \"crash\"), 1)", {}).last, "adjudicate is undefined");
}

// An agent that answers outside its type must not break preservation: pi is undefined there.
TEST(Calculus, AnswersOutsideTheVocabularyAreUndefined) {
  EXPECT_EQ(run("coordinate", {"ops:drop table"}).last, "coordinate is undefined");
  EXPECT_EQ(run("coordinate", {"nobody:add 1"}).last, "coordinate is undefined");
  EXPECT_EQ(run("coordinate", {"nobody:add 1"}).consumed, 0u);
}

TEST(Calculus, StepNamesTheRuleAndTheContext) {
  ToyArchitecture architecture;
  Oracle oracle({"ops:add 5"});
  const TermPtr term = program("let o = entry(adjudicate(coordinate, 1)) in o");
  const StepResult result = step(term, architecture, oracle, System::base);
  EXPECT_EQ(result.kind, StepResult::Kind::stepped);
  EXPECT_EQ(result.rule, Rule::eCoordinate);
  EXPECT_EQ(result.contextDepth, 3u);
  EXPECT_EQ(printProgram(result.term), "let o = entry(adjudicate((\"ops\", \"add 5\"), 1)) in o");
}

// ---- Typing ----

std::string typing(std::string_view text, System system = System::withCounselor) {
  const Result<Type> type = typeOf(program(text), ToyArchitecture{}, system);
  return type.ok() ? toString(*type) : type.error().message;
}

TEST(Calculus, TypesOfPrograms) {
  EXPECT_EQ(typing("()"), "Unit");
  EXPECT_EQ(typing("done"), "Unit");
  EXPECT_EQ(typing("role \"ops\""), "Roles");
  EXPECT_EQ(typing("action \"add 5\""), "Action");
  EXPECT_EQ(typing("-3"), "Time");
  EXPECT_EQ(typing("(\"ops\", \"add 5\")"), "Roles x Action");
  EXPECT_EQ(typing("coordinate"), "Roles x Action");
  EXPECT_EQ(typing("entry(adjudicate(coordinate, 1))"), "Outcome");
  EXPECT_EQ(typing("awaitCounselor"), "CounselorOutcome");
  EXPECT_EQ(typing("cRejected"), "CounselorOutcome");
  EXPECT_EQ(typing("let x = 1 in let x = coordinate in x"), "Roles x Action");
}

TEST(Calculus, IllTypedProgramsNameTheRule) {
  EXPECT_EQ(typing("adjudicate(approved, approved)"),
            "T-Adjudicate: the first argument has type Outcome, not Roles x Action");
  EXPECT_EQ(typing("adjudicate(coordinate, coordinate)"),
            "T-Adjudicate: the second argument has type Roles x Action, not Time");
  EXPECT_EQ(typing("entry(awaitCounselor)"), "T-Entry: the argument has type CounselorOutcome, not Outcome");
  EXPECT_EQ(typing("let x = 1 in y"), "T-Var: 'y' is not bound");
  EXPECT_EQ(typing("let x = x in 1"), "T-Var: 'x' is not bound");
  EXPECT_EQ(typing("role \"nobody\""), "T-Role: 'nobody' is no role of the domain");
  EXPECT_EQ(typing("action \"fly\""), "T-Action: 'fly' is no action of the domain");
  EXPECT_EQ(typing("(\"nobody\", \"add 5\")"), "T-Role: 'nobody' is no role of the domain");
  EXPECT_EQ(typing("(\"ops\", \"fly\")"), "T-Action: 'fly' is no action of the domain");
  EXPECT_EQ(typing("awaitCounselor", System::base), "T-AwaitCounselor: the base calculus has no counselor");
  EXPECT_EQ(typing("cCommitted", System::base), "T-CCommitted, T-CRejected: the base calculus has no counselor");
}

TEST(Calculus, TermsHaveADepthLimit) {
  TermPtr term = makeValue(Outcome::approved);
  for (unsigned i = 1; i < maxTermDepth; ++i) term = makeEntry(term);
  EXPECT_EQ(run(printProgram(term), {}).rules.size(), maxTermDepth - 1);
  EXPECT_DEATH(makeEntry(term), "maxTermDepth");
}

// ---- Programs as text ----

RC_GTEST_PROP(CalculusText, PrintedProgramsParseToThemselves, ()) {
  Choices choices = anyChoices();
  const TermPtr term = toy::wildTerm(choices);
  RC_ASSERT(equal(parseProgram(printProgram(term)).value(), term));
}

RC_GTEST_PROP(CalculusText, AnyBytesSurviveInStrings, ()) {
  const auto bytes = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
  const TermPtr term = makeValue(Proposal{bytes, bytes});
  RC_ASSERT(equal(parseProgram(printProgram(term)).value(), term));
}

RC_GTEST_PROP(CalculusText, AnyTextIsReadOrRefused, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("let ", "x", " = ", " in ", "coordinate", "adjudicate(", "entry(", ")", ", ", "()",
                                    "\"ops\"", "\"\\x4", "role ", "-", "12", "99999999999999999999", "\xff", "\""));
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  const Result<TermPtr> term = parseProgram(text);
  if (term.ok()) RC_ASSERT(equal(parseProgram(printProgram(*term)).value(), *term));
}

TEST(CalculusText, ErrorsNameTheirPlace) {
  const auto why = [](std::string_view text) { return parseProgram(text).error().message; };
  const std::string at = "calculus program: offset ";
  EXPECT_EQ(why(""), at + "0: a term expected");
  EXPECT_EQ(why("entry(done"), at + "10: ')' expected");
  EXPECT_EQ(why("let in = 1 in x"), at + "6: a name expected after 'let'");
  EXPECT_EQ(why("let x = 1 of x"), at + "12: 'in' expected");
  EXPECT_EQ(why("done done"), at + "5: the program goes on after its end");
  EXPECT_EQ(why("in"), at + "2: 'in' is no term");
  EXPECT_EQ(why("99999999999999999999"), at + "0: a time is a number of microseconds of 64 bits");
  EXPECT_EQ(why("-"), at + "0: a time is a number of microseconds of 64 bits");
  EXPECT_EQ(why("role \"a\\q\""), at + "7: an escape is \\\" or \\\\ or \\x and two lower-case hex digits");
  EXPECT_EQ(why("role \"a\nb\""), at + "7: a control character in a string");
  EXPECT_EQ(why("role \"a"), at + "7: '\"' expected");
  std::string deep;
  for (unsigned i = 0; i < maxTermDepth; ++i) deep += "entry(";
  EXPECT_EQ(why(deep + "done"), at + std::to_string(deep.size()) + ": nested deeper than 512");
  EXPECT_EQ(why(std::string(maxProgramBytes + 1, ' ')), "calculus program: more than 65536 bytes");
}

}  // namespace
}  // namespace witan::kernel::calculus::calculus_test
