#include "node/api/inbox_claims.h"

#include <algorithm>

#include "base/quote.h"

namespace witan::node {

namespace {

bool fromOneWindow(const InboxClaim& a, const InboxClaim& b) { return a.by == b.by && a.window == b.window; }

}  // namespace

Result<InboxClaim> InboxClaims::claim(const std::string& item, InboxClaim wanted, std::uint64_t seconds, bool takeOver,
                                      Time now) {
  if (const auto held = find(item, now); held && !fromOneWindow(*held, wanted) && !takeOver)
    return Error{ErrorCode::conflict, inQuotes(held->by) + " has claimed it until " + formatTime(held->until),
                 "wait, or take it over"};
  const auto ends = [](const auto& one) { return one.second.until.micros; };
  if (claims_.size() >= kMaxInboxClaims && !claims_.contains(item))
    claims_.erase(std::ranges::min_element(claims_, {}, ends));
  wanted.until.micros = now.micros + static_cast<std::int64_t>(std::min(seconds, kMaxClaimSeconds)) * 1'000'000;
  return claims_[item] = std::move(wanted);
}

void InboxClaims::release(const std::string& item, const InboxClaim& held) {
  if (const auto at = claims_.find(item); at != claims_.end() && fromOneWindow(at->second, held)) claims_.erase(at);
}

std::optional<InboxClaim> InboxClaims::find(const std::string& item, Time now) const {
  const auto at = claims_.find(item);
  if (at == claims_.end() || now.micros >= at->second.until.micros) return std::nullopt;
  return at->second;
}

}  // namespace witan::node
