#include "domains/escrow/invariants.h"

#include <set>

#include "base/mutant.h"
#include "base/utf8.h"
#include "domains/vocabulary.h"

namespace witan::domains::escrow {

namespace {

std::string callNamed(std::string_view key) { return "call " + std::string(clip(key)); }

template <class I>
const Delivery* deliveryOf(const View<I>& s, const std::string& call) {
  const auto rows = s.template matching<kDeliveries, DeliveryByCall>(call);
  return rows.empty() ? nullptr : &*rows.front().template get<DeliveryLog>();
}
template <class I>
const Delivery* deliveryOf(const View<I>& s, const CallView<I>& row) {
  return deliveryOf(s, std::string(row.key()));
}

template <class I>
auto settlementsOf(const View<I>& s, const CallView<I>& row) {
  return s.template matching<kSettlements, SettlementByCall>(std::string(row.key()));
}

template <class I>
Verdict everyCall(const View<I>& s) {
  return firstFailing(s.template rows<kCalls>(), [&](auto row) { return I::checkCall(s, row); });
}

// Whether the calls that the candidate touched pass, in their own row or in one of the logs.
template <class I>
bool touchedCallsPass(const View<I>& s, const EscrowTouched<I>& touched) {
  for (auto row : touched.template rows<kCalls>())
    if (row.visible() && !I::checkCall(s, row).passed()) return false;
  const auto ofLog = [&](const std::string& call) {
    const auto row = s.template row<kCalls>(call);
    return !row || I::checkCall(s, *row).passed();
  };
  bool pass = !touched.scalars();
  if constexpr (contains<DeliveryLog, typename I::Reads>)
    for (auto row : touched.template rows<kDeliveries>())
      // A fact that is gone may have carried others.
      pass = pass && !touched.template existedBefore<DeliveryLog>(row) && row.template has<DeliveryLog>() &&
             ofLog(row.template get<DeliveryLog>()->call);
  if constexpr (contains<SettleLog, typename I::Reads>)
    for (auto row : touched.template rows<kSettlements>())
      pass = pass && !touched.template existedBefore<SettleLog>(row) && row.template has<SettleLog>() &&
             ofLog(row.template get<SettleLog>()->call);
  return pass;
}

__extension__ using Wide = __int128;  // sums of 64-bit numbers always fit

}  // namespace

Verdict ContractSigned::check(const View<ContractSigned>& s) {
  if (s.get<ContractFlaw>().empty()) return Verdict::pass();
  return Verdict::reject("the contract is not signed by both: " + std::string(clip(s.get<ContractFlaw>())));
}

// ---- phase

namespace {

bool isOver(const View<Phase>& s, Time at) {
  return (s.get<StoppedAt>() && at >= *s.get<StoppedAt>()) || (s.get<ClosedAt>() && at >= *s.get<ClosedAt>());
}

Verdict checkPhaseCall(const View<Phase>& s, const CallView<Phase>& row) {
  if (row.get<ReservedAt>() && isOver(s, *row.get<ReservedAt>()))
    return Verdict::reject(callNamed(row.key()) + " was reserved after the end");
  if (s.get<ClosedAt>() && row.get<CallHeld>().value_or(0) != 0) return Verdict::reject("closed with money held");
  return Verdict::pass();
}

Verdict checkPhasePayment(const View<Phase>& s, const RowView<Phase, kPayments>& row) {
  const Payment& p = *row.get<PayLog>();
  if (p.direction == Direction::in && isOver(s, p.at))
    return Verdict::reject("deposit " + std::string(clip(p.reference)) + " came after the end");
  return Verdict::pass();
}

}  // namespace

Verdict Phase::check(const View<Phase>& s) {
  const auto& stop = s.get<StoppedAt>();
  const auto& close = s.get<ClosedAt>();
  if (!stop && !close) return Verdict::pass();
  Verdict calls = firstFailing(s.rows<kCalls>(), [&](auto row) { return checkPhaseCall(s, row); });
  if (!calls.passed()) return calls;
  Verdict payments = firstFailing(s.rows<kPayments>(), [&](auto row) { return checkPhasePayment(s, row); });
  if (!payments.passed()) return payments;
  if (close && !(stop && *stop <= *close) && *close < s.get<TermsExpiry>())
    return Verdict::reject("closed before its end");
  return Verdict::pass();
}

bool Phase::stillPasses(const View<Phase>& s, const EscrowTouched<Phase>& touched) {
  if (touched.scalars()) return false;
  return noneOf(touched.rows<kCalls>(), [&](auto row) { return !checkPhaseCall(s, row).passed(); }) &&
         noneOf(touched.rows<kPayments>(),
                [&](auto row) { return row.template has<PayLog>() && !checkPhasePayment(s, row).passed(); });
}

// ---- payments

namespace {

Verdict checkPayment(const View<PaymentOnce>& s, const RowView<PaymentOnce, kPayments>& row) {
  const Payment& p = *row.get<PayLog>();
  if (p.reference.empty()) return Verdict::reject("a payment has no reference");
  if (s.matching<kPayments, PaymentByReference>(p.reference).front().slot() != row.slot())
    return Verdict::reject("payment " + std::string(clip(p.reference)) + " stands twice");
  if (p.amount < 1) return Verdict::reject("payment " + std::string(clip(p.reference)) + " of nothing");
  return Verdict::pass();
}

}  // namespace

Verdict PaymentOnce::check(const View<PaymentOnce>& s) {
  return firstFailing(s.rows<kPayments>(), [&](auto row) { return checkPayment(s, row); });
}

bool PaymentOnce::stillPasses(const View<PaymentOnce>& s, const EscrowTouched<PaymentOnce>& touched) {
  return noneOf(touched.rows<kPayments>(), [&](auto row) {
    return touched.template existedBefore<PayLog>(row) || !checkPayment(s, row).passed();
  });
}

// ---- terms

namespace {

Verdict checkTermsCall(const View<Terms>& s, const CallView<Terms>& row) {
  const std::int64_t amount = row.get<CallAmount>().value_or(0);
  if (amount < 1 || amount > s.get<TermsPerCall>())
    return Verdict::reject(callNamed(row.key()) + ": " + std::to_string(amount) + " of at most " +
                           std::to_string(s.get<TermsPerCall>()));
  const auto& at = row.get<ReservedAt>();
  if (!at || *at < s.get<TermsNotBefore>() || *at >= s.get<TermsExpiry>())
    return Verdict::reject(callNamed(row.key()) + " lies outside of the contract's time");
  if (!market::isHex(row.get<CallInput>().value_or("")) || !market::isHex(row.get<CallOrder>().value_or("")))
    return Verdict::reject(callNamed(row.key()) + ": input or order is no digest");
  return Verdict::pass();
}

Verdict checkDeposited(const View<Terms>& s) {
  if (s.get<Deposited>() <= s.get<TermsTotal>()) return Verdict::pass();
  return Verdict::reject("more than " + std::to_string(s.get<TermsTotal>()) + " deposited");
}

}  // namespace

Verdict Terms::check(const View<Terms>& s) {
  if (!s.get<OpenedAt>()) return Verdict::pass();
  std::int64_t calls = 0;
  for (auto row : s.rows<kCalls>()) calls += row.visible() ? 1 : 0;
  if (calls > s.get<TermsCalls>())
    return Verdict::reject("more than " + std::to_string(s.get<TermsCalls>()) + " calls");
  if (Verdict verdict = checkDeposited(s); !verdict.passed()) return verdict;
  return firstFailing(s.rows<kCalls>(), [&](auto row) { return checkTermsCall(s, row); });
}

bool Terms::stillPasses(const View<Terms>& s, const EscrowTouched<Terms>& touched) {
  if (touched.wrote<OpenedAt>() || touched.wrote<TermsCalls>() || touched.wrote<TermsTotal>() ||
      touched.wrote<TermsPerCall>() || touched.wrote<TermsNotBefore>() || touched.wrote<TermsExpiry>())
    return false;
  if (!s.get<OpenedAt>()) return true;
  const auto rows = touched.rows<kCalls>();
  if (!rows.empty() && static_cast<std::int64_t>(touched.rowsAtMost<kCalls>()) > s.get<TermsCalls>()) return false;
  return checkDeposited(s).passed() && noneOf(rows, [&](auto row) { return !checkTermsCall(s, row).passed(); });
}

// ---- deliveries

Verdict EvidenceValid::checkRow(const View<EvidenceValid>&, const RowView<EvidenceValid, table>& row) {
  const Delivery& d = *row.get<DeliveryLog>();
  if (d.flaw.empty()) return Verdict::pass();
  return Verdict::reject(callNamed(d.call) + ": the evidence fails " + std::string(clip(d.flaw)));
}

namespace {

Verdict checkDelivery(const View<DeliveredOnce>& s, const RowView<DeliveredOnce, kDeliveries>& row) {
  const Delivery& d = *row.get<DeliveryLog>();
  if (s.matching<kDeliveries, DeliveryByCall>(d.call).front().slot() != row.slot())
    return Verdict::reject(callNamed(d.call) + " is delivered twice");
  if (s.matching<kDeliveries, DeliveryByDigest>(d.digest).front().slot() != row.slot())
    return Verdict::reject(callNamed(d.call) + " is delivered with the evidence of another");
  const auto call = s.row<kCalls>(d.call);
  if (call && call->has<DeclinedAt>()) return Verdict::reject(callNamed(d.call) + " is declined");
  return Verdict::pass();
}

}  // namespace

Verdict DeliveredOnce::check(const View<DeliveredOnce>& s) {
  return firstFailing(s.rows<kDeliveries>(), [&](auto row) { return checkDelivery(s, row); });
}

bool DeliveredOnce::stillPasses(const View<DeliveredOnce>& s, const EscrowTouched<DeliveredOnce>& touched) {
  return noneOf(touched.rows<kDeliveries>(),
                [&](auto row) {
                  return touched.template existedBefore<DeliveryLog>(row) || !checkDelivery(s, row).passed();
                }) &&
         noneOf(touched.rows<kCalls>(), [&](auto row) {
           return row.template has<DeclinedAt>() && deliveryOf(s, std::string(row.key())) != nullptr;
         });
}

// ---- settlements

Verdict SettledOnce::checkRow(const View<SettledOnce>& s, const RowView<SettledOnce, table>& row) {
  const std::string& call = row.get<SettleLog>()->call;
  if (s.matching<kSettlements, SettlementByCall>(call).front().slot() == row.slot()) return Verdict::pass();
  return Verdict::reject(callNamed(call) + " is settled twice");
}

Verdict InTime::checkCall(const View<InTime>& s, const CallView<InTime>& row) {
  const auto before = [&] { return Verdict::reject(callNamed(row.key()) + " was settled before"); };
  const auto settlements = settlementsOf(s, row);
  const auto settledBefore = [&](Time at) {
    return !settlements.empty() && settlements.back().template get<SettleLog>()->at < at;
  };
  for (const auto& each : s.matching<kDeliveries, DeliveryByCall>(std::string(row.key()))) {
    const Time at = each.template get<DeliveryLog>()->at;
    if (row.get<DeliverBy>() && at > *row.get<DeliverBy>())
      return Verdict::reject(callNamed(row.key()) + " was delivered late");
    if (settledBefore(at)) return before();
  }
  if (const auto& disputed = row.get<DisputedAt>()) {
    const Delivery* d = deliveryOf(s, row);
    if (d == nullptr || *disputed < d->at || *disputed >= after(d->at, s.get<TermsDisputeWindow>()))
      return Verdict::reject(callNamed(row.key()) + ": a dispute has its window after the delivery");
    for (const auto& each : settlements) {
      const Time at = each.template get<SettleLog>()->at;
      if (at < *disputed || (at == *disputed && !row.has<AcceptedAt>())) return before();
    }
  }
  if (row.get<DeclinedAt>() && settledBefore(*row.get<DeclinedAt>())) return before();
  return Verdict::pass();
}
Verdict InTime::check(const View<InTime>& s) { return everyCall(s); }
bool InTime::stillPasses(const View<InTime>& s, const EscrowTouched<InTime>& t) { return touchedCallsPass(s, t); }

Verdict ReleaseRule::checkCall(const View<ReleaseRule>& s, const CallView<ReleaseRule>& row) {
  const Delivery* d = deliveryOf(s, row);
  for (const auto& each : settlementsOf(s, row)) {
    const Settlement& x = *each.template get<SettleLog>();
    if (x.kind != SettlementKind::release) continue;
    if (d == nullptr || d->at > x.at) return Verdict::reject(callNamed(row.key()) + ": released without evidence");
    const auto& ruling = row.get<CallRuling>();
    const bool accepted = row.get<AcceptedAt>() == x.at;
    const auto& disputed = row.get<DisputedAt>();
    const bool early = disputed && *disputed < after(d->at, s.get<TermsDisputeWindow>() / 4 * 3);
    const bool undisputed = !(mutated("payLateDispute") ? early : disputed.has_value()) &&
                            x.at >= after(d->at, s.get<TermsDisputeWindow>());
    if (ruling ? x.seller != *ruling : x.seller != d->charge || !(accepted || undisputed))
      return Verdict::reject(callNamed(row.key()) + ": not accepted, not ruled, and not beyond the dispute window");
  }
  return Verdict::pass();
}
Verdict ReleaseRule::check(const View<ReleaseRule>& s) { return everyCall(s); }
bool ReleaseRule::stillPasses(const View<ReleaseRule>& s, const EscrowTouched<ReleaseRule>& t) {
  return touchedCallsPass(s, t);
}

Verdict RefundRule::checkCall(const View<RefundRule>& s, const CallView<RefundRule>& row) {
  for (const auto& each : settlementsOf(s, row)) {
    const Settlement& x = *each.template get<SettleLog>();
    if (x.kind != SettlementKind::refund) continue;
    if (deliveryOf(s, row) != nullptr) return Verdict::reject(callNamed(row.key()) + " was delivered");
    if (!row.has<DeclinedAt>() && row.get<DeliverBy>() && x.at <= *row.get<DeliverBy>())
      return Verdict::reject(callNamed(row.key()) + " may still be delivered");
  }
  return Verdict::pass();
}
Verdict RefundRule::check(const View<RefundRule>& s) { return everyCall(s); }
bool RefundRule::stillPasses(const View<RefundRule>& s, const EscrowTouched<RefundRule>& t) {
  return touchedCallsPass(s, t);
}

// ---- money

Verdict NoOverdraft::check(const View<NoOverdraft>& s) {
  if (s.get<MoneyBuyer>() < 0)
    return Verdict::reject("the buyer's balance would be " + std::to_string(s.get<MoneyBuyer>()));
  if (s.get<MoneySeller>() < 0)
    return Verdict::reject("the seller's balance would be " + std::to_string(s.get<MoneySeller>()));
  return Verdict::pass();
}

Verdict Conservation::checkCall(const View<Conservation>& s, const CallView<Conservation>& row) {
  Wide held = row.get<CallHeld>().value_or(0);
  for (const auto& each : settlementsOf(s, row)) {
    const Settlement& x = *each.template get<SettleLog>();
    held += Wide{x.seller} + x.buyer;
  }
  if (held == row.get<CallAmount>().value_or(0)) return Verdict::pass();
  return Verdict::reject(callNamed(row.key()) + ": held and settled are not what was reserved");
}

namespace {

// What the tables sum up to, or by how much a candidate has changed that.
struct Sums {
  Wide got = 0, held = 0, share = 0;
};
// The same of the balances.
struct Balances {
  Wide deposited = 0, all = 0, seller = 0;
};

Verdict balanced(const Sums& sums, const Balances& b) {
  if (sums.got != b.deposited || b.deposited != b.all + sums.held)
    return Verdict::reject("money came from nowhere or went there");
  if (sums.share != b.seller) return Verdict::reject("the seller has not what was released");
  return Verdict::pass();
}

Wide gotBy(const Cell<Payment>& p) { return p && p->direction == Direction::in ? p->amount : 0; }
Wide shareOf(const Cell<Settlement>& x) { return x ? x->seller : 0; }

}  // namespace

Verdict Conservation::check(const View<Conservation>& s) {
  if (Verdict calls = everyCall(s); !calls.passed()) return calls;
  Sums sums;
  for (auto row : s.rows<kPayments>()) sums.got += gotBy(row.get<PayLog>());
  for (auto row : s.rows<kCalls>()) sums.held += row.get<CallHeld>().value_or(0);
  for (auto row : s.rows<kSettlements>()) sums.share += shareOf(row.get<SettleLog>());
  return balanced(sums, {s.get<Deposited>(),
                         Wide{s.get<MoneyBuyer>()} + s.get<MoneySeller>() + s.get<PaidBuyer>() + s.get<PaidSeller>(),
                         Wide{s.get<MoneySeller>()} + s.get<PaidSeller>()});
}

// It was balanced: so it is if the changes are.
bool Conservation::stillPasses(const View<Conservation>& s, const EscrowTouched<Conservation>& t) {
  Sums sums;
  for (auto row : t.rows<kPayments>()) sums.got += gotBy(row.get<PayLog>()) - gotBy(t.before<PayLog>(row));
  for (auto row : t.rows<kCalls>()) {
    sums.held += Wide{row.get<CallHeld>().value_or(0)} - t.before<CallHeld>(row).value_or(0);
    if (!checkCall(s, row).passed()) return false;
  }
  for (auto row : t.rows<kSettlements>()) {
    sums.share += shareOf(row.get<SettleLog>()) - shareOf(t.before<SettleLog>(row));
    if (t.existedBefore<SettleLog>(row) || !row.has<SettleLog>()) return false;
    const auto call = s.row<kCalls>(row.get<SettleLog>()->call);
    if (call && !checkCall(s, *call).passed()) return false;
  }
  const auto change = [&]<class F>() { return Wide{s.get<F>()} - t.template before<F>(); };
  const Wide buyer = change.operator()<MoneyBuyer>(), seller = change.operator()<MoneySeller>();
  const Wide paidBuyer = change.operator()<PaidBuyer>(), paidSeller = change.operator()<PaidSeller>();
  return balanced(sums, {change.operator()<Deposited>(), buyer + seller + paidBuyer + paidSeller, seller + paidSeller})
      .passed();
}

// ---- disputes

Verdict DisputeRuled::checkCall(const View<DisputeRuled>& s, const CallView<DisputeRuled>& row) {
  const auto& ruling = row.get<CallRuling>();
  if (row.has<RequestedAt>() && !ruling)
    return Verdict::escalate("a human rules on the dispute of " + callNamed(row.key()) + ": " +
                             std::string(clip(row.get<CallReason>().value_or(""), 256)));
  if (!ruling) return Verdict::pass();
  const Delivery* d = deliveryOf(s, row);
  if (row.has<DisputedAt>() && d != nullptr && 0 <= *ruling && *ruling <= d->charge) return Verdict::pass();
  return Verdict::escalate(callNamed(row.key()) + ": a ruling gives the seller 0 to the charge of a disputed call");
}
Verdict DisputeRuled::check(const View<DisputeRuled>& s) { return everyCall(s); }
bool DisputeRuled::stillPasses(const View<DisputeRuled>& s, const EscrowTouched<DisputeRuled>& t) {
  return touchedCallsPass(s, t);
}

}  // namespace witan::domains::escrow
