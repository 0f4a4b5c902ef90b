#include "market/holder_desk.h"

#include <algorithm>
#include <array>

#include "base/quote.h"

namespace witan::market {

namespace {

using domains::escrow::CallStanding;
using domains::escrow::EscrowStanding;

constexpr std::int64_t kGraceSeconds = 60;  // the parties come first

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
void HolderDesk::plan(const std::string& entity, const CallStanding& call, Moment now) {
  const CallKey key{entity, call.call};
  if (!call.settleAt) {
    due_.erase(key);
    return;
  }
  const bool disputed = call.state == "DISPUTED";
  const std::string type = disputed ? "RequestRuling" : "Settle";
  Due& due = due_[key];
  if (due.type != type) due = {type, due.attempt + 1, {}};
  due.at = disputed ? now : Moment{call.settleAt->micros / kMicrosPerSecond + kGraceSeconds};
}

void HolderDesk::watch(const std::string& entity, Moment now) {
  if (const kernel::EntityState* state = look_(entity))
    for (const CallStanding& call : domains::escrow::standingOf(*state).calls) plan(entity, call, now);
}

// ---- the beginning of an escrow

std::string HolderDesk::whyNot(const Opened<Contract>& contract, const Letter& letter) const {
  const Contract& c = contract.document;
  if (c.escrow != org_) return "the contract names another escrow";
  if (letter.from != c.buyer.org && letter.from != c.seller.org) return "the contract is of others";
  const json::value* grants = letter.body.if_contains("grants");
  const auto flaw = [&](const Word& org, const Hex& key) -> std::string {
    if (!roots_.contains(org)) return concat("the root of ", clip(org), " is not trusted here");
    if (grants == nullptr || !isGranted(*grants, roots_, org, key, GrantUse::contract, c.signedAt))
      return concat("no grant of the root of ", clip(org), " is for its key");
    return isSignedBy(contract.text, keyOf(key)) ? "" : concat(clip(org), " has not signed the contract");
  };
  const std::string buyer = flaw(c.buyer.org, c.buyer.key);
  return buyer.empty() ? flaw(c.seller.org, c.seller.key) : buyer;
}

void HolderDesk::onOpen(const Letter& letter, Out& out) const {
  const auto answer = [&](const char* outcome, const std::string& why) {
    out.letters.push_back(answerTo(letter, {{"outcome", outcome}, {"message", why}}));
  };
  const json::value* envelope = letter.body.if_contains("contract");
  const auto contract =
      envelope == nullptr ? Result<Opened<Contract>>(invalid("no contract")) : openEnvelope<Contract>(*envelope);
  if (!contract.ok()) return answer("refused", contract.error().message);
  if (const std::string why = whyNot(*contract, letter); !why.empty()) return answer("refused", why);
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
  const std::string entity = textOf(letter.body, "entity");
  const kernel::EntityState* state = look_(entity);
  if (!allowance_.admits(letter.from, now, out)) {
    answer({{"busy", true}});
    return out;
  }
  if (letter.kind == "open") {
    onOpen(letter, out);
    return out;
  }
  const EscrowStanding escrow =
      state == nullptr ? EscrowStanding{} : domains::escrow::standingOf(*state, textOf(letter.body, "call"));
  if (state == nullptr || (letter.from != escrow.buyer && letter.from != escrow.seller)) {
    answer({{"outcome", "refused"}, {"message", "no escrow of yours"}});
    return out;
  }
  if (letter.kind == "view" && !letter.body.contains("call")) {
    answer(domains::escrow::viewOf(*state));
    return out;
  }
  if (letter.kind == "view") {
    json::object body{{"state", "UNKNOWN"}};
    for (const CallStanding& call : escrow.calls)
      body = {{"state", call.state},
              {"order", call.order},
              {"input", call.input},
              {"amount", call.amount},
              {"evidence", call.evidence}};
    answer(std::move(body));
    return out;
  }
  const json::value* action = letter.body.if_contains("action");
  const json::object* members = action == nullptr ? nullptr : action->if_object();
  const std::string type = members == nullptr ? "" : textOf(*members, "type");
  const char* role = roleOf(escrow, letter.from, type);
  if (role == nullptr || letter.id.empty() || letter.id.size() > kernel::kKeyMax - letter.from.size() - 1) {
    answer({{"outcome", "refused"}, {"message", "no act of your role"}});
    return out;
  }
  const auto open = std::ranges::count_if(due_, [&](const auto& each) { return each.first.first == entity; });
  if (type == "Reserve" && std::size_t(open) >= kOpenCalls) {
    answer({{"busy", true}});
    return out;
  }
  out.acts.push_back({entity, role, operationIdOf("letter", letter.from, letter.id), *members, letter.from, letter.id});
  return out;
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
    if (outcome == kernel::Outcome::escalated) due_.erase(due);
    return out;
  }
  const EscrowStanding escrow = domains::escrow::standingOf(*state, call);
  if (!escrow.calls.empty()) plan(act.entity, escrow.calls.front(), now);
  return out;
}

Out HolderDesk::tick(Moment now) {
  Out out;
  for (auto& [key, due] : due_) {
    if (now < due.at) continue;
    due.at = {now.seconds + 60};
    const auto& [entity, call] = key;
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
