// UDT compliance: the processes, which are also the actions (domains' wire form: {"type": process, ...arguments}).
//
// A mutation faults where it refers to a key that must exist or meets an unknown word; everything else is written
// and left to the invariants to judge.
#pragma once

#include "domains/udt/state.h"
#include "rules/program/names.h"

namespace witan::domains::udt {

// A code that is none stays as it is, and UDT_CODE_KIND refuses it.
inline std::string inOneForm(const std::string& code) { return rules::canonicalProcedureCode(code).value_or(code); }

struct DocumentRationale {
  static constexpr std::string_view name = "DocumentRationale";
  static constexpr std::size_t required = 2;
  using Reads = RationaleFields;
  using Writes = RationaleFields;
  std::string order;
  std::string text;
  std::string kind = "INDIVIDUAL";
  WITAN_MEMBERS(DocumentRationale, order, text, kind)

  void apply(Mutator<Fields>& m, Time) const {
    const RationaleKind word = m.word<RationaleKind>(kind);
    m.edit<kOrders>(order).set<RationaleText>(text).set<RationaleKindOf>(word);
  }
};

struct OrderTest {
  static constexpr std::string_view name = "OrderTest";
  static constexpr std::size_t required = 5;
  using Reads = Union<RationaleFields, OrderFields>::Type;
  using Writes = OrderFields;
  std::string order;
  std::string kind;
  std::string code;
  std::string method;
  Date dos;
  std::optional<std::string> confirms;
  std::string coverage = "AHCCCS";
  WITAN_MEMBERS(OrderTest, order, kind, code, method, dos, confirms, coverage)

  void apply(Mutator<Fields>& m, Time t) const {
    const Kind kindWord = m.word<Kind>(kind);
    const Coverage coverageWord = m.word<Coverage>(coverage);
    auto row = m.edit<kOrders>(order);
    if (row.has<OrderKind>()) throw Fault{"order " + order + " exists already"};
    row.set<OrderKind>(kindWord).set<OrderCode>(inOneForm(code)).set<OrderMethod>(method).set<OrderDos>(dos);
    if (confirms)
      row.set<OrderConfirms>(*confirms);
    else if (row.has<OrderConfirms>())
      row.erase<OrderConfirms>();  // left behind by an unsafe commit
    row.set<OrderCoverage>(coverageWord).set<OrderedAt>(t);
  }
};

// Brings the stored abstinence up to the date of `t`.
inline void refreshAbstinence(Mutator<Fields>& m, Time t) {
  const Date today = dateOf(t);
  const std::int64_t days = daysBetween(m.get<LastPositiveOn>(), today);
  m.set<AbstinenceAsOf>(today);
  m.set<ConsecutiveDays>(days);
  m.set<TierOf>(m.policy().tierOf(days));
}

// Once. What was wrong is amended to the worse, which a human then answers; anything else is the counselor's edit.
struct RecordResult {
  static constexpr std::string_view name = "RecordResult";
  using Reads = Union<ResultFields, AbstinenceFields, Footprint<RelapseResponseOf>>::Type;
  using Writes = Union<ResultFields, Footprint<LastPositiveOn, AbstinenceAsOf, ConsecutiveDays, TierOf>>::Type;
  std::string order;
  std::string outcome;
  Date on;
  WITAN_MEMBERS(RecordResult, order, outcome, on)

  void apply(Mutator<Fields>& m, Time t) const {
    const Outcome word = m.word<Outcome>(outcome);
    auto row = m.edit<kOrders>(order);
    if (row.has<ResultOutcome>() && (row.get<ResultOutcome>() == Outcome::POSITIVE || word == Outcome::NEGATIVE))
      throw Fault{"order " + order + " has a result: it is only amended from NEGATIVE to POSITIVE"};
    row.set<ResultOutcome>(word).set<ResultOn>(on).set<ResultRecordedAt>(t);
    if (word == Outcome::POSITIVE) m.set<LastPositiveOn>(std::max(m.get<LastPositiveOn>(), on));
    refreshAbstinence(m, t);
  }
};

struct AdvanceAbstinence {
  static constexpr std::string_view name = "AdvanceAbstinence";
  static constexpr std::size_t required = 0;
  using Reads = Union<ResultFields, AbstinenceFields>::Type;
  using Writes = Footprint<AbstinenceAsOf, ConsecutiveDays, TierOf>;
  // What the proposer believes, when it says so; a wrong belief is written and meets UDT_ABSTINENCE_DERIVATION.
  std::optional<std::int64_t> days;
  std::optional<std::string> tier;
  WITAN_MEMBERS(AdvanceAbstinence, days, tier)

  void apply(Mutator<Fields>& m, Time t) const {
    refreshAbstinence(m, t);
    if (days) m.set<ConsecutiveDays>(*days);
    if (tier) m.set<TierOf>(m.word<Tier>(*tier));
  }
};

struct SubmitClaim {
  static constexpr std::string_view name = "SubmitClaim";
  static constexpr std::size_t required = 4;
  using Reads = ClaimFields;
  using Writes = ClaimFields;
  std::string claim;
  std::string order;
  std::string code;
  Date dos;
  std::int64_t units = 1;
  WITAN_MEMBERS(SubmitClaim, claim, order, code, dos, units)

  void apply(Mutator<Fields>& m, Time) const {
    auto row = m.edit<kClaims>(claim);
    row.set<ClaimOrder>(order)
        .set<ClaimCode>(inOneForm(code))
        .set<ClaimDos>(dos)
        .set<ClaimUnits>(units)
        .set<ClaimStatusOf>(ClaimStatus::SUBMITTED);
  }
};

struct VoidClaim {
  static constexpr std::string_view name = "VoidClaim";
  using Reads = ClaimFields;
  using Writes = Footprint<ClaimStatusOf>;
  std::string claim;
  WITAN_MEMBERS(VoidClaim, claim)

  void apply(Mutator<Fields>& m, Time) const {
    auto row = m.find<kClaims>(claim);
    if (!row || !row->has<ClaimStatusOf>()) throw Fault{"claim " + claim + " does not exist"};
    row->set<ClaimStatusOf>(ClaimStatus::VOID);
  }
};

// Only a counselor's commit performs it: declared for lint, not an action.
struct RespondToRelapse {
  static constexpr std::string_view name = "RespondToRelapse";
  using Reads = Union<OrderFields, RationaleFields, ResultFields, ClaimFields, AbstinenceFields,
                      Footprint<RelapseResponseOf>>::Type;
  using Writes = Footprint<RelapseResponseOf>;
};

struct LabOrder : Role<"LabOrder", DocumentRationale, OrderTest> {};
struct Clinical : Role<"Clinical", RecordResult, AdvanceAbstinence> {};
struct Billing : Role<"Billing", SubmitClaim, VoidClaim> {};

}  // namespace witan::domains::udt
