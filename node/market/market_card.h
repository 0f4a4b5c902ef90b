// The card of an organisation in the directory: an A2A v1.0 AgentCard whose extension urn:witan:market:v1 says with
// which keys it signs and what it sells (docs/market.md). Signed as A2A wants it: a detached JWS (RFC 7515) with EdDSA
// over the canonical card.
//
// Pure functions. What is read is believed only as far as a grant of the trusted root covers the card's key.
#pragma once

#include <string>
#include <vector>

#include "kernel/graph/document.h"
#include "node/market/market_identity.h"

namespace witan::node {

inline constexpr std::size_t kMostCardBytes = 1 << 20;

struct CardSkill {
  const market::Opened<market::Offer>* offer = nullptr;
  const graph::Document* document = nullptr;  // null: it is not deployed any more
};

json::object marketCard(const MarketIdentity& identity, const std::string& address,
                        const std::vector<CardSkill>& skills);

struct CardReading {
  market::Seller seller;
  json::array grants;
};
// Errors: no card, of another organisation, not signed by a key that its trusted root granted for cards.
Result<CardReading> readMarketCard(const json::value& card, const std::string& org, const market::Roots& roots,
                                   market::Moment now);

}  // namespace witan::node
