#include "kernel/market/documents.h"

#include <algorithm>
#include <set>

namespace witan {

Status JsonCodec<market::Word>::read(const json::value& v, market::Word& out, std::string_view where) {
  WITAN_DO(readText(v, out, where));
  const auto characters = std::ranges::count_if(out, [](char c) { return (c & 0xC0) != 0x80; });
  if (characters < 1 || characters > std::ptrdiff_t(market::kMostCharacters))
    return invalid(concat(where, ": 1 to ", market::kMostCharacters, " characters"));
  return okStatus();
}

Status JsonCodec<market::Words>::read(const json::value& v, market::Words& out, std::string_view where) {
  WITAN_DO(readJson<std::vector<market::Word>>(v, out, where));
  if (std::ranges::adjacent_find(out, std::ranges::greater_equal()) != out.end())
    return invalid(concat(where, ": must be sorted, each text once"));
  return okStatus();
}

Status JsonCodec<market::Hex>::read(const json::value& v, market::Hex& out, std::string_view where) {
  WITAN_DO(readText(v, out, where));
  if (!market::isHex(out)) return invalid(concat(where, ": must be 64 hex digits in lower case"));
  return okStatus();
}

Status JsonCodec<market::Moment>::read(const json::value& v, market::Moment& out, std::string_view where) {
  Time time;
  WITAN_DO(readJson(v, time, where));
  if (time.micros % kMicrosPerSecond != 0 || std::string_view(v.get_string()) != formatTime(time))
    return invalid(concat(where, ": must be a time in whole seconds such as 2026-03-01T00:00:00Z"));
  out = market::momentOf(time);
  return okStatus();
}

namespace market {

bool isHex(std::string_view text) { return hashFromHex(text).ok(); }

PublicKey keyOf(const Hex& hex) { return hashFromHex(hex).value(); }

Result<Opened<Statement>> openStatement(const json::value& from) {
  WITAN_TRY(opened, openEnvelope<Statement>(from));
  if (opened.document.subject.size() != 1) return invalid("payload.subject: exactly one, the output");
  return opened;
}

bool isWithin(const Words& inner, const Words& outer) { return std::ranges::includes(outer, inner); }

bool isWithin(const std::vector<Model>& inner, const std::vector<Model>& outer) {
  const std::set<Model> known(outer.begin(), outer.end());
  return std::ranges::all_of(inner, [&](const Model& each) { return known.contains(each); });
}

bool isWithin(const Budget& inner, const Budget& outer) {
  return inner.steps <= outer.steps && inner.tokens <= outer.tokens && inner.seconds <= outer.seconds;
}

std::string widerThanOffer(const Contract& c, const Offer& offer, std::string_view digest) {
  if (c.offer != digest) return "the contract is of another offer";
  if (c.capability != offer.capability) return "the capability is not the offer's";
  if (c.policyEpoch != offer.policyEpoch) return "the policy epoch is not the offer's";
  if (c.currency != offer.currency) return "the currency is not the offer's";
  if (!isWithin(c.locales, offer.locales)) return "the contract has a locale that was not offered";
  if (!isWithin(c.models, offer.models)) return "the contract has a model that was not offered";
  if (c.perCall > offer.perCall) return "perCall exceeds the offer's";
  if (!isWithin(c.budget, offer.budget)) return "the budget exceeds the offer's";
  if (c.calls > offer.maxCalls) return "calls exceed the offer's";
  if (c.deliverWithinSeconds < offer.deliverWithinSeconds) return "deliverWithinSeconds is less than the offer's";
  if (c.disputeWindowSeconds > offer.disputeWindowSeconds) return "disputeWindowSeconds exceed the offer's";
  return "";
}

std::string widerThanContract(const Order& order, const Contract& c, std::string_view digest) {
  if (order.contract != digest) return "the order is of another contract";
  if (order.amount > c.perCall) return "the amount exceeds perCall";
  if (!isWithin(order.locales, c.locales)) return "the order has a locale that the contract has not";
  if (!isWithin(order.budget, c.budget)) return "the budget exceeds the contract's";
  if (order.issuedAt < c.notBefore || order.issuedAt >= c.expiry) return "it was issued outside of the contract's time";
  // Both are seconds of a calendar's years, so only the contract's number can be too large to add.
  if (order.deliverBy > order.issuedAt &&
      Natural(order.deliverBy.seconds - order.issuedAt.seconds) > c.deliverWithinSeconds)
    return "deliverBy is later than the contract allows";
  return "";
}

}  // namespace market
}  // namespace witan
