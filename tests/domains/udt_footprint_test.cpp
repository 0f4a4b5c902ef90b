// UDT: what its invariants and workers cannot read, decided by the compiler; and F7's two readings on its footprints.
#include <gtest/gtest.h>

#include "domains/udt/udt.h"
#include "kernel/typed_module.h"
#include "tests/domains/scenario.h"

namespace witan::domains::udt::udt_footprint_test {
namespace {

template <class ViewOf, class Field>
concept CanRead = requires(const ViewOf& v) {
  v.template get<Field>();
};
template <class Reader, auto TablePointer, class Field>
concept RowCanRead = requires(const RowView<Reader, TablePointer>& r) {
  r.template get<Field>();
};
constexpr auto kOrders = &State::orders;
constexpr auto kClaimTable = &State::claims;

// Slices (Def. A.7): the three workers see disjoint parts of a patient (seed 000, Table 1).
static_assert(CanRead<Slice<Clinical>, TierOf> && CanRead<Slice<Clinical>, LastPositiveOn>);
static_assert(!CanRead<Slice<LabOrder>, TierOf>, "a scalar of another worker");
static_assert(!CanRead<Slice<Billing>, TierOf>);
static_assert(RowCanRead<RoleReader<LabOrder>, kOrders, OrderKind>);
static_assert(!RowCanRead<RoleReader<LabOrder>, kOrders, ResultOutcome>, "LabOrder sees no result");
static_assert(!RowCanRead<RoleReader<Clinical>, kOrders, OrderKind>, "Clinical sees no order");
static_assert(!RowCanRead<RoleReader<Billing>, kOrders, OrderCode>, "Billing sees claims only");
static_assert(RowCanRead<RoleReader<Billing>, kClaimTable, ClaimCode>);
static_assert(!RowCanRead<RoleReader<LabOrder>, kClaimTable, ClaimCode>, "another table");
static_assert(!RowCanRead<RoleReader<Billing>, kOrders, ClaimCode>, "a claim's column in an order's row");

// Invariants (Def. A.9).
static_assert(RowCanRead<CodeKind, kOrders, OrderCode> && !RowCanRead<CodeKind, kOrders, OrderMethod>);
static_assert(!RowCanRead<CodeKind, kOrders, RationaleText>);
static_assert(!CanRead<View<CodeKind>, ConsecutiveDays>);
static_assert(CanRead<View<DefinitiveLimit>, BaselinePositiveOn>);
static_assert(!CanRead<View<DefinitiveLimit>, LastPositiveOn>, "the limit derives the tier, it does not believe it");
static_assert(!CanRead<View<DefinitiveLimit>, TierOf>);
static_assert(!RowCanRead<DefinitiveLimit, kOrders, RationaleKindOf>);
static_assert(!RowCanRead<ClaimUnique, kOrders, OrderKind> && RowCanRead<ClaimUnique, kClaimTable, ClaimStatusOf>);
static_assert(!RowCanRead<RelapseResponseGiven, kOrders, OrderKind>);
static_assert(!CanRead<View<RefIntegrity>, ProgramPhase>);

using Module = TypedModule<Udt>;

// The existence of a key must not leak: an order with a rationale only is there for LabOrder and not for Clinical.
TEST(UdtFootprint, Proposition1i_KeysDoNotLeak) {
  const auto module = makeDomain("udt").value();
  const EntityPtr patient = module->create({}, Time{}).value();
  ASSERT_TRUE(module
                  ->applyWrites(
                      *patient,
                      test::objectOf(R"({"rationale.text":{"O1":"a reason long enough"},"claim.code":{"C1":"G0480"}})"))
                  .ok());
  const auto& box = Module::boxOf(*patient);
  const Policy& policy = static_cast<const Module&>(*module).policy();
  const Slice<LabOrder> lab(box.state, box.shared, policy);
  const Slice<Clinical> clinical(box.state, box.shared, policy);
  const Slice<Billing> billing(box.state, box.shared, policy);
  const auto count = [](auto rows) { return std::distance(rows.begin(), rows.end()); };
  EXPECT_EQ(count(lab.rows<kOrders>()), 1);
  EXPECT_EQ(count(clinical.rows<kOrders>()), 0);
  EXPECT_FALSE(clinical.row<kOrders>("O1").has_value());
  EXPECT_EQ(count(billing.rows<kOrders>()), 0);
  EXPECT_EQ(count(billing.rows<kClaimTable>()), 1);
  EXPECT_EQ(count(lab.rows<kClaimTable>()), 0);
  for (const auto& role : module->signature().roles) {
    const std::string slice = kernel::test::stateJson(*module, patient.get(), role.footprint);
    EXPECT_EQ(slice.find("O1") != std::string::npos, role.name == "LabOrder") << slice;
  }
}

// F7. "an invariant can be contained in one role's footprint and still meet another's": Def. A.10 (contained in none)
// and section 2.3 (meets at least two) are two readings. In udt they differ on no invariant that is contained nowhere.
TEST(UdtFootprint, F7_BothReadingsOfCrossCutting) {
  const auto module = makeDomain("udt").value();
  std::map<std::string, std::pair<int, int>> held;  // contained in, meets
  for (const auto& invariant : module->signature().invariants)
    for (const auto& role : module->signature().roles) {
      held[invariant.id].first += (invariant.footprint & ~role.footprint) == 0;
      held[invariant.id].second += (invariant.footprint & role.footprint) != 0;
    }
  const auto crossCutting = [&](const char* id) { return held.at(id).first == 0; };
  EXPECT_FALSE(crossCutting("UDT_CODE_KIND"));
  EXPECT_FALSE(crossCutting("UDT_CLAIM_UNIQUE"));
  for (const char* id : {"UDT_REF_INTEGRITY", "UDT_PRESUMPTIVE_LIMIT", "UDT_DEFINITIVE_LIMIT", "UDT_CLAIM_AFTER_RESULT",
                         "UDT_CLAIM_MATCHES_ORDER", "UDT_SAME_DAY_DEFINITIVE"}) {
    EXPECT_TRUE(crossCutting(id)) << id;
    EXPECT_GE(held.at(id).second, 2) << id;
  }
  // Adjudicated by the kernel whatever the reading: every invariant is walked on the first full evaluation.
  const EntityPtr patient = module->create({}, Time{}).value();
  Evaluation out;
  const ActionPtr action = kernel::test::actionOf(*module, R"({"type":"AdvanceAbstinence"})");
  module->evaluateFully(*patient, "Clinical", *action, Time{}, out);
  for (std::uint8_t verdict : out.verdicts) EXPECT_EQ(verdict, static_cast<std::uint8_t>(InvResult::pass));
}

// F21 in udt: an escalated limit of the day has a waiver, so that a human's commit can be safe and the patient usable.
TEST(UdtFootprint, F21_AWaivedSameDayTestIsASafeCommit) {
  const auto module = makeDomain("udt").value();
  Partition partition(*module);
  ASSERT_EQ(partition
                .init("p", test::objectOf(R"({"baselinePositiveOn":"2025-12-01"})"),
                      parseTime("2026-03-23T08:00:00Z").value())
                .outcome,
            kernel::Outcome::initialised);
  int id = 0;
  const auto propose = [&](const char* role, const char* text, const char* at) {
    const ActionPtr action = kernel::test::actionOf(*module, text);
    return test::wording(
        partition.propose({"p", role, std::to_string(++id), "", "", action.get(), parseTime(at).value(), false}));
  };
  for (const char* why : {R"({"type":"DocumentRationale","order":"P","text":"treatment plan: monitoring"})",
                          R"({"type":"DocumentRationale","order":"D","text":"treatment plan: monitoring"})"})
    ASSERT_EQ(propose("LabOrder", why, "2026-03-23T09:00:00Z"), "approved");
  ASSERT_EQ(
      propose(
          "LabOrder",
          R"({"type":"OrderTest","order":"P","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"2026-03-23"})",
          "2026-03-23T09:00:00Z"),
      "approved");
  ASSERT_EQ(
      propose(
          "LabOrder",
          R"({"type":"OrderTest","order":"D","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23"})",
          "2026-03-23T10:00:00Z"),
      "escalated:UDT_SAME_DAY_DEFINITIVE");
  const json::object edit = test::objectOf(R"({"waivers":{"add":[["UDT_SAME_DAY_DEFINITIVE","D"]]}})");
  CounselorDecision d;
  d.entity = "p";
  d.counselor = "dr.supervising";
  d.operationId = "waived";
  d.commit = true;
  d.edit = &edit;
  d.at = parseTime("2026-03-23T11:00:00Z").value();
  EXPECT_EQ(test::wording(partition.decide(d)), "cCommitted:safe");
  EXPECT_EQ(propose("LabOrder", R"({"type":"DocumentRationale","order":"X","text":"treatment plan: monitoring"})",
                    "2026-03-24T09:00:00Z"),
            "approved");
}

}  // namespace
}  // namespace witan::domains::udt::udt_footprint_test
