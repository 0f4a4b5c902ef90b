// MarketHost: what is sold here and what partners sell; contracts.
#include "base/quote.h"
#include "base/seams.h"
#include "node/market/market_host.h"
#include "replica/graph_runtime.h"

namespace witan::node {

using market::Contract;
using market::Letter;
using market::Out;

namespace {

constexpr std::size_t kMostQuotes = 100;

using Offers = std::map<std::string, market::Opened<market::Offer>>;

// Of what was found at `seller`, the newest offer of this graph or digest; or a quote of this digest.
std::optional<market::Opened<market::Offer>> bestOffer(const std::string& seller, const std::string& named,
                                                       const json::object& found, const Offers& quotes) {
  for (const auto& [digest, quote] : quotes)
    if (named.size() >= 8 && digest.starts_with(named) && quote.document.seller == seller) return quote;
  std::optional<market::Opened<market::Offer>> best;
  const market::Hex key(std::string(found.at("keys").as_array().at(0).as_string()));
  for (const json::value& each : found.at("offers").as_array()) {
    auto offer = market::openEnvelope<market::Offer>(each);
    if (!offer.ok() || offer->document.seller != seller || !market::isSignedBy(offer->text, market::keyOf(key)))
      continue;
    const bool fits = offer->document.capability.graph == named || offer->digest.starts_with(named);
    if (fits && (!best || best->document.validUntil < offer->document.validUntil)) best = *std::move(offer);
  }
  return best;
}

market::Natural orElse(std::int64_t wanted, market::Natural otherwise) {
  return wanted > 0 ? market::Natural(wanted) : otherwise;
}

}  // namespace

// ---- the directory

json::array MarketHost::offers() const {
  json::array list;
  for (const auto& [digest, offer] : seller_->offers())
    if (offer.document.validUntil > now()) list.push_back(market::valueOf(toJson(offer.text.envelope)));
  return list;
}

json::object MarketHost::card() {
  std::vector<std::shared_ptr<const graph::Document>> documents;
  std::vector<CardSkill> skills;
  for (const auto& [digest, offer] : seller_->offers()) {
    if (offer.document.validUntil <= now()) continue;
    const auto found = runs_->deployed(offer.document.capability.graph);
    const bool same = found && found->capability == offer.document.capability;
    if (same) documents.push_back(found->document);
    skills.push_back({&offer, same ? documents.back().get() : nullptr});
  }
  return marketCard(identity_, address_, skills);
}

void MarketHost::answerFind(const Letter& letter) {
  Out out;
  const bool admitted = allowance_.admits(letter.from, now(), out);
  json::object body{{"busy", true}};
  if (admitted) body = {{"card", card()}, {"offers", offers()}};
  out.letters.push_back(market::answerTo(letter, std::move(body)));
  carryOut(Desk::holder, std::move(out));
}

void MarketHost::find(const std::string& org, FoundOffers done) {
  question(org, "find", {}, [this, org, done](Result<json::object> answer) {
    if (!answer.ok()) return done(std::move(answer));
    const json::value* card = answer->if_contains("card");
    const json::value* list = answer->if_contains("offers");
    if (card == nullptr || list == nullptr || !list->is_array() || list->get_array().size() > market::kMostOffers)
      return done(invalid(org + " has answered in another form"));
    const auto read = readMarketCard(*card, org, roots(), now());
    if (!read.ok()) return done(read.error());
    json::array seller{std::string(read->seller.key), std::string(read->seller.evidenceKey),
                       std::string(read->seller.log)};
    done(json::object{{"card", *card}, {"offers", *list}, {"keys", std::move(seller)}, {"grants", read->grants}});
  });
}

void MarketHost::quote(const QuoteWish& wish, FoundOffers done) {
  json::object body{{"capability", wish.graph}};
  if (!wish.locales.empty()) {
    const std::set<std::string> locales(wish.locales.begin(), wish.locales.end());
    body["locales"] = json::array(locales.begin(), locales.end());
  }
  find(wish.seller, [this, wish, body, done](const Result<json::object>& found) mutable {
    if (!found.ok()) return done(found.error());
    if (wish.steps > 0 || wish.tokens > 0 || wish.seconds > 0) {
      const auto offered = bestOffer(wish.seller, wish.graph, *found, {});
      if (!offered) return done(notFound(concat(wish.seller, " offers no ", wish.graph)));
      const market::Budget& most = offered->document.budget;
      body["budget"] = parseJson(toJson(market::Budget{orElse(wish.steps, most.steps), orElse(wish.tokens, most.tokens),
                                                       orElse(wish.seconds, most.seconds)}))
                           .value();
    }
    question(wish.seller, "quote", std::move(body), [this, wish, keys = *found, done](const Result<json::object>& got) {
      done(got.ok() ? takeQuote(wish.seller, keys, *got) : Result<json::object>(got.error()));
    });
  });
}

Result<json::object> MarketHost::takeQuote(const std::string& seller, const json::object& found,
                                           const json::object& answer) {
  const json::value* envelope = answer.if_contains("offer");
  if (envelope == nullptr) return conflict(concat(seller, " quotes nothing: ", market::textOf(answer, "declined")));
  WITAN_TRY(offer, market::openEnvelope<market::Offer>(*envelope));
  const market::Hex key(std::string(found.at("keys").as_array().at(0).as_string()));
  if (offer.document.seller != seller || !market::isSignedBy(offer.text, market::keyOf(key)))
    return Error{ErrorCode::unauthorised, concat("the quote is not signed by ", seller), ""};
  std::erase_if(quotes_, [&](const auto& each) { return each.second.document.validUntil <= now(); });
  if (quotes_.size() >= kMostQuotes)
    return conflict(concat(kMostQuotes, " quotes are valid here"), "propose a contract, or wait until they end");
  json::object quoted{{"offers", json::array{*envelope}}};
  const std::string digest = offer.digest;
  quotes_.insert_or_assign(digest, std::move(offer));
  return quoted;
}

// ---- offers and contracts

Result<std::string> MarketHost::publish(const PublishWish& wish) {
  if (wish.price < 1 || wish.price > market::kMostMoney)
    return invalid(concat("a call costs 1 at least, and ", market::kMostMoney, " at most"));
  if (wish.days > market::kMostSeconds / kDaySeconds) return invalid("an offer is valid for ten years at most");
  const auto found = runs_->deployed(wish.graph);
  if (!found) return notFound("no graph " + inQuotes(wish.graph) + " is deployed here", "witan graph deploy FILE");
  if (const std::string flaw = MarketRuns::flawOfSold(*found->document); !flaw.empty())
    return conflict(concat("graph ", inQuotes(wish.graph), " cannot be sold: ", flaw), "sell the inner graph itself");
  market::Offer offer;
  for (const ToolConfig& tool : node_.tools)
    if (tool.kind == "model") offer.models.push_back(marketModelOf(tool));
  std::ranges::sort(offer.models);
  if (offer.models.empty())
    return conflict("no model is declared here, and evidence must name one", "see docs/tools.md: kind = \"model\"");
  const std::string epoch = node_.policyEpoch();
  if (epoch.empty())
    return conflict("no policy is in force here, and graphs do not run without one", "see docs/agents.md: policy.toml");
  const graph::Document& document = *found->document;
  const std::set<std::string> locales(document.locales.begin(), document.locales.end());
  const auto budget = [&](const char* member, market::Natural otherwise) {
    const auto at = document.budget ? document.budget->find(member) : graph::Budget::const_iterator();
    return document.budget && at != document.budget->end() ? market::Natural(at->second) : otherwise;
  };
  offer.id = market::Word(concat(wish.graph, "-", randomHex(4)));
  offer.seller = market::Word(identity_.org);
  offer.capability = found->capability;
  offer.policyEpoch = market::Word(epoch);
  for (const std::string& one : locales) offer.locales.emplace_back(one);
  offer.currency = market::Word(wish.currency);
  offer.perCall = market::Natural(wish.price);
  offer.budget = {budget("steps", 1'000), budget("tokens", 1'000'000),
                  budget("seconds", market::Natural(document.timeoutMs / 1'000))};
  offer.validFrom = {now().seconds - market::kClockSkewSeconds};
  offer.validUntil = {now().seconds + std::int64_t(orElse(wish.days, 30)) * kDaySeconds};
  offer.maxCalls = orElse(wish.calls, 1'000);
  offer.deliverWithinSeconds = orElse(wish.deliverSeconds, 3'600);
  offer.disputeWindowSeconds = orElse(wish.windowSeconds, 3'600);
  WITAN_TRY(out, seller_->publish(offer));
  carryOut(Desk::seller, std::move(out));
  return toHex(sha256(toJson(offer)));
}

// What the seller offers for a contract that is narrowed to what is wished.
Result<Contract> MarketHost::contractFor(const ProposeWish& wish, const json::object& found) {
  if (wish.days > market::kMostSeconds / kDaySeconds) return invalid("a contract is valid for ten years at most");
  const json::array& keys = found.at("keys").as_array();
  const market::Hex sellerKey(std::string(keys.at(0).as_string()));
  const auto best = bestOffer(wish.seller, wish.offer, found, quotes_);
  if (!best)
    return notFound(concat(wish.seller, " offers no ", wish.offer), "see: witan market find --at " + wish.seller);
  const market::Offer& o = best->document;
  Contract c;
  c.id = market::Word(wish.id.empty() ? "K-" + randomHex(6) : wish.id);
  c.offer = market::Hex(best->digest);
  c.buyer = {market::Word(identity_.org), toHex(identity_.contract.publicKey())};
  c.seller = {market::Word(wish.seller), sellerKey, std::string(keys.at(1).as_string()),
              market::Word(std::string(keys.at(2).as_string()))};
  c.escrow = market::Word(wish.escrow);
  c.capability = o.capability;
  c.policyEpoch = o.policyEpoch;
  c.models = o.models;
  c.locales = o.locales;
  c.currency = o.currency;
  c.perCall = o.perCall;
  c.budget = o.budget;
  c.calls = orElse(wish.calls, o.maxCalls);
  market::Natural total = 0;
  if (__builtin_mul_overflow(o.perCall, c.calls, &total)) total = market::kMostMoney;
  c.total = orElse(wish.total, std::min(total, market::Natural(market::kMostMoney)));
  c.signedAt = now();
  // The holder's clock may be behind.
  c.notBefore = {std::max(o.validFrom.seconds, now().seconds - market::kClockSkewSeconds)};
  c.expiry = {now().seconds + std::int64_t(orElse(wish.days, 30)) * kDaySeconds};
  c.deliverWithinSeconds = o.deliverWithinSeconds;
  c.disputeWindowSeconds = o.disputeWindowSeconds;
  const std::string wider = market::widerThanOffer(c, o, best->digest);
  return wider.empty() ? Result<Contract>(c) : invalid(wider, "see: witan market find --at " + wish.seller);
}

void MarketHost::propose(const ProposeWish& wish, Proposed done) {
  if (const market::ContractDesk::Known* known = wish.id.empty() ? nullptr : contracts_->find(wish.id)) {
    Result<Out> again = contracts_->propose(known->opened.document, {}, now());
    if (!again.ok()) return done(again.error());
    carryOut(Desk::contracts, *std::move(again));
    return done(std::string(wish.id));
  }
  find(wish.seller, [this, wish, done](const Result<json::object>& found) {
    if (!found.ok()) return done(found.error());
    const Result<Contract> contract = contractFor(wish, *found);
    if (!contract.ok()) return done(contract.error());
    const auto quoted = quotes_.find(contract->offer);
    Result<Out> begun = contracts_->propose(
        *contract, found->at("grants").as_array(), now(),
        quoted == quotes_.end() ? json::value(nullptr) : market::valueOf(toJson(quoted->second.text.envelope)));
    if (!begun.ok()) return done(begun.error());
    carryOut(Desk::contracts, *std::move(begun));
    done(std::string(contract->id));
  });
}

}  // namespace witan::node
