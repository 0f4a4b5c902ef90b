// Corollary 1 (Write Skew Freedom) with its control experiment, and all arbitration orders of independent proposals.
#include <gtest/gtest.h>

#include <set>

#include "kernel/fingerprint.h"
#include "tests/domains/scenario.h"

namespace witan::domains::test::corollary1_test {
namespace {

using namespace kernel::test;

struct Act {
  std::string role, action, at;
};

// The control (kernel/fingerprint.h), fed with acts as texts.
class NaiveArchitecture {
 public:
  NaiveArchitecture(const DomainModule& module, EntityPtr state) : module_(module), naive_(module, std::move(state)) {}

  // Both look before either writes, and the agents' own checks must pass.
  void commitTogether(const std::vector<Act>& acts) {
    std::vector<ActionPtr> actions;
    std::vector<NaiveServices::Act> typed;
    for (const Act& act : acts) {
      actions.push_back(actionOf(module_, act.action));
      typed.push_back({act.role, actions.back().get(), parseTime(act.at).value()});
    }
    for (const std::string& heldBack : naive_.commitTogether(typed)) ASSERT_EQ(heldBack, "");
  }

  // What a human writes after looking at everything.
  void human(const Act& act, const char* edit) {
    const ActionPtr action = actionOf(module_, act.action);
    ASSERT_TRUE(naive_.commitByHand({act.role, action.get(), parseTime(act.at).value()}, objectOf(edit)).ok());
  }

  std::set<std::string> violated() const {
    const std::vector<std::string> ids = naive_.violated();
    return {ids.begin(), ids.end()};
  }

 private:
  const DomainModule& module_;
  NaiveServices naive_;
};

Decision proposeTo(Partition& partition, const Act& act, const std::string& id) {
  const ActionPtr action = actionOf(partition.module(), act.action);
  return partition.propose({"e", act.role, id, "", "", action.get(), parseTime(act.at).value(), false});
}

const std::vector<Act> kSpend{{"A", R"({"type":"SpendA","n":45000})", "2026-01-02T00:00:00Z"},
                              {"B", R"({"type":"SpendB","n":60000})", "2026-01-02T00:00:00Z"}};
const json::object kDavid = objectOf(R"({"baselinePositiveOn":"2025-12-01"})");
constexpr const char* kStart = "2026-03-23T08:00:00Z";

// David's story (seed 000, section 3.1) up to the order that no single worker can judge.
const std::vector<Act> kDavidsDay{
    {"LabOrder", R"({"type":"DocumentRationale","order":"O1","text":"treatment plan: random monitoring"})",
     "2026-03-23T09:00:00Z"},
    {"LabOrder",
     R"({"type":"OrderTest","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23"})",
     "2026-03-23T09:00:00Z"},
    {"Clinical", R"({"type":"RecordResult","order":"O1","outcome":"NEGATIVE","on":"2026-03-23"})",
     "2026-03-23T15:00:00Z"},
    {"LabOrder", R"({"type":"DocumentRationale","order":"O2","text":"treatment plan: random monitoring"})",
     "2026-03-26T09:00:00Z"},
    {"LabOrder",
     R"({"type":"OrderTest","order":"O2","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-26"})",
     "2026-03-26T09:00:00Z"}};
const Act kPositive{"Clinical", R"({"type":"RecordResult","order":"O2","outcome":"POSITIVE","on":"2026-03-26"})",
                    "2026-03-26T09:20:00Z"};
const Act kWhy{"LabOrder", R"({"type":"DocumentRationale","order":"O3","text":"confirm the positive screen of today"})",
               "2026-03-26T11:00:00Z"};
const Act kConfirm{
    "LabOrder",
    R"({"type":"OrderTest","order":"O3","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-26","confirms":"O2"})",
    "2026-03-26T11:00:00Z"};

constexpr const char* kResponse =
    R"({"relapse.response":{"O2":["dr.supervising","2026-03-26T10:00:00Z","increase monitoring"]}})";

// "Exec(e_0, s_0, w) is not a write-skew execution": no reachable state with a cross-cutting invariant that does not
// pass (Definition A.55, Corollary 1, A.2.3). The introduction's budget of 100,000 with 45,000 and 60,000.
TEST(Corollary1, BudgetHasNoWriteSkew) {
  const auto module = makeDomain("budget").value();
  Partition partition(*module);
  ASSERT_EQ(partition.init("e", {}, Time{}).outcome, Outcome::initialised);
  EXPECT_EQ(proposeTo(partition, kSpend[0], "a").outcome, Outcome::approved);
  EXPECT_EQ(wording(proposeTo(partition, kSpend[1], "b")), "rejected:BUDGET_CAP");
  for (const Verdict& verdict : module->walk(*partition.state("e"))) EXPECT_TRUE(verdict.passed());
}

TEST(Corollary1, Control_ANaiveBudgetHasWriteSkew) {
  const auto module = makeDomain("budget").value();
  NaiveArchitecture naive(*module, module->create({}, Time{}).value());
  naive.commitTogether(kSpend);
  EXPECT_EQ(naive.violated(), std::set<std::string>{"BUDGET_CAP"});
}

TEST(Corollary1, DavidsSecondDefinitiveTestIsRejected) {
  const auto module = makeDomain("udt").value();
  Partition partition(*module);
  ASSERT_EQ(partition.init("e", kDavid, parseTime(kStart).value()).outcome, Outcome::initialised);
  int id = 0;
  for (const Act& act : kDavidsDay)
    ASSERT_EQ(proposeTo(partition, act, std::to_string(++id)).outcome, Outcome::approved) << act.action;
  ASSERT_EQ(wording(proposeTo(partition, kPositive, "positive")), "escalated:UDT_RELAPSE_RESPONSE");
  const json::object edit = objectOf(kResponse);
  CounselorDecision d;
  d.entity = "e";
  d.counselor = "dr.supervising";
  d.operationId = "decision";
  d.commit = true;
  d.edit = &edit;
  d.at = parseTime("2026-03-26T10:00:00Z").value();
  ASSERT_EQ(wording(partition.decide(d)), "cCommitted:safe");
  ASSERT_EQ(proposeTo(partition, kWhy, "why").outcome, Outcome::approved);
  EXPECT_EQ(wording(proposeTo(partition, kConfirm, "confirm")), "rejected:UDT_DEFINITIVE_LIMIT");
  for (const Verdict& verdict : module->walk(*partition.state("e"))) EXPECT_TRUE(verdict.passed());
}

// Each worker's own checks pass, and the shared state breaks a limit that none of them can see.
TEST(Corollary1, Control_NaiveWorkersBreakTheDefinitiveLimit) {
  const auto module = makeDomain("udt").value();
  for (const InvariantInfo& invariant : module->signature().invariants) {
    if (invariant.id != "UDT_DEFINITIVE_LIMIT") continue;
    for (const RoleInfo& role : module->signature().roles)
      EXPECT_NE(invariant.footprint & ~role.footprint, 0u) << "cross-cutting (A.10)";
  }
  NaiveArchitecture naive(*module, module->create(kDavid, parseTime(kStart).value()).value());
  for (const Act& act : kDavidsDay) naive.commitTogether({act});
  EXPECT_EQ(naive.violated(), std::set<std::string>{});
  naive.human(kPositive, kResponse);
  EXPECT_EQ(naive.violated(), std::set<std::string>{});
  naive.commitTogether({kWhy});
  naive.commitTogether({kConfirm});  // LabOrder sees no results, so not the tier
  EXPECT_EQ(naive.violated(), std::set<std::string>{"UDT_DEFINITIVE_LIMIT"});
}

// ---- arbitration ----

// Every order of the acts, each on a fresh partition; returns the outcomes by order. "A theorem that ranges over all
// oracle traces therefore ranges over all possible arbitration orders" (Remark A.43).
std::map<std::vector<std::size_t>, std::vector<std::string>> everyOrder(const DomainModule& module,
                                                                        const json::object& init, const char* at,
                                                                        const std::vector<Act>& before,
                                                                        const std::vector<Act>& acts) {
  std::map<std::vector<std::size_t>, std::vector<std::string>> outcomes;
  std::vector<std::size_t> order(acts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  do {
    Partition partition(module);
    EXPECT_EQ(partition.init("e", init, parseTime(at).value()).outcome, Outcome::initialised);
    int id = 0;
    for (const Act& act : before)
      EXPECT_EQ(proposeTo(partition, act, std::to_string(++id)).outcome, Outcome::approved) << act.action;
    std::vector<std::string> told(acts.size());
    for (std::size_t i : order) {
      told[i] = wording(proposeTo(partition, acts[i], std::to_string(++id)));
      for (const Verdict& verdict : module.walk(*partition.state("e")))
        EXPECT_TRUE(verdict.passed()) << verdict.message();
    }
    outcomes[order] = std::move(told);
  } while (std::next_permutation(order.begin(), order.end()));
  return outcomes;
}

TEST(Arbitration, BudgetOutcomesDifferByOrder_B01_B02) {
  const auto orders = everyOrder(*makeDomain("budget").value(), {}, "2026-01-01T00:00:00Z", {}, kSpend);
  const std::vector<std::string> aFirst{"approved", "rejected:BUDGET_CAP"}, bFirst{"rejected:BUDGET_CAP", "approved"};
  EXPECT_EQ(orders.at({0, 1}), aFirst);
  EXPECT_EQ(orders.at({1, 0}), bFirst);
}

TEST(Arbitration, BudgetInvariantsHoldInAllOrdersOfSixProposals) {
  std::vector<Act> acts;
  for (int n : {45000, 60000, 30000, 20000, 50000, 100000}) {
    const std::string role = acts.size() % 2 == 0 ? "A" : "B";
    acts.push_back({role, R"({"type":"Spend)" + role + R"(","n":)" + std::to_string(n) + "}", "2026-01-02T00:00:00Z"});
  }
  const auto orders = everyOrder(*makeDomain("budget").value(), {}, "2026-01-01T00:00:00Z", {}, acts);
  EXPECT_EQ(orders.size(), 720u);
  std::set<std::vector<std::string>> different;
  for (const auto& [order, told] : orders) different.insert(told);
  EXPECT_GT(different.size(), 5u);
}

// Two orders for one day, a result, an advance and a claim, all proposed at the same moment.
TEST(Arbitration, UdtInvariantsHoldInAllOrders) {
  const char* noon = "2026-03-26T12:00:00Z";
  std::vector<Act> before(kDavidsDay.begin(), kDavidsDay.begin() + 3);
  for (const char* order : {"O2", "O3"})
    before.push_back({"LabOrder",
                      R"({"type":"DocumentRationale","order":")" + std::string(order) +
                          R"(","text":"treatment plan: random monitoring"})",
                      "2026-03-26T09:00:00Z"});
  const std::vector<Act> acts{
      {"LabOrder",
       R"({"type":"OrderTest","order":"O2","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-26"})",
       noon},
      {"LabOrder",
       R"({"type":"OrderTest","order":"O3","kind":"PRESUMPTIVE","code":"80305","method":"IMMUNOASSAY","dos":"2026-03-26"})",
       noon},
      {"Clinical", R"({"type":"RecordResult","order":"O2","outcome":"NEGATIVE","on":"2026-03-26"})", noon},
      {"Clinical", R"({"type":"AdvanceAbstinence"})", noon},
      {"Billing", R"({"type":"SubmitClaim","claim":"C1","order":"O2","code":"80307","dos":"2026-03-26"})", noon}};
  const auto orders = everyOrder(*makeDomain("udt").value(), kDavid, kStart, before, acts);
  EXPECT_EQ(orders.size(), 120u);
  std::set<std::vector<std::string>> different;
  for (const auto& [order, told] : orders) different.insert(told);
  EXPECT_GT(different.size(), 3u);
  EXPECT_EQ(orders.at({0, 1, 2, 3, 4}),
            (std::vector<std::string>{"approved", "rejected:UDT_ONE_PER_DOS", "approved", "approved", "approved"}));
}

}  // namespace
}  // namespace witan::domains::test::corollary1_test
