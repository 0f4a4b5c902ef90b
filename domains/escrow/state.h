// Escrow: policy, state and fields. The entity is one contract, so that a dispute freezes nothing else.
//
// Columns of one call share its row; what happens to money and deliveries is in three logs, with its time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/domain.h"
#include "kernel/market/documents.h"

namespace witan::domains::escrow {

using namespace kernel;

WITAN_ENUM(SettlementKind, release, refund)
WITAN_ENUM(Direction, in, out)
WITAN_ENUM(Party, buyer, seller)

// Everything is in the contracts.
struct Policy {
  static constexpr std::size_t required = 0;
  WITAN_NO_MEMBERS
};

struct CallRow {
  Cell<std::int64_t> amount, held, ruling;
  Cell<Time> reservedAt, deliverBy, acceptedAt, declinedAt, disputedAt, requestedAt;
  Cell<std::string> input, order, reason;
};

struct Delivery {
  std::string call, digest, flaw;
  std::int64_t charge = 0;
  Time at;
  WITAN_MEMBERS(Delivery, call, digest, flaw, charge, at)
};

struct Settlement {
  std::string call;
  SettlementKind kind = SettlementKind::release;
  std::int64_t seller = 0, buyer = 0;
  Time at;
  WITAN_MEMBERS(Settlement, call, kind, seller, buyer, at)
};

struct Payment {
  Direction direction = Direction::in;
  Party party = Party::buyer;
  std::int64_t amount = 0;
  std::string reference;
  Time at;
  WITAN_MEMBERS(Payment, direction, party, amount, reference, at)
};

struct DeliveryRow {
  Cell<Delivery> fact;
};
struct SettlementRow {
  Cell<Settlement> fact;
};
struct PaymentRow {
  Cell<Payment> fact;
};

using DeliveryByCall = HashIndex<Key<&DeliveryRow::fact, &Delivery::call>>;
using DeliveryByDigest = HashIndex<Key<&DeliveryRow::fact, &Delivery::digest>>;
using SettlementByCall = HashIndex<Key<&SettlementRow::fact, &Settlement::call>>;
using PaymentByReference = HashIndex<Key<&PaymentRow::fact, &Payment::reference>>;

struct State {
  using Policy = escrow::Policy;
  std::string buyer, buyerKey, seller, sellerKey;
  std::string digest, flaw;  // of the contract; a flaw never stands
  std::optional<Time> openedAt, stoppedAt, closedAt;
  // Terms: as in the contract, once it is open.
  std::string evidenceKey, policyEpoch, currency;
  std::optional<market::Capability> capability;
  std::vector<market::Model> models;
  std::vector<std::string> locales;
  market::Budget budget;
  std::int64_t perCall = 0, total = 0, calls = 0, deliverWithin = 0, disputeWindow = 0;
  Time notBefore, expiry;
  std::int64_t deposited = 0, buyers = 0, sellers = 0, paidBuyer = 0, paidSeller = 0;
  Table<CallRow> call;
  Table<DeliveryRow, DeliveryByCall, DeliveryByDigest> deliveries;
  Table<SettlementRow, SettlementByCall> settlements;
  Table<PaymentRow, PaymentByReference> payments;
};

inline constexpr auto kCalls = &State::call;
inline constexpr auto kDeliveries = &State::deliveries;
inline constexpr auto kSettlements = &State::settlements;
inline constexpr auto kPayments = &State::payments;

struct PartyBuyer : Scalar<"party.buyer", &State::buyer> {};
struct PartyBuyerKey : Scalar<"party.buyerKey", &State::buyerKey> {};
struct PartySeller : Scalar<"party.seller", &State::seller> {};
struct PartySellerKey : Scalar<"party.sellerKey", &State::sellerKey> {};
struct ContractDigest : Scalar<"contract.digest", &State::digest> {};
struct ContractFlaw : Scalar<"contract.flaw", &State::flaw> {};
struct OpenedAt : Scalar<"contract.openedAt", &State::openedAt> {
  static constexpr bool lifecycle = true;
};
struct StoppedAt : Scalar<"contract.stoppedAt", &State::stoppedAt> {
  static constexpr bool lifecycle = true;
};
struct ClosedAt : Scalar<"contract.closedAt", &State::closedAt> {
  static constexpr bool lifecycle = true;
};
struct TermsEvidenceKey : Scalar<"terms.evidenceKey", &State::evidenceKey> {};
struct TermsCapability : Scalar<"terms.capability", &State::capability> {};
struct TermsPolicyEpoch : Scalar<"terms.policyEpoch", &State::policyEpoch> {};
struct TermsModels : Scalar<"terms.models", &State::models> {};
struct TermsLocales : Scalar<"terms.locales", &State::locales> {};
struct TermsCurrency : Scalar<"terms.currency", &State::currency> {};
struct TermsBudget : Scalar<"terms.budget", &State::budget> {};
struct TermsPerCall : Scalar<"terms.perCall", &State::perCall> {};
struct TermsTotal : Scalar<"terms.total", &State::total> {};
struct TermsCalls : Scalar<"terms.calls", &State::calls> {};
struct TermsDeliverWithin : Scalar<"terms.deliverWithinSeconds", &State::deliverWithin> {};
struct TermsDisputeWindow : Scalar<"terms.disputeWindowSeconds", &State::disputeWindow> {};
struct TermsNotBefore : Scalar<"terms.notBefore", &State::notBefore> {};
struct TermsExpiry : Scalar<"terms.expiry", &State::expiry> {};
struct Deposited : Scalar<"money.deposited", &State::deposited> {};
struct MoneyBuyer : Scalar<"money.buyer", &State::buyers> {};
struct MoneySeller : Scalar<"money.seller", &State::sellers> {};
struct PaidBuyer : Scalar<"money.paidBuyer", &State::paidBuyer> {};
struct PaidSeller : Scalar<"money.paidSeller", &State::paidSeller> {};
struct CallAmount : Column<"call.amount", kCalls, &CallRow::amount> {};
struct CallHeld : Column<"call.held", kCalls, &CallRow::held> {};
struct CallInput : Column<"call.input", kCalls, &CallRow::input> {};
struct CallOrder : Column<"call.order", kCalls, &CallRow::order> {};
struct ReservedAt : Column<"call.reservedAt", kCalls, &CallRow::reservedAt> {};
struct DeliverBy : Column<"call.deliverBy", kCalls, &CallRow::deliverBy> {};
struct AcceptedAt : Column<"call.acceptedAt", kCalls, &CallRow::acceptedAt> {};
struct DeclinedAt : Column<"call.declinedAt", kCalls, &CallRow::declinedAt> {};
struct DisputedAt : Column<"call.disputedAt", kCalls, &CallRow::disputedAt> {};
struct CallReason : Column<"call.reason", kCalls, &CallRow::reason> {};
struct RequestedAt : Column<"call.requestedAt", kCalls, &CallRow::requestedAt> {};
struct CallRuling : Column<"call.ruling", kCalls, &CallRow::ruling> {};
struct DeliveryLog : LogColumn<"delivery.log", kDeliveries, &DeliveryRow::fact> {};
struct SettleLog : LogColumn<"settle.log", kSettlements, &SettlementRow::fact> {};
struct PayLog : LogColumn<"pay.log", kPayments, &PaymentRow::fact> {};

using Fields =
    FieldList<PartyBuyer, PartyBuyerKey, PartySeller, PartySellerKey, ContractDigest, ContractFlaw, OpenedAt, StoppedAt,
              ClosedAt, TermsEvidenceKey, TermsCapability, TermsPolicyEpoch, TermsModels, TermsLocales, TermsCurrency,
              TermsBudget, TermsPerCall, TermsTotal, TermsCalls, TermsDeliverWithin, TermsDisputeWindow, TermsNotBefore,
              TermsExpiry, Deposited, MoneyBuyer, MoneySeller, PaidBuyer, PaidSeller, CallAmount, CallHeld, CallInput,
              CallOrder, ReservedAt, DeliverBy, AcceptedAt, DeclinedAt, DisputedAt, CallReason, RequestedAt, CallRuling,
              DeliveryLog, SettleLog, PayLog>;

using PartyFields = Footprint<PartyBuyer, PartyBuyerKey, PartySeller, PartySellerKey>;
using RunTermFields =
    Footprint<TermsEvidenceKey, TermsCapability, TermsPolicyEpoch, TermsModels, TermsLocales, TermsBudget>;
using CountTermFields = Footprint<TermsCurrency, TermsPerCall, TermsTotal, TermsCalls, TermsDeliverWithin,
                                  TermsDisputeWindow, TermsNotBefore, TermsExpiry>;
using BalanceFields = Footprint<MoneyBuyer, MoneySeller>;
using MoneyFields = Footprint<Deposited, MoneyBuyer, MoneySeller, PaidBuyer, PaidSeller>;
using ReservedFields = Footprint<CallAmount, CallHeld, CallInput, CallOrder, ReservedAt, DeliverBy>;

// `seconds` after `time`, at most the last time that there is.
inline Time after(Time time, std::int64_t seconds) {
  const std::int64_t most = (kLastTime.micros - time.micros) / kMicrosPerSecond;
  return seconds > most ? kLastTime : Time{time.micros + seconds * kMicrosPerSecond};
}

}  // namespace witan::domains::escrow
