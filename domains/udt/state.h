// UDT compliance (urine drug testing under AHCCCS): policy, state and fields. The entity is one patient.
//
// Columns of orders, their rationale, result and relapse response share the order's row; claims have their own.
// Every fact carries its own time; stamped columns take the time of adjudication.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "kernel/domain.h"

namespace witan::domains::udt {

using namespace kernel;

WITAN_ENUM(Kind, PRESUMPTIVE, DEFINITIVE)
// What can be definitive (HCPCS G0480 to G0483, G0659): gas or liquid chromatography with mass spectrometry, single or
// tandem. The text of order.method must be one of these words; how a presumptive test is made is free.
WITAN_ENUM(DefinitiveMethod, GCMS, GCMSMS, LCMS, LCMSMS)
WITAN_ENUM(Coverage, AHCCCS, NONE)
WITAN_ENUM(Outcome, NEGATIVE, POSITIVE)
WITAN_ENUM(RationaleKind, INDIVIDUAL, STANDING, IA_NOT_AVAILABLE, UNEXPECTED_RESULT)
WITAN_ENUM(ClaimStatus, SUBMITTED, VOID)
// Days since the last positive result.
WITAN_ENUM(Tier, D0_30, D31_90, D90P)

// At most `count` covered tests in any `days` consecutive days.
struct Limit {
  static constexpr bool asTuple = true;
  std::int64_t count = 0;
  std::int64_t days = 0;
  WITAN_MEMBERS(Limit, count, days)
};

struct TierLimits {
  static constexpr std::size_t required = 0;
  Limit D0_30;
  Limit D31_90;
  Limit D90P;
  WITAN_MEMBERS(TierLimits, D0_30, D31_90, D90P)

  const Limit& of(Tier tier) const {
    if (tier == Tier::D0_30) return D0_30;
    return tier == Tier::D31_90 ? D31_90 : D90P;
  }
};

struct Limits {
  static constexpr std::size_t required = 0;
  // The two DEFINITIVE cells 1 per 7 and 3 per 90 days are the paper's (seed 000, 3.1); the others are those of the
  // Medicare LCD family for substance use disorders. All are configuration.
  TierLimits DEFINITIVE{{1, 7}, {3, 30}, {3, 90}};
  TierLimits PRESUMPTIVE{{3, 7}, {3, 7}, {3, 30}};
  WITAN_MEMBERS(Limits, DEFINITIVE, PRESUMPTIVE)

  const TierLimits& of(Kind kind) const { return kind == Kind::DEFINITIVE ? DEFINITIVE : PRESUMPTIVE; }
};

struct Policy {
  static constexpr std::size_t required = 0;
  Limits limits;
  std::int64_t tier2MinDays = 31;
  std::int64_t tier3MinDays = 91;  // "90+" leaves day 90 open; > 90 by default
  std::int64_t minRationale = 10;  // characters of a rationale that is not blank
  WITAN_MEMBERS(Policy, limits, tier2MinDays, tier3MinDays, minRationale)

  Tier tierOf(std::int64_t days) const {
    if (days >= tier3MinDays) return Tier::D90P;
    return days >= tier2MinDays ? Tier::D31_90 : Tier::D0_30;
  }

  Status validate() const {
    for (const TierLimits* kind : {&limits.DEFINITIVE, &limits.PRESUMPTIVE})
      for (const Limit* limit : {&kind->D0_30, &kind->D31_90, &kind->D90P})
        if (limit->count < 0 || limit->count > 1000 || limit->days < 1 || limit->days > 3660)
          return invalid("policy.limits: a limit is [count 0..1000, days 1..3660]");
    if (tier2MinDays < 0 || tier3MinDays < tier2MinDays)
      return invalid("policy: 0 <= tier2MinDays <= tier3MinDays must hold");
    if (minRationale < 0 || minRationale > 1000) return invalid("policy.minRationale: 0..1000");
    return okStatus();
  }
};

struct RelapseResponse {
  static constexpr bool asTuple = true;
  std::string counselor;
  Time time;
  std::string plan;
  WITAN_MEMBERS(RelapseResponse, counselor, time, plan)
};

// Most invariants look at every order of the patient: what they compare comes first, in one cache line.
struct alignas(64) OrderRow {
  Cell<Time> orderedAt;
  Cell<Time> recordedAt;
  Cell<Date> dos;  // date of service
  Cell<Date> resultOn;
  Cell<Kind> kind;
  Cell<Coverage> coverage;
  Cell<Outcome> outcome;
  Cell<RationaleKind> rationaleKind;
  Cell<std::string> code;
  Cell<std::string> method;
  Cell<std::string> confirms;
  Cell<std::string> rationaleText;
  Cell<RelapseResponse> relapseResponse;
};

struct ClaimRow {
  Cell<ClaimStatus> status;
  Cell<Date> dos;
  Cell<std::string> order;
  Cell<std::string> code;
  Cell<std::int64_t> units;
};

struct State {
  using Policy = udt::Policy;
  Table<OrderRow> orders;
  Table<ClaimRow> claims;
  Date baselinePositiveOn;
  Date lastPositiveOn;
  Date abstinenceAsOf;
  std::int64_t consecutiveDays = 0;
  Tier tier = Tier::D0_30;
  std::string programPhase = "ENROLLED";
};

inline constexpr auto kOrders = &State::orders;
inline constexpr auto kClaims = &State::claims;

struct RationaleText : Column<"rationale.text", kOrders, &OrderRow::rationaleText> {};
struct RationaleKindOf : Column<"rationale.kind", kOrders, &OrderRow::rationaleKind> {};
struct OrderKind : Column<"order.kind", kOrders, &OrderRow::kind> {};
struct OrderCode : Column<"order.code", kOrders, &OrderRow::code> {};
struct OrderMethod : Column<"order.method", kOrders, &OrderRow::method> {};
struct OrderDos : Column<"order.dos", kOrders, &OrderRow::dos> {};
struct OrderConfirms : Column<"order.confirms", kOrders, &OrderRow::confirms> {};
struct OrderCoverage : Column<"order.coverage", kOrders, &OrderRow::coverage> {};
struct OrderedAt : Column<"order.orderedAt", kOrders, &OrderRow::orderedAt> {};
struct ResultOutcome : Column<"result.outcome", kOrders, &OrderRow::outcome> {};
struct ResultOn : Column<"result.on", kOrders, &OrderRow::resultOn> {};
struct ResultRecordedAt : Column<"result.recordedAt", kOrders, &OrderRow::recordedAt> {};
struct RelapseResponseOf : HumanColumn<"relapse.response", kOrders, &OrderRow::relapseResponse> {};
struct ClaimOrder : Column<"claim.order", kClaims, &ClaimRow::order> {};
struct ClaimCode : Column<"claim.code", kClaims, &ClaimRow::code> {};
struct ClaimDos : Column<"claim.dos", kClaims, &ClaimRow::dos> {};
struct ClaimUnits : Column<"claim.units", kClaims, &ClaimRow::units> {};
struct ClaimStatusOf : Column<"claim.status", kClaims, &ClaimRow::status> {};
struct BaselinePositiveOn : Scalar<"baselinePositiveOn", &State::baselinePositiveOn> {};
struct LastPositiveOn : Scalar<"lastPositiveOn", &State::lastPositiveOn> {};
struct AbstinenceAsOf : Scalar<"abstinenceAsOf", &State::abstinenceAsOf> {};
struct ConsecutiveDays : Scalar<"consecutiveDays", &State::consecutiveDays> {};
struct TierOf : Scalar<"tier", &State::tier> {};
struct ProgramPhase : Scalar<"programPhase", &State::programPhase> {
  static constexpr bool lifecycle = true;
};

using Fields = FieldList<RationaleText, RationaleKindOf, OrderKind, OrderCode, OrderMethod, OrderDos, OrderConfirms,
                         OrderCoverage, OrderedAt, ResultOutcome, ResultOn, ResultRecordedAt, RelapseResponseOf,
                         ClaimOrder, ClaimCode, ClaimDos, ClaimUnits, ClaimStatusOf, BaselinePositiveOn, LastPositiveOn,
                         AbstinenceAsOf, ConsecutiveDays, TierOf, ProgramPhase>;

using RationaleFields = Footprint<RationaleText, RationaleKindOf>;
using OrderFields = Footprint<OrderKind, OrderCode, OrderMethod, OrderDos, OrderConfirms, OrderCoverage, OrderedAt>;
using ResultFields = Footprint<ResultOutcome, ResultOn, ResultRecordedAt>;
using ClaimFields = Footprint<ClaimOrder, ClaimCode, ClaimDos, ClaimUnits, ClaimStatusOf>;
using AbstinenceFields = Footprint<BaselinePositiveOn, LastPositiveOn, AbstinenceAsOf, ConsecutiveDays, TierOf>;

inline std::int64_t daysBetween(Date from, Date to) { return static_cast<std::int64_t>(to.days) - from.days; }

}  // namespace witan::domains::udt
