#include "domains/escrow/actions.h"

#include "base/quote.h"
#include "kernel/market/evidence.h"

namespace witan::domains::escrow {

namespace {

using CallHandle = Mutator<Fields>::Row<kCalls>;

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t total = 0;
  if (__builtin_add_overflow(a, b, &total)) throw Fault{"the sum does not fit into 64 bits"};
  return total;
}
std::int64_t difference(std::int64_t a, std::int64_t b) {
  std::int64_t rest = 0;
  if (__builtin_sub_overflow(a, b, &rest)) throw Fault{"the difference does not fit into 64 bits"};
  return rest;
}

template <class F>
void add(Mutator<Fields>& m, std::int64_t amount) {
  m.set<F>(sum(m.get<F>(), amount));
}

void mustBeOpen(Mutator<Fields>& m) {
  if (!m.get<OpenedAt>()) throw Fault{"no contract is open"};
}

// A call is known when it was reserved.
CallHandle knownCall(Mutator<Fields>& m, const std::string& call) {
  auto row = m.find<kCalls>(call);
  if (!row || !row->has<CallAmount>()) throw Fault{"call " + inQuotes(call) + " is unknown"};
  return *row;
}

std::optional<Delivery> deliveryOf(Mutator<Fields>& m, const std::string& call) {
  const auto row = m.firstMatching<kDeliveries, DeliveryByCall>(call);
  return row ? row->get<DeliveryLog>() : std::nullopt;
}

void settle(Mutator<Fields>& m, const std::string& call, SettlementKind kind, std::int64_t share, Time t) {
  CallHandle row = knownCall(m, call);
  const std::int64_t amount = *row.get<CallAmount>(), rest = difference(amount, share);
  m.append<SettleLog>({call, kind, share, rest, t});
  row.set<CallHeld>(difference(row.get<CallHeld>().value_or(0), amount));
  add<MoneySeller>(m, share);
  add<MoneyBuyer>(m, rest);
}

void release(Mutator<Fields>& m, const std::string& call, Time t) {
  const CallHandle row = knownCall(m, call);
  const auto delivery = deliveryOf(m, call);
  if (!delivery) throw Fault{"call " + inQuotes(call) + " has no delivery"};
  settle(m, call, SettlementKind::release, row.get<CallRuling>().value_or(delivery->charge), t);
}

void stop(Mutator<Fields>& m, Time t) {
  mustBeOpen(m);
  if (m.get<StoppedAt>()) throw Fault{"the contract is stopped already"};
  m.set<StoppedAt>(t);
}

// What is a natural number in a document lies below 2^63.
std::int64_t number(market::Natural n) { return static_cast<std::int64_t>(n); }

void setTerms(Mutator<Fields>& m, const market::Contract& c) {
  m.set<TermsEvidenceKey>(c.seller.evidenceKey);
  m.set<TermsCapability>(c.capability);
  m.set<TermsPolicyEpoch>(c.policyEpoch);
  m.set<TermsModels>(c.models);
  m.set<TermsLocales>({c.locales.begin(), c.locales.end()});
  m.set<TermsCurrency>(c.currency);
  m.set<TermsBudget>(c.budget);
  m.set<TermsPerCall>(number(c.perCall));
  m.set<TermsTotal>(number(c.total));
  m.set<TermsCalls>(number(c.calls));
  m.set<TermsDeliverWithin>(number(c.deliverWithinSeconds));
  m.set<TermsDisputeWindow>(number(c.disputeWindowSeconds));
  m.set<TermsNotBefore>(market::timeOf(c.notBefore));
  m.set<TermsExpiry>(market::timeOf(c.expiry));
}

// What the evidence of this call must be about, as the contract and the reservation say.
market::CallFacts factsOf(Mutator<Fields>& m, const CallHandle& row, Time t) {
  const std::string& key = m.get<TermsEvidenceKey>();
  if (!market::isHex(key) || !m.get<TermsCapability>()) throw Fault{"the contract's terms are damaged"};
  market::CallFacts facts{m.get<ContractDigest>(),
                          row.get<CallOrder>().value_or(""),
                          std::string(row.key()),
                          row.get<CallInput>().value_or(""),
                          *m.get<TermsCapability>(),
                          market::Hex(key),
                          {}};
  const auto& locales = m.get<TermsLocales>();
  facts.limits = {m.get<TermsModels>(),
                  market::Word(m.get<TermsPolicyEpoch>()),
                  market::Words(locales.begin(), locales.end()),
                  m.get<TermsBudget>(),
                  static_cast<market::Natural>(std::max<std::int64_t>(0, *row.get<CallAmount>())),
                  market::momentOf(row.get<ReservedAt>().value_or(t)),
                  market::momentOf(t)};
  return facts;
}

}  // namespace

void OpenContract::apply(Mutator<Fields>& m, Time t) const {
  if (m.get<OpenedAt>()) throw Fault{"a contract is open already"};
  const market::ContractReading read = market::readContract(
      envelope, {m.get<PartyBuyer>(), m.get<PartyBuyerKey>(), m.get<PartySeller>(), m.get<PartySellerKey>()});
  m.set<ContractFlaw>(read.flaw);
  m.set<OpenedAt>(t);
  if (!read.contract) return;
  m.set<ContractDigest>(read.contract->digest);
  setTerms(m, read.contract->document);
}

void Reserve::apply(Mutator<Fields>& m, Time t) const {
  mustBeOpen(m);
  CallHandle row = m.edit<kCalls>(call);
  if (row.has<CallAmount>()) throw Fault{"call " + inQuotes(call) + " exists"};
  row.set<CallAmount>(amount).set<CallHeld>(amount).set<CallInput>(input).set<CallOrder>(order);
  row.set<ReservedAt>(t).set<DeliverBy>(after(t, m.get<TermsDeliverWithin>()));
  m.set<MoneyBuyer>(difference(m.get<MoneyBuyer>(), amount));
}

void Accept::apply(Mutator<Fields>& m, Time t) const {
  knownCall(m, call).set<AcceptedAt>(t);
  release(m, call, t);
}

void Dispute::apply(Mutator<Fields>& m, Time t) const {
  CallHandle row = knownCall(m, call);
  if (row.has<DisputedAt>()) throw Fault{"call " + inQuotes(call) + " is disputed already"};
  row.set<DisputedAt>(t).set<CallReason>(reason);
}

void Reclaim::apply(Mutator<Fields>& m, Time t) const { settle(m, call, SettlementKind::refund, 0, t); }

void BuyerStop::apply(Mutator<Fields>& m, Time t) const { stop(m, t); }

void Deliver::apply(Mutator<Fields>& m, Time t) const {
  const CallHandle row = knownCall(m, call);
  const market::EvidenceReading read = market::readEvidence(evidence, factsOf(m, row, t));
  m.append<DeliveryLog>({call, read.digest, read.flaw, number(read.charge), t});
}

void Decline::apply(Mutator<Fields>& m, Time t) const { knownCall(m, call).set<DeclinedAt>(t).set<CallReason>(reason); }

void Claim::apply(Mutator<Fields>& m, Time t) const { release(m, call, t); }

void SellerStop::apply(Mutator<Fields>& m, Time t) const { stop(m, t); }

void Deposit::apply(Mutator<Fields>& m, Time t) const {
  mustBeOpen(m);
  m.append<PayLog>({Direction::in, Party::buyer, amount, reference, t});
  add<Deposited>(m, amount);
  add<MoneyBuyer>(m, amount);
}

void PayOut::apply(Mutator<Fields>& m, Time t) const {
  mustBeOpen(m);
  const Party to = m.word<Party>(party);
  m.append<PayLog>({Direction::out, to, amount, reference, t});
  if (to == Party::buyer) {
    m.set<MoneyBuyer>(difference(m.get<MoneyBuyer>(), amount));
    add<PaidBuyer>(m, amount);
  } else {
    m.set<MoneySeller>(difference(m.get<MoneySeller>(), amount));
    add<PaidSeller>(m, amount);
  }
}

void Settle::apply(Mutator<Fields>& m, Time t) const {
  if (deliveryOf(m, call))
    release(m, call, t);
  else
    settle(m, call, SettlementKind::refund, 0, t);
}

void RequestRuling::apply(Mutator<Fields>& m, Time t) const {
  CallHandle row = knownCall(m, call);
  if (!row.has<DisputedAt>()) throw Fault{"call " + inQuotes(call) + " is not disputed"};
  row.set<RequestedAt>(t);
}

void Close::apply(Mutator<Fields>& m, Time t) const {
  mustBeOpen(m);
  if (m.get<ClosedAt>()) throw Fault{"the contract is closed already"};
  m.set<ClosedAt>(t);
}

}  // namespace witan::domains::escrow
