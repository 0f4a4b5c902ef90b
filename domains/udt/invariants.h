// UDT compliance: the invariants, in list order (structure first, then rejects, then escalations).
//
// Every predicate is time-stable: facts are compared with facts, and the clock is only an upper bound.
#pragma once

#include "domains/udt/state.h"

namespace witan::domains::udt {

// Columns of one record share their keys; claims, results and confirmations point at orders.
struct RefIntegrity : NamedInvariant<"UDT_REF_INTEGRITY"> {
  static constexpr std::string_view rule =
      "columns of one record share keys; claims, results and confirms point at orders; no result is of before its "
      "service";
  using Reads = Union<OrderFields, ResultFields, ClaimFields>::Type;
  static Verdict check(const View<RefIntegrity>&);
  static bool stillPasses(const View<RefIntegrity>&, const Touched<RefIntegrity, Fields>&);
};

struct CodeKind : NamedRowInvariant<"UDT_CODE_KIND", kOrders> {
  static constexpr std::string_view rule = "80305-80307 iff PRESUMPTIVE; G0480-G0483 and G0659 iff DEFINITIVE";
  using Reads = Footprint<OrderKind, OrderCode>;
  static Verdict checkRow(const View<CodeKind>&, const RowView<CodeKind, table>&);
};

struct NoImmunoassayConfirmation : NamedRowInvariant<"UDT_NO_IMMUNOASSAY_CONFIRMATION", kOrders> {
  static constexpr std::string_view rule =
      "a DEFINITIVE test uses a method that is known as definitive, and only it confirms a PRESUMPTIVE one";
  using Reads = Footprint<OrderKind, OrderMethod, OrderConfirms>;
  static Verdict checkRow(const View<NoImmunoassayConfirmation>&, const RowView<NoImmunoassayConfirmation, table>&);
  static bool othersStand(const View<NoImmunoassayConfirmation>&, const Touched<NoImmunoassayConfirmation, Fields>&);
};

struct ClinicalRationale : NamedRowInvariant<"UDT_CLINICAL_RATIONALE", kOrders> {
  static constexpr std::string_view rule = "every order has a documented rationale that is not a standing order";
  using Reads = Footprint<RationaleText, RationaleKindOf, OrderKind>;
  static Verdict checkRow(const View<ClinicalRationale>&, const RowView<ClinicalRationale, table>&);
};

struct AbstinenceDerivation : NamedInvariant<"UDT_ABSTINENCE_DERIVATION"> {
  static constexpr std::string_view rule =
      "last positive, consecutive days and tier follow from the results, none of them recorded before its day, as of a "
      "day not after the clock";
  using Reads = Union<ResultFields, AbstinenceFields>::Type;
  static Verdict check(const View<AbstinenceDerivation>&);
  static bool stillPasses(const View<AbstinenceDerivation>&, const Touched<AbstinenceDerivation, Fields>&);
};

struct OnePerDos : NamedInvariant<"UDT_ONE_PER_DOS"> {
  static constexpr std::string_view rule = "at most one covered test of each kind per date of service";
  using Reads = Footprint<OrderKind, OrderDos, OrderCoverage>;
  static Verdict check(const View<OnePerDos>&);
  static bool stillPasses(const View<OnePerDos>&, const Touched<OnePerDos, Fields>&);
};

using LimitFootprint = Union<OrderFields, ResultFields, Footprint<BaselinePositiveOn>>::Type;

struct PresumptiveLimit : NamedRowInvariant<"UDT_PRESUMPTIVE_LIMIT", kOrders> {
  static constexpr std::string_view rule =
      "covered PRESUMPTIVE tests stay within the limit of the tier known when each was ordered";
  static constexpr Kind kind = Kind::PRESUMPTIVE;
  using Reads = LimitFootprint;
  static Verdict checkRow(const View<PresumptiveLimit>&, const RowView<PresumptiveLimit, table>&);
  static bool othersStand(const View<PresumptiveLimit>&, const Touched<PresumptiveLimit, Fields>&);
};

struct DefinitiveLimit : NamedRowInvariant<"UDT_DEFINITIVE_LIMIT", kOrders> {
  static constexpr std::string_view rule =
      "covered DEFINITIVE tests stay within the limit of the tier known when each was ordered";
  static constexpr Kind kind = Kind::DEFINITIVE;
  using Reads = LimitFootprint;
  static Verdict checkRow(const View<DefinitiveLimit>&, const RowView<DefinitiveLimit, table>&);
  static bool othersStand(const View<DefinitiveLimit>&, const Touched<DefinitiveLimit, Fields>&);
};

struct ClaimUnique : NamedInvariant<"UDT_CLAIM_UNIQUE"> {
  static constexpr std::string_view rule = "at most one live claim per order";
  using Reads = ClaimFields;
  static Verdict check(const View<ClaimUnique>&);
  static bool stillPasses(const View<ClaimUnique>&, const Touched<ClaimUnique, Fields>&);
};

struct ClaimAfterResult : NamedRowInvariant<"UDT_CLAIM_AFTER_RESULT", kClaims> {
  static constexpr std::string_view rule = "a live claim's order has a recorded result";
  using Reads = Union<ClaimFields, ResultFields>::Type;
  static Verdict checkRow(const View<ClaimAfterResult>&, const RowView<ClaimAfterResult, table>&);
  static bool othersStand(const View<ClaimAfterResult>&, const Touched<ClaimAfterResult, Fields>&);
};

struct ClaimMatchesOrder : NamedRowInvariant<"UDT_CLAIM_MATCHES_ORDER", kClaims> {
  static constexpr std::string_view rule = "a live claim bills a covered order with its code, its date and one unit";
  using Reads = Union<ClaimFields, OrderFields>::Type;
  static Verdict checkRow(const View<ClaimMatchesOrder>&, const RowView<ClaimMatchesOrder, table>&);
  static bool othersStand(const View<ClaimMatchesOrder>&, const Touched<ClaimMatchesOrder, Fields>&);
};

struct SameDayDefinitive : NamedRowInvariant<"UDT_SAME_DAY_DEFINITIVE", kOrders> {
  static constexpr std::string_view rule =
      "a covered DEFINITIVE test on the day of an earlier covered PRESUMPTIVE one needs a separate reason";
  static constexpr InvResult onFailure = InvResult::escalate;
  using Reads = Union<OrderFields, ResultFields, RationaleFields>::Type;
  static Verdict checkRow(const View<SameDayDefinitive>&, const RowView<SameDayDefinitive, table>&);
  static bool othersStand(const View<SameDayDefinitive>&, const Touched<SameDayDefinitive, Fields>&);
};

struct RelapseResponseGiven : NamedRowInvariant<"UDT_RELAPSE_RESPONSE", kOrders> {
  static constexpr std::string_view rule = "a human answers every POSITIVE result with a plan";
  static constexpr InvResult onFailure = InvResult::escalate;
  using Reads = Union<ResultFields, Footprint<RelapseResponseOf>>::Type;
  static Verdict checkRow(const View<RelapseResponseGiven>&, const RowView<RelapseResponseGiven, table>&);
};

}  // namespace witan::domains::udt
