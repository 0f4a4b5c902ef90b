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

constexpr std::size_t kMostStatementBytes = 1 << 20;  // of one answer about many calls

// Acts that need no holder's word. A contract is opened by `open` alone, which has the escrow that is its own.
constexpr std::array<std::string_view, 5> kBuyerActs{"Reserve", "Accept", "Dispute", "Reclaim", "BuyerStop"};
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
  if (std::string terms = termsFlaw(c, now); !terms.empty()) return terms;
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
  const std::string open = state == nullptr ? "" : domains::escrow::standingOf(*state, "-").contract;
  if (!open.empty() && open != entity) return answer("refused", "another contract is open there");
  if (!open.empty()) return answer("approved", "");
  const std::array keys{keyOf(c.buyer.key), keyOf(c.seller.key)};
  const std::string text = toJson(signedOnlyBy(contract->text, keys).envelope);
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

json::object HolderDesk::callOf(const std::string& entity, const CallStanding& call, Moment now) const {
  const std::int64_t end = call.settleAt ? call.settleAt->micros / kMicrosPerSecond : 0;
  const auto due = due_.find({entity, call.call});
  return {{"statement", due == due_.end() ? "" : due->second.statement},
          {"state", call.state},
          {"order", call.order},
          {"input", call.input},
          {"amount", call.amount},
          {"evidence", call.evidence},
          {"at", now.seconds},  // a clock that differs makes evidence that is refused
          {"left", std::max<std::int64_t>(0, end - now.seconds)}};
}

// Of calls that are named CONTRACT/CALL, those of this party.
json::object HolderDesk::callsOf(const std::string& party, const json::value& named, Moment now) const {
  json::object calls;
  std::size_t bytes = 0;
  const json::array* list = named.if_array();
  if (list == nullptr || list->size() > kCallsOfAView) return calls;
  for (const json::value& each : *list) {
    const std::string id = each.is_string() ? std::string(each.get_string()) : "";
    const std::size_t slash = std::min(id.find('/'), id.size());
    const std::string entity = id.substr(0, slash), call = id.substr(std::min(slash + 1, id.size()));
    const kernel::EntityState* state = call.empty() ? nullptr : look_(entity);
    if (state == nullptr) continue;
    const EscrowStanding escrow = domains::escrow::standingOf(*state, call);
    if (escrow.calls.empty() || (party != escrow.buyer && party != escrow.seller)) continue;
    json::object standing = callOf(entity, escrow.calls.front(), now);
    bytes += standing.at("statement").get_string().size();
    if (bytes > kMostStatementBytes) standing["statement"] = "";
    calls[id] = std::move(standing);
  }
  return calls;
}

json::object HolderDesk::onView(const Letter& letter, Moment now) const {
  if (const json::value* named = letter.body.if_contains("calls"))
    return {{"calls", callsOf(letter.from, *named, now)}};
  const std::string entity = textOf(letter.body, "entity"), call = textOf(letter.body, "call");
  const kernel::EntityState* state = look_(entity);
  const EscrowStanding escrow =
      state == nullptr ? EscrowStanding{} : domains::escrow::standingOf(*state, call.empty() ? "-" : call);
  if (state == nullptr || (letter.from != escrow.buyer && letter.from != escrow.seller))
    return {{"outcome", "refused"}, {"message", "no escrow of yours"}};
  if (!letter.body.contains("call")) return domains::escrow::viewOf(*state);
  if (escrow.calls.empty()) return {{"state", "UNKNOWN"}};
  return callOf(entity, escrow.calls.front(), now);
}

Out HolderDesk::onLetter(Letter letter, Moment now) {
  Out out;
  if (letter.kind != "act" && letter.kind != "view" && letter.kind != "open") return out;
  const std::string why = trim(letter);
  if (!(letter.kind == "view" ? views_ : acts_).admits(letter.from, now, out))
    out.letters.push_back(answerTo(letter, {{"busy", true}}));
  else if (!why.empty())
    out.letters.push_back(refusalOf(letter, why));
  else if (letter.kind == "open")
    onOpen(letter, now, out);
  else if (letter.kind == "view")
    out.letters.push_back(answerTo(letter, onView(letter, now)));
  else
    onAct(letter, now, out);
  return out;
}

void HolderDesk::onAct(const Letter& letter, Moment now, Out& out) const {
  const auto answer = [&](json::object body) { out.letters.push_back(answerTo(letter, std::move(body))); };
  const std::string entity = textOf(letter.body, "entity");
  const json::value* given = letter.body.if_contains("action");
  const json::object action = given == nullptr || !given->is_object() ? json::object() : given->get_object();
  const std::string type = textOf(action, "type"), call = textOf(action, "call");
  const kernel::EntityState* state = look_(entity);
  const EscrowStanding escrow =
      state == nullptr ? EscrowStanding{} : domains::escrow::standingOf(*state, call.empty() ? "-" : call);
  if (state == nullptr || (letter.from != escrow.buyer && letter.from != escrow.seller))
    return answer({{"outcome", "refused"}, {"message", "no escrow of yours"}});
  const char* role = roleOf(escrow, letter.from, type);
  if (role == nullptr || letter.id.empty()) return answer({{"outcome", "refused"}, {"message", "no act of your role"}});
  if (type == "Reserve") {
    if (const std::string flaw = callNameFlaw(call); !flaw.empty())
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
