#include "market/holder_desk.h"

#include <algorithm>
#include <array>

#include "base/mutant.h"
#include "base/quote.h"

namespace witan::market {

namespace {

using domains::escrow::CallStanding;
using domains::escrow::EscrowStanding;

constexpr std::int64_t kGraceSeconds = 60;         // the parties come first
constexpr std::int64_t kAskAgainSeconds = 86'400;  // meanwhile other calls go on

// Acts that need no holder's word.
constexpr std::array<std::string_view, 6> kBuyerActs{"OpenContract", "Reserve", "Accept",
                                                     "Dispute",      "Reclaim", "BuyerStop"};
constexpr std::array<std::string_view, 4> kSellerActs{"Deliver", "Decline", "Claim", "SellerStop"};

// Names of organisations, entities and calls are any text; an operation id has letters of its own.
std::string operationIdOf(std::string_view kind, const std::string& a, const std::string& b) {
  return concat(kind, ":", toHex(sha256(concat(a, "\n", b))));
}

const char* roleOf(const EscrowStanding& escrow, const std::string& org, std::string_view type) {
  if (org == escrow.buyer && std::ranges::count(kBuyerActs, type) > 0) return "Buyer";
  if (org == escrow.seller && std::ranges::count(kSellerActs, type) > 0) return "Seller";
  return nullptr;
}

}  // namespace

// A disputed call waits for a person; every other one for its time.
void HolderDesk::plan(const std::string& entity, const EscrowStanding& escrow, Moment now) {
  for (const CallStanding& call : escrow.calls) {
    const CallKey key{entity, call.call};
    if (!call.settleAt) {
      due_.erase(key);
      continue;
    }
    const Moment settleAt{call.settleAt->micros / kMicrosPerSecond};
    const bool disputed = call.state == "DISPUTED";
    const std::string type = disputed ? "RequestRuling" : "Settle";
    Due& due = due_[key];
    if (due.type != type) due = {type, due.attempt + 1, now, {}, {}, false, std::move(due.statement)};
    due.buyer = escrow.buyer;
    due.until = call.state == "RESERVED" || call.state == "DELIVERED" ? std::optional(settleAt) : std::nullopt;
    if (!disputed) due.at = {settleAt.seconds + kGraceSeconds};
  }
}

void HolderDesk::watch(const std::string& entity, Moment now) {
  if (const kernel::EntityState* state = look_(entity)) plan(entity, domains::escrow::standingOf(*state), now);
}

void HolderDesk::unruled(const std::string& entity, Moment now) {
  for (auto at = due_.lower_bound({entity, ""}); at != due_.end() && at->first.first == entity; ++at)
    if (Due& due = at->second; std::exchange(due.asked, false)) {
      ++due.attempt;
      due.at = {now.seconds + kAskAgainSeconds};
    }
}

bool HolderDesk::hasDispute(const std::string& entity, Moment now) const {
  for (auto at = due_.lower_bound({entity, ""}); at != due_.end() && at->first.first == entity; ++at)
    if (at->second.type == "RequestRuling" && !at->second.asked && now >= at->second.at) return true;
  return false;
}

bool HolderDesk::mayFreeze(const std::string& entity, Moment now) const {
  for (auto at = due_.lower_bound({entity, ""}); at != due_.end() && at->first.first == entity; ++at)
    if (at->second.until && now <= *at->second.until) return false;
  return true;
}

std::size_t HolderDesk::openCallsOf(const std::string& buyer) const {
  return std::size_t(std::ranges::count_if(due_, [&](const auto& each) { return each.second.buyer == buyer; }));
}

// ---- the beginning of an escrow

std::string HolderDesk::whyNot(const Opened<Contract>& contract, const Letter& letter, Moment now) const {
  const Contract& c = contract.document;
  if (c.escrow != org_) return "the contract names another escrow";
  if (letter.from != c.buyer.org && letter.from != c.seller.org) return "the contract is of others";
  const json::value* grants = letter.body.if_contains("grants");
  const auto flaw = [&](const Word& org, const Hex& key) -> std::string {
    if (!roots_.contains(org)) return concat("the root of ", clip(org), " is not trusted here");
    for (const Moment at : {c.signedAt, now})  // a lost key may sign for a time at which it was granted
      if (grants == nullptr || !isGranted(*grants, roots_, org, key, GrantUse::contract, at))
        return concat("no grant of the root of ", clip(org), " is for its key");
    return isSignedBy(contract.text, keyOf(key)) ? "" : concat(clip(org), " has not signed the contract");
  };
  if (std::string times = timesFlaw(c.deliverWithinSeconds, c.disputeWindowSeconds); !times.empty()) return times;
  const std::string buyer = flaw(c.buyer.org, c.buyer.key);
  return buyer.empty() ? flaw(c.seller.org, c.seller.key) : buyer;
}

void HolderDesk::onOpen(const Letter& letter, Moment now, Out& out) const {
  const auto answer = [&](const char* outcome, const std::string& why) {
    out.letters.push_back(answerTo(letter, {{"outcome", outcome}, {"message", why}}));
  };
  const json::value* envelope = letter.body.if_contains("contract");
  const auto contract =
      envelope == nullptr ? Result<Opened<Contract>>(invalid("no contract")) : openEnvelope<Contract>(*envelope);
  if (!contract.ok()) return answer("refused", contract.error().message);
  if (const std::string why = whyNot(*contract, letter, now); !why.empty()) return answer("refused", why);
  const Contract& c = contract->document;
  const std::string& entity = contract->digest;
  const kernel::EntityState* state = look_(entity);
  // An entity is one contract: what is open there is this one.
  if (state != nullptr && domains::escrow::viewOf(*state).at("phase") != "NEW") return answer("approved", "");
  const std::string text = toJson(contract->text.envelope);
  if (state != nullptr)
    out.acts.push_back({entity,
                        "Buyer",
                        operationIdOf("open", entity, letter.id),
                        {{"type", "OpenContract"}, {"envelope", text}},
                        letter.from,
                        letter.id});
  else
    out.acts.push_back({entity,
                        "",
                        operationIdOf("begin", entity, ""),
                        {{"type", "begin"},
                         {"fields", json::object{{"party.buyer", c.buyer.org},
                                                 {"party.buyerKey", c.buyer.key},
                                                 {"party.seller", c.seller.org},
                                                 {"party.sellerKey", c.seller.key}}},
                         {"envelope", text}},
                        letter.from,
                        letter.id});
}

// ---- acts

Out HolderDesk::onLetter(const Letter& letter, Moment now) {
  Out out;
  const auto answer = [&](json::object body) { out.letters.push_back(answerTo(letter, std::move(body))); };
  if (letter.kind != "act" && letter.kind != "view" && letter.kind != "open") return out;
  if (!allowance_.admits(letter.from, now, out)) {
    answer({{"busy", true}});
    return out;
  }
  if (letter.kind == "open") {
    onOpen(letter, now, out);
    return out;
  }
  const std::string entity = textOf(letter.body, "entity");
  const json::value* value = letter.body.if_contains("action");
  const json::object* action = value == nullptr ? nullptr : value->if_object();
  const std::string call = letter.kind == "view" ? textOf(letter.body, "call")
                           : action == nullptr   ? std::string()
                                                 : textOf(*action, "call");
  const kernel::EntityState* state = look_(entity);
  const EscrowStanding escrow =
      state == nullptr ? EscrowStanding{} : domains::escrow::standingOf(*state, call.empty() ? "-" : call);
  if (state == nullptr || (letter.from != escrow.buyer && letter.from != escrow.seller)) {
    answer({{"outcome", "refused"}, {"message", "no escrow of yours"}});
  } else if (letter.kind == "act") {
    onAct(letter, entity, escrow, action == nullptr ? json::object() : *action, now, out);
  } else if (!letter.body.contains("call")) {
    answer(domains::escrow::viewOf(*state));
  } else if (escrow.calls.empty()) {
    answer({{"state", "UNKNOWN"}});
  } else {
    const CallStanding& known = escrow.calls.front();
    const std::int64_t end = known.settleAt ? known.settleAt->micros / kMicrosPerSecond : 0;
    const auto due = due_.find({entity, call});
    answer({{"statement", due == due_.end() ? "" : due->second.statement},
            {"state", known.state},
            {"order", known.order},
            {"input", known.input},
            {"amount", known.amount},
            {"evidence", known.evidence},
            {"left", std::max<std::int64_t>(0, end - now.seconds)}});
  }
  return out;
}

void HolderDesk::onAct(const Letter& letter, const std::string& entity, const EscrowStanding& escrow,
                       const json::object& action, Moment now, Out& out) const {
  const auto answer = [&](json::object body) { out.letters.push_back(answerTo(letter, std::move(body))); };
  const std::string type = textOf(action, "type");
  const char* role = roleOf(escrow, letter.from, type);
  if (role == nullptr || letter.id.empty()) return answer({{"outcome", "refused"}, {"message", "no act of your role"}});
  if (type == "Reserve") {
    if (const std::string flaw = callNameFlaw(textOf(action, "call")); !flaw.empty())
      return answer({{"outcome", "refused"}, {"message", flaw}});
    // A repetition finds what it began.
    const bool begins = escrow.calls.empty();
    if (begins && openCallsOf(escrow.buyer) >= kOpenCalls)
      return answer({{"busy", true}, {"message", "there are too many open calls"}});
    if (begins && hasDispute(entity, now) && !mutated("freezeCalls"))
      return answer({{"busy", true}, {"message", "a dispute of this contract waits for its ruling"}});
  }
  out.acts.push_back({entity, role, operationIdOf("letter", letter.from, letter.id), action, letter.from, letter.id});
}

Out HolderDesk::decided(const EscrowAct& act, const kernel::Decision& decision, Moment now) {
  Out out;
  const bool again = decision.outcome == kernel::Outcome::duplicate;
  const kernel::Outcome outcome = again ? decision.recorded : decision.outcome;
  if (act.role.empty() && outcome == kernel::Outcome::initialised) {
    out.acts.push_back({act.entity,
                        "Buyer",
                        operationIdOf("open", act.entity, act.letter),
                        {{"type", "OpenContract"}, {"envelope", textOf(act.action, "envelope")}},
                        act.asker,
                        act.letter});
    return out;
  }
  if (!act.asker.empty())
    out.letters.push_back(
        {org_,
         act.asker,
         act.letter,
         "answer",
         {{"outcome", enumName(outcome)}, {"invariant", decision.invariant}, {"message", decision.message}}});
  const std::string type = textOf(act.action, "type"), call = textOf(act.action, "call");
  const kernel::EntityState* state = look_(act.entity);
  if (call.empty() || state == nullptr) return out;
  const auto due = due_.find({act.entity, call});
  if (act.asker.empty() && outcome != kernel::Outcome::approved) {
    if (due == due_.end()) return out;
    // Under another id, since this one stands for what was answered. A person is not asked twice.
    ++due->second.attempt;
    due->second.at = {now.seconds + (outcome == kernel::Outcome::frozen ? 5 : 3'600)};
    due->second.asked = outcome == kernel::Outcome::escalated;
    return out;
  }
  plan(act.entity, domains::escrow::standingOf(*state, call), now);
  const auto open = due_.find({act.entity, call});
  if (open != due_.end() && type == "Deliver" && outcome == kernel::Outcome::approved)
    open->second.statement = textOf(act.action, "evidence");
  return out;
}

Out HolderDesk::tick(Moment now) {
  Out out;
  for (auto& [key, due] : due_) {
    const auto& [entity, call] = key;
    if (now < due.at || due.asked) continue;
    if (due.type == "RequestRuling" && !mutated("freezeCalls") && !mayFreeze(entity, now)) continue;
    due.at = {now.seconds + 60};
    out.acts.push_back({entity,
                        "Holder",
                        stepId(operationIdOf("holder", entity, call), due.type, due.attempt),
                        {{"type", due.type}, {"call", call}},
                        {},
                        {}});
  }
  return out;
}

}  // namespace witan::market
