// Escrow: the invariants, in list order. All reject but the last, on which a human rules.
//
// Most hold iff they hold for each call: then the calls that a decision touched decide, found through indexes, and no
// decision looks at all calls. Every predicate is time-stable: facts are compared with facts.
#pragma once

#include "domains/escrow/state.h"

namespace witan::domains::escrow {

// Shape of an invariant that holds iff it holds for each call (checkCall). It reads call.amount, which every call has,
// so that it sees every call.
template <class I>
using CallView = RowView<I, kCalls>;
template <class I>
using EscrowTouched = Touched<I, Fields>;

struct ContractSigned : NamedInvariant<"ESCROW_CONTRACT_SIGNED"> {
  static constexpr std::string_view rule =
      "the envelope is a well-formed contract of the enrolled parties, signed by both, its times in order, perCall, "
      "total and calls at least 1";
  using Reads = Footprint<ContractFlaw>;
  static Verdict check(const View<ContractSigned>&);
};

struct Phase : NamedInvariant<"ESCROW_PHASE"> {
  static constexpr std::string_view rule =
      "no reservation or deposit at or after stop or close; closed only with nothing held, and after a stop or at or "
      "after expiry";
  using Reads = Footprint<StoppedAt, ClosedAt, TermsExpiry, ReservedAt, CallHeld, PayLog>;
  static Verdict check(const View<Phase>&);
  static bool stillPasses(const View<Phase>&, const EscrowTouched<Phase>&);
};

struct PaymentOnce : NamedInvariant<"ESCROW_PAYMENT_ONCE"> {
  static constexpr std::string_view rule = "payment references are unique and not empty, amounts at least 1";
  using Reads = Footprint<PayLog>;
  static Verdict check(const View<PaymentOnce>&);
  static bool stillPasses(const View<PaymentOnce>&, const EscrowTouched<PaymentOnce>&);
};

struct Terms : NamedInvariant<"ESCROW_TERMS"> {
  static constexpr std::string_view rule =
      "calls and deposits within the contract; 1 <= amount <= perCall; notBefore <= reservedAt < expiry; input and "
      "order are 64 hex digits";
  using Reads = Footprint<OpenedAt, TermsCalls, TermsTotal, TermsPerCall, TermsNotBefore, TermsExpiry, Deposited,
                          CallAmount, ReservedAt, CallInput, CallOrder>;
  static Verdict check(const View<Terms>&);
  static bool stillPasses(const View<Terms>&, const EscrowTouched<Terms>&);
};

struct EvidenceValid : NamedRowInvariant<"ESCROW_EVIDENCE_VALID", kDeliveries> {
  static constexpr std::string_view rule = "no delivery has a flaw";
  using Reads = Footprint<DeliveryLog>;
  static Verdict checkRow(const View<EvidenceValid>&, const RowView<EvidenceValid, table>&);
};

struct DeliveredOnce : NamedInvariant<"ESCROW_DELIVERED_ONCE"> {
  static constexpr std::string_view rule = "one delivery a call, no evidence twice, none of a declined call";
  using Reads = Footprint<DeliveryLog, DeclinedAt>;
  static Verdict check(const View<DeliveredOnce>&);
  static bool stillPasses(const View<DeliveredOnce>&, const EscrowTouched<DeliveredOnce>&);
};

struct SettledOnce : NamedRowInvariant<"ESCROW_SETTLED_ONCE", kSettlements> {
  static constexpr std::string_view rule = "one settlement a call";
  using Reads = Footprint<SettleLog>;
  static Verdict checkRow(const View<SettledOnce>&, const RowView<SettledOnce, table>&);
};

struct InTime : NamedInvariant<"ESCROW_IN_TIME"> {
  static constexpr std::string_view rule =
      "delivered at or before deliverBy and before settlement; disputed within the window after the delivery and "
      "before settlement; declined before settlement";
  using Reads =
      Footprint<DeliveryLog, SettleLog, CallAmount, DeliverBy, DisputedAt, AcceptedAt, DeclinedAt, TermsDisputeWindow>;
  static Verdict checkCall(const View<InTime>&, const CallView<InTime>&);
  static Verdict check(const View<InTime>&);
  static bool stillPasses(const View<InTime>&, const EscrowTouched<InTime>&);
};

struct ReleaseRule : NamedInvariant<"ESCROW_RELEASE_RULE"> {
  static constexpr std::string_view rule =
      "released only with a delivery, and as ruled, or as charged: accepted in the same act, or undisputed at or after "
      "the end of the window";
  using Reads = Footprint<DeliveryLog, SettleLog, CallAmount, CallRuling, AcceptedAt, DisputedAt, TermsDisputeWindow>;
  static Verdict checkCall(const View<ReleaseRule>&, const CallView<ReleaseRule>&);
  static Verdict check(const View<ReleaseRule>&);
  static bool stillPasses(const View<ReleaseRule>&, const EscrowTouched<ReleaseRule>&);
};

struct RefundRule : NamedInvariant<"ESCROW_REFUND_RULE"> {
  static constexpr std::string_view rule = "refunded only without a delivery, and declined or after deliverBy";
  using Reads = Footprint<DeliveryLog, SettleLog, CallAmount, DeclinedAt, DeliverBy>;
  static Verdict checkCall(const View<RefundRule>&, const CallView<RefundRule>&);
  static Verdict check(const View<RefundRule>&);
  static bool stillPasses(const View<RefundRule>&, const EscrowTouched<RefundRule>&);
};

struct NoOverdraft : NamedInvariant<"ESCROW_NO_OVERDRAFT"> {
  static constexpr std::string_view rule = "the balances of buyer and seller are not negative";
  using Reads = BalanceFields;
  static Verdict check(const View<NoOverdraft>&);
};

struct Conservation : NamedInvariant<"ESCROW_CONSERVATION"> {
  static constexpr std::string_view rule =
      "deposited = buyer + seller + held + paid out; per call held + settled = amount; what the seller has and had is "
      "the sum of its shares";
  using Reads = Union<MoneyFields, Footprint<CallAmount, CallHeld, SettleLog, PayLog>>::Type;
  static Verdict checkCall(const View<Conservation>&, const CallView<Conservation>&);
  static Verdict check(const View<Conservation>&);
  static bool stillPasses(const View<Conservation>&, const EscrowTouched<Conservation>&);
};

struct DisputeRuled : NamedInvariant<"ESCROW_DISPUTE_RULED"> {
  static constexpr std::string_view rule =
      "a requested ruling exists; a ruling gives the seller 0 to the charge of a disputed call";
  static constexpr InvResult onFailure = InvResult::escalate;
  using Reads = Footprint<DeliveryLog, CallAmount, CallReason, DisputedAt, RequestedAt, CallRuling>;
  static Verdict checkCall(const View<DisputeRuled>&, const CallView<DisputeRuled>&);
  static Verdict check(const View<DisputeRuled>&);
  static bool stillPasses(const View<DisputeRuled>&, const EscrowTouched<DisputeRuled>&);
};

}  // namespace witan::domains::escrow
