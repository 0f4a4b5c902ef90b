#include "market/buyer_desk.h"

#include <algorithm>

#include "base/mutant.h"

namespace witan::market {

namespace {

constexpr std::int64_t kAlarmAfterSeconds = 86'400;  // beyond deliverBy and the window

constexpr std::int64_t kMostWatchSeconds = 600;  // between two looks at the holder
// What the desk says of its own accord; else a person has said it, or a check.
constexpr const char* kNoEvidence = "no evidence came";
constexpr const char* kLate = "deliverBy has passed";
constexpr std::string_view kReleased = "; the money was released all the same";

constexpr std::size_t kMostOwnReason = 4'096;
constexpr std::int64_t kDisputesPerSecond = kRequestsPerSecond / 2;  // that are surely heard beside other acts
constexpr std::string_view kWatch = "watch/";

// Seconds between two looks at the holder.
std::int64_t watchSeconds(const Contract& c) {
  return std::clamp<std::int64_t>(std::int64_t(c.disputeWindowSeconds) / 16, 1, kMostWatchSeconds);
}

// The part of what a holder hears that a dispute of such a call takes, in billionths: from the look that finds it
// delivered until half of its window is over.
constexpr std::int64_t kWhole = 1'000'000'000;
std::int64_t shareOf(const Contract& c) {
  const std::int64_t seconds = std::int64_t(c.disputeWindowSeconds) / 2 - watchSeconds(c) - 1;
  return kWhole / (kDisputesPerSecond * std::max<std::int64_t>(1, seconds));
}

// Steps at which nothing is asked of anybody.
bool rests(BuyerStep step) { return step == BuyerStep::await || step == BuyerStep::review || step == BuyerStep::ended; }
// Steps at which evidence may come.
bool waits(BuyerStep step) { return step == BuyerStep::await || step == BuyerStep::order; }
// Steps at which a person may say that something is wrong.
bool isOpen(BuyerStep step) { return waits(step) || step == BuyerStep::compare || step == BuyerStep::review; }

// Steps at which the buyer wants its money back.
bool wantsBack(BuyerStep step) { return step == BuyerStep::dispute || step == BuyerStep::reclaim; }
bool isDeclined(const BuyerCall& call) { return call.declined.value_or(false); }
// Its dispute is a person's word or a check's, which no evidence takes back.
bool isSaid(const BuyerCall& call) {
  const std::string& reason = call.reason;
  return !reason.empty() && reason != kNoEvidence && reason != kLate && !isDeclined(call);
}
// How to go on when the holder refuses a refund.
BuyerStep withoutRefund(const BuyerCall& call) {
  const bool disputes = call.bundle.empty() || (isSaid(call) && !mutated("askAgain"));
  return disputes ? BuyerStep::dispute : BuyerStep::compare;
}

Row rowOf(const BuyerCall& call) { return {"call/" + externalId(call.contract, call.call), toJson(call)}; }

}  // namespace

Status BuyerDesk::restore(const Row& row) {
  if (row.key.starts_with(kAgreed)) {
    WITAN_TRY(kept, fromRow<BuyerContract>(row));
    WITAN_TRY(opened, openEnvelope<Contract>(valueOf(kept.envelope)));
    const std::string digest = opened.digest;
    contracts_[digest] = std::move(opened);
    return okStatus();
  }
  WITAN_TRY(kept, fromRow<BuyerCall>(row));
  WITAN_TRY(order, openEnvelope<Order>(valueOf(kept.order)));
  if (!contracts_.contains(kept.contract)) return notFound(concat(row.key, " is of no contract"));
  const std::string id = externalId(kept.contract, kept.call);
  // Its dispute waits for the look that shows what proves the seller's lie.
  const bool waits = kept.step == BuyerStep::dispute && isDeclined(kept);
  calls_[id] = {std::move(kept), std::move(order.document), {}, {}, false, false, false, waits};
  return okStatus();
}

Result<Out> BuyerDesk::addContract(const std::string& envelope) {
  WITAN_TRY(parsed, parseJson(envelope, {.bytes = kMostEnvelopeBytes}));
  WITAN_TRY(opened, openEnvelope<Contract>(parsed));
  const Contract& c = opened.document;
  if (c.buyer.org != org_ || keyOf(c.buyer.key) != key_.publicKey()) return invalid("the contract is of another buyer");
  if (!isSignedBy(opened.text, keyOf(c.buyer.key)) || !isSignedBy(opened.text, keyOf(c.seller.key)))
    return Error{ErrorCode::unauthorised, "the contract is not signed by both", {}};
  if (const std::string flaw = timesFlaw(c.deliverWithinSeconds, c.disputeWindowSeconds); !flaw.empty())
    return invalid(flaw);
  const std::string digest = opened.digest;
  contracts_[digest] = std::move(opened);
  Out out;
  out.rows.push_back({kAgreed + digest, toJson(BuyerContract{envelope, {}})});
  return out;
}

Result<Out> BuyerDesk::order(const OrderWish& wish, Moment now) {
  const auto contract = contracts_.find(wish.contract);
  if (contract == contracts_.end()) return notFound("no contract " + wish.contract, "add the contract first");
  const Contract& c = contract->second.document;
  if (const std::string flaw = callNameFlaw(wish.call); !flaw.empty()) return invalid(flaw);
  if (const std::string flaw = disclosuresFlaw(wish.disclosures); !flaw.empty()) return invalid(flaw);
  Order order;
  order.contract = wish.contract;
  order.call = wish.call;
  order.input = jsonDigest(commitmentTo(wish.disclosures));
  order.amount = wish.amount;
  order.locales = wish.locales;
  order.budget = wish.budget;
  order.issuedAt = now;
  order.deliverBy = {now.seconds + std::int64_t(c.deliverWithinSeconds)};
  const std::string id = externalId(wish.contract, wish.call);
  if (const auto known = calls_.find(id); known != calls_.end()) {
    const Order& before = known->second.order;
    if (before.input == order.input && before.amount == order.amount) return Out{};
    return conflict("call " + wish.call + " exists, with another order", "name another call");
  }
  if (const std::string wider = widerThanContract(order, c, wish.contract); !wider.empty()) return invalid(wider);
  if (!hasPlaceFor(c))
    return Error{ErrorCode::unavailable, "there are too many open calls to dispute all of them in their windows",
                 "order again when some of them have ended"};
  BuyerCall call{wish.contract, wish.call, sealedDocument(order, {&key_, 1}), wish.disclosures};
  call.review = wish.review;
  WITAN_DO(mayKeep(call));
  Live& live = calls_[id] = {std::move(call), std::move(order), {}, {}, false, false, false, false};
  Out out;
  out.firm = true;
  enter(live, BuyerStep::reserve, now, out);
  return out;
}

bool BuyerDesk::hasPlaceFor(const Contract& contract) const {
  std::int64_t taken = shareOf(contract);
  for (const auto& [id, live] : calls_)
    if (live.call.step != BuyerStep::ended && contractOf(live).escrow == contract.escrow)
      taken += shareOf(contractOf(live));
  return taken <= kWhole;
}

bool BuyerDesk::awaits(const std::string& seller) const {
  return std::ranges::any_of(calls_, [&](const auto& each) {
    const Live& live = each.second;
    return live.call.bundle.empty() && live.call.end != "refused" && contractOf(live).seller.org == seller;
  });
}

const BuyerCall* BuyerDesk::find(const std::string& contract, const std::string& call) const {
  const auto at = calls_.find(externalId(contract, call));
  return at == calls_.end() ? nullptr : &at->second.call;
}

const Contract* BuyerDesk::contract(const std::string& digest) const {
  const auto at = contracts_.find(digest);
  return at == contracts_.end() ? nullptr : &at->second.document;
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

void BuyerDesk::hurry(const std::string& org) {
  for (auto& [id, live] : calls_)
    if (contractOf(live).escrow == org || contractOf(live).seller.org == org) live.retry.hurry(), live.watching.hurry();
}

Result<Out> BuyerDesk::decide(const std::string& contract, const std::string& call, BuyerStep step,
                              const std::string& reason, Moment now) {
  const auto at = calls_.find(externalId(contract, call));
  if (at == calls_.end()) return notFound("no call " + call, "see: witan market contract show");
  if (reason.size() > kMostOwnReason) return invalid(concat("a reason has at most ", kMostOwnReason, " bytes"));
  Live& live = at->second;
  const BuyerStep current = live.call.step;
  const bool late = now > live.order.deliverBy && (waits(current) || current == BuyerStep::compare);
  const bool may = step == BuyerStep::reclaim   ? late
                   : step == BuyerStep::dispute ? isOpen(current)
                                                : current == BuyerStep::review;
  const std::string done = step == BuyerStep::accept    ? "accepted"
                           : step == BuyerStep::dispute ? "disputed"
                                                        : "refunded";
  if (live.call.step == step || live.call.end == done) return Out{};
  if (!may)
    return conflict(concat("call ", call, " is at step ", enumName(live.call.step),
                           live.call.end.empty() ? "" : " (" + live.call.end + ")"),
                    step == BuyerStep::reclaim ? "an undelivered call is reclaimed when its time has passed"
                    : live.call.review         ? "it is decided when evidence has come and verifies"
                                               : "order with --review to decide about what comes");
  Out out;
  out.firm = true;
  if (step == BuyerStep::dispute) live.call.declined.reset();  // evidence has come since
  if (step == BuyerStep::dispute)
    fail(live, reason, step, now, out);
  else
    enter(live, step, now, out);
  return out;
}

void BuyerDesk::enter(Live& live, BuyerStep step, Moment now, Out& out) {
  live.call.step = step;
  live.retry.reset();
  live.waits = false;
  if (!mutated("forgetSteps")) out.rows.push_back(rowOf(live.call));
  send(live, now, out);
}

// The same step under a new id, not before the time to wait has passed.
void BuyerDesk::again(Live& live, Moment now, Out& out) {
  ++live.call.attempt;
  live.retry.tried(now, retrySeconds(live));
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
      letter.body = {{"entity", c.contract}, {"call", c.call}};
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
  letter.body = {{"entity", c.contract}, {"action", std::move(action)}};
  return letter;
}

// What has to happen in a window is tried as often as the holder is looked at.
std::int64_t BuyerDesk::retrySeconds(const Live& live) const {
  const BuyerStep step = live.call.step;
  const bool inWindow = step == BuyerStep::dispute || step == BuyerStep::compare || step == BuyerStep::accept;
  return inWindow ? std::min<std::int64_t>(60, watchSeconds(contractOf(live))) : 60;
}

void BuyerDesk::send(Live& live, Moment now, Out& out) {
  if (rests(live.call.step) || live.waits || !live.retry.due(now)) return;
  Letter letter = letterOf(live);
  if (!pacing_.permits(letter, now)) return;
  live.retry.tried(now, retrySeconds(live));
  out.letters.push_back(std::move(letter));
}

// Disputes first: they have the least time.
Out BuyerDesk::tick(Moment now) {
  Out out;
  watch(now, out);
  for (const bool disputes : {true, false})
    for (auto& [id, live] : calls_)
      if ((live.call.step == BuyerStep::dispute) == disputes && live.call.step != BuyerStep::ended)
        move(live, now, out);
  return out;
}

void BuyerDesk::move(Live& live, Moment now, Out& out) {
  if (now > live.order.deliverBy && waits(live.call.step))
    fail(live, kLate, BuyerStep::reclaim, now, out);
  else if (live.call.step == BuyerStep::review && now >= live.call.reviewUntil)
    enter(live, BuyerStep::accept, now, out);
  else
    send(live, now, out);
  alarm(live, now, out);
}

// Whatever has been said, and by whom: what is delivered can be disputed in its window alone.
bool BuyerDesk::isWatched(const Live& live) const {
  const BuyerStep step = live.call.step;
  return step != BuyerStep::ended && step != BuyerStep::review && step != BuyerStep::accept;
}

// So often that a delivery is seen, and disputed, whatever is lost on the way.
void BuyerDesk::watch(Moment now, Out& out) {
  if (mutated("neverWatch")) return;
  std::map<std::string, std::vector<Letter>> asked;  // by holder
  for (auto& [id, live] : calls_) {
    if (!isWatched(live) || !live.watching.due(now)) continue;
    live.watching.tried(now, watchSeconds(contractOf(live)));
    const std::string& holder = contractOf(live).escrow;
    std::vector<Letter>& letters = asked[holder];
    if (letters.empty() || letters.back().body.at("calls").get_array().size() >= kCallsOfAView)
      letters.push_back(
          {org_, holder, concat(kWatch, now.seconds, "/", letters.size()), "view", {{"calls", json::array()}}});
    letters.back().body.at("calls").get_array().emplace_back(id);
  }
  for (auto& [holder, letters] : asked)
    for (Letter& letter : letters)
      if (pacing_.permits(letter, now)) out.letters.push_back(std::move(letter));
}

void BuyerDesk::onViews(const Letter& letter, Moment now, Out& out) {
  const json::value* calls = letter.body.if_contains("calls");
  if (calls == nullptr || !calls->is_object()) return;
  for (const auto& [id, standing] : calls->get_object()) {
    const auto at = calls_.find(std::string(id));
    if (at == calls_.end() || !standing.is_object() || contractOf(at->second).escrow != letter.from) continue;
    if (isWatched(at->second)) watched(at->second, standing.get_object(), now, out);
  }
}

void BuyerDesk::watched(Live& live, const json::object& body, Moment now, Out& out) {
  const BuyerStep step = live.call.step;
  const std::string state = textOf(body, "state");
  if (live.over && state == "REFUNDED") return end(live, "refunded", now, out);
  if (textOf(body, "evidence").empty()) {
    if (waits(step) && state == "DECLINED") {
      live.call.holderSays = true;
      return decline(live, "declined by the seller", now, out);
    }
    if (!live.waits || now <= live.order.deliverBy) return;
    live.waits = false;
    live.call.step = BuyerStep::reclaim;
    out.rows.push_back(rowOf(live.call));
    return send(live, now, out);
  }
  if (step == BuyerStep::compare) return compared(live, body, now, out);
  // Of what is over the holder need not have the statement at hand, which alone proves who lies.
  const bool shown = state != "RELEASED" || !textOf(body, "statement").empty();
  if (wantsBack(step) && isDeclined(live.call) && shown && !std::exchange(live.accused, true))
    accuseOfBoth(live, body, out);
  if (live.over && state == "RELEASED") {
    live.call.reason += kReleased;
    return end(live, "settled", now, out);
  }
  if (step == BuyerStep::dispute) {
    if (std::exchange(live.waits, false)) live.retry.hurry(), send(live, now, out);
    return;
  }
  if (step == BuyerStep::reclaim) return enter(live, withoutRefund(live.call), now, out);
  const auto window = std::int64_t(contractOf(live).disputeWindowSeconds);
  if (numberOf(body, "left").value_or(window) > window / 2) return;
  accuse(live, "silent", concat("call ", live.call.call, " was delivered to the holder, and no evidence came"), body,
         out);
  fail(live, kNoEvidence, BuyerStep::dispute, now, out);
}

void BuyerDesk::decline(Live& live, const std::string& reason, Moment now, Out& out) {
  live.call.declined = true;
  fail(live, reason, BuyerStep::reclaim, now, out);
}

// What the seller has signed proves what it has delivered; the word of the holder alone proves nothing against it.
void BuyerDesk::accuse(const Live& live, const char* kind, std::string what, const json::object& body, Out& out) const {
  const Contract& c = contractOf(live);
  const std::string text = textOf(body, "statement");
  const auto statement = text.empty() ? invalid("none") : openStatement(valueOf(text));
  const bool proven =
      statement.ok() && toHex(sha256(statement->text.body)) == textOf(body, "evidence") &&
      (statement->document.predicate.order == toHex(sha256(toJson(live.order))) || mutated("accuseAnyway")) &&
      isSignedBy(statement->text, keyOf(c.seller.evidenceKey));
  std::vector<std::string> proof{live.call.bundle.empty() ? live.call.order : live.call.bundle};
  if (proven) proof.push_back(text);
  out.incidents.push_back(
      {proven ? kind : "silent", proven ? c.seller.org : c.escrow, std::move(what), std::move(proof)});
}

// A holder takes no delivery of what its ledger says is declined: who has heard of that from it alone knows who lies.
void BuyerDesk::accuseOfBoth(const Live& live, const json::object& body, Out& out) const {
  const std::string what = concat("call ", live.call.call, " was declined, and delivered all the same");
  if (!live.call.holderSays.value_or(false) || mutated("believeDecline"))
    return accuse(live, "evidence", what, body, out);
  std::vector<std::string> proof{live.call.order};
  if (std::string text = textOf(body, "statement"); !text.empty()) proof.push_back(std::move(text));
  out.incidents.push_back({"silent", contractOf(live).escrow, what, std::move(proof)});
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

Out BuyerDesk::onLetter(Letter letter, Moment now) {
  Out out;
  const std::string why = trim(letter);
  if (letter.kind == "evidence" && !why.empty())
    out.letters.push_back(refusalOf(letter, why));
  else if (letter.kind == "evidence")
    onEvidence(letter, now, out);
  if (letter.kind != "answer") return out;
  if (letter.id.starts_with(kWatch)) {
    onViews(letter, now, out);
    return out;
  }
  const auto at = calls_.find(externalIdOf(letter.id));
  if (at == calls_.end() || rests(at->second.call.step)) return out;
  const Letter asked = letterOf(at->second);
  if (asked.id == letter.id && asked.to == letter.from) answered(at->second, letter.body, now, out);
  return out;
}

void BuyerDesk::answered(Live& live, const json::object& body, Moment now, Out& out) {
  if (body.contains("busy")) return;
  if (live.call.step == BuyerStep::compare) return compared(live, body, now, out);
  if (live.call.step != BuyerStep::order)
    return actAnswered(live, textOf(body, "outcome"), textOf(body, "invariant"), now, out);
  if (body.contains("accepted")) return enter(live, BuyerStep::await, now, out);
  decline(live, concat("declined: ", textOf(body, "declined")), now, out);
}

// One statement is delivered once, so what the holder says of it stays true.
void BuyerDesk::compared(Live& live, const json::object& body, Moment now, Out& out) {
  const std::string delivered = textOf(body, "evidence");
  if (delivered.empty()) {  // not there: evidence came before its delivery
    if (now > live.order.deliverBy) fail(live, kLate, BuyerStep::reclaim, now, out);
    return;
  }
  const auto bundle = parseJson(live.call.bundle, kBundleLimits);
  const auto statement = bundle.ok() ? openStatement(bundle->at("evidence")) : bundle.error();
  // A person has what is left of the window, whatever a holder says; a dispute after it is none.
  const auto window = std::int64_t(contractOf(live).disputeWindowSeconds);
  if (const auto left = numberOf(body, "left"))
    live.call.reviewUntil = Moment{now.seconds + std::clamp<std::int64_t>(*left, 0, window)};
  if (statement.ok() && (toHex(sha256(statement->text.body)) == delivered || mutated("acceptUnseen")))
    return enter(live, live.call.review ? BuyerStep::review : BuyerStep::accept, now, out);
  accuse(live, "equivocation", concat("call ", live.call.call, ": another statement was delivered, ", delivered), body,
         out);
  fail(live, "EB08", BuyerStep::dispute, now, out);
}

void BuyerDesk::actAnswered(Live& live, const std::string& outcome, const std::string& rule, Moment now, Out& out) {
  const bool approved = outcome == "approved";
  if (outcome == "frozen") return again(live, now, out);
  if (rule == "ESCROW_SETTLED_ONCE") {
    if (!wantsBack(live.call.step)) return end(live, "settled", now, out);
    live.over = true;
    live.watching.reset();
    return again(live, now, out);
  }
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

// What is lawful depends on what has reached the holder, and its clock: after deliverBy both ends are tried in turn. A
// dispute of what is not delivered waits for the look that finds it.
void BuyerDesk::another(Live& live, Moment now, Out& out) {
  const BuyerStep before = live.call.step;
  if (before == BuyerStep::reclaim)
    live.call.step = withoutRefund(live.call);
  else if (now > live.order.deliverBy)
    live.call.step = BuyerStep::reclaim;
  live.waits = live.call.step == BuyerStep::dispute;
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
  if (!allowance_.admits(letter.from, now, out)) {
    out.letters.push_back(answerTo(letter, {{"busy", true}}));
    return;
  }
  out.letters.push_back(answerTo(letter, {{"received", true}}));
  // One that failed a check is the last that is looked at.
  const bool failed = live.call.reason.starts_with("EB");
  if (failed || !live.call.bundle.empty() || live.call.end == "accepted" || live.call.end == "refunded") return;
  const std::string text = canonicalJson(*bundle);
  const Verification verification = verified(text, *order, live);
  if (verification.ok() || mutated("acceptUnverified")) {
    live.call.bundle = text;
    out.firm = true;  // "received": it is not shown again
    const bool disputes = live.call.step == BuyerStep::dispute || live.call.end == "disputed";
    if (disputes && isSaid(live.call) && !mutated("overrulePerson")) {
      // a person's word stands
      out.rows.push_back(rowOf(live.call));
      return;
    }
    const Natural window = contractOf(live).disputeWindowSeconds;
    live.call.reviewUntil = Moment{now.seconds + std::int64_t(window)};
    enter(live, BuyerStep::compare, now, out);
    return;
  }
  if (live.call.step == BuyerStep::ended || live.call.step == BuyerStep::dispute) return;
  out.incidents.push_back({"evidence", letter.from, verification.id + ": " + verification.message, {text}});
  fail(live, verification.id, BuyerStep::dispute, now, out);
}

// For its buyer a bundle has the output too.
Verification BuyerDesk::verified(const std::string& text, const Opened<Order>& order, const Live& live) const {
  if (Verification found = verifyBundleText(text, roots_); !found.ok()) return found;
  if (order.digest != toHex(sha256(toJson(live.order)))) return {"EB08", "of another order"};
  const json::value bundle = valueOf(text);
  if (jsonDigest(bundle.at("output")) != openStatement(bundle.at("evidence"))->document.output())
    return {"EB15", "the output is not in it"};
  return {};
}

}  // namespace witan::market
