#include "market/seller_desk.h"

#include <algorithm>

#include "base/mutant.h"

namespace witan::market {

namespace {

Row rowOf(const SellerCall& call) { return {"call/" + externalId(call.contract, call.call), toJson(call)}; }

template <class D>
Result<Opened<D>> openedOf(const json::object& body, std::string_view member) {
  const json::value* envelope = body.if_contains(member);
  return envelope == nullptr ? Result<Opened<D>>(invalid(concat("no ", member))) : openEnvelope<D>(*envelope);
}

std::vector<std::string> textsOf(const json::object& body, std::string_view member) {
  std::vector<std::string> texts;
  const json::value* list = body.if_contains(member);
  if (list == nullptr || !readJson(*list, texts, member).ok()) texts.clear();
  return texts;
}

}  // namespace

SellerDesk::SellerDesk(SellerSetup setup) : setup_(std::move(setup)) {
  for (const std::string& text : setup_.offers) (void)restore({kOffered, text});
}

Result<Out> SellerDesk::publish(const Offer& offer) {
  if (const std::string flaw = timesFlaw(offer.deliverWithinSeconds, offer.disputeWindowSeconds); !flaw.empty())
    return invalid(flaw);
  if (offer.seller != setup_.org) return invalid("the offer is of another seller");
  if (offers_.size() >= kMostOffers) return conflict(concat("there are ", kMostOffers, " offers already"));
  Out out;
  out.firm = true;
  out.rows.push_back({kOffered + toHex(sha256(toJson(offer))), sealedDocument(offer, {&setup_.key, 1})});
  WITAN_DO(restore(out.rows.back()));
  return out;
}

Status SellerDesk::restore(const Row& row) {
  if (row.key.starts_with(kOffered) || row.key.starts_with(kQuoted)) {
    WITAN_TRY(offer, openEnvelope<Offer>(valueOf(row.value)));
    const std::string digest = offer.digest;
    (row.key.starts_with(kOffered) ? offers_ : quoted_)[digest] = std::move(offer);
  } else if (row.key.starts_with(kAgreed)) {
    WITAN_TRY(kept, fromRow<SellerContract>(row));
    WITAN_TRY(opened, openEnvelope<Contract>(valueOf(kept.envelope)));
    const std::string digest = opened.digest;
    digests_[{opened.document.buyer.org, opened.document.id}] = digest;
    contracts_[digest] = {std::move(opened), std::move(kept)};
  } else {
    WITAN_TRY(kept, fromRow<SellerCall>(row));
    WITAN_TRY(order, openEnvelope<Order>(valueOf(kept.order)));
    if (!contracts_.contains(kept.contract)) return notFound(concat(row.key, " is of no contract"));
    const std::string id = externalId(kept.contract, kept.call);
    Live& live = calls_[id] = {std::move(kept), std::move(order), {}, {}, false};
    if (live.call.step == SellerStep::run) running_.insert(id);  // it may have begun
    learn(live.call);
  }
  return okStatus();
}

// ---- what a run takes

void SellerDesk::learn(const SellerCall& call) {
  const auto statement = call.statement.empty() ? invalid("none") : openStatement(valueOf(call.statement));
  if (!statement.ok()) return;
  const Predicate& p = statement->document.predicate;
  Need& need = needs_[p.capability.digest];
  need.budget.steps = std::max(need.budget.steps, p.usage.steps);
  need.budget.tokens = std::max(need.budget.tokens, p.usage.tokens);
  std::set<Word> locales(need.locales.begin(), need.locales.end());
  locales.insert(p.locales.begin(), p.locales.end());
  need.locales.assign(locales.begin(), locales.end());
  std::set<Model> models(need.models.begin(), need.models.end());
  models.insert(p.models.begin(), p.models.end());
  need.models.assign(models.begin(), models.end());
}

// A run that takes more than its order allows makes evidence that fails EB09, EB11 or EB12: work for nothing. What is
// asked for as it was offered is the seller's own risk.
std::string SellerDesk::belowNeed(const Capability& capability, const Budget& budget, const Words& locales,
                                  const Offer& offer, const std::vector<Model>& models) const {
  if (budget.steps < 1 || budget.tokens < 1 || budget.seconds < 1) return "no run takes nothing";
  if (locales.empty()) return "no locale is left for a run";
  const auto known = needs_.find(capability.digest);
  if (known == needs_.end()) return "";
  const Budget& need = known->second.budget;
  if (budget.steps < std::min(need.steps, offer.budget.steps))
    return concat("a run takes up to ", need.steps, " steps");
  if (budget.tokens < std::min(need.tokens, offer.budget.tokens))
    return concat("a run takes up to ", need.tokens, " tokens");
  for (const Word& each : known->second.locales)
    if (std::ranges::count(offer.locales, each) > 0 && std::ranges::count(locales, each) == 0)
      return concat("a run takes place in ", each, " too");
  for (const Model& each : known->second.models)
    if (isWithin({each}, offer.models) && !isWithin({each}, models))
      return concat("a run asks the model ", clip(each.name), " too");
  return "";
}

const SellerCall* SellerDesk::find(const std::string& contract, const std::string& call) const {
  const auto at = calls_.find(externalId(contract, call));
  return at == calls_.end() ? nullptr : &at->second.call;
}

const Contract* SellerDesk::contract(const std::string& digest) const {
  const auto at = contracts_.find(digest);
  return at == contracts_.end() ? nullptr : &at->second.opened.document;
}

std::vector<const SellerCall*> SellerDesk::calls() const {
  std::vector<const SellerCall*> all;
  for (const auto& [id, live] : calls_) all.push_back(&live.call);
  return all;
}

std::vector<std::string> SellerDesk::contracts() const {
  std::vector<std::string> all;
  for (const auto& [digest, known] : contracts_) all.push_back(digest);
  return all;
}

void SellerDesk::hurry(const std::string& org) {
  for (auto& [id, live] : calls_)
    if (contractOf(live).escrow == org || contractOf(live).buyer.org == org) live.retry.hurry(), live.showing.hurry();
}

Result<Out> SellerDesk::claim(const std::string& contract, const std::string& call, Moment now) {
  const auto at = calls_.find(externalId(contract, call));
  if (at == calls_.end()) return notFound("no call " + call, "see: witan market contract show");
  Live& live = at->second;
  if (live.call.end == "paid") return Out{};
  if (live.call.step != SellerStep::window && live.call.step != SellerStep::claim)
    return conflict(concat("call ", call, " is at step ", enumName(live.call.step), ": nothing is to be claimed"));
  Out out;
  out.firm = true;
  enter(live, SellerStep::claim, now, out);
  return out;
}

Out SellerDesk::onLetter(Letter letter, Moment now) {
  Out out;
  const std::string why = trim(letter);
  if (letter.kind == "answer") {
    onAnswer(letter, now, out);
    return out;
  }
  if (!allowance_.admits(letter.from, now, out))
    out.letters.push_back(answerTo(letter, {{"busy", true}}));
  else if (!why.empty())
    out.letters.push_back(refusalOf(letter, why));
  else if (letter.kind == "quote")
    out.letters.push_back(answerTo(letter, onQuote(letter, now)));
  else if (letter.kind == "propose")
    out.letters.push_back(answerTo(letter, onPropose(letter, now, out)));
  else if (letter.kind == "order")
    out.letters.push_back(answerTo(letter, onOrder(letter, now, out)));
  else if (letter.kind == "cancel")
    onCancel(letter, out);
  return out;
}

// What has begun is paid for. What nobody has paid for leaves nothing: the holder's answer says which it is.
void SellerDesk::onCancel(const Letter& letter, Out& out) {
  const auto at = calls_.find(externalId(textOf(letter.body, "contract"), textOf(letter.body, "call")));
  const bool open = at != calls_.end() && contractOf(at->second).buyer.org == letter.from &&
                    at->second.call.step == SellerStep::check;
  if (open) at->second.cancelled = true;
  out.letters.push_back(answerTo(letter, {{"cancelled", open}}));
}

// ---- offers

const Opened<Offer>* SellerDesk::offerOf(const std::string& digest) const {
  for (const auto* all : {&offers_, &quoted_})
    if (const auto at = all->find(digest); at != all->end()) return &at->second;
  return nullptr;
}

// The newest offer of a graph, narrowed to what is asked for. Nothing is kept: it comes back with a proposal, under
// this desk's own signature.
json::object SellerDesk::onQuote(const Letter& letter, Moment now) const {
  const auto no = [](std::string why) { return json::object{{"declined", std::move(why)}}; };
  const Offer* best = nullptr;
  for (const auto& [digest, offer] : offers_)
    if (offer.document.capability.graph == textOf(letter.body, "capability") && now < offer.document.validUntil &&
        (best == nullptr || best->validUntil < offer.document.validUntil))
      best = &offer.document;
  if (best == nullptr) return no("no offer of this is valid");
  Offer quote = *best;
  if (const json::value* locales = letter.body.if_contains("locales")) {
    if (const Status read = readJson(*locales, quote.locales, "locales"); !read.ok()) return no(read.error().message);
    if (!std::ranges::includes(best->locales, quote.locales)) return no("a locale is not offered");
  }
  if (const json::value* budget = letter.body.if_contains("budget")) {
    if (const Status read = readJson(*budget, quote.budget, "budget"); !read.ok()) return no(read.error().message);
    const Budget& most = best->budget;
    if (quote.budget.steps > most.steps) return no(concat("a call has at most ", most.steps, " steps"));
    if (quote.budget.tokens > most.tokens) return no(concat("a call has at most ", most.tokens, " tokens"));
    if (quote.budget.seconds > most.seconds) return no(concat("a call has at most ", most.seconds, " seconds"));
  }
  if (std::string flaw = belowNeed(quote.capability, quote.budget, quote.locales, *best, quote.models); !flaw.empty())
    return no(std::move(flaw));
  quote.validUntil = {std::min(best->validUntil.seconds, now.seconds + kQuoteSeconds)};
  quote.id = Word(concat("quote-", toHex(sha256(toJson(quote))).substr(0, 16)));
  return {{"offer", valueOf(sealedDocument(quote, {&setup_.key, 1}))}};
}

// ---- contracts

std::string SellerDesk::whyNot(const Opened<Contract>& contract, const Opened<Offer>* offer, const Letter& letter,
                               Moment now) const {
  const Contract& c = contract.document;
  if (offer == nullptr) return "it names no offer of ours";
  if (c.buyer.org != letter.from || !setup_.roots.contains(letter.from)) return "the buyer is another organisation";
  if (c.seller.org != setup_.org || keyOf(c.seller.key) != setup_.key.publicKey() ||
      keyOf(c.seller.evidenceKey) != setup_.evidenceKey.publicKey() || c.seller.log != setup_.log)
    return "the seller's keys or ledger are not ours";
  if (!setup_.holders.contains(c.escrow)) return "the escrow is nobody whom we accept";
  if (!isSignedBy(contract.text, keyOf(c.buyer.key))) return "the buyer has not signed it";
  const json::value* grants = letter.body.if_contains("grants");
  // Now too: a lost key may sign for a time at which it was granted.
  for (const Moment at : {c.signedAt, now})
    if (grants == nullptr || !isGranted(*grants, setup_.roots, c.buyer.org, c.buyer.key, GrantUse::contract, at))
      return "no grant of the buyer's root is for its key";
  if (std::string flaw = termsFlaw(c, now); !flaw.empty()) return flaw;
  if (c.signedAt.seconds > now.seconds + kClockSkewSeconds || now >= offer->document.validUntil ||
      c.signedAt < offer->document.validFrom || c.signedAt >= offer->document.validUntil)
    return "the offer is not valid now";
  if (std::string wider = widerThanOffer(c, offer->document, c.offer); !wider.empty()) return wider;
  return belowNeed(c.capability, c.budget, c.locales, offer->document, c.models);
}

json::object SellerDesk::onPropose(const Letter& letter, Moment now, Out& out) {
  auto contract = openedOf<Contract>(letter.body, "contract");
  if (!contract.ok()) return {{"declined", contract.error().message}};
  const auto known = digests_.find({contract->document.buyer.org, contract->document.id});
  if (known != digests_.end()) {
    const Known& before = contracts_.at(known->second);
    if (known->second == contract->digest) return {{"contract", valueOf(before.kept.envelope)}};
    const PublicKey buyer = keyOf(before.opened.document.buyer.key);
    if (isSignedBy(contract->text, buyer) && allowance_.tells("contract " + letter.from, now))
      out.incidents.push_back({"equivocation",
                               letter.from,
                               "contract " + contract->document.id + " has a second text",
                               {before.kept.envelope, toJson(signedOnlyBy(contract->text, {&buyer, 1}).envelope)}});
    return {{"declined", "another contract has this id"}};
  }
  auto quote = openedOf<Offer>(letter.body, "offer");
  const bool quoted = quote.ok() && quote->document.seller == setup_.org &&
                      isSignedBy(quote->text, setup_.key.publicKey()) && quote->digest == contract->document.offer;
  const Opened<Offer>* offer = quoted ? &*quote : offerOf(contract->document.offer);
  if (const std::string why = whyNot(*contract, offer, letter, now); !why.empty()) return {{"declined", why}};
  if (!mayPropose(letter.from)) return {{"declined", "there are too many contracts without a call"}};
  const PublicKey buyer = keyOf(contract->document.buyer.key);
  SellerContract kept{countersigned(signedOnlyBy(contract->text, {&buyer, 1}), setup_.key),
                      grantOf(letter.body.at("grants"), *contract),
                      {}};
  std::vector<Row> rows;
  if (quoted) {
    const PublicKey ours = setup_.key.publicKey();
    rows.push_back({kQuoted + quote->digest, toJson(signedOnlyBy(quote->text, {&ours, 1}).envelope)});
  }
  rows.push_back({kAgreed + contract->digest, toJson(kept)});
  for (const Row& row : rows)
    if (const Status read = restore(row); !read.ok()) return {{"declined", read.error().message}};
  out.rows = std::move(rows);
  out.firm = true;  // one text an id, whatever is lost
  return {{"contract", valueOf(kept.envelope)}};
}

// The one grant that counts: the others are of no use to who verifies, and their number is not ours.
json::array SellerDesk::grantOf(const json::value& grants, const Opened<Contract>& contract) const {
  const Contract& c = contract.document;
  const PublicKey root = setup_.roots.at(c.buyer.org);
  for (const json::value& each : grants.as_array())
    if (isGranted(json::array{each}, setup_.roots, c.buyer.org, c.buyer.key, GrantUse::contract, c.signedAt))
      return {valueOf(toJson(signedOnlyBy(openEnvelope<Grant>(each)->text, {&root, 1}).envelope))};
  return {};
}

bool SellerDesk::mayPropose(const std::string& org) const {
  return std::size_t(std::ranges::count_if(contracts_, [&](const auto& each) {
           const auto call = calls_.lower_bound(each.first);
           const bool used = call != calls_.end() && call->first.starts_with(each.first);
           return !used && each.second.opened.document.buyer.org == org;
         })) < kUnusedContracts;
}

// ---- orders

std::string SellerDesk::whyNot(const Opened<Order>& order, const Letter& letter, const Known& contract) const {
  const Contract& c = contract.opened.document;
  if (c.buyer.org != letter.from) return "the order is of another buyer";
  if (!isSignedBy(order.text, keyOf(c.buyer.key))) return "the buyer has not signed the order";
  if (const std::string wider = widerThanContract(order.document, c, contract.opened.digest); !wider.empty())
    return wider;
  if (std::string flaw = callNameFlaw(order.document.call); !flaw.empty()) return flaw;
  const auto disclosures = textsOf(letter.body, "disclosures");
  if (std::string flaw = disclosuresFlaw(disclosures); !flaw.empty()) return flaw;
  if (jsonDigest(commitmentTo(disclosures)) != order.document.input) return "the disclosures are not the order's input";
  return "";
}

// Late is no lie: clocks and links differ. A run outside of these times would make evidence that fails EB13.
std::string SellerDesk::outOfTime(const Order& order, const Contract& contract, Moment now) const {
  if (order.issuedAt.seconds > now.seconds + kClockSkewSeconds) return "it is issued in the future";
  const auto needed = std::int64_t(contract.deliverWithinSeconds) / 2;
  if (now.seconds + needed > order.deliverBy.seconds + kClockSkewSeconds)
    return "deliverBy has passed, or comes too soon";
  return "";
}

bool SellerDesk::hasPlaceFor(const std::string& org) const {
  std::size_t open = 0, unchecked = 0;
  for (const auto& [id, live] : calls_) {
    if (live.call.step == SellerStep::ended || contracts_.at(live.call.contract).opened.document.buyer.org != org)
      continue;
    ++open;
    unchecked += live.call.step == SellerStep::check ? 1 : 0;
  }
  return open < kOpenCalls && unchecked < kUncheckedOrders;
}

json::object SellerDesk::onOrder(const Letter& letter, Moment now, Out& out) {
  auto order = openedOf<Order>(letter.body, "order");
  if (!order.ok()) return {{"declined", order.error().message}};
  const auto contract = contracts_.find(order->document.contract);
  if (contract == contracts_.end()) return {{"declined", "the contract is unknown"}};
  const std::string id = externalId(order->document.contract, order->document.call);
  if (const auto known = calls_.find(id); known != calls_.end()) {
    const SellerCall& call = known->second.call;
    if (known->second.order.digest == order->digest) {
      if (call.step == SellerStep::check) return {{"busy", true}};
      if (call.step == SellerStep::decline || call.end == "declined") return {{"declined", "it was declined"}};
      return {{"accepted", true}};
    }
    if (isSignedBy(order->text, keyOf(contract->second.opened.document.buyer.key)) && !mutated("ignoreSecondOrder") &&
        allowance_.tells("order " + letter.from, now))
      out.incidents.push_back({"equivocation",
                               letter.from,
                               "call " + order->document.call + " has a second order",
                               {call.order, toJson(order->text.envelope)}});
    return {{"declined", "another order has this call"}};
  }
  if (const std::string why = whyNot(*order, letter, contract->second); !why.empty()) {
    if (isSignedBy(order->text, keyOf(contract->second.opened.document.buyer.key)) &&
        allowance_.tells("wider " + letter.from, now))
      out.incidents.push_back({"wider", letter.from, why, {toJson(order->text.envelope)}});
    return {{"declined", why}};
  }
  const Contract& c = contract->second.opened.document;
  if (std::string why = outOfTime(order->document, c, now); !why.empty()) return {{"declined", why}};
  const Order& o = order->document;
  if (std::string why = belowNeed(c.capability, o.budget, o.locales, offerOf(c.offer)->document, c.models);
      !why.empty())
    return {{"declined", why}};
  if (!hasPlaceFor(letter.from)) return {{"busy", true}};
  const PublicKey buyer = keyOf(c.buyer.key);
  SellerCall call{o.contract, o.call, toJson(signedOnlyBy(order->text, {&buyer, 1}).envelope),
                  textsOf(letter.body, "disclosures")};
  if (const Status kept = mayKeep(call); !kept.ok()) return {{"declined", kept.error().message}};
  Live& live = calls_[id] = {std::move(call), std::move(*order), {}, {}, false};
  enter(live, SellerStep::check, now, out);
  return {{"busy", true}};  // until the holder has said that the money is held
}

void SellerDesk::checked(Live& live, const json::object& body, Moment now, Out& out) {
  const Order& order = live.order.document;
  const bool held = textOf(body, "state") == "RESERVED" &&
                    (textOf(body, "order") == live.order.digest || mutated("anyHold")) &&
                    textOf(body, "input") == order.input &&
                    (numberOf(body, "amount") == std::optional(std::int64_t(order.amount)) || mutated("anyAmount"));
  // Seconds, by the holder's own clock: ours may differ.
  const std::int64_t needed = std::int64_t(contractOf(live).deliverWithinSeconds) / 2;
  const bool inTime = numberOf(body, "left").value_or(0) >= needed;
  if (held && live.cancelled) return enter(live, SellerStep::decline, now, out);
  // By more than evidence may differ: the holder would refuse what is delivered (EB13).
  const std::int64_t at = numberOf(body, "at").value_or(now.seconds);
  const bool clocks =
      (at <= now.seconds + kClockSkewSeconds && now.seconds <= at + kClockSkewSeconds) || mutated("anyClock");
  if (held && !clocks) {
    const std::string& holder = contractOf(live).escrow;
    if (allowance_.tells("clock " + holder, now))
      out.incidents.push_back(
          {"clock", holder, "its clock and ours differ by more than 300 s: calls are declined", {}});
    return enter(live, SellerStep::decline, now, out);
  }
  if ((held && (inTime || mutated("runLate"))) || mutated("runUnpaid")) return enter(live, SellerStep::run, now, out);
  if (held) return enter(live, SellerStep::decline, now, out);
  // No money, no memory of it: it is looked at anew if it comes again.
  calls_.erase(externalId(live.call.contract, live.call.call));
}

// ---- runs

Statement SellerDesk::statementOf(const Live& live, const RunResult& r) const {
  const Contract& c = contracts_.at(live.call.contract).opened.document;
  const Order& order = live.order.document;
  Statement statement;
  statement.subject.push_back({{}, {jsonDigest(r.output)}});
  statement.predicate = {order.contract,
                         Hex(live.order.digest),
                         order.call,
                         Hex(toHex(sha256("run " + externalId(order.contract, order.call)))),
                         c.capability,
                         order.input,
                         c.policyEpoch,
                         r.models,
                         r.locales,
                         r.usage,
                         r.charge,
                         r.outcome,
                         r.startedAt,
                         r.endedAt,
                         transcriptHead(r.transcript)};
  return statement;
}

Out SellerDesk::runEnded(const std::string& id, const RunResult& result, Moment now) {
  Out out;
  const auto at = calls_.find(id);
  if (at == calls_.end() || at->second.call.step != SellerStep::run) return out;
  Live& live = at->second;
  if (result.models.empty()) {  // there is no evidence of it (EB09)
    enter(live, SellerStep::decline, now, out);
    return out;
  }
  live.call.statement = sealedDocument(statementOf(live, result), {&setup_.evidenceKey, 1});
  live.call.transcript = result.transcript;
  live.call.output = result.output;
  if (const Status kept = mayKeep(live.call); !kept.ok()) {
    live.call.statement.clear();
    live.call.transcript = live.call.output = nullptr;
    out.incidents.push_back({"evidence", setup_.org, concat("call ", live.call.call, ": ", kept.error().message), {}});
    enter(live, SellerStep::decline, now, out);
    return out;
  }
  learn(live.call);
  enter(live, SellerStep::record, now, out);
  return out;
}

json::object SellerDesk::bundleOf(const Live& live, const json::value& receipt) const {
  const Known& contract = contracts_.at(live.call.contract);
  json::array grants = setup_.grants;
  if (const json::array* theirs = contract.kept.grants.if_array())
    grants.insert(grants.end(), theirs->begin(), theirs->end());
  const SellerCall& call = live.call;
  return {{"type", "witan.evidence-bundle/v1"},
          {"grants", std::move(grants)},
          {"offer", parseJson(toJson(offerOf(contract.opened.document.offer)->text.envelope)).value()},
          {"contract", valueOf(contract.kept.envelope)},
          {"order", valueOf(call.order)},
          {"evidence", valueOf(call.statement)},
          {"receipt", receipt},
          {"transcript", call.transcript},
          {"input", commitmentTo(call.disclosures)},
          {"disclosures", json::array()},
          {"output", call.output}};
}

Out SellerDesk::recorded(const std::string& id, const json::value& receipt, Moment now) {
  Out out;
  const auto at = calls_.find(id);
  if (at == calls_.end() || at->second.call.step != SellerStep::record) return out;
  Live& live = at->second;
  const std::string bundle = canonicalJson(bundleOf(live, receipt));
  if (const Verification verified = verifyBundleText(bundle, setup_.roots); !verified.ok()) {
    out.incidents.push_back({"evidence", setup_.org, verified.id + ": " + verified.message, {bundle}});
    enter(live, SellerStep::decline, now, out);
    return out;
  }
  live.call.bundle = bundle;
  enter(live, SellerStep::deliver, now, out);
  return out;
}

// ---- steps

void SellerDesk::enter(Live& live, SellerStep step, Moment now, Out& out) {
  live.call.step = step;
  live.retry.reset();
  if (step == SellerStep::decline && live.call.statement.empty() && !mutated("keepInputs"))
    live.call.disclosures.clear();
  if (step != SellerStep::run) running_.erase(externalId(live.call.contract, live.call.call));
  if (step != SellerStep::check) out.rows.push_back(rowOf(live.call));
  send(live, now, out);
}

void SellerDesk::again(Live& live, Moment now, Out& out) {
  ++live.call.attempt;
  live.retry.tried(now);
  out.rows.push_back(rowOf(live.call));
}

void SellerDesk::end(Live& live, const std::string& how, Moment now, Out& out) {
  live.call.end = how;
  enter(live, SellerStep::ended, now, out);
}

Letter SellerDesk::letterOf(const Live& live) const {
  const SellerCall& c = live.call;
  Letter letter{setup_.org, contractOf(live).escrow, {}, "act", {}};
  letter.id = stepId(externalId(c.contract, c.call), enumName(c.step), c.attempt);
  json::object action{{"call", c.call}};
  if (c.step == SellerStep::check) {
    letter.kind = "view";
    letter.body = {{"entity", c.contract}, {"call", c.call}};
    return letter;
  }
  if (c.step == SellerStep::deliver) {
    action["type"] = "Deliver";
    action["evidence"] = c.statement;
  } else if (c.step == SellerStep::decline) {
    action["type"] = "Decline";
    action["reason"] = "no delivery will come";
  } else {
    action["type"] = "Claim";
  }
  letter.body = {{"entity", c.contract}, {"action", std::move(action)}};
  return letter;
}

void SellerDesk::send(Live& live, Moment now, Out& out) {
  const SellerCall& c = live.call;
  show(live, now, out);
  if (c.step == SellerStep::ended || c.step == SellerStep::window || !live.retry.due(now)) return;
  const std::string id = externalId(c.contract, c.call);
  if (c.step == SellerStep::run && !mayRun(id)) return;
  const bool asks = c.step != SellerStep::run && c.step != SellerStep::record;
  Letter letter = asks ? letterOf(live) : Letter{};
  if (asks && !pacing_.permits(letter, now)) return;
  live.retry.tried(now);
  const Order& order = live.order.document;
  if (c.step == SellerStep::run)
    out.runs.push_back({id, contractOf(live).capability, c.disclosures,
                        std::min(order.amount, contractOf(live).perCall), contractOf(live).policyEpoch, order.budget,
                        order.locales});
  else if (c.step == SellerStep::record)
    out.records.push_back(
        {id, "evidence:" + toHex(sha256(openStatement(valueOf(c.statement))->text.body)), c.statement});
  else
    out.letters.push_back(std::move(letter));
}

// Of each buyer a few, so that none of them waits for another's.
bool SellerDesk::mayRun(const std::string& id) {
  if (running_.contains(id)) return true;
  const std::string& buyer = contractOf(calls_.at(id)).buyer.org;
  const auto ofBuyer = [&](const std::string& other) {
    const auto at = calls_.find(other);
    return at != calls_.end() && contractOf(at->second).buyer.org == buyer;
  };
  if (std::size_t(std::ranges::count_if(running_, ofBuyer)) >= kRunsAtOnce) return false;
  running_.insert(id);
  return true;
}

// Once the delivery is on record the bundle goes to the buyer until it says that it has it.
void SellerDesk::show(Live& live, Moment now, Out& out) {
  const bool recorded = live.call.claimAt || mutated("showUnrecorded");
  if (!recorded || live.call.bundle.empty() || live.call.received || !live.showing.due(now)) return;
  live.showing.tried(now);
  const Contract& c = contractOf(live);
  out.letters.push_back({setup_.org,
                         c.buyer.org,
                         stepId(externalId(live.call.contract, live.call.call), "evidence", 0),
                         "evidence",
                         {{"bundle", valueOf(live.call.bundle)}}});
}

Out SellerDesk::tick(Moment now) {
  Out out;
  for (auto& [id, live] : calls_) {
    const bool waits = live.call.step == SellerStep::run && !running_.contains(id);
    if (live.call.step == SellerStep::window && now >= *live.call.claimAt)
      enter(live, SellerStep::claim, now, out);
    else if (waits && !outOfTime(live.order.document, contractOf(live), now).empty())
      enter(live, SellerStep::decline, now, out);
    send(live, now, out);
  }
  std::erase_if(calls_, [&](const auto& each) {
    const Live& live = each.second;
    return live.call.step == SellerStep::check && !outOfTime(live.order.document, contractOf(live), now).empty();
  });
  return out;
}

void SellerDesk::onAnswer(const Letter& letter, Moment now, Out& out) {
  const std::string id = externalIdOf(letter.id);
  const auto at = calls_.find(id);
  if (at == calls_.end()) return;
  Live& live = at->second;
  if (letter.id == stepId(id, "evidence", 0) && letter.from == contractOf(live).buyer.org) {
    if (live.call.received || !letter.body.contains("received")) return;
    live.call.received = true;
    out.rows.push_back(rowOf(live.call));
    return;
  }
  if (live.call.step == SellerStep::run || live.call.step == SellerStep::record ||
      live.call.step == SellerStep::window || live.call.step == SellerStep::ended)
    return;
  const Letter asked = letterOf(live);
  if (asked.id != letter.id || asked.to != letter.from || letter.body.contains("busy")) return;
  live.call.step == SellerStep::check ? checked(live, letter.body, now, out) : actAnswered(live, letter.body, now, out);
}

void SellerDesk::actAnswered(Live& live, const json::object& body, Moment now, Out& out) {
  const bool approved = textOf(body, "outcome") == "approved";
  const std::string rule = textOf(body, "invariant");
  if (textOf(body, "outcome") == "frozen") return again(live, now, out);
  switch (live.call.step) {
    case SellerStep::deliver: {
      if (!approved) {
        // Late, or clocks that differ: nobody's lie. What else verifies here and fails there is the holder's.
        const bool theirs =
            rule == "ESCROW_EVIDENCE_VALID" && !mutated("blameSelf") && !textOf(body, "message").ends_with("EB13");
        out.incidents.push_back(
            {"evidence",
             theirs ? std::string(contractOf(live).escrow) : setup_.org,
             concat("call ", live.call.call, ": the holder refuses the delivery: ", rule, " ", textOf(body, "message")),
             {live.call.bundle}});
        return rule == "ESCROW_IN_TIME" ? end(live, "unpaid", now, out) : enter(live, SellerStep::decline, now, out);
      }
      const Natural window = contractOf(live).disputeWindowSeconds;
      live.call.claimAt = Moment{now.seconds + std::int64_t(std::min<Natural>(window, Natural{1} << 40))};
      return enter(live, SellerStep::window, now, out);
    }
    case SellerStep::claim:
      if (approved || rule == "ESCROW_SETTLED_ONCE") return end(live, "paid", now, out);
      return again(live, now, out);  // disputed, or the holder's clock is behind
    case SellerStep::decline: return end(live, approved ? "declined" : "unpaid", now, out);
    default: return;
  }
}

}  // namespace witan::market
