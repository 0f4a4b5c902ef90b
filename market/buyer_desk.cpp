#include "market/buyer_desk.h"

#include <algorithm>

#include "base/mutant.h"

namespace witan::market {

namespace {

constexpr std::int64_t kAlarmAfterSeconds = 86'400;  // beyond deliverBy and the window

constexpr std::size_t kMostCallBytes = 100;  // so that the ids of its steps are operation ids

template <class T>
Result<T> fromText(std::string_view text) {
  WITAN_TRY(parsed, parseJson(text, kBundleLimits));
  T value;
  WITAN_DO(readJson(parsed, value, "row"));
  return value;
}

// Steps at which nothing is asked of anybody.
bool rests(BuyerStep step) { return step == BuyerStep::await || step == BuyerStep::review || step == BuyerStep::ended; }
// Steps at which evidence may come.
bool waits(BuyerStep step) { return step == BuyerStep::await || step == BuyerStep::order; }

Row rowOf(const BuyerCall& call) { return {"call/" + externalId(call.contract, call.call), toJson(call)}; }

}  // namespace

void BuyerDesk::restore(const Row& row) {
  if (row.key.starts_with(kAgreed)) {
    if (const auto kept = fromText<BuyerContract>(row.value); kept.ok())
      (void)addContract(kept->envelope, kept->entity);
  } else if (auto kept = fromText<BuyerCall>(row.value); kept.ok()) {
    const auto envelope = parseJson(kept->order);
    auto order = envelope.ok() ? openEnvelope<Order>(*envelope) : Result<Opened<Order>>(envelope.error());
    if (!order.ok() || !contracts_.contains(kept->contract)) return;
    const std::string id = externalId(kept->contract, kept->call);
    calls_[id] = {std::move(*kept), std::move(order->document), {}, false};
  }
}

Result<Out> BuyerDesk::addContract(const std::string& envelope, const std::string& entity) {
  WITAN_TRY(parsed, parseJson(envelope, {.bytes = kMostEnvelopeBytes}));
  WITAN_TRY(opened, openEnvelope<Contract>(parsed));
  const Contract& c = opened.document;
  if (c.buyer.org != org_ || keyOf(c.buyer.key) != key_.publicKey()) return invalid("the contract is of another buyer");
  if (!isSignedBy(opened.text, keyOf(c.buyer.key)) || !isSignedBy(opened.text, keyOf(c.seller.key)))
    return Error{ErrorCode::unauthorised, "the contract is not signed by both", {}};
  const std::string digest = opened.digest;
  contracts_[digest] = {std::move(opened), entity};
  Out out;
  out.rows.push_back({kAgreed + digest, toJson(BuyerContract{envelope, entity})});
  return out;
}

Result<Out> BuyerDesk::order(const OrderWish& wish, Moment now) {
  const auto contract = contracts_.find(wish.contract);
  if (contract == contracts_.end()) return notFound("no contract " + wish.contract, "add the contract first");
  const Contract& c = contract->second.opened.document;
  if (wish.call.empty() || wish.call.size() > kMostCallBytes)
    return invalid(concat("a call's name has 1 to ", kMostCallBytes, " bytes"));
  Order order;
  order.contract = wish.contract;
  order.call = wish.call;
  order.input = jsonDigest(commitmentTo(wish.disclosures));
  order.amount = wish.amount;
  order.locales = wish.locales;
  order.budget = wish.budget;
  order.issuedAt = now;
  order.deliverBy = {now.seconds + std::int64_t(std::min<Natural>(c.deliverWithinSeconds, Natural{1} << 40))};
  const std::string id = externalId(wish.contract, wish.call);
  if (const auto known = calls_.find(id); known != calls_.end()) {
    const Order& before = known->second.order;
    if (before.input == order.input && before.amount == order.amount) return Out{};
    return conflict("call " + wish.call + " exists, with another order", "name another call");
  }
  if (const std::string wider = widerThanContract(order, c, wish.contract); !wider.empty()) return invalid(wider);
  BuyerCall call{wish.contract, wish.call, sealedDocument(order, {&key_, 1}), wish.disclosures};
  call.review = wish.review;
  Live& live = calls_[id] = {std::move(call), std::move(order), {}, false};
  Out out;
  enter(live, BuyerStep::reserve, now, out);
  return out;
}

const BuyerCall* BuyerDesk::find(const std::string& contract, const std::string& call) const {
  const auto at = calls_.find(externalId(contract, call));
  return at == calls_.end() ? nullptr : &at->second.call;
}

const Contract* BuyerDesk::contract(const std::string& digest) const {
  const auto at = contracts_.find(digest);
  return at == contracts_.end() ? nullptr : &at->second.opened.document;
}

std::vector<const BuyerCall*> BuyerDesk::calls() const {
  std::vector<const BuyerCall*> all;
  for (const auto& [id, live] : calls_) all.push_back(&live.call);
  return all;
}

std::vector<std::string> BuyerDesk::contracts() const {
  std::vector<std::string> all;
  for (const auto& [digest, known] : contracts_) all.push_back(digest);
  return all;
}

void BuyerDesk::hurry() {
  for (auto& [id, live] : calls_) live.retry.hurry();
}

Result<Out> BuyerDesk::decide(const std::string& contract, const std::string& call, BuyerStep step,
                              const std::string& reason, Moment now) {
  const auto at = calls_.find(externalId(contract, call));
  if (at == calls_.end()) return notFound("no call " + call, "see: witan market contract show");
  Live& live = at->second;
  const bool late = now > live.order.deliverBy && waits(live.call.step);
  const std::string done = step == BuyerStep::accept    ? "accepted"
                           : step == BuyerStep::dispute ? "disputed"
                                                        : "refunded";
  if (live.call.step == step || live.call.end == done) return Out{};
  if (step == BuyerStep::reclaim ? !late : live.call.step != BuyerStep::review)
    return conflict(concat("call ", call, " is at step ", enumName(live.call.step),
                           live.call.end.empty() ? "" : " (" + live.call.end + ")"),
                    step == BuyerStep::reclaim ? "an undelivered call is reclaimed when its time has passed"
                                               : "order with --review to decide about what comes");
  Out out;
  if (step == BuyerStep::dispute)
    fail(live, reason, step, now, out);
  else
    enter(live, step, now, out);
  return out;
}

void BuyerDesk::enter(Live& live, BuyerStep step, Moment now, Out& out) {
  live.call.step = step;
  live.retry.reset();
  if (!mutated("forgetSteps")) out.rows.push_back(rowOf(live.call));
  send(live, now, out);
}

// The same step under a new id, not before the time to wait has passed.
void BuyerDesk::again(Live& live, Moment now, Out& out) {
  ++live.call.attempt;
  live.retry.tried(now);
  out.rows.push_back(rowOf(live.call));
}

void BuyerDesk::fail(Live& live, const std::string& reason, BuyerStep next, Moment now, Out& out) {
  live.call.reason = reason;
  if (!live.call.failedAt) live.call.failedAt = now;
  enter(live, next, now, out);
}

void BuyerDesk::end(Live& live, const std::string& how, Moment now, Out& out) {
  live.call.end = how;
  live.call.endedAt = now;
  enter(live, BuyerStep::ended, now, out);
}

Letter BuyerDesk::letterOf(const Live& live) const {
  const BuyerCall& c = live.call;
  const Contract& contract = contractOf(live);
  Letter letter{org_, contract.escrow, {}, "act", {}};
  letter.id = stepId(externalId(c.contract, c.call), enumName(c.step), c.attempt);
  json::object action{{"call", c.call}};
  switch (c.step) {
    case BuyerStep::order:
      letter.to = contract.seller.org;
      letter.kind = "order";
      letter.body = {{"order", parseJson(c.order).value()},
                     {"disclosures", json::array(c.disclosures.begin(), c.disclosures.end())}};
      return letter;
    case BuyerStep::compare:
      letter.kind = "view";
      letter.body = {{"entity", contracts_.at(c.contract).entity}, {"call", c.call}};
      return letter;
    case BuyerStep::reserve:
      action["type"] = "Reserve";
      action["amount"] = std::int64_t(live.order.amount);  // JsonCodec reads naturals below 2^63
      action["input"] = live.order.input;
      action["order"] = toHex(sha256(toJson(live.order)));
      break;
    case BuyerStep::dispute:
      action["type"] = "Dispute";
      action["reason"] = c.reason;
      break;
    case BuyerStep::reclaim: action["type"] = "Reclaim"; break;
    default: action["type"] = "Accept";
  }
  letter.body = {{"entity", contracts_.at(c.contract).entity}, {"action", std::move(action)}};
  return letter;
}

void BuyerDesk::send(Live& live, Moment now, Out& out) {
  if (rests(live.call.step) || !live.retry.due(now)) return;
  live.retry.tried(now);
  out.letters.push_back(letterOf(live));
}

Out BuyerDesk::tick(Moment now) {
  Out out;
  for (auto& [id, live] : calls_) {
    if (live.call.step == BuyerStep::ended) continue;
    if (now > live.order.deliverBy && waits(live.call.step))
      fail(live, "deliverBy has passed", BuyerStep::reclaim, now, out);
    else if (live.call.step == BuyerStep::review && now >= live.call.reviewUntil)
      enter(live, BuyerStep::accept, now, out);
    else
      send(live, now, out);
    alarm(live, now, out);
  }
  return out;
}

// Both sides keep what they have; it is settled outside.
void BuyerDesk::alarm(Live& live, Moment now, Out& out) {
  const Contract& c = contractOf(live);
  const Natural waited = now > live.order.deliverBy ? Natural(now.seconds - live.order.deliverBy.seconds) : 0;
  if (live.alarmed || waited < kAlarmAfterSeconds || waited - kAlarmAfterSeconds < c.disputeWindowSeconds) return;
  live.alarmed = true;
  out.incidents.push_back(
      {"silent", c.escrow, "call " + live.call.call + " is not settled", {live.call.order, live.call.bundle}});
}

Out BuyerDesk::onLetter(const Letter& letter, Moment now) {
  Out out;
  if (letter.kind == "evidence") onEvidence(letter, now, out);
  if (letter.kind != "answer") return out;
  for (auto& [id, live] : calls_) {
    if (!letter.id.starts_with(id) || rests(live.call.step)) continue;
    const Letter asked = letterOf(live);
    if (asked.id == letter.id && asked.to == letter.from) answered(live, letter.body, now, out);
  }
  return out;
}

void BuyerDesk::answered(Live& live, const json::object& body, Moment now, Out& out) {
  if (body.contains("busy")) return;
  if (live.call.step == BuyerStep::compare) return compared(live, body, now, out);
  if (live.call.step != BuyerStep::order)
    return actAnswered(live, textOf(body, "outcome"), textOf(body, "invariant"), now, out);
  if (body.contains("accepted")) return enter(live, BuyerStep::await, now, out);
  fail(live, "declined: " + textOf(body, "declined"), BuyerStep::reclaim, now, out);
}

// One statement is delivered once, so what the holder says of it stays true.
void BuyerDesk::compared(Live& live, const json::object& body, Moment now, Out& out) {
  const std::string delivered = textOf(body, "evidence");
  if (delivered.empty()) {  // not there yet
    if (now > live.order.deliverBy) fail(live, "deliverBy has passed", BuyerStep::reclaim, now, out);
    return;
  }
  const auto bundle = parseJson(live.call.bundle, kBundleLimits);
  const auto statement = bundle.ok() ? openStatement(bundle->at("evidence")) : bundle.error();
  if (statement.ok() && (toHex(sha256(statement->text.body)) == delivered || mutated("acceptUnseen")))
    return enter(live, live.call.review ? BuyerStep::review : BuyerStep::accept, now, out);
  out.incidents.push_back({"equivocation",
                           contractOf(live).seller.org,
                           concat("call ", live.call.call, ": another statement was delivered, ", delivered),
                           {live.call.bundle}});
  fail(live, "EB08", BuyerStep::dispute, now, out);
}

void BuyerDesk::actAnswered(Live& live, const std::string& outcome, const std::string& rule, Moment now, Out& out) {
  const bool approved = outcome == "approved";
  if (outcome == "frozen") return again(live, now, out);
  if (rule == "ESCROW_SETTLED_ONCE") return end(live, "settled", now, out);
  switch (live.call.step) {
    case BuyerStep::reserve:
      if (approved) return enter(live, BuyerStep::order, now, out);
      live.call.reason = rule.empty() ? outcome : rule;
      return end(live, "refused", now, out);
    case BuyerStep::accept:
    case BuyerStep::dispute:
    case BuyerStep::reclaim:
      if (!approved) return another(live, now, out);
      return end(live,
                 live.call.step == BuyerStep::accept    ? "accepted"
                 : live.call.step == BuyerStep::dispute ? "disputed"
                                                        : "refunded",
                 now, out);
    default: return;
  }
}

// What is lawful depends on what has reached the holder, and its clock: after deliverBy both ends are tried in turn.
void BuyerDesk::another(Live& live, Moment now, Out& out) {
  const BuyerStep good = live.call.bundle.empty() ? BuyerStep::dispute : BuyerStep::compare;
  if (live.call.step == BuyerStep::reclaim)
    live.call.step = good;
  else if (now > live.order.deliverBy)
    live.call.step = BuyerStep::reclaim;
  again(live, now, out);
}

void BuyerDesk::onEvidence(const Letter& letter, Moment now, Out& out) {
  const json::value* bundle = letter.body.if_contains("bundle");
  const json::object* members = bundle == nullptr ? nullptr : bundle->if_object();
  const auto order = members != nullptr && members->contains("order") ? openEnvelope<Order>(members->at("order"))
                                                                      : Result<Opened<Order>>(invalid("no order"));
  const auto found =
      order.ok() ? calls_.find(externalId(order->document.contract, order->document.call)) : calls_.end();
  if (found == calls_.end() || contractOf(found->second).seller.org != letter.from) return;
  Live& live = found->second;
  out.letters.push_back(answerTo(letter, {{"received", true}}));
  if (!live.call.bundle.empty() || live.call.end == "accepted" || live.call.end == "refunded") return;
  Verification verified = verifyBundle(*bundle, roots_);
  if (verified.ok() && order->digest != toHex(sha256(toJson(live.order)))) verified = {"EB08", "of another order"};
  if (verified.ok() || mutated("acceptUnverified")) {
    live.call.bundle = canonicalJson(*bundle);
    const Natural window = contractOf(live).disputeWindowSeconds;
    live.call.reviewUntil = {now.seconds + std::int64_t(std::min<Natural>(window, Natural{1} << 40))};
    enter(live, BuyerStep::compare, now, out);
    return;
  }
  if (live.call.step == BuyerStep::ended || live.call.step == BuyerStep::dispute) return;
  out.incidents.push_back({"evidence", letter.from, verified.id + ": " + verified.message, {canonicalJson(*bundle)}});
  fail(live, verified.id, BuyerStep::dispute, now, out);
}

}  // namespace witan::market
