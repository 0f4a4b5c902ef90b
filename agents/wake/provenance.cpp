#include "agents/wake/provenance.h"

#include <algorithm>
#include <charconv>

namespace witan::agents {

namespace {

std::uint64_t hopsOf(std::string_view text) {
  std::uint64_t hops = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hops);
  if (error != std::errc() || end != text.data() + text.size()) return kEndlessHops;
  return std::min(hops, kEndlessHops);
}

}  // namespace

std::vector<NotificationToken> provenanceTokens(const Provenance& provenance) {
  return {{TokenClass::subtypeToken, std::string(kRunAgentNamespace), provenance.agentId},
          {TokenClass::subtypeToken, std::string(kRunHopsNamespace), std::to_string(provenance.hops)}};
}

std::optional<Provenance> provenanceOf(const replication::NotificationBatch& batch) {
  std::optional<std::string> agent;
  std::optional<std::uint64_t> hops;
  // Several of one kind: tokens are in canonical order, so every device takes the same.
  for (const NotificationToken& token : batch.tokens) {
    if (token.tokenClass != TokenClass::subtypeToken) continue;
    if (token.tokenNamespace == kRunAgentNamespace) agent = token.value;
    if (token.tokenNamespace == kRunHopsNamespace) hops = std::max(hops.value_or(0), hopsOf(token.value));
  }
  if (!agent && !hops) return std::nullopt;
  return Provenance{agent.value_or(""), agent && hops ? *hops : kEndlessHops};
}

}  // namespace witan::agents
