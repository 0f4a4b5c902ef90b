// Escrow: the processes, which are also the actions. A mutation faults where there is nothing to act on (no open
// contract, an unknown call, no delivery to release); everything else is written and left to the invariants to judge.
#pragma once

#include "domains/escrow/state.h"

namespace witan::domains::escrow {

using DeliveryReads = Footprint<DeliveryLog>;
using SettleReads = Union<BalanceFields, Footprint<CallAmount, CallHeld, CallRuling, DeliveryLog>>::Type;
using SettleWrites = Union<BalanceFields, Footprint<CallHeld, SettleLog>>::Type;

// Of the buyer.

struct OpenContract {
  static constexpr std::string_view name = "OpenContract";
  using Reads = Union<PartyFields, Footprint<OpenedAt>>::Type;
  using Writes = Union<RunTermFields, CountTermFields, Footprint<ContractDigest, ContractFlaw, OpenedAt>>::Type;
  std::string envelope;  // the contract, signed by both
  WITAN_MEMBERS(OpenContract, envelope)
  void apply(Mutator<Fields>& m, Time t) const;
};

struct Reserve {
  static constexpr std::string_view name = "Reserve";
  using Reads = Union<ReservedFields, Footprint<OpenedAt, TermsDeliverWithin, MoneyBuyer>>::Type;
  using Writes = Union<ReservedFields, Footprint<MoneyBuyer>>::Type;
  std::string call;
  std::int64_t amount = 0;
  std::string input;
  std::string order;  // digest of the signed order
  WITAN_MEMBERS(Reserve, call, amount, input, order)
  void apply(Mutator<Fields>& m, Time t) const;
};

struct Accept {
  static constexpr std::string_view name = "Accept";
  using Reads = SettleReads;
  using Writes = Union<SettleWrites, Footprint<AcceptedAt>>::Type;
  std::string call;
  WITAN_MEMBERS(Accept, call)
  void apply(Mutator<Fields>& m, Time t) const;
};

struct Dispute {
  static constexpr std::string_view name = "Dispute";
  using Reads = Footprint<CallAmount, DisputedAt>;
  using Writes = Footprint<DisputedAt, CallReason>;
  std::string call;
  std::string reason;
  WITAN_MEMBERS(Dispute, call, reason)
  void apply(Mutator<Fields>& m, Time t) const;
};

struct Reclaim {
  static constexpr std::string_view name = "Reclaim";
  using Reads = Union<BalanceFields, Footprint<CallAmount, CallHeld>>::Type;
  using Writes = SettleWrites;
  std::string call;
  WITAN_MEMBERS(Reclaim, call)
  void apply(Mutator<Fields>& m, Time t) const;
};

struct BuyerStop {
  static constexpr std::string_view name = "BuyerStop";
  using Reads = Footprint<OpenedAt, StoppedAt>;
  using Writes = Footprint<StoppedAt>;
  WITAN_NO_MEMBERS
  void apply(Mutator<Fields>& m, Time t) const;
};

// Of the seller.

struct Deliver {
  static constexpr std::string_view name = "Deliver";
  using Reads = Union<RunTermFields, DeliveryReads,
                      Footprint<ContractDigest, CallAmount, CallInput, CallOrder, ReservedAt>>::Type;
  using Writes = Footprint<DeliveryLog>;
  std::string call;
  std::string evidence;  // the statement in its envelope
  WITAN_MEMBERS(Deliver, call, evidence)
  void apply(Mutator<Fields>& m, Time t) const;
};

struct Decline {
  static constexpr std::string_view name = "Decline";
  using Reads = Footprint<CallAmount>;
  using Writes = Footprint<DeclinedAt, CallReason>;
  std::string call;
  std::string reason;
  WITAN_MEMBERS(Decline, call, reason)
  void apply(Mutator<Fields>& m, Time t) const;
};

struct Claim {
  static constexpr std::string_view name = "Claim";
  using Reads = SettleReads;
  using Writes = SettleWrites;
  std::string call;
  WITAN_MEMBERS(Claim, call)
  void apply(Mutator<Fields>& m, Time t) const;
};

struct SellerStop {
  static constexpr std::string_view name = "SellerStop";
  using Reads = Footprint<OpenedAt, StoppedAt>;
  using Writes = Footprint<StoppedAt>;
  WITAN_NO_MEMBERS
  void apply(Mutator<Fields>& m, Time t) const;
};

// Of the holder.

struct Deposit {
  static constexpr std::string_view name = "Deposit";
  using Reads = Footprint<OpenedAt, Deposited, MoneyBuyer, PayLog>;
  using Writes = Footprint<Deposited, MoneyBuyer, PayLog>;
  std::string reference;  // of the payment outside
  std::int64_t amount = 0;
  WITAN_MEMBERS(Deposit, reference, amount)
  void apply(Mutator<Fields>& m, Time t) const;
};

struct PayOut {
  static constexpr std::string_view name = "PayOut";
  using Reads = Union<BalanceFields, Footprint<OpenedAt, PaidBuyer, PaidSeller, PayLog>>::Type;
  using Writes = Union<BalanceFields, Footprint<PaidBuyer, PaidSeller, PayLog>>::Type;
  std::string reference;
  std::string party;
  std::int64_t amount = 0;
  WITAN_MEMBERS(PayOut, reference, party, amount)
  void apply(Mutator<Fields>& m, Time t) const;
};

struct Settle {
  static constexpr std::string_view name = "Settle";
  using Reads = SettleReads;
  using Writes = SettleWrites;
  std::string call;
  WITAN_MEMBERS(Settle, call)
  void apply(Mutator<Fields>& m, Time t) const;
};

struct RequestRuling {
  static constexpr std::string_view name = "RequestRuling";
  using Reads = Footprint<CallAmount, DisputedAt>;
  using Writes = Footprint<RequestedAt>;
  std::string call;
  WITAN_MEMBERS(RequestRuling, call)
  void apply(Mutator<Fields>& m, Time t) const;
};

struct Close {
  static constexpr std::string_view name = "Close";
  using Reads = Footprint<OpenedAt, ClosedAt>;
  using Writes = Footprint<ClosedAt>;
  WITAN_NO_MEMBERS
  void apply(Mutator<Fields>& m, Time t) const;
};

// Only a counselor's commit performs it: declared for lint, not an action.
struct JudgeDispute {
  static constexpr std::string_view name = "JudgeDispute";
  using Reads = Footprint<CallAmount, DisputedAt, CallReason, RequestedAt, CallRuling, DeliveryLog>;
  using Writes = Footprint<CallRuling>;
};

struct BuyerRole : Role<"Buyer", OpenContract, Reserve, Accept, Dispute, Reclaim, BuyerStop> {};
struct SellerRole : Role<"Seller", Deliver, Decline, Claim, SellerStop> {};
struct HolderRole : Role<"Holder", Deposit, PayOut, Settle, RequestRuling, Close> {};

}  // namespace witan::domains::escrow
