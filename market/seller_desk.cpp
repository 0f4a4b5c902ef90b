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
  for (const std::string& text : setup_.offers) restore({kOffered, text});
}

Result<Out> SellerDesk::publish(const Offer& offer) {
  if (offer.seller != setup_.org) return invalid("the offer is of another seller");
  if (offers_.size() >= kMostOffers) return conflict(concat("there are ", kMostOffers, " offers already"));
  Out out;
  out.rows.push_back({kOffered + toHex(sha256(toJson(offer))), sealedDocument(offer, {&setup_.key, 1})});
  restore(out.rows.back());
  return out;
}

void SellerDesk::restore(const Row& row) {
  const json::value value = valueOf(row.value);
  if (row.key.starts_with(kOffered)) {
    if (auto offer = openEnvelope<Offer>(value); offer.ok()) offers_[offer->digest] = std::move(*offer);
  } else if (row.key.starts_with(kQuoted)) {
    if (auto offer = openEnvelope<Offer>(value); offer.ok()) quoted_[offer->digest] = std::move(*offer);
  } else if (row.key.starts_with(kAgreed)) {
    SellerContract kept;
    if (!readJson(value, kept, "row").ok()) return;
    auto opened = openEnvelope<Contract>(valueOf(kept.envelope));
    if (!opened.ok()) return;
    const std::string digest = opened->digest;
    digests_[{opened->document.buyer.org, opened->document.id}] = digest;
    contracts_[digest] = {std::move(*opened), std::move(kept)};
  } else {
    SellerCall kept;
    if (!readJson(value, kept, "row").ok()) return;
    auto order = openEnvelope<Order>(valueOf(kept.order));
    if (!order.ok() || !contracts_.contains(kept.contract)) return;
    const std::string id = externalId(kept.contract, kept.call);
    calls_[id] = {std::move(kept), std::move(*order), {}, {}};
  }
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

void SellerDesk::hurry() {
  for (auto& [id, live] : calls_) live.retry.hurry(), live.showing.hurry();
}

Result<Out> SellerDesk::claim(const std::string& contract, const std::string& call, Moment now) {
  const auto at = calls_.find(externalId(contract, call));
  if (at == calls_.end()) return notFound("no call " + call, "see: witan market contract show");
  Live& live = at->second;
  if (live.call.end == "paid") return Out{};
  if (live.call.step != SellerStep::window && live.call.step != SellerStep::claim)
    return conflict(concat("call ", call, " is at step ", enumName(live.call.step), ": nothing is to be claimed"));
  Out out;
  enter(live, SellerStep::claim, now, out);
  return out;
}

Out SellerDesk::onLetter(const Letter& letter, Moment now) {
  Out out;
  if (letter.kind == "answer") {
    onAnswer(letter, now, out);
    return out;
  }
  if (!allowance_.admits(letter.from, now, out)) {
    out.letters.push_back(answerTo(letter, {{"busy", true}}));
    return out;
  }
  if (letter.kind == "quote")
    out.letters.push_back(answerTo(letter, onQuote(letter, now)));
  else if (letter.kind == "propose")
    out.letters.push_back(answerTo(letter, onPropose(letter, now, out)));
  else if (letter.kind == "order")
    out.letters.push_back(answerTo(letter, onOrder(letter, now, out)));
  else if (letter.kind == "cancel") {
    const auto at = calls_.find(externalId(textOf(letter.body, "contract"), textOf(letter.body, "call")));
    const bool open = at != calls_.end() &&
                      contracts_.at(at->second.call.contract).opened.document.buyer.org == letter.from &&
                      (at->second.call.step == SellerStep::check || at->second.call.step == SellerStep::run);
    if (open) enter(at->second, SellerStep::decline, now, out);
    out.letters.push_back(answerTo(letter, {{"cancelled", open}}));
  }
  return out;
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
  if (grants == nullptr || !isGranted(*grants, setup_.roots, c.buyer.org, c.buyer.key, GrantUse::contract, c.signedAt))
    return "no grant of the buyer's root is for its key";
  if (c.signedAt.seconds > now.seconds + kClockSkewSeconds || now >= offer->document.validUntil ||
      c.signedAt < offer->document.validFrom || c.signedAt >= offer->document.validUntil)
    return "the offer is not valid now";
  if (c.notBefore >= c.expiry || c.perCall < 1 || c.total < 1 || c.calls < 1) return "it permits no call";
  return widerThanOffer(c, offer->document, c.offer);
}

json::object SellerDesk::onPropose(const Letter& letter, Moment now, Out& out) {
  auto contract = openedOf<Contract>(letter.body, "contract");
  if (!contract.ok()) return {{"declined", contract.error().message}};
  const auto known = digests_.find({contract->document.buyer.org, contract->document.id});
  if (known != digests_.end()) {
    const Known& before = contracts_.at(known->second);
    if (known->second == contract->digest) return {{"contract", valueOf(before.kept.envelope)}};
    out.incidents.push_back({"equivocation",
                             letter.from,
                             "contract " + contract->document.id + " has a second text",
                             {before.kept.envelope, toJson(contract->text.envelope)}});
    return {{"declined", "another contract has this id"}};
  }
  auto quote = openedOf<Offer>(letter.body, "offer");
  const bool quoted = quote.ok() && quote->document.seller == setup_.org &&
                      isSignedBy(quote->text, setup_.key.publicKey()) && quote->digest == contract->document.offer;
  const Opened<Offer>* offer = quoted ? &*quote : offerOf(contract->document.offer);
  if (const std::string why = whyNot(*contract, offer, letter, now); !why.empty()) return {{"declined", why}};
  if (quoted) out.rows.push_back({kQuoted + quote->digest, toJson(quote->text.envelope)});
  SellerContract kept{countersigned(contract->text, setup_.key), textOf(letter.body, "entity"),
                      letter.body.at("grants")};
  out.rows.push_back({kAgreed + contract->digest, toJson(kept)});
  for (const Row& row : out.rows) restore(row);
  return {{"contract", valueOf(kept.envelope)}};
}

// ---- orders

std::string SellerDesk::whyNot(const Opened<Order>& order, const Letter& letter, const Known& contract) const {
  const Contract& c = contract.opened.document;
  if (c.buyer.org != letter.from) return "the order is of another buyer";
  if (!isSignedBy(order.text, keyOf(c.buyer.key))) return "the buyer has not signed the order";
  if (const std::string wider = widerThanContract(order.document, c, contract.opened.digest); !wider.empty())
    return wider;
  if (jsonDigest(commitmentTo(textsOf(letter.body, "disclosures"))) != order.document.input)
    return "the disclosures are not the order's input";
  return "";
}

std::size_t SellerDesk::openCallsOf(const std::string& org) const {
  return std::size_t(std::ranges::count_if(calls_, [&](const auto& each) {
    const SellerCall& call = each.second.call;
    return call.step != SellerStep::ended && contracts_.at(call.contract).opened.document.buyer.org == org;
  }));
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
    if (isSignedBy(order->text, keyOf(contract->second.opened.document.buyer.key)) && !mutated("ignoreSecondOrder"))
      out.incidents.push_back({"equivocation",
                               letter.from,
                               "call " + order->document.call + " has a second order",
                               {call.order, toJson(order->text.envelope)}});
    return {{"declined", "another order has this call"}};
  }
  if (const std::string why = whyNot(*order, letter, contract->second); !why.empty()) {
    out.incidents.push_back({"wider", letter.from, why, {toJson(order->text.envelope)}});
    return {{"declined", why}};
  }
  // Late is no lie: clocks and links differ.
  if (now.seconds > order->document.deliverBy.seconds + kClockSkewSeconds)
    return {{"declined", "deliverBy has passed"}};
  if (openCallsOf(letter.from) >= kOpenCalls) return {{"busy", true}};
  SellerCall call{order->document.contract, order->document.call, toJson(order->text.envelope),
                  textsOf(letter.body, "disclosures")};
  Live& live = calls_[id] = {std::move(call), std::move(*order), {}, {}};
  enter(live, SellerStep::check, now, out);
  return {{"busy", true}};  // until the holder has said that the money is held
}

void SellerDesk::checked(Live& live, const json::object& body, Moment now, Out& out) {
  const Order& order = live.order.document;
  const json::value* amount = body.if_contains("amount");
  const bool held = textOf(body, "state") == "RESERVED" && textOf(body, "order") == live.order.digest &&
                    textOf(body, "input") == order.input && amount != nullptr && amount->is_int64() &&
                    amount->get_int64() == std::int64_t(order.amount);
  if (held || mutated("runUnpaid")) return enter(live, SellerStep::run, now, out);
  end(live, "declined", now, out);
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
  live.call.statement = sealedDocument(statementOf(live, result), {&setup_.evidenceKey, 1});
  live.call.transcript = result.transcript;
  live.call.output = result.output;
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
  const json::object bundle = bundleOf(live, receipt);
  if (const Verification verified = verifyBundle(bundle, setup_.roots); !verified.ok()) {
    out.incidents.push_back({"evidence", setup_.org, verified.id + ": " + verified.message, {canonicalJson(bundle)}});
    enter(live, SellerStep::decline, now, out);
    return out;
  }
  live.call.bundle = canonicalJson(bundle);
  live.showing.tried(now);  // the buyer compares it with what the holder has: that comes first
  enter(live, SellerStep::deliver, now, out);
  return out;
}

// ---- steps

void SellerDesk::enter(Live& live, SellerStep step, Moment now, Out& out) {
  live.call.step = step;
  live.retry.reset();
  out.rows.push_back(rowOf(live.call));
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
  const Known& contract = contracts_.at(c.contract);
  Letter letter{setup_.org, contract.opened.document.escrow, {}, "act", {}};
  letter.id = stepId(externalId(c.contract, c.call), enumName(c.step), c.attempt);
  json::object action{{"call", c.call}};
  if (c.step == SellerStep::check) {
    letter.kind = "view";
    letter.body = {{"entity", contract.kept.entity}, {"call", c.call}};
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
  letter.body = {{"entity", contract.kept.entity}, {"action", std::move(action)}};
  return letter;
}

void SellerDesk::send(Live& live, Moment now, Out& out) {
  const SellerCall& c = live.call;
  show(live, now, out);
  if (c.step == SellerStep::ended || c.step == SellerStep::window || !live.retry.due(now)) return;
  live.retry.tried(now);
  const std::string id = externalId(c.contract, c.call);
  if (c.step == SellerStep::run)
    out.runs.push_back({id, contracts_.at(c.contract).opened.document.capability, c.disclosures,
                        std::min(live.order.document.amount, contracts_.at(c.contract).opened.document.perCall)});
  else if (c.step == SellerStep::record)
    out.records.push_back(
        {id, "evidence:" + toHex(sha256(openStatement(valueOf(c.statement))->text.body)), c.statement});
  else
    out.letters.push_back(letterOf(live));
}

// The bundle goes to the buyer until it says that it has it, whatever becomes of the call meanwhile.
void SellerDesk::show(Live& live, Moment now, Out& out) {
  if (live.call.bundle.empty() || live.call.received || !live.showing.due(now)) return;
  live.showing.tried(now);
  const Contract& c = contracts_.at(live.call.contract).opened.document;
  out.letters.push_back({setup_.org,
                         c.buyer.org,
                         stepId(externalId(live.call.contract, live.call.call), "evidence", 0),
                         "evidence",
                         {{"bundle", valueOf(live.call.bundle)}}});
}

Out SellerDesk::tick(Moment now) {
  Out out;
  for (auto& [id, live] : calls_) {
    if (live.call.step == SellerStep::window && now >= *live.call.claimAt) enter(live, SellerStep::claim, now, out);
    send(live, now, out);
  }
  return out;
}

void SellerDesk::onAnswer(const Letter& letter, Moment now, Out& out) {
  for (auto& [id, live] : calls_) {
    if (!letter.id.starts_with(id)) continue;
    const Contract& c = contracts_.at(live.call.contract).opened.document;
    if (letter.id == stepId(id, "evidence", 0) && letter.from == c.buyer.org) {
      if (live.call.received || !letter.body.contains("received")) return;
      live.call.received = true;
      out.rows.push_back(rowOf(live.call));
      return;
    }
    if (live.call.step == SellerStep::run || live.call.step == SellerStep::record ||
        live.call.step == SellerStep::window || live.call.step == SellerStep::ended)
      continue;
    const Letter asked = letterOf(live);
    if (asked.id != letter.id || asked.to != letter.from || letter.body.contains("busy")) continue;
    return live.call.step == SellerStep::check ? checked(live, letter.body, now, out)
                                               : actAnswered(live, letter.body, now, out);
  }
}

void SellerDesk::actAnswered(Live& live, const json::object& body, Moment now, Out& out) {
  const bool approved = textOf(body, "outcome") == "approved";
  const std::string rule = textOf(body, "invariant");
  if (textOf(body, "outcome") == "frozen") return again(live, now, out);
  switch (live.call.step) {
    case SellerStep::deliver: {
      if (!approved) {
        out.incidents.push_back(
            {"evidence", setup_.org, "the holder refuses the delivery: " + rule, {live.call.bundle}});
        return rule == "ESCROW_IN_TIME" ? end(live, "unpaid", now, out) : enter(live, SellerStep::decline, now, out);
      }
      const Natural window = contracts_.at(live.call.contract).opened.document.disputeWindowSeconds;
      live.showing.reset();
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
