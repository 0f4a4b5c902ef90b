// Escrow, assembled: a buyer and a seller of two organisations, and a third that holds the money. Settlement is one
// entry in the holder's ledger; Claim, Reclaim and Settle need nobody's goodwill (docs/market.md).
//
// RequestRuling stands apart from Dispute: a counselor's candidate is made again at decision time, so a disputedAt
// inside it would leave its window. What the two keep to is in the signed contract, not in a policy.
#pragma once

#include "base/seams.h"
#include "domains/escrow/actions.h"
#include "domains/escrow/invariants.h"
#include "kernel/domain_module.h"

namespace witan::domains::escrow {

struct Escrow {
  static constexpr std::string_view name = "escrow";
  static constexpr std::string_view title =
      "Escrow: one contract between two organisations, its money, calls and evidence";
  using Fields = escrow::Fields;
  using Roles = RoleList<BuyerRole, SellerRole, HolderRole>;
  using CounselorProcesses = ProcessList<JudgeDispute>;
  using FieldsOfBeginning = PartyFields;
  using Invariants = InvariantList<ContractSigned, Phase, PaymentOnce, Terms, EvidenceValid, DeliveredOnce, SettledOnce,
                                   InTime, ReleaseRule, RefundRule, NoOverdraft, Conservation, DisputeRuled>;

  static std::vector<std::string> counselors() { return {"human.arbiter"}; }

  using AnyAction = AnyActionOf<Roles>;
  static AnyAction sample(const State&, Random&, Time);
  static std::string sampleInit(Random&, Time at);
  // The human's part: a ruling.
  static std::string sampleEdit(const State&, const AnyAction&, std::string_view counselor, Random&, Time);
};

// How one call stands, and the whole escrow, as its holder looks at it.
struct CallStanding {
  std::string call;
  std::string_view state;  // as in viewOf
  std::string order, input;
  std::int64_t amount = 0;
  std::optional<Time> settleAt;  // from when on Settle is lawful as far as it is known; none: it is settled
  std::string evidence;          // digest of the statement that was delivered; empty: none
  std::int64_t charge = 0;       // as delivered
  std::int64_t share = 0;        // the seller's, once it is settled
};
struct EscrowStanding {
  std::string buyer, seller;
  std::vector<CallStanding> calls;
  std::string contract;  // digest of the one that was opened; empty: none
};
// `call`: that one alone, if it exists; empty: all. Requires: an entity of this domain.
EscrowStanding standingOf(const EntityState& entity, std::string_view call = {});

// {phase, deposited, buyer, seller, held, paidBuyer, paidSeller, calls {id: state}}. Requires: an entity of this
// domain.
json::object viewOf(const EntityState& entity);

}  // namespace witan::domains::escrow
