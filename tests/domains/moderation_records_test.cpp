// The rules of moderation about records (domains.md, section 3.2): references, labels, strikes, double jeopardy,
// evidence and reasons, each sentence at its edges.
#include "domains/moderation/moderation.h"
#include "kernel/lint.h"
#include "kernel/typed_module.h"
#include "tests/domains/moderation_rules.h"

namespace witan::domains::test::moderation_records_test {
namespace {

TEST_F(ModerationRules, RefIntegrity_AppealsPointAtActions) {
  prepare();
  EXPECT_EQ(appeal(at(0), "P1", "A1"), "rejected:UCM_REF_INTEGRITY");
  ASSERT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam"), "approved");
  EXPECT_EQ(appeal(at(0), "P1", "A1"), "approved");
  EXPECT_EQ(appeal(at(0), "P2", "A2"), "rejected:UCM_REF_INTEGRITY");
  EXPECT_EQ(notice(at(0), "N20", "A77"), "approved") << "a notice comes first: its action need not be there";
}

TEST_F(ModerationRules, RefIntegrity_ColumnsShareKeys) {
  prepare();
  ASSERT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam"), "approved");
  for (const char* column : {"action.kind", "action.policy", "action.item", "action.at", "action.evidence"})
    EXPECT_EQ(firstFailing(std::string("{\"") + column + R"(":{"A1":null}})"), "UCM_REF_INTEGRITY") << column;
  EXPECT_EQ(firstFailing(R"({"action.reversedAt":{"A2":"2026-01-01T00:00:00Z"}})"), "UCM_REF_INTEGRITY");
  EXPECT_EQ(firstFailing(R"({"appeal.action":{"P1":"A2"}})"), "UCM_REF_INTEGRITY");
}

TEST_F(ModerationRules, RefIntegrity_TheAccountIsAsItsLiveActionsSay) {
  prepare();
  const auto account = [&] { return std::string(field("account.status").as_string()); };
  EXPECT_EQ(account(), "ACTIVE");
  const std::vector<std::pair<std::string, std::string>> steps{{"WARN", "ACTIVE"},
                                                               {"REMOVE_CONTENT", "ACTIVE"},
                                                               {"RESTRICT", "RESTRICT"},
                                                               {"SUSPEND", "SUSPEND"},
                                                               {"RESTRICT", "SUSPEND"}};
  int n = 0;
  for (const auto& [kind, status] : steps) {
    ASSERT_EQ(take(at(1), "A" + std::to_string(++n), kind, "csam"), "approved");
    EXPECT_EQ(account(), status);
  }
  ASSERT_EQ(take(at(1), "A6", "BAN", "csam"), "escalated:UCM_HUMAN_PERMANENT_BAN");
  ASSERT_EQ(decide(true, R"({"humanReview":{"A6":"human.lead"}})", at(1)), "cCommitted:safe");
  EXPECT_EQ(account(), "BAN");
  for (const char* wrong : {"ACTIVE", "RESTRICT", "SUSPEND"})
    EXPECT_EQ(firstFailing(std::string(R"({"account.status":")") + wrong + "\"}"), "UCM_REF_INTEGRITY");
  ASSERT_EQ(reverse(at(2), "A6"), "approved");
  EXPECT_EQ(account(), "SUSPEND");
  ASSERT_EQ(reverse(at(2), "A4"), "approved");
  EXPECT_EQ(account(), "RESTRICT");
  ASSERT_EQ(reverse(at(2), "A3"), "approved");
  ASSERT_EQ(reverse(at(2), "A5"), "approved");
  EXPECT_EQ(account(), "ACTIVE");
}

TEST_F(ModerationRules, LabelValid) {
  const auto apply = [&](const std::string& type, const std::string& label, const std::string& reason) {
    return propose(R"({"type":"ApplyLabel","entityType":")" + type + R"(","entity":"x","label":")" + label +
                       R"(","reason":")" + reason + "\"}",
                   at(0));
  };
  const std::string invalid = "rejected:UCM_LABEL_VALID";
  for (const auto& [label, type, fits] :
       std::vector<std::tuple<std::string, std::string, bool>>{{"likely_spammer", "User", true},
                                                               {"likely_spammer", "Post", false},
                                                               {"scam_link", "Post", true},
                                                               {"scam_link", "User", true},
                                                               {"scam_link", "Comment", false},
                                                               {"scam_link", "post", false},
                                                               {"trusted", "User", true},
                                                               {"trusted", "Post", false},
                                                               {"unheard_of", "User", false}})
    EXPECT_EQ(apply(type, label, "r"), fits ? "approved" : invalid) << label << " for " << type;
  EXPECT_EQ(apply("User", "trusted", ""), invalid);
  EXPECT_EQ(propose(R"({"type":"ApplyLabel","entityType":"User","entity":"x","label":"trusted"})", at(0)), invalid);
  EXPECT_EQ(propose(R"({"type":"RemoveLabel","entityType":"User","entity":"x","label":"trusted"})", at(0)), invalid);
  EXPECT_EQ(field("label.log").at("0000000004").at("id"), json::value("L4"));
}

// 5 seconds of skew: an entry binds through that very second and no longer.
TEST_F(ModerationRules, ManualLabelPrecedence_Expiry) {
  const std::string expires = R"(,"status":"MANUALLY_REMOVED","expires":")" + when(1) + "\"";
  ASSERT_EQ(label(at(0), expires), "approved");
  const std::string overridden = "rejected:UCM_MANUAL_LABEL_PRECEDENCE";
  EXPECT_EQ(label(at(0)), overridden);
  EXPECT_EQ(label(at(1)), overridden);
  EXPECT_EQ(label(at(1, 4)), overridden);
  EXPECT_EQ(label(at(1, 5)), overridden);
  EXPECT_EQ(unlabel(at(1, 5)), overridden);
  EXPECT_EQ(label(at(1, 6)), "approved");
  OneUser other(R"({"skewSeconds":0})");
  ASSERT_EQ(other.label(at(0), expires), "approved");
  EXPECT_EQ(other.label(at(1)), overridden);
  EXPECT_EQ(other.label(at(1, 1)), "approved");
}

TEST_F(ModerationRules, ManualLabelPrecedence_SameEntityAndLabel) {
  ASSERT_EQ(label(at(0), R"(,"status":"MANUALLY_ADDED")"), "approved");
  EXPECT_EQ(label(at(0), "", "p2"), "approved");
  EXPECT_EQ(label(at(0), "", "p1", "User"), "approved");
  EXPECT_EQ(label(at(0), "", "p1", "User", "trusted"), "approved");
  EXPECT_EQ(label(at(3000)), "rejected:UCM_MANUAL_LABEL_PRECEDENCE") << "without expiry it never ends";
  EXPECT_EQ(label(at(3000), R"(,"status":"MANUALLY_REMOVED")"), "approved") << "people may override people";
  EXPECT_EQ(unlabel(at(3000), R"(,"status":"MANUALLY_REMOVED")"), "approved");
}

// A later manual entry that expires does not release what an earlier one binds.
TEST_F(ModerationRules, ManualLabelPrecedence_EveryManualEntryCounts) {
  ASSERT_EQ(label(at(0), R"(,"status":"MANUALLY_ADDED","expires":")" + when(10) + "\""), "approved");
  ASSERT_EQ(label(at(0), R"(,"status":"MANUALLY_REMOVED","expires":")" + when(2) + "\""), "approved");
  EXPECT_EQ(label(at(5)), "rejected:UCM_MANUAL_LABEL_PRECEDENCE");
  EXPECT_EQ(label(at(11)), "approved");
}

// A mutation that books another strike than the policy's: no honest one does, so the rule needs a dishonest one.
struct CookedBooks {
  static constexpr std::string_view name = "CookedBooks";
  using Reads = moderation::TakeAction::Reads;
  using Writes = Union<moderation::TakeAction::Writes, moderation::ReverseAction::Writes>::Type;
  moderation::TakeAction honest;
  std::int64_t strike = 0;  // -1: none
  bool voided = false;
  WITAN_MEMBERS(CookedBooks, honest, strike, voided)
  void apply(Mutator<moderation::Fields>& m, Time t) const {
    honest.apply(m, t);
    auto row = m.edit<moderation::kActions>(honest.a);
    if (strike < 0 && row.has<moderation::StrikeWeight>()) row.erase<moderation::StrikeWeight>();
    if (strike >= 0) row.set<moderation::StrikeWeight>(strike);
    if (voided) row.set<moderation::StrikeVoidedAt>(t);
  }
};
struct Bookkeeper {
  static constexpr std::string_view name = "Bookkeeper";
  using Processes = ProcessList<CookedBooks>;
};
struct CookedModeration : moderation::Moderation {
  using Roles = RoleList<moderation::SignalTriage, moderation::UserNotice, Bookkeeper>;
  using AnyAction = std::variant<moderation::ApplyLabel, moderation::RemoveLabel, moderation::DraftNotice, CookedBooks>;
  static void sample(const moderation::State&) {}
  static void sampleEdit(const moderation::State&) {}
};

TEST(ModerationStrikes, StrikeLedger_FiresOnAFaultyMutation) {
  using Module = TypedModule<CookedModeration>;
  const Module module({}, {"human.lead"}, {});
  const auto outcome = [&](const std::string& kind, std::int64_t strike, bool voided) {
    EntityPtr entity = module.create({}, Time{0}).value();
    Evaluation out;
    module.evaluate(*entity, "SignalTriage",
                    *Module::makeAction(moderation::ApplyLabel{"Post", "p1", "scam_link", "ADDED", "r", {}}), Time{0},
                    out);
    module.evaluate(*entity, "UserNotice", *Module::makeAction(moderation::DraftNotice{"N1", "A1", "f", "c", "r"}),
                    Time{0}, out);
    module.evaluate(*entity, "Bookkeeper",
                    *Module::makeAction(CookedBooks{{"A1", kind, "scam", "p1", {"L1"}}, strike, voided}), Time{0}, out);
    return out.tag == Evaluation::Tag::approved ? std::string("approved")
                                                : std::string(module.invariantId(out.witness));
  };
  EXPECT_EQ(outcome("REMOVE_CONTENT", 5, false), "approved");
  for (std::int64_t strike : {-1, 0, 4, 6}) EXPECT_EQ(outcome("REMOVE_CONTENT", strike, false), "UCM_STRIKE_LEDGER");
  EXPECT_EQ(outcome("REMOVE_CONTENT", 5, true), "UCM_STRIKE_LEDGER") << "voided but not reversed";
  EXPECT_EQ(outcome("WARN", -1, false), "approved");
  EXPECT_EQ(outcome("WARN", 5, false), "UCM_STRIKE_LEDGER") << "a strike that its kind does not give";
}

TEST_F(ModerationRules, StrikeLedger_TheWeightIsThePolicys) {
  prepare();
  int n = 0;
  for (const auto& [policy, weight] : std::vector<std::pair<std::string, int>>{
           {"spam", 1}, {"harassment", 3}, {"hate", 5}, {"scam", 5}, {"csam", 20}}) {
    const std::string a = "A" + std::to_string(++n);
    ASSERT_EQ(take(at(0), a, "REMOVE_CONTENT", policy), "approved");
    EXPECT_EQ(field("strike.weight").at(a), json::value(weight));
  }
  ASSERT_EQ(take(at(0), "A6", "WARN", "scam"), "approved");
  EXPECT_FALSE(field("strike.weight").as_object().contains("A6"));
  ASSERT_EQ(reverse(at(1), "A6"), "approved");
  EXPECT_EQ(field("strike.voidedAt").at("A6"), json::value(when(1)));
  EXPECT_EQ(firstFailing(R"({"strike.weight":{"A1":2}})"), "UCM_STRIKE_LEDGER");
  EXPECT_EQ(firstFailing(R"({"strike.voidedAt":{"A6":null}})"), "UCM_STRIKE_LEDGER");
  EXPECT_EQ(firstFailing(R"({"strike.weight":{"A9":1}})"), "UCM_STRIKE_LEDGER") << "a strike of no action";
  EXPECT_EQ(take(at(1), "A1", "WARN", "spam"), "rejected:UCM_STRIKE_LEDGER") << "taken again as a kind without strikes";
}

TEST_F(ModerationRules, DoubleJeopardy) {
  prepare();
  const std::string twice = "rejected:UCM_DOUBLE_JEOPARDY";
  ASSERT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam", R"(["L1"])", "p1"), "approved");
  EXPECT_EQ(take(at(0), "A2", "REMOVE_CONTENT", "scam", R"(["L1"])", "p1"), twice);
  EXPECT_EQ(take(at(0), "A2", "WARN", "scam", R"(["L1"])", "p1"), twice) << "whatever its kind";
  EXPECT_EQ(take(at(0), "A2", "REMOVE_CONTENT", "spam", R"(["L1"])", "p1"), "approved");
  EXPECT_EQ(take(at(0), "A3", "REMOVE_CONTENT", "scam", R"(["L1"])", "p2"), "approved");
  EXPECT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam", R"(["L1"])", "p1"), "approved") << "it is the same action";
  ASSERT_EQ(reverse(at(1), "A1"), "approved");
  EXPECT_EQ(take(at(1), "A4", "REMOVE_CONTENT", "scam", R"(["L1"])", "p1"), "approved");
}

TEST_F(ModerationRules, EvidenceRequired_Existing) {
  const std::string lacking = "rejected:UCM_EVIDENCE_REQUIRED";
  prepare();
  for (const char* evidence : {"[]", R"(["L2"])", R"(["L1","L2"])", R"(["L0"])", R"([""])", R"(["l1"])"})
    EXPECT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam", evidence), lacking) << evidence;
  EXPECT_EQ(take(at(0), "A1", "WARN", "scam", "[]"), lacking) << "a warning needs evidence too";
  EXPECT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam", R"(["L1","L1"])"), "approved");
  EXPECT_EQ(firstFailing(R"({"action.at":{"A1":"2025-12-31T23:59:59Z"}})"), "UCM_EVIDENCE_REQUIRED") << "came later";
}

TEST_F(ModerationRules, EvidenceRequired_NotRemovedByThen) {
  const std::string lacking = "rejected:UCM_EVIDENCE_REQUIRED";
  prepare();
  ASSERT_EQ(take(at(1), "A1", "REMOVE_CONTENT", "scam"), "approved");
  EXPECT_EQ(unlabel(at(1)), lacking) << "at the very time of the action";
  EXPECT_EQ(unlabel(at(1, 1)), "approved") << "later facts break nothing";
  EXPECT_EQ(take(at(1, 1), "A2", "REMOVE_CONTENT", "scam"), lacking);
  EXPECT_EQ(take(at(1, 1), "A2", "REMOVE_CONTENT", "scam", R"(["L2"])"), lacking) << "a removal is no label";
  ASSERT_EQ(label(at(2)), "approved");
  EXPECT_EQ(take(at(2), "A2", "REMOVE_CONTENT", "scam", R"(["L1"])"), lacking) << "that one stays removed";
  EXPECT_EQ(take(at(2), "A2", "REMOVE_CONTENT", "scam", R"(["L3"])"), "approved");
  ASSERT_EQ(unlabel(at(3), R"(,"status":"MANUALLY_REMOVED")"), "approved");
  EXPECT_EQ(take(at(3), "A3", "REMOVE_CONTENT", "scam", R"(["L3"])"), lacking);
}

TEST_F(ModerationRules, EvidenceRequired_OnlyItsOwnLabelIsRemoved) {
  prepare();
  ASSERT_EQ(label(at(0), "", "p2"), "approved");
  ASSERT_EQ(label(at(0), "", "p1", "User"), "approved");
  ASSERT_EQ(unlabel(at(0), "", "p2"), "approved");
  EXPECT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam", R"(["L1","L3"])"), "approved");
  EXPECT_EQ(take(at(0), "A2", "REMOVE_CONTENT", "scam", R"(["L2"])"), "rejected:UCM_EVIDENCE_REQUIRED");
}

TEST_F(ModerationRules, StatementOfReasons) {
  const std::string lacking = "rejected:UCM_STATEMENT_OF_REASONS";
  ASSERT_EQ(label(at(0)), "approved");
  for (const char* kind : {"REMOVE_CONTENT", "RESTRICT", "SUSPEND", "BAN"})
    EXPECT_EQ(take(at(0), "A1", kind, "csam"), lacking) << kind;
  EXPECT_EQ(take(at(0), "A9", "WARN", "csam"), "approved") << "restricts nothing";
  for (const char* rest : {R"("facts":"f","clause":"c")", R"("facts":"f","redress":"r")",
                           R"("clause":"c","redress":"r")", R"("facts":"","clause":"c","redress":"r")"}) {
    ASSERT_EQ(notice(at(0), "N1", "A1", rest), "approved");
    EXPECT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam"), lacking) << rest;
  }
  ASSERT_EQ(notice(at(0), "N2", "A2"), "approved");
  EXPECT_EQ(take(at(0), "A1", "REMOVE_CONTENT", "scam"), lacking) << "the notice of another action";
  ASSERT_EQ(notice(at(1), "N1", "A1"), "approved");
  EXPECT_EQ(take(at(1), "A1", "REMOVE_CONTENT", "scam"), "approved") << "at the very time of the notice";
  EXPECT_EQ(notice(at(1), "N1", "A1"), "approved");
  EXPECT_EQ(notice(at(1, 1), "N1", "A1"), lacking) << "written again it would come after the action";
  EXPECT_EQ(notice(at(1), "N1", "A1", R"("facts":"f")"), lacking);
  EXPECT_EQ(notice(at(1), "N1", "A2"), lacking);
  ASSERT_EQ(reverse(at(2), "A1"), "approved");
  EXPECT_EQ(notice(at(2), "N1", "A1"), lacking) << "a reversed action had to have its reasons too";
}

TEST(ModerationPolicy, IsChecked) {
  for (const char* policy :
       {R"({"strikeWindowDays":-1})", R"({"appealWindowDays":36501})", R"({"skewSeconds":-1})",
        R"({"humans":["human"]})", R"({"strikeEnabled":["EXILE"]})", R"({"restrictive":["remove_content"]})",
        R"({"thresholds":{"EXILE":1}})", R"({"weights":{"spam":-1}})", R"({"severe":["unheard_of"]})",
        R"({"labels":{"x":"User"}})", R"({"weight":1})"})
    EXPECT_FALSE(makeDomain("moderation", objectOf(policy)).ok()) << policy;
  EXPECT_TRUE(makeDomain("moderation", objectOf(R"({"thresholds":{},"severe":[],"labels":{}})")).ok());
}

// The classes of the rules' table, and the one invariant that holds a field of no role.
TEST(ModerationLint, ClassesAreThoseOfTheRules) {
  const auto module = makeDomain("moderation").value();
  const SignatureLint lint = lintSignature(module->signature());
  const std::vector<std::pair<std::string, std::string>> table{{"UCM_REF_INTEGRITY", ""},
                                                               {"UCM_LABEL_VALID", "SignalTriage"},
                                                               {"UCM_MANUAL_LABEL_PRECEDENCE", "SignalTriage"},
                                                               {"UCM_STRIKE_LEDGER", "Enforcement"},
                                                               {"UCM_DOUBLE_JEOPARDY", "Enforcement"},
                                                               {"UCM_EVIDENCE_REQUIRED", ""},
                                                               {"UCM_STATEMENT_OF_REASONS", ""},
                                                               {"UCM_PROPORTIONALITY", ""},
                                                               {"UCM_APPEAL_WINDOW", ""},
                                                               {"UCM_OVERTURN_RESTORES", ""},
                                                               {"UCM_HUMAN_APPEAL_DECISION", "Appeals"},
                                                               {"UCM_HUMAN_PERMANENT_BAN", ""}};
  ASSERT_EQ(lint.invariants.size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(lint.invariants[i].id, table[i].first);
    EXPECT_EQ(lint.invariants[i].crossCutting(), table[i].second.empty()) << table[i].first;
    EXPECT_EQ(lint.invariants[i].enforcer, table[i].second);
  }
  EXPECT_EQ(lint.invariants.back().section23(), "neither");
  EXPECT_EQ(lint.inNoRole, std::vector<std::string>{"humanReview"});
  EXPECT_EQ(lint.problems, std::vector<std::string>{});
}

}  // namespace
}  // namespace witan::domains::test::moderation_records_test
