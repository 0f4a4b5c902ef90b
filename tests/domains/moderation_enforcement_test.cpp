// The rules of moderation about enforcement (domains.md, section 3.2): proportion, appeals, and what only a human may
// do, each sentence at its edges.
#include "tests/domains/moderation_rules.h"

namespace witan::domains::test::moderation_enforcement_test {
namespace {

constexpr const char* kTooMuch = "rejected:UCM_PROPORTIONALITY";

// Weights 1, 3, 5: scores of exactly one less than the threshold, the threshold, and one more.
TEST(ModerationProportion, ThresholdsAtTheirEdges) {
  for (const auto& [kind, least] :
       std::vector<std::pair<std::string, int>>{{"RESTRICT", 5}, {"SUSPEND", 10}, {"BAN", 20}})
    for (int score : {least - 1, least, least + 1}) {
      // One strike of the policy "before" of score - 1, and the action's own of 1.
      OneUser with("{\"weights\":{\"before\":" + std::to_string(score - 1) + R"(,"spam":1},"severe":[]})");
      with.prepare();
      ASSERT_EQ(with.take(OneUser::at(0), "A1", "REMOVE_CONTENT", "before"), "approved");
      const std::string enough = kind == "BAN" ? "escalated:UCM_HUMAN_PERMANENT_BAN" : "approved";
      EXPECT_EQ(with.take(OneUser::at(1), "A2", kind, "spam"), score < least ? kTooMuch : enough) << kind << score;
    }
}

TEST_F(ModerationRules, Proportionality_TheOwnStrikeCounts) {
  prepare();
  EXPECT_EQ(take(at(0), "A1", "RESTRICT", "harassment"), kTooMuch);  // 3
  EXPECT_EQ(take(at(0), "A1", "RESTRICT", "scam"), "approved");      // 5
  EXPECT_EQ(take(at(0), "A2", "SUSPEND", "harassment"), kTooMuch);   // 8
  EXPECT_EQ(take(at(0), "A2", "SUSPEND", "hate"), "approved");       // 10
}

TEST_F(ModerationRules, Proportionality_KindsAndSeverePolicies) {
  prepare();
  EXPECT_EQ(take(at(0), "A1", "WARN", "spam"), "approved");
  EXPECT_EQ(take(at(0), "A2", "REMOVE_CONTENT", "spam"), "approved") << "no threshold";
  EXPECT_EQ(take(at(0), "A3", "SUSPEND", "spam"), kTooMuch);
  OneUser severe(R"({"severe":["spam"]})");
  severe.prepare();
  EXPECT_EQ(severe.take(at(0), "A1", "SUSPEND", "spam"), "approved");
  EXPECT_EQ(severe.take(at(0), "A2", "SUSPEND", "harassment"), kTooMuch) << "1 + 3; severe is only spam";
}

// The window of 90 days is (t - 90 d, t].
TEST_F(ModerationRules, Proportionality_Window) {
  prepare();
  ASSERT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam"), "approved");
  EXPECT_EQ(take(at(90), "A2", "SUSPEND", "scam"), kTooMuch);
  EXPECT_EQ(take(at(90, -1), "A2", "SUSPEND", "scam"), "approved");
  EXPECT_EQ(take(at(90), "A3", "SUSPEND", "scam"), "approved") << "now on A2 and itself";
  OneUser shorter(R"({"strikeWindowDays":1})");
  shorter.prepare();
  ASSERT_EQ(shorter.take(at(0), "A1", "REMOVE_CONTENT", "scam"), "approved");
  EXPECT_EQ(shorter.take(at(1), "A2", "SUSPEND", "scam"), kTooMuch);
  EXPECT_EQ(shorter.take(at(1, -1), "A2", "SUSPEND", "scam"), "approved");
}

TEST_F(ModerationRules, Proportionality_VoidedStrikes) {
  prepare();
  ASSERT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam"), "approved");
  ASSERT_EQ(reverse(at(1), "A1"), "approved");
  EXPECT_EQ(take(at(1), "A2", "SUSPEND", "scam"), kTooMuch);
  ASSERT_EQ(take(at(2), "A2", "REMOVE_CONTENT", "scam"), "approved");
  ASSERT_EQ(take(at(3), "A3", "SUSPEND", "scam"), "approved");
  EXPECT_EQ(reverse(at(3), "A2"), kTooMuch) << "voided at the very time of the suspension that rests on it";
  EXPECT_EQ(reverse(at(3, 1), "A2"), "approved") << "voided later: it counted when it counted";
  EXPECT_EQ(take(at(4), "A2", "REMOVE_CONTENT", "scam"), kTooMuch) << "taken again it would no longer bear A3";
}

// M05's write skew: neither role sees what the other does.
TEST_F(ModerationRules, Proportionality_StrikesUnderOpenAppeal) {
  prepare();
  ASSERT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam"), "approved");
  ASSERT_EQ(appeal(at(1), "P1", "A1"), "approved");
  EXPECT_EQ(take(at(1), "A2", "SUSPEND", "scam"), kTooMuch) << "opened at that very time";
  EXPECT_EQ(take(at(2), "A2", "SUSPEND", "scam"), kTooMuch);
  ASSERT_EQ(settleAppeal(at(3), "P1", "UPHELD"), "cCommitted:safe");
  ASSERT_EQ(take(at(3), "A2", "SUSPEND", "scam"), "approved");
  EXPECT_EQ(appeal(at(3), "P2", "A1"), kTooMuch);
  EXPECT_EQ(appeal(at(3, 1), "P2", "A1"), "approved") << "opened later";
  EXPECT_EQ(appeal(at(4), "P1", "A1"), "approved") << "opened again";
  EXPECT_EQ(field("appeal.status").at("P1"), json::value("OPEN"));
  EXPECT_EQ(field("appeal.decidedBy"), json::value()) << "and decided by nobody again";
  EXPECT_EQ(appeal(at(5), "P3", "A2"), "approved") << "an action's own strike, appealed later";
}

TEST_F(ModerationRules, AppealWindow_Appeals) {
  const std::string late = "rejected:UCM_APPEAL_WINDOW";
  prepare();
  ASSERT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam"), "approved");
  ASSERT_EQ(take(at(0), "A2", "WARN", "scam"), "approved");
  EXPECT_EQ(appeal(at(182, -1), "P1", "A1"), "approved");
  EXPECT_EQ(appeal(at(182), "P2", "A1"), "approved");
  EXPECT_EQ(appeal(at(182, 1), "P3", "A1"), late);
  EXPECT_EQ(appeal(at(182, 1), "P3", "A2"), late) << "of any kind";
  EXPECT_EQ(appeal(at(182, 1), "P1", "A1"), late) << "opened again it comes now";
  EXPECT_EQ(settleAppeal(at(400), "P2", "UPHELD"), "cCommitted:safe") << "decided whenever";
}

TEST_F(ModerationRules, AppealWindow_ClosingOnlyAfterIt) {
  const std::string early = "rejected:UCM_APPEAL_WINDOW";
  EXPECT_EQ(close(at(0)), "approved") << "nothing to wait for";
  prepare();
  ASSERT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam"), "approved");
  EXPECT_EQ(field("case.phase"), json::value("ACTIONED"));
  ASSERT_EQ(take(at(0), "A2", "WARN", "scam"), "approved");
  EXPECT_EQ(close(at(182, -1)), early);
  EXPECT_EQ(close(at(182)), early) << "the last instant of the window";
  EXPECT_EQ(close(at(182, 1)), "approved");
  EXPECT_EQ(field("case.closedAt"), json::value(when(182, 1)));
  ASSERT_EQ(take(at(200), "A3", "WARN", "scam"), "approved");
  EXPECT_EQ(field("case.phase"), json::value("ACTIONED"));
  EXPECT_EQ(close(at(200)), "approved") << "a warning restricts nothing";
  ASSERT_EQ(take(at(201), "A4", "REMOVE_CONTENT", "scam"), "approved");
  EXPECT_EQ(close(at(202)), early);
  ASSERT_EQ(reverse(at(202), "A4"), "approved");
  EXPECT_EQ(close(at(202)), "approved") << "nothing live is left to appeal";
  EXPECT_EQ(firstFailing(R"({"case.closedAt":null})"), "UCM_APPEAL_WINDOW");
}

TEST_F(ModerationRules, OverturnRestores) {
  const std::string first = "rejected:UCM_OVERTURN_RESTORES";
  prepare();
  ASSERT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam"), "approved");
  ASSERT_EQ(appeal(at(1), "P1", "A1"), "approved");
  EXPECT_EQ(decideAppeal(at(1), "P1", "OVERTURNED"), first);
  EXPECT_EQ(decideAppeal(at(1), "P1", "OVERTURNED", "agent.appeals"), first) << "rejected before a human is asked";
  EXPECT_EQ(settleAppeal(at(1), "P1", "UPHELD"), "cCommitted:safe") << "upholding restores nothing";
  ASSERT_EQ(reverse(at(1), "A1"), "approved");
  EXPECT_EQ(settleAppeal(at(1), "P1", "OVERTURNED"), "cCommitted:safe");
  EXPECT_EQ(firstFailing(R"({"action.reversedAt":{"A1":null},"strike.voidedAt":{"A1":null}})"),
            "UCM_OVERTURN_RESTORES");
}

TEST_F(ModerationRules, HumanAppealDecision) {
  const std::string asked = "escalated:UCM_HUMAN_APPEAL_DECISION";
  prepare();
  ASSERT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam"), "approved");
  ASSERT_EQ(appeal(at(1), "P1", "A1"), "approved");
  for (const char* by : {"agent.appeals", "human.lead", "human", "human.fake-llm", "", "a.human"}) {
    EXPECT_EQ(decideAppeal(at(1), "P1", "UPHELD", by), asked) << by;
    ASSERT_EQ(decide(false, "{}", at(1)), "cRejected");
  }
  EXPECT_EQ(propose(R"({"type":"DecideAppeal","p":"P1","outcome":"UPHELD"})", at(1)), asked) << "agents by default";
  EXPECT_EQ(decide(true, R"({"appeal.decidedBy":{"P1":"human.lead"}})", at(1)), "cCommitted:safe");
  EXPECT_EQ(decideAppeal(at(1), "P1", "UPHELD", "human"), asked) << "no signature is used twice";
  ASSERT_EQ(decide(false, "{}", at(1)), "cRejected");
  EXPECT_EQ(firstFailing(R"({"appeal.decidedBy":{"P1":null}})"), "UCM_HUMAN_APPEAL_DECISION");
  EXPECT_EQ(firstFailing(R"({"appeal.status":{"P1":"OPEN"},"appeal.decidedBy":{"P1":null}})"), "");
}

TEST_F(ModerationRules, HumanPermanentBan) {
  const std::string asked = "escalated:UCM_HUMAN_PERMANENT_BAN";
  prepare();
  EXPECT_EQ(take(at(0), "A1", "BAN", "spam"), kTooMuch) << "rejected before a human is asked";
  EXPECT_EQ(take(at(0), "A1", "BAN", "csam"), asked);
  EXPECT_EQ(label(at(0)), "frozen");
  EXPECT_EQ(decide(true, R"({"humanReview":{"A2":"human.lead"}})", at(0)),
            "cCommitted:UNSAFE[UCM_HUMAN_PERMANENT_BAN]");
  EXPECT_EQ(label(at(0), "", "p5"), asked) << "until somebody reviews A1";
  EXPECT_EQ(decide(true, R"({"humanReview":{"A1":"human.lead"}})", at(0)), "cCommitted:safe");
  EXPECT_EQ(take(at(1), "A2", "BAN", "csam"), asked) << "reviewed in advance, by mistake: that was for nothing";
}

TEST_F(ModerationRules, Faults) {
  const std::string fault = "rejected:KERNEL_INTEGRITY";
  prepare();
  EXPECT_EQ(take(at(0), "A1", "EXILE", "scam"), fault);
  EXPECT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "boredom"), fault);
  EXPECT_EQ(label(at(0), R"(,"status":"MAYBE")"), fault);
  EXPECT_EQ(unlabel(at(0), R"(,"status":"MAYBE")"), fault);
  EXPECT_EQ(reverse(at(0), "A1"), fault);
  EXPECT_EQ(decideAppeal(at(0), "P1", "UPHELD"), fault);
  ASSERT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam"), "approved");
  ASSERT_EQ(appeal(at(0), "P1", "A1"), "approved");
  EXPECT_EQ(decideAppeal(at(0), "P1", "OPEN"), fault);
  EXPECT_EQ(decideAppeal(at(0), "P1", "upheld"), fault);
  EXPECT_EQ(propose(R"({"type":"CloseCase"})", at(0), "Appeals"), fault);
  EXPECT_FALSE(module->parseAction(parseJson(R"({"type":"CloseCase","when":"now"})").value()).ok());
}

}  // namespace
}  // namespace witan::domains::test::moderation_enforcement_test
