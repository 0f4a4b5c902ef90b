// What no history of the market may show (judgeWorld), from the holder's ledger and what the parties kept; nothing here
// asks a desk.
#include <algorithm>

#include "kernel/market/equivocation.h"
#include "market/testing/market_toy.h"
#include "market/testing/market_world.h"

namespace witan::market {

namespace {

constexpr MarketLie kRefusedAtHolder[] = {MarketLie::forgedEvidence, MarketLie::otherEvidence};

std::string digestOf(const std::string& evidence) {
  const auto statement = openStatement(valueOf(evidence));
  return statement.ok() ? toHex(sha256(statement->text.body)) : "";
}

std::string evidenceOf(const std::string& bundle) {
  const auto parsed = parseJson(bundle, kBundleLimits);
  return parsed.ok() ? canonicalJson(parsed->at("evidence")) : "";
}

// Whose evidence is on record, and that the buyer has accepted nothing else.
Status judgePayment(const std::string& name, const CallResult& call, const WorldResult& r) {
  const MarketToy toy;
  if (call.share == 0) return okStatus();
  const bool ruled = call.ruling.has_value();
  if (call.share > 300 || (!ruled && call.share != call.charge)) return invalid(name + " is paid beyond its charge");
  const auto delivered = std::ranges::find_if(r.deliveries, [&](const DeliveryEntry& each) {
    return each.call == name && each.refusedBy.empty() && digestOf(each.evidence) == call.evidence;
  });
  if (delivered == r.deliveries.end()) return invalid(name + " is paid without a delivery");
  const auto statement = openStatement(valueOf(delivered->evidence));
  if (!isSignedBy(statement->text, toy.evidence.publicKey()) || statement->document.predicate.order != call.order)
    return invalid(name + " is paid for evidence that is not the seller's, or of another order");
  if (call.wished && !ruled && !r.silences && call.bundle.empty()) return invalid(name + " is paid without work");
  if (call.buyerEnd != "accepted") return okStatus();
  if (!verifyBundleText(call.bundle, r.roots).ok())
    return invalid(name + " was accepted without evidence that verifies");
  return digestOf(evidenceOf(call.bundle)) == call.evidence ? okStatus()
                                                            : invalid(name + " was accepted for another statement");
}

// A dispute is for the arbiter, until the buyer accepts; what a person has said, no desk takes back.
Status judgeDispute(const std::string& name, const CallResult& call) {
  if (call.ruling)
    return call.share == *call.ruling ? okStatus() : invalid(name + " is paid otherwise than the arbiter has ruled");
  if (call.share == 0) return okStatus();
  const bool accepted = call.settledBy == "Accept";
  if (accepted && call.word == "dispute") return invalid(name + " is accepted, and a person disputes it");
  return call.disputedInTime && !accepted ? invalid(name + " is disputed, and paid without a ruling") : okStatus();
}

Status judgeCall(const std::string& name, const CallResult& call, const WorldResult& r) {
  if (call.state.empty())
    return call.buyerEnd == "refused" ? okStatus() : invalid(concat("call ", name, " was never reserved"));
  if (call.state != "RELEASED" && call.state != "REFUNDED") return invalid(concat("call ", name, " is ", call.state));
  if (call.settlements != 1) return invalid(concat("call ", name, " was settled ", call.settlements, " times"));
  if (call.wished && call.buyerEnd.empty()) return invalid("the buyer waits for ever for " + name);
  WITAN_DO(judgeDispute(name, call));
  return judgePayment(name, call, r);
}

Status judgeRuns(const WorldResult& r) {
  for (const auto& [id, count] : r.runs) {
    if (count > 1) return invalid(id + " ran twice");
    const auto call = r.calls.find(id.substr(id.find('/') + 1));
    if (call == r.calls.end() || call->second.order.empty() || std::ranges::count(r.unheld, call->first) > 0)
      return invalid(id + " ran without held money");
  }
  return okStatus();
}

// What a seller made leaves it when the delivery is on record, so that it is paid or ruled on.
Status judgeWork(const WorldResult& r) {
  for (const ShownBundle& shown : r.shown)
    if (std::ranges::none_of(r.deliveries, [&](const DeliveryEntry& each) {
          return each.call == shown.call && each.refusedBy.empty() && digestOf(each.evidence) == shown.evidence;
        }))
      return invalid(concat("work without money: ", shown.call.substr(0, 20), " was shown and is not delivered"));
  if (!r.lateRuns.empty()) return invalid("the run of " + r.lateRuns.front() + " began too late to be delivered");
  return okStatus();
}

// An incident about oneself is no accusation; that nobody answers is no lie.
Status judgeAccusations(const WorldResult& r, int liar) {
  for (const ToldIncident& told : r.incidents)
    if (told.kind != "silent" && told.kind != "clock" && told.org != kParties[told.by] && told.by != liar &&
        (liar < 0 || told.org != kParties[liar]))
      return invalid(concat(kParties[told.by], " accuses ", told.org, " of ", told.kind, ": ", told.what));
  return okStatus();
}

// ---- lies leave proof

bool isTold(const WorldResult& r, int by, std::string_view kind,
            const std::function<bool(const ToldIncident&)>& proves) {
  return std::ranges::any_of(
      r.incidents, [&](const ToldIncident& each) { return each.by == by && each.kind == kind && proves(each); });
}

bool signedByBuyer(const std::string& order) {
  const auto opened = openEnvelope<Order>(valueOf(order));
  return opened.ok() && isSignedBy(opened->text, MarketToy().clinic.publicKey());
}

// Else it is an order that was declined and delivered all the same.
bool isBundle(const std::string& proof) {
  const json::value parsed = valueOf(proof);
  return parsed.is_object() && parsed.get_object().contains("output");
}

bool leftProof(MarketLie lie, const WorldResult& r) {
  switch (lie) {
    case MarketLie::widerOrder:
      return isTold(r, kSeller, "wider", [](const ToldIncident& told) { return signedByBuyer(told.proof.at(0)); });
    case MarketLie::secondOrder:
      return isTold(r, kSeller, "equivocation", [](const ToldIncident& told) {
        return told.proof.size() == 2 && told.proof[0] != told.proof[1] && signedByBuyer(told.proof[0]) &&
               signedByBuyer(told.proof[1]);
      });
    case MarketLie::secondContract:
      return isTold(r, kSeller, "equivocation", [](const ToldIncident& told) {
        return told.proof.size() == 2 && findEquivocation(told.proof[0], told.proof[1], {}).ok();
      });
    case MarketLie::alteredBundle:
      return isTold(r, kBuyer, "evidence", [&](const ToldIncident& told) {
        return isBundle(told.proof.at(0)) && !verifyBundleText(told.proof.at(0), r.roots).ok();
      });
    case MarketLie::withheldOutput:
      return isTold(r, kBuyer, "evidence", [&](const ToldIncident& told) {
        return isBundle(told.proof.at(0)) && valueOf(told.proof.at(0)).at("output").is_null();
      });
    case MarketLie::otherTime:
      return isTold(r, kSeller, "clock", [](const ToldIncident& told) { return told.org == kParties[kHolder]; });
    case MarketLie::otherStatement:
      return isTold(r, kBuyer, "silent", [](const ToldIncident& told) {
        return told.org == kParties[kHolder] && isBundle(told.proof.at(0));
      });
    case MarketLie::refusedDelivery:
      return isTold(r, kSeller, "evidence", [&](const ToldIncident& told) {
        return told.org == kParties[kHolder] && verifyBundleText(told.proof.at(0), r.roots).ok();
      });
    default: return true;
  }
}

// A delivery that was a lie is refused on record; a second statement is found out by a buyer that has the first.
Status judgeDeliveries(const WorldResult& r) {
  for (const MarketLie lie : kRefusedAtHolder)
    if (r.lies.contains(lie) && std::ranges::none_of(r.deliveries, [](const DeliveryEntry& each) {
          return each.refusedBy == "ESCROW_EVIDENCE_VALID";
        }))
      return invalid(concat("no entry refuses the lie ", enumName(lie)));
  for (const auto& [name, call] : r.calls) {
    // Who disputes it unseen does not look what else was delivered.
    if (call.bundle.empty() || call.evidence.empty() || call.word == "dispute") continue;
    const std::string mine = evidenceOf(call.bundle);
    if (digestOf(mine) == call.evidence) continue;
    // A holder that has lost its memory does not show the second text; its ledger does.
    const bool told = std::ranges::any_of(r.incidents, [&](const ToldIncident& each) {
      const bool kept = each.by == kBuyer && (each.kind == "equivocation" || each.kind == "silent");
      return kept && std::ranges::any_of(r.deliveries, [&](const DeliveryEntry& delivered) {
               return delivered.call == name && findEquivocation(delivered.evidence, each.proof.at(0), {}).ok();
             });
    });
    if (!told) return invalid("the second statement of " + name + " left no proof");
  }
  return okStatus();
}

}  // namespace

Status judgeWorld(const WorldResult& r, int liar) {
  const auto of = [&](const char* member) { return r.view.at(member).as_int64(); };
  if (of("deposited") != of("buyer") + of("seller") + of("held") + of("paidBuyer") + of("paidSeller"))
    return invalid("money came from nowhere");
  std::int64_t shares = 0;
  for (const auto& [name, call] : r.calls) {
    WITAN_DO(judgeCall(name, call, r));
    shares += call.share;
  }
  if (shares != of("seller") + of("paidSeller")) return invalid("the seller's money is not the sum of its shares");
  WITAN_DO(judgeRuns(r));
  if (!r.unreadable.empty()) return invalid("a row cannot be read back: " + r.unreadable.front());
  if (!r.keptInputs.empty())
    return invalid("the seller declined " + r.keptInputs.front() + " and keeps what its order discloses");
  if (!r.frozen.empty()) return invalid("a ruling froze " + r.frozen.front() + " while its time ran");
  if (liar != kSeller) WITAN_DO(judgeWork(r));
  WITAN_DO(judgeAccusations(r, liar));
  for (const auto& [lie, count] : r.lies)
    if (!leftProof(lie, r)) return invalid(concat("the lie ", enumName(lie), " left no proof"));
  return judgeDeliveries(r);
}

}  // namespace witan::market
