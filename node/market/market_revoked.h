// Keys that speak and sign for an organisation no more, whatever passes and grants they still have: its root says so,
// in a list that the organisation and whoever shares a contract with it pass on (MarketHost). A later list takes the
// place of an earlier one, and never the other way round.
//
// Values, by root; not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/market/market_identity.h"

namespace witan::node {

// Of one list: what stands in a frame that is read of a link that waits.
inline constexpr std::size_t kMostRevoked = 256;
// Of one root: each is stored and passed on. A later one comes again with the next telling.
inline constexpr int kListsAMinute = 6;

struct RevokedKey {
  market::Hex key;
  market::Moment until;  // of its place in the list: its pass or its grant has ended
  WITAN_MEMBERS(RevokedKey, key, until)
};

struct RevokedKeys {
  static constexpr std::string_view payloadType = "application/vnd.witan.revoked+json";
  market::Fixed<"witan.revoked/v1"> type;
  market::Word org;
  market::Natural serial = 0;
  std::vector<RevokedKey> keys;
  WITAN_MEMBERS(RevokedKeys, type, org, serial, keys)
};

// The list with the keys of these devices in it too (those that are not empty), under the root; none if they stand in
// it already. `before`: the envelope of the last one, or null. Of more than kMostRevoked keys, older ones and those
// that sign are left out.
std::optional<std::string> withRevoked(const json::value& before, const std::vector<MarketEnrolment>& devices,
                                       const SigningKey& root, market::Moment now);

class RevokedBook {
 public:
  struct Known {
    std::string org, envelope;
    market::Natural serial = 0;
    std::vector<PublicKey> keys;
    market::Moment since;  // from then on at most a minute
    int taken = 0;
  };

  // Null: it is no list of a trusted root, or no later one than is known, or one too many.
  const Known* take(const json::value& envelope, const market::Roots& roots, market::Moment now);
  bool has(const PublicKey& root, const PublicKey& device) const;
  const std::map<PublicKey, Known>& byRoot() const { return known_; }

 private:
  std::map<PublicKey, Known> known_;
};

}  // namespace witan::node
