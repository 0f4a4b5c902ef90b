// The market: what this organisation sells, buys and holds (docs/market.md).
#include <algorithm>

#include "base/quote.h"
#include "domains/escrow/escrow.h"
#include "node/api/control_routes.h"
#include "node/api/stream_places.h"
#include "node/market/market_host.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(MarketPartnerRow, (std::string, org, "The organisation"),
             (std::string, root, "Its trusted root; or empty"),
             (std::string, address, "Where it is dialled; empty: it dials"),
             (bool, connected, "Whether letters can go to it now"))
WITAN_STRUCT(OfferRow, (std::string, offer, "Digest of the offer"), (std::string, seller, "Who sells"),
             (std::string, graph, "Id of the graph"), (std::int64_t, version, "Its version"),
             (std::string, currency, "Unit of the money"), (std::uint64_t, perCall, "Price of a call"),
             (std::uint64_t, maxCalls, "Calls of a contract, at most"),
             (std::uint64_t, deliverWithinSeconds, "From the order to the delivery, at most"),
             (std::uint64_t, disputeWindowSeconds, "For a dispute after the delivery"),
             (std::uint64_t, steps, "Of a call, at most"), (std::uint64_t, tokens, "Of a call, at most"),
             (std::uint64_t, seconds, "Of a call, at most"), (std::vector<std::string>, locales, "Where data gets to"),
             (std::string, validUntil, "End of the offer"))
WITAN_ENUM(MarketSide, bought, sold)
WITAN_STRUCT(ContractRow, (std::string, contract, "Digest of the contract, and its entity at the holder"),
             (std::string, id, "Its id"), (MarketSide, side, "Whether it was bought or sold here"),
             (std::string, buyer, "Who buys"), (std::string, seller, "Who sells"),
             (std::string, escrow, "Who holds the money"), (std::string, graph, "Id of the graph"),
             (std::string, currency, "Unit of the money"), (std::uint64_t, perCall, "Price of a call"),
             (std::uint64_t, total, "Money, at most"), (std::uint64_t, calls, "Calls, at most"),
             (std::string, expiry, "End of the contract"),
             (std::string, step, "propose, open, agreed, declined or refused"),
             (std::string, reason, "Why it was declined or refused"))
WITAN_STRUCT(CallRow, (std::string, contract, "Digest of the contract"), (std::string, call, "Name of the call"),
             (MarketSide, side, "Whether it was bought or sold here"), (std::string, step, "What is done next"),
             (std::string, end, "How it ended; empty: it goes on"), (std::string, reason, "What failed"),
             (bool, evidence, "Whether evidence is here that verifies"))
WITAN_STRUCT(MarketShown, (std::string, org, "This organisation; empty: the node takes no part"),
             (std::string, root, "Its root key, hex"), (std::string, address, "Where partners are heard"),
             (std::vector<MarketPartnerRow>, partners, "Organisations whose roots are trusted, or that are dialled"),
             (std::vector<OfferRow>, offers, "What is sold here"),
             (std::vector<ContractRow>, contracts, "Contracts of this organisation"),
             (std::vector<CallRow>, calls, "Their calls"))

WITAN_STRUCT(MarketChange, (std::optional<ContractRow>, contract, "A contract as it is now; or null"),
             (std::optional<CallRow>, call, "A call as it is now; or null"))

WITAN_STRUCT(PublishRequest, (std::string, graph, "Id of a deployed graph", 1),
             (std::int64_t, price, "Of a call, in the unit of the currency"), (std::string, currency, "As EUR.cent", 1),
             (Omittable<std::int64_t>, calls, "Calls of a contract, at most; default: 1000"),
             (Omittable<std::int64_t>, deliverSeconds, "From the order to the delivery; default: 3600"),
             (Omittable<std::int64_t>, windowSeconds, "For a dispute; default: 3600"),
             (Omittable<std::int64_t>, days, "For which the offer is valid; default: 30"))
WITAN_STRUCT(OfferPublished, (std::string, offer, "Digest of the offer"))

WITAN_STRUCT(FindRequest, (std::string, at, "The organisation that is asked", 1),
             (Omittable<std::string>, skill, "Offers of this graph only"))
WITAN_STRUCT(OffersFound, (std::vector<OfferRow>, offers, "What the organisation sells"),
             (json::value, card, "Its card in the directory (A2A), verified"))

WITAN_STRUCT(QuoteRequest, (std::string, at, "The organisation that is asked", 1),
             (std::string, skill, "Id of the graph", 1),
             (Omittable<std::vector<std::string>>, locales, "Where data may get to; default: as offered"),
             (Omittable<std::int64_t>, steps, "Of a call, at most; default: as offered"),
             (Omittable<std::int64_t>, tokens, "Of a call, at most; default: as offered"),
             (Omittable<std::int64_t>, seconds, "Of a call, at most; default: as offered"))
WITAN_STRUCT(OffersQuoted, (std::vector<OfferRow>, offers, "The one that is quoted"))

WITAN_STRUCT(ContractRequest, (std::string, seller, "Who sells", 1), (std::string, escrow, "Who holds the money", 1),
             (std::string, offer, "Digest of an offer, or the graph", 1),
             (Omittable<std::string>, id, "Id of the contract; the same again goes on; default: a new one", 1),
             (Omittable<std::int64_t>, total, "Money, at most; default: of all calls"),
             (Omittable<std::int64_t>, calls, "Calls, at most; default: the offer's"),
             (Omittable<std::int64_t>, days, "For which the contract is valid; default: 30"))
WITAN_STRUCT(ContractProposed, (std::string, id, "Id of the contract"))
WITAN_STRUCT(ContractNamed, (std::string, contract, "Id or digest of a contract", 1))
WITAN_STRUCT(EscrowAnswer, (json::value, answer, "What the holder of the money says"))

WITAN_STRUCT(OrderRequest, (std::string, contract, "Id or digest of the contract", 1),
             (json::object, input, "The input; only its salted digest leaves, and the seller gets the members"),
             (Omittable<std::string>, call, "Name of the call; the same again changes nothing; default: the next one",
              1),
             (Omittable<std::int64_t>, amount, "Money that is held; default: the price"),
             (Omittable<bool>, review, "true: a person accepts or disputes what comes"))
WITAN_STRUCT(CallNamed, (std::string, call, "C1, or CONTRACT/C1", 1))
WITAN_ENUM(CallAct, accept, dispute, reclaim, claim)
WITAN_STRUCT(ActRequest, (std::string, call, "C1, or CONTRACT/C1", 1), (CallAct, act, "What is said"),
             (Omittable<std::string>, reason, "Of a dispute"))
WITAN_STRUCT(ActTaken, (bool, entered, "Always true"))
WITAN_STRUCT(EvidenceRequest, (std::string, call, "C1, or CONTRACT/C1", 1),
             (Omittable<std::string>, disclose, "Names of members of the input that are disclosed, joined by commas"))
WITAN_STRUCT(EvidenceShown, (json::value, bundle, "The evidence bundle"))

Result<MarketHost*> marketOf(const ApiContext& context) {
  MarketHost* market = context.daemon.market();
  if (market == nullptr)
    return Error{ErrorCode::unavailable, "this node takes no part in the market",
                 "ask the device that does, or set [market] org in witan.toml"};
  return market;
}

using GivenNumber = Omittable<std::int64_t>;

// 0 would be taken for a number that was left out.
Status oneAtLeast(std::initializer_list<GivenNumber> numbers) {
  if (std::ranges::all_of(numbers, [](const GivenNumber& each) { return each.value_or(1) >= 1; })) return okStatus();
  return invalid("a number is below 1", "leave out what is as by default");
}

std::string timeText(market::Moment moment) { return formatTime(market::timeOf(moment)); }

OfferRow rowOf(const market::Opened<market::Offer>& offer) {
  const market::Offer& o = offer.document;
  return {offer.digest,
          o.seller,
          o.capability.graph,
          std::int64_t(o.capability.version),
          o.currency,
          o.perCall,
          o.maxCalls,
          o.deliverWithinSeconds,
          o.disputeWindowSeconds,
          o.budget.steps,
          o.budget.tokens,
          o.budget.seconds,
          {o.locales.begin(), o.locales.end()},
          timeText(o.validUntil)};
}

ContractRow rowOf(const std::string& digest, const market::Contract& c, MarketSide side) {
  return {digest,     c.id,      side,    c.buyer.org, c.seller.org,       c.escrow, c.capability.graph,
          c.currency, c.perCall, c.total, c.calls,     timeText(c.expiry), "agreed", ""};
}

template <class Call>
CallRow rowOf(const Call& call, MarketSide side, std::string reason) {
  return {call.contract,     call.call,           side, std::string(enumName(call.step)), call.end,
          std::move(reason), !call.bundle.empty()};
}

std::vector<MarketPartnerRow> partnersOf(const Daemon& daemon, const MarketHost& market) {
  std::map<std::string, MarketPartnerRow> rows;
  if (const auto roots = readMarketRoots(daemon.path()); roots.ok())
    for (const auto& [org, root] : *roots) rows[org] = {org, root, "", market.isConnected(org)};
  for (const MarketPartner& one : market.setup().partners) {
    MarketPartnerRow& row = rows[one.org];
    row = {one.org, row.root, one.address, market.isConnected(one.org)};
  }
  std::vector<MarketPartnerRow> list;
  for (auto& [org, row] : rows) list.push_back(std::move(row));
  return list;
}

ContractRow rowOf(const market::ContractDesk::Known& known) {
  ContractRow row = rowOf(known.opened.digest, known.opened.document, MarketSide::bought);
  row.step = enumName(known.proposal.step);
  row.reason = known.proposal.reason;
  return row;
}

std::vector<ContractRow> contractsOf(const MarketHost& market) {
  std::vector<ContractRow> rows;
  for (const auto& [digest, known] : market.proposals().all()) rows.push_back(rowOf(known));
  for (const std::string& digest : market.seller().contracts())
    rows.push_back(rowOf(digest, *market.seller().contract(digest), MarketSide::sold));
  return rows;
}

std::vector<CallRow> callsOf(const MarketHost& market) {
  std::vector<CallRow> rows;
  for (const market::BuyerCall* call : market.buyer().calls())
    rows.push_back(rowOf(*call, MarketSide::bought, call->reason));
  for (const market::SellerCall* call : market.seller().calls()) rows.push_back(rowOf(*call, MarketSide::sold, ""));
  return rows;
}

Result<MarketShown> showMarket(const ApiContext& context, const Nothing&) {
  MarketHost* market = context.daemon.market();
  if (market == nullptr) return MarketShown{};
  MarketShown shown{market->identity().org,
                    toHex(market->identity().root),
                    market->address(),
                    partnersOf(context.daemon, *market),
                    {},
                    contractsOf(*market),
                    callsOf(*market)};
  for (const auto& [digest, offer] : market->seller().offers()) shown.offers.push_back(rowOf(offer));
  return shown;
}

// All rows at first, then those that have changed: what a change costs does not depend on how many there are.
void tell(net::HttpStream& stream, const MarketChange& change) { stream.send("market", toJson(change)); }

void tellChanges(net::HttpStream& stream, const MarketHost& market, const MarketChanges& changes) {
  for (const std::string& digest : changes.bought)
    if (const auto at = market.proposals().all().find(digest); at != market.proposals().all().end())
      tell(stream, {rowOf(at->second), std::nullopt});
  for (const std::string& digest : changes.sold)
    if (const market::Contract* contract = market.seller().contract(digest))
      tell(stream, {rowOf(digest, *contract, MarketSide::sold), std::nullopt});
  const auto ofCall = [&](const std::string& id, const auto& desk, MarketSide side, auto reason) {
    const std::size_t slash = id.find('/');
    if (const auto* call = desk.find(id.substr(0, slash), id.substr(slash + 1)))
      tell(stream, {std::nullopt, rowOf(*call, side, reason(*call))});
  };
  for (const std::string& id : changes.boughtCalls)
    ofCall(id, market.buyer(), MarketSide::bought, [](const market::BuyerCall& call) { return call.reason; });
  for (const std::string& id : changes.soldCalls)
    ofCall(id, market.seller(), MarketSide::sold, [](const market::SellerCall&) { return std::string(); });
}

void stream(const ApiContext& context, const Nothing&) {
  const auto market = marketOf(context);
  if (!market.ok()) return context.responder.refuse(market.error());
  const StreamPlaces::Place place = context.streams.take(context.role);
  if (!place) return context.responder.refuse(noStreamPlace());
  const std::shared_ptr<net::HttpStream> reader = context.responder.reply->stream({});
  reader->onGone([place] {});
  for (ContractRow& row : contractsOf(**market)) tell(*reader, {std::move(row), std::nullopt});
  for (CallRow& row : callsOf(**market)) tell(*reader, {std::nullopt, std::move(row)});
  Daemon& daemon = context.daemon;
  const std::uint64_t handle = (*market)->watch([&daemon, reader](const MarketChanges& changes) {
    if (const MarketHost* host = daemon.market()) tellChanges(*reader, *host, changes);
  });
  reader->onGone([&daemon, handle] {
    if (MarketHost* host = daemon.market()) host->unwatch(handle);
  });
}

Result<OfferPublished> publish(const ApiContext& context, const PublishRequest& asked) {
  WITAN_TRY(market, marketOf(context));
  WITAN_DO(oneAtLeast({asked.calls, asked.deliverSeconds, asked.windowSeconds, asked.days}));
  WITAN_TRY(offer, market->publish({asked.graph, asked.currency, asked.price, asked.calls.value_or(0),
                                    asked.deliverSeconds.value_or(0), asked.windowSeconds.value_or(0),
                                    asked.days.value_or(0)}));
  return OfferPublished{offer};
}

void find(const ApiContext& context, const FindRequest& asked, Later<OffersFound> later) {
  const auto market = marketOf(context);
  if (!market.ok()) return later.refuse(market.error());
  (*market)->find(asked.at, [later, skill = asked.skill.value_or("")](const Result<json::object>& answer) {
    if (!answer.ok()) return later.refuse(answer.error());
    OffersFound found{{}, answer->at("card")};
    for (const json::value& each : answer->at("offers").as_array())
      if (const auto offer = market::openEnvelope<market::Offer>(each); offer.ok())
        if (skill.empty() || offer->document.capability.graph == skill) found.offers.push_back(rowOf(*offer));
    later.answer(found);
  });
}

void quote(const ApiContext& context, const QuoteRequest& asked, Later<OffersQuoted> later) {
  const auto market = marketOf(context);
  if (!market.ok()) return later.refuse(market.error());
  if (const Status good = oneAtLeast({asked.steps, asked.tokens, asked.seconds}); !good.ok())
    return later.refuse(good.error());
  (*market)->quote({asked.at, asked.skill, asked.locales.value_or(std::vector<std::string>{}), asked.steps.value_or(0),
                    asked.tokens.value_or(0), asked.seconds.value_or(0)},
                   [later](const Result<json::object>& answer) {
                     if (!answer.ok()) return later.refuse(answer.error());
                     OffersQuoted quoted;
                     for (const json::value& each : answer->at("offers").as_array())
                       if (const auto offer = market::openEnvelope<market::Offer>(each); offer.ok())
                         quoted.offers.push_back(rowOf(*offer));
                     later.answer(quoted);
                   });
}

void propose(const ApiContext& context, const ContractRequest& asked, Later<ContractProposed> later) {
  const auto market = marketOf(context);
  if (!market.ok()) return later.refuse(market.error());
  if (const Status good = oneAtLeast({asked.total, asked.calls, asked.days}); !good.ok())
    return later.refuse(good.error());
  (*market)->propose({asked.seller, asked.escrow, asked.offer, asked.id.value_or(""), asked.total.value_or(0),
                      asked.calls.value_or(0), asked.days.value_or(0)},
                     [later](const Result<std::string>& id) {
                       id.ok() ? later.answer(ContractProposed{*id}) : later.refuse(id.error());
                     });
}

void answerEscrow(const Later<EscrowAnswer>& later, const Result<json::object>& answer) {
  answer.ok() ? later.answer(EscrowAnswer{json::value(*answer)}) : later.refuse(answer.error());
}

void stop(const ApiContext& context, const ContractNamed& asked, Later<EscrowAnswer> later) {
  const auto market = marketOf(context);
  if (!market.ok()) return later.refuse(market.error());
  (*market)->stopContract(asked.contract, [later](const Result<json::object>& answer) { answerEscrow(later, answer); });
}

void escrow(const ApiContext& context, const ContractNamed& asked, Later<EscrowAnswer> later) {
  // Another device of the holder has its ledgers too.
  const auto* held =
      context.daemon.market() == nullptr ? MarketHost::escrowIn(context.daemon.replica(), asked.contract) : nullptr;
  if (held != nullptr) return later.answer(EscrowAnswer{json::value(domains::escrow::viewOf(*held))});
  const auto market = marketOf(context);
  if (!market.ok()) return later.refuse(market.error());
  (*market)->view(asked.contract, [later](const Result<json::object>& answer) { answerEscrow(later, answer); });
}

Result<CallRow> order(const ApiContext& context, const OrderRequest& asked) {
  WITAN_TRY(market, marketOf(context));
  WITAN_DO(oneAtLeast({asked.amount}));
  WITAN_TRY(call, market->order({asked.contract, asked.call.value_or(""), asked.amount.value_or(0),
                                 asked.review.value_or(false), asked.input}));
  return rowOf(*call, MarketSide::bought, call->reason);
}

Result<ActTaken> act(const ApiContext& context, const ActRequest& asked) {
  WITAN_TRY(market, marketOf(context));
  WITAN_DO(market->decide(asked.call, std::string(enumName(asked.act)), asked.reason.value_or("")));
  return ActTaken{true};
}

Result<EvidenceShown> evidence(const ApiContext& context, const EvidenceRequest& asked) {
  WITAN_TRY(market, marketOf(context));
  std::vector<std::string> names;
  std::string rest = asked.disclose.value_or("");
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    names.push_back(rest.substr(0, comma));
    rest.erase(0, comma + 1);
  }
  WITAN_TRY(bundle, market->bundle(asked.call, names));
  return EvidenceShown{json::value(std::move(bundle))};
}

}  // namespace

std::vector<ControlRoute> marketRoutes() {
  using enum ControlRole;
  return {
      get("/v1/market", "showMarket", "market", observer,
          "This organisation in the market: partners, offers, contracts and calls", showMarket),
      streamRoute<MarketChange>(
          {"GET",
           "/v1/market/stream",
           "streamMarket",
           "market",
           observer,
           "Contracts and calls as server-sent events: first all of them, then each that changes; a MarketChange each",
           {},
           "text/event-stream"},
          stream),
      post("/v1/market/publish", "publishOffer", "market", operator_, "Offers runs of a graph for a price", publish,
           {404, 409}),
      get("/v1/market/find", "findOffers", "market", observer, "What a partner sells", find, {404}),
      post("/v1/market/quote", "quoteOffer", "market", operator_,
           "An offer narrowed to what is asked for, valid for an hour; a proposal may name it", quote, {404, 409}),
      post("/v1/market/propose", "proposeContract", "market", operator_,
           "Proposes a contract under an offer; with the seller's word it is opened at the holder", propose,
           {404, 409}),
      post("/v1/market/stop", "stopContract", "market", operator_, "Ends new calls of a contract", stop, {404, 409}),
      get("/v1/market/escrow", "showEscrow", "market", observer,
          "The money and the calls of a contract, as the holder says it", escrow, {404, 409}),
      post("/v1/market/order", "orderCall", "market", operator_,
           "Orders a call: the money is held before the order leaves", order, {404, 409}),
      post("/v1/market/act", "actOnCall", "market", operator_,
           "Accepts, disputes or reclaims a call as its buyer, or claims it as its seller", act, {404, 409}),
      get("/v1/market/evidence", "showEvidence", "market", observer, "The evidence of a call, as a bundle", evidence,
          {404, 409})};
}

}  // namespace witan::node::api
