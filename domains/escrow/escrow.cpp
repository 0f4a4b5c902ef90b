// The domain itself, and the workload of property tests, lint and simulator: plausible proposals, lawful and unlawful,
// for the state at hand, signed with keys that everybody knows.
#include "domains/escrow/escrow.h"

#include <array>

#include "base/quote.h"
#include "domains/registry.h"
#include "domains/vocabulary.h"
#include "kernel/market/evidence.h"
#include "kernel/record/signed_note.h"
#include "kernel/typed_module.h"

namespace witan::domains::escrow {

namespace {

using market::Hex;
using market::Moment;

SigningKey sampleKey(std::string_view name) {
  return SigningKey::fromSeed(asView(sha256(concat("witan sample ", name)))).value();
}
Hex hexOf(const SigningKey& key) { return Hex(toHex(key.publicKey())); }
Hex sampleDigest(std::string_view of) { return Hex(toHex(sha256(of))); }

// The organisations, keys and the one contract of all samples.
struct Sample {
  SigningKey buyer = sampleKey("buyer"), seller = sampleKey("seller"), evidence = sampleKey("evidence");
  market::Contract contract;
  std::string envelope, digest;

  Sample() {
    market::Contract& c = contract;
    c.id = "K";
    c.offer = sampleDigest("offer");
    c.buyer = {"clinic", hexOf(buyer)};
    const auto log = kernel::makeNoteVerifier("witan/lab", sampleKey("log").publicKey());
    c.seller = {"lab", hexOf(seller), hexOf(evidence), market::Word(kernel::verifierKeyText(*log))};
    c.escrow = "notary";
    c.capability = {"lab.summarise", 3, sampleDigest("graph")};
    c.policyEpoch = "epoch-5";
    c.models = {{"summariser", sampleDigest("model")}};
    c.locales = {"eu"};
    c.currency = "EUR.cent";
    c.perCall = 400;
    c.budget = {10, 2000, 600};
    c.total = 2000;
    c.calls = 6;
    const std::int64_t start = kSampleStart.micros / kMicrosPerSecond;
    constexpr std::int64_t day = 86'400;
    c.signedAt = c.notBefore = Moment{start - 100 * day};
    c.expiry = Moment{start + 1'000 * day};
    c.deliverWithinSeconds = 2 * day;
    c.disputeWindowSeconds = day;
    const std::array keys{buyer, seller};
    envelope = market::sealedDocument(c, keys);
    digest = toHex(sha256(toJson(c)));
  }
};
const Sample& theSample() {
  static const Sample sample;
  return sample;
}

std::string callId(Random& random) { return "C" + std::to_string(1 + random.below(4)); }

std::string sampleEvidence(const State& s, const std::string& call, Random& random, Time at) {
  const Sample& sample = theSample();
  market::Statement statement;
  market::Predicate& p = statement.predicate;
  const Slot slot = s.call.find(call);
  const CallRow row = slot == kNoSlot ? CallRow{} : s.call.row(slot);
  p.contract = Hex(sample.digest);
  p.order = row.order && market::isHex(*row.order) ? Hex(*row.order) : sampleDigest("none");
  p.call = random.below(15) == 0 ? callId(random) : call;
  p.run = sampleDigest("run" + call);
  p.capability = sample.contract.capability;
  p.input = row.input && market::isHex(*row.input) ? Hex(*row.input) : sampleDigest("none");
  p.policyEpoch = sample.contract.policyEpoch;
  p.models = sample.contract.models;
  p.locales = random.below(20) == 0 ? market::Words{"us"} : sample.contract.locales;
  p.usage = {3, 900, 40};
  p.charge = pick<market::Natural, 4>(random, {0, 50, 100, 300});
  p.startedAt = p.endedAt = market::momentOf(at);
  p.transcript = {sampleDigest("transcript"), 6};
  statement.subject.push_back({{}, {sampleDigest("output")}});
  return market::sealedDocument(statement, {random.below(15) == 0 ? &sample.buyer : &sample.evidence, 1});
}

Reserve sampleReserve(Random& random) {
  Reserve reserve{callId(random), pick<std::int64_t, 5>(random, {100, 300, 400, 401, 0}), "", ""};
  reserve.input = sampleDigest("input");
  reserve.order = random.below(20) == 0 ? "no digest" : std::string(sampleDigest("order" + reserve.call));
  return reserve;
}

PayOut samplePayOut(Random& random) {
  return {"out-" + std::to_string(random.below(40)), pick<const char*, 3>(random, {"buyer", "seller", "seller"}),
          pick<std::int64_t, 3>(random, {10, 100, 300})};
}

}  // namespace

Escrow::AnyAction Escrow::sample(const State& s, Random& random, Time at) {
  if (!s.openedAt && random.below(3) != 0) return OpenContract{random.below(10) == 0 ? "{}" : theSample().envelope};
  const std::string call = callId(random);
  // Before the contract each alike, so that refusals are seen too; then as they come in a life.
  const std::uint64_t draw =
      s.openedAt ? random.below(100)
                 : pick<std::uint64_t, 14>(random, {0, 14, 32, 50, 58, 66, 71, 75, 80, 86, 91, 97, 98, 99});
  if (draw < 14)
    return Deposit{"pay-" + std::to_string(random.below(40)), pick<std::int64_t, 3>(random, {400, 1000, 0})};
  if (draw < 32) return sampleReserve(random);
  if (draw < 50) return Deliver{call, sampleEvidence(s, call, random, at)};
  if (draw < 58) return Accept{call};
  if (draw < 66) return Dispute{call, "of another patient"};
  if (draw < 71) return Claim{call};
  if (draw < 75) return Decline{call, "no capacity"};
  if (draw < 80) return Reclaim{call};
  if (draw < 86) return Settle{call};
  if (draw < 91) return samplePayOut(random);
  if (draw < 97) return RequestRuling{call};
  if (draw < 98) return BuyerStop{};
  if (draw < 99) return SellerStop{};
  return Close{};
}

std::string Escrow::sampleInit(Random&, Time) {
  const Sample& sample = theSample();
  return canonicalJson(json::object{{"party.buyer", "clinic"},
                                    {"party.buyerKey", std::string(hexOf(sample.buyer))},
                                    {"party.seller", "lab"},
                                    {"party.sellerKey", std::string(hexOf(sample.seller))}});
}

std::string Escrow::sampleEdit(const State&, const AnyAction& pending, std::string_view, Random& random, Time) {
  const auto* asked = std::get_if<RequestRuling>(&pending);
  if (asked == nullptr) return "{}";
  return "{\"call.ruling\":{" + jsonQuoted(asked->call) + ":" + std::to_string(50 * random.below(3)) + "}}";
}

namespace {

// The fact of the call, or null.
template <class Index, class TableType>
auto factOf(const TableType& table, const std::string& call) -> decltype(&*table.row(0).fact) {
  for (const Slot slot : table.template index<Index>().candidates(call))
    if (table.row(slot).fact && table.row(slot).fact->call == call) return &*table.row(slot).fact;
  return nullptr;
}

std::string_view stateOfCall(const State& s, const std::string& call, const CallRow& row) {
  if (const Settlement* settled = factOf<SettlementByCall>(s.settlements, call))
    return settled->seller != 0 ? "RELEASED" : "REFUNDED";
  if (row.ruling) return "RULED";
  if (row.disputedAt) return "DISPUTED";
  if (factOf<DeliveryByCall>(s.deliveries, call) != nullptr) return "DELIVERED";
  return row.declinedAt ? "DECLINED" : "RESERVED";
}

CallStanding standingOfCall(const State& s, Slot slot) {
  const CallRow& row = s.call.row(slot);
  CallStanding standing{s.call.key(slot), stateOfCall(s, s.call.key(slot), row), row.order.value_or(""),
                        row.input.value_or(""), row.amount.value_or(0)};
  const Delivery* delivered = factOf<DeliveryByCall>(s.deliveries, standing.call);
  if (delivered != nullptr) standing.evidence = delivered->digest, standing.charge = delivered->charge;
  if (const Settlement* settled = factOf<SettlementByCall>(s.settlements, standing.call)) {
    standing.share = settled->seller;
    return standing;
  }
  standing.settleAt = delivered == nullptr ? row.declinedAt ? row.declinedAt : row.deliverBy
                      : row.ruling         ? Time{}
                                           : after(delivered->at, s.disputeWindow);
  return standing;
}

}  // namespace

EscrowStanding standingOf(const EntityState& entity, std::string_view call) {
  const State& s = TypedModule<Escrow>::boxOf(entity).state;
  EscrowStanding standing{s.buyer, s.seller, {}, s.digest};
  if (!call.empty()) {
    const Slot slot = s.call.find(call);
    if (slot != kNoSlot) standing.calls.push_back(standingOfCall(s, slot));
  } else {
    for (const Slot slot : s.call.byKey()) standing.calls.push_back(standingOfCall(s, slot));
  }
  return standing;
}

json::object viewOf(const EntityState& entity) {
  const State& s = TypedModule<Escrow>::boxOf(entity).state;
  json::object calls;
  std::int64_t held = 0;
  for (const Slot slot : s.call.byKey()) {
    const CallRow& row = s.call.row(slot);
    held += row.held.value_or(0);
    calls[s.call.key(slot)] = stateOfCall(s, s.call.key(slot), row);
  }
  const char* phase = s.closedAt ? "CLOSED" : s.stoppedAt ? "STOPPED" : s.openedAt ? "OPEN" : "NEW";
  return {{"phase", phase}, {"deposited", s.deposited}, {"buyer", s.buyers},          {"seller", s.sellers},
          {"held", held},   {"paidBuyer", s.paidBuyer}, {"paidSeller", s.paidSeller}, {"calls", std::move(calls)}};
}

}  // namespace witan::domains::escrow

WITAN_DEFINE_DOMAIN(escrow, escrow::Escrow)
