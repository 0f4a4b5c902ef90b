#include "market/testing/market_lies.h"

#include <algorithm>

namespace witan::market {

// ---- the seller

// To each order of the call: no, at length.
std::optional<MarketLie> SellerLies::decline(Letter& letter) {
  const std::string call = externalIdOf(letter.id).substr(std::min(letter.id.size(), entity_.size() + 1));
  if (next_ == MarketLie::longDecline && !calls_.contains(call)) calls_[call] = *std::exchange(next_, {});
  const auto at = calls_.find(call);
  if (at == calls_.end() || at->second != MarketLie::longDecline) return {};
  letter.body = {{"declined", std::string(200'000, 'x')}};
  return MarketLie::longDecline;
}

std::optional<MarketLie> SellerLies::twist(Letter& letter) {
  if (letter.kind == "answer" && letter.id.ends_with("/order")) return decline(letter);
  const json::value* action = letter.body.if_contains("action");
  const bool delivers = action != nullptr && textOf(action->as_object(), "type") == "Deliver";
  if (!delivers && letter.kind != "evidence") return {};
  std::string call;
  if (delivers) {
    call = textOf(action->as_object(), "call");
    const bool lies = next_ && next_ != MarketLie::longDecline && !honest_.contains(call);
    if (lies && !calls_.contains(call)) calls_[call] = *std::exchange(next_, {});
    if (!calls_.contains(call)) honest_.insert(call);
  } else {
    const auto order = openEnvelope<Order>(letter.body.at("bundle").at("order"));
    call = order->document.call;
  }
  const auto at = calls_.find(call);
  if (at == calls_.end()) return {};
  const MarketLie lie = at->second;
  if (!delivers) {
    json::object& bundle = letter.body["bundle"].as_object();
    if (lie == MarketLie::alteredBundle) bundle["output"] = "what nobody has made";
    if (lie == MarketLie::withheldOutput) bundle["output"] = nullptr;
    return lie == MarketLie::lateEvidence || lie >= MarketLie::alteredBundle ? std::optional(lie) : std::nullopt;
  }
  json::object& acted = letter.body["action"].as_object();
  if (lie < MarketLie::alteredBundle) acted["evidence"] = twistedEvidence(lie, call, textOf(acted, "evidence"));
  const bool laterOn =
      lie == MarketLie::alteredBundle || lie == MarketLie::withheldOutput || lie == MarketLie::longDecline;
  return laterOn ? std::nullopt : std::optional(lie);
}

std::string SellerLies::twistedEvidence(MarketLie lie, const std::string& call, const std::string& evidence) const {
  Statement statement = openStatement(valueOf(evidence)).value().document;
  if (lie == MarketLie::forgedEvidence) return sealedDocument(statement, {&toy_.stranger, 1});
  if (lie == MarketLie::otherEvidence) statement.predicate.call = call + "0";
  if (lie == MarketLie::secondStatement) statement.predicate.charge += 1;
  return lie == MarketLie::lateEvidence ? evidence : sealedDocument(statement, {&toy_.evidence, 1});
}

// ---- the holder

// Of the id of a letter about a call, CONTRACT/CALL/STEP; empty: it is of none.
std::string HolderLies::callOf(const std::string& letterId) const {
  const std::string id = externalIdOf(letterId);
  return id.starts_with(entity_ + "/") ? id.substr(entity_.size() + 1) : "";
}

// Whether the next lie is told here: `about` are those that this letter could tell.
bool HolderLies::lies(const std::string& call, std::initializer_list<MarketLie> about) {
  if (call.empty()) return false;
  if (const auto known = calls_.find(call); known != calls_.end()) return std::ranges::count(about, known->second) > 0;
  std::set<MarketLie>& honest = honest_[call];
  if (next_ && std::ranges::count(about, *next_) > 0 && !honest.contains(*next_)) {
    calls_[call] = *std::exchange(next_, {});
    return true;
  }
  honest.insert(about.begin(), about.end());
  return false;
}

std::optional<Letter> HolderLies::answerInstead(const Letter& asked) {
  const json::value* action = asked.body.if_contains("action");
  const json::object* members = action == nullptr ? nullptr : action->if_object();
  if (members == nullptr || textOf(*members, "type") != "Deliver") return {};
  const std::string call = callOf(asked.id);
  if (!lies(call, {MarketLie::refusedDelivery})) {
    statements_[call] = textOf(*members, "evidence");
    return {};
  }
  return answerTo(asked, {{"outcome", "rejected"},
                          {"invariant", "ESCROW_EVIDENCE_VALID"},
                          {"message", concat("call \"", call, "\": the evidence fails EB08")}});
}

// What is held, as the seller asks.
std::optional<MarketLie> HolderLies::twistHold(const std::string& call, json::object& body) {
  if (textOf(body, "state") != "RESERVED" ||
      !lies(call, {MarketLie::smallerHold, MarketLie::otherHold, MarketLie::otherTime}))
    return {};
  const MarketLie lie = calls_.at(call);
  if (lie == MarketLie::smallerHold) body["amount"] = numberOf(body, "amount").value_or(0) - 1;
  if (lie == MarketLie::otherHold) body["order"] = toHex(sha256("another order than " + textOf(body, "order")));
  if (lie == MarketLie::otherTime) body["at"] = numberOf(body, "at").value_or(0) + 100'000;
  return lie;
}

// How a call stands, as the buyer asks.
std::optional<MarketLie> HolderLies::twistStanding(const std::string& call, json::object& body) {
  if (textOf(body, "evidence").empty()) {
    if (textOf(body, "state") != "RESERVED" || !lies(call, {MarketLie::falseDecline})) return {};
    body["state"] = "DECLINED";
    return MarketLie::falseDecline;
  }
  const auto other = std::ranges::find_if(statements_, [&](const auto& each) { return each.first != call; });
  if (textOf(body, "state") != "DELIVERED" || other == statements_.end() || !lies(call, {MarketLie::otherStatement}))
    return {};
  body["statement"] = other->second;
  body["evidence"] = toHex(sha256(openStatement(valueOf(other->second))->text.body));
  return MarketLie::otherStatement;
}

std::optional<MarketLie> HolderLies::twist(Letter& answer) {
  if (answer.kind != "answer") return {};
  const std::string call = callOf(answer.id);
  if (answer.to == kParties[kSeller]) return answer.body.contains("left") ? twistHold(call, answer.body) : std::nullopt;
  if (answer.body.contains("left")) return twistStanding(call, answer.body);
  json::value* calls = answer.body.if_contains("calls");
  std::optional<MarketLie> told;
  if (calls != nullptr && calls->is_object())
    for (auto&& each : calls->get_object())
      if (const auto lie = twistStanding(callOf(std::string(each.key())), each.value().as_object())) told = lie;
  return told;
}

bool HolderLies::matters(MarketLie lie, const Letter& letter, const BuyerDesk& buyer, const SellerDesk& seller) const {
  if (lie == MarketLie::falseDecline) return true;  // leaves no proof by itself
  const std::string call = callOf(letter.id);
  if (letter.to == kParties[kSeller]) {
    const SellerCall* known = seller.find(entity_, call);
    const SellerStep step = lie == MarketLie::refusedDelivery ? SellerStep::deliver : SellerStep::check;
    return known != nullptr && known->step == step &&
           letter.id == stepId(externalId(entity_, call), enumName(step), known->attempt);
  }
  const auto compares = [&](const std::string& name) {
    const BuyerCall* known = buyer.find(entity_, name);
    const bool asked =
        known != nullptr && (call.empty() || letter.id == stepId(externalId(entity_, name), "compare", known->attempt));
    return asked && known->step == BuyerStep::compare;
  };
  if (!call.empty()) return compares(call);
  // A look at many calls.
  return std::ranges::any_of(letter.body.at("calls").as_object(), [&](const auto& each) {
    const auto told = calls_.find(callOf(std::string(each.key())));
    return told != calls_.end() && told->second == lie && compares(told->first) &&
           !textOf(each.value().as_object(), "evidence").empty();
  });
}

}  // namespace witan::market
