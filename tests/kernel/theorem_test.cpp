// Theorems 1, 2, 4 and lemma A.65 on random oracle traces, over the toy domain whose mutations may do anything. The
// shipped domains have the same in tests/domains/theorem_test.cpp.
#include <gtest/gtest.h>

#include "lab/redux/theorem_checks.h"
#include "tests/kernel/history.h"
#include "tests/kernel/toy_domain.h"

namespace witan::kernel::test::theorem_test {
namespace {

constexpr int kTraces = 60;
constexpr int kSteps = 120;

struct Recorded {
  std::unique_ptr<DomainModule> module = chest::module();
  std::vector<Steps> histories;
  std::map<Outcome, int> outcomes;
};

Recorded record(bool unsafeEdits) {
  Recorded all;
  for (int trace = 0; trace < kTraces; ++trace) {
    const bool single = trace % 2 == 0;
    History history(*all.module, 1000 + static_cast<std::uint64_t>(trace),
                    {.ttl = single ? 40'000'000'000 : 0, .unsafeEdits = unsafeEdits});
    history.init("chest-1");
    if (!single) history.init("chest-2");
    history.run(kSteps);
    for (const Step& step : history.steps) ++all.outcomes[step.decision.outcome];
    all.histories.push_back(std::move(history.steps));
  }
  return all;
}

const Recorded& lawful() {
  static const Recorded all = record(false);
  return all;
}
const Recorded& wild() {
  static const Recorded all = record(true);
  return all;
}

using Checker = std::string (*)(const DomainModule&, const Steps&);

void expectEverywhere(Checker check) {
  for (const Recorded* all : {&lawful(), &wild()})
    for (const Steps& steps : all->histories) ASSERT_EQ(check(*all->module, steps), "");
}

// The first step of the wild histories that `is` this, doctored: the checker must see it.
template <class Is, class Doctor>
void expectFires(Checker check, Is is, Doctor doctor) {
  for (const Steps& steps : wild().histories)
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!is(steps[i])) continue;
      Steps altered = steps;
      doctor(altered[i]);
      EXPECT_NE(check(*wild().module, altered), "") << "a doctored step " << i << " went unseen";
      return;
    }
  FAIL() << "no such step in any history";
}

auto hasRule(StepRule rule) {
  return [rule](const Step& step) { return ruleOf(step) == rule; };
}

TEST(Theorems, HistoriesReachEveryOutcome) {
  for (Outcome outcome :
       {Outcome::initialised, Outcome::approved, Outcome::rejected, Outcome::escalated, Outcome::cCommitted,
        Outcome::cRejected, Outcome::refused, Outcome::frozen, Outcome::duplicate}) {
    EXPECT_GT(lawful().outcomes.contains(outcome) ? lawful().outcomes.at(outcome) : 0, 5) << enumName(outcome);
    EXPECT_GT(wild().outcomes.contains(outcome) ? wild().outcomes.at(outcome) : 0, 5) << enumName(outcome);
  }
  int unsafe = 0, expired = 0, integrity = 0;
  for (const Steps& steps : wild().histories)
    for (const Step& step : steps) {
      unsafe += step.decision.safe == false;
      expired += step.kind == Step::Kind::expire && !step.appended.empty();
      integrity += step.decision.invariant == kKernelIntegrity;
    }
  EXPECT_GT(unsafe, 20);
  EXPECT_GT(expired, 2);
  EXPECT_GT(integrity, 20);
}

// "For every D, every client program e_0, every initial framework state s_0 with s_0.domain |= invariants_D, and every
// oracle trace w: every reachable domain state in Exec(e_0, s_0, w) satisfies invariants_D." (Theorem 1, A.2.1) Here
// the mutations are replaced by arbitrary writes (Remark A.14: the kernel alone answers for the invariants).
TEST(Theorems, Theorem1_InvariantPreservation) {
  for (int trace = 0; trace < kTraces; ++trace) {
    History history(*lawful().module, 500 + static_cast<std::uint64_t>(trace),
                    {.counselors = false, .keepAudits = false});
    history.init("chest-1");
    history.run(kSteps);
    for (const Step& step : history.steps) ASSERT_EQ(firstNonPass(step.onStateAfter), "");
  }
}

TEST(Theorems, Theorem1_CheckFires) {
  expectFires(theorem1, hasRule(StepRule::reject),
              [](Step& step) { step.onStateAfter.assign(1, Verdict::reject("doctored")); });
  expectFires(theorem1, hasRule(StepRule::approve),
              [](Step& step) { step.onStateAfter.assign(1, Verdict::reject("doctored")); });
}

// "if every step that is an instance of E-Counselor-Commit produces a post-state s_{j+1} with s_{j+1}.domain |=
// invariants_D, then every reachable domain state satisfies invariants_D." (Theorem 1+, A.3.2)
TEST(Theorems, Theorem1Plus_InvariantPreservationUnderSafeCommits) {
  expectEverywhere(theorem1);
  int safeHistories = 0;
  for (const Recorded* all : {&lawful(), &wild()})
    for (const Steps& steps : all->histories) {
      if (std::any_of(steps.begin(), steps.end(), [](const Step& s) { return s.decision.safe == false; })) continue;
      ++safeHistories;
      for (const Step& step : steps) ASSERT_EQ(firstNonPass(step.onStateAfter), "");
    }
  EXPECT_GT(safeHistories, 3);
}

// The hypothesis is needed: an unsafe commit is a reachable state that violates.
TEST(Theorems, Theorem1Plus_HypothesisIsNeeded) {
  bool violated = false;
  for (const Steps& steps : wild().histories)
    for (const Step& step : steps) violated = violated || !firstNonPass(step.onStateAfter).empty();
  EXPECT_TRUE(violated);
}

// "for every reduction step generated by a domain-preserving rule: s'.domain = s.domain" (Lemma A.47, A.1.14)
TEST(Theorems, LemmaA47_OnlyCommitsChangeTheDomain) {
  expectEverywhere(lemmaA47);
  expectFires(lemmaA47, hasRule(StepRule::escalate), [](Step& step) { step.stateAfter = "{}"; });
  expectFires(
      lemmaA47, [](const Step& s) { return s.decision.outcome == Outcome::refused; },
      [](Step& step) { step.stateAfter = "{}"; });
}

// Theorem 2 (A.2.4) is the part of Theorem 4 that has no counselor: its clauses on histories without directives.
TEST(Theorems, Theorem2_AuditLogIntegrity) {
  for (int trace = 0; trace < kTraces; ++trace) {
    History history(*lawful().module, 700 + static_cast<std::uint64_t>(trace), {.counselors = false});
    history.init("chest-1");
    history.init("chest-2");
    history.run(kSteps);
    for (const NamedCheck& check : everyCheck())
      ASSERT_EQ(check.run(*lawful().module, history.steps), "") << check.name;
  }
}

// The quotations of the clauses stand at the checkers (theorem_checks.h).
TEST(Theorems, Theorem4_i_FaithfulApproval) {
  expectEverywhere(theorem4i);
  const auto approval = hasRule(StepRule::approve);
  expectFires(theorem4i, approval, [](Step& s) { s.appended[0].time.micros += 1; });
  expectFires(theorem4i, approval, [](Step& s) { s.appended[0].action = "{}"; });
  expectFires(theorem4i, approval, [](Step& s) { s.appended[0].invariant = "SHY"; });
  expectFires(theorem4i, approval, [](Step& s) { s.appended[0].tag = Tag::rejected; });
  expectFires(theorem4i, approval, [](Step& s) { s.appended.push_back(s.appended[0]); });
  expectFires(theorem4i, approval, [](Step& s) { s.onCandidate[2] = Verdict::reject("hidden"); });
}

TEST(Theorems, Theorem4_ii_FaithfulNonApprovalWithWitness) {
  expectEverywhere(theorem4ii);
  const auto listed = [](const Step& s) { return ruleOf(s) == StepRule::reject && !s.onCandidate.empty(); };
  const auto integrity = [](const Step& s) { return ruleOf(s) == StepRule::reject && s.onCandidate.empty(); };
  expectFires(theorem4ii, listed, [](Step& s) { s.appended[0].message += "?"; });
  expectFires(theorem4ii, listed, [](Step& s) { s.appended[0].invariant = kKernelIntegrity; });
  expectFires(theorem4ii, listed, [](Step& s) { s.appended[0].tag = Tag::escalated; });
  expectFires(theorem4ii, integrity, [](Step& s) { s.appended[0].invariant = "SHY"; });
  expectFires(theorem4ii, hasRule(StepRule::escalate), [](Step& s) { s.appended[0].time.micros -= 1; });
  expectFires(theorem4ii, hasRule(StepRule::escalate), [](Step& s) { s.onCandidate[0] = Verdict::reject("earlier"); });
}

TEST(Theorems, Theorem4_iii_ExclusivityOfProvenance) {
  expectEverywhere(theorem4iii);
  for (Outcome outcome : {Outcome::refused, Outcome::frozen, Outcome::duplicate, Outcome::initialised})
    expectFires(
        theorem4iii, [=](const Step& s) { return s.decision.outcome == outcome; },
        [](Step& s) { s.auditAfter.emplace_back("more"); });
}

TEST(Theorems, Theorem4_iv_AppendOnlyMonotonicity) {
  expectEverywhere(theorem4iv);
  const auto later = [](const Step& s) { return s.auditBefore.size() > 3; };
  expectFires(theorem4iv, later, [](Step& s) { s.auditAfter[1] = "altered"; });
  expectFires(theorem4iv, later, [](Step& s) { s.auditAfter.resize(2); });
  expectFires(theorem4iv, later, [](Step& s) { std::swap(s.auditAfter[0], s.auditAfter[1]); });
}

TEST(Theorems, Theorem4_v_PerStepExactness) {
  expectEverywhere(theorem4v);
  for (StepRule rule : {StepRule::approve, StepRule::reject, StepRule::escalate, StepRule::counselorCommit,
                        StepRule::counselorReject}) {
    expectFires(theorem4v, hasRule(rule), [](Step& s) { s.auditAfter.pop_back(); });
    expectFires(theorem4v, hasRule(rule), [](Step& s) { s.auditAfter.emplace_back("twice"); });
  }
}

TEST(Theorems, Theorem4_vi_FaithfulCounselorCommit) {
  expectEverywhere(theorem4vi);
  const auto commit = hasRule(StepRule::counselorCommit);
  const auto unsafe = [](const Step& s) { return s.decision.safe == false; };
  expectFires(theorem4vi, commit, [](Step& s) { s.appended[0].counselor = "mallory"; });
  expectFires(theorem4vi, commit, [](Step& s) { s.counselor = s.appended[0].counselor = "mallory"; });
  expectFires(theorem4vi, commit, [](Step& s) { s.appended[0].escalation += 1; });
  expectFires(theorem4vi, commit, [](Step& s) { s.appended[0].writes = R"({"gold":12345})"; });
  expectFires(theorem4vi, commit, [](Step& s) { s.appended[0].verdicts.back() ^= 3; });
  expectFires(theorem4vi, unsafe, [](Step& s) { s.appended[0].findings.pop_back(); });
  expectFires(theorem4vi, unsafe, [](Step& s) { s.appended[0].findings[0].message += "!"; });
  expectFires(theorem4vi, unsafe, [](Step& s) { s.decision.safe = true; });
}

TEST(Theorems, Theorem4_vii_FaithfulCounselorReject) {
  expectEverywhere(theorem4vii);
  const auto byHuman = [](const Step& s) {
    return ruleOf(s) == StepRule::counselorReject && s.kind == Step::Kind::decide;
  };
  const auto expiry = [](const Step& s) {
    return ruleOf(s) == StepRule::counselorReject && s.kind == Step::Kind::expire;
  };
  expectFires(theorem4vii, byHuman, [](Step& s) { s.appended[0].counselor = "system"; });
  expectFires(theorem4vii, byHuman, [](Step& s) { s.appended[0].reason = "another"; });
  expectFires(theorem4vii, byHuman, [](Step& s) { s.appended[0].escalation = 0; });
  expectFires(theorem4vii, byHuman, [](Step& s) { s.appended[0].writes = "{}"; });
  expectFires(theorem4vii, expiry, [](Step& s) { s.appended[0].reason.clear(); });
  expectFires(theorem4vii, expiry, [](Step& s) { s.appended[0].counselor = "captain"; });
}

TEST(Theorems, Theorem4_viii_EscalationResolutionChaining) {
  expectEverywhere(theorem4viii);
  const auto counselor = [](const Step& s) {
    return ruleOf(s) == StepRule::counselorCommit || ruleOf(s) == StepRule::counselorReject;
  };
  expectFires(theorem4viii, counselor, [](Step& s) { s.appended[0].escalation = s.appended[0].seq; });
  expectFires(theorem4viii, counselor,
              [](Step& s) { s.appended.push_back(s.appended[0]), s.appended[1].seq += 100'000; });
  expectFires(theorem4viii, counselor, [](Step& s) { s.appended[0].entity += "x"; });
  expectFires(theorem4viii, hasRule(StepRule::approve), [](Step& s) { s.appended[0].escalation = 1; });
}

// "every reachable configuration s_j in Exec(e_0, s_0, w) satisfies |s_j.queue| <= 1." (Lemma A.65, A.3.1)
TEST(Theorems, LemmaA65_QueueCardinalityBound) {
  expectEverywhere(lemmaA65);
  expectFires(lemmaA65, hasRule(StepRule::escalate), [](Step& s) { s.queueAfter = 2; });
  expectFires(lemmaA65, hasRule(StepRule::reject), [](Step& s) { s.frozenBefore = true; });
  expectFires(lemmaA65, hasRule(StepRule::counselorReject), [](Step& s) { s.frozenAfter = true, s.queueAfter = 1; });
}

}  // namespace
}  // namespace witan::kernel::test::theorem_test
